//! Every claim by its id, in order.
//!
//! **Problem.** A decision finds its claim by id, anywhere among a million, and each place in memory
//! that nobody has touched for long costs it as much as hundreds of steps of work.
//!
//! **Why the obvious fails.** The last levels of a `BTreeMap` of a million are such places. A hash
//! table has fewer, but no order, in which claims are listed and snapshots are read. A plain list by
//! id has both, but one claim that lives long would keep room for all that came and went after it.
//!
//! **Idea.** Ids are given out one after the other. Keep them in pages of a thousand neighbours, each
//! with room for little more than those who are there. Nearly every page is where its number says, and
//! in nearly every page a claim is where its id says, so the way to it is two sums. All that is read
//! besides the claim is the list of pages, and that is small enough to stay near the processor. And what
//! somebody who only asks needs is kept beside the claims, where four times as many fit into as much memory.

use alloc::collections::VecDeque;
use core::cmp::Ordering;

use super::page::{Page, Placed, leaf};
use crate::identity::ClaimId;

/// Things with ids, in order of those, and beside each of them something small.
#[derive(Debug, Clone)]
pub(crate) struct Roll<T, B> {
    /// By number. One that has emptied stays until it is at an end, or most have: so nothing is
    /// moved each time, and guesses stay good.
    pages: VecDeque<Page<T, B>>,
    /// Of each page. Apart, because it is seldom needed: what is always needed is small then.
    marks: VecDeque<Mark>,
    empty: usize,
    len: usize,
}

#[derive(Debug, Clone)]
struct Mark {
    number: u64,
    placed: Placed,
}

impl<T, B> Default for Roll<T, B> {
    fn default() -> Self {
        Self { pages: VecDeque::new(), marks: VecDeque::new(), empty: 0, len: 0 }
    }
}

impl<T, B: Copy + Default> Roll<T, B> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, id: ClaimId) -> Option<&T> {
        self.place(id)?.as_ref()
    }

    /// One, and what is beside it.
    pub(crate) fn get_with(&self, id: ClaimId) -> Option<(&T, &B)> {
        let (nth, at) = self.way_to(id)?;
        let page = &self.pages[nth];
        Some((page.row.get(at)?.0.as_ref()?, &page.beside[at]))
    }

    /// The same, to be changed.
    pub(crate) fn get_mut(&mut self, id: ClaimId) -> Option<(&mut T, &mut B)> {
        let (nth, at) = self.way_to(id)?;
        let page = &mut self.pages[nth];
        Some((page.row.get_mut(at)?.0.as_mut()?, &mut page.beside[at]))
    }

    /// What is beside one that is there. The one itself is not looked at.
    pub(crate) fn beside(&self, id: ClaimId) -> Option<&B> {
        let (nth, at) = self.way_to(id)?;
        self.pages[nth].beside.get(at)
    }

    /// The same, to be changed.
    pub(crate) fn beside_mut(&mut self, id: ClaimId) -> Option<&mut B> {
        let (nth, at) = self.way_to(id)?;
        self.pages[nth].beside.get_mut(at)
    }

    /// Where one is, if it is there at all: not looked at yet, for that takes long if it is far away.
    pub(crate) fn place(&self, id: ClaimId) -> Option<&Option<T>> {
        let (nth, at) = self.way_to(id)?;
        self.pages[nth].row.get(at).map(|place| &place.0)
    }

    /// Adds one.
    ///
    /// # Panics
    /// If its id is there: ids are never given twice, and a store that is unsure must stop.
    pub(crate) fn insert(&mut self, id: ClaimId, new: T, beside: B) {
        let (number, place) = leaf(id);
        let nth = self.find(number).unwrap_or_else(|nth| {
            self.pages.insert(nth, Page::empty());
            self.marks.insert(nth, Mark { number, placed: Placed::default() });
            self.empty += 1;
            nth
        });
        let page = &mut self.pages[nth];
        self.empty -= usize::from(page.row.is_empty());
        page.insert(place, (new, beside), &mut self.marks[nth].placed);
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, id: ClaimId) -> Option<T> {
        let (nth, at) = self.way_to(id)?;
        let page = &mut self.pages[nth];
        let gone = page.remove(at, &mut self.marks[nth].placed)?;
        self.len -= 1;
        if page.row.is_empty() {
            self.empty += 1;
            self.tidy();
        }
        Some(gone)
    }

    /// The page of an id, and its place in the row. That may be past the end.
    fn way_to(&self, id: ClaimId) -> Option<(usize, usize)> {
        let (number, place) = leaf(id);
        let nth = self.find(number).ok()?;
        let at = match self.pages[nth].first {
            Some(first) => place.checked_sub(first).map(usize::from),
            None => self.marks[nth].placed.find(place).ok(),
        };
        at.map(|at| (nth, at))
    }

    /// Those with a greater id than `after`, in order, and what is beside them.
    pub(crate) fn after(&self, after: Option<ClaimId>) -> impl Iterator<Item = (&T, &B)> {
        let (first, passed) = after.map_or((0, None), |id| {
            let (number, place) = leaf(id);
            (number, Some(place))
        });
        let from = self.find(first).unwrap_or_else(|nth| nth);
        let pages = self.pages.range(from..).zip(self.marks.range(from..));
        let rows = pages.map(move |(page, mark)| {
            let passed = passed.filter(|_| mark.number == first);
            let at = passed.map(|place| mark.placed.find(place).map_or_else(|at| at, |at| at + 1));
            let at = at.unwrap_or(0);
            page.row[at..].iter().zip(&page.beside[at..])
        });
        rows.flatten().filter_map(|(place, beside)| Some((place.0.as_ref()?, beside)))
    }

    /// All of them, in no order.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = (&mut T, &mut B)> {
        let rows = self.pages.iter_mut().flat_map(|page| page.row.iter_mut().zip(&mut page.beside));
        rows.filter_map(|(place, beside)| Some((place.0.as_mut()?, beside)))
    }

    /// Which page has this number, or where it belongs.
    fn find(&self, number: u64) -> Result<usize, usize> {
        let (Some(first), Some(last)) = (self.marks.front(), self.marks.back()) else {
            return Err(0);
        };
        // Where it is if every page after it is there.
        let back = last.number.wrapping_sub(number);
        let guess = self.marks.len().wrapping_sub(1).wrapping_sub(back as usize);
        // If all are there its mark need not be looked at.
        let all = last.number - first.number == self.marks.len() as u64 - 1;
        match all && first.number <= number && number <= last.number {
            true => Ok(guess),
            false if self.marks.get(guess).is_some_and(|mark| mark.number == number) => Ok(guess),
            false => self.search(number),
        }
    }

    /// Guesses by proportion, and halves what is left after each wrong guess, so that a misleading
    /// spread costs no more than twice a plain search.
    fn search(&self, number: u64) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.marks.len());
        while low < high {
            let (first, last) = (self.marks[low].number, self.marks[high - 1].number);
            if number < first || last < number {
                return Err(if number < first { low } else { high });
            }
            let share = (high - 1 - low) as f64 / (last - first).max(1) as f64;
            let guess = low + ((number - first) as f64 * share) as usize;
            for nth in [guess.min(high - 1), low + (high - low) / 2] {
                match self.marks[nth].number.cmp(&number) {
                    Ordering::Equal => return Ok(nth),
                    Ordering::Less => low = low.max(nth + 1),
                    Ordering::Greater => high = high.min(nth),
                }
            }
        }
        Err(low)
    }

    /// Drops empty pages: at the ends at once, between others when most are empty.
    fn tidy(&mut self) {
        while self.pages.pop_front_if(|page| page.row.is_empty()).is_some() {
            self.marks.pop_front();
            self.empty -= 1;
        }
        while self.pages.pop_back_if(|page| page.row.is_empty()).is_some() {
            self.marks.pop_back();
            self.empty -= 1;
        }
        if self.empty * 2 > self.pages.len() {
            let mut pages = self.pages.iter();
            self.marks.retain(|_| pages.next().is_some_and(|page| !page.row.is_empty()));
            self.pages.retain(|page| !page.row.is_empty());
            self.marks.shrink_to_fit();
            self.pages.shrink_to_fit();
            self.empty = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;
    use core::ops::Bound;

    use proptest::prelude::*;

    use super::*;

    /// Ids close together, and ids far apart.
    fn id() -> impl Strategy<Value = ClaimId> {
        let far = (0..200u64).prop_map(|nth| nth * nth * nth);
        prop_oneof![0..700u64, far].prop_map(ClaimId)
    }

    proptest! {
        #[test]
        fn roll_behaves_like_an_ordered_map(
            steps in prop::collection::vec((id(), any::<bool>()), 0..2000),
            probes in prop::collection::vec(id(), 100),
        ) {
            let (mut roll, mut map) = (Roll::default(), BTreeMap::new());
            for (step, (id, comes)) in steps.into_iter().enumerate() {
                if comes && !map.contains_key(&id) {
                    map.insert(id, (step, !step));
                    roll.insert(id, step, !step);
                } else {
                    prop_assert_eq!(roll.remove(id), map.remove(&id).map(|(step, _)| step));
                }
            }
            prop_assert_eq!(roll.len(), map.len());
            for id in probes {
                let mut expected = map.get(&id).copied();
                prop_assert_eq!(roll.get(id), expected.as_ref().map(|(step, _)| step));
                prop_assert_eq!(roll.get_with(id), expected.as_ref().map(|(step, beside)| (step, beside)));
                let expected = expected.as_mut().map(|(step, beside)| (step, beside));
                if let Some((_, beside)) = &expected {
                    prop_assert_eq!(roll.beside(id), Some(&**beside));
                    prop_assert_eq!(roll.beside_mut(id).map(|it| *it), Some(**beside));
                }
                prop_assert_eq!(roll.get_mut(id), expected);
                let after = map.range((Bound::Excluded(id), Bound::Unbounded));
                prop_assert!(roll.after(Some(id)).eq(after.map(|(_, (step, beside))| (step, beside))));
            }
            prop_assert!(roll.after(None).eq(map.values().map(|(step, beside)| (step, beside))));
            let (mut all, mut expected) = (Vec::new(), Vec::new());
            all.extend(roll.values_mut().map(|(step, beside)| (*step, *beside)));
            expected.extend(map.values().copied());
            all.sort();
            expected.sort();
            prop_assert_eq!(all, expected);
        }
    }

    #[test]
    fn what_has_gone_leaves_little_behind() {
        let mut roll = Roll::default();
        (0..100_000).for_each(|id| roll.insert(ClaimId(id), id, id));
        for id in (0..100_000).filter(|id| id % 10_000 != 0) {
            assert_eq!(roll.remove(ClaimId(id)), Some(id));
        }
        assert_eq!(roll.len(), 10);
        assert!(roll.pages.len() <= 20);
        assert!(roll.pages.iter().all(|page| page.row.capacity() <= 3 * page.row.len()));
        assert!(roll.pages.iter().all(|page| page.beside.capacity() <= 3 * page.row.len()));
    }

    #[test]
    fn nobody_comes_after_the_greatest_id() {
        let mut roll = Roll::default();
        roll.insert(ClaimId(u64::MAX), 1, 2);
        assert_eq!(roll.after(Some(ClaimId(u64::MAX - 1))).next(), Some((&1, &2)));
        assert_eq!(roll.after(Some(ClaimId(u64::MAX))).next(), None);
    }

    #[test]
    #[should_panic(expected = "never given twice")]
    fn id_that_is_there_is_not_taken_again() {
        let mut roll = Roll::default();
        roll.insert(ClaimId(5), (), ());
        roll.insert(ClaimId(5), (), ());
    }
}
