//! A name that is ours, and the task that shows that we are alive.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use claims::{Span, Timestamp};
use tokio::sync::{Notify, watch};

use super::{Creation, Names, Sign, Tag};
use crate::clock;

/// A lock that is held. Dropping it releases it in the background, if the runtime lives long enough;
/// better wait for [`Held::release`].
pub struct Held {
    sign: Sign,
    state: watch::Receiver<State>,
    stop: Arc<Notify>,
}

/// It is not ours any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// Somebody followed us, or removed it.
    Taken(Option<String>),
    /// The store did not take our signs of life until the lease ended.
    Expired,
}

#[derive(Debug, Clone)]
struct State {
    deadline: Timestamp,
    ended: Option<Ended>,
}

#[derive(Debug, Clone)]
enum Ended {
    Released,
    /// The store did not say so; it may be there still.
    Unreleased,
    Lost(Lost),
}

impl Held {
    pub(super) fn keep(
        names: Arc<dyn Names>,
        name: String,
        sign: Sign,
        asked_at: Timestamp,
    ) -> Self {
        let lease = Lease::of(&sign.tag);
        let deadline =
            lease.as_ref().map_or(Timestamp::NEVER, |lease| asked_at + lease.believe_for);
        let (tell, state) = watch::channel(State { deadline, ended: None });
        let stop = Arc::new(Notify::new());
        let keeper = Keeper { names, name, sign: sign.clone(), lease, deadline };
        tokio::spawn(keeper.run(tell, Arc::clone(&stop)));
        Self { sign, state, stop }
    }

    /// A number greater than that of every holder before, if the store can give one.
    pub fn fence(&self) -> Option<u64> {
        self.sign.fence
    }

    /// Who and in which attempt.
    pub const fn tag(&self) -> &Tag {
        &self.sign.tag
    }

    /// Until when it may be believed in, by the boot-time clock, if nothing more is heard.
    pub fn deadline(&self) -> Timestamp {
        self.state.borrow().deadline
    }

    /// For how long it may still be believed in; for ever where there is no lease.
    pub fn valid_for(&self) -> Duration {
        let state = self.state.borrow();
        if state.ended.is_some() { Duration::ZERO } else { clock::until(state.deadline) }
    }

    /// Waits until it is lost, and says how. Never returns while all is well.
    pub async fn lost(&self) -> Lost {
        let mut state = self.state.clone();
        loop {
            if let Some(Ended::Lost(lost)) = &state.borrow_and_update().ended {
                return lost.clone();
            }
            if state.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// Gives it back if it is still ours. Whether it was; an error if the store did not say.
    pub async fn release(mut self) -> Result<(), Unreleased> {
        self.stop.notify_one();
        let state = self.state.wait_for(|state| state.ended.is_some()).await;
        match state.ok().and_then(|state| state.ended.clone()) {
            Some(Ended::Released) => Ok(()),
            Some(Ended::Lost(lost)) => Err(Unreleased::Lost(lost)),
            Some(Ended::Unreleased) | None => Err(Unreleased::NoAnswer),
        }
    }
}

/// Why there was nothing to give back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreleased {
    /// It was not ours any more; nothing was touched.
    Lost(Lost),
    /// The store did not answer: it may be there still.
    NoAnswer,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.stop.notify_one();
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Held({:?})", self.sign)
    }
}

/// How a lease is kept.
#[derive(Debug, Clone)]
struct Lease {
    /// Others follow after the whole of it; we stop before.
    believe_for: Span,
    renew_every: Span,
}

impl Lease {
    fn of(tag: &Tag) -> Option<Self> {
        let micros = tag.ttl()?.as_micros();
        let believe_for = Span::from_micros(micros / 10 * 9);
        Some(Self { believe_for, renew_every: Span::from_micros(micros / 3) })
    }
}

struct Keeper {
    names: Arc<dyn Names>,
    name: String,
    sign: Sign,
    lease: Option<Lease>,
    deadline: Timestamp,
}

impl Keeper {
    async fn run(mut self, tell: watch::Sender<State>, stop: Arc<Notify>) {
        let mut renew_at = self.next_renewal(clock::at());
        let ended = loop {
            tokio::select! {
                () = clock::sleep_until(renew_at) => {}
                () = stop.notified() => break self.release().await,
            }
            match self.renew().await {
                Ok(()) => {
                    let deadline = self.deadline;
                    tell.send_modify(|state| state.deadline = deadline);
                    renew_at = self.next_renewal(clock::at());
                }
                Err(Some(lost)) => break Ended::Lost(lost),
                // Not answered: again soon, until the lease ends.
                Err(None) => renew_at = clock::at() + Span::from_millis(200),
            }
        };
        if let Ended::Lost(lost) = &ended {
            tracing::warn!(lock = self.name, ?lost, "the lock is lost");
        }
        tell.send_modify(|state| state.ended = Some(ended));
    }

    fn next_renewal(&self, now: Timestamp) -> Timestamp {
        self.lease.as_ref().map_or(Timestamp::NEVER, |lease| now + lease.renew_every)
    }

    async fn renew(&mut self) -> Result<(), Option<Lost>> {
        let Some(lease) = self.lease.clone() else { return Ok(()) };
        let asked_at = clock::at();
        if asked_at >= self.deadline {
            return Err(Some(Lost::Expired));
        }
        let tag = Tag { beat: self.sign.tag.beat + 1, ..self.sign.tag.clone() };
        let swap = self.names.swap(&self.name, &self.sign, &tag);
        let sign = match tokio::time::timeout(clock::until(self.deadline), swap).await {
            Ok(Ok(Creation::Created(sign))) => sign,
            // Ours: an earlier renewal had landed without an answer.
            Ok(Ok(Creation::Taken(Some(sign)))) if sign.tag.is_same_attempt(&tag) => {
                self.sign = sign;
                return Err(None);
            }
            Ok(Ok(Creation::Taken(by))) => {
                return Err(Some(Lost::Taken(by.map(|sign| sign.tag.owner))));
            }
            Ok(Err(fault)) => {
                tracing::debug!(%fault, "a sign of life did not reach the store");
                return Err(None);
            }
            Err(_late) => return Err(Some(Lost::Expired)),
        };
        self.sign = sign;
        self.deadline = asked_at + lease.believe_for;
        Ok(())
    }

    /// Removes it if it is ours, which only the store knows: it is read first.
    async fn release(&mut self) -> Ended {
        for nth in 0..5 {
            if nth > 0 {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            let sign = match self.names.read(&self.name).await {
                Ok(Some(sign)) if sign.tag.is_same_attempt(&self.sign.tag) => sign,
                // Gone after we tried to remove it: the answer was lost.
                Ok(None) if nth > 0 => return Ended::Released,
                Ok(by) => return Ended::Lost(Lost::Taken(by.map(|sign| sign.tag.owner))),
                Err(_) => continue,
            };
            if let Ok(true) = self.names.remove(&self.name, &sign).await {
                return Ended::Released;
            }
        }
        Ended::Unreleased
    }
}
