//! `tenure claims`: the claims of a server, those that the filters let through.

use claims::wire::ClaimReport;
use clap::{Args, ValueEnum};
use hyper::Method;
use serde_json::value::RawValue;

use crate::config::Span;
use crate::http::{Server, encode};
use crate::out::{Out, seconds};
use crate::place::{Place, Token};
use crate::show::{names, read};

/// How many are asked for at once; a server may give fewer.
const PAGE: usize = 1_000;

/// Which claims are listed.
#[derive(Args)]
pub(crate) struct List {
    /// Only claims on this resource
    #[arg(long)]
    resource: Option<String>,
    /// Only claims with this status
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Only claims that have held for at least so long
    #[arg(long, value_name = "SPAN")]
    held_for: Option<Span>,
    /// Only claims that have waited for at least so long
    #[arg(long, value_name = "SPAN")]
    waited_for: Option<Span>,
    /// Only claims whose lease ends within this span
    #[arg(long, value_name = "SPAN")]
    ends_within: Option<Span>,
    /// Only claims registered since then (a date, or seconds since 1970)
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Only claims registered until then
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// Print the server's own JSON: one array of claims
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, ValueEnum)]
enum Status {
    Waiting,
    Active,
    Released,
    Expired,
    Aborted,
    Revoked,
    Withdrawn,
}

impl List {
    fn query(&self) -> String {
        let status = self.status.and_then(|status| status.to_possible_value());
        let secs = |span: Option<Span>| span.map(|span| span.0.as_secs_f64().to_string());
        let filters = [
            ("resource", self.resource.clone()),
            ("status", status.map(|status| status.get_name().to_owned())),
            ("minimum_active_duration", secs(self.held_for)),
            ("minimum_waiting_duration", secs(self.waited_for)),
            ("maximum_ttl", secs(self.ends_within)),
            ("minimum_created", self.since.clone()),
            ("maximum_created", self.until.clone()),
        ];
        let given = filters.into_iter().filter_map(|(name, value)| Some((name, value?)));
        given.map(|(name, value)| format!("&{name}={}", encode(&value))).collect()
    }
}

pub(crate) async fn run(wish: &List, out: &mut Out) -> anyhow::Result<()> {
    let server = wish.place.server(Token::IfThere)?;
    let list = all(&server, &wish.query(), wish.limit).await?;
    if wish.json {
        return out.line(serde_json::to_string(&list)?);
    }
    out.line(format_args!("{:>8}  {:<9}  {:>9}  {:>8}  RESOURCE", "ID", "STATUS", "TTL", "FENCE"))?;
    let whole = |number: Option<u64>| number.map_or("-".into(), |number| number.to_string());
    for claim in &list {
        let claim: ClaimReport = read(claim.get())?;
        out.line(format_args!(
            "{:>8}  {:<9}  {:>9}  {:>8}  {}",
            whole(claim.id),
            claim.status,
            seconds(claim.ttl),
            whole(claim.fence),
            names(&claim)
        ))?;
    }
    out.flush()?;
    if list.len() == wish.limit {
        aside!("tenure: the first {} are shown; there may be more: raise --limit", list.len());
    }
    Ok(())
}

/// The claims that pass, page by page.
pub(crate) async fn all(
    server: &Server,
    query: &str,
    limit: usize,
) -> anyhow::Result<Vec<Box<RawValue>>> {
    let mut list: Vec<Box<RawValue>> = Vec::new();
    while list.len() < limit {
        let count = (limit - list.len()).min(PAGE);
        let path = format!("/v1/claims/?limit={count}&offset={}{query}", list.len());
        let json = server.ask(Method::GET, &path, "").await?;
        let page: Vec<Box<RawValue>> = read(&json)?;
        if page.is_empty() {
            break;
        }
        list.extend(page);
    }
    Ok(list)
}
