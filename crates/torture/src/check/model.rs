//! What a lock is: who may become a holder, who may go on, and who may be gone.
//!
//! Nothing happens at a known time, only between the question and the answer. So the model keeps
//! the *earliest* time of everything: that of the last operation, and that from which each holder
//! may be gone without a word, because its lease can have ended or because it asked for that and
//! never heard back. Nothing in the rules becomes impossible by happening earlier, so what cannot
//! be done this way cannot be done at all.
//!
//! That a lease ends is not an operation: a holder is gone as soon as that explains something, and
//! if nothing needs it, it may as well be there. The same goes for releases that were never
//! answered.

use crate::history::Nanos;

/// Something that was asked and told.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// Its entry in the history.
    pub(super) entry: usize,
    pub(super) claim: usize,
    pub(super) begin: Nanos,
    pub(super) end: Nanos,
    pub(super) deed: Deed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Granted,
    Renewed,
    Released,
    SeenActive,
    SeenWaiting,
    /// Seen, or told, that it is over or not known.
    SeenOver,
}

/// What does not change about a claim.
#[derive(Clone, Debug)]
pub(super) struct Party {
    /// As its owner knows it.
    pub(super) number: u64,
    /// How long its lease lasts at least.
    pub(super) lease: Nanos,
    pub(super) limit: Option<u32>,
    /// None if its grant was never told.
    pub(super) fence: Option<u64>,
    /// The operation that grants it.
    pub(super) grant: usize,
    /// The first release that was not answered began then.
    pub(super) may_leave: Nanos,
    /// The operations that it must hold for.
    pub(super) needs: Vec<usize>,
    /// The operations after which it cannot be granted any more.
    pub(super) farewells: Vec<usize>,
}

/// Who holds, and since when at the earliest it could be otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The earliest present.
    pub(super) now: Nanos,
    /// How many grants whose fence is known there were.
    pub(super) grants: usize,
    /// Who holds, and from when on it may be gone; sorted.
    pub(super) holders: Vec<(usize, Nanos)>,
}

impl State {
    /// Whether everything that can follow `other` can follow this, too.
    pub(super) fn allows_all_of(&self, other: &Self) -> bool {
        let mut both = self.holders.iter().zip(&other.holders);
        self.now <= other.now && both.all(|(mine, theirs)| mine.1 <= theirs.1)
    }

    /// Who holds: what must be equal for two states to be compared.
    pub(super) fn who(&self) -> Vec<usize> {
        self.holders.iter().map(|&(claim, _)| claim).collect()
    }

    fn place(&self, claim: usize) -> Option<usize> {
        self.holders.iter().position(|&(holder, _)| holder == claim)
    }
}

/// The parties, in what order they were granted, and which operations there were so far.
pub(super) struct Model<'a> {
    pub(super) parties: &'a [Party],
    /// Those whose fence is known, by fence.
    pub(super) order: &'a [usize],
    pub(super) done: &'a [bool],
}

impl Model<'_> {
    /// Every state that `operation` can lead to, if it happens no later than `latest`.
    pub(super) fn follow(&self, state: &State, operation: &Operation, latest: Nanos) -> Vec<State> {
        let claim = operation.claim;
        let party = &self.parties[claim];
        let now = state.now.max(operation.begin);
        let place = state.place(claim);
        let granted = self.done[party.grant];
        let over = party.farewells.iter().any(|&farewell| self.done[farewell]);
        let mut next = State { now, ..state.clone() };
        match (operation.deed, place) {
            (Deed::Granted, _) if over => return Vec::new(),
            (Deed::Granted, _) => return self.grant(next, claim, latest),
            (Deed::SeenActive, Some(_)) => {}
            (Deed::Renewed, Some(place)) => {
                next.holders[place].1 = now.saturating_add(party.lease).min(party.may_leave);
            }
            (Deed::Released, Some(place)) => {
                next.holders.remove(place);
            }
            // It gave its place in the line up, or what it did before without an answer was done.
            (Deed::Released, None) if !granted => {}
            (Deed::Released, None) => next.now = now.max(party.may_leave),
            (Deed::SeenOver, Some(place)) => {
                let (_, gone_from) = next.holders.remove(place);
                next.now = now.max(gone_from);
            }
            (Deed::SeenOver, None) => {}
            (Deed::SeenWaiting, _) if !granted && !over => {}
            (Deed::SeenWaiting, _) | (Deed::SeenActive | Deed::Renewed, None) => return Vec::new(),
        }
        if next.now <= latest { vec![next] } else { Vec::new() }
    }

    fn grant(&self, mut state: State, claim: usize, latest: Nanos) -> Vec<State> {
        let party = &self.parties[claim];
        if !self.is_next(&state, claim) {
            return Vec::new();
        }
        state.grants += usize::from(party.fence.is_some());
        let mut ways = Vec::new();
        self.make_room(state, party.limit, 0, latest, &mut ways);
        for way in &mut ways {
            let gone_from = way.now.saturating_add(party.lease).min(party.may_leave);
            let place = way.holders.partition_point(|&(holder, _)| holder < claim);
            way.holders.insert(place, (claim, gone_from));
        }
        ways
    }

    /// Fences rise: the next grant is the one with the next fence.
    pub(super) fn is_next(&self, state: &State, claim: usize) -> bool {
        let Some(fence) = self.parties[claim].fence else { return true };
        let before = state.grants.checked_sub(1).map(|before| self.order[before]);
        let rises = before.is_none_or(|before| self.parties[before].fence < Some(fence));
        rises && self.order.get(state.grants) == Some(&claim)
    }

    /// All ways to let holders be gone until there is room, each once: in the order of their
    /// places.
    fn make_room(
        &self,
        state: State,
        limit: Option<u32>,
        from: usize,
        latest: Nanos,
        ways: &mut Vec<State>,
    ) {
        if state.now > latest {
            return;
        }
        if self.has_room(&state, limit) {
            ways.push(state);
            return;
        }
        for place in from..state.holders.len() {
            let mut without = state.clone();
            let (_, gone_from) = without.holders.remove(place);
            without.now = without.now.max(gone_from);
            self.make_room(without, limit, place, latest, ways);
        }
    }

    pub(super) fn has_room(&self, state: &State, limit: Option<u32>) -> bool {
        let limits = state.holders.iter().map(|&(holder, _)| self.parties[holder].limit);
        let smallest = limits.chain([limit]).flatten().min();
        smallest.is_none_or(|smallest| state.holders.len() < smallest as usize)
    }
}
