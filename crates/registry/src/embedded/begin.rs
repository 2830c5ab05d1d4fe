//! Beginning a new store.

use std::io;

use super::frame::{HEADER, Salt};
use super::identity;
use super::medium::Medium;
use super::options::Options;
use super::segment::{SEGMENT_HEADER, prepare_segment, segment_number};
use super::snapshot::snapshot_sequence;
use super::space::EVENT_BYTES_MAX;
use crate::error::StoreError;

/// Begins a new store on an empty medium. The identity is written last: without it, whatever is
/// there was never used.
pub(super) fn begin<M: Medium>(medium: &M, options: &Options) -> Result<Salt, StoreError> {
    let failed = |error: io::Error| StoreError::Unavailable(format!("a new store: {error}"));
    for name in medium.list().map_err(failed)? {
        let ours = segment_number(&name).is_some() || snapshot_sequence(&name).is_some();
        let used = || {
            let bytes = medium.read(&name).map_err(failed)?;
            Ok(bytes.iter().skip(SEGMENT_HEADER as usize).any(|&byte| byte != 0))
        };
        if ours && used()? {
            return Err(StoreError::Corrupt(format!(
                "there is {name}, but no identity file: restore the directory from a backup"
            )));
        }
    }
    let need = 2 * ((options.rules.events_max as u64 + 4) * EVENT_BYTES_MAX + HEADER as u64);
    if options.segment_bytes < need {
        return Err(StoreError::Unavailable(format!("segments must have at least {need} bytes")));
    }
    prepare_segment(medium, 1, &options.salt, options.segment_bytes).map_err(failed)?;
    identity::write(medium, &options.salt).map_err(failed)?;
    Ok(options.salt)
}

/// Why a copy is not opened.
pub(super) fn restored() -> StoreError {
    StoreError::Corrupt(
        "this directory is a copy: if it was restored from a backup, open it with a new epoch, so \
         that no fence is given twice; if it was moved, move it as it is (mv), not file by file"
            .into(),
    )
}
