//! Tells what the history of the store says, one line a change.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use claims::wire::event_name;
use claims::{ClaimId, Event, Fence, KeyHash, Phase, Resources, Verb};
use registry::{EventPage, Filter, Kept, Page, StoreError};
use tokio::sync::oneshot;

use super::Audit;
use super::line::Line;
use crate::access::now;
use crate::server::Server;

/// Events are read in pieces of this size, this often.
const PIECE: usize = 2_000;
const PAUSE: Duration = Duration::from_millis(50);
/// How long nothing may happen before askers are forgotten.
const QUIET: Duration = Duration::from_secs(1);
/// How long to wait when the store does not answer.
const TROUBLE: Duration = Duration::from_secs(1);

/// What a line tells of a claim besides its event.
struct Life {
    key: KeyHash,
    resources: Resources,
}

struct Follower<'a> {
    server: &'a Server,
    audit: &'a Audit,
    lives: HashMap<ClaimId, Life>,
    position: u64,
}

/// Says when it has `begun`, and follows the history until `stop`, and then to the end that it has at
/// that moment.
pub(crate) async fn follow(
    server: Arc<Server>,
    audit: Arc<Audit>,
    begun: oneshot::Sender<()>,
    mut stop: oneshot::Receiver<()>,
) {
    let mut follower =
        Follower { server: &server, audit: &audit, lives: HashMap::new(), position: 0 };
    while let Err(error) = follower.begin().await {
        tracing::warn!(%error, "the audit log has not begun");
        tokio::select! {
            () = tokio::time::sleep(TROUBLE) => {}
            _ = &mut stop => return,
        }
    }
    // Who is not there any more needs no word.
    let _ = begun.send(());
    loop {
        // Only waiting is cut short: what is being told is told to the end.
        let stopping = tokio::select! {
            () = follower.news() => false,
            _ = &mut stop => true,
        };
        if let Err(error) = follower.catch_up().await {
            tracing::warn!(%error, "the audit log is behind");
        }
        if stopping {
            return audit.flush();
        }
    }
}

impl Follower<'_> {
    /// Returns when there is something to tell, and perhaps some more; or when there was nothing for
    /// a while: those who asked in vain must be forgotten, too.
    async fn news(&self) {
        let event = self.server.store.wait_for_event(self.position);
        match tokio::time::timeout(QUIET, event).await {
            Ok(Ok(())) => tokio::time::sleep(PAUSE).await,
            Ok(Err(_)) => tokio::time::sleep(TROUBLE).await,
            Err(_) => {}
        }
    }

    /// Learns what is alive already. What happened before the log was opened is not told.
    async fn begin(&mut self) -> Result<(), StoreError> {
        let store = &self.server.store;
        self.position = store.vitals().await?.position;
        let mut after = None;
        loop {
            let page = Page { after, skip: 0, count: PIECE };
            let claims = store.claims(Filter::default(), page).await?;
            for claim in claims.iter().filter(|claim| !matches!(claim.phase, Phase::Ended(_))) {
                let life = Life { key: claim.key, resources: claim.resources.clone() };
                self.lives.insert(claim.id, life);
            }
            match claims.last() {
                Some(last) => after = Some(last.id),
                None => return Ok(()),
            }
        }
    }

    /// Reads to the end of the history.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        let done = self.audit.askers.take_done();
        loop {
            let page = self.server.store.events(self.position, PIECE).await?;
            let full = page.events.len() == PIECE;
            self.tell(&page).await;
            self.position = page.next;
            if !full {
                break;
            }
        }
        self.audit.askers.forget(done);
        Ok(())
    }

    async fn tell(&mut self, page: &EventPage) {
        if page.skipped > 0 {
            let line = Line {
                outcome: "lost",
                count: Some(page.skipped),
                detail: Some("changes are missing here: the log did not keep up with the store"),
                ..Line::new("lost", now())
            };
            self.audit.writer.write(line.written()).await;
        }
        for kept in &page.events {
            if let Some(line) = self.line(kept) {
                self.audit.writer.write(line).await;
            }
        }
    }

    fn line(&mut self, kept: &Kept) -> Option<String> {
        match &kept.event {
            Event::Registered { claim, registration } => {
                let resources = registration.resources.clone();
                self.lives.insert(*claim, Life { key: registration.key, resources });
            }
            // A waiter that asks again, and memory that is given back, change no claim.
            Event::Seen { .. } | Event::Forgotten { .. } => return None,
            Event::Activated { .. }
            | Event::Called { .. }
            | Event::CalledOff { .. }
            | Event::PassedOver { .. }
            | Event::Renewed { .. }
            | Event::Ended { .. }
            | Event::Appointed { .. }
            | Event::Resumed
            | Event::EpochBegan { .. } => {}
        }
        let claim = kept.event.claim();
        let life = claim.and_then(|claim| self.lives.get(&claim));
        let cause = life.and_then(|life| self.audit.askers.cause(&kept.event, life.key));
        let request = cause.as_ref().and_then(|(_, by)| self.audit.request_name(by.origin.request));
        let line = Line {
            token: cause.as_ref().and_then(|(_, by)| by.token.as_deref()),
            peer: cause.as_ref().and_then(|(_, by)| by.origin.peer),
            request: request.as_deref(),
            verb: cause.as_ref().map(|(act, _)| act.verb()).map(Verb::as_str),
            claim_id: claim.map(|claim| claim.0),
            resources: life.map_or(&[], |life| life.resources.as_slice()),
            fence: fence(&kept.event).map(|fence| fence.0),
            position: Some(kept.position),
            ..Line::new(event_name(&kept.event), kept.stamp.wall)
        };
        let line = line.written();
        if let Event::Ended { claim, .. } = &kept.event {
            self.lives.remove(claim);
        }
        Some(line)
    }
}

fn fence(event: &Event) -> Option<Fence> {
    if let Event::Activated { fence, .. } = event { Some(*fence) } else { None }
}
