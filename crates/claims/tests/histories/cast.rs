//! Who may take part in a history, and what each wants.

use claims::{KeyHash, Limit, Name, Registration, Resources, Span, Ttl};

/// How many claims take part, at most.
pub(crate) const CLAIMS: usize = 3;

/// Every lease. Short, so that time passes over it while the other figures stay the defaults.
pub(crate) const TTL: Span = Span::from_secs(10);

/// What a claim wants, and how many it lets in beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    names: &'static [&'static str],
    limit: Limit,
}

impl Part {
    /// Each shape with each limit.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let shapes: [&[&str]; 3] = [&["a"], &["b"], &["a", "b"]];
        let limits = [Limit::EXCLUSIVE, Limit::at_most(2).unwrap(), Limit::SHARED];
        let with = move |names| limits.map(|limit| Self { names, limit });
        shapes.into_iter().flat_map(with)
    }

    /// What the claim with this number registers.
    pub(crate) fn registration(self, claim: usize) -> Registration {
        let names: Vec<_> = self.names.iter().map(|name| Name::new(name).unwrap()).collect();
        Registration {
            key: key(claim),
            resources: Resources::try_from(names).unwrap(),
            limit: self.limit,
            ttl: Ttl::new(TTL).unwrap(),
            data: None,
        }
    }
}

pub(crate) fn key(claim: usize) -> KeyHash {
    KeyHash([claim as u8; 16])
}
