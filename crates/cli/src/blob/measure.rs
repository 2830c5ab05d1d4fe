//! `tenure blob measure`.

use std::process::ExitCode;

use claims::Span;
use claims::contest::Terms;
use clap::Args;
use makeshift::measure::{Fault, Faults, Latencies, Tally, Trial, latencies, simulate};
use makeshift::{Place, clock};
use serde_json::json;

use super::hold::seconds;
use super::lease_address;

/// In milliseconds.
const MARGINS: [u64; 7] = [100, 300, 500, 1_000, 2_000, 5_000, 10_000];
/// A margin is good enough if two hold at once in fewer than one of so many acquisitions.
const ENOUGH: f64 = 1e-4;

#[derive(Args)]
pub(crate) struct Measure {
    /// The store, and a prefix where an object may be written and removed
    address: String,
    /// How often to read and write
    #[arg(long, default_value_t = 200)]
    rounds: usize,
    /// How many contend
    #[arg(long, default_value_t = 8)]
    contenders: usize,
    /// How many acquisitions to simulate for each margin
    #[arg(long, default_value_t = 100_000)]
    acquisitions: u64,
    /// How long a lease lasts, in seconds
    #[arg(long, default_value_t = 30.0)]
    expire: f64,
    /// How many requests in a million stall, in the second column
    #[arg(long, default_value_t = 1_000)]
    stalls: u64,
    /// For how long at most, in seconds
    #[arg(long, default_value_t = 10.0)]
    stall: f64,
    /// One line of JSON for each margin
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(wish: &Measure) -> anyhow::Result<ExitCode> {
    let place = Place::open(lease_address(&wish.address))?;
    let measured = latencies(&place, wish.rounds.max(1)).await?;
    let millis = |span: Span| span.as_micros() as f64 / 1e3;
    let (half, rare) = (millis(measured.quantile(500)), millis(measured.quantile(990)));
    if !wish.json {
        crate::out::say(format_args!(
            "{} reads and writes of {place}: half within {half:.1} ms, 99 % within {rare:.1} ms",
            wish.rounds
        ))?;
        crate::out::say(format_args!(
            "double holdings per acquisition, {} contenders:\n",
            wish.contenders
        ))?;
        crate::out::say(format_args!(
            "  margin    as measured            with stalls ({} in a million, up to {} s)",
            wish.stalls, wish.stall
        ))?;
    }
    let expire = clock::span(seconds(wish.expire)?);
    let stalls = Fault::new(wish.stalls, clock::span(seconds(wish.stall)?));
    let mut enough = None;
    for margin in MARGINS.map(Span::from_millis) {
        let Ok(terms) = Terms::new(expire, margin) else { continue };
        let rate = |faults| trial(wish, &measured, terms, faults);
        let (calm, stalled) =
            (rate(Faults::default()), rate(Faults { stalls, ..Faults::default() }));
        if enough.is_none() && calm.bound() <= ENOUGH {
            enough = Some(margin);
        }
        if wish.json {
            let fields = json!({
                "margin_s": millis(margin) / 1e3, "half_ms": half, "p99_ms": rare,
                "as_measured": tally(calm), "with_stalls": tally(stalled),
            });
            crate::out::say(format_args!("{fields}"))?;
        } else {
            crate::out::say(format_args!(
                "  {:>5.1} s   {:<22} {}",
                millis(margin) / 1e3,
                shown(calm),
                shown(stalled)
            ))?;
        }
    }
    if !wish.json {
        match enough {
            Some(margin) => crate::out::say(format_args!(
                "\nthe shortest margin with fewer than 1 in 10,000 as measured: {} s",
                millis(margin) / 1e3
            ))?,
            None => crate::out::say(format_args!(
                "\nno margin is good enough as measured: use a store with conditional puts (create+…)"
            ))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn trial(wish: &Measure, measured: &Latencies, terms: Terms, faults: Faults) -> Tally {
    let trial = Trial {
        contenders: wish.contenders.max(2),
        terms,
        latencies: measured.clone(),
        // Long enough that a late write finds somebody to harm before the next refresh tells.
        hold: Span::from_secs(5),
        faults,
        conditional: false,
        acquisitions: wish.acquisitions.max(1),
    };
    simulate(&trial, 1)
}

fn tally(tally: Tally) -> serde_json::Value {
    json!({
        "acquisitions": tally.acquisitions, "double": tally.double,
        "rate": tally.rate(), "at_most": tally.bound(),
    })
}

fn shown(tally: Tally) -> String {
    if tally.double == 0 {
        format!("none, below {:.0e}", tally.bound())
    } else {
        format!("{:.1e}, below {:.0e}", tally.rate(), tally.bound())
    }
}
