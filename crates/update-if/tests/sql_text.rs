//! The text of statements, as each database gets it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use update_if::{
    Compatibility, Dialect, Kind, Moment, Resource, Table, Update, case, column, exists, now,
};

#[derive(Resource)]
#[resource(table = "volumes")]
#[allow(dead_code, reason = "only its columns are used")]
struct Volume {
    #[resource(key)]
    id: String,
    status: String,
    previous_status: Option<String>,
    size: i64,
    host: Option<String>,
    fence: Option<i64>,
    #[resource(updated_at)]
    updated_at: Option<Moment>,
    #[resource(deleted)]
    deleted: bool,
}

#[derive(Resource)]
#[resource(table = "snapshots")]
#[allow(dead_code, reason = "only its columns are used")]
struct Snapshot {
    #[resource(key, postgres = "uuid")]
    id: String,
    volume_id: String,
    status: String,
}

/// Text and values together, one statement a paragraph.
fn written(dialect: Dialect) -> String {
    let has_snapshots = || exists(Snapshot::TABLE).filter(Snapshot::VOLUME_ID.eq(Volume::ID));
    let plain = Table::new("plain").key("id", Kind::Int).column("value", Kind::Text);
    let updates = [
        (
            "simple",
            Volume::update("v1")
                .set(Volume::STATUS.to("deleting"))
                .expect(Volume::STATUS.is("available"))
                .expect(Volume::HOST.is_null()),
        ),
        (
            "any of",
            Volume::update("v1")
                .expect(Volume::STATUS.is_any_of(["a", "b"]))
                .expect(Volume::HOST.is_any_of([None, Some("c"), Some("d")]))
                .expect(Volume::SIZE.is_any_of(std::iter::empty::<i64>())),
        ),
        (
            "none of",
            Volume::update("v1")
                .expect(Volume::STATUS.is_not("a"))
                .expect(Volume::STATUS.is_not("a").unless_null())
                .expect(Volume::HOST.is_none_of(["b", "c"]))
                .expect(Volume::HOST.is_none_of([None, Some("d"), Some("e")]))
                .expect(Volume::HOST.is_not_null()),
        ),
        (
            "none of, as in Cinder",
            Volume::update("v1")
                .expect(Volume::HOST.is_none_of([None, Some("d"), Some("e")]))
                .compatibility(Compatibility::Cinder),
        ),
        (
            "columns and a case",
            Volume::update("v1")
                .set(
                    Volume::STATUS
                        .to(case().when(Volume::STATUS.eq("a"), "b").or_else(Volume::STATUS)),
                )
                .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
                .set(Volume::SIZE.to(Volume::SIZE * 2 + 1))
                .set(Volume::UPDATED_AT.to(Volume::UPDATED_AT)),
        ),
        (
            "swap",
            Volume::update("v1")
                .set(Volume::PREVIOUS_STATUS.to(Volume::HOST))
                .set(Volume::HOST.to(Volume::PREVIOUS_STATUS)),
        ),
        (
            "order",
            Volume::update("v1")
                .set(Volume::STATUS.to("retyping"))
                .set(Volume::PREVIOUS_STATUS.to(Volume::STATUS))
                .order(["status"]),
        ),
        (
            "exists",
            Volume::update("v1")
                .set(Volume::UPDATED_AT.to(now()))
                .filter(!has_snapshots().filter(Snapshot::STATUS.is_not("deleted"))),
        ),
        (
            "same table",
            Volume::update("v1").filter(
                !exists(Volume::TABLE)
                    .at("other")
                    .filter(Volume::STATUS.at("other").is("creating"))
                    .filter(Volume::HOST.at("other").eq(Volume::HOST)),
            ),
        ),
        (
            "another table's columns",
            Snapshot::update("11111111-2222-3333-4444-555555555555")
                .set(Snapshot::STATUS.to("restoring"))
                .expect(Volume::ID.is("v1"))
                .filter(Volume::SIZE.ge(3) | Volume::STATUS.eq(Snapshot::STATUS)),
        ),
        ("fence", Volume::update("v1").set(Volume::STATUS.to("mine")).fenced_by(Volume::FENCE, 7)),
        (
            "logic",
            Volume::update_all()
                .filter(!(Volume::STATUS.is("a") & (Volume::SIZE.lt(1) | Volume::SIZE.gt(9)))),
        ),
        ("nothing at all", Update::of(&plain)),
        (
            "by name",
            Update::of(&plain).key(1).set(column("value").to("x")).filter(column("value").ne("y")),
        ),
    ];
    let mut text = String::new();
    for (title, update) in updates {
        let sql = update.render(dialect).unwrap();
        let values: Vec<String> = sql.values.iter().map(ToString::to_string).collect();
        text += &format!("-- {title}\n{}\n-- {}\n\n", sql.text, values.join(", "));
    }
    text
}

/// The snapshots are files beside this one. `UPDATE_SNAPSHOTS=1 cargo test` writes them anew, to be read in the diff.
fn is_as_written_down(dialect: Dialect, file: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sql").join(file);
    let found = written(dialect);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn sqlite_gets_what_is_written_down() {
    is_as_written_down(Dialect::Sqlite, "sqlite.sql");
}

#[test]
fn postgres_gets_what_is_written_down() {
    is_as_written_down(Dialect::Postgres, "postgres.sql");
}

#[test]
fn mysql_gets_what_is_written_down() {
    is_as_written_down(Dialect::Mysql, "mysql.sql");
}

#[derive(Resource)]
#[resource(table = "members")]
#[allow(dead_code, reason = "only its columns are used")]
struct Member {
    #[resource(key)]
    group: String,
    #[resource(key)]
    number: i64,
    role: String,
}

#[test]
fn key_may_have_several_columns() {
    let update = Member::update("g", 3).set(Member::ROLE.to("x"));
    let sql = update.render(Dialect::Sqlite).unwrap();
    let expected =
        r#"UPDATE "members" SET "role" = ? WHERE "members"."group" = ? AND "members"."number" = ?"#;
    assert_eq!(sql.text, expected);
    let update = Update::of(Member::TABLE).key("g").set(Member::ROLE.to("x"));
    let error = update.render(Dialect::Sqlite).unwrap_err();
    assert_eq!(error.to_string(), "the key of members has 2 columns, 1 values were given");
}

#[test]
fn what_cannot_be_meant_is_refused_on_every_database() {
    let same =
        || exists(Volume::TABLE).at("other").filter(Volume::SIZE.at("other").gt(Volume::SIZE));
    let refused = [
        (
            Volume::update("v1").set(Volume::SIZE.to(1)).set(Volume::SIZE.to(2)),
            "column size is set twice",
        ),
        (
            Volume::update("v1").set(Snapshot::STATUS.to("x")),
            "it cannot also set status of snapshots",
        ),
        (
            Volume::update("v1").order(["size"]),
            "the order names size, which this statement does not set",
        ),
        (
            Volume::update("v1").set(Volume::STATUS.to(Snapshot::STATUS)),
            "status of snapshots cannot be read here",
        ),
        (Volume::update("v1").filter(exists(Volume::TABLE)), "needs another name"),
        (
            Volume::update_all().set(Volume::STATUS.to(case().when(same(), "x"))),
            "databases disagree whether the rows already updated are seen",
        ),
        (Volume::update("v1").fenced_by(Volume::FENCE, u64::MAX), "greater than a column can hold"),
        (Volume::update("v1").filter(column("size").is("x")), "column size holds Int"),
    ];
    for (update, expected) in refused {
        for dialect in Dialect::ALL {
            let error = update.render(dialect).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
    // The same for one row is well defined.
    let one = Volume::update("v1").set(Volume::STATUS.to(case().when(same(), "x")));
    assert!(one.render(Dialect::Mysql).is_ok());
}
