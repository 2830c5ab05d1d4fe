//! Reservations: made, ended, and looked at. One that has a duration ends by itself.

use claims::{
    Claim, Command, Data, Farewell, KeyHash, Limit, Owner, Phase, Registration, Resources, Span,
    Status, TTL_MAX, Timestamp, Ttl, WallTime,
};
use serde::{Deserialize, Serialize};

use super::answer::{Node, Told};
use super::call::Call;
use super::guest::Guest;
use super::names::Id;
use super::refusal::No;

/// The longest message that is written to the log.
const MESSAGE_CHARS_MAX: usize = 4_096;

/// What is kept of a reservation.
#[derive(Serialize, Deserialize, Default)]
struct Reservation {
    name: String,
    owner: String,
    /// Who made it.
    user: String,
}

/// A reservation as it is.
pub(super) enum Known {
    /// Made here, and running.
    Running(Claim),
    /// Made elsewhere: nothing is known about it.
    Foreign,
    /// Made here, and over.
    Ended(Claim),
}

impl Known {
    /// When it ends by itself, if it is running.
    pub(super) fn runs_until(&self) -> Result<Timestamp, No> {
        match self {
            Self::Running(Claim { phase: Phase::Active(active), .. }) => Ok(active.deadline),
            Self::Foreign => Ok(Timestamp::NEVER),
            Self::Running(_) | Self::Ended(_) => {
                Err(No::because("The reservation has ended: make a new one"))
            }
        }
    }
}

/// Finds a reservation.
pub(super) async fn find(guest: &Guest<'_>, id: &Id) -> Result<Known, No> {
    let holder = guest.look(&id.name()).await?.holders.into_iter().next();
    if let Some(claim) = holder.filter(|claim| guest.is_held(claim)) {
        return Ok(Known::Running(claim));
    }
    if guest.face.config.foreign_reservations {
        return Ok(Known::Foreign);
    }
    match guest.last_ended(&id.name(), |_| true).await? {
        Some(ended) => Ok(Known::Ended(ended)),
        None => Err(No::because(format!(
            "Reservation {} is not known: it was not made here, or ended long ago",
            id.as_str()
        ))),
    }
}

pub(super) async fn create(guest: &Guest<'_>, call: &Call) -> Result<Told, No> {
    let owner = match call.text("owner") {
        "" => &guest.user,
        owner => owner,
    };
    let reservation = Reservation {
        name: call.text("reservationName").into(),
        owner: owner.into(),
        user: guest.user.to_string(),
    };
    let ttl = match call.number("durationInMinutes")? {
        0 => Ttl::UNLIMITED,
        minutes => Ttl::new(Span::from_secs(minutes.saturating_mul(60)).min(TTL_MAX))?,
    };
    let id = Id::random();
    let data = serde_json::to_string(&reservation).expect("texts are JSON");
    let registration = Registration {
        key: key_of(&id),
        resources: Resources::one(id.name()),
        limit: Limit::EXCLUSIVE,
        ttl,
        data: Some(Data::new(&data)?),
    };
    let standing = guest.submit(Command::Register(registration)).await??;
    let node = described("Reservation", &id, &Known::Running(standing.claim));
    Ok(Some(("CreateReservationResponseInfo", vec![node])))
}

/// Ends a reservation, and with it all that is in it. Sent again, it finishes what was begun.
pub(super) async fn end(guest: &Guest<'_>, call: &Call) -> Result<Told, No> {
    let id = Id::of(call)?;
    let _one_at_a_time = guest.face.door(&id).lock().await;
    if let Known::Running(claim) = find(guest, &id).await? {
        let owner = Owner { claim: claim.id, key: key_of(&id) };
        guest.submit(Command::End(owner, Farewell::Release)).await??;
    }
    for prefix in [id.services(), id.all_attributes()] {
        for report in guest.under(&prefix, usize::MAX).await? {
            for claim in report.holders {
                // Whoever was faster has done the same.
                let _ = guest.submit(Command::Revoke(claim.id)).await?;
            }
        }
    }
    Ok(None)
}

pub(super) async fn status(guest: &Guest<'_>, call: &Call) -> Result<Told, No> {
    let id = Id::of(call)?;
    let known = find(guest, &id).await?;
    let node = described("ReservationSlimStatus", &id, &known).set("ReservationId", id.as_str());
    Ok(Some(("ReservationSlimStatusInfo", vec![node])))
}

/// There is no window to write to: messages are in the server's log.
pub(super) async fn write_message(guest: &Guest<'_>, call: &Call) -> Result<Told, No> {
    let id = Id::of(call)?;
    find(guest, &id).await?.runs_until()?;
    let message: String = call.text("message").chars().take(MESSAGE_CHARS_MAX).collect();
    let (reservation, user) = (id.as_str(), &*guest.user);
    tracing::info!(reservation, user, message, "a message to a reservation");
    Ok(None)
}

/// What is known of a reservation, as an element of this name.
pub(super) fn described(name: &'static str, id: &Id, known: &Known) -> Node {
    let node = Node::new(name).set("Id", id.as_str());
    let (claim, status) = match known {
        Known::Running(claim) => (claim, "Started"),
        Known::Ended(claim) => (claim, "Completed"),
        Known::Foreign => return node.set("Status", "Started").set("ProvisioningStatus", "Ready"),
    };
    let kept = claim.data().and_then(|data| serde_json::from_str(data.as_str()).ok());
    let Reservation { name, owner, user: _ } = kept.unwrap_or_default();
    let start = claim.created.wall;
    let end = match &claim.phase {
        Phase::Ended(ended) => Some(ended.at.wall),
        Phase::Active(_) | Phase::Waiting(_) => {
            let span = Some(claim.ttl.span()).filter(|span| *span != Span::FOREVER);
            span.map(|span| WallTime(start.0.saturating_add(span.as_micros() / 1_000)))
        }
    };
    let provisioning = if claim.status() == Status::Active { "Ready" } else { "Teardown" };
    node.set("Name", name)
        .set("Owner", owner)
        .set("StartTime", moment(start))
        .set("EndTime", end.map_or_else(String::new, moment))
        .set("Status", status)
        .set("ProvisioningStatus", provisioning)
        .set("DomainName", "Global")
}

/// The client's own format, in the time zone that it names unless told otherwise.
fn moment(time: WallTime) -> String {
    let millis = i64::try_from(time.0).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX);
    time.strftime("%m/%d/%Y %H:%M").to_string()
}

/// Whoever knows the id of a reservation may end it, as in the original.
fn key_of(id: &Id) -> KeyHash {
    let whole = blake3::derive_key("tenure cloudshell reservation", id.as_str().as_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&whole[..16]);
    KeyHash(key)
}
