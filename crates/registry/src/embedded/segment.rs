//! Log segments: files of a fixed size, filled with zeros before they are used.
//!
//! An append into a file that already has its size and its blocks changes no metadata, so its
//! `fdatasync` is one write to the disk, and a power cut cannot leave the bytes without the size.
//! A segment gets its name only when its zeros and its header are durable: a named segment with a
//! bad header is damage, never an accident of timing.

use std::io;

use super::frame::{Salt, field};
use super::medium::{Medium, MediumFile};

/// The format this version writes, and the only one it reads.
pub(super) const VERSION: u32 = 1;
/// The size of a segment's header: frames start here.
pub(super) const SEGMENT_HEADER: u64 = 64;

const MAGIC: [u8; 8] = *b"tenurlog";
const PREFIX: &str = "log-";

/// An open segment.
#[derive(Debug, Clone)]
pub(super) struct Segment<F> {
    pub(super) number: u64,
    pub(super) file: F,
    /// Its size. Segments keep the one they were made with, whatever the options say later.
    pub(super) bytes: u64,
}

/// The name of a segment.
pub(super) fn segment_name(number: u64) -> String {
    format!("{PREFIX}{number:016x}")
}

/// The number in a segment's name.
pub(super) fn segment_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX).filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

/// Makes a segment: zeros and header durable, then named, then the name durable.
pub(super) fn prepare_segment<M: Medium>(
    medium: &M,
    number: u64,
    salt: &Salt,
    bytes: u64,
) -> io::Result<Segment<M::File>> {
    let name = segment_name(number);
    let unfinished = format!("{name}.tmp");
    let prepared = medium.create(&unfinished, bytes).and_then(|file| {
        file.write_at(0, &header(number, salt))?;
        file.sync()?;
        medium.rename(&unfinished, &name)?;
        medium.sync_names()?;
        Ok(file)
    });
    if prepared.is_err() {
        // What did not fit must not go on taking the room that is short.
        let _ = medium.remove(&unfinished);
    }
    Ok(Segment { number, file: prepared?, bytes })
}

fn header(number: u64, salt: &Salt) -> [u8; SEGMENT_HEADER as usize] {
    let mut bytes = [0; SEGMENT_HEADER as usize];
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[16..24].copy_from_slice(&number.to_le_bytes());
    bytes[24..40].copy_from_slice(salt);
    let checksum = crc32c::crc32c(&bytes[..60]);
    bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Checks the header of a segment that was read.
pub(super) fn check_header(bytes: &[u8], number: u64, salt: &Salt) -> Result<(), String> {
    let Some(head) = bytes.get(..SEGMENT_HEADER as usize) else {
        let short = format!("it has {} bytes, less than a header", bytes.len());
        return Err(format!("{short}: restore the directory"));
    };
    if crc32c::crc32c(&head[..60]) != u32::from_le_bytes(field(head, 60)) || head[..8] != MAGIC {
        return Err("its header is damaged: restore the directory".into());
    }
    let version = u32::from_le_bytes(field(head, 8));
    if version != VERSION {
        return Err(format!("it has {}", other_format(version)));
    }
    if u64::from_le_bytes(field(head, 16)) != number {
        return Err("it has the name of another segment: restore the directory".into());
    }
    if head[24..40] != salt[..] {
        return Err("it belongs to another store: restore the directory".into());
    }
    Ok(())
}

/// What to do about a store that this version cannot read.
pub(super) fn other_format(version: u32) -> String {
    let advice = match version > VERSION {
        true => "start the newer version that wrote it, or restore a backup from before that",
        false => "start an older version, which can read it",
    };
    format!("format {version}, and this version reads format {VERSION}: {advice}")
}
