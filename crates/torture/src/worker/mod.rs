//! A worker: claims, changes the protected thing, gives back, and writes down what it saw.
//!
//! It runs until its input ends, and says a word on its output for each grant.

mod by_hand;
mod library;
mod twice;
mod wish;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use fastrand::Rng;
use torture::history::{Acquired, Entry, Nanos, Told, What};

pub(crate) use self::by_hand::{FOUND, look};
pub(crate) use self::twice::MARK;
pub(crate) use self::wish::{Holds, Wish};
use crate::clock::now;
use crate::record::{self, Record};
use crate::witness::Hand;

/// How a worker holds its claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Manner {
    /// With the library, which renews on a thread of its own.
    Thread,
    /// With the library and a keychain: a process of its own.
    Keychain,
    /// With requests of its own, as a client of the original.
    ByHand,
}

/// What a worker is told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Worker {
    #[arg(long)]
    pub(crate) client: u32,
    #[arg(long)]
    pub(crate) manner: Manner,
    /// `host:port` of the server.
    #[arg(long)]
    pub(crate) server: String,
    #[arg(long)]
    pub(crate) witness: String,
    /// The directory for what was seen.
    #[arg(long)]
    pub(crate) history: PathBuf,
    #[arg(long)]
    pub(crate) seed: u64,
    #[arg(long)]
    pub(crate) resources: u32,
    #[arg(long)]
    pub(crate) ttl_ms: u64,
    #[arg(long)]
    pub(crate) holds: Holds,
    #[arg(long)]
    pub(crate) tenure: PathBuf,
}

impl Worker {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let record = Record::create(&self.history, &record::name(self.client))?;
        let shift = Shift {
            client: self.client,
            ttl: Duration::from_millis(self.ttl_ms),
            resources: self.resources,
            holds: self.holds,
            wishes: 0,
            record,
            hand: Hand::of(&self.witness),
            dice: Rng::with_seed(self.seed),
            over: until_input_ends(),
        };
        match self.manner {
            Manner::ByHand => by_hand::work(shift, &self.server),
            Manner::Thread => library::work(shift, &self.server, None),
            Manner::Keychain => library::work(shift, &self.server, Some(self.tenure)),
        }
    }
}

fn until_input_ends() -> Arc<AtomicBool> {
    let over = Arc::new(AtomicBool::new(false));
    let end = over.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        end.store(true, Ordering::SeqCst);
    });
    over
}

/// What all manners of work have in common.
struct Shift {
    client: u32,
    ttl: Duration,
    resources: u32,
    holds: Holds,
    /// How many it has had.
    wishes: u64,
    record: Record,
    hand: Hand,
    dice: Rng,
    over: Arc<AtomicBool>,
}

impl Shift {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn wish(&mut self) -> Wish {
        self.wishes += 1;
        Wish::draw(&mut self.dice, self.resources, self.ttl, self.holds)
    }

    /// What is done with several resources at once is written down for each.
    fn write(&self, wish: &Wish, begin: Nanos, end: Option<Nanos>, what: &What) {
        for resource in &wish.resources {
            let (client, resource, what) = (self.client, resource.clone(), what.clone());
            self.record.write(&Entry { client, resource, begin, end, what });
        }
    }

    /// Before it is asked for, and again when the answer is there.
    fn write_acquire(&self, wish: &Wish, begin: Nanos, placed: Option<Nanos>, outcome: Acquired) {
        let end = (outcome != Acquired::Unknown).then(now);
        let ttl = u64::try_from(self.ttl.as_nanos()).expect("leases are short");
        let what = What::Acquire { ttl, limit: wish.limit, placed, outcome };
        self.write(wish, begin, end, &what);
        if let Acquired::Granted { .. } = outcome {
            // Whoever counts may be gone; then the input ends, too.
            let _ = std::io::stdout().write_all(b"granted\n");
        }
    }

    fn write_release(&self, wish: &Wish, begin: Nanos, claim: u64, outcome: Told) {
        let end = (outcome != Told::Unknown).then(now);
        self.write(wish, begin, end, &What::Release { claim, outcome });
    }

    fn write_renew(&self, wish: &Wish, begin: Nanos, claim: u64, outcome: Told) {
        let end = (outcome != Told::Unknown).then(now);
        self.write(wish, begin, end, &What::Renew { claim, outcome });
    }

    /// Asked at `end`, it still believed. What it believed once, it believed all the time since
    /// `begin`.
    fn write_belief(&self, wish: &Wish, held: Held, begin: Nanos, end: Nanos) {
        let Held { claim, fence } = held;
        let what = What::Belief { claim, fence, limit: wish.limit };
        self.write(wish, begin, Some(end), &what);
    }

    /// Changes the protected thing, if it may do so alone. At times it dawdles on the way there,
    /// and comes late: only the fence can tell.
    fn touch(&mut self, wish: &Wish, fence: u64) {
        if wish.limit != Some(1) {
            return;
        }
        if self.dice.u32(0..100) == 0 {
            std::thread::sleep(self.ttl.mul_f64(self.dice.f64() * 2.5));
        }
        for resource in &wish.resources {
            self.hand.touch(self.client, fence, resource);
        }
    }

    /// A name of its present wish that nobody else has: whatever is made for it carries it.
    fn mark(&self) -> String {
        format!("{}-{}", self.client, self.wishes)
    }

    fn pause(&mut self, ms_max: u64) {
        std::thread::sleep(Duration::from_millis(self.dice.u64(0..=ms_max)));
    }
}

/// A claim that was granted.
#[derive(Clone, Copy)]
struct Held {
    claim: u64,
    fence: u64,
}
