//! Services: added once under each alias, and removed by whoever added them.

use std::sync::Arc;
use std::time::Duration;

use claims::{
    Claim, Command, Data, Farewell, KeyHash, Limit, Name, Owner, Phase, Registration, Resources,
    Status, Timestamp, Ttl,
};
use serde::{Deserialize, Serialize};

use super::answer::Told;
use super::attributes;
use super::call::{Attributes, Call};
use super::guest::Guest;
use super::line::Line;
use super::names::Id;
use super::refusal::No;
use super::resend::Verdict;
use super::reservation::find;

/// A client that sends again has given up its connection before: that is known by now, or soon.
const NEWS_WITHIN: Duration = Duration::from_secs(1);

/// What is kept of a service: what others may see of it, and how its session proves that it is its.
#[derive(Serialize, Deserialize)]
pub(super) struct Service {
    pub(super) service: String,
    pub(super) attributes: Attributes,
    pub(super) user: String,
    pub(super) machine: String,
    session: u64,
    /// Together with the secret of the session, which nobody keeps, this is the key of the claim.
    nonce: String,
}

impl Service {
    /// The service that a claim is, if it is one: others may claim such a resource, too.
    pub(super) fn of(claim: &Claim) -> Option<Self> {
        serde_json::from_str(claim.data()?.as_str()).ok()
    }

    /// Whether it was added by this session. Anybody can say so; only the session has the key.
    fn is_of(&self, guest: &Guest<'_>, claim: &Claim) -> bool {
        self.session == guest.session.0 && own_key(guest.key, &self.nonce) == claim.key
    }
}

/// What a call wants to add.
struct Wish<'a> {
    id: Id,
    alias: &'a str,
    name: Name,
    service: &'a str,
    attributes: Attributes,
}

pub(super) async fn add(guest: &Guest<'_>, call: &Call) -> Result<Told, No> {
    let (id, service) = (Id::of(call)?, call.needed("serviceName")?);
    // A service without an alias is called what it is.
    let alias = Some(call.text("alias")).filter(|alias| !alias.is_empty()).unwrap_or(service);
    let (name, attributes) = (id.service(alias)?, call.attributes("attributes")?);
    let wish = Wish { id, alias, name, service, attributes };
    if let Added::Unsure(line) = try_to_add(guest, &wish, Last::No).await? {
        let _ = tokio::time::timeout(NEWS_WITHIN, line.ended()).await;
        try_to_add(guest, &wish, Last::Yes).await?;
    }
    Ok(None)
}

enum Added {
    Yes,
    /// It depends on whether this connection has ended.
    Unsure(Arc<Line>),
}

/// Whether this is the last try.
#[derive(PartialEq)]
enum Last {
    No,
    Yes,
}

async fn try_to_add(guest: &Guest<'_>, wish: &Wish<'_>, last: Last) -> Result<Added, No> {
    let _one_at_a_time = guest.face.door(&wish.id).lock().await;
    let runs_until = find(guest, &wish.id).await?.runs_until()?;
    let report = guest.look(&wish.name).await?;
    let holder = report.holders.first().filter(|holder| guest.is_held(holder));
    if let Some(holder) = holder.filter(|holder| is_identical(guest, wish, holder)) {
        return judge(guest, holder, last);
    }
    guest.face.resends().another_call(guest.session, guest.now);
    // Nobody who waits in turn is passed by, wherever it waits.
    if holder.is_some() || report.waiting > 0 {
        return Err(No::alias_exists());
    }
    attributes::forget(guest, &wish.id, wish.alias).await?;
    register(guest, wish, runs_until).await?;
    Ok(Added::Yes)
}

/// Whether the session asks for exactly what it has.
fn is_identical(guest: &Guest<'_>, wish: &Wish<'_>, holder: &Claim) -> bool {
    Service::of(holder).is_some_and(|held| {
        held.is_of(guest, holder)
            && held.service == wish.service
            && held.attributes == wish.attributes
    })
}

/// Whether an add is the one that the holder was made by, sent again.
fn judge(guest: &Guest<'_>, holder: &Claim, last: Last) -> Result<Added, No> {
    let mut resends = guest.face.resends();
    match resends.judge(holder, guest.session, guest.now, guest.over) {
        Verdict::Same => {
            resends.answered(holder.key.0, guest.session, guest.now, guest.over);
            Ok(Added::Yes)
        }
        Verdict::SameIfEnded(line) if last == Last::No => Ok(Added::Unsure(line)),
        Verdict::SameIfEnded(_) | Verdict::Other => {
            resends.refused(holder.key.0);
            Err(No::alias_exists())
        }
    }
}

async fn register(guest: &Guest<'_>, wish: &Wish<'_>, runs_until: Timestamp) -> Result<(), No> {
    let hold = guest.face.config.longest_hold(wish.alias);
    let left = runs_until.since(guest.now);
    let nonce = guest.face.server.keys.new_key();
    let key = own_key(guest.key, &nonce);
    let service = Service {
        service: wish.service.into(),
        attributes: wish.attributes.clone(),
        user: guest.user.to_string(),
        machine: guest.machine.into(),
        session: guest.session.0,
        nonce,
    };
    let data = serde_json::to_string(&service).expect("texts are JSON");
    let registration = Registration {
        key,
        resources: Resources::one(wish.name.clone()),
        limit: Limit::EXCLUSIVE,
        // Nobody renews it: this is the longest that it may be there.
        ttl: if runs_until == Timestamp::NEVER { hold } else { hold.min(Ttl::new(left)?) },
        data: Some(Data::new(&data)?),
    };
    guest.face.resends().begin(key.0, guest.now);
    let standing = guest.submit(Command::Register(registration)).await??;
    if matches!(standing.claim.phase, Phase::Active(_)) {
        guest.face.resends().answered(key.0, guest.session, standing.now, guest.over);
        return Ok(());
    }
    // Somebody came first who does not come through this door.
    let owner = Owner { claim: standing.claim.id, key };
    let _ = guest.submit(Command::End(owner, Farewell::Withdraw)).await?;
    Err(No::alias_exists())
}

/// Removes services. All are tried; what cannot be removed is told.
pub(super) async fn remove(guest: &Guest<'_>, call: &Call) -> Result<Told, No> {
    let id = Id::of(call)?;
    let _one_at_a_time = guest.face.door(&id).lock().await;
    find(guest, &id).await?;
    let mut trouble = Ok(None);
    for alias in call.list("services") {
        if let Err(no) = remove_one(guest, &id, alias).await {
            trouble = trouble.and(Err(no));
        }
    }
    trouble
}

async fn remove_one(guest: &Guest<'_>, id: &Id, alias: &str) -> Result<(), No> {
    let name = id.service(alias)?;
    let holder = guest.look(&name).await?.holders.into_iter().next();
    let own = |claim: &Claim| Service::of(claim).is_some_and(|it| it.is_of(guest, claim));
    match &holder {
        Some(claim) if own(claim) => {
            let owner = Owner { claim: claim.id, key: claim.key };
            guest.submit(Command::End(owner, Farewell::Release)).await??;
        }
        Some(claim) if guest.face.config.anybody_removes => {
            guest.submit(Command::Revoke(claim.id)).await??;
        }
        _ => return not_there(alias, holder, guest.last_ended(&name, own).await?),
    }
    // It is removed, whatever becomes of these: they say which service they are about.
    let _ = attributes::forget(guest, id, alias).await;
    Ok(())
}

/// The session has no service under this alias. If it removed one, it may say so again; if it lost
/// one, it should know; and what somebody else has added is not its to remove.
fn not_there(alias: &str, holder: Option<Claim>, own: Option<Claim>) -> Result<(), No> {
    let lost = |how| {
        Err(No::because(format!(
            "Service {alias:?} of this session {how}: others may have been let in since"
        )))
    };
    match (own.map(|own| own.status()), holder) {
        (Some(Status::Released), _) | (None, None) => Ok(()),
        (Some(Status::Expired), _) => lost("was removed after its longest hold"),
        (Some(_), _) => lost("was taken away"),
        (None, Some(claim)) => {
            let who = Service::of(&claim).map_or("by another program".into(), |service| {
                format!("by {} at {}", service.user, service.machine)
            });
            Err(No::because(format!(
                "Service {alias:?} was added {who} and is not this session's to remove: \
                 `tenure revoke {}` takes it away",
                claim.id
            )))
        }
    }
}

/// The key of a service: only who has the secret of the session that added it can make it.
fn own_key(secret: &str, nonce: &str) -> KeyHash {
    let mut hasher = blake3::Hasher::new_derive_key("tenure cloudshell service");
    hasher.update(secret.as_bytes()).update(nonce.as_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    KeyHash(key)
}
