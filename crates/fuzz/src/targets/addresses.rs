//! Addresses of servers and stores: whatever is shown of them, it is not the password.

use std::fmt::Display;

use registry::fuzzing::{etcd_address, object_address};
use registry::place::{file_of, knows};

use crate::source::{Source, text_of};

const SCHEMES: [&str; 8] = ["http", "https", "postgres", "mysql", "etcd", "s3", "sqlite", "x"];
const SECRET: &str = "s3cr3t-p4ssw0rd";

/// Odd: an address as it is. Even: one that is put together, with a password in its place.
pub(crate) fn run(input: &[u8]) {
    let mut source = Source::new(input);
    if source.flag() {
        read(text_of(source.rest()), false);
        return;
    }
    let scheme = source.pick(&SCHEMES);
    let (user, host, path) = (source.text(), source.text(), source.text());
    // These end a user or a host: what follows would be something else.
    let plain = |text: String| text.replace(['/', '?', '#', '@', ':', '\\'], "");
    let (user, host) = (plain(user), plain(host));
    if [&user, &host, &path].iter().any(|part| part.contains(SECRET)) {
        return;
    }
    read(&format!("{scheme}://{user}:{SECRET}@{host}/{path}"), true);
}

fn read(url: &str, has_password: bool) {
    let hides = |shown: &dyn Display| {
        let shown = shown.to_string();
        assert!(!has_password || !shown.contains(SECRET), "{url:?} is shown as {shown:?}");
    };
    match tenure::Place::parse(url) {
        Ok(place) => {
            hides(&place);
            hides(&format_args!("{place:?}"));
            assert!(!place.url().is_empty());
        }
        Err(error) => hides(&error),
    }
    let is_known = knows(url);
    if url.starts_with("etcd:") {
        // These are files, which would be read.
        if !["ca", "cert", "key"].iter().any(|name| url.contains(name)) && !url.contains('%') {
            match etcd_address(url) {
                Ok(shown) => hides(&shown),
                Err(error) => hides(&error),
            }
        }
        assert!(is_known);
    }
    // What a bucket makes of the rest is not ours.
    if ["file:", "memory:"].iter().any(|scheme| url.starts_with(scheme)) {
        let _ = object_address(url);
    }
    if let Ok(path) = file_of(url) {
        assert!(!path.as_os_str().is_empty());
    }
}
