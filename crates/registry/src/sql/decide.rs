//! One decision: load, run the engine, write. Again if somebody else was faster.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use claims::engine::{Needs, execute_part, sweep_part};
use claims::{ClaimId, Command, Event, Name, Resources};
use update_if::{Backend, Dialect, Value};

use super::Desk;
use super::keep::changes;
use super::load::{Loaded, Subject, Wanted};
use super::statement::{Statement, begin, commit};
use super::trouble::Trouble;
use crate::store::Answer;

/// How many of those in line are loaded at first: one becomes a holder, and one is still in line.
const DEPTH: usize = 2;
/// How often a decision is tried without keeping others out, and for how long in all.
const HOPEFUL: u32 = 2;
const PATIENCE: Duration = Duration::from_secs(10);
/// How often more may have to be loaded: each time something was added by others meanwhile.
const LOADS_MAX: usize = 64;
/// How many claims' resources are remembered.
const KNOWN_MAX: usize = 100_000;

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
        let drawn = match (act, DB::DIALECT) {
            (Act::Run(Command::Register(_)), Dialect::Mysql) => Some(draw::<DB>(on).await?),
            _ => None,
        };
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
                    let at_once = self.write_at_once(on, changes, called(&events)).await;
                    at_once.map_err(
                        |trouble| if locked { trouble.before_commit() } else { trouble },
                    )?;
                }
                Dialect::Sqlite | Dialect::Mysql => self.write(on, changes).await?,
            }
        }
        Ok(Decided { answer, events })
    }

    /// Keeps others away from these resources until the transaction ends.
    async fn lock(&self, on: &mut DB::Connection, names: &BTreeSet<Name>) -> Result<(), Trouble> {
        if DB::DIALECT == Dialect::Sqlite || names.is_empty() {
            return Ok(());
        }
        let name = |name: &Name| Value::Bytes(name.as_str().as_bytes().to_vec());
        let lock =
            Statement::of(DB::DIALECT, "SELECT revision FROM tenure_resources WHERE name IN (")
                .values(names.iter().map(name))
                .text(") ORDER BY name FOR UPDATE");
        lock.rows::<DB>(on, 1).await.map(drop)
    }

    /// Makes the rows of resources that nobody has used before.
    async fn make(&self, on: &mut DB::Connection, names: &[&Name]) -> Result<(), Trouble> {
        for name in names {
            let (insert, or_not) = match DB::DIALECT {
                Dialect::Sqlite | Dialect::Postgres => ("INSERT", " ON CONFLICT DO NOTHING"),
                Dialect::Mysql => ("INSERT IGNORE", ""),
            };
            let make = Statement::of(DB::DIALECT, insert)
                .text(
                    " INTO tenure_resources (name, revision, fence, waiting, touched_at) VALUES (",
                )
                .bytes(name.as_str().as_bytes())
                .text(", 0, 0, 0, 0)")
                .text(or_not);
            make.run::<DB>(on).await?;
        }
        Ok(())
    }

    /// It is kept: whoever waits for it is told.
    fn decided(&self, decided: &Decided, took: Duration) {
        if let Some(Ok(standing)) = &decided.answer {
            let mut known = self.known.lock().expect("a lookup does not panic");
            if known.len() >= KNOWN_MAX {
                known.clear();
            }
            match &standing.claim.phase {
                claims::Phase::Ended(_) => drop(known.remove(&standing.claim.id)),
                claims::Phase::Waiting(_) | claims::Phase::Active(_) => {
                    known.insert(standing.claim.id, standing.claim.resources.clone());
                }
            }
        }
        if decided.events.is_empty() {
            return;
        }
        let mut commits = self.commits.lock().expect("counting does not panic");
        commits.kept(usize::from(decided.answer.is_some()));
        commits.synced(claims::Span::from_micros(took.as_micros() as u64));
        drop(commits);
        self.written.send_modify(|count| *count += 1);
        for claim in decided.events.iter().filter_map(concerns_a_waiter) {
            self.waits.wake(claim);
        }
    }
}

/// What came of a run, before it is kept.
struct Ran {
    answer: Option<Answer>,
    events: Vec<Event>,
    state: claims::State,
    stamp: claims::Stamp,
}

/// A number for a new claim, where the database gives it with a statement of its own.
async fn draw<DB: Backend>(on: &mut DB::Connection) -> Result<u64, Trouble> {
    Statement::of(DB::DIALECT, "INSERT INTO tenure_ids VALUES (NULL)").run::<DB>(on).await?;
    let ask = Statement::of(DB::DIALECT, "SELECT CAST(LAST_INSERT_ID() AS SIGNED)");
    let rows = ask.rows::<DB>(on, 1).await?;
    rows.first().map_or(Ok(0), |row| row.count(0))
}

/// A claim whose claimant may be waiting for this event.
fn concerns_a_waiter(event: &Event) -> Option<ClaimId> {
    match event {
        Event::Called { claim, .. }
        | Event::Ended { claim, .. }
        | Event::Activated { claim, .. } => Some(*claim),
        Event::Registered { .. }
        | Event::Seen { .. }
        | Event::CalledOff { .. }
        | Event::PassedOver { .. }
        | Event::Renewed { .. }
        | Event::Appointed { .. }
        | Event::Forgotten { .. }
        | Event::Resumed
        | Event::EpochBegan { .. } => None,
    }
}

/// What other processes are told: whose turn it is, and who may wait no longer.
fn called(events: &[Event]) -> Option<String> {
    let told = events.iter().filter(|event| !matches!(event, Event::Activated { .. }));
    let ids: Vec<String> =
        told.filter_map(concerns_a_waiter).map(|claim| claim.0.to_string()).collect();
    let text = ids.join(" ");
    // A notice has at most 8000 bytes; those who are left out look by themselves, a little later.
    (!text.is_empty()).then(|| text.chars().take(7_900).collect())
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
