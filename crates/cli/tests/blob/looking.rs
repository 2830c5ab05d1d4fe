//! `status`, `break` and `measure`.

use serde_json::Value;

use crate::actor::{Actor, blob, output};

#[test]
fn status_tells_holder_host_age_and_whether_it_is_expired() {
    let directory = tempfile::tempdir().unwrap();
    let held = directory.path().join("one/lock");
    let holder = Actor::hold(&held, &["--margin", "0.3", "--expire", "60"]);
    let writer = holder.expect("acquired")["writer"].as_str().unwrap().to_owned();
    let old = directory.path().join("two/lock");
    std::fs::create_dir_all(&old).unwrap();
    let record = r#"{"writer_id": "w", "written_at": "2020-01-01T00:00:00+00:00", "expire_s": 30,
        "hostname": "far", "pid": "7", "first_acquired_at": "2020-01-01T00:00:00+00:00"}"#;
    std::fs::write(old.join("lock.json"), record).unwrap();
    std::fs::write(old.join(".core-tmp-home-fs-x-lock.json"), "{").unwrap();
    let said = output(blob("status", directory.path()).arg("--json"));
    let lines = String::from_utf8(said.stdout).unwrap();
    let reports: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [one, two] = &reports[..] else { panic!("{lines}") };
    assert_eq!((&one["state"], &one["writer"]), (&"held".into(), &writer.as_str().into()));
    assert!(one["age_s"].as_f64().unwrap() < 60.0 && one["expire_s"] == 60.0, "{one}");
    assert_eq!(
        (&two["state"], &two["host"], &two["pid"]),
        (&"expired".into(), &"far".into(), &"7".into())
    );
    let text = output(&mut blob("status", directory.path()));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("held by") && text.contains("expired by w (process 7 on far)"), "{text}");
}

#[test]
fn broken_lease_is_lost_by_its_holder_and_free_for_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let holder = Actor::hold(directory.path(), &["--margin", "0.3", "--expire", "6"]);
    holder.expect("acquired");
    // Its refresh may be on the way just then: break it until it is broken.
    let is_broken = || crate::actor::lease(directory.path())["released_at"] != "";
    while !is_broken() {
        assert!(output(&mut blob("break", directory.path())).status.success());
    }
    holder.expect("lost");
    Actor::hold(directory.path(), &["--margin", "0.3", "--for", "0"]).expect("acquired");
}

#[test]
fn measure_prints_a_rate_for_every_margin() {
    let directory = tempfile::tempdir().unwrap();
    let mut measure = blob("measure", directory.path());
    let said = output(measure.args(["--rounds", "20", "--acquisitions", "300", "--json"]));
    let lines = String::from_utf8(said.stdout).unwrap();
    let rates: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rates.len(), 7, "{lines}");
    for rate in &rates {
        assert_eq!(rate["as_measured"]["acquisitions"], 300);
        assert!(rate["with_stalls"]["at_most"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "it leaves nothing");
}

#[test]
fn wrong_addresses_say_what_there_is() {
    for (address, hint) in [("nonsense://x", "s3://"), ("create+file:///tmp", "--name")] {
        let said = output(&mut blob("hold", std::path::Path::new(address)));
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(said.status.code(), Some(1));
        assert!(text.contains(hint), "{text}");
    }
}
