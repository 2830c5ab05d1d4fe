//! Histories that are broken on purpose, each kind found by the checker that should. Beside each is
//! one that differs by little and is allowed.

use torture::check::{Kind, Terms, Verdict, judge, judge_by};
use torture::history::{Acquired, Entry, Seen, Told, What};

use crate::told::{
    TTL, acquire, believed, entry, granted, landed, limited, looked, placed, released, renewed,
};

fn finds(kind: Kind, history: &[Entry]) -> Verdict {
    let verdict = judge(history);
    assert!(verdict.has(kind), "{kind:?} was not found\n{}", verdict.report(history, 9));
    verdict
}

fn accepts(history: &[Entry]) {
    let verdict = judge(history);
    assert!(verdict.passes(), "{}", verdict.report(history, 9));
}

#[test]
fn double_grant_is_found() {
    let two = |release| {
        [granted(1, 0, 10, 1), released(1, 50, 60, release), granted(2, 20, 70, 2)].to_vec()
    };
    accepts(&two(Told::Done));
    accepts(&two(Told::Unknown));
    let history = [granted(1, 0, 10, 1), granted(2, 20, 70, 2), renewed(1, 100, 110, Told::Done)];
    let verdict = finds(Kind::NotLinearizable, &history);
    finds(Kind::HeldTogether, &history);
    assert_eq!(verdict.findings[1].entries, [1, 0], "{}", verdict.report(&history, 9));
}

#[test]
fn lost_release_is_found() {
    let mut history =
        [granted(1, 0, 10, 1), released(1, 20, 30, Told::Done), granted(2, 40, 50, 2)].to_vec();
    accepts(&history);
    history.push(looked(1, 60, 70, Some(Seen::Active)));
    finds(Kind::ReleaseLost, &history);
    finds(Kind::NotLinearizable, &history);
}

#[test]
fn release_that_frees_somebody_else_is_found() {
    // The second release is of the first claim, and the third claim is let in though the second
    // holds.
    let history = [
        granted(1, 0, 10, 1),
        granted(2, 20, TTL + 20, 2),
        released(1, TTL + 30, TTL + 40, Told::Refused),
        granted(3, TTL + 50, TTL + 60, 3),
    ];
    accepts(&history[..3]);
    finds(Kind::NotLinearizable, &history);
    finds(Kind::HeldTogether, &history);
}

#[test]
fn early_expiry_is_found() {
    let expires_at = |at| [granted(1, 0, 10, 1), granted(2, 20, at, 2)];
    accepts(&expires_at(TTL));
    finds(Kind::NotLinearizable, &expires_at(TTL / 2));
    let refused_at = |at| [granted(1, 0, 10, 1), renewed(1, at - 10, at, Told::Refused)];
    accepts(&refused_at(TTL));
    finds(Kind::GrantLost, &refused_at(TTL / 2));
    finds(Kind::NotLinearizable, &refused_at(TTL / 2));
}

#[test]
fn expiry_before_a_renewal_has_run_out_is_found() {
    let history = |at| {
        let renewal = renewed(1, TTL / 2, TTL / 2 + 10, Told::Done);
        [granted(1, 0, 10, 1), renewal, granted(2, 20, at, 2)]
    };
    accepts(&history(TTL / 2 + TTL));
    finds(Kind::NotLinearizable, &history(TTL + 100));
    let mut unknown = history(TTL + 100);
    unknown[1] = renewed(1, TTL / 2, TTL / 2 + 10, Told::Unknown);
    accepts(&unknown);
}

#[test]
fn renewal_of_what_was_given_away_is_found() {
    let history = [
        granted(1, 0, 10, 1),
        granted(2, 20, TTL + 20, 2),
        renewed(1, TTL + 30, TTL + 40, Told::Done),
    ];
    finds(Kind::NotLinearizable, &history);
    // Nobody wanted it: an overdue lease may be renewed.
    accepts(&[granted(1, 0, 10, 1), renewed(1, 5 * TTL, 5 * TTL + 10, Told::Done)]);
}

#[test]
fn swapped_fences_are_found() {
    let history = |first, second| {
        [granted(1, 0, 10, first), released(1, 20, 30, Told::Done), granted(2, 40, 50, second)]
    };
    accepts(&history(1, 2));
    finds(Kind::FenceOrder, &history(2, 1));
    finds(Kind::NotLinearizable, &history(2, 1));
}

#[test]
fn fence_given_twice_is_found() {
    let history = [granted(1, 0, 10, 7), released(1, 20, 30, Told::Done), granted(2, 40, 50, 7)];
    finds(Kind::FenceTwice, &history);
    finds(Kind::NotLinearizable, &history);
    let shared = |entry| limited(entry, None);
    finds(Kind::FenceTwice, &[shared(granted(1, 0, 10, 7)), shared(granted(2, 0, 10, 7))]);
    accepts(&[shared(granted(1, 0, 10, 7)), shared(granted(2, 0, 10, 8))]);
}

#[test]
fn claim_granted_twice_is_found() {
    let mut again = granted(1, 2 * TTL, 2 * TTL + 10, 2);
    again.client = 5;
    finds(Kind::FenceTwice, &[granted(1, 0, 10, 1), again]);
}

#[test]
fn one_too_many_under_a_limit_is_found() {
    let two = |claim, begin| limited(granted(claim, begin, begin + 10, claim), Some(2));
    accepts(&[two(1, 0), two(2, 20)]);
    let history = [two(1, 0), two(2, 20), two(3, 40)];
    finds(Kind::HeldTogether, &history);
    finds(Kind::NotLinearizable, &history);
    // The smallest limit counts, also if it is not the one of who comes last.
    let history = [two(1, 0), limited(granted(2, 20, 30, 2), None), limited(two(3, 40), None)];
    finds(Kind::NotLinearizable, &history);
}

#[test]
fn reader_beside_a_writer_is_found() {
    let history = [granted(1, 0, 10, 1), limited(granted(2, 20, 30, 2), None)];
    finds(Kind::NotLinearizable, &history);
    finds(Kind::HeldTogether, &history);
}

#[test]
fn barging_is_found() {
    let holder = [granted(1, 0, 10, 1), released(1, 400, 410, Told::Done)];
    let waits = |claim, begin, end, fence| placed(granted(claim, begin, end, fence), begin + 10);
    let history = |first, second| {
        let waiters = [waits(2, 20, 600, first), waits(3, 40, 590, second)];
        let between = released(if first < second { 2 } else { 3 }, 500, 510, Told::Done);
        [&holder[..], &waiters, &[between]].concat()
    };
    let turns = |history: &[Entry]| judge(history).has(Kind::OutOfTurn);
    assert!(!turns(&history(2, 3)));
    finds(Kind::OutOfTurn, &history(3, 2));
}

#[test]
fn reader_that_goes_ahead_of_a_writer_is_found() {
    let reads = |claim, begin, end, fence| limited(granted(claim, begin, end, fence), None);
    let history = |first, second| {
        [
            reads(1, 0, 10, 1),
            placed(granted(2, 20, 700, first), 30),
            reads(3, 40, 600, second),
            released(1, 400, 410, Told::Done),
            released(if first < second { 2 } else { 3 }, 500, 510, Told::Done),
        ]
    };
    assert!(!judge(&history(2, 3)).has(Kind::OutOfTurn));
    finds(Kind::OutOfTurn, &history(3, 2));
}

#[test]
fn waiter_that_asked_at_the_same_time_may_be_later() {
    // Both began before the other had its place: any order will do.
    let history = [
        placed(granted(2, 20, 100, 2), 45),
        placed(granted(1, 40, 60, 1), 50),
        released(1, 70, 80, Told::Done),
    ];
    accepts(&history);
}

#[test]
fn waiter_that_can_have_been_passed_over_is_no_finding() {
    // Nobody held for a whole ttl before the second was served.
    let passed = |served| {
        let early = placed(granted(2, 20, served + 300, 3), 30);
        let late = granted(3, 500, served, 2);
        [
            granted(1, 0, 10, 1),
            released(1, 100, 110, Told::Done),
            early,
            late,
            released(3, served + 100, served + 110, Told::Done),
        ]
    };
    accepts(&passed(100 + TTL));
    finds(Kind::OutOfTurn, &passed(TTL));
}

#[test]
fn stale_effect_that_landed_is_found() {
    let grants = [granted(1, 0, 10, 1), released(1, 30, 40, Told::Done), granted(2, 50, 60, 2)];
    accepts(&[&grants[..], &[landed(1, 25), landed(2, 70)]].concat());
    finds(Kind::LateEffect, &[&grants[..], &[landed(2, 70), landed(1, 80)]].concat());
    let refused = entry(1, 80, 80, What::Effect { fence: 1, landed: false });
    accepts(&[&grants[..], &[landed(2, 70), refused]].concat());
}

#[test]
fn mixed_effects_are_found() {
    finds(Kind::EffectsMixed, &[landed(1, 10), landed(2, 20), landed(1, 30)]);
    finds(Kind::EffectsMixed, &[landed(2, 10), landed(1, 20), landed(2, 30)]);
    accepts(&[landed(1, 10), landed(1, 20), landed(2, 30)]);
    let shared = [limited(granted(1, 0, 5, 1), None), limited(granted(2, 0, 5, 2), None)];
    accepts(&[&shared[..], &[landed(1, 10), landed(2, 20), landed(1, 30)]].concat());
}

#[test]
fn beliefs_that_overlap_are_found() {
    accepts(&[believed(1, 0, 10), believed(2, 10, 20)]);
    finds(Kind::BelievedTogether, &[believed(1, 0, 11), believed(2, 10, 20)]);
    finds(Kind::BelievedTogether, &[believed(1, 0, 100), believed(2, 10, 20)]);
    let two = |claim, begin| limited(believed(claim, begin, 100), Some(2));
    accepts(&[two(1, 0), two(2, 10), two(2, 20)]);
    finds(Kind::BelievedTogether, &[two(1, 0), two(2, 10), two(3, 20)]);
}

#[test]
fn belief_without_an_end_is_held_against_nobody() {
    let mut killed = believed(1, 0, 0);
    killed.end = None;
    accepts(&[killed, believed(2, 10, 20)]);
}

#[test]
fn forgotten_grant_is_found() {
    let history = |seen| [granted(1, 0, 10, 1), looked(1, 20, 30, seen)];
    accepts(&history(Some(Seen::Active)));
    finds(Kind::ClaimForgotten, &history(None));
    finds(Kind::GrantLost, &history(Some(Seen::Waiting)));
    finds(Kind::GrantLost, &history(Some(Seen::Ended)));
}

#[test]
fn claim_that_is_over_is_remembered_for_as_long_as_promised() {
    let mut history =
        [granted(1, 0, 10, 1), released(1, 20, 30, Told::Done), looked(1, 40, 50, None)].to_vec();
    finds(Kind::ClaimForgotten, &history);
    let few = Terms { ended_max: 0, ..Terms::default() };
    assert!(judge_by(&history, &few).passes());
    let briefly = Terms { retain: 10, ..Terms::default() };
    assert!(judge_by(&history, &briefly).passes());
    history[2] = looked(1, 40, 50, Some(Seen::Ended));
    accepts(&history);
}

#[test]
fn answers_in_an_order_that_time_forbids_are_found() {
    // Seen waiting after it was seen active.
    let mut waiter = granted(2, 20, 200, 2);
    waiter.client = 2;
    let history = [
        granted(1, 0, 10, 1),
        released(1, 30, 40, Told::Done),
        waiter,
        looked(2, 50, 60, Some(Seen::Active)),
        looked(2, 70, 80, Some(Seen::Waiting)),
    ];
    accepts(&history[..4]);
    finds(Kind::NotLinearizable, &history);
}

#[test]
fn what_was_never_answered_may_have_happened_at_any_time_or_never() {
    let unknown = || {
        let mut unknown = acquire(7, 20, 30, Acquired::Unknown);
        unknown.end = None;
        unknown
    };
    // It may hold in between, or not at all.
    accepts(&[unknown(), granted(1, 40, 50, 1), released(1, 60, 70, Told::Done)]);
    // Its owner found out that it does, and gave it back.
    let cleared = |at, outcome| {
        let mut release = released(70, at, at + 10, outcome);
        release.client = 7;
        release
    };
    accepts(&[unknown(), cleared(40, Told::Done), granted(1, 60, 70, 1)]);
    // Renewed, it holds: nobody else can.
    let mut renewal = renewed(70, 40, 50, Told::Done);
    renewal.client = 7;
    let both = [unknown(), renewal, granted(1, 60, 70, 1), renewed(1, 300, 310, Told::Done)];
    accepts(&both[..2]);
    finds(Kind::NotLinearizable, &both);
}

#[test]
fn entry_that_ends_before_it_begins_is_found() {
    finds(Kind::Malformed, &[granted(1, 10, 0, 1)]);
}

#[test]
fn search_without_a_budget_is_undecided_and_says_so() {
    let history = [granted(1, 0, 10, 1), released(1, 20, 30, Told::Done)];
    let verdict = judge_by(&history, &Terms { budget: 1, ..Terms::default() });
    assert!(verdict.passes());
    assert_eq!(verdict.undecided.len(), 1);
    assert!(verdict.report(&history, 1).contains("undecided"));
}

#[test]
fn finding_tells_the_operation_where_the_search_got_stuck() {
    let mut history = Vec::new();
    for turn in 0..100 {
        history.push(granted(turn, turn * 100, turn * 100 + 10, turn + 1));
        history.push(released(turn, turn * 100 + 20, turn * 100 + 30, Told::Done));
    }
    // The 61st claim is not given back.
    history.remove(121);
    let verdict = judge(&history);
    let finding = verdict.findings.iter().find(|finding| finding.kind == Kind::NotLinearizable);
    assert_eq!(finding.unwrap().entries, [121, 120], "{}", verdict.report(&history, 9));
    assert!(finding.unwrap().says.contains("claim 61 was granted without room"));
}
