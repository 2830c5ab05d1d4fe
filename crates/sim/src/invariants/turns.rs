//! **Turns in order.** A claim becomes active only if everybody who came before it was passed over,
//! or was called and leaves room (rules 2, 6 and 7); and only if its claimant is there (rule 3). A
//! called waiter's turn is kept as long as promised and not longer, and nobody who is there is passed
//! over.
//!
//! The store settles what became due as of the moment it was due, which lies between two readings of
//! its clock; so "now" is anywhere after the reading before.

use claims::{Claim, ClaimId, Event, Limit, Phase, Record, Timestamp, Turn};

use super::legal::is_legal;
use super::{Checked, Moment, Violation};

pub(super) fn check(moment: &Moment<'_>) -> Checked {
    match moment.event {
        Event::Activated { claim, .. } => check_activated(moment, *claim),
        Event::Called { claim, until } => check_called(moment, *claim, *until),
        Event::PassedOver { claim } => check_passed_over(moment, *claim),
        Event::CalledOff { claim } => check_called_off(moment, *claim),
        Event::Registered { .. }
        | Event::Seen { .. }
        | Event::Renewed { .. }
        | Event::Ended { .. }
        | Event::Appointed { .. }
        | Event::Forgotten { .. }
        | Event::Resumed
        | Event::EpochBegan { .. } => Ok(()),
    }
}

fn check_activated(moment: &Moment<'_>, id: ClaimId) -> Checked {
    let occasion = moment.occasion;
    if !occasion.asked.contains(&id) && !occasion.open.contains(&id) {
        return violated(format!("claim {id} became active, and nobody was there to be told"));
    }
    let Some(Record { claim, .. }) = waiter(moment, id) else {
        return violated(format!("claim {id} became active without waiting"));
    };
    for name in claim.resources.as_slice() {
        let mut limits: Vec<Limit> = moment.mirror.holders(name).map(|h| h.limit).collect();
        let queue = moment.mirror.queue(name);
        for earlier in queue.take_while(|earlier| earlier.id < id) {
            match turn_of(earlier) {
                Some(Turn::PassedOver) => {}
                Some(Turn::Called { until }) if occasion.since < until => {
                    limits.push(earlier.limit);
                }
                Some(Turn::Called { .. } | Turn::InLine) | None => {
                    let earlier = earlier.id;
                    return violated(format!("claim {id} got {name} ahead of claim {earlier}"));
                }
            }
        }
        limits.push(claim.limit);
        if !is_legal(limits.into_iter()) {
            return violated(format!("claim {id} took room on {name} that is kept for another"));
        }
    }
    Ok(())
}

fn check_called(moment: &Moment<'_>, id: ClaimId, until: Timestamp) -> Checked {
    let Some(Record { claim, seen }) = waiter(moment, id) else {
        return violated(format!("claim {id} was called without waiting"));
    };
    let kept = claim.ttl.span().max(seen.gap.half_again());
    let kept = kept.min(moment.mirror.rules().turn_max);
    match until < moment.occasion.since + kept {
        true => violated(format!("the turn of claim {id} is not kept for long enough")),
        false => Ok(()),
    }
}

fn check_passed_over(moment: &Moment<'_>, id: ClaimId) -> Checked {
    let occasion = moment.occasion;
    if occasion.open.contains(&id) && !occasion.left.contains(&id) {
        return violated(format!("claim {id} was passed over although it was there"));
    }
    match waiter(moment, id).and_then(|record| turn_of(record.claim)) {
        Some(Turn::Called { until }) if until <= moment.stamp.at => Ok(()),
        Some(_) | None => violated(format!("claim {id} was passed over before its turn was over")),
    }
}

/// A turn is called off because somebody came back and stands in front; otherwise it would never be
/// over.
fn check_called_off(moment: &Moment<'_>, id: ClaimId) -> Checked {
    let Some(Record { claim, .. }) = waiter(moment, id) else {
        return violated(format!("claim {id} was called off without waiting"));
    };
    let free = claim.resources.as_slice().iter().all(|name| {
        let first = moment.mirror.queue(name);
        let mut first = first.filter(|claim| turn_of(claim) != Some(Turn::PassedOver));
        let holders = moment.mirror.holders(name).map(|holder| holder.limit);
        first.next().map(|claim| claim.id) == Some(id) && is_legal(holders.chain([claim.limit]))
    });
    match free {
        true => violated(format!("the turn of claim {id} is kept for ever")),
        false => Ok(()),
    }
}

fn waiter<'a>(moment: &Moment<'a>, id: ClaimId) -> Option<Record<&'a Claim>> {
    let waits = |claim: &Claim| matches!(claim.phase, Phase::Waiting(_));
    moment.mirror.record(id).filter(|record| waits(record.claim))
}

fn turn_of(claim: &Claim) -> Option<Turn> {
    match &claim.phase {
        Phase::Waiting(turn) => Some(*turn),
        Phase::Active(_) | Phase::Ended(_) => None,
    }
}

fn violated(what: String) -> Checked {
    Err(Violation::of("turns in order", what))
}
