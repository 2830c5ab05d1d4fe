//! What may happen in one step.

use claims::{Claim, Event, Phase, Rules, Status, Turn};

use super::cast::TTL;
use super::moment::{Moment, deadline, turn};
use super::step::{Scene, Step};

/// Checks a step, and remembers the fences it gave.
pub(crate) fn check(before: &Scene, after: &mut Scene) {
    let moment = Moment::of(after);
    moment.check();
    for claim in &moment.claims {
        let was = before.state.claim(claim.id);
        match (was.map_or(Status::Waiting, Claim::status), claim.status()) {
            (Status::Waiting, Status::Active) => {
                for name in claim.resources.as_slice() {
                    let in_turn = moment.all_called_before(name, claim.id);
                    assert!(in_turn, "{} barged: {after}", claim.id);
                }
                check_claimant_was_there(before, after, claim);
                assert_eq!(deadline(claim), after.now + TTL, "rule 4: {after}");
            }
            (Status::Waiting, Status::Waiting) => check_asker_is_in_line(after, claim),
            (Status::Active, Status::Active) => {
                check_lease(was.expect("it was active"), after, claim);
            }
            (Status::Active, Status::Expired) => {
                check_lease_was_over(before, after, was.expect("it was active"));
            }
            (Status::Waiting | Status::Active, Status::Released | Status::Withdrawn) => {
                let asked = Step::End(claim.id.0 as usize - 1);
                assert_eq!(after.steps.last(), Some(&asked), "{after}");
            }
            (was, is) => assert_eq!(was, is, "{} cannot become that: {after}", claim.id),
        }
    }
    check_turns_were_kept(before, after);
    check_sweep_makes_no_difference(before, after);
    assert!(after.events.len() < 20, "settling comes to an end: {after}");
    assert!(before.replayed(after) == after.state, "claims and events are all: {after}");
    check_fences_rise(after);
}

/// Rule 3.
fn check_claimant_was_there(before: &Scene, after: &Scene, claim: &Claim) {
    let claimant = claim.id.0 as usize - 1;
    let asked = match after.steps.last() {
        Some(Step::Register(_)) => claimant == before.registered,
        Some(Step::Poll(asker) | Step::Wait(asker)) => *asker == claimant,
        _ => false,
    };
    assert!(asked || before.present[claimant], "behind its back: {after}");
}

/// Rule 6: one that was passed over keeps its place, and has it as soon as it asks.
fn check_asker_is_in_line(after: &Scene, claim: &Claim) {
    if let Some(Step::Poll(asker) | Step::Wait(asker)) = after.steps.last()
        && *asker == claim.id.0 as usize - 1
    {
        assert_eq!(turn(claim), Some(Turn::InLine), "{} asked: {after}", claim.id);
    }
}

/// Rules 4 and 11: only a renewal or a restart moves a deadline, and a restart once.
fn check_lease(was: &Claim, after: &Scene, is: &Claim) {
    let graced = matches!(&was.phase, Phase::Active(active) if active.graced);
    let expected = match after.steps.last() {
        Some(Step::Renew(claim)) if *claim == is.id.0 as usize - 1 => after.now + TTL,
        Some(Step::Restart) if !graced => deadline(was).max(after.now + TTL),
        _ => deadline(was),
    };
    assert_eq!(deadline(is), expected, "{after}");
}

/// Rules 4 and 5: a lease ends at its deadline if somebody wants it, later if nobody does.
fn check_lease_was_over(before: &Scene, after: &Scene, was: &Claim) {
    assert!(deadline(was) <= after.now, "{} ended early: {after}", was.id);
    let lingered = deadline(was) + Rules::default().linger <= after.now;
    let wanted = after.state.claims_after(None).any(|other| {
        let waited = before.state.claim(other.id).is_none_or(|was| was.status() == Status::Waiting);
        let mut names = other.resources.as_slice().iter();
        waited && names.any(|name| was.resources.as_slice().contains(name))
    });
    assert!(lingered || wanted, "{} ended for nobody: {after}", was.id);
}

/// Rule 6: nobody is passed over before its turn is over, or without having been called.
fn check_turns_were_kept(before: &Scene, after: &Scene) {
    let mut turns = [Turn::InLine; 3];
    for claim in before.state.claims_after(None) {
        turns[claim.id.0 as usize - 1] = turn(claim).unwrap_or(Turn::InLine);
    }
    for event in &after.events {
        match event {
            Event::Called { claim, until } => {
                turns[claim.0 as usize - 1] = Turn::Called { until: *until };
            }
            Event::CalledOff { claim } => turns[claim.0 as usize - 1] = Turn::InLine,
            Event::PassedOver { claim } => match turns[claim.0 as usize - 1] {
                Turn::Called { until } => assert!(until <= after.now, "turn lost: {after}"),
                Turn::InLine | Turn::PassedOver => panic!("was not called: {after}"),
            },
            Event::Registered { .. }
            | Event::Activated { .. }
            | Event::Seen { .. }
            | Event::Renewed { .. }
            | Event::Ended { .. }
            | Event::Appointed { .. }
            | Event::Forgotten { .. }
            | Event::Resumed
            | Event::EpochBegan { .. } => {}
        }
    }
}

/// Rule 5: had somebody swept before the step, everything would be the same by now. A restart is
/// another matter: what nobody saw ending before it goes on after it (rule 11).
fn check_sweep_makes_no_difference(before: &Scene, after: &Scene) {
    let step = *after.steps.last().expect("a step was taken");
    if before.looked || step == Step::Restart {
        return;
    }
    let (mut swept, mut unswept) = (before.clone(), after.clone());
    swept.sweep();
    swept.take(step);
    swept.sweep();
    unswept.sweep();
    let told = |scene: &Scene| {
        let claims = scene.state.claims_after(None);
        let told = claims.map(|claim| match &claim.phase {
            Phase::Ended(ended) => Err((ended.ending, ended.activation)),
            Phase::Waiting(_) | Phase::Active(_) => Ok(claim.phase.clone()),
        });
        (told.collect::<Vec<_>>(), scene.present)
    };
    assert_eq!(told(&swept), told(&unswept), "swept and unswept: {after}");
}

/// Rule 8.
fn check_fences_rise(after: &mut Scene) {
    let mut greatest = after.fences;
    for event in &after.events {
        let Event::Activated { claim, fence, .. } = event else { continue };
        let claim = after.state.claim(*claim).expect("it was activated just now");
        for name in claim.resources.as_slice() {
            let last = &mut greatest[usize::from(*name == after.names[1])];
            assert!(fence > last, "fence {fence} is not new: {after}");
            *last = *fence;
        }
    }
    after.fences = greatest;
}
