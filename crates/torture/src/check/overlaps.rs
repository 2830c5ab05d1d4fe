//! Holders together are never more than the smallest limit among them allows: by what must be so,
//! by what they believed, and by what they did.

use std::collections::{BTreeMap, HashMap};

use super::cases::{Case, end};
use super::fences::landed;
use super::{Finding, Kind, seconds};
use crate::history::{Nanos, What};

pub(super) fn check(case: &Case<'_>, findings: &mut Vec<Finding>) {
    sweep(case, Kind::HeldTogether, held(case), findings);
    sweep(case, Kind::BelievedTogether, believed(case), findings);
    mixed(case, findings);
}

/// A claim, from when until when, with how many others.
struct Stay {
    entry: usize,
    claim: u64,
    limit: Option<u32>,
    from: Nanos,
    until: Nanos,
}

/// From when it was told so until something could have ended it.
fn held(case: &Case<'_>) -> Vec<Stay> {
    let stays = case.holdings.iter().map(|holding| Stay {
        entry: holding.entry,
        claim: holding.claim,
        limit: holding.limit,
        from: holding.end,
        until: holding.surely_until(),
    });
    stays.filter(|stay| stay.from < stay.until).collect()
}

/// A belief whose end nobody wrote down belongs to one who did not live to do so: when it ended is
/// not known, and what is not known is held against nobody.
fn believed(case: &Case<'_>) -> Vec<Stay> {
    let mut stays = Vec::new();
    for &index in &case.entries {
        let entry = &case.history[index];
        if let (What::Belief { claim, limit, .. }, Some(until)) = (&entry.what, entry.end) {
            let (claim, limit) = (*claim, *limit);
            stays.push(Stay { entry: index, claim, limit, from: entry.begin, until });
        }
    }
    stays
}

/// Goes through the beginnings; whoever ended by then is not there any more.
fn sweep(case: &Case<'_>, kind: Kind, mut stays: Vec<Stay>, findings: &mut Vec<Finding>) {
    stays.sort_by_key(|stay| (stay.from, stay.until));
    let mut present: BTreeMap<(Nanos, usize), &Stay> = BTreeMap::new();
    for stay in &stays {
        present = present.split_off(&(stay.from, usize::MAX));
        let mut others: Vec<&Stay> =
            present.values().filter(|other| other.claim != stay.claim).copied().collect();
        others.sort_by_key(|other| other.claim);
        others.dedup_by_key(|other| other.claim);
        let limits = others.iter().map(|other| other.limit).chain([stay.limit]);
        let limit = limits.flatten().min();
        if let Some(limit) = limit.filter(|&limit| others.len() >= limit as usize) {
            let with: Vec<String> = others.iter().map(|other| other.claim.to_string()).collect();
            let says = format!(
                "at {} claim {} joins {}, where at most {limit} may hold",
                seconds(stay.from),
                stay.claim,
                with.join(" and "),
            );
            let mut entries: Vec<usize> = others.iter().map(|other| other.entry).collect();
            entries.push(stay.entry);
            findings.push(case.finding(kind, &entries, says));
        }
        present.insert((stay.until, stay.entry), stay);
    }
}

/// Who holds alone does all that it does without anybody in between.
fn mixed(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let mut last_of: HashMap<u64, usize> = HashMap::new();
    let mut before: Option<(usize, u64)> = None;
    for (index, fence, alone) in landed(case) {
        if !alone {
            continue;
        }
        if let Some((between, other)) = before.filter(|&(_, other)| other != fence)
            && let Some(&first) = last_of.get(&fence)
        {
            let says = format!(
                "between two effects of fence {fence}, at {} and {}, one of fence {other} landed",
                seconds(end(&case.history[first])),
                seconds(case.history[index].begin),
            );
            findings.push(case.finding(Kind::EffectsMixed, &[first, between, index], says));
        }
        last_of.insert(fence, index);
        before = Some((index, fence));
    }
}
