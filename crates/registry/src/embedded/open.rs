//! Opening an embedded store for everybody.

use std::io::{self, Write};
use std::path::Path;

use super::{Directory, Fatal, Ledger, Options};
use crate::desk::{Clocks, Desk, MachineClocks};
use crate::error::StoreError;
use crate::store::Store;

/// The exit status of a process that stopped itself because its disk failed (`EX_IOERR`).
pub const EXIT_DISK_FAILED: i32 = 74;

/// Opens the store in a directory, making one if there is none.
///
/// If the disk fails under it, **the process stops itself** with [`EXIT_DISK_FAILED`]: after a
/// failed sync nobody knows what is kept, and a lock service that is unsure must stop.
pub fn open(path: &Path, options: Options) -> Result<impl Store + 'static, StoreError> {
    let clocks = MachineClocks;
    let ledger = Ledger::open(Directory::claim(path)?, options, clocks.read())?;
    Ok(Desk::open(ledger, Box::new(clocks), stop))
}

fn stop(fatal: Fatal) -> ! {
    tracing::error!(%fatal, "stopping");
    // Whoever reads the error stream may be gone, or its disk may be the full one: the status says it.
    let _ = writeln!(io::stderr(), "tenure: {fatal}");
    std::process::exit(EXIT_DISK_FAILED)
}
