//! A desk without a thread, for the fuzzer: whoever asks does the work, and what was can be again.
//!
//! **Problem.** A store in memory that has threads of its own costs two threads to make and two
//! switches for each question: more than everything else that an input does. And its clock is the
//! machine's, so that the same input may do something else the next time.
//!
//! **Idea.** The same desk and the same writer, run by the one who asks. The clock counts how often it
//! was looked at.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use std::time::Duration;

use claims::{Claim, ClaimId, Command, Name, Rules, Span, Standing, WallTime};

use super::writer::Writer;
use super::{Clocks, Desk, Recent, Unwritten, Waits};
use crate::commits::Commits;
use crate::embedded::Reading;
use crate::store::{Answer, EventPage, Filter, Page, Pending, ResourceReport, Store, Vitals};

/// What passes from one look at the clock to the next.
const MICROS: u64 = 10;
/// The time of day at the beginning, in milliseconds: in November 2026.
const WALL: u64 = 1_794_770_177_000;

/// A store in memory, in the thread of whoever asks it.
pub struct Alone {
    desk: Desk<Unwritten>,
    writer: Mutex<Writer<Unwritten>>,
    looks: Arc<AtomicU64>,
}

/// How everything was.
pub struct Moment {
    books: Unwritten,
    recent: Recent,
    looks: u64,
}

struct Counted(Arc<AtomicU64>);

impl Clocks for Counted {
    fn read(&self) -> Reading {
        let micros = MICROS * self.0.fetch_add(1, Ordering::Relaxed);
        Reading { boot: Span::from_micros(micros), wall: WallTime(WALL + micros / 1_000) }
    }
}

impl Alone {
    /// A store with nothing in it.
    pub fn new(rules: Rules) -> Self {
        let looks = Arc::new(AtomicU64::new(0));
        let clocks = Counted(looks.clone());
        let books = Unwritten::new(rules, clocks.read());
        let (desk, writer, _) = Desk::new(books, Box::new(clocks));
        Self { desk, writer: Mutex::new(writer), looks }
    }

    /// How everything is. Nobody may be waiting.
    pub fn moment(&self) -> Moment {
        let writer = self.writer();
        let looks = self.looks.load(Ordering::Relaxed);
        Moment { books: writer.books.clone(), recent: writer.recent.clone(), looks }
    }

    /// From here on everything is as it was then.
    pub fn restore(&self, moment: &Moment) {
        let mut writer = self.writer();
        writer.books = moment.books.clone();
        writer.recent = moment.recent.clone();
        writer.commits = Commits::default();
        writer.waits = Waits::default();
        writer.position.send_replace(moment.recent.next());
        self.looks.store(moment.looks, Ordering::Relaxed);
    }

    fn writer(&self) -> MutexGuard<'_, Writer<Unwritten>> {
        self.writer.lock().expect("who panicked does not go on")
    }

    /// Works for as long as somebody waits. Patience ends by itself: the clock is looked at.
    fn work<'a, T: 'a>(&'a self, mut pending: Pending<'a, T>) -> Pending<'a, T> {
        Box::pin(poll_fn(move |cx| {
            if let Poll::Ready(done) = Pin::new(&mut pending).poll(cx) {
                return Poll::Ready(done);
            }
            self.writer().round_at_once().expect("memory does not fail");
            let after = Pin::new(&mut pending).poll(cx);
            if after.is_pending() {
                cx.waker().wake_by_ref();
            }
            after
        }))
    }
}

impl Store for Alone {
    fn submit(&self, command: Command) -> Pending<'_, Answer> {
        self.work(self.desk.submit(command))
    }
    fn submit_and_wait(&self, command: Command, patience: Duration) -> Pending<'_, Answer> {
        self.work(self.desk.submit_and_wait(command, patience))
    }
    fn standing(&self, claim: ClaimId) -> Pending<'_, Option<Standing>> {
        self.work(self.desk.standing(claim))
    }
    fn claims(&self, filter: Filter, page: Page<ClaimId>) -> Pending<'_, Vec<Claim>> {
        self.work(self.desk.claims(filter, page))
    }
    fn resources(&self, page: Page<Name>) -> Pending<'_, Vec<ResourceReport>> {
        self.work(self.desk.resources(page))
    }
    fn resource(&self, name: Name, queue: usize) -> Pending<'_, ResourceReport> {
        self.work(self.desk.resource(name, queue))
    }
    fn events(&self, position: u64, count: usize) -> Pending<'_, EventPage> {
        self.work(self.desk.events(position, count))
    }
    /// Nothing happens by itself: somebody else has to ask for something.
    fn wait_for_event(&self, position: u64) -> Pending<'_, ()> {
        self.desk.wait_for_event(position)
    }
    fn sweep(&self) -> Pending<'_, Option<Duration>> {
        self.work(self.desk.sweep())
    }
    fn vitals(&self) -> Pending<'_, Vitals> {
        self.work(self.desk.vitals())
    }
}
