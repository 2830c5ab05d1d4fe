//! Whether an add that asks for what its session has already is the same add, sent again.
//!
//! **Problem.** The client sends an add again when its connection breaks, without a word that it
//! does. If the first one was carried out, "already exists" would be the client's own lock telling it
//! to wait: it waits for itself, and then goes on without. So the add that was sent again has to be
//! told the success that it was. But to somebody *else* that success would be a second holder.
//!
//! **Why the obvious fails.** The owner's name may be shared; the session, too, by threads and by
//! processes that were forked from one. Within some seconds is no proof either: two threads of one
//! session may both want the lock at once.
//!
//! **Idea.** Look for evidence that the answer arrived, and refuse at the least of it. An add is the
//! same one sent again only if all of this holds:
//!
//! 1. the session, the reservation, the alias, the service and all attributes are the same;
//! 2. the last answer to it is at most [`WINDOW`] old;
//! 3. its session has not asked for anything else since: a client that goes on has its answer;
//! 4. the connection of that answer carried nothing more, and *the other side ended it*. A client that
//!    has its answer keeps the connection. Forked processes share theirs, so it is open as long as
//!    one of them lives;
//! 5. no such add was refused meanwhile: then there are two who ask.
//!
//! After a restart of the server the connections are gone without a trace: then 1 to 3 decide, for what
//! was added in the last [`WINDOW`] before it stopped.

use std::collections::HashMap;
use std::sync::Arc;

use claims::{Claim, ClaimId, Span, Timestamp};

use super::line::{Ending, Line};

/// The client sends three times, with pauses of 1 s and 2 s, and a mutex tries again after 2 to 5 s.
const WINDOW: Span = Span::from_secs(30);

/// What was given to whom, and what is known of the answers.
#[derive(Debug)]
pub(super) struct Resends {
    given: HashMap<[u8; 16], Given>,
    /// When each session last asked for anything else.
    others: HashMap<ClaimId, Moment>,
    turn: u64,
    /// Claims that were active by then are those of the server before this one.
    began: Timestamp,
    cleared: Timestamp,
}

/// A moment: on the store's timeline, and in the order of what happens here.
#[derive(Debug, Clone, Copy)]
struct Moment {
    at: Timestamp,
    turn: u64,
}

#[derive(Debug)]
struct Given {
    last: Moment,
    answer: Answered,
}

#[derive(Debug)]
enum Answered {
    /// Nobody was told, because the store did not say in time.
    Nobody,
    /// By this connection, as its nth request.
    Over(Arc<Line>, u64),
    /// There are two who ask.
    Doubtful,
}

/// What an identical add is.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The same, sent again.
    Same,
    /// Somebody else's.
    Other,
    /// The same if this connection has been ended by the client.
    SameIfEnded(Arc<Line>),
}

impl Resends {
    pub(super) fn since(began: Timestamp) -> Self {
        let (given, others) = (HashMap::new(), HashMap::new());
        Self { given, others, turn: 0, began, cleared: began }
    }

    /// A session asks for something that is not this very add again.
    pub(super) fn another_call(&mut self, session: ClaimId, now: Timestamp) {
        let moment = self.moment(now);
        self.others.insert(session, moment);
    }

    /// A claim with this key is about to be made.
    pub(super) fn begin(&mut self, key: [u8; 16], now: Timestamp) {
        let last = self.moment(now);
        self.given.insert(key, Given { last, answer: Answered::Nobody });
    }

    /// The claim was made, and the answer goes over this connection.
    pub(super) fn answered(&mut self, key: [u8; 16], now: Timestamp, over: (Arc<Line>, u64)) {
        let last = self.moment(now);
        let answer = Answered::Over(over.0, over.1);
        self.given.insert(key, Given { last, answer });
    }

    /// An identical add was refused.
    pub(super) fn refused(&mut self, key: [u8; 16]) {
        if let Some(given) = self.given.get_mut(&key) {
            given.answer = Answered::Doubtful;
        }
    }

    /// What an add is that is identical to the one that `claim` was made by.
    pub(super) fn judge(&self, claim: &Claim, session: ClaimId, now: Timestamp) -> Verdict {
        let other = self.others.get(&session);
        let Some(given) = self.given.get(&claim.key.0) else {
            let active = claim.activation().map_or(Timestamp::ZERO, |given| given.since.at);
            let before = active <= self.began && now.since(active) <= WINDOW;
            return if before && other.is_none() { Verdict::Same } else { Verdict::Other };
        };
        if other.is_some_and(|other| other.turn > given.last.turn)
            || now.since(given.last.at) > WINDOW
        {
            return Verdict::Other;
        }
        match &given.answer {
            Answered::Nobody => Verdict::Same,
            Answered::Doubtful => Verdict::Other,
            Answered::Over(line, nth) if line.requests() > *nth => Verdict::Other,
            Answered::Over(line, _) => match line.ending() {
                None => Verdict::SameIfEnded(line.clone()),
                Some(Ending::HungUp) => Verdict::Same,
                Some(Ending::Closed) => Verdict::Other,
            },
        }
    }

    fn moment(&mut self, at: Timestamp) -> Moment {
        // What is older than the window decides nothing any more.
        if at.since(self.cleared) > WINDOW {
            self.cleared = at;
            self.given.retain(|_, given| at.since(given.last.at) <= WINDOW);
            self.others.retain(|_, other| at.since(other.at) <= WINDOW);
        }
        self.turn += 1;
        Moment { at, turn: self.turn }
    }
}

#[cfg(test)]
mod tests;
