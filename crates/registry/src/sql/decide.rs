//! One decision: load, run the engine, write. Again if somebody else was faster.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use claims::engine::{Needs, execute_part, sweep_part};
use claims::{ClaimId, Command, Event, Name, Resources};
use update_if::{Backend, Dialect};

use super::Desk;
use super::keep::changes;
use super::load::{Loaded, Subject, Wanted};
use super::rows::draw;
use super::statement::{begin, commit};
use super::tell::called;
use super::trouble::Trouble;
use crate::store::Answer;

/// How many of those in line are loaded at first: one becomes a holder, and one is still in line.
const DEPTH: usize = 2;
/// How often a decision is tried without keeping others out, and for how long in all.
const HOPEFUL: u32 = 2;
const PATIENCE: Duration = Duration::from_secs(10);
/// How often more may have to be loaded: each time something was added by others meanwhile.
const LOADS_MAX: usize = 64;

/// What is to be decided.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// A command.
    Run(Command),
    /// Whatever is due around a claim.
    Settle(ClaimId),
}

/// What was decided, and is kept.
pub(super) struct Decided {
    /// The answer, if somebody asked.
    pub(super) answer: Option<Answer>,
    pub(super) events: Vec<Event>,
}

impl<DB: Backend> Desk<DB> {
    /// Decides. When this returns, what was decided is as durable as the database can make it.
    pub(super) async fn decide(&self, act: Act) -> Result<Decided, Trouble> {
        let _writer = self.writers.acquire().await;
        let _lane = match self.names(&act) {
            Some(resources) => Some(self.lanes[lane(&resources.as_slice()[0])].lock().await),
            None => None,
        };
        let began = Instant::now();
        let (mut attempt, mut lost) = (0, None);
        loop {
            match Box::pin(self.attempt(&act, attempt)).await {
                Ok(decided) => {
                    self.decided(&decided, began.elapsed());
                    return Ok(decided);
                }
                Err(Trouble::Restarted) => match self.resume().await {
                    Ok(()) | Err(Trouble::Again(_)) => {}
                    Err(trouble) => return Err(trouble),
                },
                Err(trouble) if trouble.may_pass() && began.elapsed() < PATIENCE => {
                    pause(attempt).await;
                    if let Trouble::Unknown(why) = trouble {
                        lost = Some(why);
                    }
                }
                // What was asked before may have happened: only an answer can say that it has not.
                Err(trouble) => return Err(lost.map_or(trouble, Trouble::Unknown)),
            }
            attempt += 1;
        }
    }

    /// One attempt. PostgreSQL needs no transaction around it unless others keep being faster: one
    /// statement reads, one writes, and the guards notice whatever happened in between.
    async fn attempt(&self, act: &Act, attempt: u32) -> Result<Decided, Trouble> {
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        if DB::DIALECT == Dialect::Postgres && attempt < HOPEFUL {
            return self.decide_on(&mut connection, act, false).await;
        }
        let mut transaction = begin::<DB>(&mut connection).await?;
        match self.decide_on(&mut transaction, act, true).await {
            Ok(decided) => commit(transaction).await.map(|()| decided),
            Err(trouble) => {
                // Without a commit there is nothing; what comes of the undoing does not matter.
                let _ = transaction.rollback().await;
                Err(trouble)
            }
        }
    }

    async fn decide_on(
        &self,
        on: &mut DB::Connection,
        act: &Act,
        locked: bool,
    ) -> Result<Decided, Trouble> {
        let mut wanted = self.wanted(act);
        let mut drawn = None;
        for _ in 0..LOADS_MAX {
            if locked {
                self.lock(on, &wanted.names).await?;
            }
            let mut loaded = self.load(on, &wanted).await?;
            if loaded.reading.is_of_another_start() {
                return Err(Trouble::Restarted);
            }
            if let (Subject::Key(_), Some(known)) = (wanted.subject, loaded.subject) {
                // Its place among the others is asked for by its number.
                wanted.subject = Subject::Id(known);
                continue;
            }
            let missing = |name: &&Name| !loaded.resources.contains_key(*name);
            let missing: Vec<&Name> = wanted.names.iter().filter(missing).collect();
            if !missing.is_empty() {
                self.make(on, &missing).await?;
                continue;
            }
            if DB::DIALECT == Dialect::Mysql && wanted.number && loaded.subject.is_none() {
                // Only now that nobody else can register here: numbers are places in the queue.
                drawn = Some(match drawn {
                    Some(drawn) => drawn,
                    None => draw::<DB>(on).await?,
                });
            }
            loaded.next_id = drawn.unwrap_or(loaded.next_id);
            match self.run(act, &loaded, wanted.depth) {
                Ok(done) => return self.keep(on, &loaded, done, locked).await,
                Err(Needs::Resources(more)) => wanted.names.extend(more),
                Err(Needs::MoreInLine) => wanted.depth *= 8,
            }
        }
        Err(Trouble::Again("the queues around it change all the time".to_owned()))
    }

    fn wanted(&self, act: &Act) -> Wanted {
        let subject = match act {
            Act::Settle(claim) | Act::Run(Command::Revoke(claim)) => Subject::Id(*claim),
            Act::Run(Command::Register(registration)) => Subject::Key(registration.key),
            Act::Run(
                Command::Activate(owner)
                | Command::Leave(owner)
                | Command::Renew(owner, _)
                | Command::End(owner, _)
                | Command::Appoint(owner, _),
            ) => Subject::Id(owner.claim),
        };
        let names = self.names(act).map(|names| names.as_slice().iter().cloned().collect());
        let registers = matches!(act, Act::Run(Command::Register(_)));
        let asks = matches!(act, Act::Run(Command::Activate(_) | Command::Leave(_)));
        Wanted {
            subject,
            names: names.unwrap_or_default(),
            depth: DEPTH,
            place: registers || asks,
            number: registers,
        }
    }

    /// What it is about, if that is known without asking.
    fn names(&self, act: &Act) -> Option<Resources> {
        let claim = match act {
            Act::Run(Command::Register(registration)) => {
                return Some(registration.resources.clone());
            }
            Act::Settle(claim) | Act::Run(Command::Revoke(claim)) => claim,
            Act::Run(
                Command::Activate(owner)
                | Command::Leave(owner)
                | Command::Renew(owner, _)
                | Command::End(owner, _)
                | Command::Appoint(owner, _),
            ) => &owner.claim,
        };
        self.known.lock().expect("a lookup does not panic").get(claim).cloned()
    }

    fn run(&self, act: &Act, loaded: &Loaded, depth: usize) -> Result<Ran, Needs> {
        let stamp = loaded.stamp(DB::DIALECT);
        let part = loaded.part(depth);
        let ran = match act {
            Act::Run(command) => {
                let done = execute_part(&self.rules, part, command.clone(), stamp)?;
                Ran { answer: Some(done.answer), events: done.events, state: done.state, stamp }
            }
            Act::Settle(_) => {
                let done = sweep_part(&self.rules, part, stamp)?;
                Ran { answer: None, events: done.events, state: done.state, stamp }
            }
        };
        Ok(ran)
    }

    async fn keep(
        &self,
        on: &mut DB::Connection,
        loaded: &Loaded,
        ran: Ran,
        locked: bool,
    ) -> Result<Decided, Trouble> {
        let Ran { answer, events, state, stamp } = ran;
        if !events.is_empty() {
            let changes = changes(loaded, &state, &events, stamp, &self.rules, DB::DIALECT)?;
            match DB::DIALECT {
                Dialect::Postgres => {
                    let at_once = self.write_at_once(on, changes, called(&events, loaded)).await;
                    at_once.map_err(
                        |trouble| if locked { trouble.before_commit() } else { trouble },
                    )?;
                }
                Dialect::Sqlite | Dialect::Mysql => self.write(on, changes).await?,
            }
        }
        Ok(Decided { answer, events })
    }
}

/// What came of a run, before it is kept.
struct Ran {
    answer: Option<Answer>,
    events: Vec<Event>,
    state: claims::State,
    stamp: claims::Stamp,
}

fn lane(name: &Name) -> usize {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish() as usize % super::LANES
}

/// The longer it goes on, the longer the others are left alone. Who waits how long is chance: two that
/// got into each other's way should not do so again.
async fn pause(attempt: u32) {
    let mut hasher = DefaultHasher::new();
    (Instant::now(), std::process::id()).hash(&mut hasher);
    let most = 500 << attempt.min(9);
    tokio::time::sleep(Duration::from_micros(hasher.finish() % most)).await;
}
