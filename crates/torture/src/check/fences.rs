//! Fences rise: a grant that was told before another was asked for has the lower one, no fence is
//! given twice, and what comes with a lower one does not land after a higher one.
//!
//! O(n log n), for histories of any length.

use std::collections::HashMap;

use super::cases::{Case, Holding};
use super::{Finding, Kind};
use crate::history::What;

pub(super) fn check(case: &Case<'_>, findings: &mut Vec<Finding>) {
    twice(case, findings);
    order(case, findings);
    late(case, findings);
}

fn twice(case: &Case<'_>, findings: &mut Vec<Finding>) {
    for pair in case.holdings.windows(2) {
        if pair[0].fence == pair[1].fence {
            let says = format!(
                "fence {} was given to claim {} and to claim {}",
                pair[0].fence, pair[0].claim, pair[1].claim
            );
            findings.push(case.finding(Kind::FenceTwice, &[pair[0].entry, pair[1].entry], says));
        }
    }
}

/// Whoever begins is compared with the highest fence of those that had ended before.
fn order(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let mut by_begin: Vec<&Holding> = case.holdings.iter().collect();
    by_begin.sort_by_key(|holding| holding.begin);
    let mut by_end: Vec<&Holding> = case.holdings.iter().collect();
    by_end.sort_by_key(|holding| holding.end);
    let mut ended = by_end.into_iter().peekable();
    let mut highest: Option<&Holding> = None;
    for holding in by_begin {
        while let Some(before) = ended.next_if(|before| before.end < holding.begin) {
            if highest.is_none_or(|highest| highest.fence < before.fence) {
                highest = Some(before);
            }
        }
        if let Some(before) = highest.filter(|before| before.fence > holding.fence) {
            let says = format!(
                "claim {} was granted with fence {} before claim {} was asked for, which got {}",
                before.claim, before.fence, holding.claim, holding.fence
            );
            findings.push(case.finding(Kind::FenceOrder, &[before.entry, holding.entry], says));
        }
    }
}

/// The effects that were let through, in the order of the witness, and whether their holder could
/// have had company.
pub(super) fn landed(case: &Case<'_>) -> Vec<(usize, u64, bool)> {
    let limits: HashMap<u64, bool> =
        case.holdings.iter().map(|holding| (holding.fence, holding.is_exclusive())).collect();
    // Whose grant was never told may have any limit; clients of one resource have the same.
    let all_alone = case.holdings.iter().all(Holding::is_exclusive);
    let mut landed = Vec::new();
    for &index in &case.entries {
        if let What::Effect { fence, landed: true } = case.history[index].what {
            landed.push((index, fence, limits.get(&fence).copied().unwrap_or(all_alone)));
        }
    }
    landed.sort_by_key(|&(index, ..)| case.history[index].begin);
    landed
}

fn late(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let mut highest: Option<(usize, u64)> = None;
    let mut highest_alone: Option<(usize, u64)> = None;
    for (index, fence, alone) in landed(case) {
        let rival = if alone { highest } else { highest_alone };
        if let Some((before, higher)) = rival.filter(|&(_, higher)| higher > fence) {
            let says = format!("an effect with fence {fence} landed after one with {higher}");
            findings.push(case.finding(Kind::LateEffect, &[before, index], says));
        }
        if highest.is_none_or(|(_, highest)| highest < fence) {
            highest = Some((index, fence));
        }
        if alone && highest_alone.is_none_or(|(_, highest)| highest < fence) {
            highest_alone = Some((index, fence));
        }
    }
}
