//! What is wanted, as the driver is told.

use claims::claimant::{Patience, Terms, Timing};
use claims::wire::RegisterBody;
use claims::{Data, Limit, Refusal, Resources, Ttl};
use serde_json::value::RawValue;

use crate::key::Key;

/// A claim somebody wants: all that is known before it is made.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Proves that the claim is yours. The same wish under the same key is the same claim, also from
    /// another process.
    pub key: Key,
    /// What is wanted, all or nothing.
    pub resources: Resources,
    /// How many may hold together.
    pub limit: Limit,
    /// How long the lease lasts without renewal.
    pub ttl: Ttl,
    /// What others may see: JSON.
    pub data: Option<Data>,
    /// How long it may take until it holds.
    pub patience: Patience,
    /// Whether the claim may be there already, made by a process that is gone.
    pub adopts: bool,
    /// How to wait and to try again.
    pub timing: Timing,
}

impl Wish {
    /// To hold these alone, for as long as it takes, under a new key.
    pub fn new(resources: Resources, ttl: Ttl) -> Self {
        Self {
            key: Key::random(),
            resources,
            limit: Limit::EXCLUSIVE,
            ttl,
            data: None,
            patience: Patience::Forever,
            adopts: false,
            timing: Timing::default(),
        }
    }

    pub(crate) fn terms(&self) -> Terms {
        let (patience, adopts, timing) = (self.patience, self.adopts, self.timing);
        let planted = crate::planted::planted();
        Terms { patience, adopts, timing, planted, ..Terms::new(self.ttl) }
    }

    /// The body of its registration.
    pub(crate) fn body(&self) -> String {
        let names: Vec<&str> = self.resources.as_slice().iter().map(|name| name.as_str()).collect();
        let data = self.data.as_ref().and_then(|data| json(data.as_str()).ok());
        RegisterBody {
            resource: (names.len() == 1).then(|| names[0]),
            resources: if names.len() == 1 { &[] } else { &names },
            ttl: seconds(self.ttl),
            user_data: data,
            limit: self.limit.count().filter(|count| *count > 1),
            shared: self.limit == Limit::SHARED,
            key: Some(self.key.reveal()),
        }
        .to_json()
    }
}

/// What others may see, checked to be JSON.
pub(crate) fn data(text: &str) -> Result<Data, NotJson> {
    json(text).map_err(|error| NotJson::NotJson(error.to_string()))?;
    Ok(Data::new(text)?)
}

/// Why data cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotJson {
    /// It is not JSON.
    #[error("the data is not JSON ({0}): give a JSON text, such as {{\"host\": \"a\"}}")]
    NotJson(String),
    /// It is too much.
    #[error(transparent)]
    TooLarge(#[from] Refusal),
}

fn json(text: &str) -> serde_json::Result<&RawValue> {
    serde_json::from_str(text)
}

#[cfg(feature = "makeshift")]
pub(crate) fn duration(ttl: Ttl) -> std::time::Duration {
    crate::clock::duration(ttl.span())
}

pub(crate) fn seconds(ttl: Ttl) -> f64 {
    ttl.span().as_micros() as f64 / 1e6
}
