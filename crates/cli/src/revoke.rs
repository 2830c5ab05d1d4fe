//! `tenure revoke`: the administrator takes a claim away.

use clap::Args;
use hyper::Method;

use crate::out::Out;
use crate::place::{Place, Token};

#[derive(Args)]
pub(crate) struct Revoke {
    /// Its number
    claim: u64,
    /// Say it in JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

pub(crate) async fn run(wish: &Revoke, out: &mut Out) -> anyhow::Result<()> {
    let server = wish.place.server(Token::Needed)?;
    let claim = wish.claim;
    let path = format!("/v1/claims/{claim}/");
    server.ask(Method::PATCH, &path, r#"{"status":"revoked"}"#).await?;
    match wish.json {
        true => out.line(format_args!(r#"{{"id":{claim},"status":"revoked"}}"#)),
        false => out.line(format_args!("Claim {claim} is revoked.")),
    }
}
