//! What is said on the error stream, beside the work.
//!
//! A stream that cannot be written (a full disk, a reader that went away) costs nobody a claim: what
//! was said there is lost, and the work goes on. `eprintln!` would end the program instead, and with
//! it a guard or a server; so would a logger that tells the same stream that it cannot be written.

use std::fmt::Arguments;
use std::io::{self, Write};

use tracing::level_filters::LevelFilter;

/// As `eprintln!`, to whoever may still be listening.
macro_rules! aside {
    ($($words:tt)*) => { $crate::aside::say(format_args!($($words)*)) };
}

pub(crate) fn say(words: Arguments<'_>) {
    // In one piece, so that two processes do not speak into each other's lines.
    let _ = io::stderr().write_all(format!("{words}\n").as_bytes());
}

/// Logs are for machines and go to the error stream; what people read goes to the output.
pub(crate) fn log_at(level: LevelFilter) {
    let log = tracing_subscriber::fmt().json().with_max_level(level);
    log.with_writer(io::stderr).log_internal_errors(false).init();
}
