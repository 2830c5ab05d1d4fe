//! `torture kill` and `torture power`: the same blow again and again.

use clap::Args;

use super::place::Place;
use super::seed;
use crate::cycles::{Blow, Cycles, Outcome};
use crate::progress::Progress;

/// What `kill` and `power` can be told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Cycle {
    /// How often.
    #[arg(long, default_value_t = 100)]
    rounds: u64,
    /// Decides when each blow falls; without it, another one each time.
    #[arg(long)]
    seed: Option<u64>,
    /// Print the outcome as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Cycle {
    pub(crate) fn kill(self) -> anyhow::Result<bool> {
        self.go(Blow::Kill, "kill")
    }

    pub(crate) fn power(self) -> anyhow::Result<bool> {
        let blow = Blow::PowerCut(self.place.disk);
        self.go(blow, "power")
    }

    fn go(self, blow: Blow, word: &str) -> anyhow::Result<bool> {
        let seed = seed(self.seed);
        let (tenure, flags) = (&self.place.tenure()?, &self.place.server_flag);
        let directory = self.place.directory()?;
        let progress = Progress::of(self.rounds, "rounds");
        let cycles = Cycles { tenure, flags, blow, rounds: self.rounds, seed };
        let outcome = cycles.go(directory.path(), &progress)?;
        drop(progress);
        let Outcome { rounds, lost, acknowledged, unanswered, losses } = &outcome;
        if self.json {
            println!("{}", serde_json::to_string(&outcome)?);
        } else {
            println!(
                "{word}, seed {seed}: something was lost in {lost} of {rounds} rounds; \
                 {acknowledged} answers were heard, {unanswered} never came"
            );
            losses.iter().for_each(|loss| println!("FOUND: {loss}"));
        }
        if *lost > 0 {
            let (program, place) = (std::env::current_exe()?, self.place.again());
            let program = program.display();
            directory.tell(&format!("{program} {word} --rounds {rounds} --seed {seed}{place}"));
        }
        Ok(*lost == 0)
    }
}
