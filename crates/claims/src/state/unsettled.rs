//! Resources on which something may have become possible: hardly ever more than one.

use alloc::collections::BTreeSet;

use super::slots::Slot;

/// A set of slots. The first one is kept in place, without an allocation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unsettled {
    /// Nothing only if there are none.
    first: Option<Slot>,
    /// All behind the first.
    others: BTreeSet<Slot>,
}

impl Unsettled {
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn insert(&mut self, slot: Slot) {
        match self.first {
            None => self.first = Some(slot),
            Some(first) if first == slot => {}
            Some(first) => {
                self.first = Some(first.min(slot));
                self.others.insert(first.max(slot));
            }
        }
    }

    pub(crate) fn pop_first(&mut self) -> Option<Slot> {
        // Nearly always there are no others, and that is seen without a call.
        let next = if self.others.is_empty() { None } else { self.others.pop_first() };
        core::mem::replace(&mut self.first, next)
    }

    /// Takes one out, and says whether it was there.
    pub(crate) fn remove(&mut self, slot: Slot) -> bool {
        if self.first == Some(slot) {
            return self.pop_first().is_some();
        }
        self.others.remove(&slot)
    }
}

impl FromIterator<Slot> for Unsettled {
    fn from_iter<I: IntoIterator<Item = Slot>>(slots: I) -> Self {
        let mut all = Self { first: None, others: slots.into_iter().collect() };
        all.first = all.others.pop_first();
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn unsettled_behaves_like_a_sorted_set(
            start in prop::collection::vec(0u32..8, 0..8),
            steps in prop::collection::vec(prop::option::of((0u32..8, any::<bool>())), 0..50),
        ) {
            let mut set: BTreeSet<Slot> = start.iter().copied().map(Slot).collect();
            let mut unsettled: Unsettled = start.into_iter().map(Slot).collect();
            for step in steps {
                match step {
                    Some((slot, true)) => {
                        prop_assert_eq!(unsettled.remove(Slot(slot)), set.remove(&Slot(slot)));
                    }
                    Some((slot, false)) => {
                        set.insert(Slot(slot));
                        unsettled.insert(Slot(slot));
                    }
                    None => prop_assert_eq!(unsettled.pop_first(), set.pop_first()),
                }
                prop_assert_eq!(unsettled.is_empty(), set.is_empty());
            }
        }
    }
}
