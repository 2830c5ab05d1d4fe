//! Everything a store knows: the claims, and what follows from them.
//!
//! Only [`apply`](crate::engine::apply) changes a state. The claims and three counters are the
//! truth; queues, holders, indexes and due times are derived from them, so a snapshot is a list of
//! claims and nothing else.

mod agenda;
mod brief;
mod change;
mod cut;
mod hidden;
mod holders;
mod index;
mod keys;
mod line;
mod page;
mod roll;
mod slots;
mod standing;
mod unsettled;
mod word;

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use core::ops::Bound;

pub(crate) use self::brief::Brief;
use self::cut::Cut;
pub(crate) use self::hidden::Hidden;
pub use self::index::Tally;
pub(crate) use self::index::due;
pub(crate) use self::index::{Index, Resource};
use self::keys::Keys;
use self::roll::Roll;
pub(crate) use self::slots::{Seat, Slot, Slots};
pub use self::standing::{Place, Standing};
use self::unsettled::Unsettled;
use crate::claim::{Claim, Phase};
use crate::identity::{ClaimId, Epoch, Fence, KeyHash, NUMBERS_MAX};
use crate::record::Record;
use crate::rules::Rules;
use crate::terms::Name;
use crate::time::Timestamp;

/// The state of a store. See the module.
#[derive(Debug, Clone)]
pub struct State {
    pub(crate) rules: Rules,
    pub(crate) counters: Counters,
    pub(crate) claims: Roll<Claim, Brief>,
    pub(crate) index: Index,
    keys: Keys,

    /// Waiters whose claimant is there now (rule 3). Gone after a restart, as the claimants are.
    pub(crate) present: BTreeSet<ClaimId>,
    /// Resources on which something may have become possible.
    pub(crate) unsettled: Unsettled,
    /// The resource with waiters that was unsettled last: where to look for what comes next.
    pub(crate) recent: Slot,
    /// A snapshot under way.
    cut: Option<Box<Cut>>,
    /// Waiters that were not loaded: empty, unless this is only a part of what a store keeps.
    pub(crate) hidden: Hidden,
}

/// Two lines of the cache: one more, and each decision among very many claims waits longer.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Option<Claim>>() == 128 && size_of::<Brief>() == 32);

/// The numbers a store gives out, and the epoch they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counters {
    /// The present epoch.
    pub epoch: Epoch,
    /// The id of the next claim.
    pub next_claim: ClaimId,
    /// The fence of the next activation.
    pub next_fence: Fence,
}

impl Counters {
    /// The first numbers of an epoch.
    pub fn starting(epoch: Epoch) -> Self {
        Self { epoch, next_claim: ClaimId(epoch.first()), next_fence: Fence(epoch.first()) }
    }

    /// The epoch that the numbers given so far have reached. Nearly always the present one; but a
    /// store that gave out more than fit into it is among the next one's numbers already.
    pub(crate) fn epoch_reached(&self) -> Epoch {
        let given = self.next_claim.0.max(self.next_fence.0);
        self.epoch.max(Epoch::of(given))
    }

    pub(crate) fn enter(&mut self, epoch: Epoch) {
        assert!(epoch > self.epoch, "epochs rise");
        *self = Self::starting(epoch);
    }
}

impl State {
    /// An empty state.
    pub fn new(rules: Rules) -> Self {
        Self::restore(rules, Counters::starting(Epoch::default()), core::iter::empty())
    }

    /// Whether a snapshot can have kept these: in order, each with numbers that were given out.
    pub fn can_restore(counters: Counters, claims: &[Record]) -> bool {
        let given = counters.next_claim.0.max(counters.next_fence.0) <= NUMBERS_MAX;
        let fence = |claim: &Claim| claim.activation().map(|activation| activation.fence);
        let known = |claim: &Claim| {
            claim.id < counters.next_claim && fence(claim).is_none_or(|it| it < counters.next_fence)
        };
        let mut each = claims.iter().map(|record| &record.claim);
        given && each.clone().is_sorted_by(|a, b| a.id < b.id) && each.all(known)
    }

    /// A state from what a snapshot kept: its counters and claims.
    pub fn restore(
        rules: Rules,
        counters: Counters,
        claims: impl IntoIterator<Item = Record>,
    ) -> Self {
        let mut state = Self {
            rules,
            counters,
            claims: Roll::default(),
            index: Index::default(),
            keys: Keys::default(),
            present: BTreeSet::new(),
            unsettled: Unsettled::default(),
            recent: Slot(0),
            cut: None,
            hidden: Hidden::default(),
        };
        for Record { mut claim, seen } in claims {
            state.index.enter(&mut claim);
            state.index.place(&claim);
            let brief = Brief { key: claim.key, seen };
            state.claims.insert(claim.id, claim, brief);
        }
        state.index.agenda = state.due_times();
        let keys = state.claims_after(None).map(|claim| (&claim.key, claim.id));
        state.keys = Keys::of(state.claims.len(), keys);
        state
    }

    /// The figures in the rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The epoch and the next numbers.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How many claims are in which part of their life.
    pub fn tally(&self) -> Tally {
        self.index.tally
    }

    /// One claim, live or remembered.
    pub fn claim(&self, id: ClaimId) -> Option<&Claim> {
        self.claims.get(id)
    }

    /// The claims with a greater id than `after`, oldest first.
    pub fn claims_after(&self, after: Option<ClaimId>) -> impl Iterator<Item = &Claim> {
        self.claims.after(after).map(|(claim, _)| claim)
    }

    /// The names that are held or wanted, after `after` in alphabetical order.
    pub fn names_after(&self, after: Option<&Name>) -> impl Iterator<Item = &Name> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.index.names.range::<Name, _>((from, Bound::Unbounded)).map(|(name, _)| name)
    }

    /// Who holds a resource, the one whose lease ends first in front.
    pub fn holders(&self, name: &Name) -> impl Iterator<Item = &Claim> {
        let resource = self.index.named(name);
        resource.into_iter().flat_map(|resource| resource.holders.iter()).map(|id| self.known(id))
    }

    /// How many wait for a resource.
    pub fn queue_len(&self, name: &Name) -> usize {
        self.index.named(name).map_or(0, Resource::queue_len) + self.hidden.waiting(name)
    }

    /// Who waits for a resource, in order of arrival.
    pub fn queue(&self, name: &Name) -> impl Iterator<Item = &Claim> {
        let resource = self.index.named(name);
        resource.into_iter().flat_map(Resource::queue).map(|id| self.known(id))
    }

    /// When the state next changes by itself, if ever: a lease ends, a turn is over, a memory fades.
    /// Nobody's answer depends on looking then; it only makes changes prompt.
    pub fn next_due(&self) -> Option<Timestamp> {
        if !self.unsettled.is_empty()
            || self.index.tally.ended > self.rules.ended_max + FORGET_BATCH
        {
            return Some(Timestamp::ZERO);
        }
        let live = self.index.agenda.first().filter(|_| self.index.tally.live() > 0);
        let faded = self.index.ended.first().map(|&(at, _)| at + self.rules.retain);
        live.into_iter().chain(faded).min().filter(|&at| at < Timestamp::NEVER)
    }

    /// The claimant of a waiter is there and can be granted its turn at any moment (rule 3).
    pub fn attend(&mut self, id: ClaimId) {
        if self.claim(id).is_some_and(|claim| matches!(claim.phase, Phase::Waiting(_))) {
            self.present.insert(id);
        }
    }

    /// The claimant of a waiter is gone.
    pub fn leave(&mut self, id: ClaimId) {
        self.present.remove(&id);
    }

    /// The claim that was registered under a key.
    pub(crate) fn by_key(&self, key: &KeyHash) -> Option<&Claim> {
        self.keys.find(key, |id| &self.known(id).key).map(|id| self.known(id))
    }

    /// Reads what a registration under this key will need, and nothing comes of it.
    pub(crate) fn touch_key(&self, key: &KeyHash) -> u64 {
        self.keys.touch(key)
    }

    /// A claim that an index, a queue or an event names.
    pub(crate) fn known(&self, id: ClaimId) -> &Claim {
        self.claims.get(id).expect("whatever names a claim goes before the claim does")
    }
}

/// Ended claims are forgotten this many at a time: one small event instead of one per claim.
pub(crate) const FORGET_BATCH: usize = 64;

impl PartialEq for State {
    /// Equal in everything that must survive a restart, and in what is derived from it.
    fn eq(&self, other: &Self) -> bool {
        self.counters == other.counters
            && self.records_after(None).eq(other.records_after(None))
            && self.index == other.index
    }
}
