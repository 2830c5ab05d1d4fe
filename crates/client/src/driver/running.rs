//! The driver's thread: a loop over orders, answers and the time.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use claims::claimant::{Claimant, Input, Moment, Output};
use tokio::sync::{Semaphore, mpsc};

use super::answer::Heard;
use super::pursued::Pursued;
use super::renewals::Renewal;
use super::telling::{End, Told};
use super::{Order, Settings};
use crate::clock;
use crate::exchange::Exchange;

/// The timers of the runtime stand still while the machine sleeps; leases do not.
const LOOK_AT_LEAST: Duration = Duration::from_secs(1);

/// What the loop hears from its requests.
pub(super) enum Event {
    Answered {
        errand: u64,
        number: u32,
        heard: Box<Heard>,
    },
    /// The server does not renew many at once: now, or ever.
    NotMany {
        renewals: Vec<Renewal>,
        ever: bool,
    },
}

pub(super) struct Running {
    pub(super) exchange: Exchange,
    pub(super) settings: Settings,
    pub(super) pursued: HashMap<u64, Pursued>,
    agenda: BTreeSet<(Moment, u64)>,
    pub(super) events: mpsc::UnboundedSender<Event>,
    pub(super) requests: Arc<Semaphore>,
    /// Requests that the server may hold.
    pub(super) waits: usize,
    /// Renewals kept back so that others can go with them, and until when.
    pub(super) gathered: Vec<Renewal>,
    pub(super) gather_until: Option<Moment>,
    pub(super) renews_many: bool,
    closes_by: Option<Moment>,
    luck: u64,
}

pub(super) async fn run(
    exchange: Exchange,
    settings: Settings,
    mut orders: mpsc::UnboundedReceiver<Order>,
) {
    let (events, mut answers) = mpsc::unbounded_channel();
    let mut running = Running {
        exchange,
        requests: Arc::new(Semaphore::new(settings.requests_max.max(1))),
        settings,
        pursued: HashMap::new(),
        agenda: BTreeSet::new(),
        events,
        waits: 0,
        gathered: Vec::new(),
        gather_until: None,
        renews_many: true,
        closes_by: None,
        luck: getrandom::u64().expect("the system gives random numbers") | 1,
    };
    while !running.is_over() {
        let sleep = running.sleep_for();
        tokio::select! {
            order = orders.recv() => match order {
                Some(order) => running.obey(order),
                None => running.obey(Order::Close { by: clock::now() }),
            },
            Some(event) = answers.recv() => running.hear(event),
            () = tokio::time::sleep(sleep) => {}
        }
        running.look_at_the_clock();
    }
    running.leave();
}

impl Running {
    fn is_over(&self) -> bool {
        let over = |by: Moment| self.pursued.is_empty() || by <= clock::now();
        self.closes_by.is_some_and(over)
    }

    fn sleep_for(&self) -> Duration {
        let next = self.agenda.first().map(|(at, _)| *at);
        let next = [next, self.gather_until, self.closes_by].into_iter().flatten().min();
        match next {
            Some(at) => clock::until(at).min(LOOK_AT_LEAST),
            None => Duration::from_secs(3600),
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Pursue { errand, wish, view, tell } => {
                let claimant = Claimant::new(wish.terms());
                let pursued = Pursued {
                    wish,
                    claimant,
                    view,
                    tell,
                    wakes: None,
                    flights: Vec::new(),
                    problem: None,
                    position: None,
                };
                self.pursued.insert(errand, pursued);
                self.drive(errand, Input::Begin);
            }
            Order::Tell { errand, input } => {
                self.drive(errand, input);
                let refreshes = matches!(input, Input::Refresh(_));
                if let Some(pursued) = self.pursued.get_mut(&errand).filter(|_| refreshes) {
                    (pursued.tell)(&Told::Refreshing);
                }
            }
            Order::AbortAll => self.tell_all(Input::Signal),
            Order::Ask { method, path, json, then } => {
                let exchange = self.exchange.clone();
                tokio::spawn(async move {
                    let _ = then.send(exchange.ask(method, &path, json).await);
                });
            }
            Order::Close { by } => {
                self.closes_by = Some(by);
                self.tell_all(Input::Release);
            }
        }
    }

    fn tell_all(&mut self, input: Input) {
        let all: Vec<u64> = self.pursued.keys().copied().collect();
        for errand in all {
            self.drive(errand, input);
        }
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Answered { errand, number, heard } => {
                let Heard { answer, problem } = *heard;
                if let Some(pursued) = self.pursued.get_mut(&errand) {
                    self.waits -= pursued.land(number);
                    pursued.position = answer.position.or(pursued.position);
                    pursued.problem = problem;
                }
                self.drive(errand, Input::Answered(number, answer));
            }
            Event::NotMany { renewals, ever } => {
                self.renews_many &= !ever;
                for renewal in renewals {
                    self.renew_alone(&renewal);
                }
            }
        }
    }

    fn look_at_the_clock(&mut self) {
        let now = clock::now();
        while let Some(&(at, errand)) = self.agenda.first()
            && at <= now
        {
            self.agenda.pop_first();
            if let Some(pursued) = self.pursued.get_mut(&errand) {
                pursued.wakes = None;
                self.drive(errand, Input::Wake);
            }
        }
        if self.gather_until.is_some_and(|until| until <= now) {
            self.renew_gathered();
        }
    }

    /// Tells a claimant, and does what it wants done.
    fn drive(&mut self, errand: u64, input: Input) {
        let luck = self.chance();
        let Some(pursued) = self.pursued.get_mut(&errand) else { return };
        let mut outputs = Vec::new();
        pursued.claimant.handle(input, clock::now(), luck, &mut outputs);
        pursued.show();
        for output in outputs {
            match output {
                Output::Send(request) => self.send(errand, request),
                Output::Abandon(number) => {
                    if let Some(pursued) = self.pursued.get_mut(&errand) {
                        self.waits -= pursued.land(number);
                    }
                }
                Output::Notify(notice) => {
                    if let Some(pursued) = self.pursued.get_mut(&errand) {
                        pursued.notify(notice);
                    }
                }
            }
        }
        let Some(pursued) = self.pursued.get_mut(&errand) else { return };
        if let Some(at) = pursued.wakes.take() {
            self.agenda.remove(&(at, errand));
        }
        if pursued.claimant.is_settled() {
            self.waits -= pursued.land_all();
            self.pursued.remove(&errand);
        } else if let Some((at, _)) = pursued.claimant.next_wake() {
            pursued.wakes = Some(at);
            self.agenda.insert((at, errand));
        }
    }

    /// Whoever is still waiting for an end is told that nobody knows.
    fn leave(&mut self) {
        for (_, mut pursued) in self.pursued.drain() {
            pursued.view.show(None, None);
            pursued.land_all();
            if !pursued.claimant.state().is_final() {
                let problem = pursued.problem.take();
                (pursued.tell)(&Told::Ended(End::Unknown(problem)));
            }
        }
    }

    fn chance(&mut self) -> u32 {
        self.luck ^= self.luck << 13;
        self.luck ^= self.luck >> 7;
        self.luck ^= self.luck << 17;
        (self.luck >> 32) as u32
    }
}
