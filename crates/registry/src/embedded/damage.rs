//! What is wrong with a log that cannot be believed, with file and offset, and what to do about it.

use super::frame::Frame;
use super::recovery::End;
use super::segment::segment_name;
use super::snapshot::snapshot_name;
use crate::error::StoreError;

pub(super) fn damaged(bad: End, good: End) -> StoreError {
    StoreError::Corrupt(format!(
        "{} is damaged at byte {}: the frame there is bad, but a later one ({} at byte {}) is \
         good, so it was whole once; restore the directory from a backup",
        segment_name(bad.number),
        bad.offset,
        segment_name(good.number),
        good.offset,
    ))
}

pub(super) fn misplaced(at: End, found: u64, expected: u64) -> StoreError {
    StoreError::Corrupt(format!(
        "{} has frame {found} at byte {}, where frame {expected} belongs: restore the directory \
         from a backup",
        segment_name(at.number),
        at.offset,
    ))
}

/// The last frame that a snapshot includes ends with as many events as the snapshot counts.
pub(super) fn check_cut(frame: &Frame<'_>, at: End, counted: u64) -> Result<(), StoreError> {
    let Ok(events) = frame.events() else { return Ok(()) };
    let ends = frame.header.position.saturating_add(events.len() as u64);
    if ends == counted {
        return Ok(());
    }
    Err(StoreError::Corrupt(format!(
        "{} at byte {}: {ends} events end here, but {} counts {counted}: restore the directory from \
         a backup",
        segment_name(at.number),
        at.offset,
        snapshot_name(frame.header.sequence),
    )))
}

/// Whoever follows the events by their positions would miss some, or see some twice.
pub(super) fn miscounted(at: End, found: u64, expected: u64) -> StoreError {
    StoreError::Corrupt(format!(
        "{} at byte {}: it says that {found} events were before it, but there were {expected}: \
         restore the directory from a backup",
        segment_name(at.number),
        at.offset,
    ))
}

/// A snapshot includes more than there is.
pub(super) fn ends_early(end: End, sequence: u64, covered: u64) -> StoreError {
    StoreError::Corrupt(format!(
        "{} is damaged at byte {}: {} includes frame {covered}, but the log ends with frame \
         {sequence}; restore the directory from a backup",
        segment_name(end.number),
        end.offset,
        snapshot_name(covered),
    ))
}
