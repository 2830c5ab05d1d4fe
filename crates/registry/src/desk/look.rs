//! Reading the books, in pieces.

use claims::{Claim, ClaimId, Name, State};

use super::books::Books;
use crate::store::{Filter, ResourceReport};

/// How many claims or names one look at the books goes through: a long list must not hold up the
/// desk, so it is read in pieces.
pub(super) const LOOK_MAX: usize = 2_000;

/// A piece of a list.
pub(super) struct Piece {
    pub(super) found: Vec<Claim>,
    pub(super) skip: usize,
    /// The last claim looked at, if there may be more.
    pub(super) last: Option<ClaimId>,
}

/// Goes through some of the claims after `after`.
pub(super) fn list<B: Books>(
    books: &B,
    filter: &Filter,
    after: Option<ClaimId>,
    mut skip: usize,
    room: usize,
) -> Piece {
    let (mut found, mut last) = (Vec::new(), None);
    for claim in books.state().claims_after(after).take(LOOK_MAX) {
        last = Some(claim.id);
        if !filter.admits(claim, books.now()) {
            continue;
        }
        if skip > 0 {
            skip -= 1;
            continue;
        }
        found.push(claim.clone());
        if found.len() == room {
            break;
        }
    }
    Piece { found, skip, last }
}

/// Who holds a resource, and the first of those who wait for it.
pub(super) fn report(state: &State, name: &Name, queue: usize) -> ResourceReport {
    ResourceReport {
        name: name.clone(),
        holders: state.holders(name).take(LOOK_MAX).cloned().collect(),
        queue: state.queue(name).take(queue).cloned().collect(),
        waiting: state.queue_len(name),
    }
}
