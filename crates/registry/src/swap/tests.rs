//! Replies that are lost, below everything else: whether a swap happened is not known then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use claims::{
    ClaimId, Command, Epoch, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Rules,
    Status, Ttl,
};
use object_store::memory::InMemory;

use super::Swap;
use super::cabinet::{Cabinet, Content, Exchange, Key, Swapped};
use super::drawer::Drawer;
use crate::error::StoreError;
use crate::object::bucket::Bucket;
use crate::store::{Filter, Page, Store};

/// A real cabinet whose answers are lost again and again: in turn one that was obeyed, one that was
/// not, and two that arrive.
struct Unreliable {
    inner: Bucket,
    asked: AtomicU64,
}

impl Unreliable {
    fn lost() -> StoreError {
        StoreError::Unavailable("the reply was lost".into())
    }
}

impl Cabinet for Unreliable {
    type Version = <Bucket as Cabinet>::Version;
    const SEVERAL: bool = false;
    const SEQUENCES_MAX: u64 = Bucket::SEQUENCES_MAX;
    const BYTES_MAX: usize = 256 * 1024;
    const GUESSES: bool = false;
    const FOLLOWS: bool = false;
    const GIVES_UP: bool = false;
    const LOOK: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(50));

    fn drawer(&self, name: &Name) -> Key {
        self.inner.drawer(name)
    }

    fn claim_id(&self, sequence: u64, drawer: &Key) -> ClaimId {
        self.inner.claim_id(sequence, drawer)
    }

    fn floor(&self) -> u64 {
        0
    }

    async fn find(&self, claim: ClaimId) -> Result<Option<Key>, StoreError> {
        self.inner.find(claim).await
    }

    async fn read(&self, keys: &[Key]) -> Result<Vec<Content<Self::Version>>, StoreError> {
        self.inner.read(keys).await
    }

    async fn list(&self) -> Result<Vec<(Key, Self::Version)>, StoreError> {
        self.inner.list().await
    }

    async fn swap(
        &self,
        swap: Exchange<Self::Version>,
    ) -> Result<Swapped<Self::Version>, StoreError> {
        match self.asked.fetch_add(1, Ordering::Relaxed) % 4 {
            0 => {
                self.inner.swap(swap).await?;
                Err(Self::lost())
            }
            1 => Err(Self::lost()),
            _ => self.inner.swap(swap).await,
        }
    }
}

fn store() -> Arc<dyn Store> {
    let inner = Bucket::new(Arc::new(InMemory::new()), "x".into(), "memory".into());
    let unreliable = Unreliable { inner, asked: AtomicU64::new(0) };
    Arc::new(Swap::over(unreliable, Rules::default(), 1_000, Epoch::default()))
}

fn wish(key: u8, data: usize) -> Registration {
    Registration {
        key: KeyHash([key; 16]),
        resources: Resources::one(Name::new("r").expect("a name")),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::from_secs_f64(600.0).expect("a ttl"),
        data: claims::Data::new(&"x".repeat(data)).ok(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_replies_make_no_ghosts_and_let_nobody_in_twice() {
    let (store, inside) = (store(), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..3u8)
        .map(|task| {
            let (store, inside) = (store.clone(), inside.clone());
            tokio::spawn(async move {
                for round in 0..4 {
                    let registration = Command::Register(wish(task * 4 + round, 0));
                    let granted = store.submit_and_wait(registration, Duration::from_secs(60));
                    let granted = granted.await.expect("served").expect("granted");
                    assert_eq!(granted.claim.status(), Status::Active);
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two were inside");
                    tokio::task::yield_now().await;
                    inside.fetch_sub(1, Ordering::SeqCst);
                    let owner = Owner { claim: granted.claim.id, key: granted.claim.key };
                    let release = Command::End(owner, Farewell::Release);
                    store.submit(release).await.expect("served").expect("it is held");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no contender fails");
    }
    let all = store.claims(Filter::default(), Page::first(100)).await.expect("served");
    assert_eq!(all.len(), 12, "one claim for each registration");
    assert!(all.iter().all(|claim| claim.status() == Status::Released));
}

/// Rule 13. A record does not grow without bound, and what is over does not keep anybody out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn record_that_is_full_refuses_who_comes_and_serves_who_is_there() {
    let store = store();
    let register = |key| store.submit(Command::Register(wish(key, 60_000)));
    let mut holder = register(1).await.expect("served").expect("granted");
    let mut key = 1;
    let refusal = loop {
        key += 1;
        match register(key).await.expect("served") {
            Ok(standing) => assert_eq!(standing.claim.status(), Status::Waiting),
            Err(refusal) => break refusal,
        }
        assert!(key < 10, "ten of them do not fit");
    };
    assert!(matches!(refusal, claims::Refusal::QueueFull { .. }), "{refusal}");
    for waiter in 2..key {
        let owner = Owner { claim: holder.claim.id, key: holder.claim.key };
        let release = store.submit(Command::End(owner, Farewell::Release));
        release.await.expect("served").expect("it is held");
        holder = register(waiter).await.expect("served").expect("it is known");
        let owner = Owner { claim: holder.claim.id, key: holder.claim.key };
        holder = store.submit(Command::Activate(owner)).await.expect("served").expect("its turn");
    }
    assert_eq!(holder.claim.status(), Status::Active);
    let late = register(99).await.expect("served").expect("there is room again");
    assert_eq!(late.claim.status(), Status::Waiting);
}

type Damage = fn(&mut Drawer);

/// A checksum says that a record is as it was written, not that it can be true.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn record_that_is_whole_but_says_what_cannot_be_is_refused_by_name() {
    let objects = Arc::new(InMemory::new());
    let bucket = || Bucket::new(objects.clone(), "x".into(), "memory".into());
    let over = |bucket| Swap::over(bucket, Rules::default(), 1_000, Epoch::default());
    over(bucket()).submit(Command::Register(wish(1, 0))).await.expect("served").expect("granted");
    let cabinet = bucket();
    let key = cabinet.drawer(&Name::new("r").expect("a name"));
    let mut contents = cabinet.read(std::slice::from_ref(&key)).await.expect("it is there");
    let (_, sound) = contents.pop().flatten().expect("it was written");
    let sound = Drawer::read(&key, &sound).expect("it is sound");
    let damages: [(&str, Damage); 7] = [
        ("nothing", |_| {}),
        ("a claim twice", |drawer| drawer.claims.push(drawer.claims[0].clone())),
        ("a fence that was not given out", |drawer| drawer.next_fence = 0),
        ("a claim that was not given out", |drawer| drawer.sequence = 0),
        ("a counter at its end", |drawer| drawer.sequence = u64::MAX),
        ("too many swaps", |drawer| drawer.swaps = u64::MAX),
        ("a guest where there are none", |drawer| {
            drawer.guests.push((ClaimId(7), "00000".to_owned()));
        }),
    ];
    for (what, damage) in damages {
        let mut drawer = sound.clone();
        damage(&mut drawer);
        let path = object_store::path::Path::from(format!("x/{key}"));
        let put = object_store::ObjectStoreExt::put(&*objects, &path, drawer.write().into());
        put.await.expect("it is kept");
        // Read by a process that has not seen it before.
        let told = over(bucket()).submit(Command::Register(wish(2, 0))).await;
        match told {
            Ok(answer) => {
                assert_eq!(what, "nothing");
                assert_eq!(answer.expect("it waits").claim.status(), Status::Waiting);
            }
            Err(StoreError::Corrupt(why)) => {
                assert!(why.contains(&*key) && why.contains("cannot be"), "{what}: {why}");
                assert_ne!(what, "nothing", "{why}");
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    // A claim of another drawer.
    let other = cabinet.drawer(&Name::new("elsewhere").expect("a name"));
    let error = sound.checked(&other, &cabinet).expect_err("it belongs elsewhere");
    assert!(error.to_string().contains(&*other), "{error}");
}
