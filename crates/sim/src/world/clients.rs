//! What happens to clients, and what they send.

use super::World;
use crate::agenda::Happening;
use crate::client::Desk;
use crate::invariants::{Checked, check_left_behind};
use crate::message::{Answer, ClientId};
use crate::net::Way;
use crate::story::Note;

impl World {
    pub(super) fn client_wakes(&mut self, client: ClientId, timer: u32) -> Checked {
        if self.clients[client.0].timer != timer {
            return Ok(());
        }
        if self.clients[client.0].paused_at.is_some() {
            self.put_off(client, Happening::ClientWakes { client, timer });
            return Ok(());
        }
        let mut desk = Desk {
            now: self.now,
            load: &self.swarm.load,
            names: &self.names,
            post: &mut self.post,
            story: &mut self.story,
        };
        self.clients[client.0].wake(&mut desk);
        self.client_did_something(client)
    }

    pub(super) fn answer_arrives(&mut self, client: ClientId, answer: Answer) -> Checked {
        if self.clients[client.0].paused_at.is_some() {
            self.put_off(client, Happening::AnswerArrives { client, answer });
            return Ok(());
        }
        let mut desk = Desk {
            now: self.now,
            load: &self.swarm.load,
            names: &self.names,
            post: &mut self.post,
            story: &mut self.story,
        };
        self.clients[client.0].hear(answer, &mut desk);
        self.client_did_something(client)
    }

    pub(super) fn client_resumes(&mut self, client: ClientId) -> Checked {
        if self.clients[client.0].paused_at.is_none() {
            return Ok(());
        }
        self.clients[client.0].resume(self.now);
        self.story.tell(self.now, Note::Resumes(client));
        for happening in std::mem::take(&mut self.put_off_clients[client.0]) {
            self.happen(happening)?;
        }
        Ok(())
    }

    pub(super) fn client_returns(&mut self, client: ClientId) -> Checked {
        if !self.healed && !self.clients[client.0].alive {
            self.story.tell(self.now, Note::Returns(client));
            self.clients[client.0].return_to_life(self.now);
            self.set_timer(client.0);
        }
        Ok(())
    }

    /// Sends what the client wants to send, sets its timer, and looks at what it believes.
    pub(super) fn client_did_something(&mut self, client: ClientId) -> Checked {
        self.send_post();
        self.set_timer(client.0);
        self.checks.believed(self.now, &self.clients, client.0)?;
        if let (Some(settled), Some(state)) =
            (self.clients[client.0].take_settled(), self.server.state())
        {
            check_left_behind(&settled, state)?;
        }
        self.look_for_rest()
    }

    pub(super) fn set_timer(&mut self, nth: usize) {
        let client = &mut self.clients[nth];
        client.timer += 1;
        if let Some(at) = client.next_wake(self.now) {
            let wakes = Happening::ClientWakes { client: client.id, timer: client.timer };
            self.agenda.add(at, wakes);
        }
    }

    pub(super) fn send_post(&mut self) {
        for request in self.post.requests.drain(..) {
            let (client, id) = (request.client, request.id);
            let copies = self.net.carry(self.now, client, Way::ToServer);
            if copies == [None, None] {
                let answer = false;
                self.story.tell(self.now, Note::Lost { client, request: id, answer });
            }
            for at in copies.into_iter().flatten() {
                let request = request.clone();
                self.agenda.add(at, Happening::RequestArrives(request));
            }
        }
        for request in self.post.closed.drain(..) {
            let at = self.net.notice(self.now);
            self.agenda.add(at, Happening::ConnectionCloses(request));
        }
    }

    fn put_off(&mut self, client: ClientId, happening: Happening) {
        self.put_off_clients[client.0].push(happening);
    }
}
