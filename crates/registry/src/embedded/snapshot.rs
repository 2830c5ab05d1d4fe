//! Snapshots: the claims at one moment, so that disk and recovery follow what is live, not what was.
//!
//! Header, blocks of claims, trailer; each with its own checksum. Only a file that ends in its
//! trailer is a snapshot. `docs/log-format.md` draws it.

use claims::{Claim, ClaimId, Counters, Epoch, Fence, Record, Stamp, State, Timestamp, WallTime};

use super::frame::{Appender, Salt, field};
use super::segment::VERSION;

const MAGIC: [u8; 8] = *b"tenursnp";
const HEADER: usize = 96;
const PREFIX: &str = "snapshot-";
/// A block's length and checksum.
const BLOCK_HEADER: usize = 8;

/// The moment a snapshot was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// The last frame it includes.
    pub(super) sequence: u64,
    /// How many events there were by then.
    pub(super) position: u64,
    /// The store's time.
    pub(super) stamp: Stamp,
    /// The numbers given out by then.
    pub(super) counters: Counters,
}

/// The name of the snapshot that includes frame `sequence` and all before it.
pub(super) fn snapshot_name(sequence: u64) -> String {
    format!("{PREFIX}{sequence:016x}")
}

/// The sequence in a snapshot's name.
pub(super) fn snapshot_sequence(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX).filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

/// Appends the header.
pub(super) fn write_header(out: &mut Vec<u8>, cut: &Cut, salt: &Salt) {
    let start = out.len();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&cut.counters.epoch.number().to_le_bytes());
    out.extend_from_slice(salt);
    for number in [
        cut.sequence,
        cut.position,
        cut.stamp.at.as_micros(),
        cut.stamp.wall.0,
        cut.counters.next_claim.0,
        cut.counters.next_fence.0,
    ] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.resize(start + HEADER - 4, 0);
    let checksum = crc32c::crc32c(&out[start..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// Appends a block of claims, which `fill` encodes one by one.
pub(super) fn write_block(out: &mut Vec<u8>, salt: &Salt, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.resize(start + BLOCK_HEADER, 0);
    fill(out);
    let (head, body) = out[start..].split_at_mut(BLOCK_HEADER);
    let length = u32::try_from(body.len()).expect("a block is far below 4 GiB");
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..].copy_from_slice(&checksum(salt, body).to_le_bytes());
}

/// Encodes one claim of a block.
pub(super) fn write_claim(out: &mut Vec<u8>, record: Record<&Claim>) {
    postcard::serialize_with_flavor(&record, Appender(out)).expect("a claim can always be encoded");
}

/// Appends the trailer: an empty block, and how many claims there were.
pub(super) fn write_trailer(out: &mut Vec<u8>, salt: &Salt, claims: u64) {
    let count = claims.to_le_bytes();
    out.extend_from_slice(&0u32.to_le_bytes());
    out.extend_from_slice(&checksum(salt, &count).to_le_bytes());
    out.extend_from_slice(&count);
}

/// Reads a whole snapshot; the error says what is wrong with it.
pub(super) fn read(bytes: &[u8], salt: &Salt) -> Result<(Cut, Vec<Record>), String> {
    let cut = read_header(bytes, salt)?;
    let mut claims = Vec::new();
    let mut offset = HEADER;
    loop {
        let damaged = || format!("it is damaged or incomplete at byte {offset}");
        let head = bytes.get(offset..offset + BLOCK_HEADER).ok_or_else(damaged)?;
        let length = u32::from_le_bytes(field(head, 0)) as usize;
        let expected = u32::from_le_bytes(field(head, 4));
        let last = length == 0;
        let start = offset + BLOCK_HEADER;
        let end = start + if last { 8 } else { length };
        let body = bytes.get(start..end).ok_or_else(damaged)?;
        if checksum(salt, body) != expected {
            return Err(damaged());
        }
        if last {
            let count = u64::from_le_bytes(field(body, 0));
            if count != claims.len() as u64 || end != bytes.len() {
                return Err(damaged());
            }
            return match State::can_restore(cut.counters, &claims) {
                true => Ok((cut, claims)),
                false => Err("it is whole, but says what cannot be".into()),
            };
        }
        let mut rest = body;
        while !rest.is_empty() {
            let (claim, after) = postcard::take_from_bytes(rest).map_err(|_| damaged())?;
            claims.push(claim);
            rest = after;
        }
        offset = end;
    }
}

fn read_header(bytes: &[u8], salt: &Salt) -> Result<Cut, String> {
    let head = bytes.get(..HEADER).ok_or("it is shorter than its header")?;
    let sound = head[..8] == MAGIC
        && crc32c::crc32c(&head[..HEADER - 4]) == u32::from_le_bytes(field(head, HEADER - 4));
    if !sound {
        return Err("its header is damaged".into());
    }
    let version = u32::from_le_bytes(field(head, 8));
    if version != VERSION {
        return Err(format!("it has format {version}; this program reads format {VERSION}"));
    }
    if head[16..32] != salt[..] {
        return Err("it belongs to another store".into());
    }
    let number = |nth: usize| u64::from_le_bytes(field(head, 32 + 8 * nth));
    let epoch = Epoch::from_number(u32::from_le_bytes(field(head, 12)));
    Ok(Cut {
        sequence: number(0),
        position: number(1),
        stamp: Stamp { at: Timestamp::from_micros(number(2)), wall: WallTime(number(3)) },
        counters: Counters {
            epoch: epoch.ok_or("its epoch cannot be")?,
            next_claim: ClaimId(number(4)),
            next_fence: Fence(number(5)),
        },
    })
}

fn checksum(salt: &Salt, body: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(salt), body)
}
