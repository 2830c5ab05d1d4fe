//! What was told of a claim so far.

use crate::driver::{End, Loss, Miss, Problem, Told};

#[derive(Debug, Clone, Default)]
pub(crate) struct News {
    pub(crate) phase: Phase,
    pub(crate) end: Option<End>,
    /// Renewals that the program asked for.
    pub(crate) refreshes: u64,
    /// Whether the last of them is confirmed; what went wrong if it is not.
    pub(crate) refreshed: Option<Result<(), Problem>>,
}

#[derive(Debug, Clone, Default)]
pub(crate) enum Phase {
    #[default]
    Waiting,
    Held,
    Lost(Loss),
    Missed(Miss),
}

impl News {
    pub(crate) fn take(&mut self, told: &Told) {
        match told {
            Told::Waiting { .. } => {}
            Told::Acquired { .. } => self.phase = Phase::Held,
            Told::Refreshing => {
                self.refreshes += 1;
                self.refreshed = None;
            }
            Told::Renewed => self.refreshed = Some(Ok(())),
            Told::Unknown { problem } => self.refreshed = Some(Err(problem.clone())),
            Told::Lost(loss) => self.phase = Phase::Lost(loss.clone()),
            Told::Missed(miss) => self.phase = Phase::Missed(miss.clone()),
            Told::Ended(end) => {
                self.end = Some(end.clone());
                if matches!(self.phase, Phase::Waiting) {
                    self.phase = Phase::Missed(Miss::GivenUp);
                }
            }
        }
    }
}
