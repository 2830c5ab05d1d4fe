//! What this process knows of the drawers: so that an undisturbed owner needs no look before a swap.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use claims::observed::{Sightings, Written};
use claims::{ClaimId, Record, Span, Stamp, Timestamp};
use tokio::sync::watch;

use super::cabinet::{Cabinet, Content, Key};
use super::drawer::Drawer;
use crate::error::StoreError;

/// How many drawers without a live claim are remembered: only to save a look.
const IDLE_MAX: usize = 8 * 1024;

/// One drawer.
pub(crate) struct Slot<V> {
    known: Mutex<Known<V>>,
    /// One at a time: others in this process would only be in each other's way.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// Rises when the content changes.
    pub(crate) changed: watch::Sender<u64>,
}

/// What is known of it.
pub(crate) struct Known<V> {
    loaded: bool,
    version: Option<V>,
    drawer: Arc<Drawer>,
    sightings: Sightings,
    /// When something there is due, if that was found out.
    pub(crate) due: Option<Timestamp>,
}

/// A drawer as it was when a decision was begun.
pub(crate) struct Opened<V> {
    pub(crate) key: Key,
    pub(crate) version: Option<V>,
    pub(crate) drawer: Arc<Drawer>,
    /// Its claims on this process's timeline, in the same order.
    pub(crate) claims: Vec<Record>,
    /// Those that have been over for longer than anybody wants to know.
    pub(crate) faded: Vec<ClaimId>,
    /// When the next of them has.
    pub(crate) fades: Option<Timestamp>,
}

/// How a content became known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// It was swapped in here.
    Own,
    /// It was looked up just now.
    Read,
    /// It was told or looked up a while ago, and may be older than what is known.
    Hearsay,
}

impl<V: Clone + PartialEq> Slot<V> {
    fn new() -> Self {
        let known = Known {
            loaded: false,
            version: None,
            drawer: Arc::default(),
            sightings: Sightings::default(),
            due: None,
        };
        Self {
            known: Mutex::new(known),
            turn: tokio::sync::Mutex::default(),
            changed: watch::Sender::new(0),
        }
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known<V>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what is in the drawer at `now`. Returns what was there before, if that was known.
    pub(crate) fn install(
        &self,
        version: Option<V>,
        drawer: Arc<Drawer>,
        now: Timestamp,
        source: Source,
    ) -> Option<Arc<Drawer>> {
        let mut known = self.known();
        let before = known.loaded.then(|| known.drawer.clone());
        let older = known.loaded && drawer.swaps < known.drawer.swaps;
        if older && source != Source::Read {
            return before;
        }
        let same = known.loaded && known.drawer.nonce == drawer.nonce;
        known.sightings.note(&drawer.claims, now);
        (known.loaded, known.version, known.drawer) = (true, version, drawer);
        if !same {
            known.due = None;
            drop(known);
            self.changed.send_modify(|changes| *changes += 1);
        }
        before
    }
}

impl<V: Clone + PartialEq> Known<V> {
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded
    }

    pub(crate) fn drawer(&self) -> &Arc<Drawer> {
        &self.drawer
    }

    pub(crate) fn has_version(&self, version: &V) -> bool {
        self.loaded && self.version.as_ref() == Some(version)
    }

    pub(crate) fn open(&self, key: &Key, now: Stamp, retain: Span) -> Opened<V> {
        let read = |written: &Written| self.sightings.read(written, now);
        let over = || self.drawer.claims.iter().filter(|written| !written.is_live());
        let fades =
            |written: &Written| now.at - self.sightings.unchanged_for(written, now.at) + retain;
        let faded = |written: &&Written| fades(written) <= now.at;
        Opened {
            key: key.clone(),
            version: self.version.clone(),
            drawer: self.drawer.clone(),
            claims: self.drawer.claims.iter().map(read).collect(),
            faded: over().filter(faded).map(|written| written.claim().id).collect(),
            fades: over().map(fades).min(),
        }
    }
}

impl Drawer {
    /// The drawers that a decision about this one has to look into, too: claims over several
    /// resources tie them together.
    pub(crate) fn ties<C: Cabinet>(&self, cabinet: &C) -> Vec<Key> {
        let live = self.claims.iter().filter(|written| written.is_live());
        let names = live.flat_map(|written| written.claim().resources.as_slice());
        let mut keys: Vec<Key> = names.map(|name| cabinet.drawer(name)).collect();
        keys.extend(self.guests.iter().map(|(_, home)| Key::from(home.as_str())));
        keys
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.guests.is_empty() && !self.claims.iter().any(Written::is_live)
    }
}

/// All drawers that are known.
pub(crate) struct Slots<V>(Mutex<HashMap<Key, Arc<Slot<V>>>>);

impl<V: Clone + PartialEq> Slots<V> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(HashMap::new()))
    }

    fn map(&self) -> MutexGuard<'_, HashMap<Key, Arc<Slot<V>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, key: &Key) -> Arc<Slot<V>> {
        let mut map = self.map();
        if let Some(slot) = map.get(key) {
            return slot.clone();
        }
        if map.len() >= IDLE_MAX && map.len().is_power_of_two() {
            // Whoever holds or waits is never forgotten: its lease would begin anew.
            map.retain(|_, slot| Arc::strong_count(slot) > 1 || !slot.known().drawer.is_idle());
        }
        map.entry(key.clone()).or_insert_with(|| Arc::new(Slot::new())).clone()
    }

    pub(crate) fn find(&self, key: &Key) -> Option<Arc<Slot<V>>> {
        self.map().get(key).cloned()
    }

    pub(crate) fn all(&self) -> Vec<(Key, Arc<Slot<V>>)> {
        self.map().iter().map(|(key, slot)| (key.clone(), slot.clone())).collect()
    }
}

/// The version and the drawer of a content.
pub(crate) fn parsed<C: Cabinet>(
    cabinet: &C,
    key: &Key,
    content: Content<C::Version>,
) -> Result<(Option<C::Version>, Arc<Drawer>), StoreError> {
    match content {
        Some((version, bytes)) => {
            let drawer = Drawer::read(key, &bytes)?.checked(key, cabinet)?;
            Ok((Some(version), Arc::new(drawer)))
        }
        None => Ok((None, Arc::default())),
    }
}
