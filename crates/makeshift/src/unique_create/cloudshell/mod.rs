//! Names as services in a CloudShell reservation: whoever adds a service under an alias has it.
//!
//! Any service will do; the one for this has an attribute for its owner. There are no ages here, so
//! nobody can tell a dead holder from a slow one.

mod client;
mod xml;

pub use self::client::Login;

use async_trait::async_trait;

use self::client::Client;
use self::xml::Element;
use super::{Creation, Names, Sign, Tag};
use crate::Fault;

const ADD: &str = "AddServiceToReservation";
const SERVICE: &str = "Mutex Service";
const OWNER: &str = "Mutex Owner";
/// Between the owner and its attempt in the one attribute there is.
const ATTEMPT: &str = " [attempt ";

/// Names as services in one reservation.
pub struct Reservation {
    client: Client,
    id: String,
}

impl Reservation {
    /// The reservation of that id. Nothing is sent yet.
    pub fn new(login: Login, id: impl Into<String>) -> Result<Self, Fault> {
        Ok(Self { client: Client::new(login)?, id: id.into() })
    }
}

#[async_trait]
impl Names for Reservation {
    async fn create(&self, name: &str, tag: &Tag) -> Result<Creation, Fault> {
        let value = format!("{}{ATTEMPT}{}]", tag.owner, tag.attempt);
        let owner = Element::new("AttributeNameValue")
            .with(Element::text("Name", OWNER))
            .with(Element::text("Value", &value));
        let call = Element::new(ADD)
            .with(Element::text("reservationId", &self.id))
            .with(Element::text("serviceName", SERVICE))
            .with(Element::text("alias", name))
            .with(Element::new("attributes").with(owner));
        match self.client.call(ADD, &call).await {
            Ok(_) => Ok(Creation::Created(sign(tag.clone()))),
            // One code says many things. Whether the name is taken, the reservation knows.
            Err(Fault::Refused { call: ADD, why, code }) => match self.read(name).await? {
                Some(sign) => Ok(Creation::Taken(Some(sign))),
                None if why.to_ascii_lowercase().contains("already exists") => {
                    Ok(Creation::Taken(None))
                }
                None => Err(Fault::Refused { call: ADD, why, code }),
            },
            Err(fault) => Err(fault),
        }
    }

    async fn read(&self, name: &str) -> Result<Option<Sign>, Fault> {
        let call = Element::new("GetReservationDetails")
            .with(Element::text("reservationId", &self.id))
            // The answer may be five seconds old otherwise.
            .with(Element::text("disableCache", "true"));
        let answer = self.client.call("GetReservationDetails", &call).await?;
        let services = answer.find("Services").map_or(&[][..], |services| &services.children);
        let named = |service: &&Element| {
            service.field("Alias").is_some_and(|alias| alias.eq_ignore_ascii_case(name))
        };
        Ok(services.iter().find(named).map(|service| sign(tag_of(service))))
    }

    async fn remove(&self, name: &str, seen: &Sign) -> Result<bool, Fault> {
        let mine = self.read(name).await?.is_some_and(|sign| sign.tag == seen.tag);
        if !mine {
            return Ok(false);
        }
        let call = Element::new("RemoveServicesFromReservation")
            .with(Element::text("reservationId", &self.id))
            .with(Element::new("services").with(Element::text("string", name)));
        self.client.call("RemoveServicesFromReservation", &call).await?;
        Ok(true)
    }

    fn has_leases(&self) -> bool {
        false
    }
}

fn sign(tag: Tag) -> Sign {
    Sign { version: tag.attempt.clone(), tag, fence: None }
}

/// Whose it is. Others write nothing, or their owner alone.
fn tag_of(service: &Element) -> Tag {
    let attributes = service.find("Attributes").map_or(&[][..], |all| &all.children);
    let value = attributes
        .iter()
        .find(|attribute| attribute.field("Name") == Some(OWNER))
        .and_then(|attribute| attribute.field("Value"))
        .unwrap_or("");
    let (owner, attempt) = value
        .rsplit_once(ATTEMPT)
        .and_then(|(owner, rest)| Some((owner, rest.strip_suffix(']')?)))
        .unwrap_or((value, ""));
    let owner = if owner.is_empty() { "somebody who left no name" } else { owner };
    Tag { owner: owner.into(), attempt: attempt.into(), ttl_ms: None, beat: 0 }
}
