//! One client with one connection, made anew when it breaks.

use anyhow::{Context, bail};
use hyper::Method;
use hyper::body::Bytes;
use serde::Deserialize;

use crate::http::{Answer, Connection, Server};

pub(super) struct Client {
    connection: Connection,
}

/// A claim of ours.
pub(super) struct Held {
    /// Its address, with its key.
    path: String,
    pub(super) id: u64,
    pub(super) fence: u64,
}

#[derive(Deserialize)]
struct Report {
    id: u64,
    fence: Option<u64>,
}

#[derive(Deserialize)]
struct Renewals {
    renewals: Vec<Renewal>,
}

#[derive(Deserialize)]
struct Renewal {
    http_status: u16,
}

impl Client {
    pub(super) async fn connect(server: &Server) -> anyhow::Result<Self> {
        Ok(Self { connection: server.connect().await? })
    }

    /// A new connection for one that broke.
    pub(super) async fn reconnect(&mut self) -> anyhow::Result<()> {
        self.connection = self.connection.server().connect().await?;
        Ok(())
    }

    /// Claims a lock; waits for it as long as it takes if `wait` says how long each request may.
    pub(super) async fn claim(
        &mut self,
        lock: &str,
        ttl: f64,
        wait: Option<u32>,
    ) -> anyhow::Result<Held> {
        let body = match wait {
            Some(wait) => format!(r#"{{"resource":"{lock}","ttl":{ttl},"wait":{wait}}}"#),
            None => format!(r#"{{"resource":"{lock}","ttl":{ttl}}}"#),
        };
        let mut answer = self.send(Method::POST, "/v1/claims/", body).await?;
        if !answer.status.is_success() {
            return Err(self.connection.server().refusal(answer.status, &answer.body));
        }
        let location = answer.location.as_deref().context("a claim without an address")?;
        let at = location.find("/v1/claims/").context("an address that is not ours")?;
        let path = location[at..].to_owned();
        while let (202 | 409, Some(wait)) = (answer.status.as_u16(), wait) {
            let body = format!(r#"{{"status":"active","wait":{wait}}}"#);
            answer = self.send(Method::PATCH, &path, body).await?;
        }
        match answer.status.as_u16() {
            200 | 201 => {}
            202 => {
                self.end(&path, "withdrawn").await?;
                bail!("somebody else holds {lock}");
            }
            _ => bail!(self.connection.server().refusal(answer.status, &answer.body)),
        }
        let report: Report = serde_json::from_slice(&answer.body).context("not a claim")?;
        let fence = report.fence.context("a grant without a fence")?;
        Ok(Held { path, id: report.id, fence })
    }

    pub(super) async fn release(&mut self, held: &Held) -> anyhow::Result<()> {
        self.end(&held.path, "released").await
    }

    async fn end(&mut self, path: &str, status: &str) -> anyhow::Result<()> {
        let answer = self.send(Method::PATCH, path, format!(r#"{{"status":"{status}"}}"#)).await?;
        match answer.status.is_success() {
            true => Ok(()),
            false => Err(self.connection.server().refusal(answer.status, &answer.body)),
        }
    }

    /// Renews claims, and says how many are lost.
    pub(super) async fn renew(&mut self, claims: &[Held], ttl: f64) -> anyhow::Result<u64> {
        if let [claim] = claims {
            let answer =
                self.send(Method::PATCH, &claim.path, format!(r#"{{"ttl":{ttl}}}"#)).await?;
            return match answer.status.as_u16() {
                200 => Ok(0),
                400 | 404 | 409 => Ok(1),
                _ => Err(self.connection.server().refusal(answer.status, &answer.body)),
            };
        }
        let mut body = String::with_capacity(40 * claims.len() + 32);
        body.push_str(r#"{"claims":["#);
        for (nth, claim) in claims.iter().enumerate() {
            body.push_str(if nth > 0 { ",\"" } else { "\"" });
            body.push_str(claim.path["/v1/claims/".len()..].trim_end_matches('/'));
            body.push('"');
        }
        body += &format!(r#"],"ttl":{ttl}}}"#);
        let answer = self.send(Method::POST, "/v1/renewals", body).await?;
        if !answer.status.is_success() {
            return Err(self.connection.server().refusal(answer.status, &answer.body));
        }
        let told: Renewals = serde_json::from_slice(&answer.body).context("not renewals")?;
        Ok(told.renewals.iter().filter(|renewal| renewal.http_status != 200).count() as u64)
    }

    async fn send(&mut self, method: Method, path: &str, body: String) -> anyhow::Result<Answer> {
        let request = self.connection.request(method, path, Bytes::from(body));
        self.connection.send(request).await
    }
}
