//! How long to wait for what, and how to try again.

use super::output::Verb;
use super::planted::Planted;
use crate::terms::Ttl;
use crate::time::Span;

/// What one claim is to be.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// How long the lease lasts without renewal.
    pub ttl: Ttl,
    /// How long it may take until it holds.
    pub patience: Patience,
    /// Whether the claim may be there already, made by somebody who is gone: then its lease began
    /// before anything that is known here, and it renews before it believes.
    pub adopts: bool,
    /// How to wait and to try again.
    pub timing: Timing,
    /// The bug kept in on purpose, in builds that can have one.
    pub planted: Planted,
}

impl Terms {
    /// A claim with this ttl that waits for as long as it takes.
    pub fn new(ttl: Ttl) -> Self {
        Self {
            ttl,
            patience: Patience::Forever,
            adopts: false,
            timing: Timing::default(),
            planted: Planted::default(),
        }
    }
}

/// How long it may take until a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// As long as it takes.
    Forever,
    /// This long, everything included.
    For(Span),
    /// It does not wait for others. This long it may take until the server has answered.
    Try(Span),
}

/// How to wait and to try again. The defaults need no configuration.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// How long an answer may take. A renewal is given less if less is left of the lease.
    pub answer: Span,
    /// How long the server may hold a request until it is the claim's turn; none: it polls.
    pub wait: Option<Span>,
    /// How to ask for its turn again, if the server does not hold requests.
    pub poll: Backoff,
    /// How to try each of the requests again.
    pub register: Backoff,
    /// See `register`.
    pub activate: Backoff,
    /// See `register`; a renewal is tried sooner if little is left of the lease.
    pub renew: Backoff,
    /// See `register`.
    pub release: Backoff,
    /// See `register`.
    pub withdraw: Backoff,
    /// See `register`. Quick, because the program is failing.
    pub abort: Backoff,
    /// How long the program is kept waiting while a claim is given back.
    pub farewell: Span,
    /// How long, after that, it is tried that nothing is left behind.
    pub tidy: Span,
}

impl Default for Timing {
    fn default() -> Self {
        let usual = Backoff { first: Span::from_millis(250), most: Span::from_secs(10) };
        let quick = Backoff { first: Span::from_millis(50), most: Span::from_secs(1) };
        Self {
            answer: Span::from_secs(10),
            wait: Some(Span::from_secs(30)),
            poll: Backoff { first: Span::from_secs(1), most: Span::from_secs(15) },
            register: usual,
            activate: usual,
            renew: Backoff { first: Span::from_millis(100), most: Span::from_secs(5) },
            release: quick,
            withdraw: usual,
            abort: quick,
            farewell: Span::from_secs(30),
            tidy: Span::from_secs(600),
        }
    }
}

impl Timing {
    pub(super) fn backoff(&self, verb: Verb) -> Backoff {
        match verb {
            Verb::Register => self.register,
            Verb::Activate => self.activate,
            Verb::Renew(_) => self.renew,
            Verb::Release => self.release,
            Verb::Withdraw => self.withdraw,
            Verb::Abort => self.abort,
        }
    }
}

/// Longer pauses with each try, and never the same for all: those who failed together must not come
/// back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The first pause.
    pub first: Span,
    /// The longest pause.
    pub most: Span,
}

impl Backoff {
    /// The pause after the nth try, from 0: doubled each time, and by chance up to half shorter.
    ///
    /// ```
    /// use claims::{Span, claimant::Backoff};
    /// let backoff = Backoff { first: Span::from_millis(100), most: Span::from_secs(1) };
    /// assert_eq!(backoff.pause(0, u32::MAX), Span::from_millis(100));
    /// assert_eq!(backoff.pause(2, 0), Span::from_millis(200));
    /// assert_eq!(backoff.pause(99, u32::MAX), Span::from_secs(1));
    /// ```
    pub fn pause(self, tries: u32, luck: u32) -> Span {
        let first = self.first.as_micros();
        let whole = first.saturating_mul(1 << tries.min(32)).min(self.most.as_micros());
        let half = whole / 2;
        let chance = (u128::from(whole - half) * u128::from(luck)).div_ceil(u128::from(u32::MAX));
        Span::from_micros(half + chance as u64)
    }
}
