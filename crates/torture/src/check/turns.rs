//! Strictly in turn: whoever had its place before another began to ask is served before it. This is
//! judged where the one who was there first wants to be alone; the other may want anything.
//!
//! **The exception.** A waiter that is not there when its turn comes is called, its turn is kept
//! for its ttl (two minutes at most), and only then others may go ahead. An entry does not say
//! whether its client was there all the time: a connection may break at any time.
//!
//! **Idea.** While a turn is kept for an exclusive claim nobody holds. So a waiter can only have
//! been passed over if, after it asked and before the other was served, nobody held for as long as
//! a turn is kept. Where the history leaves no room for such a pause, the promise is strict.
//!
//! O(n log n): of all who came later and were served earlier only the first has to be looked at. If
//! the pause was before the first, it was before all of them.

use super::cases::{Case, Holding};
use super::{Finding, Kind, Terms, seconds};
use crate::history::{Nanos, What};

/// A time in which nobody need have held: when everybody could be gone, and when the next one was
/// served at the latest. `before` is the place of that one in the order of fences.
struct Pause {
    from: Nanos,
    until: Nanos,
    before: usize,
}

pub(super) fn check(case: &Case<'_>, terms: &Terms, findings: &mut Vec<Finding>) {
    let shortest = case.holdings.iter().map(|holding| holding.ttl).min().unwrap_or(0);
    let pauses = pauses(&case.holdings, terms.lease(shortest.min(terms.turn_max)));
    // The latest beginning so far, in the order of fences: where it rises above a moment is the
    // first who began after that.
    let mut latest: Vec<(Nanos, usize)> = Vec::new();
    for (index, holding) in case.holdings.iter().enumerate() {
        if let Some(placed) = placed(case, holding).filter(|_| holding.is_exclusive()) {
            let first = latest.partition_point(|&(begin, _)| begin <= placed);
            if let Some(&(_, first)) = latest.get(first) {
                let kept_for = terms.lease(holding.ttl.min(terms.turn_max));
                if !passed_over(&pauses, holding.begin, kept_for, first) {
                    findings.push(finding(case, holding, placed, &case.holdings[first]));
                }
            }
        }
        if latest.last().is_none_or(|&(begin, _)| begin < holding.begin) {
            latest.push((holding.begin, index));
        }
    }
}

fn placed(case: &Case<'_>, holding: &Holding) -> Option<Nanos> {
    let What::Acquire { placed, .. } = case.history[holding.entry].what else { return None };
    placed
}

/// Those at least as long as the shortest turn.
fn pauses(holdings: &[Holding], shortest: Nanos) -> Vec<Pause> {
    // Nobody was served later than anybody with a higher fence was told.
    let mut served: Vec<Nanos> = holdings.iter().map(|holding| holding.end).collect();
    for index in (1..served.len()).rev() {
        served[index - 1] = served[index - 1].min(served[index]);
    }
    let mut pauses = Vec::new();
    let mut from = 0;
    for (before, (holding, until)) in holdings.iter().zip(served).enumerate() {
        if until.saturating_sub(from) >= shortest {
            pauses.push(Pause { from, until, before });
        }
        from = from.max(holding.surely_until());
    }
    pauses
}

/// Whether it can have been, though it asked at `asked` and `first` was the first to be served.
fn passed_over(pauses: &[Pause], asked: Nanos, kept_for: Nanos, first: usize) -> bool {
    let since = pauses.partition_point(|pause| pause.before <= first);
    // What ended before it asked is no pause of its turn, nor is anything before that.
    let earlier = pauses[..since].iter().rev();
    earlier
        .take_while(|pause| pause.until >= asked)
        .any(|pause| pause.from.max(asked).saturating_add(kept_for) <= pause.until)
}

fn finding(case: &Case<'_>, early: &Holding, placed: Nanos, late: &Holding) -> Finding {
    let says = format!(
        "claim {} had its place since {}, claim {} asked at {} and was served first, fence {} \
         before {}; nobody was away for long enough to be passed over",
        early.claim,
        seconds(placed),
        late.claim,
        seconds(late.begin),
        late.fence,
        early.fence
    );
    case.finding(Kind::OutOfTurn, &[early.entry, late.entry], says)
}
