//! Refusals explain themselves; fences stop late writers.

use update_if::{Resource, Value, exists};

use crate::cinder::{Service, Snapshot, Volume, snapshot, stored, tables, volume};
use crate::on_every_database;

fn delete() -> update_if::Update {
    let has_snapshots = exists(Snapshot::TABLE).filter(Snapshot::VOLUME_ID.eq(Volume::ID));
    Volume::update("v1")
        .set(Volume::STATUS.to("deleting"))
        .expect(Volume::STATUS.is_any_of(["available", "error"]))
        .expect(Volume::GROUP_ID.is_null())
        .filter(!has_snapshots)
}

on_every_database! {
    async fn refusal_names_every_unmet_condition_and_the_actual_values(world) {
        tables(&world).await;
        snapshot(&world, "s1", "v1").await;
        snapshot(&world, "s2", "v1").await;
        world.sql("UPDATE volumes SET status = 'in-use'").await;
        let update = delete();
        assert!(!update.run(&world.pool).await.unwrap().happened());
        let why = update.explain(&world.pool).await.unwrap();
        assert_eq!(
            why.sentence("be deleted"),
            "volume v1 cannot be deleted: status is 'in-use', expected one of 'available', 'error'; \
             it has 2 snapshots"
        );
        // The same as data.
        let unmet: Vec<_> = why.unmet().collect();
        assert_eq!(unmet.len(), 2);
        assert_eq!(unmet[0].actual, [("status".to_owned(), Value::Text("in-use".into()))]);
        assert_eq!(unmet[1].count, Some(2));
        assert_eq!(why.findings.len(), 4, "not deleted, status, group, snapshots");
    }

    async fn explanation_says_so_when_everything_holds_by_now(world) {
        tables(&world).await;
        let why = delete().explain(&world.pool).await.unwrap();
        assert!(why.holds_by_now());
        assert_eq!(
            why.sentence("be deleted"),
            "volume v1 could not be deleted, but by now every condition holds: it has changed in between, \
             try again"
        );
    }

    async fn explanation_knows_missing_and_deleted_rows(world) {
        tables(&world).await;
        let gone = Volume::update("v9").expect(Volume::STATUS.is("available"));
        let why = gone.explain(&world.pool).await.unwrap();
        assert_eq!(why.sentence("be deleted"), "volume v9 cannot be deleted: it is not there");
        world.sql("UPDATE volumes SET deleted = true").await;
        let why = delete().explain(&world.pool).await.unwrap();
        assert_eq!(why.sentence("be deleted"), "volume v1 cannot be deleted: it is marked as deleted");
    }

    async fn comparisons_and_own_sentences_are_explained(world) {
        tables(&world).await;
        let update = Volume::update("v1")
            .filter(Volume::SIZE.ge(5))
            .filter(Volume::HOST.eq(Volume::CLUSTER_NAME))
            .filter(Volume::SIZE.gt(7) | Volume::STATUS.is("error"))
            .filter(Volume::MULTIATTACH.is(true).because("it can be attached only once"))
            .filter(exists(Snapshot::TABLE).filter(Snapshot::VOLUME_ID.eq(Volume::ID)));
        assert!(!update.run(&world.pool).await.unwrap().happened());
        assert_eq!(
            update.explain(&world.pool).await.unwrap().sentence("be shared"),
            "volume v1 cannot be shared: size is 1, expected at least 5; \
             host is 'dummy', expected cluster_name (cluster_name is NULL); \
             size is 1, status is 'available', expected size more than 7 or status 'error'; \
             it can be attached only once; it has no snapshot"
        );
    }

    async fn update_of_many_rows_is_explained_by_numbers(world) {
        tables(&world).await;
        volume(&world, "v2").await;
        let update = Volume::update_all()
            .set(Volume::SIZE.to(0))
            .expect(Volume::STATUS.is("error"))
            .filter(Volume::SIZE.le(1));
        assert_eq!(update.run(&world.pool).await.unwrap().matched, 0);
        let says = update.explain(&world.pool).await.unwrap().sentence("be emptied");
        assert_eq!(says, "no volume can be emptied: 2 of 2 fail: status: expected 'error'");
    }

    async fn late_writer_is_refused_and_told_so(world) {
        tables(&world).await;
        let write = |fence: u64, status: &'static str| {
            Volume::update("v1").set(Volume::STATUS.to(status)).fenced_by(Volume::FENCE, fence)
        };
        // The first finds NULL; the same fence may write again; a greater one takes over.
        for (fence, status) in [(7, "first"), (7, "first again"), (12, "second")] {
            assert!(write(fence, status).run(&world.pool).await.unwrap().happened());
        }
        let late = write(7, "late");
        assert!(!late.run(&world.pool).await.unwrap().happened());
        let why = late.explain(&world.pool).await.unwrap();
        assert!(why.is_stale_fence());
        assert_eq!(
            why.sentence("be written"),
            "volume v1 cannot be written: fence 7 is older than 12, which it has already seen"
        );
        let stored = stored(&world, "v1").await;
        assert_eq!((stored.status.as_str(), stored.fence), ("second", Some(12)));
        let error = write(u64::MAX, "x").run(&world.pool).await.unwrap_err();
        assert!(error.to_string().contains("greater than a column can hold"), "{error}");
        // By name as well.
        let named = Volume::update("v1").fenced_by_named("fence", 11);
        assert!(!named.run(&world.pool).await.unwrap().happened());
    }

    async fn any_number_of_rows(world) {
        tables(&world).await;
        for id in ["v2", "v3"] {
            volume(&world, id).await;
        }
        let update = Volume::update_all()
            .set(Volume::SIZE.to(Volume::SIZE * 2 + 1))
            .expect(Volume::ID.is_not("v2"));
        assert_eq!(update.run(&world.pool).await.unwrap().matched, 2);
        assert_eq!(stored(&world, "v3").await.size, 3);
        assert_eq!(stored(&world, "v2").await.size, 1);
        assert_eq!(Service::update_all().run(&world.pool).await.unwrap().matched, 0);
    }
}
