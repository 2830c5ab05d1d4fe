//! Where records are kept and swapped: what etcd, a bucket and a directory have in common.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use claims::{ClaimId, Name};

use crate::error::StoreError;

/// The name of a drawer.
pub(crate) type Key = Arc<str>;

/// What is in a drawer, and which version of it; nothing if it was never used.
pub(crate) type Content<V> = Option<(V, Vec<u8>)>;

/// A place with drawers that can be swapped if they are what one expects.
///
/// Errors are accidents: whether a swap that failed with one has happened is not known, though the
/// cabinet says that it is unavailable.
pub(crate) trait Cabinet: Send + Sync + Sized + 'static {
    /// Tells two contents of a drawer apart.
    type Version: Clone + PartialEq + Send + Sync + 'static;

    /// Whether several drawers can be swapped at one moment.
    const SEVERAL: bool;
    /// How many claims can be told apart by their places in the order of all.
    const SEQUENCES_MAX: u64;
    /// How many claims that are over a drawer remembers: each swap writes them again.
    const ENDED_MAX: usize = 16;
    /// The most a drawer may take.
    const BYTES_MAX: usize;
    /// Whether a swap that fails tells what is there: then a drawer that is not known is taken for
    /// unused, and nothing is read before.
    const GUESSES: bool;
    /// Whether [`Cabinet::follow`] tells every change. Else drawers are looked into now and then.
    const FOLLOWS: bool;
    /// Whether a drawer without claims may go once its counters are below [`Cabinet::floor`].
    const GIVES_UP: bool;
    /// How soon a waiter looks again by itself, and how seldom at most.
    const LOOK: (Duration, Duration);

    /// Where a resource is kept.
    fn drawer(&self, name: &Name) -> Key;

    /// A claim's id from its place in the order of all claims.
    fn claim_id(&self, sequence: u64, drawer: &Key) -> ClaimId;

    /// The least that the next fence and the next sequence must be above.
    fn floor(&self) -> u64;

    /// In which drawer a claim is, if anywhere.
    fn find(&self, claim: ClaimId) -> impl Future<Output = Result<Option<Key>, StoreError>> + Send;

    /// What is in some drawers now, in the order asked.
    fn read(
        &self,
        keys: &[Key],
    ) -> impl Future<Output = Result<Vec<Content<Self::Version>>, StoreError>> + Send;

    /// Every drawer that is in use, with its version.
    fn list(&self) -> impl Future<Output = Result<Vec<(Key, Self::Version)>, StoreError>> + Send;

    /// Swaps all or nothing.
    fn swap(
        &self,
        swap: Exchange<Self::Version>,
    ) -> impl Future<Output = Result<Swapped<Self::Version>, StoreError>> + Send;

    /// Tells every change from now on, until the receiver is gone.
    fn follow(
        &self,
        tell: impl FnMut(News<Self::Version>) + Send,
    ) -> impl Future<Output = ()> + Send {
        drop(tell);
        std::future::pending()
    }
}

/// What is to be swapped.
pub(crate) struct Exchange<V> {
    /// Every drawer that was looked into: none of them may have changed.
    pub(crate) expected: Vec<(Key, Option<V>)>,
    /// What comes into which drawers; nothing, to give the drawer up.
    pub(crate) puts: Vec<(Key, Option<Vec<u8>>)>,
    /// The [`Cabinet::floor`] that was decided with.
    pub(crate) floor: u64,
    /// Claims that are new, and where they are.
    pub(crate) born: Vec<(ClaimId, Key)>,
    /// Claims that are forgotten.
    pub(crate) forgotten: Vec<ClaimId>,
}

/// How it went.
pub(crate) enum Swapped<V> {
    /// It was swapped: the new versions, in the order of the puts, and the position of the first
    /// event if positions are the cabinet's.
    Done(Vec<Option<V>>, Option<u64>),
    /// Something else was there. What it is, in the order expected, if that was told.
    Conflict(Option<Vec<Content<V>>>),
}

/// What a cabinet that can be followed tells.
pub(crate) enum News<V> {
    /// Everything from here on will be told: `position` is that of the next event.
    From {
        position: u64,
        /// Whether changes may have been missed since the last news.
        missed: bool,
    },
    /// A drawer has a new content. The events in it have the positions from `position` on.
    Changed { key: Key, content: Content<V>, position: u64 },
}
