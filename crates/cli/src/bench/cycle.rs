//! Each connection claims and releases a lock of its own, in a loop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::task::JoinSet;

use super::client::Client;
use super::tally::Tally;
use super::{Plan, Window};

/// A client that only sees errors gives up after so many.
pub(super) const ERRORS_IN_A_ROW: u32 = 50;
/// How long a client rests after an error.
pub(super) const REST: Duration = Duration::from_millis(20);

pub(super) async fn run(plan: &Plan, window: &Arc<Window>) -> anyhow::Result<Map<String, Value>> {
    let mut clients = Vec::new();
    for _ in 0..plan.connections {
        clients.push(Client::connect(&plan.server).await?);
    }
    window.begin();
    let mut running = JoinSet::new();
    for (nth, client) in clients.into_iter().enumerate() {
        let lock = format!("{}/{nth}", plan.run);
        running.spawn(cycles(client, lock, plan.ttl, window.clone()));
    }
    let mut total = Tally::new();
    while let Some(tally) = running.join_next().await {
        total.add(tally?);
    }
    Ok(total.report(plan.connections, window))
}

async fn cycles(mut client: Client, lock: String, ttl: f64, window: Arc<Window>) -> Tally {
    let mut tally = Tally::new();
    let mut failing = 0;
    while !window.is_over() && failing < ERRORS_IN_A_ROW {
        let began = Instant::now();
        match one(&mut client, &lock, ttl).await {
            Ok(()) => {
                failing = 0;
                let done = Instant::now();
                if window.counts(began) && done < window.end() {
                    tally.ops += 1;
                    tally.latency.record(done - began);
                }
            }
            Err(error) => {
                failing += 1;
                tally.error(&error);
                tokio::time::sleep(REST).await;
                // If this fails, so does the next cycle, and says why.
                let _ = client.reconnect().await;
            }
        }
    }
    tally
}

async fn one(client: &mut Client, lock: &str, ttl: f64) -> anyhow::Result<()> {
    let held = client.claim(lock, ttl, None).await?;
    client.release(&held).await
}
