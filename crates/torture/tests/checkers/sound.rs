//! What a correct lock does is accepted.

use torture::check::judge;

use crate::lock::{Plan, history};

const KINDS: &[&[Option<u32>]] =
    &[&[Some(1)], &[None, Some(1)], &[Some(3)], &[None, Some(2), Some(1)]];

fn accepted(plan: Plan) {
    let history = history(plan);
    let verdict = judge(&history);
    assert!(verdict.passes(), "{plan:?}\n{}", verdict.report(&history, 3));
    assert!(verdict.undecided.is_empty(), "{plan:?}\n{}", verdict.report(&history, 3));
}

#[test]
fn histories_of_a_correct_lock_are_accepted() {
    for seed in 0..1_000 {
        let limits = KINDS[seed as usize % KINDS.len()];
        let clients = 2 + seed as u32 % 7;
        accepted(Plan { seed, clients, resources: 2, entries: 150, limits, trouble: 0 });
    }
}

#[test]
fn histories_with_lost_answers_deaths_and_absence_are_accepted() {
    for seed in 0..1_000 {
        let limits = KINDS[seed as usize % KINDS.len()];
        let (clients, trouble) = (2 + seed as u32 % 7, 3 + seed % 30);
        accepted(Plan { seed, clients, resources: 2, entries: 150, limits, trouble });
    }
}

#[test]
fn order_of_the_entries_in_the_history_does_not_matter() {
    for seed in 0..50 {
        let plan =
            Plan { seed, clients: 5, resources: 2, entries: 150, limits: KINDS[3], trouble: 5 };
        let mut history = history(plan);
        history.reverse();
        assert!(judge(&history).passes(), "{plan:?}");
    }
}
