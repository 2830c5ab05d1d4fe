//! Who may do what to which resources: verbs, granted on all names that begin with a prefix.
//!
//! What is not granted is denied. There is no grant that takes another one back, so the order of
//! grants means nothing, and adding one never makes anything impossible.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::terms::{NAME_BYTES_MAX, Name};

/// What can be done to a resource. Every route of every face needs one of these, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Verb {
    /// Look at claims, resources and events.
    Read,
    /// Register claims; activate, renew, release and look at those whose key one has.
    Claim,
    /// Take a claim away from its owner.
    Revoke,
}

impl Verb {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Read, Self::Claim, Self::Revoke];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Claim => "claim",
            Self::Revoke => "revoke",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Verbs on all resources whose name begins with a prefix.
///
/// ```
/// use claims::{Grant, Grants, Name, Verb};
/// let grants = Grants::from(vec![Grant::parse("read,claim:team-a/")?, Grant::parse("read:*")?]);
/// let (own, other) = (Name::new("team-a/db").unwrap(), Name::new("team-b/db").unwrap());
/// assert!(grants.allow(Verb::Claim, &[own.clone()]));
/// assert!(grants.allow(Verb::Read, &[own.clone(), other.clone()]));
/// assert!(!grants.allow(Verb::Claim, &[own, other]));
/// # Ok::<(), claims::BadGrant>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Grant {
    verbs: Vec<Verb>,
    /// Empty: every name.
    prefix: String,
}

/// Why a text is not a grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadGrant {
    /// Verbs and prefix are parted by a colon.
    #[error("{0:?} is not VERBS:PREFIX, such as read,claim:team-a/ or read:* for every name")]
    NoColon(String),
    /// There is no such verb.
    #[error("{0:?} is not a verb: there are read, claim and revoke, and all for the three of them")]
    NoSuchVerb(String),
    /// No name begins like this.
    #[error(
        "no name begins with {0:?}: it is empty (say * for every name), too long, or has control characters"
    )]
    NoSuchName(String),
}

impl Grant {
    /// Reads `VERBS:PREFIX`: verbs with commas between them, or `all`; a prefix, or `*` for every
    /// name.
    pub fn parse(text: &str) -> Result<Self, BadGrant> {
        let Some((names, prefix)) = text.split_once(':') else {
            return Err(BadGrant::NoColon(text.into()));
        };
        let mut verbs = Vec::new();
        for name in names.split(',').map(str::trim) {
            match Verb::ALL.iter().find(|verb| verb.as_str() == name) {
                Some(verb) => verbs.push(*verb),
                None if name == "all" => verbs.extend(Verb::ALL),
                None => return Err(BadGrant::NoSuchVerb(name.into())),
            }
        }
        verbs.sort_unstable();
        verbs.dedup();
        let prefix = match prefix {
            "*" => "",
            prefix if Name::new(prefix).is_ok() => prefix,
            prefix => return Err(BadGrant::NoSuchName(prefix.chars().take(64).collect())),
        };
        debug_assert!(prefix.len() <= NAME_BYTES_MAX);
        Ok(Self { verbs, prefix: prefix.into() })
    }

    fn allows(&self, verb: Verb, name: &str) -> bool {
        self.verbs.contains(&verb) && name.starts_with(&self.prefix)
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, verb) in self.verbs.iter().enumerate() {
            write!(f, "{}{verb}", if nth > 0 { "," } else { "" })?;
        }
        write!(f, ":{}", if self.prefix.is_empty() { "*" } else { &self.prefix })
    }
}

impl TryFrom<String> for Grant {
    type Error = BadGrant;
    fn try_from(text: String) -> Result<Self, BadGrant> {
        Self::parse(&text)
    }
}

impl From<Grant> for String {
    fn from(grant: Grant) -> Self {
        grant.to_string()
    }
}

/// All that somebody was granted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Grants(Vec<Grant>);

impl Grants {
    /// Whether `verb` is granted on every one of these resources, be it by different grants. Of
    /// nothing at all it is not: whoever asks about nothing has made a mistake.
    pub fn allow(&self, verb: Verb, resources: &[Name]) -> bool {
        let granted = |name: &Name| self.0.iter().any(|grant| grant.allows(verb, name.as_str()));
        !resources.is_empty() && resources.iter().all(granted)
    }

    /// Whether `verb` is granted on whatever there is.
    pub fn allow_everything(&self, verb: Verb) -> bool {
        self.0.iter().any(|grant| grant.prefix.is_empty() && grant.verbs.contains(&verb))
    }

    /// Whether there can be a resource on which `verb` is granted.
    pub fn allow_something(&self, verb: Verb) -> bool {
        self.0.iter().any(|grant| grant.verbs.contains(&verb))
    }

    /// The grants one by one.
    pub fn as_slice(&self) -> &[Grant] {
        &self.0
    }
}

impl From<Vec<Grant>> for Grants {
    fn from(grants: Vec<Grant>) -> Self {
        Self(grants)
    }
}
