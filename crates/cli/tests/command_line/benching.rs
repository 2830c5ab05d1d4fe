//! `bench`: the three workloads, what they find, and that they leave nothing behind.

use std::process::Stdio;

use crate::house::{House, Said, until};

fn measured(house: &House, arguments: &[&str]) -> serde_json::Value {
    let short = ["--seconds", "2", "--warmup", "1ms", "--json"];
    let json = house.run(&[&["bench"], arguments, &short].concat()).good();
    assert_eq!(json.lines().count(), 1, "one object: {json}");
    serde_json::from_str(&json).unwrap()
}

fn nothing_is_left(house: &House) {
    for status in ["active", "waiting"] {
        let left = house.get(&format!("/v1/claims/?status={status}"));
        assert_eq!(left, serde_json::json!([]), "{status}");
    }
}

#[test]
fn cycle_counts_cycles_and_leaves_nothing() {
    let house = House::open();
    let line = measured(&house, &["cycle", "--connections", "4"]);
    assert_eq!((&line["workload"], &line["clients"]), (&"cycle".into(), &4.into()));
    for name in ["ops_s", "p50_us", "p99_us", "max_us", "gen_cpu"] {
        assert!(line[name].as_f64().unwrap() > 0.0, "{name}: {line}");
    }
    assert_eq!(line["errors"], 0);
    nothing_is_left(&house);
    let text = house.run(&["bench", "cycle", "--seconds", "0.2", "--warmup", "1ms"]).good();
    assert!(
        text.contains("cycles/s") && text.contains("p99") && text.contains("0 errors"),
        "{text}"
    );
}

#[test]
fn handover_is_in_strict_turn_and_never_to_two() {
    let house = House::open();
    let line = measured(&house, &["handover", "--connections", "8"]);
    assert!(line["handoffs_s"].as_f64().unwrap() > 0.0, "{line}");
    for name in ["out_of_turn", "violations", "errors"] {
        assert_eq!(line[name], 0, "{name}: {line}");
    }
    nothing_is_left(&house);
}

#[test]
fn held_claims_are_renewed_in_batches_and_one_by_one_and_given_back() {
    let house = House::open();
    for (batch, renewal) in [("10", "Batch"), ("1", "PerLock")] {
        let flags =
            ["held", "--locks", "50", "--connections", "2", "--ttl", "1s", "--batch", batch];
        let line = measured(&house, &flags);
        assert_eq!((&line["held"], &line["lost"]), (&50.into(), &0.into()), "{line}");
        assert_eq!(line["renewal"], renewal);
        assert!(line["ops"].as_u64().unwrap() > 0, "{line}");
        nothing_is_left(&house);
    }
}

#[test]
fn interrupted_bench_gives_back_what_it_holds() {
    let house = House::open();
    for workload in ["cycle", "handover", "held"] {
        let mut command = house.command(&["bench", workload, "--seconds", "600", "--locks", "200"]);
        command.args(["--connections", "4", "--json"]);
        let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until(|| {
            house.get("/v1/claims/?status=active&limit=1000").as_array().unwrap().len() > 1
                || workload != "held" && house.get("/v1/resources/") != serde_json::json!([])
        });
        let pid = process.id().to_string();
        assert!(
            std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success()
        );
        let said = Said::of(process.wait_with_output().unwrap());
        assert!(said.err.contains("giving back"), "{said:?}");
        let line: serde_json::Value = serde_json::from_str(&said.good()).unwrap();
        assert!(line["secs"].as_f64().unwrap() < 600.0, "{line}");
        nothing_is_left(&house);
    }
}

#[test]
fn bench_of_a_server_that_goes_away_ends_and_says_so() {
    let mut house = House::open();
    let mut command = house.command(&["bench", "cycle", "--seconds", "600", "--connections", "2"]);
    command.args(["--warmup", "1ms"]);
    let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until(|| house.get("/v1/claims/?status=released&limit=10").as_array().unwrap().len() == 10);
    house.stop();
    let said = Said::of(process.wait_with_output().unwrap());
    let err = said.bad(1);
    assert!(err.contains("the run was not clean") && err.contains("errors"), "{err}");
}
