//! The thread that speaks with a keychain for this program: it takes the same orders as the driver's.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::time::Duration;

use claims::claimant::{Input, Moment};
use tokio::sync::mpsc;

use super::process::Process;
use super::ward::Ward;
use super::{Event, Json, Keychain, Request};
use crate::clock;
use crate::driver::{End, Loss, Order, Problem, Settings, Told};
use crate::exchange::Exchange;
use crate::wish::seconds;

/// The timers of the runtime stand still while the machine sleeps; leases do not.
const LOOK_AT_LEAST: Duration = Duration::from_secs(1);

/// A keychain that dies at once is not started again at once.
const START_AGAIN: Duration = Duration::from_millis(500);

struct Attendant {
    keychain: Keychain,
    settings: Settings,
    exchange: Exchange,
    process: Option<Process>,
    start_at: Option<Moment>,
    /// When to show that this program is alive, if that is wanted.
    ping_at: Option<Moment>,
    wards: HashMap<u64, Ward>,
    agenda: BTreeSet<(Moment, u64)>,
    closes_by: Option<Moment>,
}

/// Starts a keychain, and returns what is to be run with it. Called in a runtime.
pub(crate) fn run(
    keychain: Keychain,
    exchange: Exchange,
    settings: Settings,
    orders: mpsc::UnboundedReceiver<Order>,
) -> io::Result<impl Future<Output = ()> + Send> {
    let process = Some(Process::start(&keychain, &settings)?);
    let ping_at = keychain.max_silence.map(|_| clock::now());
    let attendant = Attendant {
        keychain,
        settings,
        exchange,
        process,
        start_at: None,
        ping_at,
        wards: HashMap::new(),
        agenda: BTreeSet::new(),
        closes_by: None,
    };
    Ok(attend(attendant, orders))
}

async fn attend(mut attendant: Attendant, mut orders: mpsc::UnboundedReceiver<Order>) {
    while !attendant.is_over() {
        let sleep = attendant.sleep_for();
        tokio::select! {
            order = orders.recv() => match order {
                Some(order) => attendant.obey(order),
                None => attendant.obey(Order::Close { by: clock::now() }),
            },
            events = listen(&mut attendant.process) => match events {
                Some(events) => attendant.hear(events),
                None => attendant.mourn("the keychain ended"),
            },
            () = tokio::time::sleep(sleep) => {}
        }
        attendant.look_at_the_clock();
    }
    for (_, mut ward) in attendant.wards.drain() {
        ward.end(End::Unknown(None));
    }
    if let Some(process) = attendant.process {
        process.leave();
    }
}

async fn listen(process: &mut Option<Process>) -> Option<Vec<Event>> {
    match process {
        Some(process) => process.listen().await,
        None => std::future::pending().await,
    }
}

impl Attendant {
    fn is_over(&self) -> bool {
        self.closes_by.is_some_and(|by| self.wards.is_empty() || by <= clock::now())
    }

    fn sleep_for(&self) -> Duration {
        let next = self.agenda.first().map(|(at, _)| *at);
        let next = [next, self.start_at, self.ping_at, self.closes_by].into_iter().flatten().min();
        next.map_or(Duration::from_secs(3600), |at| clock::until(at).min(LOOK_AT_LEAST))
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Pursue { errand, wish, view, tell } => {
                let ward = Ward::new(wish, view, tell);
                self.say(Request::Claim(ward.terms(errand, false)));
                self.wards.insert(errand, ward);
            }
            Order::Tell { errand, input: Input::Refresh(ttl) } => {
                let Some(ward) = self.wards.get_mut(&errand) else { return };
                ward.refreshes.0 += 1;
                let id = Json::from(ward.refreshes.0);
                if let Some(ttl) = ttl {
                    ward.set_ttl(ttl);
                }
                ward.tell(&Told::Refreshing);
                let claim = errand.to_string();
                self.say(Request::Refresh { claim, ttl: ttl.map(seconds), id });
            }
            Order::Tell { errand, .. } => self.release(errand),
            Order::AbortAll => self.release_all(),
            Order::Ask { method, path, json, then } => {
                let exchange = self.exchange.clone();
                tokio::spawn(async move {
                    let _ = then.send(exchange.ask(method, &path, json).await);
                });
            }
            Order::Close { by } => {
                self.closes_by = Some(by);
                self.release_all();
            }
        }
    }

    fn say(&mut self, request: Request) {
        if let Some(process) = &mut self.process {
            process.say(&request);
        }
    }

    fn release(&mut self, errand: u64) {
        let Some(ward) = self.wards.get_mut(&errand).filter(|ward| !ward.releasing) else { return };
        ward.release();
        self.forget_deadline(errand);
        self.say(Request::Release { claim: errand.to_string() });
    }

    fn release_all(&mut self) {
        let all: Vec<u64> = self.wards.keys().copied().collect();
        for errand in all {
            self.release(errand);
        }
    }

    fn hear(&mut self, events: Vec<Event>) {
        for event in events {
            let Some(errand) = event.claim().and_then(|claim| claim.parse().ok()) else { continue };
            let is_grant = matches!(event, Event::Granted { .. });
            self.forget_deadline(errand);
            let Some(ward) = self.wards.get_mut(&errand) else { continue };
            if ward.hear(event) {
                self.wards.remove(&errand);
                // What was granted as another claim is not wanted.
                if is_grant {
                    self.say(Request::Release { claim: errand.to_string() });
                }
            } else if let Some(lease) = ward.lease.filter(|_| !ward.releasing) {
                self.agenda.insert((lease.deadline, errand));
            }
        }
    }

    fn forget_deadline(&mut self, errand: u64) {
        if let Some(lease) = self.wards.get(&errand).and_then(|ward| ward.lease) {
            self.agenda.remove(&(lease.deadline, errand));
        }
    }

    /// The keychain is gone. What was told counts until the deadlines; another one may take over.
    fn mourn(&mut self, problem: &str) {
        if let Some(process) = self.process.take() {
            process.bury();
        }
        self.start_at = Some(clock::now() + clock::span(START_AGAIN));
        let problem = Problem::new(problem);
        for ward in self.wards.values_mut().filter(|ward| !ward.releasing) {
            ward.doubt(&problem);
        }
    }

    fn look_at_the_clock(&mut self) {
        let now = clock::now();
        while let Some(&(at, errand)) = self.agenda.first()
            && at <= now
        {
            self.agenda.pop_first();
            self.say(Request::Release { claim: errand.to_string() });
            if let Some(mut ward) = self.wards.remove(&errand) {
                let problem = Problem::new("its keychain says nothing");
                ward.lose(Loss::Unconfirmed(problem));
            }
        }
        if let Some(silence) = self.keychain.max_silence
            && self.ping_at.is_some_and(|at| at <= now)
        {
            self.say(Request::Ping { id: Json::default() });
            self.ping_at = Some(now + clock::span(silence / 4));
        }
        if self.start_at.is_some_and(|at| at <= now) {
            self.start_again();
        }
    }

    /// Another keychain takes the claims over by their keys.
    fn start_again(&mut self) {
        self.start_at = None;
        match Process::start(&self.keychain, &self.settings) {
            Ok(mut process) => {
                for (errand, ward) in &self.wards {
                    process.say(&Request::Claim(ward.terms(*errand, true)));
                    if ward.releasing {
                        process.say(&Request::Release { claim: errand.to_string() });
                    }
                }
                self.process = Some(process);
            }
            Err(error) => self.mourn(&format!("no keychain can be started: {error}")),
        }
    }
}
