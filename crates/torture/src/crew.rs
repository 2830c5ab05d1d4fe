//! The workers: each in a network of its own, started again when it was killed.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use fastrand::Rng;
use rustix::process::Signal;
use torture::history::{Entry, Told, What};

use crate::clock::now;
use crate::process::{LONG, Process, inside, until};
use crate::record::{self, Record};
use crate::server::wrong_clock;
use crate::worker::{Holds, Manner};

/// Of three workers, one of each.
const MANNERS: [Manner; 3] = [Manner::ByHand, Manner::Thread, Manner::Keychain];

/// What all workers are told.
pub(crate) struct Brief {
    pub(crate) tenure: PathBuf,
    pub(crate) server: String,
    pub(crate) witness: String,
    pub(crate) history: PathBuf,
    pub(crate) logs: PathBuf,
    pub(crate) resources: u32,
    pub(crate) ttl: Duration,
    pub(crate) holds: Holds,
    /// A file that says by how much their wall clocks are wrong.
    pub(crate) clock: Option<PathBuf>,
}

/// Where a worker works, whoever it is at the moment.
pub(crate) struct Seat {
    pub(crate) manner: Manner,
    pub(crate) space: Option<String>,
    process: Option<Process>,
    /// Who sits there.
    client: u32,
    /// When it was last told that it holds.
    granted: Arc<AtomicU64>,
}

pub(crate) struct Crew {
    pub(crate) brief: Brief,
    pub(crate) seats: Vec<Seat>,
    next_client: u32,
    dice: Rng,
}

impl Crew {
    /// One worker for each space.
    pub(crate) fn start(
        brief: Brief,
        spaces: Vec<Option<String>>,
        dice: Rng,
    ) -> anyhow::Result<Self> {
        let seats = spaces.into_iter().zip(MANNERS.into_iter().cycle());
        let seats = seats.map(|(space, manner)| Seat {
            manner,
            space,
            process: None,
            client: 0,
            granted: Arc::default(),
        });
        let mut crew = Self { brief, seats: seats.collect(), next_client: 1, dice };
        (0..crew.seats.len()).try_for_each(|nth| crew.hire(nth))?;
        Ok(crew)
    }

    /// Puts a new worker, who knows nothing of the one before, on a seat.
    pub(crate) fn hire(&mut self, nth: usize) -> anyhow::Result<()> {
        let (seat, brief) = (&mut self.seats[nth], &self.brief);
        let client = self.next_client;
        self.next_client += 1;
        let mut words = inside(seat.space.as_deref());
        words.push(std::env::current_exe()?.display().to_string());
        let log = brief.logs.join(format!("client-{client}.log"));
        let manner = clap::ValueEnum::to_possible_value(&seat.manner).context("it has a name")?;
        let holds = clap::ValueEnum::to_possible_value(&brief.holds).context("it has a name")?;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(["worker", "--client", &client.to_string(), "--manner", manner.get_name()])
            .args(["--server", &brief.server, "--witness", &brief.witness])
            .args(["--seed", &self.dice.u64(..).to_string()])
            .args(["--resources", &brief.resources.to_string()])
            .args(["--ttl-ms", &brief.ttl.as_millis().to_string()])
            .args(["--holds", holds.get_name()])
            .arg("--history")
            .arg(&brief.history)
            .arg("--tenure")
            .arg(&brief.tenure)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(log)?);
        if let Some(clock) = &brief.clock {
            command.envs(wrong_clock(clock));
        }
        let mut process = Process::spawn(&mut command)?;
        let output = process.child().stdout.take().context("its output is piped")?;
        let granted = seat.granted.clone();
        std::thread::spawn(move || {
            for _ in BufReader::new(output).lines().map_while(Result::ok) {
                granted.store(now(), Ordering::SeqCst);
            }
        });
        (seat.process, seat.client) = (Some(process), client);
        Ok(())
    }

    /// Kills a worker without a warning. Its keychain sees that, and gives back what it held: nobody
    /// is told when.
    pub(crate) fn kill(&mut self, nth: usize) -> anyhow::Result<()> {
        let (seat, history) = (&mut self.seats[nth], &self.brief.history);
        let (begin, client) = (now(), seat.client);
        seat.process = None;
        if seat.manner == Manner::Keychain {
            let record = Record::create(history, &record::name(client))?;
            for (claim, resource) in record::held(history, client)? {
                let what = What::Release { claim, outcome: Told::Unknown };
                record.write(&Entry { client, resource, begin, end: None, what });
            }
        }
        Ok(())
    }

    pub(crate) fn signal(&self, nth: usize, signal: Signal) {
        if let Some(process) = &self.seats[nth].process {
            process.signal(signal);
        }
    }

    pub(crate) fn pid(&self, nth: usize) -> anyhow::Result<u32> {
        Ok(self.seats[nth].process.as_ref().context("the seat is taken")?.pid())
    }

    /// Nobody leaves unless it is told to.
    pub(crate) fn check(&mut self) -> anyhow::Result<()> {
        for (nth, seat) in self.seats.iter_mut().enumerate() {
            let ended = seat.process.as_mut().and_then(Process::ended);
            ensure!(ended.is_none(), "worker {nth} ({:?}) ended by itself: {ended:?}", seat.manner);
        }
        Ok(())
    }

    /// Waits until everybody has held something since; who did not.
    pub(crate) fn served_since(&self, moment: u64, within: Duration) -> Vec<String> {
        let is_served = |seat: &Seat| seat.granted.load(Ordering::SeqCst) > moment;
        until(within, || self.seats.iter().all(is_served));
        let left_out = self.seats.iter().enumerate().filter(|(_, seat)| !is_served(seat));
        left_out.map(|(nth, seat)| format!("{nth} ({:?})", seat.manner)).collect()
    }

    /// Lets everybody finish what it is at.
    pub(crate) fn finish(&mut self) -> anyhow::Result<()> {
        for seat in &mut self.seats {
            let process = seat.process.as_mut().context("the seat is taken")?;
            drop(process.child().stdin.take());
        }
        for (nth, seat) in self.seats.iter_mut().enumerate() {
            let process = seat.process.as_mut().context("the seat is taken")?;
            let status = process.end(LONG).with_context(|| format!("worker {nth} hangs"))?;
            ensure!(status.success(), "worker {nth} ({:?}) failed: {status}", seat.manner);
        }
        Ok(())
    }
}
