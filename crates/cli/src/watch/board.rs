//! What is held and who waits, as far as the events and the server told.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use claims::wire::ClaimReport;
use hyper::Method;

use super::stream::Told;
use crate::http::Server;
use crate::list::all;
use crate::show::read;

/// How many claims are asked for at the beginning; others are learned when something happens to them.
const KNOWN_AT_FIRST: usize = 10_000;

/// A claim that lives.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) resources: Vec<String>,
    /// Since when it holds; None if it waits.
    pub(super) held: Option<Instant>,
    pub(super) fence: Option<u64>,
    pub(super) registered: Instant,
    ttl: Option<Duration>,
    pub(super) deadline: Option<Instant>,
}

#[derive(Default)]
pub(super) struct Board {
    pub(super) lives: BTreeMap<u64, Life>,
}

impl Board {
    /// Begins anew with what is there now. Events that are told again later change nothing.
    pub(super) async fn load(&mut self, server: &Server) -> anyhow::Result<()> {
        self.lives.clear();
        for status in ["active", "waiting"] {
            for claim in all(server, &format!("&status={status}"), KNOWN_AT_FIRST).await? {
                self.add(read(claim.get())?);
            }
        }
        Ok(())
    }

    /// Asks about a claim that is not known, so that it has a name.
    pub(super) async fn learn(&mut self, server: &Server, told: &Told) {
        let Some(id) = told.claim_id else { return };
        if self.lives.contains_key(&id) || !told.resources.is_empty() {
            return;
        }
        // If it is forgotten there, it is nothing to us.
        if let Ok(json) = server.ask(Method::GET, &format!("/v1/claims/{id}/"), "").await
            && let Ok(claim) = read(&json)
        {
            self.add(claim);
        }
    }

    fn add(&mut self, claim: ClaimReport) {
        let Some(id) = claim.id else { return };
        let now = Instant::now();
        let span = |secs: f64| Duration::try_from_secs_f64(secs.max(0.0)).unwrap_or_default();
        let ago = |secs: f64| now.checked_sub(span(secs)).unwrap_or(now);
        let held_for = claim.active_duration.unwrap_or(0.0);
        let life = Life {
            held: (claim.status != "waiting").then(|| ago(held_for)),
            fence: claim.fence,
            registered: ago(claim.waiting_duration + held_for),
            ttl: claim.ttl.map(span),
            deadline: claim.ttl.map(|secs| now + span(secs)),
            resources: claim.resources,
        };
        self.lives.insert(id, life);
    }

    /// What a claim is about.
    pub(super) fn resources(&self, id: u64, told: &Told) -> Vec<String> {
        match (told.resources.is_empty(), self.lives.get(&id)) {
            (true, Some(life)) => life.resources.clone(),
            _ => told.resources.clone(),
        }
    }

    pub(super) fn apply(&mut self, told: &Told) {
        let Some(id) = told.claim_id else { return };
        let now = Instant::now();
        let ttl = told.ttl.and_then(|secs| Duration::try_from_secs_f64(secs).ok());
        match told.event.as_str() {
            "registered" => {
                // What the list said already may be newer than this.
                self.lives.entry(id).or_insert_with(|| Life {
                    resources: told.resources.clone(),
                    held: None,
                    fence: None,
                    registered: now,
                    ttl,
                    deadline: None,
                });
            }
            "activated" => {
                if let Some(life) = self.lives.get_mut(&id) {
                    life.held.get_or_insert(now);
                    life.fence = told.fence;
                    life.deadline = life.ttl.map(|ttl| now + ttl);
                }
            }
            "renewed" => {
                if let Some(life) = self.lives.get_mut(&id) {
                    life.ttl = ttl;
                    life.deadline = ttl.map(|ttl| now + ttl);
                }
            }
            "released" | "expired" | "aborted" | "revoked" | "withdrawn" => {
                self.lives.remove(&id);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn board_follows_a_claim_from_registration_to_release() {
        let told = |event: &str| Told {
            event: event.into(),
            claim_id: Some(1),
            resources: vec!["a".into()],
            ttl: Some(5.0),
            fence: Some(3),
            ..Told::default()
        };
        let mut board = Board::default();
        board.apply(&told("registered"));
        assert!(board.lives[&1].held.is_none());
        board.apply(&told("activated"));
        assert!(board.lives[&1].held.is_some() && board.lives[&1].deadline.is_some());
        assert_eq!(board.lives[&1].fence, Some(3));
        // Told again after a list that knew better: nothing goes backwards.
        board.apply(&told("registered"));
        assert!(board.lives[&1].held.is_some());
        board.apply(&told("released"));
        assert!(board.lives.is_empty());
    }
}
