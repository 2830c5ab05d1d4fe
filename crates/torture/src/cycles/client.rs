//! A client that knows what it was told, and asks again for what it was not.

use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;

use crate::line::{Answer, Line};
use crate::process::LONG;

const RELEASED: &str = r#"{"status":"released"}"#;

/// Longer than any run: nothing ends by itself.
const TTL: u32 = 86_400;

/// A claim that was acknowledged.
struct Known {
    path: String,
    fence: u64,
    released: bool,
}

/// A request whose answer never came.
enum Unanswered {
    /// A registration, with its body.
    Claim(String),
    /// The release of the last claim.
    Release,
}

pub(super) struct Client {
    nth: usize,
    line: Line,
    dice: Rng,
    known: Vec<Known>,
    /// How many of them were looked at before: they are looked at once more only if they are held.
    checked: usize,
    unanswered: Option<Unanswered>,
    /// What was wrong with an answer.
    wrong: Vec<String>,
}

impl Client {
    pub(super) fn new(nth: usize, address: &str, seed: u64) -> Self {
        let dice = Rng::with_seed(seed.wrapping_add(nth as u64));
        let (known, wrong) = (Vec::new(), Vec::new());
        let line = Line::to(address, LONG);
        Self { nth, line, dice, known, checked: 0, unanswered: None, wrong }
    }

    /// Claims and releases until the server is gone. Some claims stay held.
    pub(super) fn work(&mut self, heard: &AtomicU64) {
        while self.wrong.is_empty() {
            let done = match self.unanswered.take() {
                Some(Unanswered::Release) => self.release(),
                Some(Unanswered::Claim(body)) => self.claim(body),
                None => match self.known.last() {
                    Some(last) if !last.released && self.dice.u32(0..4) > 0 => self.release(),
                    _ => {
                        let body = self.registration();
                        self.claim(body)
                    }
                },
            };
            if !done {
                break;
            }
            heard.fetch_add(1, Ordering::SeqCst);
        }
        self.line.hang_up();
    }

    fn registration(&mut self) -> String {
        let key = tenure::Key::random();
        let resource = format!("{}-{}", self.nth, self.known.len());
        format!(r#"{{"resource":"{resource}","ttl":{TTL},"key":"{}"}}"#, key.reveal())
    }

    fn claim(&mut self, body: String) -> bool {
        let Some(answer) = answered(self.line.ask("POST", "/v1/claims/", &body)) else {
            self.unanswered = Some(Unanswered::Claim(body));
            return false;
        };
        match (answer.status, answer.fence()) {
            (201, Some(fence)) => {
                let highest = self.known.last().map_or(0, |known| known.fence);
                if fence <= highest {
                    self.wrong.push(format!("fence {fence} was given after {highest}"));
                }
                self.known.push(Known { path: answer.location, fence, released: false });
            }
            _ => self.wrong.push(format!("a claim of what is free: {answer:?}")),
        }
        true
    }

    fn release(&mut self) -> bool {
        let Some(last) = self.known.last_mut() else { return true };
        let Some(answer) = answered(self.line.ask("PATCH", &last.path, RELEASED)) else {
            self.unanswered = Some(Unanswered::Release);
            return false;
        };
        last.released = true;
        if answer.status != 204 {
            self.wrong.push(format!("a release of what is held: {answer:?}"));
        }
        true
    }

    pub(super) fn is_unsure(&self) -> bool {
        self.unanswered.is_some()
    }

    /// Looks at everything that was acknowledged since the last time, and at all that is held.
    pub(super) fn losses(&mut self) -> Vec<String> {
        let mut losses = std::mem::take(&mut self.wrong);
        let unsure = matches!(self.unanswered, Some(Unanswered::Release));
        let count = self.known.len();
        for (nth, known) in self.known.iter().enumerate() {
            if nth < self.checked && (known.released || nth % 16 != 0) {
                continue;
            }
            let answer = self.line.ask("GET", &known.path, "");
            let may_be_over = unsure && nth + 1 == count;
            losses.extend(answer.map_or_else(
                || Some("the server went away by itself".to_owned()),
                |answer| known.loss(&answer, may_be_over),
            ));
        }
        self.checked = count;
        losses
    }
}

/// A server whose disk is gone says so, which does not tell whether anything was done.
fn answered(answer: Option<Answer>) -> Option<Answer> {
    answer.filter(|answer| answer.status < 500)
}

impl Known {
    fn loss(&self, answer: &Answer, may_be_over: bool) -> Option<String> {
        let status = answer.body["status"].as_str().unwrap_or("unknown");
        let right = match (self.released, may_be_over) {
            (true, _) => status == "released",
            (false, true) => ["active", "released"].contains(&status),
            (false, false) => status == "active",
        };
        if right && answer.fence() == Some(self.fence) {
            return None;
        }
        let was = if self.released { "released" } else { "granted" };
        let Self { path, fence, .. } = self;
        Some(format!("{path} was {was} with fence {fence}, and is {status} ({})", answer.status))
    }
}
