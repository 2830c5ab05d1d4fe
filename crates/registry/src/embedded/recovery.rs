//! Reading back what was kept: the newest sound snapshot, then the log after it.
//!
//! What a crash can leave behind and what only damage can leave behind are told apart:
//!
//! * The last frame may be torn: it was never acknowledged, and is cut off.
//! * A bad frame with a good one after it was whole once (frames say through which frame the log
//!   was durable when they were written). That is damage, and opening would forget a promise: refused.
//! * A bad snapshot is passed over for the one before it, from which the log reaches back further.
//!   Never for nothing at all.
//!
//! One thing cannot be told apart: damage to the very last frame looks like a torn one.

use std::collections::VecDeque;

use claims::engine::{apply, can_follow};
use claims::{Fence, Stamp, State};

use super::damage::{check_cut, damaged, ends_early, miscounted, misplaced};
use super::frame::{Frame, Header, MAGIC, NoFrame, Salt};
use super::journal::JournalOn;
use super::medium::Medium;
use super::options::Options;
use super::reopening::is_blank;
use super::segment::{SEGMENT_HEADER, check_header, segment_name, segment_number};
use super::snapshot::{self, Cut, snapshot_name, snapshot_sequence};
use crate::error::StoreError;
use crate::planted::Bug;

/// What was read back.
pub(super) struct Recovered<M: Medium> {
    pub(super) state: State,
    pub(super) journal: JournalOn<M>,
    /// The last moment written down.
    pub(super) stamp: Stamp,
    /// The snapshots that are sound as far as is known, oldest first.
    pub(super) snapshots: VecDeque<u64>,
}

/// Reads back the store on `medium`.
pub(super) fn recover<M: Medium>(
    medium: &M,
    options: &Options,
    salt: &Salt,
) -> Result<Recovered<M>, StoreError> {
    // What the last process renamed may so far be so in the kernel's memory only.
    medium.sync_names().map_err(|error| unreadable(".", error))?;
    let names = medium.list().map_err(|error| unreadable(".", error))?;
    for unfinished in names.iter().filter(|name| name.ends_with(".tmp")) {
        medium.remove(unfinished).map_err(|error| unreadable(unfinished, error))?;
    }
    let (snapshots, base) = newest_snapshot(medium, &names, salt)?;
    let log = Log::new(medium, options, salt, &names)?;
    log.replay(base, snapshots)
}

/// What a snapshot has.
type Base = (Cut, Vec<claims::Record>);

/// The newest snapshot that can be read, and all that are left to fall back on.
fn newest_snapshot<M: Medium>(
    medium: &M,
    names: &[String],
    salt: &Salt,
) -> Result<(VecDeque<u64>, Option<Base>), StoreError> {
    let mut sequences: Vec<u64> = names.iter().filter_map(|name| snapshot_sequence(name)).collect();
    sequences.sort_unstable();
    while let Some(&sequence) = sequences.last() {
        let name = snapshot_name(sequence);
        let bytes = medium.read(&name).map_err(|error| unreadable(&name, error))?;
        match snapshot::read(&bytes, salt) {
            Ok(base) if base.0.sequence == sequence => return Ok((sequences.into(), Some(base))),
            Ok(_) => tracing::error!(snapshot = name, "passed over: it has another's name"),
            Err(reason) => tracing::error!(snapshot = name, reason, "passed over"),
        }
        sequences.pop();
    }
    Ok((VecDeque::new(), None))
}

/// The log being read.
pub(super) struct Log<'a, M: Medium> {
    pub(super) medium: &'a M,
    pub(super) options: &'a Options,
    pub(super) salt: &'a Salt,
    /// The segments without a gap up to the newest.
    pub(super) numbers: Vec<u64>,
}

/// Where the frames end.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) number: u64,
    pub(super) offset: u64,
    /// Whether something other than zeros follows.
    pub(super) torn: bool,
}

/// The frames at the end of the log that no later frame calls durable. They are all in one segment:
/// a segment is synced before the next one is used.
#[derive(Default)]
pub(super) struct Tail {
    pub(super) frames: VecDeque<(End, u64, u64)>,
}

impl Tail {
    fn push(&mut self, at: End, header: Header, length: u64) {
        while self.frames.front().is_some_and(|&(_, sequence, _)| sequence <= header.durable) {
            self.frames.pop_front();
        }
        self.frames.push_back((at, header.sequence, length));
    }
}

impl<'a, M: Medium> Log<'a, M> {
    fn new(
        medium: &'a M,
        options: &'a Options,
        salt: &'a Salt,
        names: &[String],
    ) -> Result<Self, StoreError> {
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment_number(name)).collect();
        numbers.sort_unstable();
        // Older segments that were being removed when the machine stopped may be left over.
        let gap = numbers.windows(2).rposition(|pair| pair[0] + 1 != pair[1]);
        for number in numbers.drain(..gap.map_or(0, |nth| nth + 1)) {
            let name = segment_name(number);
            medium.remove(&name).map_err(|error| unreadable(&name, error))?;
        }
        if numbers.is_empty() {
            return Err(StoreError::Corrupt(
                "the log is missing: put its files back, or restore the whole directory".into(),
            ));
        }
        Ok(Self { medium, options, salt, numbers })
    }

    fn replay(
        self,
        base: Option<Base>,
        snapshots: VecDeque<u64>,
    ) -> Result<Recovered<M>, StoreError> {
        let rules = self.options.rules.clone();
        let (mut state, mut stamp, covered, mut position) = match base {
            Some((cut, claims)) => {
                (State::restore(rules, cut.counters, claims), cut.stamp, cut.sequence, cut.position)
            }
            None => (State::new(rules), Stamp::default(), 0, 0),
        };
        let fence_at_snapshot = state.counters().next_fence;
        let mut next: Option<u64> = None;
        let mut live = VecDeque::new();
        let mut end = End { number: self.numbers[0], offset: SEGMENT_HEADER, torn: false };
        let mut since_snapshot = 0;
        let mut tail = Tail::default();
        for &number in &self.numbers {
            let bytes = self.segment(number)?;
            let mut here = End { number, offset: SEGMENT_HEADER, torn: false };
            loop {
                let rest = &bytes[here.offset as usize..];
                let trusting = self.options.planted.is(Bug::TornTailAccepted);
                let frame = match Frame::read_unless(rest, self.salt, trusting) {
                    Ok(frame) => frame,
                    Err(NoFrame::Blank) => {
                        here.torn = !is_blank(rest);
                        break;
                    }
                    Err(NoFrame::Bad) => {
                        here.torn = true;
                        break;
                    }
                };
                if end.torn {
                    return Err(damaged(end, here));
                }
                let header = frame.header;
                // The log may begin anywhere up to what the snapshot does not include; never at 0.
                let first = header.sequence.clamp(1, covered.saturating_add(1));
                let expected = next.unwrap_or(first);
                if header.sequence != expected && !trusting {
                    return Err(misplaced(here, header.sequence, expected));
                }
                if here.offset == SEGMENT_HEADER {
                    live.push_back((number, header.sequence));
                }
                if header.sequence == covered && !trusting {
                    check_cut(&frame, here, position)?;
                }
                if header.sequence > covered {
                    if header.position != position && !trusting {
                        return Err(miscounted(here, header.position, position));
                    }
                    position = position.saturating_add(self.apply(&mut state, &frame, here)?);
                    stamp = header.stamp;
                    since_snapshot += frame.len() as u64;
                }
                tail.push(here, header, frame.len() as u64);
                next = Some(header.sequence + 1);
                here.offset += frame.len() as u64;
                end = here;
            }
            if here.torn {
                // The frame that was being written when the machine stopped, or damage.
                self.check_torn(&bytes, here, next.unwrap_or(covered.saturating_add(1)))?;
                if !end.torn {
                    end = here;
                }
            }
        }
        // A snapshot is only begun when everything it includes is durable, and the segment with the
        // last frame of it is never removed: a log that ends before is damaged.
        let sequence = next.map_or(0, |next| next - 1);
        if sequence < covered {
            return Err(ends_early(end, sequence, covered));
        }
        if self.options.planted.is(Bug::FenceNotDurable) {
            state = with_fence(state, fence_at_snapshot);
        }
        self.write_again(tail)?;
        let journal = self.reopen(end, live, sequence, position, since_snapshot)?;
        Ok(Recovered { state, journal, stamp, snapshots })
    }

    pub(super) fn segment(&self, number: u64) -> Result<Vec<u8>, StoreError> {
        let name = segment_name(number);
        let bytes = self.medium.read(&name).map_err(|error| unreadable(&name, error))?;
        check_header(&bytes, number, self.salt)
            .map_err(|reason| StoreError::Corrupt(format!("{name} at byte 0: {reason}")))?;
        Ok(bytes)
    }

    /// Applies the events of a frame and says how many there are.
    fn apply(&self, state: &mut State, frame: &Frame<'_>, at: End) -> Result<u64, StoreError> {
        let events = match frame.events() {
            Ok(events) => events,
            Err(_) if self.options.planted.is(Bug::TornTailAccepted) => return Ok(0),
            Err(error) => {
                return Err(StoreError::Corrupt(format!(
                    "{} at byte {}: an event is unknown to this version ({error}): start the newer \
                     version that wrote it",
                    segment_name(at.number),
                    at.offset,
                )));
            }
        };
        let trusting = self.options.planted.is(Bug::TornTailAccepted);
        for event in &events {
            if !trusting && !can_follow(state, event) {
                return Err(StoreError::Corrupt(format!(
                    "{} at byte {}: it says something that cannot follow what is before it: \
                     restore the directory from a backup",
                    segment_name(at.number),
                    at.offset,
                )));
            }
            apply(state, event, frame.header.stamp);
        }
        Ok(events.len() as u64)
    }

    /// A torn frame was never durable. If a frame behind it says otherwise, this is damage.
    fn check_torn(&self, bytes: &[u8], end: End, expected: u64) -> Result<(), StoreError> {
        let from = end.offset as usize + 1;
        let starts = bytes[from.min(bytes.len())..].windows(MAGIC.len()).enumerate();
        for (nth, _) in starts.filter(|(_, window)| *window == MAGIC) {
            let at = from + nth;
            if let Ok(frame) = Frame::read(&bytes[at..], self.salt)
                && frame.header.durable >= expected
            {
                return Err(damaged(end, End { offset: at as u64, ..end }));
            }
        }
        Ok(())
    }
}

/// For [`Bug::FenceNotDurable`].
fn with_fence(state: State, next_fence: Fence) -> State {
    let counters = claims::Counters { next_fence, ..state.counters() };
    let records = state.records_after(None).map(claims::Record::cloned);
    State::restore(state.rules().clone(), counters, records)
}

pub(super) fn unreadable(name: &str, error: std::io::Error) -> StoreError {
    StoreError::Unavailable(format!("{name} cannot be read or written: {error}"))
}
