//! The program `tenure`; all of it is in the library beside this file.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Claims are made in one thread and dropped in another: the system's allocator takes a tenth of the
/// server's time for that. Without huge pages: to find one may take tens of milliseconds, and a small
/// process (`run`, its guard, a keychain) needs none.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::main().await
}
