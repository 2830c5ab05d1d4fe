//! `POST /v1/renewals`: many leases in one request. Each is answered for itself, in order.

use claims::wire::{Field, Fields, Handle, Problem, View, number, write_renewal};
use claims::{Command, Owner, Refusal, Ttl, Verb};
use hyper::StatusCode;
use registry::Pending;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::show::not_found;
use crate::answer::{Answer, json};
use crate::asked::Asked;
use crate::audit::Asking;
use crate::keys::hash_of;
use crate::server::unavailable;
use crate::threads;

/// One renewal: an address (or the end of one), and a ttl if it is not that of the others.
#[derive(Deserialize)]
struct Entry<'a> {
    claim: String,
    #[serde(borrow, default)]
    ttl: Option<&'a RawValue>,
}

pub(crate) async fn renew_many(asked: &Asked<'_>, body: &[u8]) -> Result<Answer, Problem> {
    asked.demand_something(Verb::Claim)?;
    let fields = Fields::parse(asked.media, body, asked.query)?;
    let Some(Field::Json(list)) = fields.get("claims") else {
        return Err(blamed("A list of claims is required"));
    };
    let entries: Vec<&RawValue> =
        serde_json::from_str(list.get()).map_err(|_| blamed("A list of claims is required"))?;
    let max = asked.server.config.renewals_max;
    if entries.len() > max {
        return Err(blamed(&format!("At most {max} claims may be renewed by one request")));
    }
    let ttl = fields.get("ttl").filter(|ttl| !ttl.is_null());
    let ttl = ttl.map(|ttl| read_ttl(&ttl)).transpose()?;

    // All are asked before the first is waited for: one sync for all of them.
    let owned = owned(asked, entries.into_iter().map(|entry| renewal(entry, ttl))).await;
    let asked_for: Vec<Result<Renewal<'_>, Problem>> = owned
        .into_iter()
        .map(|owned| {
            let (owner, ttl) = owned?;
            let command = Command::Renew(owner, ttl);
            let asking = asked.enter(&command);
            Ok(Renewal { owner, answer: asked.server.store.submit(command), _asking: asking })
        })
        .collect();
    let mut body = String::with_capacity(64 * asked_for.len() + 32);
    body.push_str("{\"renewals\":[");
    for (nth, renewal) in asked_for.into_iter().enumerate() {
        if nth > 0 {
            body.push(',');
        }
        let answer = match renewal {
            Ok(renewal) => {
                let answer = threads::bell().wait_for(renewal.answer).await;
                told(asked, renewal.owner, answer, &mut body)
            }
            Err(problem) => Err(problem),
        };
        if let Err(problem) = answer {
            let code = u64::from(problem.status);
            problem.whole("http_status", code).write(&mut body);
        }
    }
    body.push_str("]}");
    Ok(json(StatusCode::OK, body))
}

/// A renewal on its way.
struct Renewal<'a> {
    owner: Owner,
    answer: Pending<'a, registry::Answer>,
    _asking: Option<Asking<'a>>,
}

/// Those renewals that the caller may ask for. All are looked at together, too.
async fn owned(
    asked: &Asked<'_>,
    renewals: impl Iterator<Item = Result<(Owner, Option<Ttl>), Problem>>,
) -> Vec<Result<(Owner, Option<Ttl>), Problem>> {
    let looks: Vec<_> = renewals
        .map(|renewal| renewal.map(|(owner, ttl)| (owner, ttl, asked.look_at_own(owner))))
        .collect();
    let mut owned = Vec::with_capacity(looks.len());
    for look in looks {
        owned.push(match look {
            Ok((owner, ttl, Some(look))) => {
                asked.judge_own(owner, look.await).map(|()| (owner, ttl))
            }
            Ok((owner, ttl, None)) => Ok((owner, ttl)),
            Err(problem) => Err(problem),
        });
    }
    owned
}

fn told(
    asked: &Asked<'_>,
    owner: Owner,
    answer: Result<registry::Answer, registry::StoreError>,
    body: &mut String,
) -> Result<(), Problem> {
    let standing = answer.map_err(unavailable)?.map_err(|refusal| {
        if matches!(refusal, Refusal::Unknown { .. }) {
            return asked.unknown(Verb::Claim, owner.claim);
        }
        Problem::refused(&refusal)
    })?;
    let (claim, now) = (&standing.claim, standing.now);
    write_renewal(body, &View { claim, place: None, base: asked.base, key: None, now });
    Ok(())
}

fn renewal(entry: &RawValue, ttl: Option<Ttl>) -> Result<(Owner, Option<Ttl>), Problem> {
    let entry: Entry<'_> = match serde_json::from_str::<String>(entry.get()) {
        Ok(claim) => Entry { claim, ttl: None },
        Err(_) => serde_json::from_str(entry.get()).map_err(|_| blamed("Not a claim"))?,
    };
    let handle = Handle::of_address(&entry.claim).ok_or_else(not_found)?;
    let claim = handle.claim;
    let Some(key) = handle.key else { return Err(Problem::refused(&Refusal::Unknown { claim })) };
    let own = entry.ttl.map(|ttl| read_ttl(&Field::Json(ttl))).transpose()?;
    Ok((Owner { claim, key: hash_of(key) }, own.or(ttl)))
}

fn read_ttl(field: &Field<'_>) -> Result<Ttl, Problem> {
    let secs = number(field).ok_or(Refusal::TtlNotANumber);
    secs.and_then(Ttl::from_secs_f64).map_err(|refusal| Problem::refused(&refusal))
}

fn blamed(message: &str) -> Problem {
    let mut problem = Problem::invalid();
    problem.blame("claims", message, "send {\"claims\": [\"<id>.<key>\", …], \"ttl\": seconds}");
    problem
}
