//! Where requests wait for the desk.
//!
//! **Problem.** A sync makes any number of decisions durable and costs the same for one. Thousands of
//! claims that are renewed one by one must not cost a sync each.
//!
//! **Idea.** The desk takes everything that is there at once. It is woken for what somebody waits
//! for. What can wait for company is taken along with the next thing that cannot, or after a moment.
//! A thread that lends the desk a hand is not woken, but reminded: it is awake, and looks when it has
//! asked all it had to ask.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::Waker;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// How long a patient request waits for company: nothing to a lease of seconds.
const COMPANY_WITHIN: Duration = Duration::from_millis(2);

/// How much is done by a hand. Where more is asked at a time, the desk's own thread waits for the disk
/// while the others go on reading.
const FEW: usize = 8;

/// Whether somebody waits for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    Now,
    WithCompany,
}

/// Many put in, one at a time takes out.
pub(super) struct Inbox<T> {
    pile: Mutex<Pile<T>>,
    arrived: Condvar,
}

struct Pile<T> {
    requests: VecDeque<T>,
    urgent: bool,
    /// Whether the desk's own thread sleeps, and nobody has woken it yet.
    asleep: bool,
    /// When it has to look, whether or not something comes.
    look_at: Option<Instant>,
    /// Threads that look after what they put in, and how they are reminded.
    hands: Vec<(ThreadId, Waker)>,
    closed: bool,
}

/// Nobody takes out any more.
#[derive(Debug)]
pub(super) struct Closed;

impl<T> Inbox<T> {
    pub(super) fn new() -> Self {
        let pile = Pile {
            requests: VecDeque::new(),
            urgent: false,
            asleep: false,
            look_at: None,
            hands: Vec::new(),
            closed: false,
        };
        Self { pile: Mutex::new(pile), arrived: Condvar::new() }
    }

    pub(super) fn put(&self, request: T, urgency: Urgency) -> Result<(), Closed> {
        let mut pile = self.pile();
        if pile.closed {
            return Err(Closed);
        }
        let urgent = urgency == Urgency::Now;
        let news = urgent || pile.requests.is_empty();
        pile.urgent |= urgent;
        pile.requests.push_back(request);
        match if urgent { pile.own_hand() } else { None } {
            Some(hand) => {
                drop(pile);
                hand.wake();
            }
            None => self.wake_if(news, pile),
        }
        Ok(())
    }

    /// Waits until somebody is in a hurry, at most for `patience`.
    pub(super) fn nap(&self, patience: Duration) {
        let mut pile = self.pile();
        // Reading the clock is not free, and under load there is always something.
        if !pile.urgent {
            let until = Instant::now() + patience;
            pile.look_at = Some(pile.look_at.map_or(until, |at| at.min(until)));
            let mut alone = true;
            while !pile.urgent {
                if alone && !pile.requests.is_empty() {
                    alone = false;
                    pile.look_at = pile.look_at.min(Some(Instant::now() + COMPANY_WITHIN));
                }
                let left = pile.look_at.map(|at| at.saturating_duration_since(Instant::now()));
                let Some(left) = left.filter(|left| !left.is_zero()) else { break };
                pile.asleep = true;
                let woken = self.arrived.wait_timeout(pile, left);
                pile = woken.expect("nothing panics with the pile in its hands").0;
                pile.asleep = false;
            }
        }
        pile.look_at = None;
    }

    /// Moves everything there is to the end of `taken`. Waits for something, at most for `patience`.
    pub(super) fn take(&self, taken: &mut VecDeque<T>, patience: Duration) {
        self.nap(patience);
        self.take_now(taken);
    }

    /// Moves what is there to the end of `taken`, without waiting.
    pub(super) fn take_now(&self, taken: &mut VecDeque<T>) {
        let mut pile = self.pile();
        pile.urgent = false;
        match taken.is_empty() {
            // The room of the last batch is used again.
            true => std::mem::swap(taken, &mut pile.requests),
            false => taken.append(&mut pile.requests),
        }
    }

    /// This thread looks after what it puts in from now on.
    pub(super) fn enlist(&self, waker: &Waker) -> ThreadId {
        let me = thread::current().id();
        let mut pile = self.pile();
        match pile.hands.iter_mut().find(|(hand, _)| *hand == me) {
            Some((_, before)) => before.clone_from(waker),
            None => pile.hands.push((me, waker.clone())),
        }
        me
    }

    /// That thread does not any more. What it has left is for the desk's own.
    pub(super) fn dismiss(&self, hand: ThreadId) {
        self.pile().hands.retain(|(other, _)| *other != hand);
        self.look_within(Duration::ZERO);
    }

    /// Whether somebody waits for something, and it is little enough for a hand. If it is more, the
    /// desk's own thread is woken for it.
    pub(super) fn is_for_a_hand(&self) -> bool {
        let pile = self.pile();
        let (urgent, many) = (pile.urgent, pile.requests.len() > FEW);
        self.wake_if(urgent && many, pile);
        urgent && !many
    }

    /// The desk's own thread has to look within this time, and at once if somebody is in a hurry.
    pub(super) fn look_within(&self, pause: Duration) {
        let at = Instant::now() + pause;
        let mut pile = self.pile();
        let sooner = pile.look_at.is_none_or(|look_at| at < look_at);
        if sooner {
            pile.look_at = Some(at);
        }
        self.wake_if(pile.urgent || sooner, pile);
    }

    /// Wakes the desk's own thread for something, once.
    fn wake_if(&self, needed: bool, mut pile: MutexGuard<'_, Pile<T>>) {
        let wake = needed && std::mem::take(&mut pile.asleep);
        drop(pile);
        if wake {
            self.arrived.notify_one();
        }
    }

    /// Nothing can be put in any more, and what is there is dropped.
    pub(super) fn close(&self) {
        let mut pile = self.pile();
        pile.closed = true;
        // Dropped outside: whoever waits for an answer is woken by that.
        let requests = std::mem::take(&mut pile.requests);
        drop(pile);
        drop(requests);
    }

    #[cfg(test)]
    pub(super) fn is_the_desk_asleep(&self) -> bool {
        self.pile().asleep
    }

    fn pile(&self) -> MutexGuard<'_, Pile<T>> {
        self.pile.lock().expect("nothing panics with the pile in its hands")
    }
}

impl<T> Pile<T> {
    /// How this thread is reminded, if it looks after what it puts in.
    fn own_hand(&self) -> Option<Waker> {
        if self.hands.is_empty() {
            return None;
        }
        let me = thread::current().id();
        self.hands.iter().find(|(hand, _)| *hand == me).map(|(_, waker)| waker.clone())
    }
}

/// Closes the inbox when the desk's own thread is gone, however that came.
pub(super) struct Closes<T>(pub(super) Arc<Inbox<T>>);

impl<T> Drop for Closes<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests;
