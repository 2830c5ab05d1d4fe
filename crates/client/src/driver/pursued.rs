//! One claimant at work: what others see of it, and whom it tells.

use std::sync::Arc;

use claims::claimant::{Claimant, Moment, Notice};
use tokio::task::AbortHandle;

use super::Teller;
use super::telling::{self, Problem, Told};
use super::view::View;
use crate::clock;
use crate::wish::Wish;

/// A claimant and all that belongs to it.
pub(super) struct Pursued {
    pub(super) wish: Box<Wish>,
    pub(super) claimant: Claimant,
    pub(super) view: Arc<View>,
    pub(super) tell: Teller,
    /// Its place in the agenda.
    pub(super) wakes: Option<Moment>,
    /// Its requests under way, and whether the server may hold them.
    pub(super) flights: Vec<(u32, AbortHandle, bool)>,
    /// The last thing that went wrong.
    pub(super) problem: Option<Problem>,
    pub(super) position: Option<u64>,
}

impl Pursued {
    /// Shows to everybody what is believed now, before anybody is told.
    pub(super) fn show(&self) {
        self.view.show(self.claimant.claim(), self.claimant.lease(clock::now()));
    }

    pub(super) fn notify(&mut self, notice: Notice) {
        let problem = self.problem.clone();
        let or_nothing = || problem.clone().unwrap_or_else(Problem::nothing);
        let told = match notice {
            Notice::Waiting { position } => Told::Waiting { position },
            Notice::Acquired { fence } => Told::Acquired { fence },
            Notice::Renewed => Told::Renewed,
            Notice::Unknown => Told::Unknown { problem: or_nothing() },
            Notice::Lost(cause) => Told::Lost(telling::lost(cause, or_nothing())),
            Notice::Missed(why) => Told::Missed(telling::missed(why, problem, self.position)),
            Notice::Ended(state) => {
                let made = self.claimant.claim().is_some();
                Told::Ended(telling::ended(state, made, problem))
            }
        };
        (self.tell)(&told);
    }

    /// A request is over. Returns 1 if the server may have held it.
    pub(super) fn land(&mut self, number: u32) -> usize {
        let Some(nth) = self.flights.iter().position(|(flight, ..)| *flight == number) else {
            return 0;
        };
        let (_, handle, holds) = self.flights.swap_remove(nth);
        handle.abort();
        usize::from(holds)
    }

    pub(super) fn land_all(&mut self) -> usize {
        let held = self.flights.iter().filter(|(.., holds)| *holds).count();
        for (_, handle, _) in self.flights.drain(..) {
            handle.abort();
        }
        held
    }
}
