//! The log as it is written: one current segment, one spare, frames in a row.

use std::collections::VecDeque;
use std::io;

use claims::Span;

use super::frame::{FrameBuffer, Header, Salt};
use super::medium::{Medium, MediumFile};
use super::segment::{SEGMENT_HEADER, Segment};

/// When what is written is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    /// Before anything else is done.
    AtOnce,
    /// Some time.
    Later,
}

/// The end of the log.
pub(super) struct Journal<F> {
    pub(super) salt: Salt,
    pub(super) current: Segment<F>,
    /// Where the next frame goes.
    pub(super) offset: u64,
    /// Ready to be the next segment. Also the reserve for a disk that is full.
    pub(super) spare: Option<Segment<F>>,
    /// The segments that may hold frames, oldest first, each with the first frame it can hold.
    pub(super) live: VecDeque<(u64, u64)>,
    /// The last frame written.
    pub(super) sequence: u64,
    /// The last frame known to be on disk.
    pub(super) durable: u64,
    /// How many events were written.
    pub(super) position: u64,
    /// How many bytes were written since the last snapshot was begun.
    pub(super) since_snapshot: u64,
    /// How long the last sync took, until that is told.
    pub(super) sync_took: Option<Span>,
}

impl<F: MediumFile> Journal<F> {
    /// The largest frame that can be written now.
    pub(super) fn room(&self) -> u64 {
        let here = self.current.bytes - self.offset;
        self.spare.as_ref().map_or(here, |spare| here.max(spare.bytes - SEGMENT_HEADER))
    }

    /// Writes a frame. It is durable after [`Journal::sync`].
    pub(super) fn append(
        &mut self,
        frame: &mut FrameBuffer,
        mut header: Header,
        events: usize,
        then: Sync,
    ) -> io::Result<()> {
        if self.offset + frame.len() as u64 > self.current.bytes {
            self.rotate()?;
        }
        header.sequence = self.sequence + 1;
        header.durable = self.durable;
        header.position = self.position;
        let bytes = frame.seal(header, &self.salt);
        match then {
            Sync::AtOnce => self.current.file.append_at(self.offset, bytes)?,
            Sync::Later => self.current.file.write_at(self.offset, bytes)?,
        }
        self.offset += bytes.len() as u64;
        self.since_snapshot += bytes.len() as u64;
        self.sequence += 1;
        self.position += events as u64;
        Ok(())
    }

    /// Makes all frames durable.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        if self.durable < self.sequence {
            self.sync_took = self.current.file.sync_timed()?;
            self.durable = self.sequence;
        }
        Ok(())
    }

    /// Goes on in the spare segment. What is in the old one is durable first, so that a frame in a
    /// later segment always means that all before it were.
    fn rotate(&mut self) -> io::Result<()> {
        self.sync()?;
        let spare = self.spare.take().ok_or(io::ErrorKind::StorageFull)?;
        self.live.push_back((spare.number, self.sequence + 1));
        self.current = spare;
        self.offset = SEGMENT_HEADER;
        Ok(())
    }

    /// The number of the segment to prepare next.
    pub(super) fn next_number(&self) -> u64 {
        self.current.number + 1
    }

    /// Takes out the segments all of whose frames a snapshot through `sequence` includes.
    pub(super) fn take_covered(&mut self, sequence: u64) -> Vec<u64> {
        let mut covered = Vec::new();
        while let [(number, _), (_, next_first), ..] = *self.live.make_contiguous()
            && next_first <= sequence + 1
        {
            covered.push(number);
            self.live.pop_front();
        }
        covered
    }
}

/// A journal on a medium.
pub(super) type JournalOn<M> = Journal<<M as Medium>::File>;
