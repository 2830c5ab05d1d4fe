//! A lease that is held, and the task that keeps it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use claims::Timestamp;
use claims::contest::{Ending, Heard, Holding, Loss, Machine, Step, Why, WriterId};
use tokio::sync::{Notify, watch};

use super::blob::Blob;
use crate::clock;

/// A lease, kept alive in the background until it is released, lost or dropped. Dropping releases
/// it too, if the runtime lives long enough; better wait for [`Lease::release`].
pub struct Lease {
    writer: WriterId,
    state: watch::Receiver<State>,
    stop: Arc<Notify>,
}

#[derive(Debug, Clone)]
struct State {
    deadline: Timestamp,
    ending: Option<Ending>,
    in_trouble: bool,
}

impl Lease {
    pub(super) fn keep(holding: Holding, blob: Blob) -> Self {
        let writer = holding.writer().clone();
        let first = State { deadline: holding.deadline(), ending: None, in_trouble: false };
        let (tell, state) = watch::channel(first);
        let stop = Arc::new(Notify::new());
        tokio::spawn(keep(holding, blob, tell, Arc::clone(&stop)));
        Self { writer, state, stop }
    }

    /// The name to hand to a remote.
    pub const fn writer(&self) -> &WriterId {
        &self.writer
    }

    /// Until when it may be believed in, by the boot-time clock, if nothing more is heard.
    pub fn deadline(&self) -> Timestamp {
        self.state.borrow().deadline
    }

    /// For how long it may still be believed in, if nothing more is heard. Nothing if it is lost.
    pub fn valid_for(&self) -> Duration {
        let state = self.state.borrow();
        if state.ending.is_some() { Duration::ZERO } else { clock::until(state.deadline) }
    }

    /// Whether the last refresh failed. It is tried again until the lease ends.
    pub fn is_in_trouble(&self) -> bool {
        self.state.borrow().in_trouble
    }

    /// Waits until it is lost, and says how. Never returns while all is well.
    pub async fn lost(&self) -> Loss {
        let mut state = self.state.clone();
        loop {
            match &state.borrow_and_update().ending {
                Some(Ending::Lost(loss)) => return loss.clone(),
                Some(Ending::Released | Ending::Unreleased | Ending::Left) | None => {}
            }
            if state.changed().await.is_err() {
                // The task is gone without a word: the runtime ends.
                return std::future::pending().await;
            }
        }
    }

    /// Gives it back, if it is ours still (a remote only stops keeping it), and says how it ended.
    pub async fn release(mut self) -> Ending {
        self.stop.notify_one();
        let state = self.state.wait_for(|state| state.ending.is_some()).await;
        state.map_or(Ending::Unreleased, |state| state.ending.clone().unwrap_or(Ending::Unreleased))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.stop.notify_one();
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Lease({})", self.writer)
    }
}

async fn keep(mut holding: Holding, mut blob: Blob, tell: watch::Sender<State>, stop: Arc<Notify>) {
    let mut heard = Heard::Go;
    let ending = loop {
        let step = holding.step(heard, clock::now());
        let in_trouble = matches!(step, Step::Wait { why: Why::NoAnswer, .. });
        let deadline = holding.deadline();
        tell.send_modify(|state| *state = State { deadline, ending: None, in_trouble });
        heard = match step {
            Step::Done(ending) => break ending,
            Step::Wait { until, .. } => tokio::select! {
                () = clock::sleep_until(until) => Heard::Go,
                () = stop.notified() => Heard::Stop,
            },
            // Even a store that says no for good is asked again until the deadline: the answer may
            // change, the lease cannot be had back.
            Step::Read { .. } => blob.perform(&step).await.unwrap_or(Heard::Blind),
            Step::Write { .. } => blob.perform(&step).await.unwrap_or(Heard::Unsure),
        };
    };
    if let Ending::Lost(loss) = &ending {
        tracing::warn!(writer = %holding.writer(), ?loss, "the lease is lost");
    }
    tell.send_modify(|state| state.ending = Some(ending));
}
