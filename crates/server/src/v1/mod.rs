//! HTTP v1: the protocol of the original, and what was added without disturbing its clients.

mod change;
mod events;
mod list;
mod reader;
mod register;
mod renewals;
mod resources;
mod show;

pub(crate) use self::change::change;
pub(crate) use self::events::events;
pub(crate) use self::list::list;
pub(crate) use self::register::register;
pub(crate) use self::renewals::renew_many;
pub(crate) use self::resources::{resource, resources};
pub(crate) use self::show::show;

use std::time::Duration;

use claims::wire::{Field, Fields, Problem, View, number};
use claims::{Command, Refusal, Standing};
use hyper::HeaderMap;

use crate::asked::Asked;
use crate::audit::Act;
use crate::server::{Server, unavailable};
use crate::threads;

/// Runs a command; if it has patience, waits with it until the claim is granted.
pub(crate) async fn submit(
    asked: &Asked<'_>,
    command: Command,
    patience: Option<Duration>,
) -> Result<Standing, Problem> {
    let server = asked.server;
    let act = Act::of(&command);
    let _asking = asked.enter(&command);
    let answer = match patience {
        Some(patience) if !server.is_closing() => wait(server, command, patience).await?,
        _ => threads::bell().wait_for(server.store.submit(command)).await.map_err(unavailable)?,
    };
    answer.map_err(|refusal| {
        server.metrics.refused(&refusal);
        let problem = Problem::refused(&refusal);
        if let Refusal::Unknown { claim } | Refusal::KeeperMayOnlyRenew { claim } = refusal {
            asked.denied(act.verb(), Some(claim), &[], &problem);
        }
        problem
    })
}

async fn wait(
    server: &Server,
    command: Command,
    patience: Duration,
) -> Result<registry::Answer, Problem> {
    let again = matches!(command, Command::Register(_)).then(|| command.clone());
    let granted = server.store.submit_and_wait(command, patience);
    let bell = threads::bell();
    tokio::select! {
        biased;
        answer = bell.wait_for(granted) => answer.map_err(unavailable),
        () = server.closing() => match again {
            // The claim is made: its owner has to be told where it is, or nobody could end it.
            Some(command) => server.store.submit(command).await.map_err(unavailable),
            None => Err(Problem::unavailable("the server is stopping: ask again")),
        },
    }
}

/// How long the client is ready to wait: `?wait=` or `Prefer: wait=`, at most what we allow.
pub(crate) fn patience(
    asked: &Asked<'_>,
    fields: &Fields<'_>,
) -> Result<Option<Duration>, Problem> {
    let secs = match fields.get("wait").filter(|field| !field.is_null()) {
        Some(field) => Some(number(&field).filter(|secs| *secs >= 0.0).ok_or_else(|| {
            let mut problem = Problem::invalid();
            problem.blame("wait", "Positive number of seconds required", "");
            problem
        })?),
        None => preferred(asked.headers),
    };
    let max = asked.server.config.wait_for_max;
    let patience = secs.map(|secs| Duration::try_from_secs_f64(secs).unwrap_or(max).min(max));
    Ok(patience.filter(|patience| !patience.is_zero()))
}

/// `Prefer: wait=10` (RFC 7240). What is not understood is not preferred.
fn preferred(headers: &HeaderMap) -> Option<f64> {
    let values = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let mut wishes = values.flat_map(|value| value.split([',', ';']));
    let secs = wishes.find_map(|wish| wish.trim().strip_prefix("wait="))?;
    number(&Field::Text(secs.into())).filter(|secs| *secs >= 0.0)
}

/// A claim as the asker may see it, as of the moment it was asked about.
fn view<'a>(asked: &'a Asked<'_>, standing: &'a Standing, key: Option<&'a str>) -> View<'a> {
    View {
        claim: &standing.claim,
        place: standing.place.as_ref(),
        base: asked.base_for(key),
        key,
        now: standing.now,
    }
}

/// Room for a usual claim object: one allocation an answer.
const CLAIM_BYTES: usize = 768;
