//! The worked examples of `docs/conditional-updates.md`, on every database. The last test checks that what the page
//! shows is what runs here.

use sqlx::Pool;
use update_if::{
    Backend, Compatibility, Error, Group, GroupAnswer, Kind, Loaded, Resource, Table, Update, all,
    case, column, exists, not, now,
};

use crate::cinder::{Backup, Group as VolumeGroup, Quota, Service, Snapshot, Volume, tables};
use crate::databases::World;
use crate::on_every_database;

macro_rules! examples {
    ($(async fn $name:ident($world:ident, $pool:ident) $body:block)*) => {
        mod examples {
            use super::*;
            $(pub(super) async fn $name<DB: Backend>($world: &World<DB>, $pool: &Pool<DB>) -> Result<(), Error> {
                let _ = $world;
                $body
                Ok(())
            })*
        }

        on_every_database! {$(
            async fn $name(world) {
                tables(&world).await;
                examples::$name(&world, &world.pool).await.unwrap();
            }
        )*}
    };
}

examples! {
    async fn simple_match(world, pool) {
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .set(Volume::TERMINATED_AT.to(now()))
            .expect(Volume::STATUS.is("available"))
            .expect(Volume::GROUP_ID.is_null());
        if update.run(pool).await?.happened() {
            println!("it is being deleted, and nobody else is deleting it");
        }
        assert!(!update.run(pool).await?.happened());
    }

    async fn any_of(world, pool) {
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is_any_of(["available", "error", "error_extending"]))
            .expect(Volume::MIGRATION_STATUS.is_any_of([None, Some("deleting"), Some("success")]));
        assert!(update.run(pool).await?.happened());
    }

    async fn exclusion(world, pool) {
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::ATTACH_STATUS.is_not("attached"))
            .expect(Volume::MIGRATION_STATUS.is_none_of(["migrating", "starting"]));
        assert!(update.run(pool).await?.happened());

        // The migration status is NULL. SQL's own rule, on request: NULL does not match.
        let sql = Volume::MIGRATION_STATUS.is_not("migrating").unless_null();
        assert!(!Volume::update("v1").expect(sql).run(pool).await?.happened());
    }

    async fn strict_and_compatible(world, pool) {
        let excluded = Volume::MIGRATION_STATUS.is_none_of([None, Some("migrating")]);
        let strict = Volume::update("v1").expect(excluded);
        assert!(!strict.run(pool).await?.happened(), "NULL is among the excluded");
        let as_in_cinder = strict.compatibility(Compatibility::Cinder);
        assert!(as_in_cinder.run(pool).await?.happened(), "but matches all the same");
    }

    async fn filters(world, pool) {
        let has_snapshots = exists(Snapshot::TABLE)
            .filter(Snapshot::VOLUME_ID.eq(Volume::ID))
            .filter(Snapshot::DELETED.is(false));
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is("available"))
            .filter(!has_snapshots);
        assert!(update.run(pool).await?.happened());
    }

    async fn logic(world, pool) {
        let update = Volume::update("v1")
            .filter(Volume::SIZE.lt(10) | Volume::STATUS.is("error"))
            .filter(not(all([Volume::HOST.is("dummy"), Volume::CLUSTER_NAME.is_not_null()])));
        assert!(update.run(pool).await?.happened());
    }

    async fn reasons(world, pool) {
        world.sql("UPDATE volumes SET status = 'in-use'").await;
        world.sql("INSERT INTO snapshots (id, volume_id, status) VALUES ('s1', 'v1', 'x'), ('s2', 'v1', 'x')").await;
        let delete = Volume::update("v1")
            .set(Volume::STATUS.to("deleting"))
            .expect(Volume::STATUS.is_any_of(["available", "error"]))
            .filter(!exists(Snapshot::TABLE).filter(Snapshot::VOLUME_ID.eq(Volume::ID)));
        if !delete.run(pool).await?.happened() {
            let why = delete.explain(pool).await?;
            assert_eq!(
                why.sentence("be deleted"),
                "volume v1 cannot be deleted: status is 'in-use', expected one of 'available', 'error'; it has 2 snapshots"
            );
            for finding in why.unmet() {
                println!("{} (found {:?})", finding.says, finding.actual);
            }
        }
    }

    async fn another_table(world, pool) {
        world.sql("INSERT INTO backups (id, volume_id, status, size) VALUES ('b1', 'v1', 'available', 1)").await;
        let restore = Backup::update("b1")
            .set(Backup::STATUS.to("restoring"))
            .expect(Backup::STATUS.is("available"))
            .expect(Volume::ID.is("v1"))
            .expect(Volume::STATUS.is("available"))
            .filter(Volume::SIZE.ge(Backup::SIZE));
        assert!(restore.run(pool).await?.happened());
    }

    async fn unmodified_column(world, pool) {
        world.sql("INSERT INTO services (id, host) VALUES (1, 'a')").await;
        let disable = Service::update(1)
            .set(Service::DISABLED.to(true))
            .set(Service::UPDATED_AT.to(Service::UPDATED_AT));
        assert!(disable.run(pool).await?.happened());
    }

    async fn modified_column(world, pool) {
        let retype = Volume::update("v1")
            .set(Volume::STATUS.to("retyping"))
            .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS));
        assert!(retype.run(pool).await?.happened());
        let swap = Volume::update("v1")
            .set(Volume::STATUS.to(Volume::PREVIOUS_STATUS))
            .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS));
        assert!(swap.run(pool).await?.happened());
        let volume = Loaded::<Volume>::of(&Volume::update("v1"), pool).await?.expect("it is there");
        assert_eq!((volume.status.as_str(), volume.previous_status.as_deref()), ("available", Some("retyping")));
    }

    async fn order(world, pool) {
        let update = Volume::update("v1")
            .set(Volume::STATUS.to("retyping"))
            .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
            .order(["status"]);
        assert!(update.run(pool).await?.happened());
        let volume = Loaded::<Volume>::of(&Volume::update("v1"), pool).await?.expect("it is there");
        assert_eq!(volume.previous_status.as_deref(), Some("available"), "the old one all the same");
    }

    async fn quota(world, pool) {
        world.sql("INSERT INTO quotas (id, in_use) VALUES ('gigabytes', 95)").await;
        let (most, size) = (100, 10);
        let take = Quota::update("gigabytes")
            .set(Quota::IN_USE.to(Quota::IN_USE + size))
            .filter(Quota::IN_USE.le(most - size));
        assert!(!take.run(pool).await?.happened(), "five are left");
    }

    async fn conditional_value(world, pool) {
        let migrate = Volume::update("v1").set(Volume::STATUS.to(
            case().when(Volume::STATUS.eq("available"), "maintenance").or_else(Volume::STATUS),
        ));
        assert!(migrate.run(pool).await?.happened());
    }

    async fn object(world, pool) {
        let mut volume = Loaded::<Volume>::of(&Volume::update("v1"), pool).await?.expect("it is there");
        let extend = volume.conditional_update().set(Volume::STATUS.to("extending"));
        assert!(extend.run(pool).await?.happened(), "no field had changed since it was loaded");
        assert_eq!(volume.status, "extending");
    }

    async fn dirty_fields(world, pool) {
        let mut volume = Loaded::<Volume>::of(&Volume::update("v1"), pool).await?.expect("it is there");
        volume.size = 5;
        assert_eq!(volume.dirty(), ["size"]);
        let extend = volume
            .conditional_update()
            .set(Volume::STATUS.to("extending"))
            .expect(Volume::STATUS.is("available"))
            .save_all();
        assert!(extend.run(pool).await?.happened());
        assert!(volume.dirty().is_empty());
    }

    async fn reflecting(world, pool) {
        let mut volume = Loaded::<Volume>::of(&Volume::update("v1"), pool).await?.expect("it is there");
        let grow = volume.conditional_update().set(Volume::SIZE.to(Volume::SIZE + 1));
        assert!(grow.run(pool).await?.happened());
        assert_eq!(volume.size, 2, "decided by the database, and read by the same statement or transaction");

        let unseen = volume.conditional_update().set(Volume::SIZE.to(Volume::SIZE + 1)).without_reflecting();
        assert!(unseen.run(pool).await?.happened());
        assert_eq!(volume.size, 2);
    }

    async fn two_tables(world, pool) {
        let both = Volume::update("v1").set(Volume::STATUS.to("x")).set(Snapshot::STATUS.to("x"));
        assert!(matches!(both.run(pool).await, Err(Error::Invalid(_))), "nothing was sent");
    }

    async fn same_table(world, pool) {
        let is_being_copied = exists(VolumeGroup::TABLE)
            .at("copy")
            .filter(VolumeGroup::STATUS.at("copy").is("creating"))
            .filter(VolumeGroup::SOURCE_GROUP_ID.at("copy").eq(VolumeGroup::ID));
        let delete = VolumeGroup::update("g1")
            .set(VolumeGroup::STATUS.to("deleting"))
            .filter(!is_being_copied);
        assert!(!delete.run(pool).await?.happened(), "there is no such group");
    }

    async fn many_rows(world, pool) {
        let fail = Volume::update_all()
            .set(Volume::STATUS.to("error"))
            .expect(Volume::HOST.is("dummy"))
            .expect(Volume::STATUS.is_any_of(["available", "in-use"]));
        assert_eq!(fail.run(pool).await?.matched, 1);
    }

    async fn group(world, pool) {
        world.sql("INSERT INTO snapshots (id, volume_id, status) VALUES ('s1', 'v1', 'available')").await;
        let revert = Group::new()
            .and(Volume::update("v1")
                .set(Volume::STATUS.to("reverting"))
                .expect(Volume::STATUS.is("available")))
            .and(Snapshot::update("s1")
                .set(Snapshot::STATUS.to("restoring"))
                .expect(Snapshot::STATUS.is("available")));
        match revert.run(pool).await? {
            GroupAnswer::Happened(_) => println!("both"),
            GroupAnswer::Refused { place, explanation } => println!("neither: {place}: {explanation}"),
        }
        assert!(!revert.run(pool).await?.happened());
    }

    async fn transaction(world, pool) {
        let mut transaction = pool.begin().await.map_err(Error::Unavailable)?;
        let update = Volume::update("v1").set(Volume::STATUS.to("deleting"));
        assert!(update.run(&mut transaction).await?.happened());
        transaction.rollback().await.map_err(Error::Unavailable)?;
    }

    async fn fence(world, pool) {
        let write = |fence| Volume::update("v1").set(Volume::HOST.to("mine")).fenced_by(Volume::FENCE, fence);
        assert!(write(12).run(pool).await?.happened());
        let late = write(7);
        assert!(!late.run(pool).await?.happened());
        assert!(late.explain(pool).await?.is_stale_fence());
    }

    async fn by_name(world, pool) {
        let volumes = Table::new("volumes").key("id", Kind::Text).column("status", Kind::Text);
        let update = Update::of(&volumes)
            .key("v1")
            .set(column("status").to("deleting"))
            .expect(column("status").is_any_of(["available", "error"]));
        assert!(update.run(pool).await?.happened());
        let wrong = Update::of(&volumes).key("v1").set(column("statos").to("x"));
        let error = wrong.run(pool).await.unwrap_err().to_string();
        assert_eq!(error, "not sent: table volumes has no column statos (it has id, status)");
    }
}

/// Every block of Rust in the page, line by line, is in this file.
#[test]
fn page_shows_what_runs_here() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/conditional-updates.md")).unwrap();
    let ours: Vec<&str> = include_str!("guide.rs").lines().map(str::trim).collect();
    let theirs: Vec<&str> = include_str!("cinder.rs").lines().map(str::trim).collect();
    let mut blocks = 0;
    for block in page.split("```rust\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let block: Vec<&str> = block.lines().map(str::trim).collect();
        let is_in = |source: &[&str]| source.windows(block.len()).any(|lines| lines == block);
        assert!(is_in(&ours) || is_in(&theirs), "the page shows what does not run:\n{block:#?}");
        blocks += 1;
    }
    assert!(blocks >= 20, "{blocks} worked examples");
}
