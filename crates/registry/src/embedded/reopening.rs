//! The end of a log that was read, made ready to be written on.

use std::collections::VecDeque;

use super::journal::{Journal, JournalOn};
use super::medium::{Medium, MediumFile};
use super::recovery::{End, Log, Tail, unreadable};
use super::segment::{SEGMENT_HEADER, Segment, segment_name};
use crate::error::StoreError;
use crate::planted::Bug;

impl<M: Medium> Log<'_, M> {
    /// Writes the frames that nobody knows to be on disk once more, and syncs them.
    ///
    /// They were read from the kernel's memory. If the process was killed before its sync, or the
    /// sync failed, the disk may not have them, and the kernel may believe that it has: then they
    /// would be lost in a power cut after later frames had been acknowledged.
    pub(super) fn write_again(&self, tail: Tail) -> Result<(), StoreError> {
        let Some(&(first, ..)) = tail.frames.front() else { return Ok(()) };
        let name = segment_name(first.number);
        let bytes = self.segment(first.number)?;
        let length: u64 = tail.frames.iter().map(|(_, _, length)| length).sum();
        let frames = &bytes[first.offset as usize..(first.offset + length) as usize];
        let segment = self.open(first.number)?;
        let written =
            segment.file.write_at(first.offset, frames).and_then(|()| segment.file.sync());
        written.map_err(|error| unreadable(&name, error))
    }

    /// Makes the end of the log ready to be written on.
    pub(super) fn reopen(
        &self,
        end: End,
        mut live: VecDeque<(u64, u64)>,
        sequence: u64,
        position: u64,
        since_snapshot: u64,
    ) -> Result<JournalOn<M>, StoreError> {
        let current = self.open(end.number)?;
        if end.torn && !self.options.planted.is(Bug::TailNotCleared) {
            self.cut_off(&current, end.offset)?;
        }
        let mut spare = None;
        for &number in self.numbers.iter().filter(|&&number| number > end.number) {
            let name = segment_name(number);
            let bytes = self.segment(number)?;
            let blank = is_blank(&bytes[SEGMENT_HEADER as usize..]);
            // One that was cut short, or made smaller, would not take what must fit into it.
            let is_whole = bytes.len() as u64 >= self.options.segment_bytes;
            if number == end.number + 1 && blank && is_whole {
                spare = Some(self.open(number)?);
            } else {
                self.medium.remove(&name).map_err(|error| unreadable(&name, error))?;
            }
        }
        if live.back().is_none_or(|&(number, _)| number != end.number) {
            live.push_back((end.number, sequence + 1));
        }
        Ok(Journal {
            salt: *self.salt,
            current,
            offset: end.offset,
            spare,
            live,
            sequence,
            durable: sequence,
            position,
            since_snapshot,
            sync_took: None,
        })
    }

    fn open(&self, number: u64) -> Result<Segment<M::File>, StoreError> {
        let name = segment_name(number);
        let bytes = self.segment(number)?.len() as u64;
        let file = self.medium.open(&name).map_err(|error| unreadable(&name, error))?;
        Ok(Segment { number, file, bytes })
    }

    /// Clears what a torn frame left, durably, so that it is never read as log.
    fn cut_off(&self, segment: &Segment<M::File>, offset: u64) -> Result<(), StoreError> {
        let name = segment_name(segment.number);
        let bytes = self.medium.read(&name).map_err(|error| unreadable(&name, error))?;
        let tail = &bytes[offset as usize..];
        let length = tail.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        tracing::warn!(segment = name, offset, length, "cut off a torn frame nobody was told of");
        segment
            .file
            .write_at(offset, &vec![0; length])
            .and_then(|()| segment.file.sync())
            .map_err(|error| unreadable(&name, error))
    }
}

/// Whether there are only zeros. Most of a segment is, and many are looked at together.
pub(super) fn is_blank(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|chunk| chunk.iter().fold(0, |seen, &byte| seen | byte) == 0)
}
