//! What goes on by itself: reading the clock, doing what is due, hearing what others did.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use claims::clock::TICK;
use claims::{Stamp, Timestamp};

use super::Core;
use super::cabinet::{Cabinet, Key, News};
use super::decide::Act;
use super::slots::{Source, parsed};
use super::timeline::duration;
use crate::error::StoreError;

/// How long to wait for the news of what was done here.
const CATCH_UP: Duration = Duration::from_secs(5);
/// How often what is due is done, whether or not somebody asks.
const SWEEP: Duration = Duration::from_secs(1);
/// Every so many sweeps all drawers are looked at: those nobody asks for must be noticed, too.
const ROUND: u64 = 3600;

/// Reads the clock often enough that a pause of this process is noticed.
pub(super) async fn keep_time<C: Cabinet>(core: Weak<Core<C>>) {
    while let Some(core) = core.upgrade() {
        core.timeline.now();
        drop(core);
        tokio::time::sleep(duration(TICK)).await;
    }
}

/// Does what is due. No answer depends on it: it only makes changes prompt.
pub(super) async fn keep_tidy<C: Cabinet>(core: Weak<Core<C>>) {
    for round in 1u64.. {
        tokio::time::sleep(SWEEP).await;
        let Some(core) = core.upgrade() else { return };
        if round.is_multiple_of(ROUND)
            && let Err(error) = core.look_at_all().await
        {
            tracing::debug!(%error, "not all records could be looked at");
        }
        if let Err(error) = core.sweep().await {
            tracing::debug!(%error, "what is due could not be done");
        }
    }
}

impl<C: Cabinet> Core<C> {
    /// Does what is due in the drawers that are known, and says when something is due again.
    pub(super) async fn sweep(&self) -> Result<Option<Duration>, StoreError> {
        let mut next: Option<Timestamp> = None;
        for (key, slot) in self.slots.all() {
            let now = self.timeline.now().at;
            let known = slot.known().due;
            let mut due = known.or_else(|| self.find_due(&key));
            if due.is_some_and(|due| due <= now) {
                self.run(Act::Sweep(key.clone())).await?;
                due = self.find_due(&key);
            }
            slot.known().due = due;
            next = next.into_iter().chain(due).min();
        }
        let now = self.timeline.now().at;
        Ok(next.filter(|&at| at < Timestamp::NEVER).map(|at| duration(at.since(now))))
    }

    /// When something in a drawer is due, as far as is known here: never, if nothing is.
    pub(super) fn find_due(&self, key: &Key) -> Option<Timestamp> {
        let (opened, stamp) = self.glance(key)?;
        let fades = opened.iter().filter_map(|it| it.fades);
        let due = self.circumstances(stamp).next_due(&opened);
        Some(fades.chain(due).min().unwrap_or(Timestamp::NEVER))
    }

    /// Follows the cabinet, if it can be followed. Everything from now on will be in the history.
    pub(super) async fn follow(self: &Arc<Self>) -> Result<(), StoreError> {
        if !C::FOLLOWS {
            return Ok(());
        }
        self.begin_to_follow();
        let mut position = self.position.subscribe();
        let begun = position.wait_for(|&position| position > 0);
        match tokio::time::timeout(CATCH_UP, begun).await {
            Ok(_) => Ok(()),
            Err(_) => {
                Err(StoreError::Unavailable("the store does not tell its changes now".into()))
            }
        }
    }

    pub(super) fn begin_to_follow(self: &Arc<Self>) {
        let mut following = self.following();
        if following.is_none() && C::FOLLOWS {
            let (core, cabinet) = (Arc::downgrade(self), self.cabinet.clone());
            let follower = tokio::spawn(async move {
                cabinet
                    .follow(|news| {
                        if let Some(core) = core.upgrade() {
                            core.hear(news);
                        }
                    })
                    .await;
            });
            *following = Some(follower.abort_handle());
        }
    }

    /// Waits until the history has what was done here.
    pub(super) async fn catch_up(&self) {
        let told = self.told.load(Ordering::Relaxed);
        let mut position = self.position.subscribe();
        let reached = position.wait_for(|&position| position >= told);
        // What comes later is told later.
        let _ = tokio::time::timeout(CATCH_UP, reached).await;
    }

    fn hear(&self, news: News<C::Version>) {
        let stamp = self.timeline.now();
        match news {
            News::From { position, missed } => {
                let mut chronicle = self.chronicle();
                chronicle.begin(position, missed);
                self.position.send_replace(chronicle.next());
                drop(chronicle);
                if missed {
                    // Waiters look for themselves.
                    for (_, slot) in self.slots.all() {
                        slot.changed.send_modify(|changes| *changes += 1);
                    }
                }
            }
            News::Changed { key, content, position } => match parsed(&*self.cabinet, &key, content)
            {
                Ok((version, drawer)) => {
                    let mut chronicle = self.chronicle();
                    chronicle.push(&drawer.happened, stamp, Some(position));
                    self.position.send_replace(chronicle.next());
                    drop(chronicle);
                    if self.slots.find(&key).is_some() || !drawer.is_idle() {
                        self.note(&key, version, drawer, stamp, Source::Hearsay);
                    }
                }
                Err(error) => tracing::error!(%error, "the store is damaged"),
            },
        }
    }

    /// Looks at every drawer that has changed since it was last seen.
    pub(super) async fn look_at_all(&self) -> Result<(BTreeSet<Key>, Stamp), StoreError> {
        let listed = self.cabinet.list().await?;
        let changed = |(key, version): &&(Key, C::Version)| {
            !self.slots.find(key).is_some_and(|slot| slot.known().has_version(version))
        };
        let changed: Vec<Key> = listed.iter().filter(changed).map(|(key, _)| key.clone()).collect();
        for keys in changed.chunks(64) {
            let contents = self.cabinet.read(keys).await?;
            let stamp = self.timeline.now();
            for (key, content) in keys.iter().zip(contents) {
                let (version, drawer) = parsed(&*self.cabinet, key, content)?;
                self.note(key, version, drawer, stamp, Source::Hearsay);
            }
        }
        Ok((listed.into_iter().map(|(key, _)| key).collect(), self.timeline.now()))
    }
}
