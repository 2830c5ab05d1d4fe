//! Who is let in at all: a page in a browser must not drive a local server, neither from another
//! origin nor under a name that it made point here.

use claims::wire::Problem;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use hyper::{Method, Uri};

use crate::config::Config;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What says who asks, and whom, is said once: of two, somebody on the way may have believed the
/// other one.
pub(crate) fn said_once(headers: &HeaderMap) -> Result<(), Problem> {
    for (header, name) in [(HOST, "Host"), (AUTHORIZATION, "Authorization")] {
        if headers.get_all(header).iter().nth(1).is_some() {
            let detail = format!("the request has more than one {name} header: send one");
            return Err(Problem::new(400, "Said twice", detail));
        }
    }
    Ok(())
}

/// The host the request is for, if it may be for it. None if it did not say.
pub(crate) fn host<'a>(
    config: &Config,
    uri: &'a Uri,
    headers: &'a HeaderMap,
) -> Result<Option<&'a str>, Problem> {
    let host = match (uri.authority(), headers.get(HOST)) {
        (Some(authority), _) => authority.as_str(),
        (None, Some(host)) => host.to_str().unwrap_or("?"),
        (None, None) => return Ok(None),
    };
    let name = without_port(host);
    let known = LOOPBACK.iter().any(|known| known.eq_ignore_ascii_case(name))
        || config.hosts.iter().any(|known| known.eq_ignore_ascii_case(name));
    match known {
        true => Ok(Some(host)),
        false => Err(Problem::new(
            421,
            "Not this host",
            format!("this server is not known as {name:?}: start it with --host {name:?}"),
        )),
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Writes never come from web pages.
pub(crate) fn origin(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    match headers.get(ORIGIN) {
        Some(_) if !reads => Err(Problem::new(
            403,
            "Not from a web page",
            "the request has an Origin: web pages may not change claims",
        )),
        _ => Ok(()),
    }
}

/// Whether the administrator asks. A wrong token is not the same as none.
pub(crate) fn is_admin(config: &Config, headers: &HeaderMap) -> Result<bool, Problem> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(false) };
    let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
    match (&config.admin, token) {
        (Some(admin), Some(token)) if admin.is(token.trim()) => Ok(true),
        _ => Err(Problem::new(
            401,
            "Not the administrator's token",
            "the token is in the server's data directory: admin-token",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_hosts_are_served() {
        let config = Config { hosts: vec!["locks.example".into()], ..Config::default() };
        let table = [
            ("127.0.0.1:7117", true),
            ("localhost", true),
            ("[::1]:80", true),
            ("locks.example:7117", true),
            ("LOCKS.example", true),
            ("evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("localhost:7117.evil.example", false),
            ("", false),
        ];
        for (name, known) in table {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, name.parse().unwrap());
            assert_eq!(host(&config, &Uri::from_static("/"), &headers).is_ok(), known, "{name}");
        }
    }
}
