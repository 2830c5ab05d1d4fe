//! What the library costs: building and rendering a statement, and running it beside the same SQL by hand.
//!
//! `cargo bench -p update-if`. Both sides run in turns on one connection, so that what else the machine does hits both.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "figures are for people")]

#[allow(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../tests/it/databases.rs"]
mod databases;
#[path = "../tests/servers/mod.rs"]
mod servers;

use std::hint::black_box;
use std::time::{Duration, Instant};

use update_if::{Dialect, Resource, Update, exists, now};

#[derive(Resource)]
#[resource(table = "volumes")]
#[allow(dead_code, reason = "only its columns are used")]
struct Volume {
    #[resource(key)]
    id: String,
    status: String,
    attach_status: Option<String>,
    migration_status: Option<String>,
    group_id: Option<String>,
    terminated_at: Option<update_if::Moment>,
}

#[derive(Resource)]
#[resource(table = "snapshots")]
#[allow(dead_code, reason = "only its columns are used")]
struct Snapshot {
    #[resource(key)]
    id: String,
    volume_id: String,
    deleted: bool,
}

/// The deletion of a volume: five states, NULL among others, and no live snapshot.
fn typical(id: &str) -> Update {
    Volume::update(id)
        .set(Volume::STATUS.to("deleting"))
        .set(Volume::TERMINATED_AT.to(now()))
        .expect(Volume::STATUS.is_any_of([
            "available",
            "error",
            "error_restoring",
            "error_extending",
            "error_managing",
        ]))
        .expect(Volume::ATTACH_STATUS.is_not("attached"))
        .expect(Volume::MIGRATION_STATUS.is_any_of([None, Some("deleting"), Some("error")]))
        .expect(Volume::GROUP_ID.is_null())
        .filter(
            !exists(Snapshot::TABLE)
                .filter(Snapshot::VOLUME_ID.eq(Volume::ID))
                .filter(Snapshot::DELETED.is(false)),
        )
}

/// From hand to hand: a compare and swap that always matches.
fn swap(from: &'static str, to: &'static str) -> Update {
    Volume::update("v1").set(Volume::STATUS.to(to)).expect(Volume::STATUS.is(from))
}

struct Effort {
    rounds: usize,
    updates: usize,
    renders: u32,
}

fn main() {
    // Run by `cargo test` as well, with the smallest figures, so that it cannot rot.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let effort = if is_bench {
        Effort { rounds: 100, updates: 80, renders: 100_000 }
    } else {
        Effort { rounds: 1, updates: 10, renders: 100 }
    };
    for dialect in Dialect::ALL {
        let start = Instant::now();
        for _ in 0..effort.renders {
            black_box(typical(black_box("v1")).render(dialect).unwrap());
        }
        let each = start.elapsed() / effort.renders;
        println!("building and rendering a typical statement, {dialect:?}: {each:?}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        sqlite(&effort).await;
        if is_bench {
            postgres(&effort).await;
            mysql("MariaDB", databases::mariadb().await, &effort).await;
            mysql("MySQL 5.6", databases::mysql().await, &effort).await;
        }
    });
}

/// The same on each driver: by hand and through the library in turns.
macro_rules! side_by_side {
    ($server:expr, $world:expr, $effort:expr, $by_hand:expr) => {{
        let (world, effort) = ($world, $effort);
        world
            .sql("CREATE TABLE volumes (id VARCHAR(64) PRIMARY KEY, status VARCHAR(64) NOT NULL)")
            .await;
        world.sql("INSERT INTO volumes VALUES ('v1', 'a')").await;
        let mut connection = world.pool.acquire().await.unwrap();
        let (mut by_hand, mut through) = (Vec::new(), Vec::new());
        for round in 0..=effort.rounds {
            // Who begins changes every round: what one leaves behind in the table is not the other's fault.
            for is_by_hand in [round % 2 == 0, round % 2 == 1] {
                let start = Instant::now();
                for _ in 0..effort.updates / 2 {
                    for (from, to) in [("a", "b"), ("b", "a")] {
                        let matched = if is_by_hand {
                            let update = sqlx::query($by_hand).bind(to).bind("v1").bind(from);
                            update.execute(&mut *connection).await.unwrap().rows_affected()
                        } else {
                            swap(from, to).run(&mut *connection).await.unwrap().matched
                        };
                        assert_eq!(matched, 1);
                    }
                }
                let each = start.elapsed() / u32::try_from(effort.updates).unwrap();
                if is_by_hand { by_hand.push(each) } else { through.push(each) }
            }
        }
        report($server, by_hand, through);
    }};
}

async fn sqlite(effort: &Effort) {
    let by_hand =
        r#"UPDATE "volumes" SET "status" = ? WHERE "volumes"."id" = ? AND "volumes"."status" = ?"#;
    side_by_side!("SQLite", databases::sqlite().await, effort, by_hand);
}

async fn postgres(effort: &Effort) {
    let by_hand = r#"UPDATE "volumes" SET "status" = $1 WHERE "volumes"."id" = $2 AND "volumes"."status" = $3"#;
    side_by_side!("PostgreSQL", databases::postgres().await, effort, by_hand);
}

async fn mysql(server: &str, world: databases::World<sqlx::MySql>, effort: &Effort) {
    let by_hand =
        "UPDATE `volumes` SET `status` = ? WHERE `volumes`.`id` = ? AND `volumes`.`status` = ?";
    side_by_side!(server, world, effort, by_hand);
}

/// Medians, without the first round, which prepares the statements.
fn report(server: &str, by_hand: Vec<Duration>, through: Vec<Duration>) {
    let median = |mut times: Vec<Duration>| {
        times.remove(0);
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (by_hand, through) = (median(by_hand), median(through));
    let ratio = through.as_secs_f64() / by_hand.as_secs_f64();
    println!("{server}: by hand {by_hand:?}, through the library {through:?}, ratio {ratio:.3}");
}
