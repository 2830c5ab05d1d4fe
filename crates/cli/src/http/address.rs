//! Where a server is, as people write it.

use hyper::Uri;

use crate::exit::Exit;

/// The parts of an address such as `https://locks.example:7117`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) encrypted: bool,
    /// Without the brackets of IPv6.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Host and port as they stand in a request.
    pub(crate) authority: String,
    /// What every path begins with, without a slash at its end.
    pub(crate) base: String,
}

impl Address {
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        Self::read(text).ok_or_else(|| {
            let advice = "is not an address such as http://127.0.0.1:7117";
            Exit::Usage.because(format!("{text:?} {advice}: check --at or TENURE_URL"))
        })
    }

    fn read(text: &str) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        let encrypted = match uri.scheme_str()? {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let authority = uri.authority()?;
        let is_plain = !authority.as_str().contains('@') && uri.query().is_none();
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let port = match authority.as_str().len() > authority.host().len() {
            true => authority.port_u16()?,
            false if encrypted => 443,
            false => 80,
        };
        (is_plain && !host.is_empty()).then(|| Self {
            encrypted,
            host: host.to_owned(),
            port,
            authority: authority.as_str().to_owned(),
            base: uri.path().trim_end_matches('/').to_owned(),
        })
    }

    /// Whether it is on this very machine.
    pub(crate) fn is_local(&self) -> bool {
        let ip: Option<std::net::IpAddr> = self.host.parse().ok();
        self.host.eq_ignore_ascii_case("localhost") || ip.is_some_and(|ip| ip.is_loopback())
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.encrypted { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.base)
    }
}

/// A name as it goes into an address.
pub(crate) fn encode(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let read = |text: &str| {
            let address = Address::read(text)?;
            Some((address.encrypted, address.host, address.port, address.base))
        };
        let of = |encrypted, host: &str, port, base: &str| {
            Some((encrypted, host.to_owned(), port, base.to_owned()))
        };
        assert_eq!(read("http://127.0.0.1:7117"), of(false, "127.0.0.1", 7117, ""));
        assert_eq!(read("http://127.0.0.1:7117/"), of(false, "127.0.0.1", 7117, ""));
        assert_eq!(read("https://locks.example"), of(true, "locks.example", 443, ""));
        assert_eq!(read("http://[::1]:80/locks/"), of(false, "::1", 80, "/locks"));
        for wrong in ["", "127.0.0.1:7117", "ftp://a", "http://", "http://a:99999", "http://u:p@a"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
