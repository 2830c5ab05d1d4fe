//! How the server stops, and when it starts again.

use claims::State;
use registry::embedded::Durability;

use super::{World, draw_rate};
use crate::agenda::Happening;
use crate::disk::CrashAt;
use crate::invariants::{Checked, Violation};
use crate::server::Restart;
use crate::story::{Note, ServerStop};

impl World {
    /// The process stops: by itself because of what it was `doing`, or with or without its machine.
    pub(super) fn stop_server(&mut self, doing: Option<&'static str>, in_flight: Option<State>) {
        self.figures.stops += 1;
        let fatal = doing.filter(|_| !self.disk.has_crashed());
        self.server.stop();
        self.put_off_server.clear();
        self.checks.stopped(in_flight);
        let power_cut = self.rng.permille(self.swarm.faults.power_cuts);
        let why = match fatal {
            Some(doing) => ServerStop::Fatal(doing),
            None if power_cut => ServerStop::PowerCut,
            None => ServerStop::Killed,
        };
        self.story.tell(self.now, Note::ServerStops(why));
        if power_cut {
            self.cut_power();
        }
        self.disk.restart();
        self.plan_start();
    }

    fn cut_power(&mut self) {
        self.disk.lose_power();
        let rate = draw_rate(&mut self.rng, &self.swarm);
        self.server.reboot(self.now, rate);
        if !self.healed && self.rng.permille(self.swarm.faults.flips) {
            let count = self.disk.flip_bits();
            self.story.tell(self.now, Note::BitsFlipped(count));
        }
    }

    pub(super) fn plan_start(&mut self) {
        let life = self.server.life;
        let delay = self.server.restart_delay(self.swarm.faults.restart);
        self.plan(delay, Happening::ServerStarts { life });
    }

    pub(super) fn arm(&mut self, crash: CrashAt) {
        self.story.tell(self.now, Note::CrashArmed(crash));
        self.disk.arm(crash);
    }

    /// At the very end the server stops once more, and all that was promised must still be there.
    pub(super) fn end(&mut self) -> Checked {
        self.server.stop();
        self.checks.stopped(None);
        if self.swarm.options.durability == Durability::Sync {
            self.story.tell(self.now, Note::ServerStops(ServerStop::PowerCut));
            self.disk.lose_power();
            let rate = draw_rate(&mut self.rng, &self.swarm);
            self.server.reboot(self.now, rate);
        } else {
            self.story.tell(self.now, Note::ServerStops(ServerStop::Killed));
        }
        for _ in 0..2 {
            let start = self.server.start(self.now, &mut self.checks, &mut self.story)?;
            if matches!(start, Restart::Up) {
                return Ok(());
            }
        }
        Err(Violation::of(
            "after healing everyone is served",
            "the store does not start although nothing is wrong",
        ))
    }
}
