//! Where requests wait for the desk.
//!
//! **Problem.** A sync makes any number of decisions durable and costs the same for one. Thousands of
//! claims that are renewed one by one must not cost a sync each.
//!
//! **Idea.** The desk takes everything that is there at once. It is woken for what somebody waits
//! for. What can wait for company is taken along with the next thing that cannot, or after a moment.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long a patient request waits for company: nothing to a lease of seconds.
const COMPANY_WITHIN: Duration = Duration::from_millis(2);

/// Whether somebody waits for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    Now,
    WithCompany,
}

/// Many put in, one takes out.
pub(super) struct Inbox<T> {
    pile: Mutex<Pile<T>>,
    arrived: Condvar,
}

struct Pile<T> {
    requests: VecDeque<T>,
    urgent: bool,
    /// Whether the one who takes out sleeps until something comes.
    asleep: bool,
    closed: bool,
}

/// Nobody takes out any more.
#[derive(Debug)]
pub(super) struct Closed;

impl<T> Inbox<T> {
    pub(super) fn new() -> Self {
        let requests = VecDeque::new();
        let pile = Pile { requests, urgent: false, asleep: false, closed: false };
        Self { pile: Mutex::new(pile), arrived: Condvar::new() }
    }

    pub(super) fn put(&self, request: T, urgency: Urgency) -> Result<(), Closed> {
        let mut pile = self.pile();
        if pile.closed {
            return Err(Closed);
        }
        let first = pile.requests.is_empty();
        let news = first || (urgency == Urgency::Now && !pile.urgent);
        pile.urgent |= urgency == Urgency::Now;
        pile.requests.push_back(request);
        let wake = pile.asleep && news;
        drop(pile);
        if wake {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Moves everything there is to the end of `taken`. Waits for something, at most for `patience`.
    pub(super) fn take(&self, taken: &mut VecDeque<T>, patience: Duration) {
        let mut pile = self.pile();
        // Reading the clock is not free, and under load there is always something.
        if !pile.urgent {
            let now = Instant::now();
            let mut until = now + patience;
            let mut alone = true;
            loop {
                if alone && !pile.requests.is_empty() {
                    alone = false;
                    until = until.min(Instant::now() + COMPANY_WITHIN);
                }
                let left = until.saturating_duration_since(Instant::now());
                if pile.urgent || left.is_zero() {
                    break;
                }
                pile.asleep = true;
                let woken = self.arrived.wait_timeout(pile, left);
                pile = woken.expect("nothing panics with the pile in its hands").0;
                pile.asleep = false;
            }
        }
        pile.urgent = false;
        match taken.is_empty() {
            // The room of the last batch is used again.
            true => std::mem::swap(taken, &mut pile.requests),
            false => taken.append(&mut pile.requests),
        }
    }

    /// Moves what is there to the end of `taken`, without waiting.
    pub(super) fn take_now(&self, taken: &mut VecDeque<T>) {
        let mut pile = self.pile();
        pile.urgent = false;
        taken.append(&mut pile.requests);
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

    fn pile(&self) -> MutexGuard<'_, Pile<T>> {
        self.pile.lock().expect("nothing panics with the pile in its hands")
    }
}

/// Closes the inbox when the one who takes out is gone, however that came.
pub(super) struct Closes<T>(pub(super) Arc<Inbox<T>>);

impl<T> Drop for Closes<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn everything_is_taken_at_once_and_in_order() {
        let inbox = Inbox::new();
        inbox.put(1, Urgency::WithCompany).unwrap();
        inbox.put(2, Urgency::Now).unwrap();
        inbox.put(3, Urgency::WithCompany).unwrap();
        let mut taken = VecDeque::from([0]);
        inbox.take(&mut taken, LONG);
        assert_eq!(taken, [0, 1, 2, 3]);
    }

    #[test]
    fn a_patient_request_is_taken_without_company_after_a_moment() {
        let inbox = Arc::new(Inbox::new());
        let taker = std::thread::spawn({
            let inbox = inbox.clone();
            move || {
                let mut taken = VecDeque::new();
                inbox.take(&mut taken, LONG);
                taken
            }
        });
        inbox.put(1, Urgency::WithCompany).unwrap();
        assert_eq!(taker.join().unwrap(), [1], "it did not wait for ever");
    }

    #[test]
    fn nobody_waits_longer_than_asked() {
        let inbox = Inbox::<u8>::new();
        let mut taken = VecDeque::new();
        inbox.take(&mut taken, Duration::from_millis(1));
        assert!(taken.is_empty());
    }

    #[test]
    fn whoever_comes_too_late_is_told() {
        let inbox = Inbox::new();
        let late = Arc::new(());
        inbox.close();
        assert!(inbox.put(late.clone(), Urgency::Now).is_err());
        assert_eq!(Arc::strong_count(&late), 1, "what is refused is dropped");
    }

    #[test]
    fn many_put_in_and_nothing_is_lost() {
        let inbox = Arc::new(Inbox::new());
        let putters: Vec<_> = (0..4u32)
            .map(|putter| {
                let inbox = inbox.clone();
                std::thread::spawn(move || {
                    for n in 0..10_000u32 {
                        let urgency = if n % 3 == 0 { Urgency::Now } else { Urgency::WithCompany };
                        inbox.put((putter, n), urgency).unwrap();
                    }
                })
            })
            .collect();
        let mut next = [0; 4];
        let mut taken = VecDeque::new();
        while next != [10_000; 4] {
            inbox.take(&mut taken, LONG);
            for (putter, n) in taken.drain(..) {
                assert_eq!(n, next[putter as usize], "each one's requests stay in order");
                next[putter as usize] += 1;
            }
        }
        putters.into_iter().for_each(|putter| putter.join().unwrap());
    }
}
