//! Long histories are judged in time. The figures: `cargo test --release -p torture --test checkers
//! -- --ignored --nocapture figures`.

use std::time::Instant;

use torture::check::{Kind, Terms, judge, judge_by};
use torture::history::{Acquired, Entry, Told, What};

use crate::lock::{Plan, history};

fn plan(clients: u32, resources: u64, entries: usize) -> Plan {
    Plan { seed: 7, clients, resources, entries, limits: &[Some(1)], trouble: 2 }
}

/// The last release that was confirmed came before its claim was granted, as far as anybody knows:
/// what follows cannot be explained, and everything before has to be tried in every order.
fn forget_a_release(history: &mut [Entry]) {
    let done = |entry: &&mut Entry| matches!(entry.what, What::Release { outcome: Told::Done, .. });
    let late = history.len() * 9 / 10;
    let release = history[late..].iter_mut().find(done).unwrap();
    let What::Release { claim, .. } = release.what else { unreachable!("it was found as one") };
    release.what = What::Renew { claim, outcome: Told::Done };
}

#[test]
fn fifty_thousand_operations_of_five_clients_are_decided() {
    let mut history = history(plan(5, 1, 50_000));
    let verdict = judge(&history);
    assert!(verdict.passes() && verdict.undecided.is_empty(), "{}", verdict.report(&history, 3));
    forget_a_release(&mut history);
    let verdict = judge(&history);
    assert!(verdict.has(Kind::NotLinearizable), "{}", verdict.report(&history, 3));
    assert!(verdict.undecided.is_empty(), "{}", verdict.report(&history, 3));
}

#[test]
#[allow(clippy::print_stdout, reason = "the figures are for people")]
#[ignore = "prints figures"]
fn figures() {
    let fast = Terms { budget: 0, ..Terms::default() };
    let timed = |what: &str, history: &[Entry], terms: &Terms| {
        let began = Instant::now();
        let verdict = judge_by(history, terms);
        let took = began.elapsed();
        let grants = history.iter().filter(|entry| {
            let granted = |outcome| matches!(outcome, Acquired::Granted { .. });
            matches!(entry.what, What::Acquire { outcome, .. } if granted(outcome))
        });
        println!(
            "{what}: {} entries, {} grants, {took:?}, found {:?}, undecided {}",
            history.len(),
            grants.count(),
            verdict.tally(),
            verdict.undecided.len()
        );
    };
    for clients in [5, 10, 20, 50] {
        let mut history = history(plan(clients, 1, 50_000));
        timed(&format!("{clients} clients, sound"), &history, &Terms::default());
        forget_a_release(&mut history);
        timed(&format!("{clients} clients, broken"), &history, &Terms::default());
    }
    let million = history(plan(50, 10, 1_000_000));
    timed("fast checkers, sound", &million, &fast);
    timed("all checkers, sound", &million, &Terms::default());
}
