//! Somebody who may renew a claim of somebody else's.

use std::sync::Arc;
use std::time::Duration;

use claims::claimant::Class;
use hyper::Method;

use crate::driver::{Driver, Heard, Loss, Problem};
use crate::error::RefreshError;
use crate::exchange::{Reply, Silence};

/// Renews a claim that somebody else holds, and can do nothing else with it.
#[derive(Debug, Clone)]
pub struct Keeper {
    driver: Arc<Driver>,
    token: String,
}

impl Keeper {
    pub(crate) fn new(driver: Arc<Driver>, token: &str) -> Self {
        Self { driver, token: token.to_owned() }
    }

    /// Runs the lease from now again, with this ttl.
    pub async fn renew(&self, ttl: Duration) -> Result<(), RefreshError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if !self.token.chars().all(plain) {
            let problem = "this is not what Claim::keeper gave: hand its text over unchanged";
            return Err(RefreshError::Refused(Problem::new(problem)));
        }
        let path = format!("/v1/claims/{}/", self.token);
        let json = format!("{{\"ttl\":{:?}}}", ttl.as_secs_f64());
        outcome(self.driver.ask(Method::PATCH, path, json).await)
    }
}

pub(crate) fn outcome(reply: Result<Reply, Silence>) -> Result<(), RefreshError> {
    let Heard { answer, problem } = Heard::of(reply);
    let problem = problem.unwrap_or_else(Problem::nothing);
    match answer.class {
        Class::Ok | Class::Created | Class::Accepted | Class::NoContent => Ok(()),
        Class::NotFound => Err(Loss::Unknown(problem).into()),
        Class::Conflict | Class::Refused => Err(RefreshError::Refused(problem)),
        Class::Unknown | Class::NotSent => Err(RefreshError::Unknown(problem)),
    }
}
