//! Claims held by a process of their own, `tenure keychain`, instead of a thread of this one.
//!
//! A thread is stopped with its program: by SIGSTOP, in a debugger, starved of memory. A keychain goes
//! on renewing, and gives the claims back at once when the program dies. Apart from that, claims are
//! the same:
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use tenure::LockManager;
//! use tenure::keychain::Keychain;
//!
//! let manager = LockManager::at("http://127.0.0.1:7117").keychain(Keychain::new()).connect()?;
//! let claim = manager.claim("printer").await?;
//! claim.check()?;
//! # Ok(())
//! # }
//! ```
//!
//! If the keychain dies, another one is started and takes the claims over by their keys. The deadlines
//! are known here, too: past them a claim is lost, whatever became of the keychain.
//!
//! [`Request`] and [`Event`] are the words both sides use, for any language: one JSON object a line.

mod attendant;
mod event;
mod json;
mod process;
mod request;
mod ward;

use std::path::PathBuf;
use std::time::Duration;

pub(crate) use self::attendant::run;
pub use self::event::{Cause, Event, Listed, Until, VERSION};
pub use self::json::Json;
pub use self::request::{LINE_BYTES_MAX, Request, Terms};

/// How to start a keychain.
#[derive(Debug, Clone, Default)]
pub struct Keychain {
    program: Option<PathBuf>,
    max_silence: Option<Duration>,
}

impl Keychain {
    /// The usual way: the `tenure` that `TENURE_BIN` names, or else the one in the `PATH`.
    pub fn new() -> Self {
        Self::default()
    }

    /// This `tenure`.
    pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
        self.program = Some(path.into());
        self
    }

    /// Gives all claims up when this program was stopped or starved for so long. Without it they are
    /// kept for as long as the program lives.
    pub fn max_silence(mut self, silence: Duration) -> Self {
        self.max_silence = Some(silence);
        self
    }

    pub(crate) fn path(&self) -> PathBuf {
        let named = || std::env::var_os("TENURE_BIN").map(PathBuf::from);
        self.program.clone().or_else(named).unwrap_or_else(|| "tenure".into())
    }
}
