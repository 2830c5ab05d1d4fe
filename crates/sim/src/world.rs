//! The event loop: one true clock, one queue of happenings, one thread.

mod clients;
mod nemesis;
mod serving;
mod stopping;

use claims::{Name, Span, Timestamp};

use crate::agenda::{Agenda, Happening};
use crate::client::{Bugs, Client, Post};
use crate::clock::Clock;
use crate::disk::Disk;
use crate::invariants::{Checked, Checks, Violation, check_rest};
use crate::message::ClientId;
use crate::net::Net;
use crate::rng::Rng;
use crate::server::Server;
use crate::story::{Note, Story};
use crate::swarm::Swarm;
use crate::{Failure, Figures, Outcome, Setup};

/// The world of one seed.
pub(crate) struct World {
    now: Timestamp,
    swarm: Swarm,
    agenda: Agenda,
    story: Story,
    checks: Checks,
    figures: Figures,
    net: Net,
    disk: Disk,
    server: Server,
    clients: Vec<Client>,
    post: Post,
    names: Vec<Name>,
    rng: Rng,
    healed: bool,
    /// Nobody holds, nobody waits: the end.
    rests: bool,
    /// What happened to a stopped process, until it runs again.
    put_off_server: Vec<Happening>,
    put_off_clients: Vec<Vec<Happening>>,
}

impl World {
    pub(crate) fn new(seed: u64, setup: &Setup) -> Self {
        let mut rng = Rng::new(seed);
        let swarm = Swarm::draw(&mut rng.fork(), setup.planted);
        let disk = Disk::new(rng.fork());
        let net = Net::new(rng.fork(), swarm.weather.clone(), swarm.load.clients);
        let clock = draw_clock(&mut rng, &swarm);
        let server = Server::new(clock, disk.clone(), swarm.options.clone(), rng.fork());
        let bugs = Bugs::of(setup.planted);
        let clients: Vec<Client> = (0..swarm.load.clients)
            .map(|nth| {
                let clock = draw_clock(&mut rng, &swarm);
                Client::new(ClientId(nth), clock, rng.fork(), bugs)
            })
            .collect();
        let names = (0..swarm.load.resources)
            .map(|nth| Name::new(&format!("r{nth}")).expect("a short name"))
            .collect();
        Self {
            now: Timestamp::ZERO,
            agenda: Agenda::default(),
            story: Story::new(setup.keep),
            checks: Checks::new(&swarm.options),
            figures: Figures::default(),
            net,
            disk,
            server,
            put_off_clients: clients.iter().map(|_| Vec::new()).collect(),
            put_off_server: Vec::new(),
            clients,
            post: Post::default(),
            names,
            rng,
            healed: false,
            rests: false,
            swarm,
        }
    }

    /// Runs until everything is at rest, or something does not hold.
    pub(crate) fn run(mut self) -> Outcome {
        let violation = self.play().err();
        let mut figures = self.figures;
        figures.simulated = self.now.since(Timestamp::ZERO);
        figures.events = self.story.count();
        Outcome {
            hash: self.story.hash(),
            figures,
            failure: violation.map(|Violation { invariant, what }| Failure {
                invariant,
                what,
                story: self.story.sentences(),
            }),
        }
    }

    fn play(&mut self) -> Checked {
        self.begin();
        while !self.rests
            && let Some((at, happening)) = self.agenda.next()
        {
            assert!(at >= self.now, "true time does not run backwards");
            self.now = at;
            self.happen(happening)?;
        }
        self.end()
    }

    fn begin(&mut self) {
        self.plan(Span::ZERO, Happening::ServerStarts { life: 0 });
        for nth in 0..self.clients.len() {
            self.set_timer(nth);
        }
        self.plan_faults();
        self.agenda.add(self.swarm.heals_at, Happening::Heals);
    }

    fn happen(&mut self, happening: Happening) -> Checked {
        match happening {
            Happening::ClientWakes { client, timer } => self.client_wakes(client, timer),
            Happening::ClientResumes(client) => self.client_resumes(client),
            Happening::ClientReturns(client) => self.client_returns(client),
            Happening::AnswerArrives { client, answer } => self.answer_arrives(client, answer),
            Happening::RequestArrives(request) => self.request_arrives(request),
            Happening::ConnectionCloses(request) => self.connection_closes(request),
            Happening::ServerTicks { life, .. }
            | Happening::ServerWorks { life }
            | Happening::BatchIsDurable { life }
            | Happening::ChoreRuns { life }
            | Happening::ChoreIsDone { life }
            | Happening::ServerStarts { life }
                if life != self.server.life =>
            {
                Ok(())
            }
            Happening::ServerTicks { tick, .. } => self.server_ticks(tick),
            Happening::ServerWorks { .. } => self.server_works(),
            Happening::BatchIsDurable { .. } => self.batch_is_durable(),
            Happening::ChoreRuns { .. } => self.chore_runs(),
            Happening::ChoreIsDone { .. } => self.chore_is_done(),
            Happening::ServerStarts { .. } => self.server_starts(),
            Happening::ServerResumes => self.server_resumes(),
            Happening::Fault(fault) => self.fault(fault),
            Happening::FaultEnds(fault) => self.fault_ends(fault),
            Happening::Heals => self.heals(),
        }
    }

    fn plan(&mut self, after: Span, happening: Happening) {
        self.agenda.add(self.now + after, happening);
    }

    /// After healing: is everything at rest, or does it take too long?
    fn look_for_rest(&mut self) -> Checked {
        if !self.healed {
            return Ok(());
        }
        let state = self.server.state();
        let tally = state.map(claims::State::tally);
        let settled = tally.is_some_and(|tally| tally.waiting + tally.active == 0);
        if settled && self.server.is_quiet() && self.clients.iter().all(Client::is_idle) {
            self.rests = true;
            self.story.tell(self.now, Note::Rests);
            return Ok(());
        }
        let passed = self.now.since(self.swarm.heals_at);
        check_rest(passed, self.swarm.rest_bound(), &self.clients, state)
    }
}

/// A clock that started some time ago and runs a little wrong.
fn draw_clock(rng: &mut Rng, swarm: &Swarm) -> Clock {
    let boot = Span::from_micros(rng.between(1_000_000, 1_000_000_000));
    Clock::starting(Timestamp::ZERO, boot, draw_rate(rng, swarm))
}

fn draw_rate(rng: &mut Rng, swarm: &Swarm) -> u64 {
    let drift = swarm.faults.drift_ppm;
    // The extremes matter most.
    match rng.below(5) {
        0 | 1 => 1_000_000 - drift,
        2 | 3 => 1_000_000 + drift,
        _ => 1_000_000 - drift + rng.below(2 * drift + 1),
    }
}
