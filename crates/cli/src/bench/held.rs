//! Many claims are held and renewed, each once in every third of its lease, evenly spread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::client::{Client, Held};
use super::tally::{Tally, round};
use super::{Plan, Window};

/// The lease while the others are still being claimed.
const LONG: f64 = 600.0;
/// After so many errors in a row nobody is there to release to.
const GIVE_UP: u32 = 5;

struct Share {
    client: Client,
    claims: Vec<Held>,
    tally: Tally,
    lost: u64,
    lag: Duration,
}

pub(super) async fn run(plan: &Plan, window: &Arc<Window>) -> anyhow::Result<Map<String, Value>> {
    let began = Instant::now();
    let mut shares =
        each((0..plan.connections).collect(), |nth| claim_share(plan.clone(), nth, window.clone()))
            .await?;
    let acquiring = began.elapsed();
    let held: usize = shares.iter().map(|share| share.claims.len()).sum();
    window.begin();
    shares = each(shares, |share| renew_share(share, plan.clone(), window.clone())).await?;
    shares = each(shares, release_share).await?;

    let (mut total, mut lost, mut lag) = (Tally::new(), 0, Duration::ZERO);
    for share in shares {
        total.add(share.tally);
        lost += share.lost;
        lag = lag.max(share.lag);
    }
    let mut line = total.report(plan.connections, window);
    line.insert("locks".into(), json!(plan.locks));
    line.insert("held".into(), json!(held));
    line.insert("lost".into(), json!(lost));
    let renewal = if plan.batch == 1 { "PerLock" } else { "Batch" };
    line.insert("renewal".into(), json!(renewal));
    line.insert("acquire_secs".into(), json!(round(acquiring.as_secs_f64(), 2)));
    line.insert("max_lag_ms".into(), json!(lag.as_millis() as u64));
    Ok(line)
}

/// Runs a step for everybody at once.
async fn each<I, F>(items: Vec<I>, step: impl Fn(I) -> F) -> anyhow::Result<Vec<Share>>
where
    F: Future<Output = anyhow::Result<Share>> + Send + 'static,
{
    let mut running: JoinSet<_> = items.into_iter().map(step).collect();
    let mut done = Vec::new();
    while let Some(share) = running.join_next().await {
        done.push(share??);
    }
    Ok(done)
}

/// Claims every so-many-th lock.
async fn claim_share(plan: Plan, nth: usize, window: Arc<Window>) -> anyhow::Result<Share> {
    let client = Client::connect(&plan.server).await?;
    let mut share =
        Share { client, claims: Vec::new(), tally: Tally::new(), lost: 0, lag: Duration::ZERO };
    for lock in (nth..plan.locks).step_by(plan.connections) {
        if window.is_cut() {
            break;
        }
        let name = format!("{}/{lock}", plan.run);
        match share.client.claim(&name, plan.ttl.max(LONG), None).await {
            Ok(held) => share.claims.push(held),
            Err(error) => {
                share.tally.error(&error);
                // What was claimed so far is given back at the end.
                break;
            }
        }
    }
    Ok(share)
}

async fn renew_share(mut share: Share, plan: Plan, window: Arc<Window>) -> anyhow::Result<Share> {
    let batches = share.claims.len().div_ceil(plan.batch);
    if batches == 0 {
        return Ok(share);
    }
    let step = Duration::from_secs_f64(plan.ttl / 3.0) / u32::try_from(batches).unwrap_or(u32::MAX);
    let mut due = Instant::now();
    for batch in share.claims.chunks(plan.batch).cycle() {
        window.sleep_until(due).await;
        if window.is_over() {
            break;
        }
        let began = Instant::now();
        share.lag = share.lag.max(began.saturating_duration_since(due));
        due += step;
        match share.client.renew(batch, plan.ttl).await {
            Ok(lost) => {
                share.lost += lost;
                if window.counts(began) {
                    share.tally.ops += batch.len() as u64 - lost;
                    share.tally.latency.record(began.elapsed());
                }
            }
            Err(error) => {
                share.tally.error(&error);
                let _ = share.client.reconnect().await;
            }
        }
    }
    Ok(share)
}

async fn release_share(mut share: Share) -> anyhow::Result<Share> {
    let mut failing = 0;
    for claim in &share.claims {
        match share.client.release(claim).await {
            Ok(()) => failing = 0,
            Err(error) => {
                share.tally.error(&error);
                failing += 1;
                let _ = share.client.reconnect().await;
            }
        }
        if failing == GIVE_UP {
            // The server is gone: the rest ends with its ttl.
            break;
        }
    }
    share.claims = Vec::new();
    Ok(share)
}
