//! Short words for entries of a history.

use torture::history::{Acquired, Entry, Seen, Told, What};

/// Long enough that five percent of it are whole numbers.
pub const TTL: u64 = 1_000;

pub fn entry(client: u32, begin: u64, end: u64, what: What) -> Entry {
    Entry { client, resource: "r".into(), begin, end: Some(end), what }
}

pub fn acquire(client: u32, begin: u64, end: u64, outcome: Acquired) -> Entry {
    let what = What::Acquire { ttl: TTL, limit: Some(1), placed: None, outcome };
    entry(client, begin, end, what)
}

pub fn granted(claim: u64, begin: u64, end: u64, fence: u64) -> Entry {
    acquire(claim as u32, begin, end, Acquired::Granted { claim, fence })
}

pub fn limited(mut entry: Entry, to: Option<u32>) -> Entry {
    if let What::Acquire { limit, .. } | What::Belief { limit, .. } = &mut entry.what {
        *limit = to;
    }
    entry
}

pub fn placed(mut entry: Entry, at: u64) -> Entry {
    if let What::Acquire { placed, .. } = &mut entry.what {
        *placed = Some(at);
    }
    entry
}

pub fn renewed(claim: u64, begin: u64, end: u64, outcome: Told) -> Entry {
    entry(claim as u32, begin, end, What::Renew { claim, outcome })
}

pub fn released(claim: u64, begin: u64, end: u64, outcome: Told) -> Entry {
    entry(claim as u32, begin, end, What::Release { claim, outcome })
}

pub fn looked(claim: u64, begin: u64, end: u64, seen: Option<Seen>) -> Entry {
    entry(99, begin, end, What::Look { claim, seen })
}

pub fn believed(claim: u64, begin: u64, end: u64) -> Entry {
    entry(claim as u32, begin, end, What::Belief { claim, fence: claim, limit: Some(1) })
}

pub fn landed(fence: u64, at: u64) -> Entry {
    entry(fence as u32, at, at, What::Effect { fence, landed: true })
}
