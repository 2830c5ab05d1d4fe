//! Room on the disk: everything that is taken on can be written down.
//!
//! A command whose events find no room has already changed the state, so room is made sure of before
//! it runs. One spare segment is the reserve: when no further one can be made, nothing new is taken
//! on, and what is held can be renewed and given back in what is left.

use std::io;

use claims::{Command, Span};

use super::chore::ChoreKind;
use super::ledger::{Fatal, Ledger};
use super::medium::Medium;
use super::segment::prepare_segment;
use crate::error::StoreError;

/// An event of a live claim never takes more than this in the log, a registration aside.
pub(super) const EVENT_BYTES_MAX: u64 = 64;
/// The most a registration can take in the log: sixteen names and the user data.
const COMMAND_BYTES_MAX: u64 =
    (claims::RESOURCES_MAX * (claims::NAME_BYTES_MAX + 4) + claims::DATA_BYTES_MAX + 128) as u64;
/// How long to wait before trying again what a full disk prevented.
const RETRY_AFTER: Span = Span::from_millis(500);

impl<M: Medium> Ledger<M> {
    /// Whether nothing should be taken on before the chore under way is finished: it prepares the
    /// segment that the next commands may need.
    pub fn waits_for_chore(&self) -> bool {
        self.chore == Some(ChoreKind::Preparing)
            && self.frame.len() as u64 + self.need(COMMAND_BYTES_MAX) > self.journal.room()
    }

    /// Makes sure that whatever `command` causes can be written down.
    pub(super) fn make_room(&mut self, command: &Command) -> Result<(), StoreError> {
        let registration = if let Command::Register(registration) = command {
            let names = registration.resources.as_slice().iter();
            let names: usize = names.map(|name| name.as_str().len() + 4).sum();
            let data = registration.data.as_ref().map_or(0, |data| data.as_str().len() + 4);
            Some((names + data) as u64 + EVENT_BYTES_MAX)
        } else {
            None
        };
        let need = self.frame.len() as u64 + self.need(registration.unwrap_or(0));
        let fits = need <= self.journal.room();
        if registration.is_some() && self.full {
            return Err(disk_full());
        }
        if fits {
            return Ok(());
        }
        if self.journal.spare.is_some() {
            return Err(StoreError::Unavailable(
                "this does not fit into one segment of the log: use larger segments".into(),
            ));
        }
        if self.full || self.chore == Some(ChoreKind::Preparing) {
            return Err(disk_full());
        }
        self.prepare_spare().map_err(|error| {
            self.full = true;
            tracing::error!(%error, "no new log segment: registrations are refused");
            disk_full()
        })?;
        if need <= self.journal.room() { Ok(()) } else { Err(disk_full()) }
    }

    /// The most a command can add to the log, `extra` aside.
    pub(super) fn need(&self, extra: u64) -> u64 {
        (self.options.rules.events_max as u64 + 2) * EVENT_BYTES_MAX + extra
    }

    pub(super) fn prepare_spare(&mut self) -> io::Result<()> {
        let (number, salt) = (self.journal.next_number(), self.journal.salt);
        let bytes = self.options.segment_bytes;
        self.journal.spare = Some(prepare_segment(&self.medium, number, &salt, bytes)?);
        Ok(())
    }

    /// A disk that is full may have room again later. Any other error is not to be trusted.
    pub(super) fn try_later(
        &mut self,
        source: io::Error,
        doing: &'static str,
    ) -> Result<(), Fatal> {
        if !is_full(&source) {
            return Err(Fatal { doing, source });
        }
        self.retry_at = Span::from_micros(self.clock.raw().as_micros() + RETRY_AFTER.as_micros());
        Ok(())
    }
}

fn disk_full() -> StoreError {
    StoreError::Unavailable(
        "the disk is full: nothing new is taken on until there is room again".into(),
    )
}

/// Whether an error only means that there is no room now: on the disk, or in the tables of the
/// system (a crowd of connections may have all the descriptors for a moment).
fn is_full(error: &io::Error) -> bool {
    let no_descriptor = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE];
    no_descriptor.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
        || matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
}
