//! One batch of events as bytes. `docs/log-format.md` draws it.
//!
//! The layout is written by hand, because it is a promise to every later version; the events inside
//! are encoded by `postcard`, the checksum is `crc32c`'s.

use claims::{Event, Stamp, Timestamp, WallTime};
use postcard::ser_flavors::Flavor;

/// The first four bytes of every frame.
pub(super) const MAGIC: [u8; 4] = *b"tnr\x01";
/// The size of a frame without its events.
pub(super) const HEADER: usize = 56;

/// Mixed into every checksum of one store. Nobody who sends data to the store knows it, so no data
/// can look like a frame.
pub(super) type Salt = [u8; 16];

/// What a frame says beside its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Frames are numbered from 1 without gaps.
    pub(super) sequence: u64,
    /// The frame through which the log was known to be durable when this one was written. A bad
    /// frame at or below it was good once: that is damage, not a torn tail.
    pub(super) durable: u64,
    /// The position of its first event.
    pub(super) position: u64,
    /// The epoch it was written in.
    pub(super) epoch: u32,
    /// When its events happened.
    pub(super) stamp: Stamp,
}

/// A frame that was read.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) header: Header,
    body: &'a [u8],
}

/// Why there is no frame here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoFrame {
    /// Zeros: nothing was ever written.
    Blank,
    /// Something, but not a whole and unharmed frame.
    Bad,
}

/// A frame being written: room for the header, then events one by one.
#[derive(Debug, Default)]
pub(super) struct FrameBuffer(Vec<u8>);

impl FrameBuffer {
    /// Starts over.
    pub(super) fn clear(&mut self) {
        self.0.clear();
        self.0.resize(HEADER, 0);
    }

    /// The size of the frame so far.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds an event.
    pub(super) fn push(&mut self, event: &Event) {
        postcard::serialize_with_flavor(event, Appender(&mut self.0))
            .expect("an event can always be encoded");
    }

    /// Fills in the header and gives the bytes to write.
    pub(super) fn seal(&mut self, header: Header, salt: &Salt) -> &[u8] {
        let body = u32::try_from(self.0.len() - HEADER).expect("a batch is far below 4 GiB");
        let bytes = &mut self.0[..HEADER];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&body.to_le_bytes());
        bytes[12..16].copy_from_slice(&header.epoch.to_le_bytes());
        bytes[16..24].copy_from_slice(&header.sequence.to_le_bytes());
        bytes[24..32].copy_from_slice(&header.durable.to_le_bytes());
        bytes[32..40].copy_from_slice(&header.position.to_le_bytes());
        bytes[40..48].copy_from_slice(&header.stamp.at.as_micros().to_le_bytes());
        bytes[48..56].copy_from_slice(&header.stamp.wall.0.to_le_bytes());
        let checksum = checksum(salt, &self.0);
        self.0[8..12].copy_from_slice(&checksum.to_le_bytes());
        &self.0
    }
}

impl<'a> Frame<'a> {
    /// Reads the frame at the start of `bytes`.
    pub(super) fn read(bytes: &'a [u8], salt: &Salt) -> Result<Self, NoFrame> {
        Self::read_unless(bytes, salt, false)
    }

    /// As [`Frame::read`], but `trusting` believes the bytes: for a planted bug only.
    pub(super) fn read_unless(
        bytes: &'a [u8],
        salt: &Salt,
        trusting: bool,
    ) -> Result<Self, NoFrame> {
        let Some(head) = bytes.get(..HEADER) else {
            let blank = bytes.iter().all(|&byte| byte == 0);
            return Err(if blank { NoFrame::Blank } else { NoFrame::Bad });
        };
        if head.iter().all(|&byte| byte == 0) {
            return Err(NoFrame::Blank);
        }
        let body = u32::from_le_bytes(field(head, 4)) as usize;
        let whole = bytes.get(..HEADER + body).filter(|_| head[..4] == MAGIC);
        let whole = whole.ok_or(NoFrame::Bad)?;
        if checksum(salt, whole) != u32::from_le_bytes(field(head, 8)) && !trusting {
            return Err(NoFrame::Bad);
        }
        let stamp = Stamp {
            at: Timestamp::from_micros(u64::from_le_bytes(field(head, 40))),
            wall: WallTime(u64::from_le_bytes(field(head, 48))),
        };
        let header = Header {
            epoch: u32::from_le_bytes(field(head, 12)),
            sequence: u64::from_le_bytes(field(head, 16)),
            durable: u64::from_le_bytes(field(head, 24)),
            position: u64::from_le_bytes(field(head, 32)),
            stamp,
        };
        Ok(Self { header, body: &whole[HEADER..] })
    }

    /// Its size in the log.
    pub(super) fn len(&self) -> usize {
        HEADER + self.body.len()
    }

    /// Its events.
    pub(super) fn events(&self) -> Result<Vec<Event>, postcard::Error> {
        let (mut rest, mut events) = (self.body, Vec::new());
        while !rest.is_empty() {
            let (event, after) = postcard::take_from_bytes(rest)?;
            events.push(event);
            rest = after;
        }
        Ok(events)
    }
}

/// Everything in the frame but the checksum itself, and the store's salt.
fn checksum(salt: &Salt, frame: &[u8]) -> u32 {
    let sum = crc32c::crc32c(salt);
    let sum = crc32c::crc32c_append(sum, &frame[..8]);
    crc32c::crc32c_append(sum, &frame[12..])
}

/// `N` bytes at `offset` of a slice known to be long enough.
pub(super) fn field<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    bytes[offset..offset + N].try_into().expect("the slice has the length asked for")
}

/// Appends to a vector that is used again and again.
pub(super) struct Appender<'a>(pub(super) &'a mut Vec<u8>);

impl Flavor for Appender<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
