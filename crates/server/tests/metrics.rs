//! `/metrics`: read as strictly as Prometheus reads it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod house;

use std::collections::{BTreeMap, BTreeSet};

use house::House;

/// One family of figures: its kind, and its lines without their values.
#[derive(Default)]
struct Family {
    kind: String,
    lines: Vec<(String, BTreeMap<String, String>, f64)>,
}

/// Reads the text format: help, kind, then lines of that family only, nothing twice.
fn read(text: &str) -> BTreeMap<String, Family> {
    assert!(text.ends_with('\n') && !text.contains("\n\n") && !text.contains('\r'));
    let (mut families, mut current) = (BTreeMap::<String, Family>::new(), String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(is_name(name) && help.ends_with('.'), "{line}");
            let kind = lines.next().unwrap().strip_prefix(&format!("# TYPE {name} ")).unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{kind}");
            let family = Family { kind: kind.into(), lines: Vec::new() };
            assert!(families.insert(name.into(), family).is_none(), "{name} comes twice");
            current = name.into();
            continue;
        }
        let (key, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = match key.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}').unwrap()),
            None => (key, ""),
        };
        let pairs = labels.split(',').filter(|pair| !pair.is_empty()).map(|pair| {
            let (label, value) = pair.split_once('=').unwrap();
            let value = value.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
            assert!(is_name(label) && !value.contains(['"', '\\']), "{line}");
            (label.to_owned(), value.to_owned())
        });
        let line = (name.to_owned(), pairs.collect(), value.parse().unwrap());
        let family = families.get_mut(&current).unwrap();
        let known = |(known, labels, _): &&(String, _, _)| *known == line.0 && *labels == line.1;
        assert!(!family.lines.iter().any(|one| known(&one)), "{key} comes twice");
        family.lines.push(line);
    }
    families
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
}

/// What the conventions want of a family.
fn check(name: &str, family: &Family) {
    assert!(name.starts_with("tenure_"), "{name}");
    assert_eq!(name.ends_with("_total"), family.kind == "counter", "{name}");
    let labels: BTreeSet<&str> =
        family.lines.iter().flat_map(|(_, labels, _)| labels.keys().map(String::as_str)).collect();
    let bounded = ["phase", "status", "code", "class", "le"];
    assert!(labels.iter().all(|label| bounded.contains(label)), "{name} has {labels:?}");
    if family.kind != "histogram" {
        assert!(family.lines.iter().all(|(line, _, value)| line == name && *value >= 0.0));
        return;
    }
    let value = |suffix: &str| {
        let line = family.lines.iter().find(|(line, _, _)| *line == format!("{name}{suffix}"));
        line.unwrap_or_else(|| panic!("{name}{suffix}")).2
    };
    let buckets = family.lines.iter().filter(|(line, _, _)| *line == format!("{name}_bucket"));
    let buckets: Vec<(f64, f64)> =
        buckets.map(|(_, labels, count)| (labels["le"].parse().unwrap(), *count)).collect();
    assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}: {buckets:?}");
    assert_eq!(*buckets.last().unwrap(), (f64::INFINITY, value("_count")));
    assert!(value("_sum") >= 0.0);
}

#[tokio::test]
async fn figures_follow_the_conventions_without_a_label_per_resource() {
    let house = House::new().await;
    let held = house.claim("some-resource", 60.0).await.location();
    let waiting = house.claim("some-resource", 60.0).await.location();
    house.patch(&waiting, r#"{"status":"active"}"#).await.is(409);
    house.patch(&held, r#"{"ttl":60}"#).await.is(200);
    let page = house.get("/metrics").await.is(200);
    assert_eq!(page.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    assert!(!page.text.contains("some-resource"));
    let families = read(&page.text);
    for (name, family) in &families {
        check(name, family);
    }
    for line in [
        "tenure_claims{phase=\"active\"} 1",
        "tenure_claims{phase=\"waiting\"} 1",
        "tenure_refused_total{code=\"still-waiting\"} 1",
        "tenure_http_answers_total{class=\"2xx\"} 3",
        // Two registrations, being seen while waiting, a renewal.
        "tenure_commits_total 4",
        "tenure_commit_answers_bucket{le=\"1\"} 4",
        // Memory syncs nothing.
        "tenure_sync_seconds_count 0",
    ] {
        assert!(page.text.lines().any(|one| one == line), "{line} is not in {}", page.text);
    }
}

#[tokio::test]
async fn every_figure_that_operators_ask_for_is_there() {
    let house = House::new().await;
    let families = read(&house.get("/metrics").await.is(200).text);
    let names: Vec<(&str, &str)> =
        families.iter().map(|(name, family)| (name.as_str(), family.kind.as_str())).collect();
    let expected = [
        ("tenure_acquired_total", "counter"),
        ("tenure_claims", "gauge"),
        ("tenure_commit_answers", "histogram"),
        ("tenure_commits_total", "counter"),
        ("tenure_ended_total", "counter"),
        ("tenure_events_total", "counter"),
        ("tenure_hold_seconds", "histogram"),
        ("tenure_http_answers_total", "counter"),
        ("tenure_http_connections_turned_away_total", "counter"),
        ("tenure_metrics_skipped_total", "counter"),
        ("tenure_oldest_waiter_seconds", "gauge"),
        ("tenure_passed_over_total", "counter"),
        ("tenure_refused_total", "counter"),
        ("tenure_registered_total", "counter"),
        ("tenure_renewals_total", "counter"),
        ("tenure_sync_seconds", "histogram"),
        ("tenure_wait_seconds", "histogram"),
    ];
    assert_eq!(names, expected);
}
