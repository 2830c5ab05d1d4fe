//! Claims in memory: no I/O, gone with the process.

use claims::Rules;

use crate::desk::{Clocks, Desk, MachineClocks, Unwritten};
use crate::store::Store;

/// A store in memory. One winner, in turn, with rising fences, for as long as the process lives.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use claims::{Command, ClaimId, Rules};
/// use registry::Store;
/// let store = registry::memory(Rules::default());
/// assert_eq!(store.vitals().await?.tally.active, 0);
/// # Ok::<(), registry::StoreError>(())
/// # }).unwrap();
/// ```
pub fn memory(rules: Rules) -> impl Store + 'static {
    let clocks = MachineClocks;
    let books = Unwritten::new(rules, clocks.read());
    Desk::open(books, Box::new(clocks), |fatal| unreachable!("memory does not fail: {fatal}"))
}
