//! What is true of claims that several processes keep in one database.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use claims::{
    ClaimId, Command, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Rules, Span,
    Standing, Status, Ttl,
};
use registry::{Filter, Page, Store, StoreError};

use crate::house::{self, House};

/// Longer than anything here takes, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Each case runs on every database, as a test of its own.
macro_rules! on_each {
    ($($(#[$meta:meta])* async fn $name:ident($house:ident) $body:block)*) => {$(
        $(#[$meta])*
        mod $name {
            use super::*;

            async fn on_one($house: House) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                on_one(house::sqlite().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                on_one(house::postgres().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn mariadb() {
                on_one(house::mariadb().await).await;
            }
        }
    )*};
}

on_each! {
    /// Rule 3: the process that waits activates, whichever process released.
    async fn wait_in_one_process_is_granted_by_a_release_in_another(house) {
        let (here, there) = (open(&house).await, open(&house).await);
        let (_, holder) = register(&here, 1, "r").await;
        let waiter = wish(2, "r", Limit::EXCLUSIVE);
        let wait = tokio::spawn(async move {
            there.submit_and_wait(Command::Register(waiter), PATIENCE).await
        });
        until(async || here.resource(name("r"), 1).await.unwrap().waiting == 1).await;
        here.submit(Command::End(holder, Farewell::Release)).await.unwrap().unwrap();
        let granted = wait.await.unwrap().unwrap().unwrap();
        assert_eq!(granted.claim.status(), Status::Active);
    }

    /// Each process answers for any claim, and nobody is inside with anybody else.
    async fn contenders_of_three_processes_never_overlap(house) {
        let stores = [open(&house).await, open(&house).await, open(&house).await];
        let inside = Arc::new(AtomicUsize::new(0));
        let contenders = (0..6_u64).map(|nth| {
            let (come, go) = (stores[nth as usize % 3].clone(), stores[(nth as usize + 1) % 3].clone());
            let inside = inside.clone();
            tokio::spawn(async move {
                let mut fences = Vec::new();
                for round in 0..5 {
                    let wish = wish(100 * nth + round, "r", Limit::EXCLUSIVE);
                    let key = wish.key;
                    let granted = come.submit_and_wait(Command::Register(wish), PATIENCE).await;
                    let granted = granted.unwrap().unwrap();
                    assert_eq!(granted.claim.status(), Status::Active, "everybody is served");
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two were inside");
                    tokio::task::yield_now().await;
                    inside.fetch_sub(1, Ordering::SeqCst);
                    fences.push(fence(&granted));
                    let owner = Owner { claim: granted.claim.id, key };
                    let release = Command::End(owner, Farewell::Release);
                    go.submit(release).await.unwrap().unwrap();
                }
                assert!(fences.is_sorted_by(|one, next| one < next), "{fences:?}");
                fences
            })
        });
        let mut fences = Vec::new();
        for contender in contenders.collect::<Vec<_>>() {
            fences.extend(contender.await.unwrap());
        }
        fences.sort_unstable();
        fences.dedup();
        assert_eq!(fences.len(), 30, "every grant has a fence of its own");
    }

    /// Rule 2: whoever asks after another was told where it stands stands behind it, whichever process
    /// it asks.
    async fn newcomer_stands_behind_everybody_who_was_told(house) {
        let stores = [open(&house).await, open(&house).await, open(&house).await];
        register(&stores[0], 0, "r").await;
        let clock = Arc::new(AtomicUsize::new(0));
        let askers = (1..=6_u64).map(|nth| {
            let (store, clock) = (stores[nth as usize % 3].clone(), clock.clone());
            tokio::spawn(async move {
                let mut told = Vec::new();
                for round in 0..10 {
                    let asked = clock.fetch_add(1, Ordering::SeqCst);
                    let (standing, _) = register(&store, 100 * nth + round, "r").await;
                    told.push((asked, clock.fetch_add(1, Ordering::SeqCst), standing.claim.id));
                }
                told
            })
        });
        let mut told = Vec::new();
        for asker in askers.collect::<Vec<_>>() {
            told.extend(asker.await.unwrap());
        }
        for &(_, answered, first) in &told {
            let later = told.iter().filter(|&&(asked, ..)| asked > answered);
            assert!(later.map(|&(.., id)| id).all(|id| id > first), "{told:?}");
        }
    }

    /// Rule 8: what is forgotten is not begun anew.
    async fn fences_rise_over_forgotten_resources(house) {
        let rules = Rules { retain: Span::ZERO, ..Rules::default() };
        let store = registry::place::open(&house.url, rules).await.unwrap();
        let mut last = 0;
        for round in 0..2 {
            let (standing, owner) = register(&store, round, "r").await;
            assert!(fence(&standing) > last);
            last = fence(&standing);
            store.submit(Command::End(owner, Farewell::Release)).await.unwrap().unwrap();
            until(async || {
                store.sweep().await.unwrap();
                store.claims(Filter::default(), Page::first(1)).await.unwrap().is_empty()
            })
            .await;
        }
        let (standing, _) = register(&store, 9, "r").await;
        assert!(fence(&standing) > last);
    }

    /// Rule 5: a lease that ends is noticed without anybody asking.
    async fn overdue_lease_that_nobody_wants_ends_by_itself(house) {
        let rules = Rules { linger: Span::from_millis(10), ..Rules::default() };
        let store = registry::place::open(&house.url, rules).await.unwrap();
        let mut short = wish(1, "r", Limit::EXCLUSIVE);
        short.ttl = Ttl::from_secs_f64(0.01).unwrap();
        let standing = store.submit(Command::Register(short)).await.unwrap().unwrap();
        until(async || {
            store.sweep().await.unwrap();
            let standing = store.standing(standing.claim.id).await.unwrap().unwrap();
            standing.claim.status() == Status::Expired
        })
        .await;
    }

    /// Rule 8: after a restore, every number is above any that was ever given.
    async fn restored_store_begins_a_new_epoch(house) {
        let store = open(&house).await;
        let (before, owner) = register(&store, 1, "r").await;
        store.submit(Command::End(owner, Farewell::Release)).await.unwrap().unwrap();
        drop(store);
        let store = registry::place::open_restored(&house.url, Rules::default()).await.unwrap();
        let (after, _) = register(&store, 2, "r").await;
        assert!(before.claim.id.0 < 1 << 40 && after.claim.id.0 > 1 << 40);
        assert!(fence(&before) < 1 << 40 && fence(&after) > 1 << 40);
    }

    /// Rule 13: the bound of a queue counts those who are not loaded.
    async fn long_queue_is_counted_to_its_bound(house) {
        let rules = Rules { queue_max: 20, ..Rules::default() };
        let store = registry::place::open(&house.url, rules).await.unwrap();
        register(&store, 0, "r").await;
        let mut last = None;
        for nth in 1..=20 {
            let (standing, owner) = register(&store, nth, "r").await;
            assert_eq!(standing.place.unwrap().position, nth as usize);
            last = Some(owner);
        }
        let full = store.submit(Command::Register(wish(99, "r", Limit::EXCLUSIVE))).await.unwrap();
        assert_eq!(full.unwrap_err().code(), "queue-full");
        let refusal = store.submit(Command::Activate(last.unwrap())).await.unwrap().unwrap_err();
        assert!(matches!(refusal, claims::Refusal::StillWaiting { position: 20, .. }), "{refusal}");
    }

    async fn many_shared_waiters_are_called_together(house) {
        let store = open(&house).await;
        let (_, holder) = register(&store, 0, "r").await;
        let mut waiters = Vec::new();
        for nth in 1..=30 {
            let wish = wish(nth, "r", Limit::SHARED);
            let key = wish.key;
            let standing = store.submit(Command::Register(wish)).await.unwrap().unwrap();
            waiters.push(Owner { claim: standing.claim.id, key });
        }
        store.submit(Command::End(holder, Farewell::Release)).await.unwrap().unwrap();
        for waiter in waiters.into_iter().rev() {
            let standing = store.submit(Command::Activate(waiter)).await.unwrap().unwrap();
            assert_eq!(standing.claim.status(), Status::Active);
        }
    }

    /// Old programs do not touch what they do not understand.
    async fn tables_of_a_newer_version_are_refused(house) {
        drop(open(&house).await);
        house.execute("UPDATE tenure_store SET version = 99").await;
        let refused = registry::place::open(&house.url, Rules::default()).await.err();
        let Some(StoreError::Unavailable(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains("newer"), "{why}");
    }
}

/// A connection that breaks at any moment leaves neither a ghost nor two holders.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_connections_are_no_ones_loss() {
    let house = house::postgres_database().await;
    let store = open(&house).await;
    let breaks = tokio::spawn(async move {
        loop {
            // One of this test's connections at a time, wherever it is just then.
            house
                .execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = \
                     current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1",
                )
                .await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let inside = Arc::new(AtomicUsize::new(0));
    let contenders = (0..3_u64).map(|nth| {
        let (store, inside) = (store.clone(), inside.clone());
        tokio::spawn(async move {
            for round in 0..15 {
                let wish = wish(1_000 * (nth + 1) + round, "broken", Limit::EXCLUSIVE);
                let key = wish.key;
                // Asked until it is answered: the same wish is the same claim.
                let granted = loop {
                    let command = Command::Register(wish.clone());
                    match store.submit_and_wait(command, PATIENCE).await {
                        Ok(answer) => break answer.unwrap(),
                        Err(StoreError::Corrupt(why)) => panic!("{why}"),
                        Err(_) => {}
                    }
                };
                assert_eq!(granted.claim.status(), Status::Active);
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two were inside");
                inside.fetch_sub(1, Ordering::SeqCst);
                let owner = Owner { claim: granted.claim.id, key };
                while store.submit(Command::End(owner, Farewell::Release)).await.is_err() {}
            }
        })
    });
    for contender in contenders.collect::<Vec<_>>() {
        contender.await.unwrap();
    }
    breaks.abort();
    let of = Filter { resource: Some(name("broken")), ..Filter::default() };
    // The last connection that was broken may be the one that this look is given.
    let made = loop {
        match store.claims(of.clone(), Page::first(1_000)).await {
            Ok(made) => break made,
            Err(StoreError::Corrupt(why)) => panic!("{why}"),
            Err(_) => {}
        }
    };
    assert_eq!(made.len(), 45, "a registration that was sent again is one claim");
}

async fn open(house: &House) -> Arc<dyn Store> {
    registry::place::open(&house.url, Rules::default()).await.unwrap()
}

fn name(name: &str) -> Name {
    Name::new(name).unwrap()
}

fn wish(nth: u64, on: &str, limit: Limit) -> Registration {
    let mut key = [7; 16];
    key[..8].copy_from_slice(&nth.to_le_bytes());
    Registration {
        key: KeyHash(key),
        resources: Resources::one(name(on)),
        limit,
        ttl: Ttl::from_secs_f64(600.0).unwrap(),
        data: None,
    }
}

async fn register(store: &Arc<dyn Store>, nth: u64, on: &str) -> (Standing, Owner) {
    let wish = wish(nth, on, Limit::EXCLUSIVE);
    let key = wish.key;
    let standing = store.submit(Command::Register(wish)).await.unwrap().unwrap();
    let claim: ClaimId = standing.claim.id;
    (standing, Owner { claim, key })
}

fn fence(standing: &Standing) -> u64 {
    standing.claim.activation().unwrap().fence.0
}

/// Returns when it is so.
async fn until(mut so: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("it comes to that");
}
