//! Which store a directory holds, and whether it still is the one that was made there.
//!
//! A directory restored from a backup is older than what its clients have seen. The fences it would
//! give out have been given out before. So the identity remembers a birthmark that copies of a file
//! do not have (inode and time of birth), and a store that finds another one there refuses to open
//! until it is told to begin a new epoch. Snapshots of whole file systems or machines keep the
//! birthmark: those must be told by hand.

use super::frame::{Salt, field};
use super::medium::{Medium, MediumFile};
use super::segment::{VERSION, other_format};
use crate::error::StoreError;

const NAME: &str = "identity";
const UNFINISHED: &str = "identity.tmp";
const MAGIC: [u8; 8] = *b"tenurids";
const SIZE: usize = 48;

/// What the identity file says.
pub(super) struct Identity {
    pub(super) salt: Salt,
    /// Whether the file is the very one that was written.
    pub(super) original: bool,
}

/// Reads the identity; nothing if there is no store here yet.
pub(super) fn read<M: Medium>(medium: &M) -> Result<Option<Identity>, StoreError> {
    let failed = |error: std::io::Error| StoreError::Unavailable(format!("{NAME}: {error}"));
    if !medium.list().map_err(failed)?.iter().any(|name| name == NAME) {
        return Ok(None);
    }
    let bytes = medium.read(NAME).map_err(failed)?;
    let sound = bytes.len() == SIZE
        && bytes[..8] == MAGIC
        && crc32c::crc32c(&bytes[..44]) == u32::from_le_bytes(field(&bytes, 44));
    if !sound {
        return Err(StoreError::Corrupt(format!("{NAME} is damaged: restore it from a backup")));
    }
    let version = u32::from_le_bytes(field(&bytes, 8));
    if version != VERSION {
        return Err(StoreError::Corrupt(format!("this store has {}", other_format(version))));
    }
    let birthmark = u64::from_le_bytes(field(&bytes, 32));
    let original = medium.birthmark(NAME).map_err(failed)? == birthmark;
    Ok(Some(Identity { salt: field(&bytes, 16), original }))
}

/// Writes the identity, durably, with the birthmark of the file it is in.
pub(super) fn write<M: Medium>(medium: &M, salt: &Salt) -> std::io::Result<()> {
    let file = medium.create(UNFINISHED, SIZE as u64)?;
    let mut bytes = [0; SIZE];
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[16..32].copy_from_slice(salt);
    bytes[32..40].copy_from_slice(&medium.birthmark(UNFINISHED)?.to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[..44]);
    bytes[44..48].copy_from_slice(&checksum.to_le_bytes());
    file.write_at(0, &bytes)?;
    file.sync()?;
    medium.rename(UNFINISHED, NAME)?;
    medium.sync_names()
}
