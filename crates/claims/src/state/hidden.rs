//! Waiters that a part of the state does not show, but that count.

use alloc::collections::BTreeMap;

use crate::terms::Name;

/// How many waiters of each resource were not loaded. They are behind the head of the queue, so no
/// decision looks at them; but they take up room in it and count for the place of the asker.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden(BTreeMap<Name, Count>);

#[derive(Debug, Clone, Copy)]
struct Count {
    waiting: usize,
    ahead: usize,
}

impl Hidden {
    /// So many waiters of a resource were not loaded, of which so many stand ahead of the asker.
    pub(crate) fn note(&mut self, name: Name, waiting: usize, ahead: usize) {
        self.0.insert(name, Count { waiting, ahead });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn waiting(&self, name: &Name) -> usize {
        self.0.get(name).map_or(0, |count| count.waiting)
    }

    pub(crate) fn ahead(&self, name: &Name) -> usize {
        self.0.get(name).map_or(0, |count| count.ahead)
    }
}
