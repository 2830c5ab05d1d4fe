//! `tenure once`: run it only if nobody has.

use crate::house::{House, Running, until};

/// How often it was run.
fn runs(house: &House) -> usize {
    std::fs::read_to_string(house.file("runs")).map_or(0, |text| text.lines().count())
}

#[test]
fn success_is_remembered_and_the_server_s_death_does_not_change_that() {
    let mut house = House::open();
    let job = ["job", "--", "sh", "-c", "echo run >> $DIR/runs"];
    assert_eq!(house.output("once", &job), (0, String::new()));
    assert_eq!(house.output("once", &job), (0, String::new()));
    house.restart();
    assert_eq!(house.output("once", &job), (0, String::new()));
    assert_eq!(runs(&house), 1);
    assert_eq!(house.output("once", &["other", "--", "sh", "-c", "echo run >> $DIR/runs"]).0, 0);
    assert_eq!(runs(&house), 2);
}

#[test]
fn failure_is_told_and_tried_again_by_the_next() {
    let house = House::open();
    let job = ["job", "--", "sh", "-c", "echo run >> $DIR/runs; test -e $DIR/good || exit 6"];
    assert_eq!(house.output("once", &job).0, 6);
    assert_eq!(house.output("once", &job).0, 6);
    std::fs::write(house.file("good"), "").unwrap();
    assert_eq!(house.output("once", &job).0, 0);
    assert_eq!(house.output("once", &job).0, 0);
    assert_eq!(runs(&house), 3);
}

#[test]
fn who_waits_ends_well_without_running_when_the_holder_succeeds() {
    let house = House::open();
    let script = "echo run >> $DIR/runs; until test -e $DIR/good; do sleep 0.02; done";
    let mut all: Vec<Running> =
        (0..5).map(|_| house.start("once", &["job", "--", "sh", "-c", script])).collect();
    until(|| house.count("once/job", "waiting") == 4 && runs(&house) == 1);
    assert_eq!(house.output("once", &["-n", "-E", "3", "job", "--", "true"]).0, 3);
    std::fs::write(house.file("good"), "").unwrap();
    for running in &mut all {
        assert_eq!(running.end().0, 0);
    }
    assert_eq!(runs(&house), 1);
}

#[test]
fn who_waits_runs_it_when_the_holder_was_killed() {
    let house = House::open();
    let arguments = ["--ttl", "3s", "job", "--", "sh", "-c"];
    let script = "echo ready; echo run >> $DIR/runs; exec sleep 1000";
    let mut holder = house.start("once", &[&arguments[..], &[script]].concat());
    assert_eq!(holder.line(), "ready");
    let script = "echo run >> $DIR/runs";
    let mut waiter = house.start("once", &[&arguments[..], &[script]].concat());
    until(|| house.count("once/job", "waiting") == 1);
    holder.process.kill().unwrap();
    assert_eq!(waiter.end().0, 0);
    assert_eq!(runs(&house), 2);
}

#[test]
fn success_is_forgotten_after_the_stated_time() {
    let house = House::open();
    let job = ["--remember", "1s", "job", "--", "sh", "-c", "echo run >> $DIR/runs"];
    assert_eq!(house.output("once", &job).0, 0);
    until(|| {
        assert_eq!(house.output("once", &job).0, 0);
        runs(&house) == 2
    });
}
