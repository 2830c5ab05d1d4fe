//! **Replay equals state.** The committed events, applied to an empty state, are the store's state:
//! now and then while it runs, and after every recovery. A batch that was in flight when the server
//! stopped may be there or not, but only as a whole.

use claims::engine::{apply, resume};
use claims::{Event, Rules, Stamp, State, Timestamp, WallTime};
use registry::embedded::Batch;

use super::{Checked, Violation};

/// The states are compared every so many commits.
const COMPARE_EVERY: u32 = 32;

#[derive(Debug)]
pub(super) struct Replay {
    mirror: State,
    position: u64,
    commits: u32,
    /// What the store knew in the middle of the commit in which it stopped.
    in_flight: Option<State>,
    /// The times of day at which restarts were tried since.
    tries: Vec<WallTime>,
}

impl Replay {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            mirror: State::new(rules),
            position: 0,
            commits: 0,
            in_flight: None,
            tries: Vec::new(),
        }
    }

    pub(super) fn mirror(&self) -> &State {
        &self.mirror
    }

    pub(super) fn apply(&mut self, event: &Event, stamp: Stamp) {
        apply(&mut self.mirror, event, stamp);
    }

    pub(super) fn committed(&mut self, batch: &Batch) -> Checked {
        if batch.position < self.position {
            return violated("the log went back to an earlier position");
        }
        self.position = batch.position + batch.events.len() as u64;
        Ok(())
    }

    pub(super) fn compare(&mut self, state: &State) -> Checked {
        self.commits += 1;
        match self.commits.is_multiple_of(COMPARE_EVERY) && self.mirror != *state {
            true => violated("the state is not what the events say"),
            false => Ok(()),
        }
    }

    pub(super) fn stopped(&mut self, in_flight: Option<State>) {
        if in_flight.is_some() {
            self.in_flight = in_flight;
        }
    }

    /// A restart begins; whether it succeeds is not known.
    pub(super) fn restarts(&mut self, wall: WallTime) {
        self.tries.push(wall);
    }

    /// The store has `state` after a restart at `now`. Restarts that were cut short may have made
    /// their change as well.
    pub(super) fn recovered(&mut self, state: &State, now: Timestamp) -> Checked {
        let in_flight = self.in_flight.take();
        let tries = std::mem::take(&mut self.tries);
        let last = *tries.last().expect("a restart was tried");
        let found = in_flight.iter().chain([&self.mirror]).find_map(|before| {
            tries.iter().rev().find_map(|&wall| {
                let mut after = before.clone();
                restart(&mut after, Stamp { at: now, wall });
                if wall != last {
                    restart(&mut after, Stamp { at: now, wall: last });
                }
                (after == *state).then_some(after)
            })
        });
        if let Some(after) = found {
            self.mirror = after;
            return Ok(());
        }
        violated("after a restart the state is not what the committed events say")
    }
}

/// What every restart does (rule 11).
fn restart(state: &mut State, stamp: Stamp) {
    let tally = state.tally();
    if tally.active + tally.waiting > 0 {
        resume(state, stamp, &mut Vec::new());
    }
}

fn violated(what: &str) -> Checked {
    Err(Violation::of("replay equals state", what))
}
