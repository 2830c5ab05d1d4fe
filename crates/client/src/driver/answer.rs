//! What an HTTP answer says to a claimant.

use claims::claimant::{Answer, Class};
use claims::wire::{ClaimReport, Handle};
use claims::{ClaimId, Fence, Status};
use serde::Deserialize;

use super::telling::Problem;
use crate::exchange::{Reply, Silence};

/// An answer, and what it says to people if it is not yes.
pub(crate) struct Heard {
    pub(crate) answer: Answer,
    pub(crate) problem: Option<Problem>,
}

impl Heard {
    pub(crate) fn of(reply: Result<Reply, Silence>) -> Self {
        match reply {
            Ok(reply) => Self::reply(&reply),
            Err(silence) => Self::silence(&silence),
        }
    }

    pub(super) fn silence(silence: &Silence) -> Self {
        let problem = Some(Problem::new(silence.why.as_str()));
        Self { answer: Answer::of(silence.class), problem }
    }

    fn reply(reply: &Reply) -> Self {
        let class = Class::of_status(reply.status);
        let mut answer = Answer { retry_after: reply.retry_after, ..Answer::of(class) };
        match class {
            Class::Ok | Class::Created | Class::Accepted => {
                if let Ok(report) = ClaimReport::parse(&reply.body) {
                    let address = reply.location.as_deref().unwrap_or(&report.url);
                    let handle = Handle::of_address(address).map(|handle| handle.claim);
                    answer.claim = report.id.map(ClaimId).or(handle);
                    answer.fence = report.fence.map(Fence);
                    answer.position = report.queue_position;
                    answer.status = status(&report.status);
                }
                Self { answer, problem: None }
            }
            Class::NoContent => Self { answer, problem: None },
            Class::NotFound
            | Class::Conflict
            | Class::Refused
            | Class::Unknown
            | Class::NotSent => {
                let trouble = serde_json::from_slice(&reply.body).unwrap_or_default();
                Self::trouble(answer, reply.status, &trouble)
            }
        }
    }

    /// What is said of one of many.
    pub(super) fn one(trouble: &Trouble) -> Self {
        let answer = Answer::of(Class::of_status(trouble.http_status));
        match answer.class == Class::Ok {
            true => Self { answer, problem: None },
            false => Self::trouble(answer, trouble.http_status, trouble),
        }
    }

    fn trouble(mut answer: Answer, code: u16, trouble: &Trouble) -> Self {
        answer.status = trouble.status.as_deref().and_then(status);
        answer.position = trouble.queue_position;
        // A server of the original has only a message.
        let detail = trouble.detail.as_ref().filter(|detail| !detail.is_empty());
        let said = [trouble.title.as_ref(), detail.or(trouble.message.as_ref())];
        let said: Vec<&str> = said.into_iter().flatten().map(String::as_str).collect();
        let text = match said.is_empty() {
            true => format!("the server answers {code} without a word"),
            false => said.join(": "),
        };
        Self { answer, problem: Some(Problem::new(text)) }
    }
}

/// An error of HTTP v1, as far as it is looked into.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Trouble {
    #[serde(default)]
    http_status: u16,
    title: Option<String>,
    detail: Option<String>,
    message: Option<String>,
    status: Option<String>,
    queue_position: Option<u64>,
}

fn status(name: &str) -> Option<Status> {
    let all = [
        Status::Waiting,
        Status::Active,
        Status::Released,
        Status::Expired,
        Status::Aborted,
        Status::Revoked,
        Status::Withdrawn,
    ];
    all.into_iter().find(|status| status.as_str() == name)
}
