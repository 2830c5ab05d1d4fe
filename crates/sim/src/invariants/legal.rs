//! **Legal holders.** A set of holders is legal if its size is at most the smallest limit among
//! them (rule 1), in what the store has written down, at every event.

use claims::{Event, Limit, Name, State};

use super::{Checked, Violation};

pub(super) fn check(mirror: &State, event: &Event) -> Checked {
    let Event::Activated { claim, .. } = event else {
        return Ok(());
    };
    let Some(claim) = mirror.claim(*claim) else {
        return Ok(());
    };
    for name in claim.resources.as_slice() {
        check_name(mirror, name)?;
    }
    Ok(())
}

pub(super) fn check_all(state: &State) -> Checked {
    for name in state.names_after(None) {
        check_name(state, name)?;
    }
    Ok(())
}

fn check_name(state: &State, name: &Name) -> Checked {
    let holders: Vec<_> = state.holders(name).collect();
    if is_legal(holders.iter().map(|claim| claim.limit)) {
        return Ok(());
    }
    let ids: Vec<String> = holders.iter().map(|claim| claim.id.to_string()).collect();
    Err(Violation::of("legal holders", format!("claims {} hold {name} together", ids.join(", "))))
}

/// Rule 1.
pub(super) fn is_legal(limits: impl Iterator<Item = Limit>) -> bool {
    let (mut count, mut smallest) = (0u32, u32::MAX);
    for limit in limits {
        count += 1;
        smallest = smallest.min(limit.count().unwrap_or(u32::MAX));
    }
    count <= smallest
}
