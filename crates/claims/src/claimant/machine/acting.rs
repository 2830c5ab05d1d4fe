//! What each action of the table means.

use alloc::vec::Vec;

use super::{Claimant, Now, Pending};
use crate::claimant::input::{Class, Moment};
use crate::claimant::output::{Cause, Missed, Notice, Output, Request, Timer, Verb};
use crate::claimant::patience::{Backoff, Patience};
use crate::claimant::planted::Bug;
use crate::claimant::row::{Action, Row};
use crate::claimant::state::State;
use crate::time::Span;

/// A server that asks for more patience than this is not asked for so long.
const RETRY_AFTER_MAX: Span = Span::from_secs(30);

/// Who never comes to believe in a lease waits at least this long before it gives up.
const SURE_AFTER: Span = Span::from_secs(5);

impl Claimant {
    pub(super) fn act(&mut self, action: Action, row: &Row, now: Now<'_>, out: &mut Vec<Output>) {
        let notify = match action {
            Action::SendPost => return self.send(Verb::Register, now.at, out),
            Action::SendActive => return self.send(Verb::Activate, now.at, out),
            Action::SendTtl => return self.send(Verb::Renew(self.terms.ttl), now.at, out),
            Action::SendReleased => return self.leave(Verb::Release, now.at, out),
            Action::SendWithdrawn => return self.leave(Verb::Withdraw, now.at, out),
            Action::SendAborted => return self.leave(Verb::Abort, now.at, out),
            Action::AbandonRequest => return self.abandon(out),
            Action::CreateTimeoutTimer => return self.create_timeout(now.at),
            Action::CreateActivateTimer => return self.create_activate(now),
            Action::CreateRenewTimer => return self.create_renew(now.at),
            Action::CreateRetryTimer => return self.create_retry(now),
            Action::DeleteTimeoutTimer => {
                if !self.state.holds() || self.belief.deadline().is_some() {
                    self.clear(Timer::Timeout);
                }
                return;
            }
            Action::DeleteActivateTimer => return self.clear(Timer::Activate),
            Action::DeleteRenewTimer => return self.clear(Timer::Renew),
            Action::DeleteRetryTimer => return self.clear(Timer::Retry),
            Action::NotifyWaiting => {
                let position = now.heard.and_then(|(_, answer)| answer.position);
                Some(Notice::Waiting { position })
            }
            Action::NotifyAcquired | Action::NotifyRenewed => self.believes(),
            Action::NotifyUnknown => self.belief.ever.then_some(Notice::Unknown),
            Action::NotifyLost => Some(self.loss(Cause::Unconfirmed, Missed::NeverSure)),
            Action::NotifyStopped => Some(self.loss(Cause::Stopped, Missed::Stopped)),
            Action::NotifyTimedOut => {
                let tries = matches!(self.terms.patience, Patience::Try(_));
                let busy = tries && row.from == State::Waiting;
                Some(Notice::Missed(if busy { Missed::Busy } else { Missed::TimedOut }))
            }
            // The final state is told anyway.
            Action::NotifyReleased => None,
            Action::TerminateClient if row.from.leaves() => None,
            Action::TerminateClient => {
                let status = now.heard.and_then(|(_, answer)| answer.status);
                Some(self.loss(Cause::Refused(status), Missed::Refused(status)))
            }
        };
        out.extend(notify.map(Output::Notify));
    }

    /// What to tell one that holds no longer, or will never hold.
    fn loss(&self, lost: Cause, missed: Missed) -> Notice {
        match self.belief.ever {
            true => Notice::Lost(lost),
            false => Notice::Missed(missed),
        }
    }

    /// The server says that it holds. It believes that if there is a lease to believe in.
    fn believes(&mut self) -> Option<Notice> {
        self.belief.deadline()?;
        self.clear(Timer::Timeout);
        let first = !core::mem::replace(&mut self.belief.ever, true);
        Some(if first { Notice::Acquired { fence: self.fence } } else { Notice::Renewed })
    }

    /// It stops believing first, and says goodbye then.
    fn leave(&mut self, verb: Verb, at: Moment, out: &mut Vec<Output>) {
        if !self.terms.planted.is(Bug::ReleasesThenStops) {
            self.belief.stop();
        }
        self.clear(Timer::Deadline);
        self.send(verb, at, out);
    }

    pub(in crate::claimant) fn send(&mut self, verb: Verb, at: Moment, out: &mut Vec<Output>) {
        let timing = &self.terms.timing;
        let wait = timing.wait.filter(|_| verb == Verb::Activate);
        let mut patience = timing.answer;
        match verb {
            Verb::Register => {
                self.posts += 1;
                self.belief.registering(at);
            }
            Verb::Activate => {
                patience = Span::from_micros(
                    patience.as_micros().saturating_add(wait.unwrap_or_default().as_micros()),
                );
            }
            Verb::Renew(_) => {
                self.belief.renewing(at);
                patience = patience.min(self.belief.try_for());
            }
            Verb::Abort => patience = Span::from_micros(patience.as_micros() / 4),
            Verb::Release | Verb::Withdraw => {}
        }
        self.watch_deadline(at);
        self.last_number += 1;
        let request = Request { number: self.last_number, verb, claim: self.claim, wait, patience };
        self.pending = Some(Pending { request, at });
        if !self.terms.planted.is(Bug::HangsOnSilence) {
            self.set(Timer::Answer, at + patience);
        }
        out.push(Output::Send(request));
    }

    fn abandon(&mut self, out: &mut Vec<Output>) {
        if let Some(Pending { request, .. }) = self.pending.take() {
            self.clear(Timer::Answer);
            if let Verb::Renew(ttl) = request.verb {
                self.belief.unanswered(ttl.span());
            }
            out.push(Output::Abandon(request.number));
        }
    }

    fn create_timeout(&mut self, at: Moment) {
        let patience = match (self.state.leaves(), self.terms.patience) {
            (true, _) => Some(self.terms.timing.farewell),
            (false, Patience::Forever) => None,
            (false, Patience::For(span) | Patience::Try(span)) => Some(span),
        };
        if let Some(patience) = patience {
            self.set(Timer::Timeout, at + patience);
        }
        // A farewell has tries of its own.
        self.tries = 0;
    }

    /// At once, if the server holds requests until it is our turn. One that answers long before the
    /// time we gave it does not.
    fn create_activate(&mut self, now: Now<'_>) {
        self.tries = 0;
        let holds = match now.heard {
            Some((Pending { request, at }, answer)) if answer.class == Class::Conflict => request
                .wait
                .is_some_and(|wait| now.at.since(*at).as_micros() >= wait.as_micros() / 2),
            Some(_) | None => self.terms.timing.wait.is_some(),
        };
        if holds {
            self.polls = 0;
            return self.set(Timer::Activate, now.at);
        }
        let pause = self.pause(self.terms.timing.poll, self.polls, now);
        self.polls += 1;
        self.set(Timer::Activate, now.at + pause);
    }

    fn create_renew(&mut self, at: Moment) {
        self.tries = 0;
        self.watch_deadline(at);
        let renew_at = self.belief.renew_at(at);
        self.set(Timer::Renew, renew_at);
    }

    fn create_retry(&mut self, now: Now<'_>) {
        let Some((Pending { request, .. }, _)) = now.heard else { return };
        let backoff = self.terms.timing.backoff(request.verb);
        let mut pause = self.pause(backoff, self.tries, now);
        if let Verb::Renew(_) = request.verb {
            pause = pause.min(self.belief.pause_for(now.at));
        }
        self.tries += 1;
        self.set(Timer::Retry, now.at + pause);
    }

    pub(in crate::claimant) fn pause(
        &mut self,
        backoff: Backoff,
        tries: u32,
        now: Now<'_>,
    ) -> Span {
        let luck = self.chance();
        let asked = now.heard.and_then(|(_, answer)| answer.retry_after).unwrap_or_default();
        backoff.pause(tries, luck).max(asked.min(RETRY_AFTER_MAX))
    }

    /// The lease ends at its deadline; and one that cannot be believed in is given up some time.
    fn watch_deadline(&mut self, at: Moment) {
        if !self.state.holds() || self.terms.planted.is(Bug::BelievesPastDeadline) {
            return;
        }
        match self.belief.deadline() {
            Some(deadline) => self.set(Timer::Deadline, deadline),
            None if self.timer(Timer::Deadline).is_none() => {
                self.set(Timer::Deadline, at + self.belief.ttl.max(SURE_AFTER));
            }
            None => {}
        }
    }
}
