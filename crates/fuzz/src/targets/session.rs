//! Many requests, one after the other, on a store that begins empty: whatever is asked in whatever
//! order, the holders are legal, fences rise, and what is over stays over.

use claims::{Fence, Status};

use crate::house::{House, Kind, visit};
use crate::source::text_of;

/// How many requests an input may have.
const REQUESTS_MAX: usize = 24;

/// A line is a request: its method, its path and its body, with blanks in between.
pub(crate) fn run(input: &[u8]) {
    visit(Kind::Empty, async |house| {
        let mut seen = Seen::default();
        for line in text_of(input).lines().take(REQUESTS_MAX) {
            let mut words = line.splitn(3, ' ');
            let mut word = || words.next().unwrap_or_default();
            let (method, uri, body) = (word(), word(), word());
            let Some(mut told) = house.ask(method, uri, &[], body.as_bytes()).await else {
                continue;
            };
            told.pieces(1).await;
            seen.look(house).await;
        }
    });
}

#[derive(Default)]
struct Seen {
    claims: std::collections::BTreeMap<claims::ClaimId, (Status, Option<Fence>)>,
    events: u64,
    last_fence: Option<Fence>,
}

impl Seen {
    async fn look(&mut self, house: &House) {
        let events = house.events().await;
        assert!(events >= self.events, "history is not taken back");
        if events == self.events {
            return;
        }
        self.events = events;
        let now = house.check().await;
        for (id, (status, fence)) in &now {
            let before = self.claims.get(id);
            let (was, had) = before.copied().unwrap_or((Status::Waiting, None));
            let goes_on = match was {
                Status::Waiting => true,
                Status::Active => *status != Status::Waiting,
                Status::Released
                | Status::Expired
                | Status::Aborted
                | Status::Revoked
                | Status::Withdrawn => *status == was,
            };
            assert!(goes_on, "claim {id} was {was} and is {status}");
            assert!(had.is_none() || had == *fence, "claim {id} has another fence");
            // One request makes one holder at most, so the new fence is above all others.
            assert!(had == *fence || *fence > self.last_fence, "claim {id}: fences rise");
        }
        self.last_fence = now.values().filter_map(|(_, fence)| *fence).max().max(self.last_fence);
        self.claims = now;
    }
}
