//! All connections wait for one lock, by long poll.
//!
//! What counts is a handover: the owner changed. All clients are in this process, so whether two held
//! at once is known exactly; and because the id of a claim is its place in the queue, the ids in order
//! of their fences say whether everybody was served in turn.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::client::{Client, Held};
use super::cycle::{ERRORS_IN_A_ROW, REST};
use super::tally::{Latency, Tally, round};
use super::{Plan, Window};

/// How many seconds one request may wait.
const WAIT: u32 = 30;

/// What the lock protects: the record of who had it.
#[derive(Default)]
struct Protected {
    inside: u32,
    violations: u64,
    owner: Option<usize>,
    releasing: Option<Instant>,
    /// Fence and claim of each grant, in the order in which they were told.
    grants: Vec<(u64, u64)>,
}

struct Share {
    tally: Tally,
    handovers: u64,
    gap: Latency,
}

pub(super) async fn run(plan: &Plan, window: &Arc<Window>) -> anyhow::Result<Map<String, Value>> {
    let mut clients = Vec::new();
    for _ in 0..plan.connections {
        clients.push(Client::connect(&plan.server).await?);
    }
    let protected = Arc::new(Mutex::new(Protected::default()));
    window.begin();
    let mut running = JoinSet::new();
    for (me, client) in clients.into_iter().enumerate() {
        let lock = format!("{}/one", plan.run);
        running.spawn(contend(client, me, lock, plan.ttl, window.clone(), protected.clone()));
    }
    let (mut total, mut gap, mut handovers) = (Tally::new(), Latency::new(), 0);
    let mut shares = Vec::new();
    while let Some(share) = running.join_next().await {
        let share = share?;
        shares.push(share.tally.ops);
        handovers += share.handovers;
        gap.add(&share.gap);
        total.add(share.tally);
    }
    let protected = std::mem::take(&mut *protected.lock().expect("nobody panics with it"));
    let mut line = total.report(plan.connections, window);
    let secs = window.measured().as_secs_f64();
    line.insert("handoffs_s".into(), json!(round(handovers as f64 / secs, 1)));
    gap.report(&mut line, "handoff_");
    let least = shares.iter().min().copied().unwrap_or(0);
    let most = shares.iter().max().copied().unwrap_or(0);
    line.insert("share_min".into(), json!(least));
    line.insert("share_max".into(), json!(most));
    if least > 0 {
        line.insert("fairness".into(), json!(round(most as f64 / least as f64, 3)));
    }
    let (out_of_turn, repeated) = judge(protected.grants);
    line.insert("out_of_turn".into(), json!(out_of_turn));
    line.insert("violations".into(), json!(protected.violations + repeated));
    Ok(line)
}

/// How many were served out of turn, and how many fences did not rise.
fn judge(grants: Vec<(u64, u64)>) -> (usize, u64) {
    let repeated = grants.windows(2).filter(|two| two[0].0 >= two[1].0).count() as u64;
    let mut by_fence = grants;
    by_fence.sort_unstable();
    let out_of_turn = by_fence.windows(2).filter(|two| two[0].1 >= two[1].1).count();
    (out_of_turn, repeated)
}

async fn contend(
    mut client: Client,
    me: usize,
    lock: String,
    ttl: f64,
    window: Arc<Window>,
    protected: Arc<Mutex<Protected>>,
) -> Share {
    let mut share = Share { tally: Tally::new(), handovers: 0, gap: Latency::new() };
    let mut failing = 0;
    while !window.is_over() && failing < ERRORS_IN_A_ROW {
        let began = Instant::now();
        let done = async {
            let held = client.claim(&lock, ttl, Some(WAIT)).await?;
            let acquired = Instant::now();
            if window.counts(acquired) {
                share.tally.ops += 1;
                share.tally.latency.record(acquired - began);
            }
            if let Some(gap) = enter(&protected, me, &held, acquired)
                && window.counts(acquired)
            {
                share.handovers += 1;
                share.gap.record(gap);
            }
            // Whoever else was told that it holds comes in now, and is seen.
            tokio::task::yield_now().await;
            leave(&protected);
            client.release(&held).await
        };
        match done.await {
            Ok(()) => failing = 0,
            Err(error) => {
                failing += 1;
                share.tally.error(&error);
                tokio::time::sleep(REST).await;
                // If this fails, so does the next turn, and says why.
                let _ = client.reconnect().await;
            }
        }
    }
    share
}

/// Comes in. If the owner changed: how long that took since the last began to let go.
fn enter(
    protected: &Mutex<Protected>,
    me: usize,
    held: &Held,
    acquired: Instant,
) -> Option<Duration> {
    let mut protected = protected.lock().expect("nobody panics with it");
    protected.violations += u64::from(protected.inside > 0);
    protected.inside += 1;
    protected.grants.push((held.fence, held.id));
    let changed = protected.owner.replace(me).is_some_and(|before| before != me);
    let gap = protected.releasing.map(|since| acquired.saturating_duration_since(since));
    gap.filter(|_| changed)
}

fn leave(protected: &Mutex<Protected>) {
    let mut protected = protected.lock().expect("nobody panics with it");
    protected.inside -= 1;
    protected.releasing = Some(Instant::now());
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn faults_of_a_server_would_be_seen() {
        assert_eq!(judge(vec![(1, 1), (2, 2), (5, 3)]), (0, 0));
        assert_eq!(judge(vec![(1, 2), (2, 1), (3, 3)]), (1, 0), "claim 1 was passed by");
        assert_eq!(judge(vec![(1, 1), (1, 2)]), (0, 1), "one fence twice");
        assert_eq!(judge(vec![(2, 2), (1, 1)]), (0, 1), "told in the wrong order");
    }
}
