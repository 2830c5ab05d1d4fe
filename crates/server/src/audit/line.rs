//! What a line says.

use std::net::SocketAddr;

use claims::wire::write_moment;
use claims::{Name, WallTime};
use serde::{Serialize, Serializer};

/// One line. What every line is asked for is always there, `null` if there is nothing to say; never
/// a key, a token or user data.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    #[serde(serialize_with = "moment")]
    pub(super) time: WallTime,
    pub(super) event: &'a str,
    pub(super) outcome: &'a str,
    pub(super) token: Option<&'a str>,
    pub(super) peer: Option<SocketAddr>,
    pub(super) request: Option<&'a str>,
    pub(super) verb: Option<&'a str>,
    pub(super) claim_id: Option<u64>,
    #[serde(serialize_with = "names")]
    pub(super) resources: &'a [Name],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fence: Option<u64>,
    /// Where the history has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<&'a str>,
}

impl<'a> Line<'a> {
    pub(super) fn new(event: &'a str, time: WallTime) -> Self {
        Self {
            time,
            event,
            outcome: "done",
            token: None,
            peer: None,
            request: None,
            verb: None,
            claim_id: None,
            resources: &[],
            fence: None,
            position: None,
            status: None,
            count: None,
            detail: None,
        }
    }

    pub(super) fn written(&self) -> String {
        let mut line = serde_json::to_string(self).expect("a line has no map with odd keys");
        line.push('\n');
        line
    }
}

fn moment<S: Serializer>(time: &WallTime, to: S) -> Result<S::Ok, S::Error> {
    let mut text = String::with_capacity(24);
    write_moment(&mut text, *time);
    to.serialize_str(&text)
}

fn names<S: Serializer>(names: &&[Name], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(names.iter().map(Name::as_str))
}
