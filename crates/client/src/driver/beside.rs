//! What a program may ask of the same server beside the claims that are pursued.

use claims::Name;
use claims::wire::{ClaimReport, Handle};
use hyper::Method;

use super::answer::Heard;
use super::{Driver, Problem};
use crate::exchange::Reply;
use crate::wish::Wish;

impl Driver {
    /// Who holds a resource and who waits for it: the server's own JSON (`GET /v1/resources/…/`).
    pub async fn look_at(&self, resource: &Name) -> Result<String, Problem> {
        let path = format!("/v1/resources/{}/", encoded(resource.as_str()));
        let reply = self.answered(Method::GET, path, String::new()).await?;
        String::from_utf8(reply.body.into()).map_err(|_| Problem::new("the answer is not text"))
    }

    /// Makes a claim that outlives this program: nobody renews it, and it ends with its ttl. It is not
    /// waited for. Tried again with the same wish, it is the same claim.
    pub async fn leave(&self, wish: &Wish) -> Result<(), Problem> {
        let reply = self.answered(Method::POST, "/v1/claims/".to_owned(), wish.body()).await?;
        let report = ClaimReport::parse(&reply.body).map_err(Problem::new)?;
        if report.status == "active" {
            return Ok(());
        }
        let address = reply.location.as_deref().unwrap_or(&report.url);
        if let Some(handle) = Handle::of_address(address) {
            let path = format!("/v1/claims/{}.{}/", handle.claim, wish.key.reveal());
            let json = r#"{"status":"withdrawn"}"#.to_owned();
            self.answered(Method::PATCH, path, json).await?;
        }
        Err(Problem::new("somebody else holds it"))
    }

    async fn answered(&self, method: Method, path: String, json: String) -> Result<Reply, Problem> {
        let reply = match self.ask(method, path, json).await {
            Ok(reply) if reply.status < 300 => return Ok(reply),
            other => other,
        };
        Err(Heard::of(reply).problem.unwrap_or_else(Problem::nothing))
    }
}

/// A name as it goes into an address.
fn encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let piece = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    name.bytes().map(piece).collect()
}
