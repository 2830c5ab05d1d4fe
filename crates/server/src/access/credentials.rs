//! What a request shows: `Authorization: Bearer TOKEN`, or `Basic` with the token as the password,
//! which is what many clients make of an address such as `https://name:TOKEN@host/`.

use hyper::header::{AUTHORIZATION, HeaderMap};

/// Room for what is in a `Basic` header: a name, a colon and a token.
const BASIC_BYTES_MAX: usize = 192;

/// What a request shows to prove who asks.
pub(crate) enum Credentials<'a> {
    Nothing,
    /// Something that is neither `Bearer` nor `Basic`, or is broken.
    Unreadable,
    Bearer(&'a str),
    Basic(Basic),
}

impl<'a> Credentials<'a> {
    pub(crate) fn of(headers: &'a HeaderMap) -> Self {
        let Some(value) = headers.get(AUTHORIZATION) else { return Self::Nothing };
        let Some((scheme, rest)) = value.to_str().ok().and_then(|value| value.split_once(' '))
        else {
            return Self::Unreadable;
        };
        if scheme.eq_ignore_ascii_case("bearer") {
            Self::Bearer(rest.trim())
        } else if scheme.eq_ignore_ascii_case("basic") {
            Basic::decode(rest.trim()).map_or(Self::Unreadable, Self::Basic)
        } else {
            Self::Unreadable
        }
    }

    /// The token that is shown, if there is one.
    pub(crate) fn token(&self) -> Option<&str> {
        match self {
            Self::Nothing | Self::Unreadable => None,
            Self::Bearer(token) => Some(token),
            Self::Basic(basic) => Some(basic.password()),
        }
    }

    /// What an address has before its host if it is to show the same. The user is there for people
    /// only: one that would have to be escaped is left out.
    pub(crate) fn in_address(&self) -> Option<String> {
        let Self::Basic(basic) = self else { return None };
        let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
        let user = &basic.user_and_password()[..basic.colon];
        let user = if user.bytes().all(plain) { user } else { "" };
        Some(format!("{user}:{}", basic.password()))
    }
}

/// A user and a password, decoded without asking for memory.
pub(crate) struct Basic {
    bytes: [u8; BASIC_BYTES_MAX],
    len: usize,
    colon: usize,
}

impl Basic {
    fn decode(text: &str) -> Option<Self> {
        let mut basic = Self { bytes: [0; BASIC_BYTES_MAX], len: 0, colon: 0 };
        let (mut word, mut bits) = (0_u32, 0);
        for digit in text.trim_end_matches('=').bytes() {
            word = word << 6 | u32::from(sextet(digit)?);
            bits += 6;
            if bits >= 8 {
                bits -= 8;
                *basic.bytes.get_mut(basic.len)? = (word >> bits) as u8;
                basic.len += 1;
            }
        }
        let text = std::str::from_utf8(&basic.bytes[..basic.len]).ok()?;
        basic.colon = text.find(':')?;
        Some(basic)
    }

    fn user_and_password(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).expect("it was when it was decoded")
    }

    fn password(&self) -> &str {
        &self.user_and_password()[self.colon + 1..]
    }
}

fn sextet(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().unwrap());
        Credentials::of(&headers).token().map(str::to_owned)
    }

    #[test]
    fn tokens_are_found_in_both_kinds_of_header() {
        let long = format!("Basic {}", "QQ".repeat(1_000));
        let table = [
            ("Bearer abc", Some("abc")),
            ("bearer  abc ", Some("abc")),
            ("Basic Y2k6YWJj", Some("abc")),        // ci:abc
            ("Basic OmFiYzpkZQ==", Some("abc:de")), // :abc:de
            ("Basic Y2k=", None),                   // no colon
            ("Basic !!!!", None),
            ("Basic /////w==", None), // not UTF-8
            (long.as_str(), None),
            ("Negotiate abc", None),
            ("abc", None),
            ("", None),
        ];
        for (value, token) in table {
            assert_eq!(shown(value).as_deref(), token, "{value}");
        }
        assert!(Credentials::of(&HeaderMap::new()).token().is_none());
    }
}
