//! `tenure show`: one claim, in full.

use claims::wire::ClaimReport;
use clap::Args;
use hyper::Method;

use crate::exit::{Exit, OrExit};
use crate::out::{Out, plain, seconds};
use crate::place::{Place, Token};

#[derive(Args)]
pub(crate) struct Show {
    /// Its number
    claim: u64,
    /// Print the server's own JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

pub(crate) async fn run(wish: &Show, out: &mut Out) -> anyhow::Result<()> {
    let server = wish.place.server(Token::IfThere)?;
    let json = server.ask(Method::GET, &format!("/v1/claims/{}/", wish.claim), "").await?;
    if wish.json {
        return out.line(json);
    }
    let claim = ClaimReport::parse(json.as_bytes())
        .map_err(|error| Exit::Unavailable.because(format!("this is not a claim: {error}")))?;
    tell(&claim, out)
}

fn tell(claim: &ClaimReport, out: &mut Out) -> anyhow::Result<()> {
    let whole = |number: Option<u64>| number.map_or("-".into(), |number| number.to_string());
    let limit = match claim.limit {
        Some(1) => "1 (exclusive)".into(),
        Some(limit) => limit.to_string(),
        None => "none (shared)".into(),
    };
    let mut rows = vec![
        ("claim", whole(claim.id)),
        ("status", claim.status.clone()),
        ("resources", names(claim)),
        ("limit", limit),
        ("fence", whole(claim.fence)),
        ("lease left", seconds(claim.ttl)),
        ("held for", seconds(claim.active_duration)),
        ("waited for", seconds(Some(claim.waiting_duration))),
    ];
    if let Some(place) = claim.queue_position {
        rows.push(("place in line", place.to_string()));
    }
    for step in &claim.status_history {
        rows.push(("", format!("{} since {}", step.status, step.timestamp)));
    }
    let data = claim.user_data.as_ref().map_or("-".to_owned(), |data| plain(data.get()));
    rows.push(("says", data));
    for (name, value) in rows {
        out.line(format_args!("{name:>13}  {}", plain(&value)))?;
    }
    Ok(())
}

/// The names of what a claim is about, as a server of the original tells them, too.
pub(crate) fn names(claim: &ClaimReport) -> String {
    match claim.resources.is_empty() {
        true => plain(&claim.resource),
        false => claim.resources.iter().map(|name| plain(name)).collect::<Vec<_>>().join(", "),
    }
}

/// Reads what a server answered.
pub(crate) fn read<'a, T: serde::Deserialize<'a>>(json: &'a str) -> anyhow::Result<T> {
    serde_json::from_str(json).or_exit(Exit::Unavailable, || {
        "the answer is not that of a Tenure server: check --at or TENURE_URL".into()
    })
}
