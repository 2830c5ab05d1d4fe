//! What a client makes of an answer. Answers come late, twice, and in any order.

use claims::{ClaimId, Owner};

use super::{Client, Desk, Sent, Stage};
use crate::message::{Answer, Says, Verb};
use crate::planted::Bug;
use crate::story::Note;

impl Client {
    /// Takes an answer in.
    pub(crate) fn hear(&mut self, answer: Answer, desk: &mut Desk<'_>) {
        let Some(nth) = self.sent.iter().position(|sent| sent.request == answer.request) else {
            return;
        };
        self.sent[nth].waits = false;
        let sent = self.sent[nth];
        desk.story.tell(
            desk.now,
            Note::Hears { client: self.id, request: answer.request, says: answer.says },
        );
        let Some(pursuit) = &self.pursuit else {
            return;
        };
        let stage = pursuit.stage;
        // A registration that arrived when its claim was over and forgotten made another one. What
        // is said of the first does not count any more.
        let known = pursuit.owner.map(|owner| owner.claim);
        if answer.says.claim().is_some_and(|claim| Some(claim) < known) {
            return;
        }
        match (stage, answer.says) {
            (_, Says::Ended(_, status)) => self.told_over(Some(status), desk),
            (_, Says::Over) => self.told_over(None, desk),
            (Stage::Asking, Says::Waiting(claim)) => self.not_yet(claim, sent, desk),
            (Stage::Asking, Says::Active(claim, _)) => self.granted(claim, sent, desk),
            (Stage::Holding, Says::Active(..)) => self.renewed(sent, desk),
            (_, Says::NotNow) => self.later(desk),
            // Overtaken by what it knows already.
            (Stage::Holding, Says::Waiting(_))
            | (Stage::Ending(_), Says::Waiting(_) | Says::Active(..)) => {}
            (_, Says::KeyInUse) => unreachable!("checked where the answer leaves the server"),
        }
    }

    fn not_yet(&mut self, claim: ClaimId, sent: Sent, desk: &mut Desk<'_>) {
        let local = self.clock.read(desk.now);
        let pause = self.rng.span(desk.load.poll);
        let pursuit = self.pursuit.as_mut().expect("matched as asking");
        let key = pursuit.wish.registration.key;
        pursuit.owner = Some(Owner { claim, key });
        // It was not active when this was answered, so its lease begins after this was asked.
        pursuit.lease.since = pursuit.lease.since.max(sent.at);
        pursuit.tries = 0;
        pursuit.next_ask = match pursuit.waits_open {
            true => local,
            false => local + pause,
        };
    }

    fn granted(&mut self, claim: ClaimId, sent: Sent, desk: &mut Desk<'_>) {
        let (local, lease_now) = (self.clock.read(desk.now), self.lease_now(desk.now));
        let work = self.rng.span(desk.load.hold);
        let bug = self.bug;
        let pursuit = self.pursuit.as_mut().expect("matched as asking");
        let key = pursuit.wish.registration.key;
        pursuit.owner = Some(Owner { claim, key });
        pursuit.stage = Stage::Holding;
        pursuit.tries = 0;
        pursuit.until = local + work;
        let since = match bug {
            Some(Bug::TtlFromRetry) => sent.at,
            _ => pursuit.lease.since,
        };
        let believes = pursuit.lease.confirmed(since, lease_now, bug);
        pursuit.next_ask = match believes && lease_now.since(since) < pursuit.lease.part(4) {
            true => local + pursuit.lease.part(3),
            false => local,
        };
        self.tell_belief(claim, desk);
    }

    fn renewed(&mut self, sent: Sent, desk: &mut Desk<'_>) {
        let (local, lease_now) = (self.clock.read(desk.now), self.lease_now(desk.now));
        let bug = self.bug;
        let pursuit = self.pursuit.as_mut().expect("matched as holding");
        let claim = pursuit.owner.expect("a holder knows its claim").claim;
        if pursuit.lease.is_over(lease_now) && bug != Some(Bug::BelievesPastDeadline) {
            // Too late: it may be somebody else's already.
            return self.lose(desk);
        }
        match sent.verb {
            Verb::Renew => {
                if pursuit.lease.confirmed(sent.at, lease_now, bug) {
                    pursuit.next_ask = local + pursuit.lease.part(3);
                }
                self.tell_belief(claim, desk);
            }
            Verb::Appoint => {
                if let Some(keeper) = &mut pursuit.keeper {
                    keeper.appointed = true;
                }
                pursuit.next_ask = local;
            }
            Verb::Register
            | Verb::Activate
            | Verb::Release
            | Verb::Abort
            | Verb::Withdraw
            | Verb::Revoke => {}
        }
    }

    /// The server cannot now: ask again after a pause, under the same key.
    fn later(&mut self, desk: &mut Desk<'_>) {
        let pause = self.rng.span(desk.load.poll);
        let local = self.clock.read(desk.now);
        if let Some(pursuit) = &mut self.pursuit {
            pursuit.next_ask = local + pause;
        }
    }

    fn tell_belief(&self, claim: ClaimId, desk: &mut Desk<'_>) {
        let pursuit = self.pursuit.as_ref().expect("just confirmed");
        let deadline = pursuit.lease.deadline;
        let left = deadline.map(|deadline| deadline.since(self.lease_now(desk.now)));
        desk.story.tell(desk.now, Note::Believes { client: self.id, claim, left });
    }
}
