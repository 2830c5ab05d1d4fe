//! Sessions: a claim on `session/<user>` for each, side by side. Its handle is the token.

use claims::wire::Problem;
use claims::{
    Claim, Command, Data, Farewell, Limit, Name, Owner, Phase, Registration, Resources, Span,
    Timestamp, Ttl,
};
use serde::{Deserialize, Serialize};

use super::answer::{Node, Told};
use super::call::Call;
use super::guest::Guest;
use super::refusal::No;
use super::{Face, Visit};
use crate::access::Caller;
use crate::keys::hash_of;

/// A session ends when it was not used for so long. Clients log on again by themselves.
const IDLE: Span = Span::from_secs(24 * 3_600);

/// What is kept of a session.
#[derive(Serialize, Deserialize)]
pub(super) struct Session {
    pub(super) user: String,
    domain: String,
    machine: String,
    /// Which password it was opened with, if one was needed: it ends with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    password: Option<String>,
}

pub(super) async fn logon(face: &Face, visit: &Visit, call: &Call) -> Result<Told, No> {
    let (user, password) = (call.needed("username")?, call.text("password"));
    let password = check(face, visit, user, password).await?;
    open(face, visit, user, call.text("domainName"), password).await
}

/// A session of its own for somebody who shows the token of another one.
pub(super) async fn secure_logon(face: &Face, visit: &Visit, call: &Call) -> Result<Told, No> {
    let guest = Guest::admit(face, visit, call.needed("token")?).await.map_err(|no| match no {
        no if no == No::not_logged_on() => No::because("Login failed: the token is not known"),
        no => no,
    })?;
    let password = face.config.user(&guest.user).map(|user| user.mark());
    open(face, visit, &guest.user, call.text("domainName"), password).await
}

pub(super) async fn logoff(guest: &Guest<'_>) -> Result<Told, No> {
    let owner = Owner { claim: guest.session, key: hash_of(guest.key) };
    guest.submit(Command::End(owner, Farewell::Release)).await??;
    Ok(None)
}

/// The session that a claim is, if it is one that is still good.
pub(super) fn of(face: &Face, claim: &Claim) -> Option<Session> {
    let [name] = claim.resources.as_slice() else { return None };
    let session: Session = serde_json::from_str(claim.data()?.as_str()).ok()?;
    let is_live = matches!(&claim.phase, Phase::Active(_));
    let is_one = name.as_str().strip_prefix("session/") == Some(session.user.as_str());
    let password = face.config.user(&session.user).map(|user| user.mark());
    let is_welcome = face.config.users.is_empty() || password.is_some();
    (is_live && is_one && is_welcome && password == session.password).then_some(session)
}

/// Whether a session should be renewed: not at each call, because that is written down.
pub(super) fn is_ageing(claim: &Claim, now: Timestamp) -> bool {
    match &claim.phase {
        Phase::Active(active) => {
            active.deadline.since(now) < Span::from_micros(IDLE.as_micros() / 2)
        }
        Phase::Waiting(_) | Phase::Ended(_) => false,
    }
}

/// The mark of the right password, if passwords are needed at all.
async fn check(
    face: &Face,
    visit: &Visit,
    name: &str,
    password: &str,
) -> Result<Option<String>, No> {
    let Some(any) = face.config.users.first() else { return Ok(None) };
    // Somebody who is not there takes as long as a wrong password.
    let user = face.config.user(name);
    let (asked, password) = (user.unwrap_or(any).clone(), password.to_owned());
    let _turn = face.logons.acquire().await.expect("it is never closed");
    let right = tokio::task::spawn_blocking(move || asked.has_password(&password));
    match (user, right.await.unwrap_or(false)) {
        (Some(user), true) => Ok(Some(user.mark())),
        _ => {
            face.denied(visit.origin, None, &Problem::new(401, "Wrong user or password", ""));
            Err(No::wrong_password())
        }
    }
}

async fn open(
    face: &Face,
    visit: &Visit,
    user: &str,
    domain: &str,
    password: Option<String>,
) -> Result<Told, No> {
    let key = face.server.keys.new_key();
    let machine = visit.machine.clone();
    let session = Session { user: user.into(), domain: domain.into(), machine, password };
    let data = serde_json::to_string(&session).expect("texts are JSON");
    let registration = Registration {
        key: hash_of(&key),
        resources: Resources::one(Name::new(&format!("session/{user}"))?),
        limit: Limit::SHARED,
        ttl: Ttl::new(IDLE).expect("a day is not too long"),
        data: Some(Data::new(&data)?),
    };
    let owner = registration.key;
    let caller = Caller::User(user.into());
    let register = Command::Register(registration);
    let standing = face.submit(&caller, visit.origin, register).await??;
    let claim = standing.claim.id;
    if !matches!(standing.claim.phase, Phase::Active(_)) {
        // Somebody keeps all sessions of this user out, by a claim of their own.
        let end = Command::End(Owner { claim, key: owner }, Farewell::Withdraw);
        let _ = face.submit(&caller, visit.origin, end).await?;
        return Err(No::because(format!(
            "session/{user} is held by somebody else: see tenure why"
        )));
    }
    let token = format!("{claim}.{key}");
    Ok(Some((
        "LogonResponseInfo",
        vec![
            Node::new("Domain").set("Name", if domain.is_empty() { "Global" } else { domain }),
            Node::new("User").set("Name", user).set("IsAdmin", "true").set("IsActive", "true"),
            Node::new("Token").set("Token", token),
        ],
    )))
}
