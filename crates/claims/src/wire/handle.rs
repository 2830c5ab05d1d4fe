//! How a claim is named in an address: `<id>` to look at it, `<id>.<key>` to own it.

use crate::identity::ClaimId;

/// The shortest key: 128 bits in base64url.
pub const KEY_CHARS_MIN: usize = 22;
/// The longest key.
pub const KEY_CHARS_MAX: usize = 128;

/// Whether this can be a key: letters, digits, `-` and `_`, so that it needs no quoting anywhere.
pub fn is_key(text: &str) -> bool {
    (KEY_CHARS_MIN..=KEY_CHARS_MAX).contains(&text.len())
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_'))
}

/// A claim as an address names it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Handle<'a> {
    /// Which claim.
    pub claim: ClaimId,
    /// The key, if the address has one.
    pub key: Option<&'a str>,
}

impl<'a> Handle<'a> {
    /// Reads one piece of a path. Leading zeros are accepted, as ever.
    ///
    /// ```
    /// use claims::{ClaimId, wire::Handle};
    /// assert_eq!(Handle::parse("0007").unwrap().claim, ClaimId(7));
    /// assert_eq!(Handle::parse("7.secret").unwrap().key, Some("secret"));
    /// assert!(Handle::parse("-7").is_none());
    /// ```
    pub fn parse(piece: &'a str) -> Option<Self> {
        let (id, key) = match piece.split_once('.') {
            Some((id, key)) => (id, Some(key)),
            None => (piece, None),
        };
        if id.is_empty() || !id.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
        // A number beyond all ids is an id nobody has, not a mistake.
        Some(Self { claim: ClaimId(id.parse().unwrap_or(u64::MAX)), key })
    }

    /// Reads the last piece of an address such as a `Location`, or the piece alone.
    pub fn of_address(address: &'a str) -> Option<Self> {
        Self::parse(address.trim_end_matches('/').rsplit('/').next()?)
    }
}

impl core::fmt::Debug for Handle<'_> {
    /// Without the key: this may be logged.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Handle({})", self.claim)
    }
}
