//! What happened, as sentences for people and as one number for machines.
//!
//! Every note goes into a running hash: two runs of one seed are the same run if the hashes agree.
//! The sentences are made only when somebody asks.

mod sentence;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use claims::{ClaimId, Event, Fence, Span, Timestamp};

use crate::agenda::Fault;
use crate::disk::CrashAt;
use crate::message::{ClientId, RequestId, Says, Verb};

/// The story so far.
#[derive(Debug)]
pub(crate) struct Story {
    hash: Mixer,
    count: u64,
    kept: VecDeque<(Timestamp, Note)>,
    /// How many notes to keep for telling.
    keep: usize,
}

/// One thing that happened.
#[derive(Debug, Clone, Copy, Hash)]
pub(crate) enum Note {
    Wishes {
        client: ClientId,
        /// One bit for each resource.
        resources: u32,
        limit: Option<u32>,
        ttl: Span,
    },
    Asks {
        client: ClientId,
        request: RequestId,
        verb: Verb,
        claim: Option<ClaimId>,
    },
    Hears {
        client: ClientId,
        request: RequestId,
        says: Says,
    },
    Believes {
        client: ClientId,
        claim: ClaimId,
        /// Nothing if too little is left of the lease to believe in it.
        left: Option<Span>,
    },
    Stops(ClientId, Stop),
    Dies(ClientId),
    Returns(ClientId),
    Pauses(ClientId, Span),
    Resumes(ClientId),
    Lost {
        client: ClientId,
        request: RequestId,
        answer: bool,
    },
    Arrives(RequestId),
    Committed {
        at: Timestamp,
        position: u64,
        events: usize,
        took: Span,
    },
    Happened(Brief),
    AnswersLeave(usize),
    ChoreRan,
    ServerStops(ServerStop),
    ServerStarts {
        at: Timestamp,
        waiting: usize,
        active: usize,
    },
    ServerStaysDown(Down),
    ServerPauses(Span),
    ServerResumes,
    CrashArmed(CrashAt),
    BitsFlipped(usize),
    Goes(Fault),
    Ends(Fault),
    Heals,
    Rests,
}

/// Why a client stopped believing.
#[derive(Debug, Clone, Copy, Hash)]
pub(crate) enum Stop {
    LeaseOver,
    ToldSo,
    Signalled,
    WalksAway,
}

/// Why the server stopped.
#[derive(Debug, Clone, Copy, Hash)]
pub(crate) enum ServerStop {
    PowerCut,
    Killed,
    /// The store said that it cannot go on.
    Fatal(&'static str),
}

/// Why the server did not start.
#[derive(Debug, Clone, Copy, Hash)]
pub(crate) enum Down {
    Crashed,
    Unavailable,
    Corrupt,
}

/// An event of the store, in short.
#[derive(Debug, Clone, Copy, Hash)]
pub(crate) enum Brief {
    Registered(ClaimId),
    Activated(ClaimId, Fence, Timestamp),
    Seen(ClaimId),
    Called(ClaimId, Timestamp),
    CalledOff(ClaimId),
    PassedOver(ClaimId),
    Renewed(ClaimId, Timestamp),
    Ended(ClaimId, &'static str),
    Appointed(ClaimId),
    Forgotten(u32),
    Resumed,
    EpochBegan(u32),
}

impl From<&Event> for Brief {
    fn from(event: &Event) -> Self {
        match event {
            Event::Registered { claim, .. } => Self::Registered(*claim),
            Event::Activated { claim, fence, deadline } => {
                Self::Activated(*claim, *fence, *deadline)
            }
            Event::Seen { claim, .. } => Self::Seen(*claim),
            Event::Called { claim, until } => Self::Called(*claim, *until),
            Event::CalledOff { claim } => Self::CalledOff(*claim),
            Event::PassedOver { claim } => Self::PassedOver(*claim),
            Event::Renewed { claim, deadline, .. } => Self::Renewed(*claim, *deadline),
            Event::Ended { claim, ending } => {
                Self::Ended(*claim, claims::Status::from(*ending).as_str())
            }
            Event::Appointed { claim, .. } => Self::Appointed(*claim),
            Event::Forgotten { count } => Self::Forgotten(*count),
            Event::Resumed => Self::Resumed,
            Event::EpochBegan { epoch } => Self::EpochBegan(epoch.number()),
        }
    }
}

impl Story {
    /// A story of which the last `keep` notes can be told.
    pub(crate) fn new(keep: usize) -> Self {
        Self { hash: Mixer(0), count: 0, kept: VecDeque::new(), keep }
    }

    pub(crate) fn tell(&mut self, at: Timestamp, note: Note) {
        at.as_micros().hash(&mut self.hash);
        note.hash(&mut self.hash);
        self.count += 1;
        if self.keep > 0 {
            if self.kept.len() == self.keep {
                self.kept.pop_front();
            }
            self.kept.push_back((at, note));
            sentence::remember(at, note);
        }
    }

    /// One number for all that happened.
    pub(crate) fn hash(&self) -> u64 {
        self.hash.finish()
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The last notes as sentences.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let kept = self.kept.iter();
        kept.map(|(at, note)| sentence::line(*at, note)).collect()
    }
}

pub(crate) use self::sentence::take_remembered;

/// A quick mixing of words. Not against an adversary, only against chance.
#[derive(Debug)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}
