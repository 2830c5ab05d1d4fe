//! How often waiters are woken when what they wait for is given back.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use claims::{
    Command, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Standing, Ttl,
};
use registry::{Answer, Pending, Store};
use tokio::task::unconstrained;

/// Nobody's patience ends meanwhile.
const LONG: std::time::Duration = std::time::Duration::from_secs(3600);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Woken {
    pub(crate) grants: u64,
    pub(crate) wakes: u64,
}

#[derive(Default)]
struct Counted(AtomicU64);

impl Wake for Counted {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Waiters who are woken as one, and how often they were.
struct Waiters<'a> {
    store: &'a dyn Store,
    open: Vec<Pending<'a, Answer>>,
    wakes: Arc<Counted>,
}

impl<'a> Waiters<'a> {
    fn new(store: &'a dyn Store) -> Self {
        Self { store, open: Vec::new(), wakes: Arc::default() }
    }

    fn enter(&mut self, nth: u64, name: &str) {
        let wait = self.store.submit_and_wait(register(1 << 32 | nth, name), LONG);
        self.open.push(wait);
        assert!(self.look(self.open.len() - 1).is_none(), "somebody holds it");
    }

    /// The answer of one of them, if it is there.
    fn look(&mut self, nth: usize) -> Option<Standing> {
        let waker = Waker::from(self.wakes.clone());
        // Else the runtime would have it wait its turn after a hundred looks.
        let mut wait = unconstrained(self.open[nth].as_mut());
        match Pin::new(&mut wait).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => Some(answer.expect("served").expect("granted")),
            Poll::Pending => None,
        }
    }

    fn wakes(&self) -> u64 {
        self.wakes.0.load(Ordering::SeqCst)
    }

    /// All of them are in line.
    async fn settle(&self, count: u64) {
        let waiting = self.store.vitals().await.expect("served").tally.waiting;
        assert_eq!(waiting as u64, count, "they wait");
        assert_eq!(self.wakes(), 0, "nobody has a reason to wake");
    }
}

/// One holder and one waiter on each of so many resources: all are given back at once.
pub(crate) async fn on_many_resources(store: &dyn Store, count: u64) -> Woken {
    let mut holders = Vec::new();
    for nth in 0..count {
        holders.push(store.submit(register(nth, &format!("r/{nth}"))));
    }
    let mut owners = Vec::new();
    for (nth, answer) in (0..).zip(holders) {
        let standing = answer.await.expect("served").expect("free");
        owners.push(Owner { claim: standing.claim.id, key: key(nth) });
    }
    let mut waiters = Waiters::new(store);
    (0..count).for_each(|nth| waiters.enter(nth, &format!("r/{nth}")));
    waiters.settle(count).await;
    let release = |owner| store.submit(Command::End(owner, Farewell::Release));
    let releases: Vec<_> = owners.into_iter().map(release).collect();
    for release in releases {
        release.await.expect("served").expect("held");
    }
    // Whoever was given its turn is told before the one who gave it up.
    let wakes = waiters.wakes();
    let grants = (0..count as usize).filter(|&nth| waiters.look(nth).is_some()).count() as u64;
    Woken { grants, wakes }
}

/// So many waiters in one queue, let in one by one: each turn wakes the one whose turn it is.
pub(crate) async fn in_one_queue(store: &dyn Store, count: u64) -> Woken {
    let holder = store.submit(register(0, "one")).await.expect("served").expect("free");
    let mut owner = Owner { claim: holder.claim.id, key: key(0) };
    let mut waiters = Waiters::new(store);
    (0..count).for_each(|nth| waiters.enter(nth, "one"));
    waiters.settle(count).await;
    let mut grants = 0;
    for nth in 0..count {
        store.submit(Command::End(owner, Farewell::Release)).await.expect("served").expect("held");
        assert_eq!(waiters.wakes(), nth + 1, "one turn woke several");
        let granted = waiters.look(nth as usize).expect("it is its turn");
        owner = Owner { claim: granted.claim.id, key: key(1 << 32 | nth) };
        grants += 1;
    }
    Woken { grants, wakes: waiters.wakes() }
}

fn key(nth: u64) -> KeyHash {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&nth.to_le_bytes());
    KeyHash(key)
}

fn register(nth: u64, name: &str) -> Command {
    Command::Register(Registration {
        key: key(nth),
        resources: Resources::one(Name::new(name).expect("a name")),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::from_secs_f64(3600.0).expect("a ttl"),
        data: None,
    })
}
