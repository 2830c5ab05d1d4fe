//! The order of things at the desk, with books that say when they are durable.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use claims::{
    ClaimId, Command, Event, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Rules,
    Span, State, Timestamp, Ttl, WallTime,
};

use super::{Books, Clocks, Desk, MachineClocks, Stop, Unwritten};
use crate::embedded::{Batch, Fatal, Reading};
use crate::error::StoreError;
use crate::store::{Answer, Store};

/// Books whose commits wait at a gate, as for a slow disk.
pub(super) struct Gated {
    books: Unwritten,
    arrived: Sender<usize>,
    gate: Receiver<()>,
    /// The next commit fails. The one after that would not.
    fails: bool,
    /// A gate before each command, too, and when it is run.
    begun: Option<(Sender<Timestamp>, Receiver<()>)>,
}

impl Books for Gated {
    type Chore = <Unwritten as Books>::Chore;
    type Done = <Unwritten as Books>::Done;

    fn state(&self) -> &State {
        self.books.state()
    }
    fn now(&self) -> Timestamp {
        self.books.now()
    }
    fn position(&self) -> u64 {
        self.books.position()
    }
    fn tick(&mut self, reading: Reading) {
        self.books.tick(reading);
    }
    fn execute(&mut self, command: Command) -> Result<Answer, StoreError> {
        if let Some((begun, gate)) = &self.begun {
            let _ = begun.send(self.books.now());
            let _ = gate.recv();
        }
        self.books.execute(command)
    }
    fn attend(&mut self, claim: ClaimId) {
        self.books.attend(claim);
    }
    fn sweep(&mut self) {
        self.books.sweep();
    }
    fn wants_commit(&self) -> bool {
        false
    }
    fn pending(&self) -> &[Event] {
        self.books.pending()
    }
    fn waits_for_chore(&self) -> bool {
        false
    }
    fn commit(&mut self) -> Result<&mut Batch, Fatal> {
        let batch = self.books.commit()?;
        if !batch.events.is_empty() {
            let _ = self.arrived.send(batch.events.len());
            let _ = self.gate.recv();
            batch.sync_took = Some(Span::from_millis(1));
            if std::mem::take(&mut self.fails) {
                return Err(Fatal { doing: "syncing", source: std::io::Error::other("it failed") });
            }
        }
        Ok(batch)
    }
    fn sync_within(&self) -> Option<Span> {
        None
    }
    fn close(self) -> Result<(), Fatal> {
        Ok(())
    }
    fn next_chore(&mut self) -> Option<Self::Chore> {
        self.books.next_chore()
    }
    fn run(chore: Self::Chore) -> Self::Done {
        Unwritten::run(chore)
    }
    fn finish(&mut self, done: Self::Done) -> Result<(), Fatal> {
        self.books.finish(done)
    }
}

fn gated() -> (Desk<Gated>, Receiver<usize>, Sender<()>) {
    gated_by(MachineClocks)
}

fn gated_by(clocks: impl Clocks + 'static) -> (Desk<Gated>, Receiver<usize>, Sender<()>) {
    let (arrived, arrivals) = channel();
    let (open, gate) = channel();
    let books = Unwritten::new(Rules::default(), clocks.read());
    let books = Gated { books, arrived, gate, fails: false, begun: None };
    let desk = Desk::open(books, Box::new(clocks), |fatal| unreachable!("{fatal}"));
    (desk, arrivals, open)
}

/// A desk whose first commit fails, and whose others would not.
pub(super) fn failing(stop: Stop) -> Desk<Gated> {
    let (arrived, gate) = (channel().0, channel().1);
    let books = Unwritten::new(Rules::default(), MachineClocks.read());
    Desk::open(
        Gated { books, arrived, gate, fails: true, begun: None },
        Box::new(MachineClocks),
        stop,
    )
}

pub(super) fn register(nth: u8) -> Command {
    Command::Register(Registration {
        key: KeyHash([nth; 16]),
        resources: Resources::one(Name::new(&format!("r/{nth}")).expect("a name")),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::from_secs_f64(60.0).expect("a ttl"),
        data: None,
    })
}

#[tokio::test]
async fn no_answer_leaves_before_its_batch_is_durable() {
    let (desk, arrivals, open) = gated();
    let mut answer = desk.submit(register(1));
    assert_eq!(arrivals.recv().expect("the batch is at the gate"), 2);
    // A look at the books must not show either what may still be lost.
    let mut look = desk.vitals();
    let early = tokio::time::timeout(Duration::from_millis(50), async {
        tokio::select! { _ = &mut answer => "an answer", _ = &mut look => "a look" }
    });
    assert_eq!(early.await.ok(), None, "left before the batch was durable");
    open.send(()).expect("the desk waits");
    answer.await.expect("served").expect("granted");
    assert_eq!(look.await.expect("served").tally.active, 1);
}

#[tokio::test]
async fn all_who_wait_for_the_disk_go_into_the_next_batch() {
    let (desk, arrivals, open) = gated();
    let first = desk.submit(register(0));
    assert_eq!(arrivals.recv().expect("at the gate"), 2);
    let others: Vec<_> = (1..=50).map(|nth| desk.submit(register(nth))).collect();
    open.send(()).expect("the desk waits");
    first.await.expect("served").expect("granted");
    assert_eq!(arrivals.recv().expect("at the gate"), 100, "fifty commands, one batch");
    open.send(()).expect("the desk waits");
    for other in others {
        other.await.expect("served").expect("granted");
    }
}

/// A clock that is set by hand.
#[derive(Clone, Default)]
struct Hand(Arc<AtomicU64>);

impl Clocks for Hand {
    fn read(&self) -> Reading {
        let boot = Span::from_micros(self.0.load(Ordering::SeqCst));
        Reading { boot, wall: WallTime(0) }
    }
}

/// The desk stands still in the middle of a batch, and somebody asks meanwhile. Its lease must not
/// begin before it asked: it would end before its owner stops believing.
#[tokio::test]
async fn lease_never_begins_before_it_was_asked_for() {
    let clock = Hand::default();
    let ((begun, runs), (go, gate)) = (channel(), channel());
    let books = Unwritten::new(Rules::default(), clock.read());
    let (arrived, _) = channel();
    let (_, open) = channel();
    let books = Gated { books, arrived, gate: open, fails: false, begun: Some((begun, gate)) };
    let desk = Desk::open(books, Box::new(clock.clone()), |fatal| unreachable!("{fatal}"));
    let first = desk.submit(register(1));
    let at_first = runs.recv().expect("it is begun");
    // Too short to count as a pause of the store.
    clock.0.fetch_add(900_000, Ordering::SeqCst);
    let second = desk.submit(register(2));
    go.send(()).expect("the desk waits");
    let at_second = runs.recv().expect("it is begun");
    go.send(()).expect("the desk waits");
    first.await.expect("served").expect("granted");
    second.await.expect("served").expect("granted");
    assert_eq!(at_second.since(at_first), Span::from_millis(900));
}

/// Nobody is told anything when somebody joins a queue and waits, so no sync is made for it alone.
#[tokio::test]
async fn waiter_and_the_release_it_waits_for_share_a_sync() {
    let (desk, arrivals, open) = gated_by(Hand::default());
    let owner = held(&desk, &arrivals, &open).await;
    let waiting = desk.submit_and_wait(after(owner), Duration::from_secs(60));
    let alone = arrivals.recv_timeout(Duration::from_millis(50));
    assert!(alone.is_err(), "a sync for somebody who only waits");
    let release = desk.submit(Command::End(owner, Farewell::Release));
    assert_eq!(arrivals.recv().expect("at the gate"), 3, "registered, ended, activated");
    open.send(()).expect("the desk waits");
    release.await.expect("served").expect("released");
    assert!(waiting.await.expect("served").expect("granted").claim.activation().is_some());
}

/// In quick turns the one who is told to wait is told with the next release, not before it.
#[tokio::test]
async fn who_has_to_wait_for_a_fresh_holder_shares_the_sync_of_its_release() {
    let (desk, arrivals, open) = gated_by(Hand::default());
    let owner = held(&desk, &arrivals, &open).await;
    let told_to_wait = desk.submit(after(owner));
    let alone = arrivals.recv_timeout(Duration::from_millis(50));
    assert!(alone.is_err(), "a sync for somebody who has to wait");
    let release = desk.submit(Command::End(owner, Farewell::Release));
    let events = arrivals.recv().expect("at the gate");
    assert!(events >= 2, "registered and ended, {events}");
    open.send(()).expect("the desk waits");
    release.await.expect("served").expect("released");
    told_to_wait.await.expect("served").expect("registered");
}

/// A hold that has lasted will last: nobody is kept waiting for its end to hear that it waits.
#[tokio::test]
async fn who_has_to_wait_for_a_lasting_holder_is_told_at_once() {
    let clock = Hand::default();
    let (desk, arrivals, open) = gated_by(clock.clone());
    let owner = held(&desk, &arrivals, &open).await;
    clock.0.fetch_add(2_000, Ordering::SeqCst);
    let told_to_wait = desk.submit(after(owner));
    assert_eq!(arrivals.recv().expect("at the gate"), 1, "registered");
    open.send(()).expect("the desk waits");
    let standing = told_to_wait.await.expect("served").expect("registered");
    assert!(standing.place.is_some(), "it waits");
}

/// Leases are counted from the moment of their batch: whoever comes later is in the next.
#[tokio::test]
async fn batch_that_was_kept_open_takes_nobody_who_comes_late() {
    let clock = Hand::default();
    let (desk, arrivals, open) = gated_by(clock.clone());
    let owner = held(&desk, &arrivals, &open).await;
    let _waiting = desk.submit_and_wait(after(owner), Duration::from_secs(60));
    let alone = arrivals.recv_timeout(Duration::from_millis(50));
    assert!(alone.is_err(), "a sync for somebody who only waits");
    clock.0.fetch_add(1_001, Ordering::SeqCst);
    let late = desk.submit(register(9));
    assert_eq!(arrivals.recv().expect("at the gate"), 1, "only the one who waits");
    open.send(()).expect("the desk waits");
    assert_eq!(arrivals.recv().expect("at the gate"), 2, "the late one by itself");
    open.send(()).expect("the desk waits");
    late.await.expect("served").expect("granted");
}

/// Somebody holds a resource.
async fn held(desk: &Desk<Gated>, arrivals: &Receiver<usize>, open: &Sender<()>) -> Owner {
    let holder = desk.submit(register(1));
    assert_eq!(arrivals.recv().expect("at the gate"), 2);
    open.send(()).expect("the desk waits");
    let claim = holder.await.expect("served").expect("granted").claim;
    Owner { claim: claim.id, key: claim.key }
}

/// Somebody else wants what this one has.
fn after(owner: Owner) -> Command {
    let mut command = register(owner.key.0[0]);
    if let Command::Register(registration) = &mut command {
        registration.key = KeyHash([200; 16]);
    }
    command
}

#[tokio::test]
async fn those_who_fall_behind_the_history_are_told_how_much_they_missed() {
    let store = crate::memory(Rules::default());
    for round in 0..40u16 {
        for nth in 0..250u8 {
            let mut command = register(nth);
            if let Command::Register(registration) = &mut command {
                registration.key.0[..2].copy_from_slice(&round.to_le_bytes());
                registration.limit = Limit::SHARED;
            }
            store.submit(command).await.expect("served").expect("granted");
        }
    }
    let page = store.events(0, 10).await.expect("served");
    assert!(page.skipped > 0, "20,000 events do not fit");
    assert_eq!(page.events[0].position, page.skipped);
    assert_eq!(page.next, page.skipped + 10);
    let end = store.vitals().await.expect("served").position;
    let page = store.events(end, 10).await.expect("served");
    assert_eq!((page.events.len(), page.skipped, page.next), (0, 0, end));
}

#[tokio::test]
async fn closed_store_says_so() {
    let (desk, _, open) = gated();
    drop(open);
    desk.submit(register(1)).await.expect("served").expect("granted");
    let _ = super::put(&desk.inbox, super::Request::Close);
    loop {
        match desk.vitals().await {
            Ok(_) => tokio::task::yield_now().await,
            Err(error) => {
                assert_eq!(error.to_string(), "the store is closed");
                break;
            }
        }
    }
}
