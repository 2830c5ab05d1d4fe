//! A history sorted by resource and by claim, and what follows from it about when each held.

use std::collections::{BTreeMap, HashMap};

use super::{Finding, Kind, Terms};
use crate::history::{Acquired, Entry, Nanos, Told, What};

/// All about one resource.
pub(super) struct Case<'h> {
    pub(super) history: &'h [Entry],
    pub(super) resource: &'h str,
    /// What is about it, in the order of the history.
    pub(super) entries: Vec<usize>,
    /// Whoever was told that it holds, by fence.
    pub(super) holdings: Vec<Holding>,
}

/// A claim whose owner was told that it holds.
pub(super) struct Holding {
    /// The entry that tells so.
    pub(super) entry: usize,
    pub(super) claim: u64,
    pub(super) fence: u64,
    pub(super) limit: Option<u32>,
    pub(super) ttl: Nanos,
    pub(super) begin: Nanos,
    pub(super) end: Nanos,
    /// When it was granted at the earliest: not before it asked, nor before those with lower
    /// fences, nor before it had room.
    pub(super) granted_from: Nanos,
    /// When its lease ended at the earliest.
    pub(super) lease_until: Nanos,
    /// When giving it back was first asked for, if that was not refused.
    pub(super) left: Nanos,
    /// When it was known to be given back, and the entry that tells so.
    pub(super) released: Option<(Nanos, usize)>,
}

impl Holding {
    /// Until when it must have held: nothing that could end it had begun.
    pub(super) fn surely_until(&self) -> Nanos {
        self.lease_until.min(self.left)
    }

    pub(super) fn is_exclusive(&self) -> bool {
        self.limit == Some(1)
    }
}

/// When it was over; later than everything if nobody knows.
pub(super) fn end(entry: &Entry) -> Nanos {
    entry.end.unwrap_or(Nanos::MAX)
}

/// Sorts a history by resource, without what makes no sense, which is told.
pub(super) fn sort<'h>(
    history: &'h [Entry],
    terms: &Terms,
    findings: &mut Vec<Finding>,
) -> Vec<Case<'h>> {
    let mut entries: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, entry) in history.iter().enumerate() {
        if matches!(entry.what, What::Fault { .. }) {
            continue;
        }
        if end(entry) < entry.begin {
            findings.push(Finding {
                kind: Kind::Malformed,
                resource: entry.resource.clone(),
                says: "it ends before it begins".into(),
                entries: vec![index],
            });
            continue;
        }
        entries.entry(&entry.resource).or_default().push(index);
    }
    let case = |(resource, entries)| case(history, resource, entries, terms, findings);
    entries.into_iter().map(case).collect()
}

fn case<'h>(
    history: &'h [Entry],
    resource: &'h str,
    entries: Vec<usize>,
    terms: &Terms,
    findings: &mut Vec<Finding>,
) -> Case<'h> {
    let mut case = Case { history, resource, entries, holdings: Vec::new() };
    case.holdings = holdings(&case, findings);
    let mut by_claim: HashMap<u64, usize> = HashMap::new();
    for (index, holding) in case.holdings.iter().enumerate() {
        by_claim.insert(holding.claim, index);
    }
    // The last renewal that was confirmed: the lease goes on from there.
    let mut renewed: Vec<Option<Nanos>> = vec![None; case.holdings.len()];
    for &index in &case.entries {
        let entry = &history[index];
        if let What::Renew { claim, outcome: Told::Done } = entry.what
            && let Some(&at) = by_claim.get(&claim)
        {
            renewed[at] = renewed[at].max(Some(entry.begin));
        }
        if let What::Release { claim, outcome: Told::Done | Told::Unknown } = entry.what
            && let Some(&at) = by_claim.get(&claim)
        {
            case.holdings[at].leaves(index, entry);
        }
    }
    estimate(&mut case.holdings, &renewed, terms);
    case
}

impl Holding {
    fn leaves(&mut self, index: usize, entry: &Entry) {
        self.left = self.left.min(entry.begin);
        let done = matches!(entry.what, What::Release { outcome: Told::Done, .. });
        if let (true, Some(end)) = (done, entry.end)
            && self.released.is_none_or(|(before, _)| end < before)
        {
            self.released = Some((end, index));
        }
    }
}

fn holdings(case: &Case<'_>, findings: &mut Vec<Finding>) -> Vec<Holding> {
    let mut holdings = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    for &index in &case.entries {
        let entry = &case.history[index];
        let What::Acquire { ttl, limit, outcome: Acquired::Granted { claim, fence }, .. } =
            entry.what
        else {
            continue;
        };
        if let Some(before) = known.insert(claim, index) {
            let says = format!("claim {claim} was granted twice");
            findings.push(case.finding(Kind::FenceTwice, &[before, index], says));
            continue;
        }
        holdings.push(Holding {
            entry: index,
            claim,
            fence,
            limit,
            ttl,
            begin: entry.begin,
            end: end(entry),
            granted_from: entry.begin,
            lease_until: 0,
            left: Nanos::MAX,
            released: None,
        });
    }
    holdings.sort_by_key(|holding| (holding.fence, holding.begin));
    holdings
}

/// Fences rise with every grant, so the order of fences is that of the grants. If it is not, that
/// is a finding of its own, and the estimate is not better than what is known of the entry alone.
fn estimate(holdings: &mut [Holding], renewed: &[Option<Nanos>], terms: &Terms) {
    let mut from = 0;
    for index in 0..holdings.len() {
        let (before, rest) = holdings.split_at_mut(index);
        let holding = &mut rest[0];
        from = holding.begin.max(from);
        if let Some(before) = before.last()
            && (before.is_exclusive() || holding.is_exclusive())
        {
            from = from.max(before.surely_until());
        }
        from = from.min(holding.end);
        holding.granted_from = from;
        let since = renewed[index].map_or(from, |renewed| renewed.max(from));
        holding.lease_until = since.saturating_add(terms.lease(holding.ttl));
    }
}
