//! Many writers, few rows: each success counts exactly once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use update_if::{Backend, Error, Update};

use crate::cinder::{Quota, row, tables};
use crate::databases::{self, World};

const WRITERS: u64 = 32;
const UPDATES: u64 = 10_000;
const ROWS: u64 = 4;

/// Writers take from rows what is there and no more; and move a status from hand to hand. What the answers say must be
/// what the rows say, to the last one.
async fn every_success_is_counted_once<DB: Backend>(world: World<DB>) {
    tables(&world).await;
    for row in 0..ROWS {
        world.sql(&format!("INSERT INTO quotas (id, in_use) VALUES ('q{row}', 0)")).await;
    }
    let world = Arc::new(world);
    let most = i64::try_from(UPDATES / ROWS / 2).unwrap();
    let (tried, conflicts) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (world, tried, conflicts) = (world.clone(), tried.clone(), conflicts.clone());
        writers.spawn(async move {
            let mut taken = [0; ROWS as usize];
            let mut connection = world.pool.acquire().await.unwrap();
            let mut seen = [0; ROWS as usize];
            loop {
                let number = tried.fetch_add(1, Ordering::Relaxed);
                if number >= UPDATES {
                    return taken;
                }
                let place = usize::try_from((number + writer) % ROWS).unwrap();
                // Half of them count up to a bound, half compare and swap what they last saw.
                let id = format!("q{place}");
                let update: Update = if number % 2 == 0 {
                    Quota::update(id)
                        .set(Quota::IN_USE.to(Quota::IN_USE + 1))
                        .filter(Quota::IN_USE.lt(most))
                } else {
                    Quota::update(id)
                        .set(Quota::IN_USE.to(seen[place] + 1))
                        .expect(Quota::IN_USE.is(seen[place]))
                        .filter(Quota::IN_USE.lt(most))
                };
                match update.run_on::<DB>(&mut connection).await {
                    Ok(answer) if answer.happened() => {
                        taken[place] += 1;
                        seen[place] += 1;
                    }
                    Ok(_) => {
                        let explanation = update.explain_on::<DB>(&mut connection).await.unwrap();
                        let actual = &explanation.findings[0].actual[0].1;
                        seen[place] = actual.as_int().unwrap();
                    }
                    // Nothing has happened, says the error; so it must not count.
                    Err(Error::Conflict(_)) => {
                        conflicts.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        });
    }
    let mut taken = [0; ROWS as usize];
    while let Some(of_one) = writers.join_next().await {
        for (sum, one) in taken.iter_mut().zip(of_one.unwrap()) {
            *sum += one;
        }
    }
    let mut happened = 0;
    for (place, told) in taken.into_iter().enumerate() {
        let stored: Quota = row(&world, Quota::update(format!("q{place}"))).await;
        assert_eq!(stored.in_use, told, "row {place} of {}", world.server);
        assert!(told <= most, "the bound holds");
        happened += told;
    }
    assert!(happened > 0);
    assert!(tried.load(Ordering::Relaxed) >= UPDATES);
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}

#[test]
fn every_success_is_counted_once_on_sqlite() {
    run(async { every_success_is_counted_once(databases::sqlite().await).await });
}

#[test]
fn every_success_is_counted_once_on_postgres() {
    run(async { every_success_is_counted_once(databases::postgres().await).await });
}

#[test]
fn every_success_is_counted_once_on_mariadb() {
    run(async { every_success_is_counted_once(databases::mariadb().await).await });
}

#[test]
fn every_success_is_counted_once_on_mysql() {
    run(async { every_success_is_counted_once(databases::mysql().await).await });
}
