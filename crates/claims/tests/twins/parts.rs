//! A store that loads only what a command needs.

use std::collections::BTreeSet;

use claims::engine::{self, Needs, Part, Shelf};
use claims::{
    Claim, ClaimId, Command, Event, Name, Phase, Record, Refusal, Stamp, Standing, State,
    Timestamp, Turn,
};

/// Runs a command on as little of the state as it needs, and makes what happened true in the whole.
pub(crate) fn execute(
    state: &mut State,
    command: Command,
    stamp: Stamp,
    events: &mut Vec<Event>,
    mut depth: usize,
    looked_at: &mut Vec<ClaimId>,
) -> Result<Standing, Refusal> {
    let mut names = BTreeSet::new();
    loop {
        let part = load(state, &command, &names, stamp.at, depth);
        match engine::execute_part(state.rules(), part, command.clone(), stamp) {
            Ok(done) => {
                for event in &done.events {
                    engine::apply(state, event, stamp);
                }
                events.extend(done.events);
                looked_at.extend(done.state.claims_after(None).map(|claim| claim.id));
                return done.answer;
            }
            Err(Needs::Resources(more)) => names.extend(more),
            Err(Needs::MoreInLine) => depth *= 4,
        }
    }
}

fn load(
    state: &State,
    command: &Command,
    names: &BTreeSet<Name>,
    now: Timestamp,
    depth: usize,
) -> Part {
    let subject = match command {
        Command::Register(registration) => {
            let mut all = state.claims_after(None);
            all.find(|claim| claim.key == registration.key).map(|claim| claim.id)
        }
        Command::Activate(owner)
        | Command::Leave(owner)
        | Command::Renew(owner, _)
        | Command::End(owner, _)
        | Command::Appoint(owner, _) => Some(owner.claim),
        Command::Revoke(claim) => Some(*claim),
    };
    let mut ids: BTreeSet<ClaimId> = subject.into_iter().collect();
    let mut heads = Vec::new();
    for name in names {
        let is = |claim: &&Claim, turn: fn(&Turn) -> bool| matches!(&claim.phase, Phase::Waiting(is) if turn(is));
        let called =
            state.queue(name).filter(|c| is(c, |turn| matches!(turn, Turn::Called { .. })));
        let in_line = state.queue(name).filter(|c| is(c, |turn| matches!(turn, Turn::InLine)));
        let in_line: Vec<ClaimId> = in_line.take(depth).map(|claim| claim.id).collect();
        let last = in_line.last().copied().filter(|_| in_line.len() == depth);
        heads.push((name, last));
        ids.extend(state.holders(name).chain(called).map(|claim| claim.id));
        ids.extend(in_line);
    }
    // Whoever has lapsed is gone already, whether or not somebody has noticed; but the run will.
    let lapse = state.rules().waiter_lapse;
    let seen_at = |claim: &Claim| state.record(claim.id).unwrap().seen.at;
    let counts = |claim: &&Claim| seen_at(claim) + lapse > now || ids.contains(&claim.id);
    let shelf = |(name, last): (&Name, Option<ClaimId>)| {
        let queue = || state.queue(name).filter(counts);
        let ahead = subject.map(|id| queue().take_while(|claim| claim.id < id).count());
        Shelf { name: name.clone(), waiting: queue().count(), ahead, last }
    };
    let resources = heads.into_iter().map(shelf).collect();
    let claims = ids.iter().filter_map(|&id| state.record(id)).map(Record::cloned).collect();
    Part { counters: state.counters(), claims, resources }
}
