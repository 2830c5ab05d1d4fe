//! The one who decides. It takes all requests that wait, runs them in order, makes their events durable
//! with one sync, and only then lets the answers go. Which thread it works in makes no difference to
//! it, but for one thing: only the desk's own may wait.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use claims::clock::TICK;
use claims::engine::foresee;
use claims::{ClaimId, Command, Event, Owner, Refusal, Span, Standing};

use super::books::Books;
use super::clocks::Clocks;
use super::inbox::Inbox;
use super::recent::Recent;
use super::request::{Look, Request};
use super::waits::{Reply, Ticket, Wait, Waits};
use crate::commits::Commits;
use crate::embedded::{Fatal, Reading};
use crate::error::StoreError;
use crate::store::Answer;

/// How much later than its batch a request may come and still be in it. Leases are counted from the
/// moment of the batch, clients count theirs from before they ask: whoever came long after that
/// moment would have less than it believes. So much is within the margin of every lease of 20 ms and
/// more, and longer than it takes to fill a batch.
pub(super) const LATE_MAX: Span = Span::from_millis(1);

/// How many requests are foreseen at a time. Much more, and what was fetched for the last is gone again
/// when its turn comes.
const FORESEEN_MAX: usize = 64;

/// In whose thread a round is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The desk's own, which has nothing else to do.
    Desk,
    /// One that lends a hand, and has others to serve.
    Hand,
}

/// The desk without its threads.
pub(super) struct Writer<B: Books> {
    pub(super) books: B,
    pub(super) clocks: Box<dyn Clocks>,
    pub(super) inbox: Arc<Inbox<Request<B>>>,
    /// Requests taken from the inbox and not begun.
    pub(super) taken: VecDeque<Request<B>>,
    /// How many of them the engine has been told of.
    pub(super) foreseen: usize,
    pub(super) chores: Sender<B::Chore>,
    pub(super) recent: Recent,
    pub(super) commits: Commits,
    /// Whether the last commit waited for a sync: only then is there one to share.
    pub(super) syncs: bool,
    pub(super) waits: Waits,
    pub(super) answers: Vec<(Reply, Result<Answer, StoreError>)>,
    pub(super) looks: Vec<Look<B>>,
    /// Told the position after each commit.
    pub(super) position: tokio::sync::watch::Sender<u64>,
    /// When the batch began that was left open.
    pub(super) open: Option<Reading>,
    pub(super) closing: bool,
}

impl<B: Books> Writer<B> {
    /// Does what was asked or is due by now. A batch that nobody is in a hurry for is left open for the
    /// next round.
    pub(super) fn round(&mut self, by: By) -> Result<(), Fatal> {
        let reading = match self.open.take() {
            Some(open) if self.left(open).is_zero() => {
                self.finish(open)?;
                self.begin()
            }
            Some(open) => open,
            None => self.begin(),
        };
        self.take_all(reading, by)?;
        if self.nobody_hurries() && !self.left(reading).is_zero() {
            self.open = Some(reading);
            return Ok(());
        }
        self.finish(reading)
    }

    /// Does everything that was asked or is due by now, and leaves nothing open.
    #[cfg(all(feature = "etcd", feature = "object", feature = "sql"))]
    pub(super) fn round_at_once(&mut self) -> Result<(), Fatal> {
        let reading = self.begin();
        self.take_all(reading, By::Desk)?;
        self.finish(reading)
    }

    fn begin(&mut self) -> Reading {
        let reading = self.clocks.read();
        self.books.tick(reading);
        reading
    }

    fn finish(&mut self, reading: Reading) -> Result<(), Fatal> {
        self.end_waits(reading);
        if self.books.state().next_due().is_some_and(|due| due <= self.books.now()) {
            self.books.sweep();
        }
        self.commit()?;
        if let Some(chore) = self.books.next_chore() {
            // If the helper is gone the process is ending.
            let _ = self.chores.send(chore);
        }
        Ok(())
    }

    /// How long no round needs to be made.
    pub(super) fn rest(&self) -> Duration {
        match self.open {
            _ if self.closing || !self.taken.is_empty() => Duration::ZERO,
            Some(open) => self.left(open),
            None => self.pause(),
        }
    }

    /// How long nothing needs to be done. While leases run, the clock is read every tick: that is
    /// how a pause of this very process is noticed.
    pub(super) fn pause(&self) -> Duration {
        let now = self.books.now();
        let tally = self.books.state().tally();
        let tick = (tally.active + tally.waiting > 0).then_some(TICK);
        let due = self.books.state().next_due().map(|due| due.since(now));
        let reading = self.clocks.read().boot.as_micros();
        let patience = self.waits.next_end().map(|end| end.as_micros().saturating_sub(reading));
        let patience = patience.map(Span::from_micros);
        let pause = [tick, due, patience, self.books.sync_within()].into_iter().flatten().min();
        Duration::from_micros(pause.unwrap_or(Span::from_secs(60)).as_micros())
    }

    fn take_all(&mut self, reading: Reading, by: By) -> Result<(), Fatal> {
        while !self.books.wants_commit() {
            if by == By::Hand && self.books.waits_for_chore() {
                break;
            }
            self.foresee();
            match self.taken.pop_front() {
                Some(request) => {
                    self.foreseen = self.foreseen.saturating_sub(1);
                    let waits = self.books.waits_for_chore();
                    self.take(request, reading)?;
                    if waits && self.is_late(reading) {
                        break;
                    }
                }
                None => {
                    self.inbox.take_now(&mut self.taken);
                    if self.taken.is_empty() || self.is_late(reading) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Tells the engine what comes next, some requests at a time: what it needs for all of them comes
    /// from far memory in little more time than for one.
    fn foresee(&mut self) {
        if self.foreseen == 0 && !self.taken.is_empty() {
            self.foreseen = self.taken.len().min(FORESEEN_MAX);
            let next = self.taken.range(..self.foreseen);
            foresee(self.books.state(), next.filter_map(Request::command));
        }
    }

    /// Whether what is taken now belongs into a batch of its own.
    fn is_late(&self, reading: Reading) -> bool {
        let now = self.clocks.read().boot.as_micros();
        now.saturating_sub(reading.boot.as_micros()) > LATE_MAX.as_micros()
    }

    fn take(&mut self, request: Request<B>, reading: Reading) -> Result<(), Fatal> {
        match request {
            Request::Submit { command, reply } => {
                self.wait_for_chore()?;
                let answer = self.books.execute(command);
                self.answers.push((reply, answer));
            }
            Request::SubmitAndWait { command, patience, ticket, reply } => {
                self.wait_for_chore()?;
                let until = Span::from_micros(reading.boot.as_micros() + patience.as_micros());
                self.submit_and_wait(command, until, ticket, reply);
            }
            Request::Gone(ticket) => {
                if let Some(wait) = self.waits.remove_ticket(ticket) {
                    self.leave(wait.owner);
                }
            }
            Request::Look(look) => self.looks.push(look),
            Request::Sweep(look) => {
                self.books.sweep();
                self.looks.push(look);
            }
            Request::Done(done) => self.books.finish(done)?,
            Request::Close => self.closing = true,
        }
        Ok(())
    }

    /// The next segment of the log is being prepared, and may be needed now: that takes as long as
    /// it takes. Other requests stay in order behind this one.
    fn wait_for_chore(&mut self) -> Result<(), Fatal> {
        if !self.books.waits_for_chore() {
            return Ok(());
        }
        while self.books.waits_for_chore() {
            let done = |request: &Request<B>| matches!(request, Request::Done(_));
            match self.taken.iter().position(done).and_then(|at| self.taken.remove(at)) {
                Some(Request::Done(done)) => self.books.finish(done)?,
                _ => self.inbox.take(&mut self.taken, Duration::from_secs(60)),
            }
        }
        Ok(())
    }

    fn submit_and_wait(&mut self, command: Command, until: Span, ticket: Ticket, reply: Reply) {
        let registered = matches!(command, Command::Register(_));
        let key = match &command {
            Command::Register(registration) => Some(registration.key),
            Command::Activate(owner) => Some(owner.key),
            Command::Leave(_)
            | Command::Renew(..)
            | Command::End(..)
            | Command::Appoint(..)
            | Command::Revoke(_) => None,
        };
        let answer = self.books.execute(command);
        let waits = match &answer {
            Ok(Ok(Standing { claim, place: Some(_), .. })) => Some(claim.id),
            Ok(Err(Refusal::StillWaiting { claim, .. })) => Some(*claim),
            _ => None,
        };
        // A claimant that hung up while its request was in line is not there.
        let (Some(claim), Some(key), false) = (waits, key, reply.is_closed()) else {
            self.answers.push((reply, answer));
            return;
        };
        let owner = Owner { claim, key };
        self.books.attend(claim);
        if let Some(before) = self.waits.insert(Wait { ticket, owner, reply, registered, until }) {
            let answer = self.standing(&before);
            self.answers.push((before.reply, Ok(answer)));
        }
    }

    fn leave(&mut self, owner: Owner) {
        // Nobody waits for this answer. On a full disk it is not written down, and still so.
        let _ = self.books.execute(Command::Leave(owner));
    }

    fn end_waits(&mut self, reading: Reading) {
        while let Some(wait) = self.waits.next_over(reading.boot) {
            self.leave(wait.owner);
            let answer = self.standing(&wait);
            self.answers.push((wait.reply, Ok(answer)));
        }
    }

    /// Makes it all durable; then, and only then, everybody is told.
    fn commit(&mut self) -> Result<(), Fatal> {
        let batch = self.books.commit()?;
        let ended: Vec<ClaimId> = batch.events.iter().filter_map(ends_a_wait).collect();
        let kept = !batch.events.is_empty();
        if let Some(took) = batch.sync_took {
            self.commits.synced(took);
        }
        if kept {
            self.syncs = batch.sync_took.is_some();
            self.recent.push(batch);
            self.position.send_replace(self.recent.next());
        }
        let others = self.answers.len();
        for claim in ended {
            if let Some(wait) = self.waits.remove(claim) {
                let answer = self.standing(&wait);
                self.answers.push((wait.reply, Ok(answer)));
            }
        }
        // Whoever was given its turn is told before the one who gave it up: others wait for it.
        self.answers.rotate_left(others);
        if kept {
            self.commits.kept(self.answers.len());
        }
        for (reply, answer) in self.answers.drain(..) {
            // Whoever hung up finds out by asking again.
            let _ = reply.send(answer);
        }
        for look in self.looks.drain(..) {
            look(&self.books, &self.recent, &self.commits);
        }
        Ok(())
    }

    /// What a waiter is told when its wait is over, one way or the other.
    fn standing(&self, wait: &Wait) -> Answer {
        let claim = wait.owner.claim;
        let Some(standing) = self.books.state().standing(claim, self.books.now()) else {
            return Err(Refusal::Unknown { claim });
        };
        match (&standing.claim.phase, &standing.place) {
            (claims::Phase::Ended(_), _) => {
                Err(Refusal::Over { claim, status: standing.claim.status() })
            }
            (_, Some(place)) if !wait.registered => Err(Refusal::StillWaiting {
                claim,
                position: place.position,
                holders: place.holders.clone(),
            }),
            _ => Ok(standing),
        }
    }
}

pub(super) fn ends_a_wait(event: &Event) -> Option<ClaimId> {
    match event {
        Event::Activated { claim, .. } | Event::Ended { claim, .. } => Some(*claim),
        Event::Registered { .. }
        | Event::Seen { .. }
        | Event::Called { .. }
        | Event::CalledOff { .. }
        | Event::PassedOver { .. }
        | Event::Renewed { .. }
        | Event::Appointed { .. }
        | Event::Forgotten { .. }
        | Event::Resumed
        | Event::EpochBegan { .. } => None,
    }
}
