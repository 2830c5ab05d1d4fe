//! Who asks: anybody, while tokens are off; somebody with a token; or the administrator.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use claims::wire::Problem;
use claims::{Grants, Name, Verb, WallTime};
use hyper::header::HeaderMap;

use super::credentials::Credentials;
use super::token::{ADMINISTRATOR, Token, id_of};
use super::tokens::NoToken;
use crate::config::Config;

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// Tokens are off: whoever reaches the port may read and claim.
    Anybody,
    Administrator,
    Token(Arc<Token>),
    /// Somebody who is logged on to a face, and can ask for no more than that offers.
    User(Arc<str>),
}

impl Caller {
    /// Whether the caller may do this to all of these.
    pub(crate) fn may(&self, verb: Verb, resources: &[Name]) -> bool {
        match self.grants() {
            Some(grants) => grants.allow(verb, resources),
            None => self.may_everything(verb),
        }
    }

    /// Whether the caller may do this to whatever there is.
    pub(crate) fn may_everything(&self, verb: Verb) -> bool {
        match self {
            Self::Anybody | Self::User(_) => verb != Verb::Revoke,
            Self::Administrator => true,
            Self::Token(token) => token.grants.allow_everything(verb),
        }
    }

    /// Whether there can be something that the caller may do this to.
    pub(crate) fn may_something(&self, verb: Verb) -> bool {
        match self.grants() {
            Some(grants) => grants.allow_something(verb),
            None => self.may_everything(verb),
        }
    }

    /// What bounds the caller, if not everything may be read.
    pub(crate) fn reads_only(&self) -> Option<Arc<Grants>> {
        match self {
            Self::Token(token) if !self.may_everything(Verb::Read) => Some(token.grants.clone()),
            Self::Anybody | Self::Administrator | Self::Token(_) | Self::User(_) => None,
        }
    }

    /// What the audit log calls the caller.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Anybody => None,
            Self::Administrator => Some(ADMINISTRATOR),
            Self::Token(token) => Some(&token.name),
            Self::User(name) => Some(name),
        }
    }

    /// Whether the caller is still let in: for answers that go on for long.
    pub(crate) fn is_welcome(&self, config: &Config) -> bool {
        match (self, &config.tokens) {
            (Self::Token(token), Some(tokens)) => tokens.has(token, now()),
            (Self::Anybody | Self::Administrator | Self::Token(_) | Self::User(_), _) => true,
        }
    }

    fn grants(&self) -> Option<&Grants> {
        match self {
            Self::Token(token) => Some(&token.grants),
            Self::Anybody | Self::Administrator | Self::User(_) => None,
        }
    }
}

/// Finds out who asks. While tokens are off that is not even looked for.
///
/// Whoever came with a password also gets it back, as it is written in an address. `session` is a
/// token that came another way; the header counts more.
pub(crate) fn authenticate(
    config: &Config,
    headers: &HeaderMap,
    session: Option<&str>,
) -> Result<(Caller, Option<String>), Problem> {
    let Some(tokens) = &config.tokens else { return Ok((Caller::Anybody, None)) };
    let credentials = match (Credentials::of(headers), session) {
        (Credentials::Nothing, Some(session)) => Credentials::Bearer(session),
        (credentials, _) => credentials,
    };
    let Some(text) = credentials.token() else {
        return Err(Problem::new(
            401,
            "A token is needed",
            "send Authorization: Bearer TOKEN; `tenure token create` on the server makes one",
        ));
    };
    // What looks like a token is not hashed twice.
    if id_of(text).is_none() && config.admin.as_ref().is_some_and(|admin| admin.is(text)) {
        return Ok((Caller::Administrator, credentials.in_address()));
    }
    let found = tokens.find(text, now());
    let found = found.map(|token| (Caller::Token(token), credentials.in_address()));
    found.map_err(|why| match why {
        NoToken::Unknown => Problem::new(
            401,
            "Not a token",
            "there is no such token, or it was taken back: see `tenure token list` on the server",
        ),
        NoToken::Expired { name } => Problem::new(
            401,
            "The token has expired",
            format!("the token {name} has expired: `tenure token rotate {name}` makes another"),
        ),
    })
}

/// The time of day. Only tokens and certificates end by it; leases never do.
pub(crate) fn now() -> WallTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    WallTime(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
