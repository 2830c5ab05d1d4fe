//! CloudShell's own client. `.ci/peers` makes a virtual environment with it; without that these
//! tests say so and do nothing.

use std::path::PathBuf;
use std::process::Command;

fn tools() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    cache.unwrap_or_else(home).join("tenure-tools")
}

/// A Python that has the client, about to run our file with it.
pub(crate) fn python() -> Option<Command> {
    let python = tools().join("cloudshell/bin/python");
    let there = Command::new(&python).args(["-c", "import cloudshell.api"]).output();
    if there.is_ok_and(|output| output.status.success()) {
        return Some(Command::new(python));
    }
    eprintln!("SKIPPED, NOT TESTED: CloudShell's client is not there ({})", python.display());
    None
}
