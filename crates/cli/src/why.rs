//! `tenure why`: who holds a resource, since when, with what data, who waits, and how long it takes.

use claims::wire::ClaimReport;
use clap::Args;
use hyper::Method;
use serde::Deserialize;

use crate::http::encode;
use crate::out::{Out, plain, seconds};
use crate::place::{Place, Token};
use crate::show::read;

#[derive(Args)]
pub(crate) struct Why {
    /// The name of the resource
    resource: String,
    /// Print the server's own JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Deserialize)]
struct Report {
    holders: Vec<ClaimReport>,
    queue: Vec<ClaimReport>,
    waiting: u64,
    usual_hold: Option<f64>,
}

pub(crate) async fn run(wish: &Why, out: &mut Out) -> anyhow::Result<()> {
    let server = wish.place.server(Token::IfThere)?;
    let path = format!("/v1/resources/{}/", encode(&wish.resource));
    let json = server.ask(Method::GET, &path, "").await?;
    if wish.json {
        return out.line(json);
    }
    let report: Report = read(&json)?;
    let name = plain(&wish.resource);
    if report.holders.is_empty() {
        out.line(format_args!("Nobody holds {name}."))?;
    }
    for holder in &report.holders {
        let ends = match holder.ttl {
            Some(ttl) => format!("its lease ends in {} unless renewed", seconds(Some(ttl))),
            None => "it has no end of its own".into(),
        };
        out.line(format_args!(
            "Claim {} holds {name} since {}, for {} now; {ends}.",
            holder.id.unwrap_or_default(),
            since(holder),
            seconds(holder.active_duration),
        ))?;
        if let Some(data) = &holder.user_data {
            out.line(format_args!("  it says: {}", plain(data.get())))?;
        }
    }
    tell_queue(&report, out)?;
    if let Some(usual) = report.usual_hold {
        out.line(format_args!("It is usually held for {}.", seconds(Some(usual))))?;
    }
    Ok(())
}

fn tell_queue(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    match report.waiting {
        0 => out.line("Nobody waits for it.")?,
        1 => out.line("1 claim waits for it:")?,
        count => out.line(format_args!("{count} claims wait for it:"))?,
    }
    for waiter in &report.queue {
        let (id, waited) = (waiter.id.unwrap_or_default(), seconds(Some(waiter.waiting_duration)));
        match &waiter.user_data {
            Some(data) => {
                let data = plain(data.get());
                out.line(format_args!("  claim {id} has waited for {waited}, and says: {data}"))?;
            }
            None => out.line(format_args!("  claim {id} has waited for {waited}"))?,
        }
    }
    let untold = report.waiting.saturating_sub(report.queue.len() as u64);
    if untold > 0 {
        out.line(format_args!("  and {untold} more"))?;
    }
    Ok(())
}

fn since(holder: &ClaimReport) -> String {
    let active = holder.status_history.iter().find(|step| step.status == "active");
    active.map_or("-".into(), |step| plain(&step.timestamp))
}
