//! The unit tests of the original, each under its own name, on every database.

use update_if::{Compatibility, Invalid, Resource, case, column, exists};

use crate::cinder::{Attachment, Snapshot, Volume, loaded, snapshot, stored, tables, volume};
use crate::on_every_database;

fn has_snapshot() -> update_if::Subselect {
    exists(Snapshot::TABLE)
        .filter(Snapshot::VOLUME_ID.eq(Volume::ID))
        .filter(Snapshot::DELETED.is(false))
}

on_every_database! {
    // 1
    async fn non_iterable_expected(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        let update = volume.conditional_update()
            .set(Volume::STATUS.to("deleting"))
            .set(Volume::SIZE.to(2))
            .expect(Volume::STATUS.is("available"))
            .expect(Volume::MIGRATION_STATUS.is_null());
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!((volume.status.as_str(), volume.size), ("deleting", 2));
        assert!(volume.dirty().is_empty());
        assert_eq!(stored(&world, "v1").await, *volume);
    }

    // 2
    async fn non_iterable_expected_model_field(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        let update = volume.conditional_update()
            .set(Volume::STATUS.to("deleting"))
            .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
            .expect(Volume::STATUS.is("available"));
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!(volume.status, "deleting");
        assert_eq!(volume.previous_status.as_deref(), Some("available"));
        assert_eq!(stored(&world, "v1").await, *volume);
    }

    // 3
    async fn non_iterable_expected_save_all(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        volume.size += 1;
        assert_eq!(volume.dirty(), ["size"]);
        let update = volume.conditional_update()
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is("available"))
            .expect(Volume::AVAILABILITY_ZONE.is_not_null())
            .save_all();
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert!(volume.dirty().is_empty());
        let stored = stored(&world, "v1").await;
        assert_eq!((stored.status.as_str(), stored.size), ("deleting", 2));
        assert_eq!(stored, *volume);
    }

    // 4
    async fn non_iterable_expected_dont_save_all(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        volume.size += 1;
        let update = volume.conditional_update()
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is("available"));
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!(volume.dirty(), ["size"], "not asked to be saved, so it is not");
        assert_eq!(volume.size, 2);
        let stored = stored(&world, "v1").await;
        assert_eq!((stored.status.as_str(), stored.size), ("deleting", 1));
    }

    // 5
    async fn fail_non_iterable_expected_save_all(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        let before = stored(&world, "v1").await;
        volume.size += 1;
        let update = volume.conditional_update()
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is("in-use"))
            .save_all();
        assert!(!update.run(&world.pool).await.unwrap().happened());
        assert_eq!(volume.dirty(), ["size"]);
        assert_eq!((volume.status.as_str(), volume.size), ("available", 2));
        assert_eq!(stored(&world, "v1").await, before);
    }

    // 6
    async fn default_expected(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        for status in ["deleting", "available"] {
            // The second time works as well: the object knows when it was updated.
            let update = volume.conditional_update().set(Volume::STATUS.to(status));
            assert!(update.run(&world.pool).await.unwrap().happened());
            assert_eq!(stored(&world, "v1").await, *volume);
        }
    }

    // 7
    async fn default_conditional_fail(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        world.sql("UPDATE volumes SET size = 2").await;
        let update = volume.conditional_update().set(Volume::STATUS.to("deleting"));
        assert!(!update.run(&world.pool).await.unwrap().happened());
        assert_eq!((volume.status.as_str(), volume.size), ("available", 1));
        let stored = stored(&world, "v1").await;
        assert_eq!((stored.status.as_str(), stored.size), ("available", 2));
    }

    // 8
    async fn default_expected_with_dirty(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        let other = Volume::update("v1").set(Volume::SIZE.to(2));
        assert!(other.run(&world.pool).await.unwrap().happened());
        volume.size += 1;
        let update = volume.conditional_update().set(Volume::STATUS.to("deleting"));
        assert!(!update.run(&world.pool).await.unwrap().happened());
        assert_eq!(volume.dirty(), ["size"]);
        assert_eq!(stored(&world, "v1").await.status, "available");
    }

    // 9
    async fn negated_non_iterable_expected(world) {
        tables(&world).await;
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is_not("in-use"))
            .expect(Volume::SIZE.is_not(2));
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v1").await.status, "deleting");
    }

    // 10
    async fn non_iterable_expected_filter(world) {
        tables(&world).await;
        volume(&world, "v2").await;
        snapshot(&world, "s2", "v2").await;
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is("available"))
            .filter(!has_snapshot());
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v1").await.status, "deleting");
        assert_eq!(stored(&world, "v2").await.status, "available");
    }

    // 11
    async fn iterable_expected(world) {
        tables(&world).await;
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is_any_of(["error", "available"]))
            .expect(Volume::SIZE.is_any_of(0..10));
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v1").await.status, "deleting");
    }

    // 12
    async fn negated_iterable_expected(world) {
        tables(&world).await;
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is_none_of(["creating", "in-use"]))
            .expect(Volume::SIZE.is_none_of(2..10));
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v1").await.status, "deleting");
    }

    // 13, 14, 15, 16
    async fn fail_whatever_is_expected(world) {
        tables(&world).await;
        let before = stored(&world, "v1").await;
        for expected in [
            Volume::STATUS.is("in-use"),
            Volume::STATUS.is_not("available"),
            Volume::STATUS.is_any_of(["in-use", "error"]),
            Volume::SIZE.is_none_of(0..10),
            Volume::SIZE.is_any_of(std::iter::empty::<i64>()),
        ] {
            let update = Volume::update("v1").set(Volume::STATUS.to("deleting"));
            let update = update.expect(expected.clone());
            assert!(!update.run(&world.pool).await.unwrap().happened(), "{expected:?}");
            assert_eq!(stored(&world, "v1").await, before);
        }
    }

    // 17
    async fn fail_non_iterable_expected_filter(world) {
        tables(&world).await;
        volume(&world, "v2").await;
        volume(&world, "v3").await;
        snapshot(&world, "s1", "v1").await;
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is("available"))
            .filter(!has_snapshot());
        assert!(!update.run(&world.pool).await.unwrap().happened());
        for id in ["v1", "v2", "v3"] {
            assert_eq!(stored(&world, id).await.status, "available");
        }
    }

    // 18, 19
    async fn case_value_and_else(world) {
        tables(&world).await;
        volume(&world, "v2").await;
        snapshot(&world, "s1", "v1").await;
        for (id, expected) in [("v1", "has-snapshot"), ("v2", "no-snapshot")] {
            let mut volume = loaded(&world, id).await;
            let update = volume.conditional_update()
                .set(Volume::STATUS.to(
                    case().when(has_snapshot(), "has-snapshot").or_else("no-snapshot"),
                ))
                .expect(Volume::STATUS.is("available"));
            assert!(update.run(&world.pool).await.unwrap().happened());
            assert_eq!(volume.status, expected, "the database's decision is in the object");
            assert_eq!(stored(&world, id).await, *volume);
        }
    }

    // 20
    async fn case_value_fail(world) {
        tables(&world).await;
        let before = stored(&world, "v1").await;
        let mut volume = loaded(&world, "v1").await;
        let decided = case().when(has_snapshot(), "has-snapshot").or_else("no-snapshot");
        let update = volume.conditional_update()
            .set(Volume::STATUS.to(decided))
            .expect(Volume::STATUS.is("in-use"));
        assert!(!update.run(&world.pool).await.unwrap().happened());
        assert_eq!(*volume, before);
        assert_eq!(stored(&world, "v1").await, before);
    }

    // 21
    async fn iterable_with_none_expected(world) {
        tables(&world).await;
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is_any_of([None, Some("available")]))
            .expect(Volume::MIGRATION_STATUS.is_any_of([None, Some("finished")]));
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v1").await.status, "deleting");
    }

    // 22, and the bug beside it: strict by default, the original's answer on request
    async fn iterable_with_not_none_expected(world) {
        tables(&world).await;
        let update = Volume::update("v1")
            .set(Volume::SIZE.to(2))
            .expect(Volume::STATUS.is_none_of([None, Some("in-use")]));
        assert!(update.run(&world.pool).await.unwrap().happened());

        // migration_status is NULL, and NULL is among the excluded.
        let excluded = Volume::MIGRATION_STATUS.is_none_of([None, Some("migrating")]);
        let update = Volume::update("v1").set(Volume::SIZE.to(3)).expect(excluded);
        assert!(!update.run(&world.pool).await.unwrap().happened(), "strict");
        let update = update.compatibility(Compatibility::Cinder);
        assert!(update.run(&world.pool).await.unwrap().happened(), "as in Cinder");
    }

    // 23
    async fn not_includes_null(world) {
        tables(&world).await;
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::MIGRATION_STATUS.is_none_of(["migrating", "error"]))
            .expect(Volume::PREVIOUS_STATUS.is_not("in-use"));
        assert!(update.run(&world.pool).await.unwrap().happened());
    }

    // 24
    async fn not_includes_null_fails(world) {
        tables(&world).await;
        for expected in [
            Volume::MIGRATION_STATUS.is_none_of(["migrating", "error"]).unless_null(),
            Volume::MIGRATION_STATUS.is_not("migrating").unless_null(),
        ] {
            let update = Volume::update("v1").set(Volume::STATUS.to("deleting")).expect(expected);
            assert!(!update.run(&world.pool).await.unwrap().happened());
        }
        assert_eq!(stored(&world, "v1").await.status, "available");
    }

    // 25
    async fn use_operation_in_value(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        let update = volume.conditional_update()
            .set(Volume::SIZE.to(Volume::SIZE + 1))
            .expect_nothing();
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!(volume.size, 2);
        assert_eq!(stored(&world, "v1").await.size, 2);
    }

    // 26, 27, 28: whatever the order, right-hand sides see the old row
    async fn every_order_means_the_same(world) {
        tables(&world).await;
        let orders: [&[&str]; 4] =
            [&[], &["status"], &["previous_status", "status"], &["status", "migration_status"]];
        for order in orders {
            let reset = Volume::update("v1")
                .set(Volume::STATUS.to("available"))
                .set(Volume::PREVIOUS_STATUS.to(None::<&str>))
                .set(Volume::MIGRATION_STATUS.to(None::<&str>));
            assert!(reset.run(&world.pool).await.unwrap().happened());
            let was_available = Volume::STATUS.eq("available");
            let update = Volume::update("v1")
                .set(Volume::STATUS.to("retyping"))
                .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
                .set(Volume::MIGRATION_STATUS.to(case().when(was_available, "was-available")))
                .order(order.iter().copied());
            assert!(update.run(&world.pool).await.unwrap().happened());
            let stored = stored(&world, "v1").await;
            assert_eq!(stored.status, "retyping", "{order:?}");
            assert_eq!(stored.previous_status.as_deref(), Some("available"), "{order:?}");
            assert_eq!(stored.migration_status.as_deref(), Some("was-available"), "{order:?}");
        }
        let update = Volume::update("v1").set(Volume::SIZE.to(2)).order(["status"]);
        let error = update.run(&world.pool).await.unwrap_err();
        assert!(error.to_string().contains("the order names status"), "{error}");
    }

    // Beyond the original: two columns can be swapped, also on databases that assign from left to right
    async fn two_and_three_columns_are_swapped(world) {
        tables(&world).await;
        let prepare = Volume::update("v1")
            .set(Volume::PREVIOUS_STATUS.to("b"))
            .set(Volume::HOST.to("c"))
            .set(Volume::CLUSTER_NAME.to("d"));
        assert!(prepare.run(&world.pool).await.unwrap().happened());
        let swap = Volume::update("v1")
            .set(Volume::PREVIOUS_STATUS.to(Volume::HOST))
            .set(Volume::HOST.to(Volume::CLUSTER_NAME))
            .set(Volume::CLUSTER_NAME.to(Volume::PREVIOUS_STATUS));
        for expected in [["c", "d", "b"], ["d", "b", "c"], ["b", "c", "d"]] {
            assert!(swap.run(&world.pool).await.unwrap().happened());
            let stored = stored(&world, "v1").await;
            let found = [stored.previous_status, stored.host, stored.cluster_name];
            assert_eq!(found.map(Option::unwrap), expected);
        }
        // A NULL is swapped like a value.
        let swap = Volume::update("v1")
            .set(Volume::HOST.to(Volume::GROUP_ID))
            .set(Volume::GROUP_ID.to(Volume::HOST));
        assert!(swap.run(&world.pool).await.unwrap().happened());
        let stored = stored(&world, "v1").await;
        assert_eq!((stored.host, stored.group_id.as_deref()), (None, Some("c")));
    }

    // 29, 30
    async fn multitable_fail(world) {
        tables(&world).await;
        let before = stored(&world, "v1").await;
        let updates = [
            Volume::update("v1").set(column("status").to("deleting")).set(Snapshot::STATUS.to("x")),
            Volume::update("v1").set(Snapshot::STATUS.to("x")).set(Attachment::ATTACH_STATUS.to("x")),
        ];
        for update in updates {
            let error = update.run(&world.pool).await.unwrap_err();
            let invalid = matches!(&error, update_if::Error::Invalid(Invalid::TwoTables { .. }));
            assert!(invalid, "{error}");
        }
        assert_eq!(stored(&world, "v1").await, before, "nothing was sent");
    }

    // 31, 32: the helper that most callers use
    async fn update_status_where(world) {
        tables(&world).await;
        let status_where = |from: &'static str, to: &'static str| {
            Volume::update("v1").set(Volume::STATUS.to(to)).expect(Volume::STATUS.is(from))
        };
        assert!(status_where("available", "reserved").run(&world.pool).await.unwrap().happened());
        assert!(!status_where("available", "reserved").run(&world.pool).await.unwrap().happened());
        let filtered = status_where("reserved", "deleting").filter(has_snapshot());
        assert!(!filtered.run(&world.pool).await.unwrap().happened());
        snapshot(&world, "s1", "v1").await;
        assert!(filtered.run(&world.pool).await.unwrap().happened());
    }

    // The facts around them: return value, rows considered, updated_at, reflecting
    async fn a_row_that_is_already_so_matches(world) {
        tables(&world).await;
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("available"))
            .set(Volume::UPDATED_AT.to(Volume::UPDATED_AT));
        assert_eq!(update.run(&world.pool).await.unwrap().matched, 1);
        assert_eq!(Volume::update("v9").run(&world.pool).await.unwrap().matched, 0);
    }

    async fn deleted_rows_are_not_considered(world) {
        use update_if::Deleted;
        tables(&world).await;
        world.sql("UPDATE volumes SET deleted = true").await;
        let update = Volume::update("v1").set(Volume::SIZE.to(2));
        assert!(!update.run(&world.pool).await.unwrap().happened());
        for deleted in [Deleted::Included, Deleted::Only] {
            assert!(update.clone().deleted(deleted).run(&world.pool).await.unwrap().happened());
        }
    }

    async fn updated_at_is_maintained_unless_named(world) {
        tables(&world).await;
        let before = stored(&world, "v1").await.updated_at;
        let kept = Volume::update("v1").set(Volume::UPDATED_AT.to(Volume::UPDATED_AT));
        assert!(kept.run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v1").await.updated_at, before);
        // No values at all: succeeds, and says when.
        assert!(Volume::update("v1").run(&world.pool).await.unwrap().happened());
        assert!(stored(&world, "v1").await.updated_at > before);
        // A table without such a column, and nothing to set: only a check.
        let check = Attachment::update("none").expect(Attachment::DELETED.is(false));
        assert!(!check.run(&world.pool).await.unwrap().happened());
    }

    async fn reflecting_can_be_left_out(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        let before = volume.clone().into_inner();
        let update = volume.conditional_update()
            .set(Volume::STATUS.to("deleting"))
            .without_reflecting();
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!(*volume, before);
        assert_eq!(stored(&world, "v1").await.status, "deleting");
    }

    async fn unknown_columns_are_named(world) {
        tables(&world).await;
        let update = Volume::update("v1").set(column("statos").to("x"));
        let error = update.run(&world.pool).await.unwrap_err().to_string();
        assert!(error.contains("table volumes has no column statos (it has id, status,"), "{error}");
        let update = Volume::update("v1").filter(column("sice").ge(3));
        let error = update.run(&world.pool).await.unwrap_err().to_string();
        assert!(error.contains("no column sice"), "{error}");
        let update = Volume::update("v1").filter(column("size").eq("3"));
        let error = update.run(&world.pool).await.unwrap_err().to_string();
        assert!(error.contains("column size holds Int"), "{error}");
    }
}
