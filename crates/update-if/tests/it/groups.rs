//! Groups: all or none, in order, whatever is in the way.

use std::sync::Arc;

use update_if::{Backend, Error, GroupAnswer, Resource, Update};

use crate::cinder::{Quota, Volume, row, stored, tables, volume};
use crate::databases::World;
use crate::on_every_database;

fn take(id: &'static str, by: i64) -> Update {
    Quota::update(id).set(Quota::IN_USE.to(Quota::IN_USE + by)).filter(Quota::IN_USE.le(1000 - by))
}

async fn quotas<DB: Backend>(world: &World<DB>) {
    tables(world).await;
    world.sql("INSERT INTO quotas (id, in_use) VALUES ('a', 0), ('b', 0)").await;
}

async fn in_use<DB: Backend>(world: &World<DB>, id: &'static str) -> i64 {
    row::<Quota, DB>(world, Quota::update(id)).await.in_use
}

on_every_database! {
    async fn group_happens_as_a_whole_or_not_at_all(world) {
        quotas(&world).await;
        let both = update_if::Group::new().and(take("a", 600)).and(take("b", 300));
        let answer = both.run(&world.pool).await.unwrap();
        assert!(matches!(&answer, GroupAnswer::Happened(answers) if answers.len() == 2));
        let answer = both.run(&world.pool).await.unwrap();
        let GroupAnswer::Refused { place, explanation } = answer else { panic!("{answer:?}") };
        assert_eq!((place, explanation.findings[0].actual[0].1.as_int()), (0, Some(600)));
        // The first holds, the second does not: neither happens.
        let last = update_if::Group::new().and(take("b", 300)).and(take("a", 600));
        let answer = last.run(&world.pool).await.unwrap();
        assert!(matches!(answer, GroupAnswer::Refused { place: 1, .. }));
        assert_eq!((in_use(&world, "a").await, in_use(&world, "b").await), (600, 300));
    }

    async fn later_updates_of_a_group_see_the_earlier_ones(world) {
        tables(&world).await;
        volume(&world, "v2").await;
        let swap = |id: &'static str, from: &'static str, to: &'static str| {
            Volume::update(id).set(Volume::STATUS.to(to)).expect(Volume::STATUS.is(from))
        };
        let group = update_if::Group::new()
            .and(swap("v1", "available", "one"))
            .and(swap("v1", "one", "two"))
            .and(swap("v2", "nonsense", "three"));
        assert!(!group.run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v1").await.status, "available");
        let group = update_if::Group::new()
            .and(swap("v1", "available", "one"))
            .and(swap("v1", "one", "two"));
        assert!(group.run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v1").await.status, "two");
    }

    async fn statement_that_cannot_be_meant_stops_the_group_before_it_begins(world) {
        quotas(&world).await;
        let bad = Quota::update("b").set(update_if::column("nothing").to(1));
        let group = update_if::Group::new().and(take("a", 1)).and(bad);
        assert!(matches!(group.run(&world.pool).await, Err(Error::Invalid(_))));
        assert_eq!(in_use(&world, "a").await, 0);
    }

    async fn deadlocks_are_tried_again(world) {
        quotas(&world).await;
        let world = Arc::new(world);
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..8 {
            let world = world.clone();
            writers.spawn(async move {
                let mut happened = 0;
                for _ in 0..10 {
                    // Against all advice, half of them in the other order.
                    let (first, second) = if writer % 2 == 0 { ("a", "b") } else { ("b", "a") };
                    let group = update_if::Group::new().and(take(first, 1)).and(take(second, 1));
                    match group.attempts(100).run(&world.pool).await {
                        Ok(answer) => happened += i64::from(answer.happened()),
                        Err(error) => panic!("{}: {error}", world.server),
                    }
                }
                happened
            });
        }
        let mut happened = 0;
        while let Some(of_one) = writers.join_next().await {
            happened += of_one.unwrap();
        }
        assert_eq!(happened, 80);
        assert_eq!((in_use(&world, "a").await, in_use(&world, "b").await), (80, 80));
    }

    async fn pool_connection_and_transaction_are_all_accepted(world) {
        quotas(&world).await;
        assert!(take("a", 1).run(&world.pool).await.unwrap().happened());
        let mut connection = world.pool.acquire().await.unwrap();
        assert!(take("a", 1).run_on::<DB>(&mut connection).await.unwrap().happened());
        drop(connection);
        // What is done in a transaction of the user's own is undone with it: statements, objects and groups.
        let mut transaction = world.pool.begin().await.unwrap();
        assert!(take("a", 1).run(&mut transaction).await.unwrap().happened());
        let loaded = update_if::Loaded::<Volume>::of(&Volume::update("v1"), &mut transaction).await;
        let mut volume = loaded.unwrap().unwrap();
        let update = volume.conditional_update().set(Volume::SIZE.to(Volume::SIZE + 1));
        assert!(update.run(&mut transaction).await.unwrap().happened());
        assert_eq!(volume.size, 2);
        let group = update_if::Group::new().and(take("a", 1)).and(take("b", 1));
        assert!(group.run(&mut transaction).await.unwrap().happened());
        // A group that is refused undoes itself alone.
        let refused = update_if::Group::new().and(take("b", 1)).and(take("a", 1000));
        assert!(!refused.run(&mut transaction).await.unwrap().happened());
        assert!(take("b", 1).run(&mut transaction).await.unwrap().happened());
        transaction.rollback().await.unwrap();
        assert_eq!((in_use(&world, "a").await, in_use(&world, "b").await), (2, 0));
        assert_eq!(stored(&world, "v1").await.size, 1);
        assert_eq!(Quota::TABLE.name(), "quotas");
    }
}
