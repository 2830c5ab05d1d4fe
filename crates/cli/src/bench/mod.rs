//! `tenure bench`: a load generator for a running server.
//!
//! All loops are closed: a client sends its next request when it has the answer to the last. One thread
//! drives all connections, so that the generator leaves the machine to the server.

mod client;
mod cycle;
mod handover;
mod held;
mod tally;
mod window;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use self::client::Client;
use self::tally::round;
use self::window::Window;
use crate::config::Span;
use crate::exit::Exit;
use crate::http::Server;
use crate::keys::random;
use crate::out::Out;
use crate::place::{Place, Token};

#[derive(Args)]
pub(crate) struct Bench {
    /// What to do
    #[arg(value_enum)]
    workload: Workload,
    /// Connections, each with one request at a time [default: 64, for handover 16]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    connections: Option<u64>,
    /// How long to measure, in seconds
    #[arg(long, default_value = "10")]
    seconds: Span,
    /// How long to warm up before, in seconds
    #[arg(long, default_value = "1")]
    warmup: Span,
    /// How many claims to hold (held)
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    locks: u64,
    /// The lease of each claim; held ones are renewed every third of it
    #[arg(long, default_value = "20s")]
    ttl: Span,
    /// How many claims one request renews (held); 1 renews one by one
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=2_000))]
    batch: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Workload {
    /// Each connection claims and releases a lock of its own
    Cycle,
    /// All connections wait for one lock, by long poll
    Handover,
    /// Many claims are held and renewed
    Held,
}

/// What all workloads need to know.
#[derive(Clone)]
struct Plan {
    server: Server,
    /// What the names of all locks begin with; no other run has it.
    run: String,
    connections: usize,
    locks: usize,
    ttl: f64,
    batch: usize,
}

pub(crate) async fn run(wish: &Bench, out: &mut Out) -> anyhow::Result<()> {
    let connections = match (wish.connections, wish.workload) {
        (Some(count), _) => count,
        (None, Workload::Handover) => 16,
        (None, Workload::Cycle | Workload::Held) => 64,
    };
    let plan = Plan {
        server: wish.place.server(Token::IfThere)?,
        run: format!("bench/{:016x}", u64::from_le_bytes(random()?)),
        connections: connections as usize,
        locks: wish.locks as usize,
        ttl: wish.ttl.0.as_secs_f64(),
        batch: wish.batch as usize,
    };
    // Heard from the first claim on: whatever is held when somebody stops it is given back.
    let window = Window::new(wish.warmup.0, wish.seconds.0);
    let watching = tokio::spawn(window::stop_on_signal(window.clone())?);
    // One try before the load: what is wrong is said once, and clearly.
    let mut first = Client::connect(&plan.server).await?;
    let probe = first.claim(&format!("{}/probe", plan.run), plan.ttl, None).await?;
    first.release(&probe).await?;
    let measured = match wish.workload {
        Workload::Cycle => cycle::run(&plan, &window).await,
        Workload::Handover => handover::run(&plan, &window).await,
        Workload::Held => held::run(&plan, &window).await,
    };
    watching.abort();
    let name = wish.workload.to_possible_value().expect("no workload is hidden");
    let mut line = Map::new();
    line.insert("system".into(), "tenure".into());
    line.insert("workload".into(), name.get_name().into());
    line.extend(measured?);
    line.insert("gen_cpu".into(), round(window.cpu(), 3).into());
    match wish.json {
        true => out.line(Value::Object(line.clone()))?,
        false => tell(&line, out)?,
    }
    out.flush()?;
    verdict(&line)
}

/// For people: the figures that count first.
fn tell(line: &Map<String, Value>, out: &mut Out) -> anyhow::Result<()> {
    let number = |name: &str| line.get(name).and_then(Value::as_f64);
    let text = |name: &str| number(name).map_or("-".into(), |value| value.to_string());
    let millis = |name: &str| number(name).map_or("-".into(), |us| format!("{:.2} ms", us / 1e3));
    let workload = line["workload"].as_str().unwrap_or_default();
    out.line(format_args!("{workload}: {} connections for {} s", text("clients"), text("secs")))?;
    let (rate, what, prefix) = match workload {
        "cycle" => ("ops_s", "cycles/s (a claim and its release)", ""),
        "handover" => ("handoffs_s", "handovers/s", "handoff_"),
        _ => ("ops_s", "renewals/s", ""),
    };
    out.line(format_args!("  {} {what}", out.bold(&text(rate))))?;
    let of = |name: &str| millis(&format!("{prefix}{name}_us"));
    out.line(format_args!("  p50 {}, p99 {}, max {}", of("p50"), of("p99"), of("max")))?;
    for (name, label) in [
        ("held", "claims held"),
        ("lost", "claims lost"),
        ("max_lag_ms", "ms behind at most"),
        ("fairness", "times the smallest share is the largest"),
        ("out_of_turn", "out of turn"),
        ("violations", "times two held it at once"),
        ("errors", "errors"),
    ] {
        if line.contains_key(name) {
            out.line(format_args!("  {} {label}", text(name)))?;
        }
    }
    if let Some(error) = line.get("first_error").and_then(Value::as_str) {
        out.line(format_args!("  the first error: {}", crate::out::plain(error)))?;
    }
    Ok(())
}

/// A run with a fault in it does not succeed.
fn verdict(line: &Map<String, Value>) -> anyhow::Result<()> {
    let count = |name: &str| line.get(name).and_then(Value::as_u64).unwrap_or(0);
    let faults = ["violations", "out_of_turn", "lost", "errors"];
    let found: Vec<String> = faults
        .iter()
        .filter(|name| count(name) > 0)
        .map(|name| format!("{} {}", count(name), name.replace('_', " ")))
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    let exit = if count("ops") == 0 { Exit::Unavailable } else { Exit::Refused };
    Err(exit.because(format!("the run was not clean: {}", found.join(", "))))
}
