//! What a client asks, and again if it is not answered.

use std::rc::Rc;

use claims::{Owner, Span, Ttl};

use super::{Client, Desk, Post, Sent, Stage, wishes};
use crate::clock::Local;
use crate::message::{Ask, Request, RequestId};
use crate::planted::Bug;
use crate::story::Note;

impl Client {
    /// Sends what the present stage has to ask, and plans when to ask again.
    pub(super) fn ask(&mut self, desk: &mut Desk<'_>) {
        let local = self.clock.read(desk.now);
        let at = self.lease_now(desk.now);
        let timeout = self.rng.spread(desk.load.timeout);
        self.close_waits(desk.post);
        let bug = self.bug;
        let Some(pursuit) = &mut self.pursuit else {
            return;
        };
        let wait = pursuit.waits_open.then_some(desk.load.wait);
        pursuit.tries += 1;
        pursuit.next_ask = local + timeout;
        let ask = match (pursuit.stage, pursuit.owner) {
            (Stage::Asking, None) => {
                pursuit.next_ask = pursuit.next_ask + wait.unwrap_or_default();
                if pursuit.tries > 1 && bug == Some(Bug::NewKeyForRetry) {
                    pursuit.wish = wishes::under_another_key(&pursuit.wish, &mut self.rng);
                }
                Ask::Register(Rc::clone(&pursuit.wish), wait)
            }
            (Stage::Asking, Some(owner)) => {
                pursuit.next_ask = pursuit.next_ask + wait.unwrap_or_default();
                Ask::Activate(owner, wait)
            }
            (Stage::Holding, Some(owner)) => {
                let retry = pursuit.lease.part(10).max(Span::from_millis(20));
                pursuit.next_ask = local + timeout.min(retry);
                self.renewal(owner, at)
            }
            (Stage::Ending(farewell), Some(owner)) => Ask::End(owner, farewell),
            (Stage::Holding | Stage::Ending(_), None) => {
                unreachable!("a client knows the claim it holds or ends")
            }
        };
        let request = RequestId(desk.post.next_request);
        desk.post.next_request += 1;
        let sent = Sent { request, verb: ask.verb(), at, waits: ask.wait().is_some() };
        desk.story.tell(
            desk.now,
            Note::Asks { client: self.id, request, verb: sent.verb, claim: ask.claim() },
        );
        if self.sent.len() == 8 {
            self.sent.remove(0);
        }
        self.sent.push(sent);
        let client = self.id;
        desk.post.requests.push(Request { id: request, client, ask });
    }

    /// A renewal, or now and then the appointment of a keeper who may send some of them.
    fn renewal(&mut self, owner: Owner, at: Local) -> Ask {
        let changes = self.rng.permille(300);
        let by_keeper = self.rng.coin();
        let share = self.rng.between(500, 1_000);
        let bug = self.bug;
        let pursuit = self.pursuit.as_mut().expect("only a pursuit is renewed");
        let mut owner = owner;
        match pursuit.keeper {
            Some(keeper) if !keeper.appointed && pursuit.lease.deadline.is_some() && changes => {
                return Ask::Appoint(owner, keeper.key);
            }
            Some(keeper) if keeper.appointed && by_keeper => owner.key = keeper.key,
            Some(_) | None => {}
        }
        let ttl = (pursuit.changes_ttl && changes).then(|| {
            let whole = pursuit.wish.registration.ttl.span().as_micros();
            Ttl::new(Span::from_micros(whole * share / 1_000)).expect("shorter than an allowed ttl")
        });
        pursuit.lease.asked(ttl, at);
        if bug == Some(Bug::LostAnswerIsYes) {
            pursuit.lease.confirmed(at, at, bug);
        }
        Ask::Renew(owner, ttl)
    }

    fn close_waits(&mut self, post: &mut Post) {
        let open = self.sent.iter_mut().filter(|sent| sent.waits);
        for sent in open {
            sent.waits = false;
            post.closed.push(sent.request);
        }
    }

    pub(super) fn forget_sent(&mut self, post: &mut Post) {
        self.close_waits(post);
        self.sent.clear();
    }
}
