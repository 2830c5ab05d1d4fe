//! The machine that runs the table.

mod acting;

use alloc::vec::Vec;

use super::input::{Answer, Class, Input, Moment};
use super::lease::Belief;
use super::output::{Lease, Notice, Output, Request, Timer, Verb};
use super::patience::{Patience, Terms};
use super::planted::Bug;
use super::row::{Condition, Row};
use super::state::State;
use super::table::find;
use super::tidy::Tidy;
use crate::identity::{ClaimId, Fence};

/// One party's side of one claim. See the [module](super).
#[derive(Debug, Clone)]
pub struct Claimant {
    pub(super) terms: Terms,
    pub(super) state: State,
    pub(super) claim: Option<ClaimId>,
    fence: Option<Fence>,
    belief: Belief,
    /// The request under way. An answer to any other does not count.
    pub(super) pending: Option<Pending>,
    last_number: u32,
    /// Tries of the present request that failed.
    pub(super) tries: u32,
    /// Questions for its turn that were answered at once.
    polls: u32,
    /// Registrations that may have made a claim.
    pub(super) posts: u32,
    timers: [Option<Moment>; Timer::ALL.len()],
    pub(super) tidy: Option<Tidy>,
    luck: u32,
}

/// A request under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub(super) request: Request,
    /// When it left.
    pub(super) at: Moment,
}

/// What is happening now.
#[derive(Clone, Copy)]
pub(super) struct Now<'a> {
    pub(super) at: Moment,
    /// What was answered, and to what.
    pub(super) heard: Option<&'a (Pending, Answer)>,
}

impl Claimant {
    /// A claimant that has not begun.
    pub fn new(terms: Terms) -> Self {
        Self {
            state: State::New,
            claim: None,
            fence: None,
            belief: Belief::new(&terms),
            pending: None,
            last_number: 0,
            tries: 0,
            polls: 0,
            posts: 0,
            timers: [None; Timer::ALL.len()],
            tidy: None,
            luck: 0,
            terms,
        }
    }

    /// Where it is.
    pub fn state(&self) -> State {
        self.state
    }

    /// The claim it made, if it knows.
    pub fn claim(&self) -> Option<ClaimId> {
        self.claim
    }

    /// What it believes to hold now.
    pub fn lease(&self, now: Moment) -> Option<Lease> {
        let clings = self.state == State::Releasing || self.state == State::RetryingRelease;
        let holds = self.state.holds() || (clings && self.terms.planted.is(Bug::ReleasesThenStops));
        let deadline = self.belief.deadline().filter(|_| holds && !self.belief.is_over(now))?;
        let confirmed = self.belief.confirmed;
        Some(Lease { claim: self.claim?, fence: self.fence, deadline, confirmed })
    }

    /// Whether it is in a final state and has left nothing behind that it could clear away.
    pub fn is_settled(&self) -> bool {
        self.state.is_final() && self.tidy.is_none()
    }

    /// When it wants to be woken next, and why.
    pub fn next_wake(&self) -> Option<(Moment, Timer)> {
        let set = Timer::ALL.into_iter().filter_map(|timer| Some((self.timer(timer)?, timer)));
        set.min_by_key(|(at, _)| *at)
    }

    /// When this timer rings, if it is set.
    pub fn timer(&self, timer: Timer) -> Option<Moment> {
        self.timers[timer as usize]
    }

    /// Takes in what happens at `now`. `luck` is a random number, fresh for each call.
    ///
    /// The claimant is woken with [`Input::Wake`] at [`next_wake`](Self::next_wake) or later; it is
    /// safe, though not useful, to be late or early.
    pub fn handle(&mut self, input: Input, now: Moment, luck: u32, out: &mut Vec<Output>) {
        self.luck = luck;
        let at = Now { at: now, heard: None };
        // Whatever else happens: past the deadline the claim is lost.
        if self.state.holds() && self.belief.is_over(now) {
            self.clear(Timer::Deadline);
            self.meet(Condition::DeadlineTimer, at, out);
        }
        match input {
            Input::Begin => self.meet(Condition::Begin, at, out),
            Input::Answered(number, answer) => self.answered(number, answer, now, out),
            Input::Wake => {}
            Input::Release => self.meet(Condition::Release, at, out),
            Input::Refresh(ttl) => {
                if let Some(ttl) = ttl.filter(|_| self.state.holds()) {
                    self.belief.ttl = ttl.span();
                    self.terms.ttl = ttl;
                }
                self.meet(Condition::Refresh, at, out);
            }
            Input::Signal => self.meet(Condition::Signal, at, out),
        }
        while let Some((due, timer)) = self.next_wake()
            && due <= now
        {
            self.clear(timer);
            self.ring(timer, now, out);
        }
    }

    fn ring(&mut self, timer: Timer, now: Moment, out: &mut Vec<Output>) {
        let condition = match timer {
            Timer::Answer => {
                if let Some(pending) = self.pending {
                    out.push(Output::Abandon(pending.request.number));
                    let silence = Answer::of(Class::Unknown);
                    self.answered(pending.request.number, silence, now, out);
                }
                return;
            }
            Timer::Deadline => Condition::DeadlineTimer,
            Timer::Timeout => Condition::TimeoutTimer,
            Timer::Retry => Condition::RetryTimer,
            Timer::Activate => Condition::ActivateTimer,
            Timer::Renew => Condition::RenewTimer,
        };
        self.meet(condition, Now { at: now, heard: None }, out);
    }

    fn answered(&mut self, number: u32, answer: Answer, now: Moment, out: &mut Vec<Output>) {
        let Some(pending) = self.pending.take_if(|pending| pending.request.number == number) else {
            return;
        };
        self.clear(Timer::Answer);
        let answer = match self.makes_sense(&pending, &answer) {
            true => answer,
            false => Answer::of(Class::Unknown),
        };
        let answer = match self.is_gone_by_its_own_farewell(&pending, &answer) {
            true => Answer::of(Class::NoContent),
            false => answer,
        };
        self.learn(&pending, &answer, now);
        let heard = (pending, answer);
        self.meet(answer.class.condition(), Now { at: now, heard: Some(&heard) }, out);
        // Who only tries has no patience for a queue.
        let tries = matches!(self.terms.patience, Patience::Try(_));
        if tries && self.state == State::Waiting {
            self.clear(Timer::Timeout);
            self.meet(Condition::TimeoutTimer, Now { at: now, heard: None }, out);
        }
    }

    /// A claim that was registered has a number. And a registration that arrives when its claim is
    /// over and forgotten makes another one: what is said of the first does not count any more.
    fn makes_sense(&self, pending: &Pending, answer: &Answer) -> bool {
        let made = matches!(answer.class, Class::Created | Class::Accepted | Class::Ok);
        let nameless = pending.request.verb == Verb::Register && made && answer.claim.is_none();
        let outdated = answer.claim.is_some() && answer.claim < self.claim;
        !nameless && !outdated
    }

    /// A farewell that went unanswered may have arrived, and a store forgets what is over: some
    /// remember only the last few. When it is sent again, "nothing there" is the yes that was lost.
    fn is_gone_by_its_own_farewell(&self, pending: &Pending, answer: &Answer) -> bool {
        let farewell = match pending.request.verb {
            Verb::Release | Verb::Withdraw | Verb::Abort => true,
            Verb::Register | Verb::Activate | Verb::Renew(_) => false,
        };
        farewell && self.tries > 0 && answer.class == Class::NotFound
    }

    fn learn(&mut self, pending: &Pending, answer: &Answer, now: Moment) {
        self.claim = self.claim.max(answer.claim);
        self.fence = answer.fence.or(self.fence);
        let (at, yes) = (pending.at, matches!(answer.class, Class::Ok | Class::NoContent));
        match (pending.request.verb, answer.class) {
            (Verb::Register, Class::Created) => self.belief.granted(at, now),
            (Verb::Register, Class::Accepted) | (Verb::Activate, Class::Conflict) => {
                self.belief.not_yet(at);
            }
            (Verb::Register, Class::NotSent | Class::NotFound | Class::Refused) => self.posts -= 1,
            (Verb::Activate, _) if yes => self.belief.granted(at, now),
            (Verb::Renew(_), _) if yes => self.belief.renewed(at, now),
            (Verb::Renew(_), Class::NotSent) => self.belief.confirmed = false,
            (Verb::Renew(ttl), _) => self.belief.unanswered(ttl.span()),
            _ => {}
        }
    }

    /// Does what the table says.
    fn meet(&mut self, on: Condition, now: Now<'_>, out: &mut Vec<Output>) {
        if self.tidy.is_some() {
            return self.tidy_up(on, now, out);
        }
        let Some(row) = find(self.state, on) else { return };
        self.take(row, now, out);
        if self.state.is_final() {
            self.timers = [None; Timer::ALL.len()];
            out.push(Output::Notify(Notice::Ended(self.state)));
            self.begin_to_tidy(now, out);
        }
    }

    fn take(&mut self, row: &Row, now: Now<'_>, out: &mut Vec<Output>) {
        self.state = row.to;
        for &action in row.actions {
            self.act(action, row, now, out);
        }
    }

    pub(super) fn set(&mut self, timer: Timer, at: Moment) {
        self.timers[timer as usize] = Some(at);
    }

    pub(super) fn clear(&mut self, timer: Timer) {
        self.timers[timer as usize] = None;
    }

    /// Another random number.
    pub(super) fn chance(&mut self) -> u32 {
        self.luck = self.luck.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.luck
    }
}
