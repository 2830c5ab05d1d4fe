//! Whether an add that asks for what its session has already is the same add, sent again.
//!
//! **Problem.** The client sends an add again when its connection breaks, without a word that it
//! does. If the first one was carried out, "already exists" would be the client's own lock telling
//! it to wait: it waits for itself, and then goes on without. So the add that was sent again has to
//! be told the success that it was. But to somebody *else* that success would be a second holder.
//!
//! **Why the obvious fails.** The owner's name may be shared; the session, too, by threads and by
//! processes that were forked from one. Within some seconds is no proof either: two threads of one
//! session may both want the lock at once.
//!
//! **Idea.** Look for evidence that the answer arrived, or that there are two who ask, and refuse
//! at the least of it. An add is the same one sent again only if all of this holds:
//!
//! 1. the session, the reservation, the alias, the service and all attributes are the same;
//! 2. the last answer to it is at most [`WINDOW`] old;
//! 3. its session has not asked for anything else since: a client that goes on has its answer;
//! 4. it comes over a new connection, and all others that the session had when it was answered, or
//!    has now, were ended by the *other side*; the one of the answer carried nothing more. A client
//!    that has its answer keeps a connection, threads have several, and that of forked processes is
//!    open as long as one of them lives;
//! 5. no such add was refused meanwhile: then there are two who ask.
//!
//! After a restart of the server the connections are gone without a trace: then the rest decides,
//! for what was added in the last [`WINDOW`] before it stopped.

use std::collections::HashMap;
use std::sync::Arc;

use claims::{Claim, ClaimId, Span, Timestamp};

use super::line::{Ending, Line};

/// The client sends three times, with pauses of 1 s and 2 s; a mutex tries again after 2 to 5 s.
const WINDOW: Span = Span::from_secs(30);

/// A request: its connection, and its number on it.
pub(super) type Over = (Arc<Line>, u64);

/// What was given to whom, and what is known of the answers.
#[derive(Debug)]
pub(super) struct Resends {
    given: HashMap<[u8; 16], Given>,
    sessions: HashMap<ClaimId, Session>,
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
    /// Nobody was told: the store did not say in time, or the connection had ended before.
    Nobody,
    /// Over this, while the session had these connections besides.
    Over(Over, Vec<Arc<Line>>),
    /// There are two who ask.
    Doubtful,
}

#[derive(Debug)]
struct Session {
    /// When it last asked at all, and when for something that was not an add again.
    asked: Moment,
    other: Option<Moment>,
    /// Its connections, as far as they were not known to have ended when it asked.
    lines: Vec<Arc<Line>>,
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
        let (given, sessions) = (HashMap::new(), HashMap::new());
        Self { given, sessions, turn: 0, began, cleared: began }
    }

    /// A session asks for something, over this connection.
    pub(super) fn asks(&mut self, session: ClaimId, now: Timestamp, line: &Arc<Line>) {
        let asked = self.moment(now);
        let new = || Session { asked, other: None, lines: Vec::new() };
        let known = self.sessions.entry(session).or_insert_with(new);
        known.asked = asked;
        known.lines.retain(|line| line.ending().is_none());
        if !known.lines.iter().any(|known| Arc::ptr_eq(known, line)) {
            known.lines.push(line.clone());
        }
    }

    /// What a session asks for is not the add that it had made, again.
    pub(super) fn another_call(&mut self, session: ClaimId, now: Timestamp) {
        let moment = self.moment(now);
        if let Some(known) = self.sessions.get_mut(&session) {
            known.other = Some(moment);
        }
    }

    /// A claim with this key is about to be made.
    pub(super) fn begin(&mut self, key: [u8; 16], now: Timestamp) {
        let last = self.moment(now);
        self.given.insert(key, Given { last, answer: Answered::Nobody });
    }

    /// The claim was made, and the answer goes to the session over this connection.
    pub(super) fn answered(
        &mut self,
        key: [u8; 16],
        session: ClaimId,
        now: Timestamp,
        over: &Over,
    ) {
        let last = self.moment(now);
        let answer = match over.0.ending() {
            // Its client gave it up before there was an answer, and may be back over another one already.
            Some(Ending::HungUp) => Answered::Nobody,
            Some(Ending::Closed) | None => {
                Answered::Over(over.clone(), self.besides(session, over).cloned().collect())
            }
        };
        self.given.insert(key, Given { last, answer });
    }

    /// An identical add was refused.
    pub(super) fn refused(&mut self, key: [u8; 16]) {
        if let Some(given) = self.given.get_mut(&key) {
            given.answer = Answered::Doubtful;
        }
    }

    /// What an add is that is identical to the one that `claim` was made by.
    pub(super) fn judge(
        &self,
        claim: &Claim,
        session: ClaimId,
        now: Timestamp,
        over: &Over,
    ) -> Verdict {
        let other = self.sessions.get(&session).and_then(|session| session.other);
        let is_new = over.1 == 1;
        let Some(given) = self.given.get(&claim.key.0) else {
            let active = claim.activation().map_or(Timestamp::ZERO, |given| given.since.at);
            let before = active <= self.began && now.since(active) <= WINDOW;
            let same = before && is_new && other.is_none();
            return if same { Verdict::Same } else { Verdict::Other };
        };
        let went_on = other.is_some_and(|other| other.turn > given.last.turn);
        let is_late = !is_new || went_on || now.since(given.last.at) > WINDOW;
        match &given.answer {
            // Whoever asks first is the first to be told.
            Answered::Nobody => Verdict::Same,
            Answered::Doubtful => Verdict::Other,
            Answered::Over(..) if is_late => Verdict::Other,
            Answered::Over((line, nth), _) if line.requests() > *nth => Verdict::Other,
            Answered::Over((line, _), besides) => {
                let others = [line].into_iter().chain(besides).chain(self.besides(session, over));
                all_ended(others)
            }
        }
    }

    /// The connections of a session besides the one of this request.
    fn besides<'a>(
        &'a self,
        session: ClaimId,
        over: &'a Over,
    ) -> impl Iterator<Item = &'a Arc<Line>> {
        let lines = self.sessions.get(&session).map_or(&[][..], |session| &session.lines);
        lines.iter().filter(|line| !Arc::ptr_eq(line, &over.0))
    }

    fn moment(&mut self, at: Timestamp) -> Moment {
        // What is older than the window decides nothing any more.
        if at.since(self.cleared) > WINDOW {
            self.cleared = at;
            self.given.retain(|_, given| at.since(given.last.at) <= WINDOW);
            self.sessions.retain(|_, session| {
                session.lines.retain(|line| line.ending().is_none());
                at.since(session.asked.at) <= WINDOW || !session.lines.is_empty()
            });
        }
        self.turn += 1;
        Moment { at, turn: self.turn }
    }
}

/// Whether the other side has ended all of these.
fn all_ended<'a>(lines: impl Iterator<Item = &'a Arc<Line>>) -> Verdict {
    let mut verdict = Verdict::Same;
    for line in lines {
        match line.ending() {
            Some(Ending::HungUp) => {}
            Some(Ending::Closed) => return Verdict::Other,
            None => verdict = Verdict::SameIfEnded(line.clone()),
        }
    }
    verdict
}

#[cfg(test)]
mod tests;
