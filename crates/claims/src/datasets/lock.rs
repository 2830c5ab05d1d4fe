//! What stands in the way of a lock, and which claims a collection of datasets takes.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{DatasetId, LockType};
use crate::terms::{Limit, Name, RESOURCES_MAX, Resources};

/// How a dataset is locked at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locked {
    /// The smallest limit among the holders: 1 is exclusive.
    smallest: Limit,
    /// How many hold it.
    pub count: usize,
    /// How many wait for it.
    pub waiting: usize,
}

impl Locked {
    /// From the limits of its holders.
    ///
    /// ```
    /// use claims::Limit;
    /// use claims::datasets::{Locked, LockType};
    /// let read = Locked::of([Limit::SHARED; 2], 0);
    /// assert_eq!((read.kind(), read.count), (LockType::Shared, 2));
    /// assert!(!read.refuses(LockType::Shared) && read.refuses(LockType::Exclusive));
    /// ```
    pub fn of(holders: impl IntoIterator<Item = Limit>, waiting: usize) -> Self {
        let free = Self { smallest: Limit::SHARED, count: 0, waiting };
        holders.into_iter().fold(free, |locked, limit| Self {
            smallest: locked.smallest.min(limit),
            count: locked.count + 1,
            ..locked
        })
    }

    /// Its type, if anybody holds it.
    pub fn kind(&self) -> LockType {
        if self.smallest == Limit::EXCLUSIVE { LockType::Exclusive } else { LockType::Shared }
    }

    /// Whether its holders keep one more lock of this type out: rule 1.
    pub fn refuses(&self, kind: LockType) -> bool {
        !self.smallest.min(kind.limit()).allows(self.count + 1)
    }

    /// The same with this many more locks of a type.
    fn and(self, more: usize, kind: LockType) -> Self {
        let smallest = if more > 0 { self.smallest.min(kind.limit()) } else { self.smallest };
        Self { smallest, count: self.count + more, ..self }
    }
}

/// A dataset is locked by somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "dataset {dataset} is locked {kind} by {count}{}: try again later, or wait for it",
    if *.waiting > 0 { ", and others wait for it" } else { "" }
)]
pub struct AlreadyLocked {
    /// Which dataset.
    pub dataset: DatasetId,
    /// How it is locked.
    pub kind: LockType,
    /// By how many.
    pub count: usize,
    /// How many wait for it. With a count of nothing, they alone are in the way: nobody overtakes.
    pub waiting: usize,
}

impl AlreadyLocked {
    fn new(dataset: DatasetId, locked: Locked) -> Self {
        Self { dataset, kind: locked.kind(), count: locked.count, waiting: locked.waiting }
    }
}

/// The first of these datasets, in the order given, that holders keep out of reach. A dataset that
/// is named twice counts as locked when its second turn comes.
pub fn refusal(
    datasets: &[DatasetId],
    kind: LockType,
    mut look: impl FnMut(DatasetId) -> Locked,
) -> Option<AlreadyLocked> {
    let mut own: BTreeMap<DatasetId, usize> = BTreeMap::new();
    datasets.iter().find_map(|&dataset| {
        let own = own.entry(dataset).or_default();
        let locked = look(dataset).and(*own, kind);
        *own += 1;
        locked.refuses(kind).then(|| AlreadyLocked::new(dataset, locked))
    })
}

/// The same for somebody whom the engine refused: if no holder is in the way, those are who came
/// earlier and wait. `None` if nobody is, by now.
pub fn refusal_in_turn(
    datasets: &[DatasetId],
    kind: LockType,
    mut look: impl FnMut(DatasetId) -> Locked,
) -> Option<AlreadyLocked> {
    refusal(datasets, kind, &mut look).or_else(|| {
        let mut locked = datasets.iter().map(|&dataset| (dataset, look(dataset)));
        let (dataset, locked) = locked.find(|(_, locked)| locked.waiting > 0)?;
        Some(AlreadyLocked::new(dataset, locked))
    })
}

/// The claims that a collection takes. One claim covers up to sixteen different datasets; what is
/// more, or there twice, takes another one.
///
/// ```
/// use claims::datasets::{DatasetId, claims_for};
/// let many: Vec<DatasetId> = (1..=17).chain([1]).map(DatasetId).collect();
/// let sizes: Vec<usize> = claims_for(&many).iter().map(|one| one.as_slice().len()).collect();
/// assert_eq!(sizes, [16, 1, 1]);
/// assert!(claims_for(&[]).is_empty());
/// ```
pub fn claims_for(datasets: &[DatasetId]) -> Vec<Resources> {
    let mut times: BTreeMap<DatasetId, usize> = BTreeMap::new();
    let mut layers: Vec<Vec<Name>> = Vec::new();
    for &dataset in datasets {
        let nth = times.entry(dataset).or_default();
        if layers.len() == *nth {
            layers.push(Vec::new());
        }
        layers[*nth].push(dataset.resource());
        *nth += 1;
    }
    let chunks = layers.iter().flat_map(|layer| layer.chunks(RESOURCES_MAX));
    let resources = chunks.map(|names| Resources::try_from(names.to_vec()));
    resources.map(|one| one.expect("a few different names are the resources of a claim")).collect()
}

/// Those of a collection that are claimed together with one of them.
pub fn claim_around(datasets: &[DatasetId], dataset: DatasetId) -> Vec<DatasetId> {
    let name = dataset.resource();
    let claims = claims_for(datasets);
    let around = claims.iter().find(|claim| claim.as_slice().contains(&name));
    let names = around.into_iter().flat_map(|claim| claim.as_slice());
    names.filter_map(|name| DatasetId::of_resource(name.as_str())).collect()
}

/// The rest of a collection, without some of it; what was there twice is still there once.
pub fn without(datasets: &[DatasetId], some: &[DatasetId]) -> Vec<DatasetId> {
    let mut rest = datasets.to_vec();
    for dataset in some {
        if let Some(at) = rest.iter().position(|one| one == dataset) {
            rest.remove(at);
        }
    }
    rest
}

/// Whether a collection can never be locked, because it would have to wait for itself.
pub fn is_in_its_own_way(datasets: &[DatasetId], kind: LockType) -> bool {
    let mut sorted = datasets.to_vec();
    sorted.sort_unstable();
    kind == LockType::Exclusive && sorted.windows(2).any(|pair| pair[0] == pair[1])
}
