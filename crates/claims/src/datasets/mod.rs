//! Locks on whole datasets, and the queue of what is to be done with them: the rules that a data
//! server needs, in its own process or at a lock server.
//!
//! A lock on a dataset is a claim on `dataset/<id>`, shared or exclusive; how many claims hold it
//! is its count. What archives, restores, writes or deletes data in the background is *requested*
//! first, waits in a queue until its lock can be had, and then *changes* the data. Read in this
//! order: [`Call`] (who takes which lock), [`Locked`] (what stands in the way of one), then
//! [`Requested`] (the transition tables), [`Record`] (all that is known of one item) and [`Queue`].

mod call;
mod lock;
mod note;
mod queue;
mod record;
mod request;
#[cfg(feature = "wire")]
mod status;
mod wanted;

pub use self::call::{Call, HeldFor};
pub use self::lock::{
    AlreadyLocked, Locked, claim_around, claims_for, is_in_its_own_way, refusal, refusal_in_turn,
    without,
};
pub use self::note::Note;
pub use self::queue::Queue;
pub use self::record::{Changing, Failure, Queued, Record};
pub use self::request::{Change, NotPossible, Operation, Requested};
#[cfg(feature = "wire")]
pub(crate) use self::status::ascii;
#[cfg(feature = "wire")]
pub use self::status::{Failed, Holder, LockLine, OperationLine, ServiceStatus};
pub use self::wanted::{Delays, Wanted, wanted};

use alloc::format;

use crate::terms::{Limit, Name};

/// The number of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DatasetId(pub u64);

/// The names of dataset locks begin with this.
pub const DATASET_PREFIX: &str = "dataset/";

impl DatasetId {
    /// The resource that a lock on it claims.
    ///
    /// ```
    /// use claims::datasets::DatasetId;
    /// let name = DatasetId(17).resource();
    /// assert_eq!(name.as_str(), "dataset/17");
    /// assert_eq!(DatasetId::of_resource(name.as_str()), Some(DatasetId(17)));
    /// assert_eq!(DatasetId::of_resource("dataset/017"), None); // another resource
    /// ```
    pub fn resource(self) -> Name {
        Name::new(&format!("{DATASET_PREFIX}{}", self.0)).expect("a number is a good name")
    }

    /// The dataset that a resource stands for, if it stands for one.
    pub fn of_resource(name: &str) -> Option<Self> {
        let digits = name.strip_prefix(DATASET_PREFIX)?;
        canonical(digits).map(Self)
    }
}

impl From<u64> for DatasetId {
    fn from(id: u64) -> Self {
        Self(id)
    }
}

impl core::fmt::Display for DatasetId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

/// A number as it is written here: two texts are never the same number.
fn canonical(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|c| c.is_ascii_digit());
    let short = digits == "0" || !digits.starts_with('0');
    if plain && short { digits.parse().ok() } else { None }
}

/// Together with others that share, or alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockType {
    /// For those who do not change what is there.
    Shared,
    /// For those who do.
    Exclusive,
}

impl LockType {
    /// As the service status writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "SHARED",
            Self::Exclusive => "EXCLUSIVE",
        }
    }

    /// Reads what [`as_str`](Self::as_str) writes.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Shared, Self::Exclusive].into_iter().find(|kind| kind.as_str() == text)
    }

    /// What its claim allows beside itself.
    pub fn limit(self) -> Limit {
        match self {
            Self::Shared => Limit::SHARED,
            Self::Exclusive => Limit::EXCLUSIVE,
        }
    }
}

impl core::fmt::Display for LockType {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an operation is about: a whole dataset or one file of it, as the storage is organised.
/// Locks are always on the whole dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// A dataset.
    Dataset(DatasetId),
    /// A file of a dataset.
    Datafile {
        /// The dataset it belongs to.
        dataset: DatasetId,
        /// Its own number.
        datafile: u64,
    },
}

/// The names of the records of operations begin with this.
pub const OPERATION_PREFIX: &str = "operation/";

impl Item {
    /// The dataset whose lock it takes.
    pub fn dataset(self) -> DatasetId {
        match self {
            Self::Dataset(dataset) | Self::Datafile { dataset, .. } => dataset,
        }
    }

    /// Its own number: that of the dataset or of the file.
    pub fn id(self) -> u64 {
        match self {
            Self::Dataset(DatasetId(id)) => id,
            Self::Datafile { datafile, .. } => datafile,
        }
    }

    /// The resource under which a store keeps what is known of it.
    ///
    /// ```
    /// use claims::datasets::{DatasetId, Item};
    /// let file = Item::Datafile { dataset: DatasetId(2), datafile: 5 };
    /// assert_eq!(file.resource().as_str(), "operation/2/5");
    /// assert_eq!(Item::of_resource("operation/2/5"), Some(file));
    /// assert_eq!(Item::of_resource("operation/2"), Some(Item::Dataset(DatasetId(2))));
    /// ```
    pub fn resource(self) -> Name {
        let text = match self {
            Self::Dataset(dataset) => format!("{OPERATION_PREFIX}{dataset}"),
            Self::Datafile { dataset, datafile } => {
                format!("{OPERATION_PREFIX}{dataset}/{datafile}")
            }
        };
        Name::new(&text).expect("numbers are good names")
    }

    /// The item that a resource keeps a record of, if it keeps one.
    pub fn of_resource(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(OPERATION_PREFIX)?;
        match rest.split_once('/') {
            None => canonical(rest).map(|id| Self::Dataset(DatasetId(id))),
            Some((dataset, datafile)) => {
                let (dataset, datafile) = (DatasetId(canonical(dataset)?), canonical(datafile)?);
                Some(Self::Datafile { dataset, datafile })
            }
        }
    }
}
