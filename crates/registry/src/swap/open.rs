//! Opening the drawers that a decision concerns: from memory, or by looking.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use claims::Stamp;

use super::Core;
use super::cabinet::{Cabinet, Content, Key};
use super::drawer::Drawer;
use super::slots::{Opened, Source, parsed};
use crate::error::StoreError;

/// How many drawers claims over several resources may tie together.
const TIED_MAX: usize = 40;

/// What is known to be so since this command was given.
#[derive(Default)]
pub(super) struct Fresh {
    /// Nothing that was known before will do.
    pub(super) wanted: bool,
    /// What is not known may be taken for unused.
    pub(super) guessing: bool,
    pub(super) read: BTreeSet<Key>,
}

impl Fresh {
    /// Everything has to be read again.
    pub(super) fn needed() -> Self {
        Self { wanted: true, ..Self::default() }
    }
}

impl<C: Cabinet> Core<C> {
    /// Sees to it that the drawers, and those that are tied to them, are known.
    pub(super) async fn open(
        &self,
        keys: &mut BTreeSet<Key>,
        fresh: &mut Fresh,
    ) -> Result<Stamp, StoreError> {
        loop {
            let unknown = |key: &&Key| match fresh.wanted {
                true => !fresh.read.contains(*key),
                false => !fresh.guessing && !self.slots.get(key).known().is_loaded(),
            };
            let missing: Vec<Key> = keys.iter().filter(unknown).cloned().collect();
            if !missing.is_empty() {
                let contents = self.cabinet.read(&missing).await?;
                self.take_in(missing.into_iter().zip(contents), self.timeline.now(), fresh)?;
            }
            let tied = keys.iter().flat_map(|key| {
                let drawer = self.slots.get(key).known().drawer().clone();
                drawer.ties(&*self.cabinet)
            });
            let more: BTreeSet<Key> = tied.filter(|key| !keys.contains(key)).collect();
            if more.is_empty() {
                return Ok(self.timeline.now());
            }
            keys.extend(more);
            if keys.len() > TIED_MAX {
                return Err(StoreError::Unavailable(format!(
                    "claims over several resources tie more than {TIED_MAX} resources together: \
                     claim fewer at once, or try again when some of those claims are over"
                )));
            }
        }
    }

    pub(super) fn take_in(
        &self,
        contents: impl Iterator<Item = (Key, Content<C::Version>)>,
        stamp: Stamp,
        fresh: &mut Fresh,
    ) -> Result<(), StoreError> {
        for (key, content) in contents {
            let (version, drawer) = parsed(&*self.cabinet, &key, content)?;
            self.note(&key, version, drawer, stamp, Source::Read);
            fresh.read.insert(key);
        }
        Ok(())
    }

    /// Notes what is in a drawer, and what that tells about what happened.
    pub(super) fn note(
        &self,
        key: &Key,
        version: Option<C::Version>,
        drawer: Arc<Drawer>,
        stamp: Stamp,
        source: Source,
    ) {
        self.sequence.fetch_max(drawer.sequence, Ordering::Relaxed);
        let before = self.slots.get(key).install(version, drawer.clone(), stamp.at, source);
        if C::FOLLOWS {
            return;
        }
        let swaps = before.map_or(drawer.swaps, |before| before.swaps);
        if source == Source::Own || drawer.swaps > swaps {
            let mut chronicle = self.chronicle();
            chronicle.leave_a_gap(drawer.swaps.saturating_sub(swaps + 1));
            chronicle.push(&drawer.happened, stamp, None);
            self.position.send_replace(chronicle.next());
        }
    }

    pub(super) fn opened(&self, keys: &BTreeSet<Key>, stamp: Stamp) -> Vec<Opened<C::Version>> {
        let open = |key| self.slots.get(key).known().open(key, stamp, self.retain);
        keys.iter().map(open).collect()
    }

    /// The drawers of these keys and what is tied to them, as they are now.
    pub(super) async fn open_now(
        &self,
        mut keys: BTreeSet<Key>,
    ) -> Result<(Vec<Opened<C::Version>>, Stamp), StoreError> {
        let mut fresh = Fresh::needed();
        let stamp = self.open(&mut keys, &mut fresh).await?;
        Ok((self.opened(&keys, stamp), stamp))
    }

    /// The drawer and what is tied to it, as far as they are known without a look.
    pub(super) fn glance(&self, key: &Key) -> Option<(Vec<Opened<C::Version>>, Stamp)> {
        let mut found = BTreeSet::new();
        let mut open = vec![key.clone()];
        while let Some(key) = open.pop() {
            let slot = self.slots.find(&key)?;
            let drawer = slot.known().drawer().clone();
            if !slot.known().is_loaded() || found.len() > TIED_MAX {
                return None;
            }
            found.insert(key);
            open.extend(drawer.ties(&*self.cabinet).into_iter().filter(|key| !found.contains(key)));
        }
        let stamp = self.timeline.now();
        Some((self.opened(&found, stamp), stamp))
    }
}
