//! What kind of world a seed is. Each seed switches some faults off and turns others up: a fault
//! that always happens hides what only the others together can show (swarm testing).

use std::time::Duration;

use claims::{Rules, Span, Timestamp};
use registry::embedded::{Durability, Options};

use crate::planted::Planted;
use crate::rng::Rng;

/// The parameters of one run.
#[derive(Debug, Clone)]
pub(crate) struct Swarm {
    /// Faults stop here, and nobody wants anything new: what is left must come to rest.
    pub(crate) heals_at: Timestamp,
    pub(crate) load: Load,
    pub(crate) weather: Weather,
    pub(crate) faults: Faults,
    pub(crate) options: Options,
}

/// What clients do.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) clients: usize,
    pub(crate) resources: usize,
    pub(crate) ttl: (Span, Span),
    pub(crate) hold: (Span, Span),
    pub(crate) think: Span,
    pub(crate) poll: (Span, Span),
    /// How long an answer is waited for before the request is sent again.
    pub(crate) timeout: Span,
    /// How long a wait is kept open at the server.
    pub(crate) wait: Span,
    pub(crate) patience: Span,
    pub(crate) data_bytes: u64,
    // In a thousand wishes:
    pub(crate) waits_open: u64,
    pub(crate) shared: u64,
    pub(crate) semaphore: u64,
    pub(crate) several: u64,
    pub(crate) impatient: u64,
    pub(crate) abandons: u64,
    pub(crate) changes_ttl: u64,
    pub(crate) has_keeper: u64,
    pub(crate) signalled: u64,
}

/// What the network does to each message.
#[derive(Debug, Clone)]
pub(crate) struct Weather {
    pub(crate) delay: Span,
    pub(crate) straggler: Span,
    // In a thousand messages:
    pub(crate) stragglers: u64,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
}

/// How often which accident happens, typically; nothing means never.
#[derive(Debug, Clone)]
pub(crate) struct Faults {
    pub(crate) crash: Option<Span>,
    /// Of a thousand stops of the server, how many are power cuts and not only of the process.
    pub(crate) power_cuts: u64,
    pub(crate) restart: (Span, Span),
    pub(crate) pause_server: Option<Span>,
    pub(crate) slow_disk: Option<Span>,
    pub(crate) failing_disk: Option<Span>,
    pub(crate) full_disk: Option<Span>,
    /// Of a thousand restarts, how many find flipped bits.
    pub(crate) flips: u64,
    pub(crate) cut: Option<Span>,
    /// How long a client is cut off or stopped, typically.
    pub(crate) outage: Span,
    pub(crate) pause_client: Option<Span>,
    pub(crate) kill_client: Option<Span>,
    pub(crate) revoke: Option<Span>,
    pub(crate) wall_jump: Option<Span>,
    /// How far clock rates are from true, at most, in millionths.
    pub(crate) drift_ppm: u64,
}

/// Less than the 5 % that clients allow for, between the slowest client and the fastest server.
const DRIFT_PPM_MAX: u64 = 24_000;

impl Swarm {
    pub(crate) fn draw(rng: &mut Rng, planted: Option<Planted>) -> Self {
        let mut options = options(rng, planted);
        let faults = faults(rng);
        if faults.power_cuts == 0 {
            // Without a power cut nothing may be lost, however seldom the store syncs.
            let seldom = Durability::Interval(Duration::from_millis(rng.between(10, 1_000)));
            options.durability =
                rng.pick(&[Durability::Sync, Durability::Sync, Durability::None, seldom]);
        }
        Self {
            heals_at: Timestamp::from_micros(rng.between(40_000_000, 55_000_000)),
            load: load(rng, options.segment_bytes),
            weather: weather(rng),
            faults,
            options,
        }
    }

    /// The longest it may take from healing until nobody holds or waits any more.
    pub(crate) fn rest_bound(&self) -> Span {
        let Rules { linger, turn_max, waiter_lapse, .. } = &self.options.rules;
        let each = secs(2).as_micros() + self.load.hold.1.as_micros() + turn_max.as_micros();
        let once = self.load.ttl.1.as_micros() * 3 + linger.as_micros() + waiter_lapse.as_micros();
        Span::from_micros(secs(30).as_micros() + once + each * self.load.clients as u64)
    }
}

fn load(rng: &mut Rng, segment_bytes: u64) -> Load {
    let ttl_max = rng.pick(&[secs(2), secs(5), secs(12)]);
    let ttl = rng.span((millis(400), ttl_max));
    let hold_max = rng.pick(&[millis(300), secs(3), secs(8)]);
    let hold = rng.span((millis(50), hold_max));
    let poll = rng.span((millis(50), millis(1_500)));
    Load {
        clients: rng.between(2, 8) as usize,
        resources: rng.between(1, 3) as usize,
        ttl: (ttl, ttl.half_again()),
        hold: (millis(1), hold),
        think: rng.span((millis(10), secs(2))),
        poll: (Span::from_micros(poll.as_micros() / 4), poll),
        timeout: rng.span((millis(100), millis(1_500))),
        wait: rng.span((millis(200), secs(8))),
        patience: rng.span((millis(500), secs(10))),
        data_bytes: rng.pick(&[0, 100, segment_bytes / 4, segment_bytes * 2 / 5]),
        waits_open: rng.pick(&[0, 500, 1_000]),
        shared: rng.pick(&[0, 0, 300]),
        semaphore: rng.pick(&[0, 0, 300]),
        several: rng.pick(&[0, 0, 300]),
        impatient: rng.pick(&[0, 100]),
        abandons: rng.pick(&[0, 0, 100]),
        changes_ttl: rng.pick(&[0, 0, 400]),
        has_keeper: rng.pick(&[0, 0, 200]),
        signalled: rng.pick(&[0, 0, 200]),
    }
}

fn weather(rng: &mut Rng) -> Weather {
    Weather {
        delay: rng.span((Span::from_micros(100), millis(50))),
        straggler: rng.span((millis(200), secs(4))),
        stragglers: rng.pick(&[0, 0, 20, 100]),
        lost: rng.pick(&[0, 0, 30, 200]),
        doubled: rng.pick(&[0, 0, 50, 200]),
    }
}

fn faults(rng: &mut Rng) -> Faults {
    // Storms matter: a restart soon after another meets a store that has hardly begun.
    let crash = sometimes(rng, &[500, 2_000, 6_000, 6_000, 15_000]);
    Faults {
        crash,
        power_cuts: rng.pick(&[0, 500, 1_000, 1_000]),
        restart: (millis(5), rng.span((millis(50), secs(2)))),
        pause_server: sometimes(rng, &[5_000, 20_000]),
        slow_disk: sometimes(rng, &[5_000, 20_000]),
        failing_disk: sometimes(rng, &[5_000, 20_000]),
        full_disk: sometimes(rng, &[5_000, 20_000]),
        flips: rng.pick(&[0, 0, 0, 300]),
        cut: sometimes(rng, &[1_000, 5_000]),
        outage: rng.pick(&[secs(1), secs(3), secs(8)]),
        pause_client: sometimes(rng, &[1_000, 5_000]),
        kill_client: sometimes(rng, &[3_000, 10_000]),
        revoke: sometimes(rng, &[20_000]).filter(|_| rng.permille(300)),
        wall_jump: sometimes(rng, &[5_000]),
        drift_ppm: rng.pick(&[0, DRIFT_PPM_MAX, DRIFT_PPM_MAX]),
    }
}

fn options(rng: &mut Rng, planted: Option<Planted>) -> Options {
    let mut options = Options {
        rules: Rules {
            linger: rng.span((secs(2), secs(12))),
            turn_max: rng.span((millis(300), secs(4))),
            called_max: rng.pick(&[1, 2, 64]),
            waiter_lapse: rng.span((secs(5), secs(15))),
            retain: rng.span((secs(3), secs(60))),
            ended_max: rng.pick(&[0, 5, 50]),
            queue_max: rng.pick(&[2, 5, 100]),
            events_max: rng.pick(&[8, 16]),
            ..Rules::default()
        },
        segment_bytes: rng.pick(&[4, 8, 32, 32]) << 10,
        snapshot_after: rng.between(2, 24) << 10,
        snapshot_slice: rng.pick(&[1, 4, 16, 100]),
        ..Options::default()
    };
    for byte in &mut options.salt {
        *byte = rng.word() as u8;
    }
    match planted {
        Some(Planted::Rules(bug)) => options.rules.planted = claims::planted::Planted::with(bug),
        Some(Planted::Store(bug)) => options.planted = registry::planted::Planted::with(bug),
        Some(Planted::Claimant(_) | Planted::Client(_)) | None => {}
    }
    options
}

/// Half of all worlds do without.
fn sometimes(rng: &mut Rng, typical_ms: &[u64]) -> Option<Span> {
    let typical = millis(rng.pick(typical_ms));
    rng.coin().then_some(typical)
}

fn millis(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn secs(secs: u64) -> Span {
    Span::from_secs(secs)
}
