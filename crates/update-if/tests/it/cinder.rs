//! The tables of a block storage service, as the original's tests and users know them.

use update_if::{Backend, Loaded, Moment, Resource};

use crate::databases::World;

#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "volumes")]
pub(crate) struct Volume {
    #[resource(key)]
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) previous_status: Option<String>,
    pub(crate) size: i64,
    pub(crate) availability_zone: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) cluster_name: Option<String>,
    pub(crate) attach_status: Option<String>,
    pub(crate) migration_status: Option<String>,
    pub(crate) group_id: Option<String>,
    pub(crate) volume_type_id: Option<String>,
    pub(crate) multiattach: bool,
    pub(crate) fence: Option<i64>,
    pub(crate) terminated_at: Option<Moment>,
    #[resource(updated_at)]
    pub(crate) updated_at: Option<Moment>,
    #[resource(deleted)]
    pub(crate) deleted: bool,
}

#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "snapshots")]
pub(crate) struct Snapshot {
    #[resource(key)]
    pub(crate) id: String,
    pub(crate) volume_id: String,
    pub(crate) status: String,
    #[resource(updated_at)]
    pub(crate) updated_at: Option<Moment>,
    #[resource(deleted)]
    pub(crate) deleted: bool,
}

#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "volume_attachment", noun = "attachment")]
pub(crate) struct Attachment {
    #[resource(key)]
    pub(crate) id: String,
    pub(crate) volume_id: String,
    pub(crate) attach_status: String,
    pub(crate) deleted: bool,
}

#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "backups")]
pub(crate) struct Backup {
    #[resource(key)]
    pub(crate) id: String,
    pub(crate) volume_id: String,
    pub(crate) status: String,
    pub(crate) size: i64,
}

/// A table whose name is a word of SQL.
#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "groups", noun = "group")]
pub(crate) struct Group {
    #[resource(key)]
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) source_group_id: Option<String>,
    #[resource(updated_at)]
    pub(crate) updated_at: Option<Moment>,
    #[resource(deleted)]
    pub(crate) deleted: bool,
}

#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "services")]
pub(crate) struct Service {
    #[resource(key)]
    pub(crate) id: i64,
    pub(crate) host: String,
    pub(crate) cluster_name: Option<String>,
    pub(crate) replication_status: Option<String>,
    pub(crate) active_backend_id: Option<String>,
    pub(crate) frozen: bool,
    pub(crate) disabled: bool,
    #[resource(updated_at)]
    pub(crate) updated_at: Option<Moment>,
}

#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "quotas")]
pub(crate) struct Quota {
    #[resource(key)]
    pub(crate) id: String,
    pub(crate) in_use: i64,
}

#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "metadata")]
pub(crate) struct Metadata {
    #[resource(key)]
    pub(crate) id: i64,
    pub(crate) volume_id: String,
    /// A column whose name is a word of SQL.
    #[resource(column = "key")]
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    pub(crate) deleted_at: Option<Moment>,
    #[resource(deleted)]
    pub(crate) deleted: bool,
}

#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "volume_types")]
pub(crate) struct VolumeType {
    #[resource(key)]
    pub(crate) id: String,
    pub(crate) qos_specs_id: Option<String>,
    pub(crate) deleted: bool,
}

/// Makes the tables, and the volume of the original's tests: available, size 1, detached.
pub(crate) async fn tables<DB: Backend>(world: &World<DB>) {
    let moment = match DB::DIALECT {
        update_if::Dialect::Sqlite => "TEXT",
        update_if::Dialect::Postgres => "TIMESTAMPTZ",
        update_if::Dialect::Mysql => "DATETIME(6)",
    };
    let quote = |name: &str| match DB::DIALECT {
        update_if::Dialect::Mysql => format!("`{name}`"),
        update_if::Dialect::Sqlite | update_if::Dialect::Postgres => format!("\"{name}\""),
    };
    let (groups, key) = (quote("groups"), quote("key"));
    let word = "VARCHAR(64)";
    for table in [
        format!(
            "volumes (id {word} PRIMARY KEY, status {word} NOT NULL, previous_status {word}, \
             size BIGINT NOT NULL, availability_zone {word}, host {word}, cluster_name {word}, \
             attach_status {word}, migration_status {word}, group_id {word}, volume_type_id {word}, \
             multiattach BOOLEAN NOT NULL DEFAULT false, fence BIGINT, terminated_at {moment} NULL, \
             updated_at {moment} NULL, deleted BOOLEAN NOT NULL DEFAULT false)"
        ),
        format!(
            "snapshots (id {word} PRIMARY KEY, volume_id {word} NOT NULL, status {word} NOT NULL, \
             updated_at {moment} NULL, deleted BOOLEAN NOT NULL DEFAULT false)"
        ),
        format!(
            "volume_attachment (id {word} PRIMARY KEY, volume_id {word} NOT NULL, \
             attach_status {word} NOT NULL, deleted BOOLEAN NOT NULL DEFAULT false)"
        ),
        format!(
            "backups (id {word} PRIMARY KEY, volume_id {word} NOT NULL, status {word} NOT NULL, \
             size BIGINT NOT NULL)"
        ),
        format!(
            "{groups} (id {word} PRIMARY KEY, status {word} NOT NULL, source_group_id {word}, \
             updated_at {moment} NULL, deleted BOOLEAN NOT NULL DEFAULT false)"
        ),
        format!(
            "services (id BIGINT PRIMARY KEY, host {word} NOT NULL, cluster_name {word}, \
             replication_status {word}, active_backend_id {word}, \
             frozen BOOLEAN NOT NULL DEFAULT false, disabled BOOLEAN NOT NULL DEFAULT false, \
             updated_at {moment} NULL)"
        ),
        format!("quotas (id {word} PRIMARY KEY, in_use BIGINT NOT NULL)"),
        format!(
            "metadata (id BIGINT PRIMARY KEY, volume_id {word} NOT NULL, {key} {word} NOT NULL, \
             value {word}, deleted_at {moment} NULL, deleted BOOLEAN NOT NULL DEFAULT false)"
        ),
        format!(
            "volume_types (id {word} PRIMARY KEY, qos_specs_id {word}, \
             deleted BOOLEAN NOT NULL DEFAULT false)"
        ),
    ] {
        world.sql(&format!("CREATE TABLE {table}")).await;
    }
    volume(world, "v1").await;
}

/// Another volume like the first.
pub(crate) async fn volume<DB: Backend>(world: &World<DB>, id: &str) {
    let at = "'2026-01-02 03:04:05.000000'";
    world
        .sql(&format!(
            "INSERT INTO volumes (id, status, size, availability_zone, host, attach_status, updated_at) \
             VALUES ('{id}', 'available', 1, 'az', 'dummy', 'detached', {at})"
        ))
        .await;
}

pub(crate) async fn snapshot<DB: Backend>(world: &World<DB>, id: &str, volume: &str) {
    let values = format!("('{id}', '{volume}', 'available')");
    world.sql(&format!("INSERT INTO snapshots (id, volume_id, status) VALUES {values}")).await;
}

/// The row as the database has it.
pub(crate) async fn stored<DB: Backend>(world: &World<DB>, id: &str) -> Volume {
    loaded(world, id).await.into_inner()
}

pub(crate) async fn loaded<DB: Backend>(world: &World<DB>, id: &str) -> Loaded<Volume> {
    let loaded = Loaded::of(&Volume::update(id), &world.pool).await.unwrap();
    loaded.expect("the volume is there")
}

/// A row of any resource, by the update that would change it.
pub(crate) async fn row<R: Resource, DB: Backend>(world: &World<DB>, row: update_if::Update) -> R {
    let loaded = Loaded::<R>::of(&row, &world.pool).await.unwrap();
    loaded.expect("the row is there").into_inner()
}
