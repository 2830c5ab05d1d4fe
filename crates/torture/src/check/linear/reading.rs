//! The operations of a case, in the words of the model.

use std::collections::{HashMap, HashSet};

use super::super::Terms;
use super::super::cases::{Case, end};
use super::super::model::{Deed, Operation, Party};
use crate::history::{Acquired, Entry, Nanos, Seen, Told, What};

pub(super) struct Reading {
    /// By their beginning.
    pub(super) operations: Vec<Operation>,
    /// Those that need not happen, but might explain something.
    pub(super) optional: Vec<usize>,
    pub(super) parties: Vec<Party>,
    /// The parties whose fence is known, by fence.
    pub(super) order: Vec<usize>,
}

impl Operation {
    /// A grant that was never told may never have been given.
    pub(super) fn is_optional(&self) -> bool {
        self.deed == Deed::Granted && self.end == Nanos::MAX
    }
}

impl Reading {
    pub(super) fn of(case: &Case<'_>, terms: &Terms) -> Self {
        let mut numbers: HashMap<u64, usize> = HashMap::new();
        let mut operations = Vec::new();
        let mut parties: Vec<Party> = Vec::new();
        let mut order = Vec::new();
        for holding in &case.holdings {
            let claim = parties.len();
            numbers.insert(holding.claim, claim);
            parties.push(Party::new(holding.claim, terms.lease(holding.ttl), holding.limit));
            parties[claim].fence = Some(holding.fence);
            order.push(claim);
            let (entry, begin) = (holding.entry, holding.begin);
            // An answer that arrived is one, even if nobody wrote down when.
            let end = holding.end.min(Nanos::MAX - 1);
            operations.push(Operation { entry, claim, begin, end, deed: Deed::Granted });
        }
        for (number, entry) in strays(case, &numbers) {
            let What::Acquire { ttl, limit, .. } = case.history[entry].what else { continue };
            let claim = parties.len();
            numbers.insert(number, claim);
            parties.push(Party::new(number, terms.lease(ttl), limit));
            let (begin, end) = (case.history[entry].begin, Nanos::MAX);
            operations.push(Operation { entry, claim, begin, end, deed: Deed::Granted });
        }
        for &index in &case.entries {
            let entry = &case.history[index];
            if let What::Release { claim, outcome: Told::Unknown } = entry.what
                && let Some(&claim) = numbers.get(&claim)
            {
                parties[claim].may_leave = parties[claim].may_leave.min(entry.begin);
            }
            let Some((number, deed)) = deed(entry) else { continue };
            let Some(&claim) = numbers.get(&number) else { continue };
            let (begin, end) = (entry.begin, end(entry));
            operations.push(Operation { entry: index, claim, begin, end, deed });
        }
        operations.sort_by_key(|operation| operation.begin);
        for (index, operation) in operations.iter().enumerate() {
            match operation.deed {
                Deed::Granted => parties[operation.claim].grant = index,
                Deed::Released | Deed::SeenOver => parties[operation.claim].farewells.push(index),
                Deed::Renewed | Deed::SeenActive => parties[operation.claim].needs.push(index),
                Deed::SeenWaiting => {}
            }
        }
        let strays = parties.iter().filter(|party| party.fence.is_none());
        let optional = strays.filter(|party| !party.needs.is_empty()).map(|party| party.grant);
        let optional = optional.collect();
        Self { operations, optional, parties, order }
    }
}

impl Party {
    fn new(number: u64, lease: Nanos, limit: Option<u32>) -> Self {
        let (may_leave, needs, farewells) = (Nanos::MAX, Vec::new(), Vec::new());
        Self { number, lease, limit, fence: None, grant: 0, may_leave, needs, farewells }
    }
}

/// What an answered question says about which claim. Without an answer it says nothing.
fn deed(entry: &Entry) -> Option<(u64, Deed)> {
    entry.end?;
    match entry.what {
        What::Renew { claim, outcome: Told::Done } => Some((claim, Deed::Renewed)),
        What::Release { claim, outcome: Told::Done } => Some((claim, Deed::Released)),
        What::Renew { claim, outcome: Told::Refused }
        | What::Release { claim, outcome: Told::Refused } => Some((claim, Deed::SeenOver)),
        What::Look { claim, seen: Some(Seen::Active) } => Some((claim, Deed::SeenActive)),
        What::Look { claim, seen: Some(Seen::Waiting) } => Some((claim, Deed::SeenWaiting)),
        What::Look { claim, seen: Some(Seen::Ended) | None } => Some((claim, Deed::SeenOver)),
        What::Acquire { .. }
        | What::Renew { .. }
        | What::Release { .. }
        | What::Belief { .. }
        | What::Effect { .. }
        | What::Fault { .. } => None,
    }
}

/// Claims whose grant was never told, but whose owner knows them, each with the acquisition that it
/// belongs to: the last one without an answer that its owner began before. What is seen of claims
/// that nobody can be found for is not judged.
fn strays(case: &Case<'_>, known: &HashMap<u64, usize>) -> Vec<(u64, usize)> {
    let mut by_begin: Vec<usize> = case.entries.clone();
    by_begin.sort_by_key(|&index| case.history[index].begin);
    let mut unanswered: HashMap<u32, usize> = HashMap::new();
    let mut found = HashSet::new();
    let mut strays = Vec::new();
    for index in by_begin {
        let entry = &case.history[index];
        if let What::Acquire { outcome, .. } = entry.what {
            unanswered.remove(&entry.client);
            if outcome == Acquired::Unknown {
                unanswered.insert(entry.client, index);
            }
        }
        if let What::Renew { claim, .. } | What::Release { claim, .. } = entry.what
            && !known.contains_key(&claim)
            && !found.contains(&claim)
            && let Some(acquisition) = unanswered.remove(&entry.client)
        {
            found.insert(claim);
            strays.push((claim, acquisition));
        }
    }
    strays
}
