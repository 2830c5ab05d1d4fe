//! Names and values are never part of the statement's meaning.

use update_if::{Backend, Dialect, Kind, Moment, Sql, Table, Update, Value, column};

use crate::cinder::{Volume, stored, tables};
use crate::databases::World;
use crate::on_every_database;

const EVIL: [&str; 14] = [
    "'; DROP TABLE volumes; --",
    "\\'; DROP TABLE volumes; --",
    "' OR '1'='1",
    "\" OR 1=1 --",
    "`; DROP TABLE volumes; #",
    "$1",
    "?",
    ":status",
    "@update_if_0",
    "/* */",
    "%_\\",
    "ünïcödé 🦀 \u{202e}",
    "line\nbreak\ttab",
    "",
];

fn quoted(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Mysql => format!("`{}`", name.replace('`', "``")),
        Dialect::Sqlite | Dialect::Postgres => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

async fn text<DB: Backend>(world: &World<DB>, sql: String) -> Value {
    let mut connection = world.pool.acquire().await.unwrap();
    let sql = Sql { text: sql, values: Vec::new() };
    DB::fetch(&mut connection, sql, &[Some(Kind::Text)]).await.unwrap()[0][0].clone()
}

on_every_database! {
    async fn evil_values_are_only_values(world) {
        tables(&world).await;
        for evil in EVIL {
            let write = Volume::update("v1").set(Volume::HOST.to(evil));
            assert!(write.run(&world.pool).await.unwrap().happened());
            assert_eq!(stored(&world, "v1").await.host.as_deref(), Some(evil));
            let check = Volume::update("v1")
                .expect(Volume::HOST.is(evil))
                .expect(Volume::HOST.is_any_of([evil, "something else"]))
                .filter(Volume::HOST.eq(evil));
            assert!(check.run(&world.pool).await.unwrap().happened(), "{evil:?}");
            let never = Volume::update("v1").expect(Volume::STATUS.is(evil));
            assert!(!never.run(&world.pool).await.unwrap().happened(), "{evil:?}");
            let nobody = Volume::update(evil).set(Volume::SIZE.to(9));
            assert!(!nobody.run(&world.pool).await.unwrap().happened(), "{evil:?}");
        }
    }

    async fn evil_names_are_only_names(world) {
        tables(&world).await;
        let name = "we\"ird`'; DROP TABLE volumes; --";
        // MySQL's names end with the first 65,536 characters.
        let is_name = |evil: &&&str| !evil.is_empty() && evil.chars().all(|c| (' '..='\u{ffff}').contains(&c));
        for evil in EVIL.iter().filter(is_name) {
            let evil = evil.to_string();
            let (table, status) = (quoted(DB::DIALECT, name), quoted(DB::DIALECT, &evil));
            world.sql(&format!("CREATE TABLE {table} (id BIGINT PRIMARY KEY, {status} VARCHAR(64))")).await;
            world.sql(&format!("INSERT INTO {table} VALUES (1, 'old'), (2, 'old')")).await;
            let weird = Table::new(name).key("id", Kind::Int).column(evil.clone(), Kind::Text);
            let update = Update::of(&weird)
                .key(1)
                .set(column(evil.clone()).to("new"))
                .filter(column(evil.clone()).eq("old"));
            assert_eq!(update.run(&world.pool).await.unwrap().matched, 1, "{evil:?}");
            assert!(!update.run(&world.pool).await.unwrap().happened());
            assert_eq!(update.explain(&world.pool).await.unwrap().unmet().count(), 1);
            let found = text(&world, format!("SELECT {status} FROM {table} WHERE id = 1")).await;
            assert_eq!(found, Value::Text("new".into()));
            world.sql(&format!("DROP TABLE {table}")).await;
        }
        assert_eq!(stored(&world, "v1").await.status, "available", "the volumes are still there");
    }

    async fn names_and_values_that_cannot_be_are_refused_before_they_are_sent(world) {
        tables(&world).await;
        for name in ["", "a\0b", "line\nbreak", &"x".repeat(64)] {
            let table = Table::new(name.to_owned()).key("id", Kind::Int);
            let error = Update::of(&table).key(1).run(&world.pool).await.unwrap_err();
            assert!(error.to_string().contains("cannot be a name"), "{error}");
        }
        for number in [f64::NAN, f64::INFINITY] {
            let table = Table::new("quotas").key("id", Kind::Text).column("in_use", Kind::Float);
            let update = Update::of(&table).key("a").set(column("in_use").to(number));
            assert!(update.run(&world.pool).await.unwrap_err().to_string().contains("NaN"));
        }
        let update = Volume::update("v1").set(Volume::HOST.to("nul \0 inside"));
        match (DB::DIALECT, update.run(&world.pool).await) {
            (Dialect::Postgres, answer) => {
                assert!(answer.unwrap_err().to_string().contains("NUL character"));
            }
            (Dialect::Sqlite | Dialect::Mysql, answer) => assert!(answer.unwrap().happened()),
        }
        let many = Volume::update("v1").expect(Volume::SIZE.is_any_of(0..40_000));
        assert!(many.run(&world.pool).await.unwrap_err().to_string().contains("more than one statement"));
        let mut deep = update_if::not(Volume::SIZE.is(1));
        for _ in 0..1_000 {
            deep = !deep;
        }
        let deep = Volume::update("v1").filter(deep);
        let error = deep.run(&world.pool).await.unwrap_err();
        assert!(error.to_string().contains("nested deeper"), "{error}");
    }

    async fn moments_are_kept_to_the_microsecond(world) {
        tables(&world).await;
        for text in ["1970-01-01 00:00:00.000000", "2026-12-31 23:59:59.999999", "2000-02-29 12:00:00.000001"] {
            let moment: Moment = text.parse().unwrap();
            if moment.micros() == 0 && DB::DIALECT == Dialect::Mysql {
                continue;
            }
            let write = Volume::update("v1").set(Volume::TERMINATED_AT.to(moment));
            assert!(write.run(&world.pool).await.unwrap().happened());
            assert_eq!(stored(&world, "v1").await.terminated_at, Some(moment));
            let check = Volume::update("v1").expect(Volume::TERMINATED_AT.is(moment)).filter(Volume::TERMINATED_AT.ge(moment));
            assert!(check.run(&world.pool).await.unwrap().happened());
        }
    }
}
