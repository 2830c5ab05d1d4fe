//! A worker that speaks HTTP v1 itself, and asks again under the same key when no answer came. What
//! the answer says is left of the lease counts from before the question: whichever request began
//! it, it does not end sooner.

use std::time::{Duration, Instant};

use torture::history::{Acquired, Nanos, Seen, Told, What};

use super::{Held, Shift, Wish};
use crate::clock::{SECOND, now};
use crate::line::{Answer, Line, number};

/// What a lease is shortened by, so that clocks may differ.
const MARGIN: f64 = 0.05;

/// How long the server may keep a request of somebody who waits.
const WAIT: u64 = 1;

/// A server that is well answers sooner.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// What a line of the log begins with that says what must not be.
pub(crate) const FOUND: &str = "FOUND:";

pub(super) struct Hands {
    pub(super) shift: Shift,
    pub(super) line: Line,
}

/// A claim, and until when it is ours.
struct Lease {
    held: Held,
    path: String,
    deadline: Nanos,
}

pub(super) fn work(shift: Shift, server: &str) -> anyhow::Result<()> {
    let mut hands = Hands { shift, line: Line::to(server, PATIENCE + Duration::from_secs(WAIT)) };
    while !hands.shift.is_over() {
        let wish = hands.shift.wish();
        if let Some(mut lease) = hands.acquire(&wish) {
            hands.hold(&wish, &mut lease);
            hands.release(&wish, &lease);
        }
        hands.shift.pause(20);
    }
    Ok(())
}

impl Hands {
    fn acquire(&mut self, wish: &Wish) -> Option<Lease> {
        let begin = now();
        self.shift.write_acquire(wish, begin, None, Acquired::Unknown);
        let mut place = Place { path: None, placed: None, unheard: false };
        let (outcome, lease) = self.queue(wish, &mut place);
        self.shift.write_acquire(wish, begin, place.placed, outcome);
        lease
    }

    /// Registers, waits for its turn, and gives up when it takes too long.
    fn queue(&mut self, wish: &Wish, place: &mut Place) -> (Acquired, Option<Lease>) {
        let body = self.registration(wish);
        let started = Instant::now();
        loop {
            let (is_late, asked) = (started.elapsed() > wish.patience, now());
            let answer = match &place.path {
                None if is_late => return (Acquired::Unknown, None),
                None => self.register(&body, place),
                Some(path) if is_late => {
                    let gone = self.line.ask("PATCH", path, r#"{"status":"withdrawn"}"#);
                    let withdrawn = gone.is_some_and(|answer| answer.status == 204);
                    let outcome = if withdrawn { Acquired::Refused } else { Acquired::Unknown };
                    return (outcome, None);
                }
                Some(path) => {
                    let wait = format!("{path}?wait={WAIT}");
                    self.line.ask("PATCH", &wait, r#"{"status":"active"}"#)
                }
            };
            let Some(answer) = answer else {
                place.unheard = true;
                self.shift.pause(100);
                continue;
            };
            match answer.status {
                200 | 201 => {
                    self.was_asked(place, &answer, asked);
                    return granted(place, &answer, asked);
                }
                202 | 409 => {
                    place.learn(&answer);
                    // At times it is not there for a moment, as clients that poll are not.
                    if self.shift.dice.bool() {
                        self.shift.pause(300);
                    }
                }
                507 if place.path.is_none() && !place.unheard => return (Acquired::Refused, None),
                // The claim is over: it was passed over for too long, or began and ended unheard.
                400 | 404 | 410 => return (Acquired::Unknown, None),
                _ => {
                    // A store that is not available may have done it all the same.
                    place.unheard = true;
                    self.shift.pause(100);
                }
            }
        }
    }

    /// Whoever becomes a holder does so in answer to its own question: so its lease is as long as
    /// when it asked. Not if an answer was lost: that one may have been the grant.
    fn was_asked(&self, place: &Place, answer: &Answer, asked: Nanos) {
        let (Some(left), false) = (answer.body["ttl"].as_f64(), place.unheard) else { return };
        let (ttl, since) = (self.shift.ttl.as_secs_f64(), (now() - asked) as f64 / SECOND as f64);
        if left < ttl * (1.0 - MARGIN) - since {
            let claim = place.path.as_ref().and_then(|path| number(path)).unwrap_or_default();
            eprintln!(
                "{FOUND} claim {claim} became a holder behind its back: {left} s are left of \
                 {ttl} s, {since} s after it asked"
            );
        }
    }

    fn hold(&mut self, wish: &Wish, lease: &mut Lease) {
        let (begin, started) = (now(), Instant::now());
        loop {
            let asked = now();
            if asked >= lease.deadline {
                return;
            }
            self.shift.write_belief(wish, lease.held, begin, asked);
            self.shift.touch(wish, lease.held.fence);
            if started.elapsed() > wish.hold {
                return;
            }
            let is_time = lease.deadline < deadline(asked, self.shift.ttl.as_secs_f64() * 0.6);
            if is_time && !self.renew(wish, lease) {
                return;
            }
            if self.shift.dice.u32(0..40) == 0 {
                self.look(wish, lease);
            }
            self.shift.pause(15);
        }
    }

    /// False if it is lost. Without an answer the old deadline counts.
    fn renew(&mut self, wish: &Wish, lease: &mut Lease) -> bool {
        let (begin, claim) = (now(), lease.held.claim);
        self.shift.write_renew(wish, begin, claim, Told::Unknown);
        let body = format!(r#"{{"ttl":{}}}"#, self.shift.ttl.as_secs_f64());
        let outcome = told(self.line.ask("PATCH", &lease.path, &body), 200);
        if outcome == Told::Done {
            lease.deadline = deadline(begin, self.shift.ttl.as_secs_f64());
        }
        self.shift.write_renew(wish, begin, claim, outcome);
        outcome != Told::Refused
    }

    fn look(&mut self, wish: &Wish, lease: &Lease) {
        let (begin, claim) = (now(), lease.held.claim);
        if let Some(seen) = look(&mut self.line, claim) {
            self.shift.write(wish, begin, Some(now()), &What::Look { claim, seen });
        }
    }

    fn release(&mut self, wish: &Wish, lease: &Lease) {
        let (begin, claim) = (now(), lease.held.claim);
        self.shift.write_release(wish, begin, claim, Told::Unknown);
        let mut outcome = Told::Unknown;
        for _ in 0..3 {
            outcome = told(self.line.ask("PATCH", &lease.path, r#"{"status":"released"}"#), 204);
            if outcome != Told::Unknown {
                break;
            }
        }
        self.shift.write_release(wish, begin, claim, outcome);
    }
}

/// Where a wish stands.
pub(super) struct Place {
    /// The address of the claim, once it is known.
    path: Option<String>,
    /// Since when it knows that it stands in line.
    placed: Option<Nanos>,
    /// Whether an answer was lost: nobody knows what it said.
    pub(super) unheard: bool,
}

impl Place {
    fn learn(&mut self, answer: &Answer) {
        self.placed = self.placed.or(Some(now()));
        if self.path.is_none() {
            self.path = Some(answer.location.clone());
        }
    }
}

fn granted(place: &Place, answer: &Answer, asked: Nanos) -> (Acquired, Option<Lease>) {
    let path = place.path.clone().unwrap_or_else(|| answer.location.clone());
    let told = number(&path).zip(answer.fence()).zip(answer.body["ttl"].as_f64());
    let Some(((claim, fence), left)) = told else { return (Acquired::Unknown, None) };
    let lease = Lease { held: Held { claim, fence }, path, deadline: deadline(asked, left) };
    (Acquired::Granted { claim, fence }, Some(lease))
}

/// When to stop believing, if so many seconds are left.
fn deadline(asked: Nanos, left: f64) -> Nanos {
    asked + (left.max(0.0) * (1.0 - MARGIN) * SECOND as f64) as u64
}

fn told(answer: Option<Answer>, done: u16) -> Told {
    match answer.map(|answer| answer.status) {
        Some(status) if status == done => Told::Done,
        Some(400..500) => Told::Refused,
        _ => Told::Unknown,
    }
}

/// The state of a claim; the outer none is that nobody answered.
pub(crate) fn look(line: &mut Line, claim: u64) -> Option<Option<Seen>> {
    let answer = line.ask("GET", &format!("/v1/claims/{claim}/"), "")?;
    match (answer.status, answer.body["status"].as_str()) {
        (404, _) => Some(None),
        (200, Some("waiting")) => Some(Some(Seen::Waiting)),
        (200, Some("active")) => Some(Some(Seen::Active)),
        (200, Some(_)) => Some(Some(Seen::Ended)),
        _ => None,
    }
}
