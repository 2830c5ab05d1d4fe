//! Nothing is left behind.
//!
//! **Problem.** A claimant ends while it does not know what the server knows: a registration whose
//! answer never came may have made a claim, which would stand in the queue for hours or hold for its
//! ttl; a farewell that went unanswered may not have arrived.
//!
//! **Idea.** The program is told the end at once, and the claimant goes on for a while by itself. The
//! same registration under the same key is the same claim, so it can be asked for its number, and then
//! be ended.

use alloc::vec::Vec;

use super::input::{Class, Moment};
use super::machine::{Claimant, Now};
use super::output::{Output, Timer, Verb};
use super::planted::Bug;
use super::row::Condition;
use super::state::State;

/// The work after the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tidy {
    /// It is no use trying for longer.
    until: Moment,
    /// How the claim is to be ended.
    farewell: Verb,
}

impl Claimant {
    /// Begins, if there may be something to clear away.
    pub(super) fn begin_to_tidy(&mut self, now: Now<'_>, out: &mut Vec<Output>) {
        let unanswered = self.claim.is_none() && self.posts > 0;
        let unended = self.claim.is_some() && self.state == State::Done;
        let forgets = match self.claim {
            None => self.terms.planted.is(Bug::LeavesGhosts),
            Some(_) => self.terms.planted.is(Bug::LeavesWithoutGoodbye),
        };
        if !(unanswered || unended) || forgets {
            self.abandon_quietly(out);
            return;
        }
        let farewell = match self.pending.map(|pending| pending.request.verb) {
            Some(verb @ (Verb::Release | Verb::Withdraw)) => verb,
            _ => Verb::Abort,
        };
        self.tidy = Some(Tidy { until: now.at + self.terms.timing.tidy, farewell });
        self.tries = 0;
        match self.pending {
            // Its answer will tell.
            Some(pending) => self.set(Timer::Answer, pending.at + pending.request.patience),
            None => self.step(now.at, out),
        }
    }

    /// Goes on.
    pub(super) fn tidy_up(&mut self, on: Condition, now: Now<'_>, out: &mut Vec<Output>) {
        let Some(tidy) = self.tidy else { return };
        if let Some((pending, answer)) = now.heard {
            let registers = pending.request.verb == Verb::Register;
            match answer.class {
                Class::Created | Class::Accepted if registers => self.step(now.at, out),
                Class::NotFound if registers => self.again(tidy, pending.request.verb, now),
                Class::Ok | Class::NoContent => self.tidy = None,
                Class::NotFound | Class::Conflict | Class::Refused => self.tidy = None,
                Class::Created | Class::Accepted | Class::Unknown | Class::NotSent => {
                    self.again(tidy, pending.request.verb, now);
                }
            }
        } else if on == Condition::RetryTimer {
            self.step(now.at, out);
        }
    }

    fn step(&mut self, at: Moment, out: &mut Vec<Output>) {
        let Some(tidy) = self.tidy else { return };
        match self.claim {
            Some(_) => self.send(tidy.farewell, at, out),
            None => self.send(Verb::Register, at, out),
        }
    }

    fn again(&mut self, tidy: Tidy, verb: Verb, now: Now<'_>) {
        if now.at >= tidy.until || (self.claim.is_none() && self.posts == 0) {
            self.tidy = None;
            return;
        }
        let pause = self.pause(self.terms.timing.backoff(verb), self.tries, now);
        self.tries += 1;
        self.set(Timer::Retry, now.at + pause);
    }

    fn abandon_quietly(&mut self, out: &mut Vec<Output>) {
        if let Some(pending) = self.pending.take() {
            out.push(Output::Abandon(pending.request.number));
        }
    }
}
