//! One batch: from what was asked to what may be answered.

use claims::{ClaimId, Command, Event, Owner, Span, Timestamp};
use registry::embedded::Batch;

use super::waits::Wait;
use super::{Next, Process, Server, Slot};
use crate::invariants::{Checks, Occasion, Violation};
use crate::message::{Answer, Ask, ClientId, Request, RequestId, Says};
use crate::story::{Brief, Note, Story};

impl Server {
    /// Works on everything that was asked.
    pub(crate) fn work(
        &mut self,
        now: Timestamp,
        checks: &mut Checks,
        story: &mut Story,
    ) -> Result<Next, Violation> {
        let reading = self.reading(now);
        let Some(process) = self.process.as_mut().filter(|process| process.can_work()) else {
            return Ok(Next::Nothing);
        };
        let mut occasion = Occasion {
            since: process.settled_until,
            may_be_stuck: !matches!(process.chore, Slot::Empty),
            open: process.waits.claims().collect(),
            ..Occasion::default()
        };
        process.ledger.tick(reading);
        checks.ticked(reading.boot);
        process.execute_queue(now, &mut occasion, checks);
        process.close_waits(now, &mut occasion);
        let due = process.ledger.state().next_due();
        if due.is_some_and(|due| due <= process.ledger.now()) {
            process.ledger.sweep();
        }
        let due = process.ledger.state().next_due();
        if due.is_none_or(|due| due > process.ledger.now()) {
            process.settled_until = process.ledger.now();
        }

        self.disk.begin_commit();
        let committed = process.ledger.commit();
        let took = self.disk.take_latency();
        match committed {
            Ok(batch) => {
                self.disk.end_commit();
                tell(batch, took, now, story);
                checks.committed(batch, &occasion, &self.disk)?;
                let settled = settled_claims(batch);
                process.resolve_waits(&settled);
            }
            Err(fatal) => return Ok(Next::Stopped(fatal.doing)),
        }
        checks.compare(process.ledger.state())?;
        process.busy = true;
        Ok(Next::Durable(took))
    }
}

impl Process {
    /// The writer is one thread. It waits for a commit, and for a segment that a command needs.
    fn can_work(&self) -> bool {
        let waits_for_chore = !self.queue.is_empty() && self.ledger.waits_for_chore();
        !self.busy && !waits_for_chore
    }

    fn execute_queue(&mut self, now: Timestamp, occasion: &mut Occasion, checks: &mut Checks) {
        let mut taken = 0;
        while taken < self.queue.len()
            && !self.ledger.wants_commit()
            && !self.ledger.waits_for_chore()
        {
            let request = self.queue[taken].clone();
            taken += 1;
            self.execute(request, now, occasion, checks);
        }
        self.queue.drain(..taken);
    }

    fn execute(
        &mut self,
        request: Request,
        now: Timestamp,
        occasion: &mut Occasion,
        checks: &mut Checks,
    ) {
        let Request { id, client, ask } = request;
        let wait = ask.wait();
        let (command, key) = match &ask {
            Ask::Register(wish, _) => {
                let registration = wish.registration.clone();
                occasion.wishes.push((registration.key, wish.number));
                let key = registration.key;
                (Command::Register(registration), Some(key))
            }
            Ask::Activate(owner, _) => (Command::Activate(*owner), Some(owner.key)),
            Ask::Renew(owner, ttl) => (Command::Renew(*owner, *ttl), None),
            Ask::End(owner, farewell) => {
                occasion.farewells.push((owner.claim, (*farewell).into()));
                checks.asked_to_end(owner.claim);
                (Command::End(*owner, *farewell), None)
            }
            Ask::Appoint(owner, keeper) => (Command::Appoint(*owner, *keeper), None),
            Ask::Revoke(claim) => {
                occasion.farewells.push((*claim, claims::Ending::Revoked));
                checks.asked_to_end(*claim);
                (Command::Revoke(*claim), None)
            }
        };
        let says = match self.ledger.execute(command) {
            Ok(Ok(standing)) => Says::of(&standing),
            Ok(Err(refusal)) => Says::refused(&refusal),
            Err(_) => Says::NotNow,
        };
        match (says, key, wait) {
            (Says::Waiting(claim), Some(key), Some(wait)) => {
                occasion.asked.push(claim);
                self.ledger.attend(claim);
                let before = self.waits.open(Wait {
                    request: id,
                    client,
                    owner: Owner { claim, key },
                    until: now + wait,
                });
                if let Some(before) = before {
                    self.answer_wait(before);
                }
            }
            (Says::Waiting(claim) | Says::Active(claim, _), Some(_), _) => {
                occasion.asked.push(claim);
                self.answer(client, id, says);
            }
            _ => self.answer(client, id, says),
        }
    }

    /// Waits that nobody listens to any more, and waits that lasted long enough.
    fn close_waits(&mut self, now: Timestamp, occasion: &mut Occasion) {
        for request in std::mem::take(&mut self.closed) {
            if let Some(wait) = self.waits.close(request) {
                self.leave(wait, occasion);
            }
        }
        for wait in self.waits.close_overdue(now) {
            self.leave(wait, occasion);
            self.answer_wait(wait);
        }
    }

    fn leave(&mut self, wait: Wait, occasion: &mut Occasion) {
        occasion.left.push(wait.owner.claim);
        // Nobody waits for this answer.
        let _ = self.ledger.execute(Command::Leave(wait.owner));
    }

    /// Whoever waited for one of these claims can be told.
    fn resolve_waits(&mut self, settled: &[ClaimId]) {
        for &claim in settled {
            if let Some(wait) = self.waits.resolve(claim) {
                self.answer_wait(wait);
            }
        }
    }

    fn answer_wait(&mut self, wait: Wait) {
        let standing = self.ledger.state().standing(wait.owner.claim, self.ledger.now());
        let says = standing.map_or(Says::Over, |standing| Says::of(&standing));
        self.answer(wait.client, wait.request, says);
    }

    fn answer(&mut self, client: ClientId, request: RequestId, says: Says) {
        self.answers.push((client, Answer { request, says }));
    }
}

/// Claims whose wait is over with this batch.
fn settled_claims(batch: &Batch) -> Vec<ClaimId> {
    let settles = |event: &&Event| matches!(event, Event::Activated { .. } | Event::Ended { .. });
    let events = batch.events.iter().filter(settles);
    events.filter_map(Event::claim).collect()
}

fn tell(batch: &Batch, took: Span, now: Timestamp, story: &mut Story) {
    if batch.events.is_empty() {
        return;
    }
    let committed = Note::Committed {
        at: batch.stamp.at,
        position: batch.position,
        events: batch.events.len(),
        took,
    };
    story.tell(now, committed);
    for event in &batch.events {
        story.tell(now, Note::Happened(Brief::from(event)));
    }
}
