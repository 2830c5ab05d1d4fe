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

/// Where a lock server is.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// Scheme, host and what its paths begin with, without a slash at the end.
    base: String,
}

impl Place {
    /// Reads an address such as `http://127.0.0.1:7117` or `https://locks.example/tenure/`.
    pub fn parse(url: &str) -> Result<Self, ConnectError> {
        let not_an_address = || ConnectError::NotAnAddress { url: url.to_owned() };
        let (scheme, _) = url.split_once(':').ok_or_else(not_an_address)?;
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => {}
            _ => {
                let scheme = format!("{scheme}:");
                return Err(ConnectError::Scheme { url: url.to_owned(), scheme });
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
        Ok(Self { base: format!("{scheme}://{authority}{path}") })
    }

    /// A place that is no lock server: only to be shown.
    #[cfg(feature = "makeshift")]
    pub(crate) fn elsewhere(shown: &str) -> Self {
        Self { base: shown.to_owned() }
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

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({})", self.base)
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

    #[test]
    fn what_cannot_be_used_is_named_with_what_can() {
        let error = Place::parse("postgres://db/locks").unwrap_err();
        assert!(matches!(&error, ConnectError::Scheme { scheme, .. } if scheme == "postgres:"));
        let text = error.to_string();
        assert!(text.contains("http://") && text.contains("https://"), "{text}");
        for url in ["", "127.0.0.1", "http://", "http:///x", "http://a b/", "http://h/?q=1"] {
            let error = Place::parse(url).unwrap_err();
            assert!(matches!(error, ConnectError::NotAnAddress { .. }), "{url}: {error}");
        }
    }
}
