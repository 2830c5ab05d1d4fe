//! What happens next: a queue of happenings in order of true time, and of insertion where that is
//! the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use claims::Timestamp;

use crate::message::{Answer, ClientId, Request, RequestId};

/// Something that will happen.
#[derive(Debug)]
pub(crate) enum Happening {
    /// A client's timer rings. Only the newest one it set counts.
    ClientWakes {
        client: ClientId,
        timer: u32,
    },
    ClientResumes(ClientId),
    /// A new process takes the place of one that died.
    ClientReturns(ClientId),
    AnswerArrives {
        client: ClientId,
        answer: Answer,
    },
    RequestArrives(Request),
    /// The server notices that nobody waits for the answer to this request any more.
    ConnectionCloses(RequestId),
    /// What follows belongs to one life of the server process, and dies with it.
    ServerTicks {
        life: u32,
        tick: u32,
    },
    ServerWorks {
        life: u32,
    },
    BatchIsDurable {
        life: u32,
    },
    ChoreRuns {
        life: u32,
    },
    ChoreIsDone {
        life: u32,
    },
    ServerStarts {
        life: u32,
    },
    ServerResumes,
    Fault(Fault),
    /// A fault that lasts is over.
    FaultEnds(Fault),
    Heals,
}

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    Crash,
    PauseServer,
    SlowDisk,
    FailingDisk,
    FullDisk,
    CutToServer(ClientId),
    CutFromServer(ClientId),
    PauseClient,
    KillClient,
    Revoke,
    WallJump,
    Drift,
}

#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<Entry>>,
    inserted: u64,
}

#[derive(Debug)]
struct Entry {
    at: Timestamp,
    nth: u64,
    happening: Happening,
}

impl Agenda {
    pub(crate) fn add(&mut self, at: Timestamp, happening: Happening) {
        let nth = self.inserted;
        self.inserted += 1;
        self.heap.push(Reverse(Entry { at, nth, happening }));
    }

    pub(crate) fn next(&mut self) -> Option<(Timestamp, Happening)> {
        let Reverse(entry) = self.heap.pop()?;
        Some((entry.at, entry.happening))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.nth).cmp(&(other.at, other.nth))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Entry {}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.nth) == (other.at, other.nth)
    }
}
