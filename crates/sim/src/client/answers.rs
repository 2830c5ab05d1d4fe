//! What an answer means to a claimant: the kind of answer that HTTP would give.

use claims::claimant::{Answer as Heard, Class, Input};
use claims::{Status, Ttl};

use super::{Client, Desk};
use crate::message::{Answer, Says, Verb};
use crate::story::Note;

impl Client {
    /// Takes an answer in. Answers come late, twice, and in any order.
    pub(crate) fn hear(&mut self, answer: Answer, desk: &mut Desk<'_>) {
        let Some(pursuit) = &mut self.pursuit else { return };
        let Some(sent) = pursuit.sent.iter_mut().find(|sent| sent.request == answer.request) else {
            return;
        };
        sent.waits = false;
        let sent = *sent;
        desk.story.tell(
            desk.now,
            Note::Hears { client: self.id, request: answer.request, says: answer.says },
        );
        match (sent.number, &mut pursuit.keeper) {
            (Some(number), _) => {
                self.tell(Input::Answered(number, heard(sent.verb, answer.says)), desk);
                self.maybe_shorten(desk);
            }
            (None, Some(keeper)) => {
                keeper.appointed |= matches!(answer.says, Says::Active(..));
            }
            (None, None) => {}
        }
    }

    /// Now and then the program wants a shorter lease, from now on.
    fn maybe_shorten(&mut self, desk: &mut Desk<'_>) {
        let (wants, share) = (self.rng.permille(200), self.rng.between(200, 900));
        let Some(pursuit) = &mut self.pursuit else { return };
        let shortest = pursuit.ttl.span().as_micros() * share / 1_000;
        let least = pursuit.wish.registration.ttl.span().as_micros() / 6;
        if wants && pursuit.changes_ttl && pursuit.claimant.state().holds() && shortest > least {
            let shorter = Ttl::new(claims::Span::from_micros(shortest));
            pursuit.ttl = shorter.expect("shorter than an allowed ttl");
            let refresh = Input::Refresh(Some(pursuit.ttl));
            self.tell(refresh, desk);
        }
    }
}

fn heard(verb: Verb, says: Says) -> Heard {
    let class = match (says, verb) {
        (Says::NotNow, _) => Class::Unknown,
        (Says::Over, _) => Class::NotFound,
        (Says::Active(..), Verb::Register) => Class::Created,
        (Says::Active(..), _) => Class::Ok,
        (Says::Waiting(_), Verb::Register) => Class::Accepted,
        (Says::Waiting(_), Verb::Activate) => Class::Conflict,
        (Says::Waiting(_), _) => Class::Refused,
        (Says::Ended(..), Verb::Register) => Class::Ok,
        (Says::Ended(_, Status::Released), Verb::Release) => Class::NoContent,
        (Says::Ended(_, Status::Aborted), Verb::Abort) => Class::NoContent,
        (Says::Ended(_, Status::Withdrawn), Verb::Withdraw) => Class::NoContent,
        (Says::Ended(..), _) => Class::Refused,
        (Says::KeyInUse, _) => unreachable!("checked where the answer leaves the server"),
    };
    let fence = match says {
        Says::Active(_, fence) => Some(fence),
        Says::Waiting(_) | Says::Ended(..) | Says::Over | Says::NotNow | Says::KeyInUse => None,
    };
    let status = match says {
        Says::Ended(_, status) => Some(status),
        Says::Active(..) | Says::Waiting(_) | Says::Over | Says::NotNow | Says::KeyInUse => None,
    };
    Heard { claim: says.claim(), fence, status, ..Heard::of(class) }
}
