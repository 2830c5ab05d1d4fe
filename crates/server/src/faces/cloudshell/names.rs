//! What reservations, services and attributes are called in the store.

use claims::{Name, Refusal};

use super::call::Call;
use super::refusal::No;

/// The id of a reservation: a GUID, in lower case, the same one however it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Id(String);

impl Id {
    /// A new one.
    pub(super) fn random() -> Self {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).expect("the system gives random numbers");
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut text = String::with_capacity(36);
        for (nth, byte) in bytes.iter().enumerate() {
            if matches!(nth, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            text += &format!("{byte:02x}");
        }
        Self(text)
    }

    /// The one that a call is about.
    pub(super) fn of(call: &Call) -> Result<Self, No> {
        let said = call.needed("reservationId")?.trim();
        let is_guid = said.len() == 36
            && said.bytes().enumerate().all(|(nth, c)| match nth {
                8 | 13 | 18 | 23 => c == b'-',
                _ => c.is_ascii_hexdigit(),
            });
        match is_guid {
            true => Ok(Self(said.to_ascii_lowercase())),
            false => Err(No::because(format!("{said:?} is not the id of a reservation"))),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The reservation itself.
    pub(super) fn name(&self) -> Name {
        Name::new(&format!("reservation/{}", self.0)).expect("a GUID is short and plain")
    }

    /// What all services of the reservation begin with.
    pub(super) fn services(&self) -> Name {
        Name::new(&format!("reservation/{}/", self.0)).expect("a GUID is short and plain")
    }

    /// What all attributes of its services begin with.
    pub(super) fn all_attributes(&self) -> Name {
        Name::new(&format!("attributes/{}/", self.0)).expect("a GUID is short and plain")
    }

    /// A service.
    pub(super) fn service(&self, alias: &str) -> Result<Name, Refusal> {
        Name::new(&format!("{}{alias}", self.services()))
    }

    /// The attributes that a service was given later.
    pub(super) fn attributes(&self, alias: &str) -> Result<Name, Refusal> {
        Name::new(&format!("{}{alias}", self.all_attributes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Result<Id, No> {
        let body = format!("<m><reservationId>{text}</reservationId></m>");
        Id::of(&Call::read("m", body.as_bytes()).expect("a call"))
    }

    #[test]
    fn ids_are_guids_and_the_same_however_they_are_written() {
        let (new, other) = (Id::random(), Id::random());
        assert_ne!(new, other);
        assert_eq!(id(new.as_str()), Ok(new.clone()));
        assert_eq!(id(&new.as_str().to_uppercase()), Ok(new.clone()));
        assert_eq!(&new.as_str()[14..15], "4");
        for wrong in ["", "7", "../../../../../../../../../../../../", "reservation/x"] {
            assert!(id(wrong).is_err(), "{wrong}");
        }
        let name = new.service("a/b").expect("a name");
        assert!(name.as_str().starts_with(new.services().as_str()));
        assert!(new.service("a\nb").is_err());
    }
}
