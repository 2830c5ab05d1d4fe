//! A store over records that can be swapped: etcd, a bucket, a directory.
//!
//! **Problem.** The rules need all that is known of a resource, at one moment, and a clock. These
//! places have neither: they can only swap a record for another if it is still the one expected.
//!
//! **Idea.** Everything about a resource is in one record, its *drawer*. A decision reads the drawers
//! it concerns, rebuilds a [`claims::State`] from them, runs the engine, and swaps what changed, all
//! at once or not at all; whoever was too late decides again. Time is what this process has observed
//! (`claims::observed`). A drawer that was swapped here is remembered, so an undisturbed owner needs no
//! look before the swap: if it is not what is there any more, the swap fails and nothing is harmed.
//!
//! A reply that was lost leaves open whether the swap happened. All commands may be run twice
//! (rule 10), so the drawer is read again and the decision made anew.

pub(crate) mod cabinet;
mod chronicle;
mod decide;
pub(crate) mod drawer;
mod follow;
mod look;
mod open;
mod run;
mod sense;
mod slots;
#[cfg(all(test, feature = "object"))]
mod tests;
mod timeline;
mod wait;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use claims::{Claim, ClaimId, Command, Epoch, Name, Rules, Span, Standing};
use tokio::sync::watch;

use self::cabinet::Cabinet;
use self::chronicle::Chronicle;
use self::slots::Slots;
use self::timeline::Timeline;
use crate::commits::Commits;
use crate::store::{Answer, EventPage, Filter, Page, Pending, ResourceReport, Store, Vitals};

/// A store over a cabinet.
pub(crate) struct Swap<C: Cabinet> {
    core: Arc<Core<C>>,
    tasks: [tokio::task::AbortHandle; 2],
}

struct Core<C: Cabinet> {
    cabinet: Arc<C>,
    rules: Rules,
    retain: Span,
    epoch: Epoch,
    timeline: Timeline,
    slots: Slots<C::Version>,
    /// The place of the youngest claim that is known, in the order of all claims.
    sequence: AtomicU64,
    chronicle: Mutex<Chronicle>,
    /// Told the position after the last event that is known.
    position: watch::Sender<u64>,
    /// The position up to which own swaps must have been told before the history is shown.
    told: AtomicU64,
    following: Mutex<Option<tokio::task::AbortHandle>>,
    waits: Mutex<wait::Waits>,
    commits: Mutex<Commits>,
}

impl<C: Cabinet> Swap<C> {
    /// Opens the store over a cabinet. Needs a runtime for what it does by itself.
    pub(crate) fn over(cabinet: C, rules: Rules, queue_max: usize, epoch: Epoch) -> Self {
        let core = Arc::new(Core {
            cabinet: Arc::new(cabinet),
            retain: rules.retain,
            rules: decide::within_bounds(rules, queue_max),
            epoch,
            timeline: Timeline::begin(),
            slots: Slots::new(),
            sequence: AtomicU64::new(0),
            chronicle: Mutex::default(),
            position: watch::Sender::new(0),
            told: AtomicU64::new(0),
            following: Mutex::default(),
            waits: Mutex::default(),
            commits: Mutex::default(),
        });
        let time = tokio::spawn(follow::keep_time(Arc::downgrade(&core)));
        let tidy = tokio::spawn(follow::keep_tidy(Arc::downgrade(&core)));
        Self { core, tasks: [time.abort_handle(), tidy.abort_handle()] }
    }
}

impl<C: Cabinet> Drop for Swap<C> {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::AbortHandle::abort);
        if let Some(follower) = self.core.following().take() {
            follower.abort();
        }
    }
}

impl<C: Cabinet> Core<C> {
    fn chronicle(&self) -> MutexGuard<'_, Chronicle> {
        self.chronicle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn following(&self) -> MutexGuard<'_, Option<tokio::task::AbortHandle>> {
        self.following.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commits(&self) -> MutexGuard<'_, Commits> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Cabinet> Store for Swap<C> {
    fn submit(&self, command: Command) -> Pending<'_, Answer> {
        Box::pin(self.core.obey(command))
    }

    fn submit_and_wait(&self, command: Command, patience: Duration) -> Pending<'_, Answer> {
        // Now, and not when it is first polled: the claimant that comes again is the one that counts.
        let wait = self.core.open_wait(&command);
        Box::pin(self.core.clone().submit_and_wait(command, patience, wait))
    }

    fn standing(&self, claim: ClaimId) -> Pending<'_, Option<Standing>> {
        Box::pin(self.core.standing(claim))
    }

    fn claims(&self, filter: Filter, page: Page<ClaimId>) -> Pending<'_, Vec<Claim>> {
        Box::pin(self.core.claims(filter, page))
    }

    fn resources(&self, page: Page<Name>) -> Pending<'_, Vec<ResourceReport>> {
        Box::pin(self.core.resources(page))
    }

    fn resource(&self, name: Name, queue: usize) -> Pending<'_, ResourceReport> {
        Box::pin(self.core.resource(name, queue))
    }

    fn events(&self, position: u64, count: usize) -> Pending<'_, EventPage> {
        Box::pin(async move {
            self.core.follow().await?;
            self.core.catch_up().await;
            Ok(self.core.chronicle().page(position, count.min(look::LOOK_MAX)))
        })
    }

    fn wait_for_event(&self, position: u64) -> Pending<'_, ()> {
        let mut next = self.core.position.subscribe();
        Box::pin(async move {
            self.core.follow().await?;
            // The sender is in the store itself, so it cannot be gone.
            let _ = next.wait_for(|&next| next > position).await;
            Ok(())
        })
    }

    fn sweep(&self) -> Pending<'_, Option<Duration>> {
        Box::pin(self.core.sweep())
    }

    fn vitals(&self) -> Pending<'_, Vitals> {
        Box::pin(async move {
            self.core.follow().await?;
            let tally = self.core.tally().await?;
            let now = self.core.timeline.now().at;
            let commits = *self.core.commits();
            Ok(Vitals { now, tally, position: self.core.chronicle().next(), commits })
        })
    }
}
