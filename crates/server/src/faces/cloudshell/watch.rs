//! Services that were removed because their time was over are told in the log, with their owners:
//! whoever finds its lock gone, or taken, can find out whose program was stuck.

use std::sync::Arc;
use std::time::Duration;

use claims::{Ending, Event, Phase, Standing};
use registry::StoreError;

use super::Face;
use super::service::Service;

/// Events are read in pieces of this size, this often.
const PIECE: usize = 2_000;
const PAUSE: Duration = Duration::from_millis(50);
/// How long to wait when the store does not answer.
const TROUBLE: Duration = Duration::from_secs(1);

/// Follows the history for as long as the server lives.
pub(crate) async fn follow(face: Arc<Face>) {
    loop {
        if let Err(error) = follow_until_error(&face).await {
            tracing::warn!(%error, "services whose time is over are not told");
        }
        tokio::time::sleep(TROUBLE).await;
    }
}

async fn follow_until_error(face: &Face) -> Result<(), StoreError> {
    let store = &face.server.store;
    let mut position = store.vitals().await?.position;
    loop {
        store.wait_for_event(position).await?;
        let page = store.events(position, PIECE).await?;
        position = page.next;
        for kept in &page.events {
            if let Event::Ended { claim, ending: Ending::Expired } = kept.event
                && let Some(standing) = store.standing(claim).await?
            {
                tell(&standing);
            }
        }
        if page.events.len() < PIECE {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn tell(Standing { claim, .. }: &Standing) {
    let ([name], Phase::Ended(ended)) = (claim.resources.as_slice(), &claim.phase) else { return };
    let (Some(service), Some(activation)) = (Service::of(claim), ended.activation) else { return };
    let held_for = ended.at.at.since(activation.since.at).as_micros() / 1_000_000;
    tracing::warn!(
        service = name.as_str(),
        claim = claim.id.0,
        user = service.user,
        machine = service.machine,
        attributes = ?service.attributes,
        held_for_secs = held_for,
        "a service was removed after its longest hold"
    );
}
