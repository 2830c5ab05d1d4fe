//! Where claims are kept: an address, read once.

use std::fmt;

use hyper::Uri;

/// Why a place cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// It is not an address.
    #[error("{url:?} is not an address: give one such as http://127.0.0.1:7117")]
    NotAnAddress {
        /// What was given.
        url: String,
    },
    /// Nothing here speaks that.
    #[error(
        "{url:?} begins with {scheme:?}, which this version cannot use: give the address of a lock \
         server, http://… or https://…"
    )]
    Scheme {
        /// What was given.
        url: String,
        /// Its beginning.
        scheme: String,
    },
    /// The store cannot be used.
    #[error("{0}")]
    Store(String),
    /// The version of the protocol is not known.
    #[error("API version {version:?} is not known: this client speaks \"v1\"")]
    Version {
        /// What was given.
        version: String,
    },
    /// A default is out of bounds.
    #[error(transparent)]
    Terms(#[from] claims::Refusal),
    /// The token cannot be sent.
    #[error("the token has characters that cannot be sent: check that it is the token alone")]
    Token,
    /// The system trusts nobody, so nobody can be recognised.
    #[error(
        "no certificate authorities are known ({0}): install ca-certificates, or point \
         SSL_CERT_FILE at them"
    )]
    NoAuthorities(String),
    /// The certificate authorities that were named cannot be used.
    #[error("cannot trust the certificate authorities in {} ({why}): give a PEM file", file.display())]
    Authority {
        /// The file.
        file: std::path::PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The system gives no thread or no sockets.
    #[error("cannot start: {0}")]
    System(String),
}

/// Where claims are kept: a lock server, or a store that needs none.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// Scheme, host and what its paths begin with, without a slash at the end. Of a store, its address as
    /// it may be shown.
    base: String,
    /// The whole address of a store.
    store: Option<String>,
}

impl Place {
    /// Reads an address such as `http://127.0.0.1:7117` or `https://locks.example/tenure/`, or that of a
    /// store, such as `sqlite:/var/lib/jobs/claims.db` or `postgres://jobs@db/jobs`.
    pub fn parse(url: &str) -> Result<Self, ConnectError> {
        if is_kept_elsewhere(url) {
            return Ok(Self { base: without_password(url), store: Some(url.to_owned()) });
        }
        let shown = without_password(url);
        let not_an_address = || ConnectError::NotAnAddress { url: shown.clone() };
        let (scheme, _) = url.split_once(':').ok_or_else(not_an_address)?;
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => {}
            _ => {
                let scheme = format!("{scheme}:");
                return Err(ConnectError::Scheme { url: shown, scheme });
            }
        }
        let uri: Uri = url.parse().map_err(|_| not_an_address())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(not_an_address());
        };
        if authority.host().is_empty() || uri.query().is_some() {
            return Err(not_an_address());
        }
        let path = uri.path().trim_end_matches('/');
        Ok(Self { base: format!("{scheme}://{authority}{path}"), store: None })
    }

    /// The whole address, to hand it on: unlike what is shown, it may have a password in it.
    pub fn url(&self) -> &str {
        self.store.as_deref().unwrap_or(&self.base)
    }

    /// The address of the store, if it is one.
    #[cfg(feature = "store")]
    pub(crate) fn store(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// Whether what is said is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.base.starts_with("https:")
    }

    /// An address at this place.
    pub(crate) fn uri(&self, path: &str) -> Uri {
        let uri = format!("{}{path}", self.base).parse();
        uri.expect("an address with a plain path behind it is an address")
    }
}

/// Whether there is no lock server behind the address: a store of ours, or one that was not made for locking.
fn is_kept_elsewhere(url: &str) -> bool {
    #[cfg(feature = "store")]
    if registry::place::knows(url) {
        return true;
    }
    #[cfg(feature = "makeshift")]
    if makeshift::Makeshift::knows(url) {
        return true;
    }
    let _ = url;
    false
}

/// An address as it may be shown: `postgres://user:***@host/database`.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    match authority.rsplit_once('@').map(|(user, host)| (user.split_once(':'), host)) {
        Some((Some((user, _)), host)) => format!("{scheme}://{user}:***@{host}{path}"),
        Some((None, _)) | None => url.to_owned(),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.base))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::{ConnectError, Place};

    #[test]
    fn addresses_are_read_with_and_without_a_slash_at_the_end() {
        for url in ["http://127.0.0.1:7117", "http://127.0.0.1:7117/", "HTTP://127.0.0.1:7117//"] {
            let place = Place::parse(url).unwrap();
            assert_eq!(place.uri("/v1/claims/"), "http://127.0.0.1:7117/v1/claims/");
        }
        let place = Place::parse("https://locks.example/a/").unwrap();
        assert_eq!(place.uri("/v1/x"), "https://locks.example/a/v1/x");
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn passwords_of_databases_are_not_shown() {
        let url = "postgres://jobs:se:cr@t@db:5432/jobs?sslmode=require";
        let place = Place::parse(url).unwrap();
        assert_eq!(place.to_string(), "postgres://jobs:***@db:5432/jobs?sslmode=require");
        assert!(!format!("{place:?}").contains("cr@t"));
        assert_eq!(place.url(), url);
        assert_eq!(
            Place::parse("postgres://jobs@db/jobs").unwrap().to_string(),
            "postgres://jobs@db/jobs"
        );
    }

    #[test]
    fn passwords_of_servers_are_not_shown() {
        let place = Place::parse("https://ci:secret@locks.example/a/").unwrap();
        assert_eq!(place.to_string(), "https://ci:***@locks.example/a");
        assert_eq!(place.uri("/v1/x"), "https://ci:secret@locks.example/a/v1/x");
        for url in ["http://ci:secret@h/?q=1", "redis://ci:secret@h/", "http://ci:secret@/"] {
            let error = Place::parse(url).unwrap_err().to_string();
            assert!(error.contains("ci:***@") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_named_with_what_can() {
        let error = Place::parse("redis://db/locks").unwrap_err();
        assert!(matches!(&error, ConnectError::Scheme { scheme, .. } if scheme == "redis:"));
        let text = error.to_string();
        assert!(text.contains("http://") && text.contains("https://"), "{text}");
        for url in ["", "127.0.0.1", "http://", "http:///x", "http://a b/", "http://h/?q=1"] {
            let error = Place::parse(url).unwrap_err();
            assert!(matches!(error, ConnectError::NotAnAddress { .. }), "{url}: {error}");
        }
    }
}
