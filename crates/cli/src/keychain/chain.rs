//! The claims of the program: what it asks for, and what becomes of that.

use std::collections::HashMap;
use std::time::Duration;

use claims::{ClaimId, Fence, Ttl};
use tenure::Key;
use tenure::driver::{Driver, End, Errand, Loss, Miss, Problem, Told};
use tenure::keychain::{Cause, Event, Json, Listed, Request, Terms, Until};
use tokio::sync::mpsc;

use super::input::Line;
use super::outbox::Outbox;

/// How many claims one keychain holds.
const CLAIMS_MAX: usize = 100_000;

/// How many refreshes of one claim may be under way.
const REFRESHES_MAX: usize = 64;

/// The claims of one program.
pub(crate) struct Chain {
    /// None once all is let go.
    driver: Option<Driver>,
    news: mpsc::UnboundedSender<(u64, Told)>,
    pub(crate) outbox: Outbox,
    claims: HashMap<u64, Link>,
    names: HashMap<String, u64>,
    last: u64,
}

/// What to do after a line.
pub(crate) enum Next {
    GoOn,
    Shutdown,
}

/// One claim.
struct Link {
    name: String,
    errand: Errand,
    key: Key,
    resources: Vec<String>,
    releasing: bool,
    /// Refreshes that the driver was asked for.
    asked: Vec<Json>,
    /// Those that the next renewal answers.
    answering: Vec<Json>,
}

impl Chain {
    pub(crate) fn new(
        driver: Driver,
        news: mpsc::UnboundedSender<(u64, Told)>,
        outbox: Outbox,
    ) -> Self {
        let (claims, names) = (HashMap::new(), HashMap::new());
        Self { driver: Some(driver), news, outbox, claims, names, last: 0 }
    }

    /// Gives all claims back, or up at once if the program cannot want them any more. The driver is
    /// to be closed; what becomes of the claims is still heard.
    pub(crate) fn let_go(&mut self, abort: bool) -> Option<Driver> {
        let driver = self.driver.take()?;
        if abort {
            driver.abort_all();
        }
        for link in self.claims.values_mut().filter(|_| !abort) {
            link.releasing = true;
            link.errand.release();
        }
        Some(driver)
    }

    /// Follows one line.
    pub(crate) fn obey(&mut self, line: Line) -> Next {
        let Line { number, request } = line;
        let done = match request {
            Ok(Request::Shutdown) => return Next::Shutdown,
            Ok(request) => self.follow(request),
            Err(problem) => Err(problem),
        };
        if let Err(problem) = done {
            self.outbox.reply(Event::Error { line: number, problem });
        }
        Next::GoOn
    }

    fn follow(&mut self, request: Request) -> Result<(), String> {
        match request {
            Request::Claim(terms) => self.claim(terms)?,
            Request::Release { claim } => {
                let (_, link) = self.link(&claim)?;
                link.releasing = true;
                link.errand.release();
            }
            Request::Refresh { claim, ttl, id } => {
                let ttl = ttl.map(Ttl::from_secs_f64).transpose().map_err(|no| no.to_string())?;
                let (_, link) = self.link(&claim)?;
                if link.asked.len() + link.answering.len() >= REFRESHES_MAX {
                    return Err(format!("{REFRESHES_MAX} refreshes of {claim:?} are under way"));
                }
                link.asked.push(id);
                link.errand.refresh(ttl);
            }
            Request::Validate { claim, id } => {
                let (number, link) = self.link(&claim)?;
                let event = link.valid(id);
                self.outbox.reply_about(number, event);
            }
            Request::List { id } => {
                let mut claims: Vec<Listed> = self.claims.values().map(Link::listed).collect();
                claims.sort_by(|a, b| a.claim.cmp(&b.claim));
                self.outbox.reply(Event::List { claims, id });
            }
            Request::Ping { id } => self.outbox.reply(Event::Pong { id }),
            Request::Shutdown => {}
        }
        Ok(())
    }

    fn claim(&mut self, terms: Terms) -> Result<(), String> {
        let name = terms.claim.clone();
        if self.names.contains_key(&name) {
            return Err(format!("there is a claim named {name:?} already: take another name"));
        }
        if self.claims.len() >= CLAIMS_MAX {
            return Err(format!("a keychain holds {CLAIMS_MAX} claims: start another one"));
        }
        let wish = match terms.wish() {
            Ok(wish) => wish,
            Err(problem) => {
                let (cause, position) = (Cause::Refused, None);
                self.outbox.reply(Event::Failed { claim: name, cause, problem, position });
                return Ok(());
            }
        };
        self.last += 1;
        let (number, news) = (self.last, self.news.clone());
        let key = wish.key.clone();
        let resources = wish.resources.as_slice().iter().map(|name| name.as_str().to_owned());
        let resources = resources.collect();
        let driver = self.driver.as_ref().ok_or("the keychain is ending")?;
        let errand = driver.pursue(wish, move |told| {
            let _ = news.send((number, told.clone()));
        });
        self.names.insert(name.clone(), number);
        let (asked, answering) = (Vec::new(), Vec::new());
        let link = Link { name, errand, key, resources, releasing: false, asked, answering };
        self.claims.insert(number, link);
        Ok(())
    }

    fn link(&mut self, name: &str) -> Result<(u64, &mut Link), String> {
        let number = self.names.get(name).copied();
        let link = number.and_then(|number| Some((number, self.claims.get_mut(&number)?)));
        link.ok_or_else(|| {
            format!("there is no claim named {name:?}: it has ended, or never began")
        })
    }

    /// Tells the program what became of a claim.
    pub(crate) fn hear(&mut self, number: u64, told: &Told) {
        let Some(link) = self.claims.get_mut(&number) else { return };
        let claim = link.name.clone();
        match told {
            Told::Waiting { position } => {
                let (position, key) = (*position, link.key.reveal().to_owned());
                self.outbox.news(number, Event::Waiting { claim, position, key });
            }
            Told::Acquired { .. } => self.outbox.news(number, link.granted()),
            Told::Refreshing => link.answering.append(&mut link.asked),
            Told::Renewed => {
                let until = link.until();
                self.renewal(number, |id| Event::Renewed { claim: claim.clone(), until, id });
            }
            Told::Unknown { problem } => {
                let (until, problem) = (link.until(), problem.to_string());
                self.renewal(number, |id| {
                    let (claim, problem) = (claim.clone(), problem.clone());
                    Event::Unknown { claim, until, problem, id }
                });
            }
            Told::Lost(loss) => {
                let (cause, problem) = (lost(loss), loss.to_string());
                self.end(number, Event::Lost { claim, cause, problem });
            }
            // Whoever released it waits for that.
            Told::Missed(Miss::GivenUp) if link.releasing => {}
            Told::Missed(miss) => {
                let (cause, problem) = missed(miss);
                let position = if let Miss::Busy { position } = miss { *position } else { None };
                self.end(number, Event::Failed { claim, cause, problem, position });
            }
            Told::Ended(end) => self.end(number, ended(claim, end)),
        }
    }

    /// A renewal is confirmed or not: the answer to whoever asked for it, or news.
    fn renewal(&mut self, number: u64, event: impl Fn(Json) -> Event) {
        let Some(link) = self.claims.get_mut(&number) else { return };
        if link.answering.is_empty() {
            self.outbox.news(number, event(Json::default()));
        }
        for id in link.answering.drain(..) {
            self.outbox.reply_about(number, event(id));
        }
    }

    fn end(&mut self, number: u64, event: Event) {
        if let Some(link) = self.claims.remove(&number) {
            self.names.remove(&link.name);
        }
        self.outbox.reply_about(number, event);
    }
}

impl Link {
    fn until(&self) -> Until {
        let deadline = self.errand.deadline().unwrap_or(Duration::ZERO);
        let valid_for = self.errand.valid_for().as_secs_f64();
        Until { deadline: deadline.as_secs_f64(), valid_for }
    }

    fn fence(&self) -> Option<u64> {
        self.errand.fence().map(|Fence(fence)| fence)
    }

    fn number(&self) -> Option<u64> {
        self.errand.claim().map(|ClaimId(number)| number)
    }

    fn granted(&self) -> Event {
        Event::Granted {
            claim: self.name.clone(),
            number: self.number().unwrap_or(0),
            fence: self.fence(),
            until: self.until(),
            key: self.key.reveal().to_owned(),
        }
    }

    fn valid(&self, id: Json) -> Event {
        let held = self.errand.lease();
        Event::Valid {
            claim: self.name.clone(),
            held: held.is_some(),
            confirmed: held.is_some_and(|held| held.confirmed),
            until: self.until(),
            fence: self.fence(),
            id,
        }
    }

    fn listed(&self) -> Listed {
        Listed {
            claim: self.name.clone(),
            resources: self.resources.clone(),
            held: self.errand.lease().is_some(),
            releasing: self.releasing,
            until: self.until(),
            fence: self.fence(),
            number: self.number(),
        }
    }
}

fn lost(loss: &Loss) -> Cause {
    match loss {
        Loss::Expired => Cause::Expired,
        Loss::Revoked => Cause::Revoked,
        Loss::Unconfirmed(_) => Cause::Unconfirmed,
        Loss::GivenUp => Cause::Aborted,
        Loss::Unknown(_) | Loss::Forked | _ => Cause::Unknown,
    }
}

fn missed(miss: &Miss) -> (Cause, String) {
    let (cause, words) = match miss {
        Miss::Busy { .. } => (Cause::Busy, "somebody else holds it".to_owned()),
        Miss::TimedOut { problem: None } => (Cause::Timeout, "it was not free in time".to_owned()),
        Miss::TimedOut { problem: Some(problem) } => (Cause::Unavailable, problem.to_string()),
        Miss::Refused(problem) => (Cause::Refused, problem.to_string()),
        Miss::NeverSure => {
            (Cause::TtlTooShort, "its ttl is over before an answer comes: give a longer one".into())
        }
        Miss::GivenUp | _ => (Cause::Aborted, "the keychain was stopped".to_owned()),
    };
    (cause, words)
}

fn ended(claim: String, end: &End) -> Event {
    let words = |problem: &Option<Problem>| {
        problem.as_ref().map_or_else(|| "no answer came".to_owned(), Problem::to_string)
    };
    match end {
        End::Confirmed | End::Never => {
            Event::Released { claim, confirmed: true, problem: String::new() }
        }
        End::Refused(problem) => {
            Event::Lost { claim, cause: Cause::Unknown, problem: problem.to_string() }
        }
        End::Unknown(problem) => {
            Event::Released { claim, confirmed: false, problem: words(problem) }
        }
        _ => Event::Released { claim, confirmed: false, problem: words(&None) },
    }
}
