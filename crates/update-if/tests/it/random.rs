//! Random statements do on every database what they plainly mean.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestError, TestRunner};
use update_if::{Backend, Dialect, Invalid, Kind, Resource, Sql, Value};

use crate::databases::{self, World};
use crate::on_every_database;
use crate::plan::{Expect, Int, Other, Plan, Test, Thing, others, plan, things};

const STATEMENTS: u32 = 500;

async fn tables<DB: Backend>(world: &World<DB>) {
    // Text that differs only in case or in trailing spaces is the same in MySQL's usual collations: not here.
    let word = match DB::DIALECT {
        Dialect::Mysql => "VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        Dialect::Sqlite | Dialect::Postgres => "VARCHAR(64)",
    };
    world
        .sql(&format!(
            "CREATE TABLE things (id BIGINT PRIMARY KEY, a BIGINT, b BIGINT, s {word}, t {word})"
        ))
        .await;
    world
        .sql("CREATE TABLE others (id BIGINT PRIMARY KEY, thing_id BIGINT NOT NULL, n BIGINT)")
        .await;
}

async fn insert<R: Resource, DB: Backend>(
    world: &World<DB>,
    connection: &mut DB::Connection,
    row: &R,
) {
    let (mut values, mut bound) = (Vec::new(), Vec::new());
    for value in row.values() {
        if value.is_null() {
            values.push("NULL".to_owned());
        } else {
            bound.push(value);
            values.push(match DB::DIALECT {
                Dialect::Postgres => format!("${}", bound.len()),
                Dialect::Sqlite | Dialect::Mysql => "?".to_owned(),
            });
        }
    }
    let text = format!("INSERT INTO {} VALUES ({})", R::TABLE.name(), values.join(", "));
    DB::run(connection, Sql { text, values: bound })
        .await
        .unwrap_or_else(|error| panic!("{}: {error}", world.server));
}

async fn means_what_it_says<DB: Backend>(
    world: &World<DB>,
    plan: &Plan,
    before: &[Thing],
    beside: &[Other],
) -> Result<(), String> {
    let mut connection = world.pool.acquire().await.unwrap();
    for table in ["things", "others"] {
        let sql = Sql { text: format!("DELETE FROM {table}"), values: Vec::new() };
        DB::run(&mut connection, sql).await.unwrap();
    }
    for thing in before {
        insert(world, &mut connection, thing).await;
    }
    for other in beside {
        insert(world, &mut connection, other).await;
    }
    let (expected, matched) = plan.evaluate(before, beside);
    let update = plan.build();
    let text = match update.render(DB::DIALECT) {
        Ok(sql) => sql.text,
        // Databases disagree about this one.
        Err(Invalid::ReadsItsOwnRows { .. }) if plan.key.is_none() => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let answer =
        update.run_on::<DB>(&mut connection).await.map_err(|error| format!("{error}: {text}"))?;
    let kinds =
        [Some(Kind::Int), Some(Kind::Int), Some(Kind::Int), Some(Kind::Text), Some(Kind::Text)];
    let select =
        Sql { text: "SELECT id, a, b, s, t FROM things ORDER BY id".into(), values: Vec::new() };
    let rows: Vec<Vec<Value>> = DB::fetch(&mut connection, select, &kinds).await.unwrap();
    let found: Vec<Thing> = rows.into_iter().map(|row| Thing::from_values(row).unwrap()).collect();
    if answer.matched != matched {
        return Err(format!("{} rows matched, not {matched}: {text}", answer.matched));
    }
    if found != expected {
        return Err(format!("{found:?} instead of {expected:?}: {text}"));
    }
    // Whatever it says, it can be asked why.
    let explanation = update
        .explain_on::<DB>(&mut connection)
        .await
        .map_err(|error| format!("explain: {error}: {text}"))?;
    let _ = explanation.sentence("be");
    Ok(())
}

fn random_statements_mean_what_they_say<DB: Backend>(world: impl Future<Output = World<DB>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = runtime.block_on(async {
        let world = world.await;
        tables(&world).await;
        world
    });
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = STATEMENTS;
    }
    let mut runner = TestRunner::new(config);
    let all = (plan(), things(), others()).prop_filter("no overflow", |(plan, things, others)| {
        let (after, _) = plan.evaluate(things, others);
        after.iter().all(|thing| [thing.a, thing.b].iter().flatten().all(|n| n.abs() < 1_000_000))
    });
    let outcome = runner.run(&all, |(plan, things, others)| {
        runtime
            .block_on(means_what_it_says(&world, &plan, &things, &others))
            .map_err(proptest::test_runner::TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, case)) => panic!("{}: {why}\n{case:#?}", world.server),
        Err(TestError::Abort(why)) => panic!("{}: {why}", world.server),
    }
}

#[test]
fn random_statements_mean_what_they_say_on_sqlite() {
    random_statements_mean_what_they_say(databases::sqlite());
}

#[test]
fn random_statements_mean_what_they_say_on_postgres() {
    random_statements_mean_what_they_say(databases::postgres());
}

#[test]
fn random_statements_mean_what_they_say_on_mariadb() {
    random_statements_mean_what_they_say(databases::mariadb());
}

#[test]
fn random_statements_mean_what_they_say_on_mysql() {
    random_statements_mean_what_they_say(databases::mysql());
}

on_every_database! {
    /// One row is changed without a look at the others, and the next one has to see it as it was.
    async fn every_row_is_chosen_before_one_is_changed(world) {
        tables(&world).await;
        let thing = |id, a, b, s: Option<&str>| {
            Thing { id, a, b, s: s.map(str::to_owned), t: None }
        };
        let before = [thing(0, None, Some(2), Some("y")), thing(1, Some(2), None, None)];
        let nobody = || Test::Not(Box::new(Test::Same(Some("y".into()))));
        let is_y = Test::Text(true, Expect::Value(Some("y".into())));
        for condition in [nobody(), Test::Any(vec![is_y, nobody()])] {
            let (b, conditions) = (Some(Int::Literal(None)), vec![condition]);
            let (key, a, s, t, order) = (None, None, None, None, Vec::new());
            let plan = Plan { key, a, b, s, t, conditions, order, cinder: false };
            let (_, matched) = plan.evaluate(&before, &[]);
            assert_eq!(matched, 1, "the second is kept by the first");
            means_what_it_says(&world, &plan, &before, &[]).await.unwrap();
        }
    }
}
