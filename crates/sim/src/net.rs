//! The simulated network: every message may be late, lost, doubled or overtaken, and each direction
//! to each client may be cut on its own.

use claims::{Span, Timestamp};

use crate::message::ClientId;
use crate::rng::Rng;
use crate::swarm::Weather;

#[derive(Debug)]
pub(crate) struct Net {
    rng: Rng,
    weather: Weather,
    /// For each client, until when nothing gets through.
    cuts: Vec<Cuts>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cuts {
    to_server: Timestamp,
    from_server: Timestamp,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    ToServer,
    FromServer,
}

impl Net {
    pub(crate) fn new(rng: Rng, weather: Weather, clients: usize) -> Self {
        Self { rng, weather, cuts: vec![Cuts::default(); clients] }
    }

    /// When a message sent now arrives: once, twice, or never.
    pub(crate) fn carry(
        &mut self,
        now: Timestamp,
        client: ClientId,
        way: Way,
    ) -> [Option<Timestamp>; 2] {
        let cut = *self.cut(client, way);
        let mut copies = [None, None];
        if now < cut || self.rng.permille(self.weather.lost) {
            return copies;
        }
        let doubled = self.rng.permille(self.weather.doubled);
        for copy in copies.iter_mut().take(1 + usize::from(doubled)) {
            *copy = Some(now + self.delay());
        }
        copies
    }

    /// When the far end notices that a connection is gone: at once, or much later.
    pub(crate) fn notice(&mut self, now: Timestamp) -> Timestamp {
        let late = self.rng.permille(200);
        let delay = if late { self.rng.spread(Span::from_secs(3)) } else { self.delay() };
        now + delay
    }

    /// Nothing gets through this way until then.
    pub(crate) fn cut_until(&mut self, client: ClientId, way: Way, until: Timestamp) {
        let cut = self.cut(client, way);
        *cut = until.max(*cut);
    }

    /// The network works from now on.
    pub(crate) fn heal(&mut self) {
        self.cuts.fill(Cuts::default());
        self.weather = Weather {
            delay: Span::from_millis(1),
            straggler: Span::ZERO,
            stragglers: 0,
            lost: 0,
            doubled: 0,
        };
    }

    fn delay(&mut self) -> Span {
        let straggles = self.rng.permille(self.weather.stragglers);
        let typical = match straggles {
            true => self.weather.straggler,
            false => self.weather.delay,
        };
        self.rng.spread(typical)
    }

    fn cut(&mut self, ClientId(nth): ClientId, way: Way) -> &mut Timestamp {
        let cuts = &mut self.cuts[nth];
        match way {
            Way::ToServer => &mut cuts.to_server,
            Way::FromServer => &mut cuts.from_server,
        }
    }
}
