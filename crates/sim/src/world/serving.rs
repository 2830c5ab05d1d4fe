//! What happens to the server.

use claims::Span;

use super::World;
use crate::agenda::Happening;
use crate::invariants::Checked;
use crate::message::{Answer, ClientId, Request, RequestId};
use crate::net::Way;
use crate::server::{Next, Restart};
use crate::story::Note;

/// Requests that arrive within this are taken together.
const GATHER: Span = Span::from_micros(20);

impl World {
    pub(super) fn server_starts(&mut self) -> Checked {
        let storms = self.swarm.faults.crash.is_some() && !self.healed;
        if storms && self.rng.permille(100) {
            let crash = self.draw_crash_point();
            self.arm(crash);
        }
        match self.server.start(self.now, &mut self.checks, &mut self.story)? {
            Restart::Up => {
                self.figures.starts += 1;
                return self.next_work();
            }
            Restart::Crashed => self.stop_server(None, None),
            Restart::TryLater => self.plan_start(),
        }
        Ok(())
    }

    pub(super) fn server_ticks(&mut self, tick: u32) -> Checked {
        let life = self.server.life;
        if tick != self.server.tick {
            return Ok(());
        }
        if self.server.paused {
            self.put_off_server.push(Happening::ServerTicks { life, tick });
            return Ok(());
        }
        self.work()
    }

    pub(super) fn server_works(&mut self) -> Checked {
        let life = self.server.life;
        if self.server.paused {
            self.put_off_server.push(Happening::ServerWorks { life });
            return Ok(());
        }
        match self.server.has_work() {
            true => self.work(),
            false => Ok(()),
        }
    }

    fn work(&mut self) -> Checked {
        let life = self.server.life;
        let next = self.server.work(self.now, &mut self.checks, &mut self.story)?;
        match next {
            Next::Nothing => {}
            Next::Durable(took) => {
                self.figures.commits += 1;
                self.plan(took, Happening::BatchIsDurable { life });
            }
            Next::Stopped(doing) => {
                let in_flight = self.server.state().cloned();
                self.stop_server(Some(doing), in_flight);
            }
        }
        Ok(())
    }

    pub(super) fn batch_is_durable(&mut self) -> Checked {
        let life = self.server.life;
        if self.server.paused {
            self.put_off_server.push(Happening::BatchIsDurable { life });
            return Ok(());
        }
        let answers = self.server.release_answers();
        let count = answers.len();
        if count > 0 {
            self.story.tell(self.now, Note::AnswersLeave(count));
        }
        for (client, answer) in answers {
            self.checks.answered(answer.says)?;
            self.send_answer(client, answer);
        }
        if count > 0 && self.server.stops_after_answer {
            self.stop_server(None, None);
            return Ok(());
        }
        // A chore is given back when its time is over; that may be in the middle of a batch.
        match self.server.chore_is_over {
            true => self.chore_is_done(),
            false => self.next_work(),
        }
    }

    /// Whatever is to be done between two batches.
    fn next_work(&mut self) -> Checked {
        let life = self.server.life;
        if self.server.has_work() {
            self.plan(GATHER, Happening::ServerWorks { life });
        }
        self.server.tick += 1;
        let tick = self.server.tick;
        if let Some(at) = self.server.next_look(self.now) {
            self.agenda.add(at, Happening::ServerTicks { life, tick });
        }
        if self.server.take_chore() {
            let soon = self.rng.spread(Span::from_millis(2));
            self.plan(soon, Happening::ChoreRuns { life });
        }
        self.look_for_rest()
    }

    fn send_answer(&mut self, client: ClientId, answer: Answer) {
        let copies = self.net.carry(self.now, client, Way::FromServer);
        if copies == [None, None] {
            let lost = Note::Lost { client, request: answer.request, answer: true };
            self.story.tell(self.now, lost);
        }
        for at in copies.into_iter().flatten() {
            self.agenda.add(at, Happening::AnswerArrives { client, answer });
        }
    }

    pub(super) fn chore_runs(&mut self) -> Checked {
        let life = self.server.life;
        if self.server.paused {
            self.put_off_server.push(Happening::ChoreRuns { life });
            return Ok(());
        }
        let took = self.server.run_chore();
        self.story.tell(self.now, Note::ChoreRan);
        if self.disk.has_crashed() {
            self.stop_server(None, None);
        } else {
            self.plan(took, Happening::ChoreIsDone { life });
        }
        Ok(())
    }

    pub(super) fn chore_is_done(&mut self) -> Checked {
        let life = self.server.life;
        if self.server.paused {
            self.put_off_server.push(Happening::ChoreIsDone { life });
            return Ok(());
        }
        self.server.chore_is_over = !self.server.has_chore_done();
        if self.server.chore_is_over {
            return Ok(());
        }
        match self.server.finish_chore() {
            Next::Stopped(doing) => self.stop_server(Some(doing), None),
            Next::Nothing | Next::Durable(_) => return self.next_work(),
        }
        Ok(())
    }

    pub(super) fn request_arrives(&mut self, request: Request) -> Checked {
        if self.server.paused {
            self.put_off_server.push(Happening::RequestArrives(request));
            return Ok(());
        }
        if self.server.is_up() {
            self.story.tell(self.now, Note::Arrives(request.id));
        }
        if self.server.receive(request) {
            let life = self.server.life;
            self.plan(GATHER, Happening::ServerWorks { life });
        }
        Ok(())
    }

    pub(super) fn connection_closes(&mut self, request: RequestId) -> Checked {
        if self.server.paused {
            self.put_off_server.push(Happening::ConnectionCloses(request));
            return Ok(());
        }
        if self.server.notice_closed(request) {
            let life = self.server.life;
            self.plan(GATHER, Happening::ServerWorks { life });
        }
        Ok(())
    }

    pub(super) fn server_resumes(&mut self) -> Checked {
        if !self.server.paused {
            return Ok(());
        }
        self.server.paused = false;
        self.story.tell(self.now, Note::ServerResumes);
        for happening in std::mem::take(&mut self.put_off_server) {
            self.happen(happening)?;
        }
        Ok(())
    }
}
