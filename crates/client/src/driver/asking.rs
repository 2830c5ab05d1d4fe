//! What a claimant wants sent, as an HTTP request.

use claims::claimant::{Request, Verb};
use hyper::Method;

use crate::exchange::{Exchange, Reply, Silence};
use crate::wish::{Wish, seconds};

/// A request ready to be sent.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) json: String,
}

impl Ready {
    pub(super) fn of(request: &Request, wish: &Wish) -> Self {
        let Some(claim) = request.claim.filter(|_| request.verb != Verb::Register) else {
            let path = "/v1/claims/".to_owned();
            return Self { method: Method::POST, path, json: wish.body() };
        };
        let json = match request.verb {
            Verb::Renew(ttl) => format!("{{\"ttl\":{:?}}}", seconds(ttl)),
            Verb::Activate | Verb::Register => r#"{"status":"active"}"#.to_owned(),
            Verb::Release => r#"{"status":"released"}"#.to_owned(),
            Verb::Withdraw => r#"{"status":"withdrawn"}"#.to_owned(),
            Verb::Abort => r#"{"status":"aborted"}"#.to_owned(),
        };
        let mut path = format!("/v1/claims/{claim}.{}/", wish.key.reveal());
        if let Some(wait) = request.wait {
            path = format!("{path}?wait={:.3}", wait.as_micros() as f64 / 1e6);
        }
        Self { method: Method::PATCH, path, json }
    }

    pub(super) async fn send(self, exchange: &Exchange) -> Result<Reply, Silence> {
        exchange.ask(self.method, &self.path, self.json).await
    }
}
