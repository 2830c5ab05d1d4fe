//! Which etcd an address means, and how to get in.

use std::time::Duration;

use claims::Epoch;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};
use url::form_urlencoded;

use crate::error::StoreError;

/// The prefix of all keys, if none is said.
const PREFIX: &str = "tenure";
const PORT: u16 = 2379;
/// How many members an address may name: far more than any etcd has.
const MEMBERS_MAX: usize = 64;
/// How long one request may take. A new leader takes a second or two.
const TIMEOUT: Duration = Duration::from_secs(2);

/// An address that was understood.
pub(crate) struct Address {
    /// Hosts with their ports.
    pub(super) members: Vec<String>,
    /// Ends with a slash.
    pub(super) prefix: String,
    pub(super) login: Option<Login>,
    /// Nothing if it is not encrypted.
    pub(super) tls: Option<ClientTlsConfig>,
    pub(super) timeout: Duration,
    pub(super) epoch: Epoch,
    /// The address for people: without the password.
    pub(crate) shown: String,
}

/// Who asks.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(super) struct Login {
    pub(super) name: String,
    pub(super) password: String,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        let shown = without_password(url);
        let bad = |why: &str| StoreError::Unavailable(format!("{shown} cannot be opened: {why}"));
        let (rest, query) = url.split_once('?').unwrap_or((url, ""));
        let rest = rest.strip_prefix("etcd:").ok_or_else(|| bad("it must begin with etcd://"))?;
        let rest = rest.strip_prefix("//").ok_or_else(|| bad("it must begin with etcd://"))?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        let members: Vec<String> = hosts
            .split(',')
            .map(str::trim)
            .filter(|host| !host.is_empty())
            .map(with_port)
            .collect();
        if members.is_empty() {
            return Err(bad("name at least one member, such as etcd://host:2379/tenure"));
        }
        if members.len() > MEMBERS_MAX {
            return Err(bad(&format!("it names {} members, at most {MEMBERS_MAX}", members.len())));
        }
        let prefix = path.trim_matches('/');
        let prefix = if prefix.is_empty() { PREFIX.into() } else { decoded(prefix) };
        let parameters = Parameters::parse(query).map_err(|why| bad(&why))?;
        let tls = parameters.tls().map_err(|why| bad(&why))?;
        let Parameters { timeout, epoch, .. } = parameters;
        let (prefix, login) = (format!("{prefix}/"), login(user));
        Ok(Self { members, prefix, login, tls, timeout, epoch, shown })
    }
}

/// What follows the question mark.
struct Parameters {
    tls: bool,
    ca: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
    timeout: Duration,
    epoch: Epoch,
}

impl Parameters {
    fn parse(query: &str) -> Result<Self, String> {
        let (mut tls, mut ca, mut certificate, mut key) = (false, None, None, None);
        let (mut timeout, mut epoch) = (TIMEOUT, Epoch::default());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let wrong = || format!("{name}={value} cannot be used");
            match &*name {
                "tls" => tls = value.parse().map_err(|_| wrong())?,
                "ca" => ca = Some(value.into_owned()),
                "cert" => certificate = Some(value.into_owned()),
                "key" => key = Some(value.into_owned()),
                "timeout" => {
                    let seconds = value.parse::<f64>().ok().filter(|it| (0.05..=60.0).contains(it));
                    timeout = Duration::from_secs_f64(seconds.ok_or_else(wrong)?);
                }
                "epoch" => {
                    let known = value.parse().ok().and_then(Epoch::from_number);
                    epoch = known.ok_or_else(wrong)?;
                }
                _ => {
                    return Err(format!(
                        "{name} is not known: there are tls, ca, cert, key, timeout and epoch"
                    ));
                }
            }
        }
        Ok(Self { tls, ca, certificate, key, timeout, epoch })
    }

    fn tls(&self) -> Result<Option<ClientTlsConfig>, String> {
        let read = |path: &String| {
            std::fs::read(path).map_err(|error| format!("{path} cannot be read: {error}"))
        };
        let mut tls = match &self.ca {
            Some(ca) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(ca)?)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                tls = tls.identity(Identity::from_pem(read(certificate)?, read(key)?));
            }
            (None, None) => {}
            _ => return Err("cert and key belong together: say both".into()),
        }
        let wanted = self.tls || self.ca.is_some() || self.certificate.is_some();
        Ok(wanted.then_some(tls))
    }
}

fn login(user: Option<&str>) -> Option<Login> {
    match user {
        Some(user) => {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            Some(Login { name: decoded(name), password: decoded(password) })
        }
        None => {
            let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
            let name = variable("TENURE_ETCD_USER")?;
            Some(Login { name, password: variable("TENURE_ETCD_PASSWORD").unwrap_or_default() })
        }
    }
}

fn with_port(host: &str) -> String {
    let after_bracket = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    if after_bracket.contains(':') { host.into() } else { format!("{host}:{PORT}") }
}

/// Percent signs are decoded; a plus stays a plus.
fn decoded(text: &str) -> String {
    let pair = format!("x={}", text.replace('+', "%2B").replace('&', "%26"));
    form_urlencoded::parse(pair.as_bytes())
        .next()
        .map(|(_, it)| it.into_owned())
        .unwrap_or_default()
}

fn without_password(url: &str) -> String {
    let plain = url.split_once('?').map_or(url, |(plain, _)| plain);
    match (plain.split_once("//"), plain.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, hosts))) => format!("{scheme}//{hosts}"),
        _ => plain.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_an_address_is_understood() {
        let address = Address::parse("etcd://u:p%40ss+w@a,b:99,[::1]/x/y?timeout=0.5&epoch=3");
        let address = address.expect("an address");
        assert_eq!(address.members, ["a:2379", "b:99", "[::1]:2379"]);
        assert_eq!(address.prefix, "x/y/");
        assert_eq!(address.shown, "etcd://a,b:99,[::1]/x/y");
        assert_eq!(address.timeout, Duration::from_millis(500));
        assert_eq!(address.epoch.number(), 3);
        let login = Login { name: "u".into(), password: "p@ss+w".into() };
        assert_eq!(address.login, Some(login));
        assert_eq!(Address::parse("etcd://a").expect("an address").prefix, "tenure/");
    }

    #[test]
    fn address_with_thousands_of_members_is_refused() {
        let url = |count| format!("etcd://{}/x", vec!["a"; count].join(","));
        assert!(Address::parse(&url(MEMBERS_MAX)).is_ok());
        let error = Address::parse(&url(2_000)).map(drop).expect_err("too many").to_string();
        assert!(error.contains("2000 members"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (url, word) in [
            ("etcd:///x", "member"),
            ("http://a", "etcd://"),
            ("etcd://u:secret@a/x?tsl=true", "tsl"),
            ("etcd://u:secret@a/x?epoch=9999", "epoch"),
            ("etcd://u:secret@a/x?ca=/no/such/file", "/no/such/file"),
            ("etcd://u:secret@a/x?cert=/c", "both"),
        ] {
            let error = Address::parse(url).map(drop).expect_err("it is wrong").to_string();
            assert!(error.contains(word) && !error.contains("secret"), "{error}");
        }
    }
}
