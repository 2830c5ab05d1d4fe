//! Fourteen uses of the original in a block storage service, ported, on every database.

use update_if::{Resource, Subselect, case, exists, now};

use crate::cinder::{
    Attachment, Backup, Group, Metadata, Quota, Service, Snapshot, Volume, VolumeType, loaded, row,
    snapshot, stored, tables, volume,
};
use crate::on_every_database;

const NOT_MIGRATING: [Option<&str>; 4] = [None, Some("deleting"), Some("error"), Some("success")];
const DELETABLE: [&str; 5] =
    ["available", "error", "error_restoring", "error_extending", "error_managing"];

fn has_live_snapshots() -> Subselect {
    exists(Snapshot::TABLE)
        .filter(Snapshot::VOLUME_ID.eq(Volume::ID))
        .filter(Snapshot::DELETED.is(false))
}

fn has_live_attachments() -> Subselect {
    exists(Attachment::TABLE)
        .filter(Attachment::VOLUME_ID.eq(Volume::ID))
        .filter(Attachment::DELETED.is(false))
}

fn is_attached() -> Subselect {
    has_live_attachments().filter(Attachment::ATTACH_STATUS.is("attached"))
}

on_every_database! {
    // 1
    async fn delete_and_cascade(world) {
        tables(&world).await;
        snapshot(&world, "s1", "v1").await;
        let delete = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .set(Volume::TERMINATED_AT.to(now()))
            .expect(Volume::STATUS.is_any_of(DELETABLE))
            .expect(Volume::ATTACH_STATUS.is_not("attached"))
            .expect(Volume::MIGRATION_STATUS.is_any_of(NOT_MIGRATING))
            .expect(Volume::GROUP_ID.is_null());
        let plain = delete.clone().filter(!has_live_snapshots());
        assert!(!plain.run(&world.pool).await.unwrap().happened());
        let says = plain.explain(&world.pool).await.unwrap().sentence("be deleted");
        assert_eq!(says, "volume v1 cannot be deleted: it has 1 snapshot");

        // Cascade: the snapshots may be there, if each can go.
        let busy = has_live_snapshots().filter(Snapshot::STATUS.is_none_of(["available", "error"]));
        assert!(delete.filter(!busy).run(&world.pool).await.unwrap().happened());
        let each = Snapshot::update("s1")
            .set(Snapshot::STATUS.to("deleting"))
            .expect(Snapshot::STATUS.is_any_of(["available", "error"]));
        assert!(each.run(&world.pool).await.unwrap().happened());
        let stored = stored(&world, "v1").await;
        assert_eq!(stored.status, "deleting");
        assert!(stored.terminated_at.is_some());
    }

    // 2
    async fn reserve(world) {
        tables(&world).await;
        let read = loaded(&world, "v1").await;
        let states: &[&str] =
            if read.multiattach { &["available", "in-use"] } else { &["available"] };
        let reserve = Volume::update("v1")
            .set(Volume::STATUS.to("attaching"))
            .expect(Volume::MULTIATTACH.is(read.multiattach))
            .expect(Volume::STATUS.is_any_of(states.iter().copied()));
        assert!(reserve.run(&world.pool).await.unwrap().happened());
        assert!(!reserve.run(&world.pool).await.unwrap().happened(), "the second is refused");
    }

    // 3
    async fn unreserve(world) {
        tables(&world).await;
        volume(&world, "v2").await;
        world.sql("INSERT INTO volume_attachment (id, volume_id, attach_status) VALUES ('a', 'v2', 'attached')").await;
        world.sql("UPDATE volumes SET status = 'attaching'").await;
        for (id, status) in [("v1", "available"), ("v2", "in-use")] {
            let back = case().when(is_attached(), "in-use").or_else("available");
            let update = Volume::update(id)
                .set(Volume::STATUS.to(back))
                .expect(Volume::STATUS.is("attaching"));
            assert!(update.run(&world.pool).await.unwrap().happened());
            assert_eq!(stored(&world, id).await.status, status);
            assert!(!update.run(&world.pool).await.unwrap().happened(), "nothing to do");
        }
    }

    // 4
    async fn begin_and_roll_detaching(world) {
        tables(&world).await;
        let begin = Volume::update("v1")
            .set(Volume::STATUS.to("detaching"))
            .expect(Volume::STATUS.is("in-use"))
            .expect(Volume::ATTACH_STATUS.is("attached"))
            .expect(Volume::MIGRATION_STATUS.is_any_of(NOT_MIGRATING));
        let roll = Volume::update("v1")
            .set(Volume::STATUS.to("in-use"))
            .expect(Volume::STATUS.is("detaching"));
        assert!(!begin.run(&world.pool).await.unwrap().happened());
        world.sql("UPDATE volumes SET status = 'in-use', attach_status = 'attached'").await;
        assert!(!roll.run(&world.pool).await.unwrap().happened());
        assert!(begin.run(&world.pool).await.unwrap().happened());
        assert!(roll.run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v1").await.status, "in-use");
    }

    // 5
    async fn copy_volume_to_image(world) {
        tables(&world).await;
        let upload = Volume::update("v1")
            .set(Volume::STATUS.to("uploading"))
            .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
            .expect(Volume::STATUS.is_any_of(["available", "in-use"]));
        assert!(upload.run(&world.pool).await.unwrap().happened());
        let back = Volume::update("v1")
            .set(Volume::STATUS.to(Volume::PREVIOUS_STATUS))
            .set(Volume::PREVIOUS_STATUS.to(None::<&str>))
            .expect(Volume::STATUS.is("uploading"));
        assert!(back.run(&world.pool).await.unwrap().happened());
        let stored = stored(&world, "v1").await;
        assert_eq!((stored.status.as_str(), stored.previous_status), ("available", None));
        assert!(!back.run(&world.pool).await.unwrap().happened());
    }

    // 6
    async fn extend(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        let extend = volume.conditional_update()
            .set(Volume::STATUS.to("extending"))
            .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
            .expect(Volume::STATUS.is_any_of(["available", "in-use"]));
        assert!(extend.run(&world.pool).await.unwrap().happened());
        // Undone on exactly what was written.
        let was = volume.previous_status.clone();
        let undo = volume.conditional_update()
            .set(Volume::STATUS.to(was.clone()))
            .set(Volume::PREVIOUS_STATUS.to(None::<&str>))
            .expect(Volume::STATUS.is("extending"))
            .expect(Volume::PREVIOUS_STATUS.is(was));
        assert!(undo.run(&world.pool).await.unwrap().happened());
        assert_eq!(volume.status, "available");
    }

    // 7
    async fn migrate_volume(world) {
        tables(&world).await;
        let maintenance = case().when(Volume::STATUS.eq("available"), "maintenance").or_else(Volume::STATUS);
        let migrate = |host: &'static str| Volume::update("v1")
            .set(Volume::MIGRATION_STATUS.to("starting"))
            .set(Volume::STATUS.to(maintenance.clone()))
            .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
            .expect(Volume::STATUS.is_any_of(["available", "in-use"]))
            .expect(Volume::MIGRATION_STATUS.is_any_of(NOT_MIGRATING))
            .expect(Volume::GROUP_ID.is_any_of([None, Some("")]))
            .filter(Volume::HOST.is_not(host) | Volume::CLUSTER_NAME.is_not_null())
            .filter(!has_live_snapshots());
        assert!(!migrate("dummy").run(&world.pool).await.unwrap().happened(), "it is there already");
        assert!(migrate("other").run(&world.pool).await.unwrap().happened());
        let stored = stored(&world, "v1").await;
        assert_eq!(stored.status, "maintenance");
        assert_eq!(stored.previous_status.as_deref(), Some("available"));
    }

    // 8
    async fn retype(world) {
        tables(&world).await;
        world.sql("UPDATE volumes SET volume_type_id = 't1', status = 'in-use'").await;
        world.sql("INSERT INTO volume_types (id, qos_specs_id) VALUES ('t1', 'q1'), ('t2', 'q1'), ('t3', NULL), ('t4', 'q2')").await;
        // While in use, the type may change only to one of the same quality of service: read by a scalar subquery, and
        // NULL like NULL by an EXISTS that is negated twice.
        let retype = |to: &'static str| {
            let ours = VolumeType::QOS_SPECS_ID.of_row(VolumeType::ID.eq(Volume::VOLUME_TYPE_ID));
            let same = exists(VolumeType::TABLE)
                .at("target")
                .filter(VolumeType::ID.at("target").is(to))
                .filter(VolumeType::QOS_SPECS_ID.at("target").eq(ours));
            let different = exists(VolumeType::TABLE)
                .at("neither")
                .filter(VolumeType::ID.at("neither").eq(Volume::VOLUME_TYPE_ID))
                .filter(VolumeType::QOS_SPECS_ID.at("neither").is_not_null());
            Volume::update("v1")
                .set(Volume::STATUS.to("retyping"))
                .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
                .expect(Volume::STATUS.is_any_of(["available", "in-use"]))
                .filter(Volume::STATUS.eq("available") | same | !(different))
        };
        let reserve = |by: i64| Quota::update("volumes").set(Quota::IN_USE.to(Quota::IN_USE + by));
        world.sql("INSERT INTO quotas (id, in_use) VALUES ('volumes', 1)").await;
        for (to, happens) in [("t3", false), ("t4", false), ("t2", true)] {
            assert!(reserve(1).run(&world.pool).await.unwrap().happened());
            let happened = retype(to).run(&world.pool).await.unwrap().happened();
            assert_eq!(happened, happens, "{to}");
            if !happened {
                assert!(reserve(-1).run(&world.pool).await.unwrap().happened());
            }
        }
        let quota: Quota = row(&world, Quota::update("volumes")).await;
        assert_eq!(quota.in_use, 2, "what was refused is given back");
    }

    // 9, 10
    async fn reimage_and_delete_snapshot(world) {
        tables(&world).await;
        snapshot(&world, "s1", "v1").await;
        let reimage = Volume::update("v1")
            .set(Volume::STATUS.to("downloading"))
            .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
            .expect(Volume::STATUS.is_any_of(["available", "error", "reserved"]));
        assert!(reimage.run(&world.pool).await.unwrap().happened());
        let delete = Snapshot::update("s1")
            .set(Snapshot::STATUS.to("deleting"))
            .expect(Snapshot::STATUS.is_any_of(["available", "error"]));
        assert!(delete.run(&world.pool).await.unwrap().happened());
        assert!(!delete.run(&world.pool).await.unwrap().happened());
    }

    // 11, as one group: the original's second update could fail after the first had happened
    async fn revert_to_snapshot(world) {
        tables(&world).await;
        snapshot(&world, "s1", "v1").await;
        let revert = || update_if::Group::new()
            .and(Volume::update("v1")
                .set(Volume::STATUS.to("reverting"))
                .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
                .expect(Volume::STATUS.is_any_of(["available", "in-use"])))
            .and(Snapshot::update("s1")
                .set(Snapshot::STATUS.to("restoring"))
                .expect(Snapshot::STATUS.is("available")));
        world.sql("UPDATE snapshots SET status = 'deleting'").await;
        let answer = revert().run(&world.pool).await.unwrap();
        let update_if::GroupAnswer::Refused { place: 1, explanation } = answer else { panic!("{answer:?}") };
        assert_eq!(
            explanation.sentence("be restored"),
            "snapshot s1 cannot be restored: status is 'deleting', expected 'available'"
        );
        assert_eq!(stored(&world, "v1").await.status, "available", "neither happened");
        world.sql("UPDATE snapshots SET status = 'available'").await;
        assert!(revert().run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v1").await.status, "reverting");
    }

    // 12
    async fn replication_failover_and_freeze(world) {
        tables(&world).await;
        world.sql("INSERT INTO services (id, host, cluster_name, replication_status) VALUES \
                   (1, 'a', 'c', 'enabled'), (2, 'b', 'c', 'error'), (3, 'd', 'e', 'enabled')").await;
        let failover = |id: i64| Service::update(id)
            .set(Service::REPLICATION_STATUS.to("failing-over"))
            .expect(Service::REPLICATION_STATUS.is_any_of(["enabled", "failed-over"]));
        assert!(failover(1).run(&world.pool).await.unwrap().happened());
        assert!(!failover(2).run(&world.pool).await.unwrap().happened(), "partial success");
        let freeze = Service::update_all()
            .set(Service::FROZEN.to(true))
            .expect(Service::CLUSTER_NAME.is("e"))
            .expect(Service::FROZEN.is(false));
        assert_eq!(freeze.run(&world.pool).await.unwrap().matched, 1);
        assert_eq!(freeze.run(&world.pool).await.unwrap().matched, 0);
    }

    // 13
    async fn group_delete_and_update(world) {
        tables(&world).await;
        let groups = match DB::DIALECT {
            update_if::Dialect::Mysql => "`groups`",
            update_if::Dialect::Sqlite | update_if::Dialect::Postgres => "\"groups\"",
        };
        world.sql(&format!("INSERT INTO {groups} (id, status, source_group_id) VALUES ('g1', 'available', NULL), ('g2', 'creating', 'g1')")).await;
        let is_source = exists(Group::TABLE)
            .at("copy")
            .filter(Group::STATUS.at("copy").is("creating"))
            .filter(Group::DELETED.at("copy").is(false))
            .filter(Group::SOURCE_GROUP_ID.at("copy").eq(Group::ID));
        let has_volumes = exists(Volume::TABLE).filter(Volume::GROUP_ID.eq(Group::ID));
        let has_snapshots = exists(Snapshot::TABLE).filter(
            Snapshot::VOLUME_ID.eq(Volume::ID.of_row(Volume::GROUP_ID.eq(Group::ID))),
        );
        let has_attached = exists(Attachment::TABLE)
            .filter(Attachment::VOLUME_ID.eq(Volume::ID.of_row(Volume::GROUP_ID.eq(Group::ID))));
        let delete = Group::update("g1")
            .set(Group::STATUS.to("deleting"))
            .expect(Group::STATUS.is_any_of(["available", "error"]))
            .filter(!has_volumes)
            .filter(!has_snapshots)
            .filter(!has_attached)
            .filter(!is_source);
        assert!(!delete.run(&world.pool).await.unwrap().happened(), "it is being copied");
        let says = delete.explain(&world.pool).await.unwrap().sentence("be deleted");
        assert_eq!(says, "group g1 cannot be deleted: it has 1 group");
        world.sql(&format!("UPDATE {groups} SET status = 'available' WHERE id = 'g2'")).await;
        assert!(delete.run(&world.pool).await.unwrap().happened());
        // An update that says when it was.
        let at: update_if::Moment = "2026-05-06 07:08:09.123456".parse().unwrap();
        let update = Group::update("g1").set(Group::STATUS.to("updating")).set(Group::UPDATED_AT.to(at));
        assert!(update.run(&world.pool).await.unwrap().happened());
        let group: Group = row(&world, Group::update("g1")).await;
        assert_eq!(group.updated_at, Some(at));
    }

    // 14
    async fn transfers_metadata_and_many_rows(world) {
        tables(&world).await;
        // Transfer: awaiting-transfer, and back.
        let begin = Volume::update("v1")
            .set(Volume::STATUS.to("awaiting-transfer"))
            .expect(Volume::STATUS.is("available"));
        let undo = Volume::update("v1")
            .set(Volume::STATUS.to("available"))
            .expect(Volume::STATUS.is("awaiting-transfer"));
        assert!(begin.run(&world.pool).await.unwrap().happened());
        assert!(undo.run(&world.pool).await.unwrap().happened());
        // Metadata: all keys but those that stay are marked as deleted, in one statement.
        let insert = match DB::DIALECT {
            update_if::Dialect::Mysql => "INSERT INTO metadata (id, volume_id, `key`) VALUES",
            update_if::Dialect::Sqlite | update_if::Dialect::Postgres => "INSERT INTO metadata (id, volume_id, \"key\") VALUES",
        };
        world.sql(&format!("{insert} (1, 'v1', 'a'), (2, 'v1', 'b'), (3, 'v1', 'c'), (4, 'v2', 'a')")).await;
        let replace = Metadata::update_all()
            .set(Metadata::DELETED.to(true))
            .set(Metadata::DELETED_AT.to(now()))
            .expect(Metadata::VOLUME_ID.is("v1"))
            .expect(Metadata::NAME.is_none_of(["b"]));
        assert_eq!(replace.run(&world.pool).await.unwrap().matched, 2);
        assert_eq!(replace.run(&world.pool).await.unwrap().matched, 0, "deleted rows are not considered");
        let gone: Metadata = row(&world, Metadata::update(1)).await;
        assert!(gone.deleted && gone.deleted_at.is_some());
        // All services of a cluster at once.
        world.sql("INSERT INTO services (id, host, cluster_name, replication_status, active_backend_id) VALUES \
                   (1, 'a', 'c', 'failed-over', 'x'), (2, 'b', 'c', 'failed-over', 'x'), (3, 'd', NULL, 'error', 'y')").await;
        let reset = Service::update_all()
            .set(Service::REPLICATION_STATUS.to("enabled"))
            .set(Service::ACTIVE_BACKEND_ID.to(None::<&str>))
            .expect(Service::CLUSTER_NAME.is("c"));
        assert_eq!(reset.run(&world.pool).await.unwrap().matched, 2);
        let other: Service = row(&world, Service::update(3)).await;
        assert_eq!(other.active_backend_id.as_deref(), Some("y"));
        // When a manager starts, what it left in use is in error.
        world.sql("UPDATE volumes SET status = 'in-use', attach_status = 'attached'").await;
        let init = Volume::update_all().set(Volume::STATUS.to("error")).expect(Volume::STATUS.is("in-use")).filter(!is_attached());
        assert_eq!(init.run(&world.pool).await.unwrap().matched, 1);
    }

    // The guide's own: a backup is restored into a volume that must be available, and large enough.
    async fn conditions_on_another_table(world) {
        tables(&world).await;
        volume(&world, "v2").await;
        world.sql("UPDATE volumes SET size = 5, status = 'in-use' WHERE id = 'v2'").await;
        world.sql("INSERT INTO backups (id, volume_id, status, size) VALUES ('b1', 'v1', 'available', 3)").await;
        let restore = |into: &'static str| Backup::update("b1")
            .set(Backup::STATUS.to("restoring"))
            .expect(Backup::STATUS.is("available"))
            .expect(Volume::ID.is(into))
            .expect(Volume::STATUS.is("available"))
            .filter(Volume::SIZE.ge(Backup::SIZE));
        assert!(!restore("v1").run(&world.pool).await.unwrap().happened(), "too small");
        assert!(!restore("v2").run(&world.pool).await.unwrap().happened(), "in use");
        let says = restore("v2").explain(&world.pool).await.unwrap().sentence("be restored");
        assert_eq!(
            says,
            "backup b1 cannot be restored: there is nothing in volumes with id 'v2' and status 'available' and size at least size"
        );
        world.sql("UPDATE volumes SET status = 'available'").await;
        assert!(restore("v2").run(&world.pool).await.unwrap().happened());
    }

    // The guide's own: a quota.
    async fn quota_is_never_exceeded(world) {
        tables(&world).await;
        world.sql("INSERT INTO quotas (id, in_use) VALUES ('gigabytes', 0)").await;
        let (most, size) = (10, 3);
        let take = Quota::update("gigabytes")
            .set(Quota::IN_USE.to(Quota::IN_USE + size))
            .filter(Quota::IN_USE.le(most - size));
        let mut taken = 0;
        while take.run(&world.pool).await.unwrap().happened() {
            taken += 1;
        }
        assert_eq!(taken, 3);
        let says = take.explain(&world.pool).await.unwrap().sentence("take 3 more");
        assert_eq!(says, "quota gigabytes cannot take 3 more: in_use is 9, expected at most 7");
    }
}
