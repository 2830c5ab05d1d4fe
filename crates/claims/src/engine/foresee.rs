//! What the next commands will need, fetched for all of them at once.
//!
//! **Problem.** Among a million claims, the one that a command is about is in memory that nobody has
//! touched for long. The processor waits for it, and then, at the next command, for another one.
//!
//! **Idea.** It can wait for many places at the same time, if it knows of them. A store that is busy has
//! many commands at hand before it decides the first. So each place is read once, one right after the
//! other, and nothing is done with what was read: when the decisions are made it is near.

use core::hint::black_box;

use super::decide::Subject;
use crate::claim::Claim;
use crate::command::Command;
use crate::identity::{ClaimId, KeyHash};
use crate::state::{Slots, State};

/// So many claims are near, whichever was asked for last: they take a megabyte.
const NEAR: usize = 8 * 1024;
/// How many commands are looked after at a time: about as many as a processor can wait for at once.
const FORESEEN: usize = 16;

/// Reads what these commands will look at, so that it need not be waited for one by one. It helps with a
/// single one, too: its claim is on its way while its place in line is counted. Changes nothing, and no answer
/// depends on it.
///
/// ```
/// use claims::*;
/// let (mut state, mut events) = (State::new(Rules::default()), Vec::new());
/// let batch = [Command::Revoke(ClaimId(7)), Command::Revoke(ClaimId(8))];
/// engine::foresee(&state, &batch);
/// for command in batch {
///     let answer = engine::execute(&mut state, command, Stamp::default(), &mut events);
///     assert!(matches!(answer, Err(Refusal::Unknown { .. })));
/// }
/// ```
pub fn foresee<'a>(state: &State, commands: impl IntoIterator<Item = &'a Command>) {
    let mut needs = commands.into_iter().map(|command| Need::of(state, command)).peekable();
    while let Some(first) = needs.next() {
        if needs.peek().is_none() {
            return foresee_one(state, &first);
        }
        let mut few = [const { None }; FORESEEN];
        few[0] = Some(first);
        few[1..].iter_mut().zip(&mut needs).for_each(|(place, need)| *place = Some(need));
        foresee_few(state, &few);
    }
}

/// What a command will look at.
#[derive(Default)]
struct Need {
    key: Option<KeyHash>,
    claim: Option<ClaimId>,
    /// What is beside the claim. If only that, it is about the queue that the last decision was about, most
    /// likely: see [`outlook`](super::outlook).
    brief: Option<ClaimId>,
}

impl Need {
    fn of(state: &State, command: &Command) -> Self {
        let id = match Subject::of(command) {
            Subject::Key(key) => return Self { key: Some(key), ..Self::default() },
            Subject::Claim(id) => Some(id),
        };
        match command {
            Command::Activate(_) if is_answered_by_briefs(state) => {
                Self { brief: id, ..Self::default() }
            }
            Command::Activate(_) | Command::Leave(_) => {
                Self { claim: id, brief: id, ..Self::default() }
            }
            Command::Register(_)
            | Command::Renew(..)
            | Command::End(..)
            | Command::Appoint(..)
            | Command::Revoke(_) => Self { claim: id, ..Self::default() },
        }
    }
}

/// Whether those who ask where the last decision was made need not be looked at.
fn is_answered_by_briefs(state: &State) -> bool {
    let recent = state.index.at(state.recent);
    recent.is_some_and(|resource| resource.is_long() && resource.is_apart())
}

/// In three rounds, because each tells where to look in the next. A round does as little as it can
/// besides reading: a processor does not look further ahead than some two hundred steps, and what lies
/// beyond them is asked for only when the rest has come.
fn foresee_few(state: &State, needs: &[Option<Need>; FORESEEN]) {
    let needs = || needs.iter().flatten();
    let mut read = 0;
    for key in needs().filter_map(|need| need.key.as_ref()) {
        read ^= state.touch_key(key);
    }
    for id in needs().filter_map(|need| need.brief) {
        read ^= state.claims.beside(id).map_or(0, |brief| brief.seen.at.as_micros());
    }
    let mut places = [None; FORESEEN];
    for (place, id) in places.iter_mut().zip(needs().filter_map(|need| need.claim)) {
        *place = state.claims.place(id);
    }
    let claims = || places.iter().filter_map(|place| place.as_ref()?.as_ref());
    for claim in claims() {
        read ^= touch(claim);
    }
    // What the last decision was about is near, but for the places in its line: those need not be waited for
    // here, because their pages are few and found at once.
    let recent = state.index.at(state.recent);
    let in_line = needs().filter(|need| need.claim.is_none()).filter_map(|need| need.brief);
    in_line.for_each(|id| recent.into_iter().for_each(|resource| resource.fetch(id)));
    for claim in claims() {
        for &slot in Slots::of(claim).as_slice() {
            let resource = &state.index[slot];
            match slot == state.recent {
                true => resource.fetch(claim.id),
                false => read ^= resource.touch(claim.id),
            }
        }
    }
    black_box(read);
}

/// The same for a single command. Nothing is waited for: the claim, which may be far away, and its place in
/// line come while other things are done (`outlook`). For many at once that is the slower way: they
/// are asked for one after the other then, where reading asks for all of them together.
fn foresee_one(state: &State, need: &Need) {
    if state.claims.len() <= NEAR {
        return;
    }
    let brief = need.brief.and_then(|id| state.claims.beside(id));
    brief.into_iter().for_each(fetch::ahead);
    if let Some(id) = need.claim {
        state.claims.place(id).into_iter().for_each(fetch::ahead);
        let resource = state.index.at(state.recent).filter(|resource| resource.is_long());
        resource.into_iter().for_each(|resource| resource.fetch(id));
    }
}

/// Reads from each of the two lines of the cache that a claim takes.
fn touch(claim: &Claim) -> u64 {
    claim.id.0 ^ u64::from(claim.extras.is_some())
}

#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;

    #[test]
    fn what_is_read_of_a_claim_is_in_both_of_its_lines() {
        const LINE: usize = 64;
        assert_ne!(offset_of!(Claim, id) / LINE, offset_of!(Claim, extras) / LINE);
    }
}
