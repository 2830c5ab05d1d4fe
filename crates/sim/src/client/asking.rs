//! What a claimant asks, as messages.

use std::rc::Rc;

use claims::claimant;
use claims::{Farewell, Owner};

use super::{Client, Desk, Post, Sent, wishes};
use crate::message::{Ask, Request, RequestId};
use crate::planted::Bug;
use crate::story::Note;

impl Client {
    /// Sends what the claimant wants sent.
    pub(super) fn send(&mut self, request: claimant::Request, desk: &mut Desk<'_>) {
        let by_keeper = self.rng.coin();
        let appoints = self.rng.permille(300);
        let another_key = self.bugs.client == Some(Bug::NewKeyForRetry) && request.number > 1;
        let Some(pursuit) = &mut self.pursuit else { return };
        let key = pursuit.wish.registration.key;
        let owner = || Owner { claim: request.claim.expect("it knows what it asks about"), key };
        let ask = match request.verb {
            claimant::Verb::Register => {
                if another_key {
                    pursuit.wish = wishes::under_another_key(&pursuit.wish, &mut self.rng);
                }
                Ask::Register(Rc::clone(&pursuit.wish), request.wait)
            }
            claimant::Verb::Activate => Ask::Activate(owner(), request.wait),
            claimant::Verb::Renew(ttl) => {
                let mut owner = owner();
                match pursuit.keeper {
                    Some(keeper) if keeper.appointed && by_keeper => owner.key = keeper.key,
                    Some(keeper) if !keeper.appointed && appoints => {
                        self.ask(None, Ask::Appoint(owner, keeper.key), desk);
                    }
                    Some(_) | None => {}
                }
                Ask::Renew(owner, Some(ttl))
            }
            claimant::Verb::Release => Ask::End(owner(), Farewell::Release),
            claimant::Verb::Withdraw => Ask::End(owner(), Farewell::Withdraw),
            claimant::Verb::Abort => Ask::End(owner(), Farewell::Abort),
        };
        self.ask(Some(request.number), ask, desk);
    }

    fn ask(&mut self, number: Option<u32>, ask: Ask, desk: &mut Desk<'_>) {
        let Some(pursuit) = &mut self.pursuit else { return };
        let request = RequestId(desk.post.next_request);
        desk.post.next_request += 1;
        let sent = Sent { request, number, verb: ask.verb(), waits: ask.wait().is_some() };
        desk.story.tell(
            desk.now,
            Note::Asks { client: self.id, request, verb: sent.verb, claim: ask.claim() },
        );
        if pursuit.sent.len() == 8 {
            pursuit.sent.remove(0);
        }
        pursuit.sent.push(sent);
        desk.post.requests.push(Request { id: request, client: self.id, ask });
    }

    /// Nobody waits for the answer to this any more.
    pub(super) fn abandon(&mut self, number: u32, post: &mut Post) {
        let Some(pursuit) = &mut self.pursuit else { return };
        let sent = pursuit.sent.iter_mut().find(|sent| sent.number == Some(number));
        if let Some(sent) = sent.filter(|sent| sent.waits) {
            sent.waits = false;
            post.closed.push(sent.request);
        }
    }

    /// Forgets what it wanted. Its connections close.
    pub(super) fn forget(&mut self, post: &mut Post) {
        if let Some(pursuit) = self.pursuit.take() {
            let open = pursuit.sent.iter().filter(|sent| sent.waits);
            post.closed.extend(open.map(|sent| sent.request));
        }
    }
}
