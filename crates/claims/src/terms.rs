//! What a claimant asks for, parsed once: a value of these types is within the bounds of rule 13.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::refusal::Refusal;
use crate::state::Slot;
use crate::time::Span;

/// The longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 1024;
/// The most resources one claim may cover.
pub const RESOURCES_MAX: usize = 16;
/// The most user data a claim may carry.
pub const DATA_BYTES_MAX: usize = 64 * 1024;
/// The longest finite lease: far beyond any job, near enough that sums of moments stay exact.
pub const TTL_MAX: Span = Span::from_secs(10_000_000_000);

/// The name of a resource: 1 to 1024 bytes of UTF-8 without control characters, kept verbatim.
///
/// ```
/// use claims::Name;
/// assert_eq!(Name::new("backup/ночь")?.as_str(), "backup/ночь");
/// assert_eq!(Name::new("").unwrap_err().code(), "name-empty");
/// # Ok::<(), claims::Refusal>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(
    /// Without weak references, which `alloc`'s own would pay for with every name.
    triomphe::Arc<str>,
);

impl Name {
    /// Parses a name.
    pub fn new(name: &str) -> Result<Self, Refusal> {
        if name.is_empty() {
            return Err(Refusal::NameEmpty);
        }
        if name.len() > NAME_BYTES_MAX {
            return Err(Refusal::NameTooLong { bytes: name.len() });
        }
        match name.char_indices().find(|(_, c)| c.is_control()) {
            Some((at, control)) => Err(Refusal::NameHasControl { at, control }),
            None => Ok(Self(name.into())),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parse;
        impl serde::de::Visitor<'_> for Parse {
            type Value = Name;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("the name of a resource")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Name, E> {
                Name::new(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Parse)
    }
}

impl core::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl core::fmt::Display for Name {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::fmt::Debug for Name {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(&*self.0, f)
    }
}

/// The resources of one claim: one to sixteen different names.
#[derive(Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<Name>", into = "Vec<Name>"))]
pub struct Resources(Repr);

/// Most claims are over one resource: those need no list of their own.
#[derive(Clone)]
enum Repr {
    One(Name),
    Several(triomphe::Arc<Several>),
}

/// The names of two or more resources. Behind one pointer, because every claim has room for it.
pub(crate) struct Several {
    names: Vec<Name>,
    /// Where they are, in the state that the claim is in. Nothing if it is in none.
    pub(crate) slots: Vec<Slot>,
}

impl Resources {
    /// A claim over one resource.
    pub fn one(name: Name) -> Self {
        Self(Repr::One(name))
    }

    /// The names, in the order given.
    pub fn as_slice(&self) -> &[Name] {
        match &self.0 {
            Repr::One(name) => core::slice::from_ref(name),
            Repr::Several(several) => &several.names,
        }
    }

    /// The same names, as a state shares them, and where they are in it.
    pub(crate) fn several(names: Vec<Name>, slots: Vec<Slot>) -> Self {
        Self(Repr::Several(triomphe::Arc::new(Several { names, slots })))
    }

    /// More than one name, with where they are.
    pub(crate) fn as_several(&self) -> Option<&triomphe::Arc<Several>> {
        match &self.0 {
            Repr::One(_) => None,
            Repr::Several(several) => Some(several),
        }
    }
}

impl Eq for Resources {}

impl PartialEq for Resources {
    /// The same names in the same order, wherever they are.
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl core::fmt::Debug for Resources {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self.as_slice(), f)
    }
}

impl TryFrom<Vec<Name>> for Resources {
    type Error = Refusal;
    fn try_from(mut names: Vec<Name>) -> Result<Self, Refusal> {
        if names.len() > RESOURCES_MAX {
            return Err(Refusal::TooManyResources { count: names.len() });
        }
        for (nth, name) in names.iter().enumerate() {
            if names[..nth].contains(name) {
                return Err(Refusal::ResourceTwice { resource: name.clone() });
            }
        }
        match names.len() {
            0 => Err(Refusal::NoResource),
            1 => Ok(Self::one(names.remove(0))),
            _ => Ok(Self::several(names, Vec::new())),
        }
    }
}

impl From<Resources> for Vec<Name> {
    fn from(resources: Resources) -> Self {
        resources.as_slice().to_vec()
    }
}

/// How many may hold together with this claim, itself included: rule 1.
///
/// Ordered by how much it allows, so that the smallest of several is the one that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Limit(NonZeroU32);

impl Limit {
    /// Alone.
    pub const EXCLUSIVE: Self = Self(NonZeroU32::MIN);
    /// With any number of others that allow it.
    pub const SHARED: Self = Self(NonZeroU32::MAX);

    /// At most `count` together.
    pub fn at_most(count: u32) -> Result<Self, Refusal> {
        NonZeroU32::new(count).map(Self).ok_or(Refusal::LimitZero)
    }

    /// The number; `None` if there is no limit.
    pub fn count(self) -> Option<u32> {
        (self != Self::SHARED).then_some(self.0.get())
    }

    /// Whether `holders` together, one of which has this limit, are legal.
    pub(crate) fn allows(self, holders: usize) -> bool {
        self == Self::SHARED || holders <= self.0.get() as usize
    }
}

/// How long a lease lasts without renewal.
///
/// ```
/// use claims::{Span, Ttl};
/// assert_eq!(Ttl::from_secs_f64(0.25)?.span(), Span::from_millis(250));
/// assert_eq!(Ttl::from_secs_f64(f64::NAN).unwrap_err().code(), "ttl-not-a-number");
/// assert_eq!(Ttl::from_secs_f64(-1.0).unwrap_err().code(), "ttl-negative");
/// # Ok::<(), claims::Refusal>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ttl(Span);

impl Ttl {
    /// Never expires. For faces whose protocol has no lease; HTTP v1 demands a number.
    pub const UNLIMITED: Self = Self(Span::FOREVER);

    /// A lease of this length.
    pub fn new(span: Span) -> Result<Self, Refusal> {
        if span > TTL_MAX {
            return Err(Refusal::TtlTooLong { max: TTL_MAX });
        }
        Ok(Self(span))
    }

    /// A lease of this many seconds, rounded down to whole microseconds.
    pub fn from_secs_f64(secs: f64) -> Result<Self, Refusal> {
        if secs.is_nan() {
            return Err(Refusal::TtlNotANumber);
        }
        if secs < 0.0 {
            return Err(Refusal::TtlNegative);
        }
        // Float to integer casts saturate, so infinity and 1e308 become "too long" and nothing else.
        Self::new(Span::from_micros((secs * 1e6) as u64))
    }

    /// Its length; [`Span::FOREVER`] if unlimited.
    pub fn span(self) -> Span {
        self.0
    }
}

/// What the claimant wants others to see: at most 64 KiB, not looked into.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Arc<str>"))]
pub struct Data(Arc<str>);

impl Data {
    /// Takes text, usually JSON.
    pub fn new(text: &str) -> Result<Self, Refusal> {
        Self::try_from(Arc::from(text))
    }

    /// The text as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<Arc<str>> for Data {
    type Error = Refusal;
    fn try_from(text: Arc<str>) -> Result<Self, Refusal> {
        if text.len() > DATA_BYTES_MAX {
            return Err(Refusal::DataTooLarge { bytes: text.len() });
        }
        Ok(Self(text))
    }
}

impl core::fmt::Debug for Data {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Data({} bytes)", self.0.len())
    }
}
