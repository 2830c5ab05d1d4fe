//! What goes wrong, and when it stops going wrong.

use claims::{Phase, Span};

use super::{World, draw_rate};
use crate::agenda::{Fault, Happening};
use crate::disk::CrashAt;
use crate::invariants::Checked;
use crate::message::{Ask, ClientId, Request, RequestId};
use crate::net::Way;
use crate::story::Note;

impl World {
    pub(super) fn plan_faults(&mut self) {
        let first = ClientId(0);
        for fault in [
            Fault::Crash,
            Fault::PauseServer,
            Fault::SlowDisk,
            Fault::FailingDisk,
            Fault::FullDisk,
            Fault::CutToServer(first),
            Fault::CutFromServer(first),
            Fault::PauseClient,
            Fault::KillClient,
            Fault::Revoke,
            Fault::WallJump,
            Fault::Drift,
        ] {
            self.plan_fault(fault);
        }
    }

    /// The next time this happens, if this world has it.
    fn plan_fault(&mut self, fault: Fault) {
        let faults = &self.swarm.faults;
        let typical = match fault {
            Fault::Crash => faults.crash,
            Fault::PauseServer => faults.pause_server,
            Fault::SlowDisk => faults.slow_disk,
            Fault::FailingDisk => faults.failing_disk,
            Fault::FullDisk => faults.full_disk,
            Fault::CutToServer(_) | Fault::CutFromServer(_) => faults.cut,
            Fault::PauseClient => faults.pause_client,
            Fault::KillClient => faults.kill_client,
            Fault::Revoke => faults.revoke,
            Fault::WallJump => faults.wall_jump,
            Fault::Drift => (faults.drift_ppm > 0).then_some(Span::from_secs(10)),
        };
        if let Some(typical) = typical {
            let after = self.rng.spread(typical);
            self.plan(after, Happening::Fault(fault));
        }
    }

    pub(super) fn fault(&mut self, fault: Fault) -> Checked {
        if self.healed {
            return Ok(());
        }
        self.plan_fault(fault);
        match fault {
            Fault::Crash => self.crash_soon(),
            Fault::PauseServer => self.pause_server(),
            Fault::SlowDisk => {
                let typical = self.rng.span((Span::from_millis(20), Span::from_millis(1_500)));
                self.disk.slow_down(typical);
                self.lasts(fault, Span::from_secs(3));
            }
            Fault::FailingDisk => {
                self.story.tell(self.now, Note::Goes(fault));
                match self.rng.permille(700) {
                    true => self.disk.fail_next_sync(),
                    false => self.disk.fail_next_write(),
                }
            }
            Fault::FullDisk => {
                self.disk.fill_up();
                self.lasts(fault, Span::from_secs(2));
            }
            Fault::CutToServer(_) => self.cut(Way::ToServer),
            Fault::CutFromServer(_) => self.cut(Way::FromServer),
            Fault::PauseClient => self.pause_client(),
            Fault::KillClient => self.kill_client(),
            Fault::Revoke => self.revoke(),
            Fault::WallJump => self.jump_walls(),
            Fault::Drift => self.change_rates(),
        }
        Ok(())
    }

    pub(super) fn fault_ends(&mut self, fault: Fault) -> Checked {
        match fault {
            Fault::SlowDisk => self.disk.speed_up(),
            Fault::FullDisk => self.disk.make_room(),
            Fault::CutToServer(_) | Fault::CutFromServer(_) => {}
            Fault::Crash
            | Fault::PauseServer
            | Fault::FailingDisk
            | Fault::PauseClient
            | Fault::KillClient
            | Fault::Revoke
            | Fault::WallJump
            | Fault::Drift => unreachable!("these have no end of their own"),
        }
        self.story.tell(self.now, Note::Ends(fault));
        Ok(())
    }

    /// From here on nothing goes wrong, and nobody wants anything new.
    pub(super) fn heals(&mut self) -> Checked {
        self.healed = true;
        self.story.tell(self.now, Note::Heals);
        self.net.heal();
        self.disk.heal();
        self.server.stops_after_answer = false;
        self.server_resumes()?;
        for nth in 0..self.clients.len() {
            self.clients[nth].drain();
            self.client_resumes(ClientId(nth))?;
        }
        Ok(())
    }

    fn lasts(&mut self, fault: Fault, typical: Span) {
        self.story.tell(self.now, Note::Goes(fault));
        let until = self.rng.spread(typical);
        self.plan(until, Happening::FaultEnds(fault));
    }

    /// Biased to where it hurts: around a sync, and right after an answer has left.
    fn crash_soon(&mut self) {
        if !self.server.is_up() {
            return;
        }
        match self.rng.below(8) {
            0 => self.stop_server(None, None),
            1 => self.server.stops_after_answer = true,
            _ => {
                let crash = self.draw_crash_point();
                self.arm(crash);
            }
        }
    }

    pub(super) fn draw_crash_point(&mut self) -> CrashAt {
        match self.rng.below(4) {
            0 | 1 => CrashAt::BeforeSync(self.rng.between(1, 3) as u32),
            2 => CrashAt::AfterSync(self.rng.between(1, 3) as u32),
            _ => CrashAt::Operation(self.rng.between(1, 12) as u32),
        }
    }

    fn pause_server(&mut self) {
        if self.server.is_up() && !self.server.paused {
            let pause = self.rng.spread(Span::from_secs(2));
            self.server.paused = true;
            self.story.tell(self.now, Note::ServerPauses(pause));
            self.plan(pause, Happening::ServerResumes);
        }
    }

    fn cut(&mut self, way: Way) {
        let client = self.draw_victim();
        let until = self.now + self.rng.spread(self.swarm.faults.outage);
        self.net.cut_until(client, way, until);
        let fault = match way {
            Way::ToServer => Fault::CutToServer(client),
            Way::FromServer => Fault::CutFromServer(client),
        };
        self.story.tell(self.now, Note::Goes(fault));
        self.agenda.add(until, Happening::FaultEnds(fault));
    }

    /// Any client, but rather one that believes it holds something: there it hurts.
    fn draw_victim(&mut self) -> ClientId {
        let any = ClientId(self.rng.index(self.clients.len()));
        if self.rng.coin() {
            return any;
        }
        let believers = self.clients.iter().filter(|client| client.belief(self.now).is_some());
        let believers: Vec<ClientId> = believers.map(|client| client.id).collect();
        match believers.is_empty() {
            true => any,
            false => self.rng.pick(&believers),
        }
    }

    fn pause_client(&mut self) {
        let client = self.draw_victim();
        if self.clients[client.0].paused_at.is_none() {
            let pause = self.rng.spread(self.swarm.faults.outage);
            self.clients[client.0].pause(self.now);
            self.story.tell(self.now, Note::Pauses(client, pause));
            self.plan(pause, Happening::ClientResumes(client));
        }
    }

    fn kill_client(&mut self) {
        let client = self.draw_victim();
        if self.clients[client.0].alive {
            self.story.tell(self.now, Note::Dies(client));
            self.clients[client.0].die(&mut self.post);
            self.send_post();
            let back = self.rng.spread(Span::from_secs(3));
            self.plan(back, Happening::ClientReturns(client));
        }
    }

    fn revoke(&mut self) {
        let Some(state) = self.server.state() else {
            return;
        };
        let holders = state.claims_after(None);
        let holders = holders.filter(|claim| matches!(claim.phase, Phase::Active(_)));
        let ids: Vec<_> = holders.map(|claim| claim.id).collect();
        if ids.is_empty() {
            return;
        }
        self.story.tell(self.now, Note::Goes(Fault::Revoke));
        let claim = self.rng.pick(&ids);
        let id = RequestId(self.post.next_request);
        self.post.next_request += 1;
        let request = Request { id, client: ClientId(0), ask: Ask::Revoke(claim) };
        self.agenda.add(self.now, Happening::RequestArrives(request));
    }

    fn jump_walls(&mut self) {
        self.story.tell(self.now, Note::Goes(Fault::WallJump));
        let far = 1u64 << self.rng.between(8, 36);
        let mut jump = || self.rng.between(0, 2 * far) as i64 - far as i64;
        self.server.jump_wall(jump());
        for client in &mut self.clients {
            client.jump_wall(jump() * 1_000);
        }
    }

    fn change_rates(&mut self) {
        self.story.tell(self.now, Note::Goes(Fault::Drift));
        let rate = draw_rate(&mut self.rng, &self.swarm);
        self.server.clock.drift(self.now, rate);
        for nth in 0..self.clients.len() {
            let rate = draw_rate(&mut self.rng, &self.swarm);
            self.clients[nth].clock.drift(self.now, rate);
        }
    }
}
