//! A thread that writes lines, so that nobody waits for the disk of the log.
//!
//! Lines about changes wait for room in the queue (their reader is the follower, which nobody waits
//! for); denied requests do not, and what did not fit is counted. A disk that is full or gone costs
//! lines, not claims: they are counted, too, and the log says so as soon as it can be written again.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use super::line::Line;
use crate::access::now;
use crate::files::FileProblem;

/// How many lines may wait.
const QUEUE: usize = 16 * 1024;
/// How much is written at once.
const PIECE: usize = 256 * 1024;

#[derive(Debug)]
pub(super) struct Writer {
    lines: Option<mpsc::Sender<Order>>,
    notes: Arc<Notes>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Notes {
    /// Lines that found no room in the queue.
    crowded_out: AtomicU64,
    reopen: AtomicBool,
}

#[derive(Debug)]
enum Order {
    Write(String),
    /// Nothing to write, but look at the notes.
    Look,
    Tell(std::sync::mpsc::SyncSender<()>),
}

impl Writer {
    pub(super) fn open(path: &Path) -> Result<Self, FileProblem> {
        let target = Target::open(path).map_err(|error| FileProblem::io(path, error))?;
        let (lines, orders) = mpsc::channel(QUEUE);
        let notes = Arc::new(Notes::default());
        let desk = Desk { target, notes: notes.clone(), lost: 0, torn: false };
        let thread = std::thread::Builder::new()
            .name("audit".into())
            .spawn(move || desk.work(orders))
            .map_err(|error| FileProblem::io(path, error))?;
        Ok(Self { lines: Some(lines), notes, thread: Some(thread) })
    }

    /// Writes a line if there is room.
    pub(super) fn offer(&self, line: String) {
        if self.lines().try_send(Order::Write(line)).is_err() {
            self.notes.crowded_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes a line when there is room.
    pub(super) async fn write(&self, line: String) {
        // The other end lives as long as this one.
        let _ = self.lines().send(Order::Write(line)).await;
    }

    pub(super) fn reopen(&self) {
        self.notes.reopen.store(true, Ordering::Relaxed);
        let _ = self.lines().try_send(Order::Look);
    }

    pub(super) fn flush(&self) {
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        if self.lines().try_send(Order::Tell(tell)).is_ok() {
            let _ = told.recv();
        }
    }

    fn lines(&self) -> &mpsc::Sender<Order> {
        self.lines.as_ref().expect("it is there until this is dropped")
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where lines go.
enum Target {
    Stderr,
    File(PathBuf, File),
}

impl Target {
    fn open(path: &Path) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stderr);
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Self::File(path.into(), file))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stderr => io::stderr().write_all(bytes),
            Self::File(_, file) => file.write_all(bytes),
        }
    }
}

/// The thread's own.
struct Desk {
    target: Target,
    notes: Arc<Notes>,
    /// Lines that could not be written since one could.
    lost: u64,
    /// Whether the last write may have left half a line.
    torn: bool,
}

impl Desk {
    fn work(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut piece = String::new();
        while let Some(first) = orders.blocking_recv() {
            let (mut lines, mut told) = (0, Vec::new());
            let mut next = Some(first);
            while let Some(order) = next {
                match order {
                    Order::Write(line) => {
                        piece.push_str(&line);
                        lines += 1;
                    }
                    Order::Look => {}
                    Order::Tell(tell) => told.push(tell),
                }
                next = if piece.len() < PIECE { orders.try_recv().ok() } else { None };
            }
            if self.notes.reopen.swap(false, Ordering::Relaxed) {
                self.reopen();
            }
            self.write(&piece, lines);
            piece.clear();
            for tell in told {
                let _ = tell.send(());
            }
        }
    }

    fn write(&mut self, piece: &str, lines: u64) {
        let crowded_out = self.notes.crowded_out.swap(0, Ordering::Relaxed);
        let missing = self.lost + crowded_out;
        let mut text = String::new();
        if self.torn {
            text.push('\n');
        }
        if missing > 0 {
            let line = Line {
                outcome: "lost",
                count: Some(missing),
                detail: Some(
                    "lines are missing here: the log could not be written fast enough, or at all",
                ),
                ..Line::new("lost", now())
            };
            text.push_str(&line.written());
        }
        text.push_str(piece);
        if text.is_empty() {
            return;
        }
        match self.target.write(text.as_bytes()) {
            Ok(()) => (self.lost, self.torn) = (0, false),
            Err(error) => {
                if !self.torn {
                    tracing::error!(%error, "the audit log cannot be written: lines are lost");
                }
                (self.lost, self.torn) = (missing + lines, true);
            }
        }
    }

    fn reopen(&mut self) {
        let Target::File(path, _) = &self.target else { return };
        match Target::open(path) {
            Ok(target) => {
                self.target = target;
                self.torn = false;
            }
            Err(error) => tracing::error!(%error, "the audit log goes on in its old file"),
        }
    }
}
