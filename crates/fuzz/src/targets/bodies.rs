//! The body of a request, in JSON or as a form, to every route that reads one.

use crate::house::{Kind, visit};
use crate::source::Source;

const ROUTES: [(&str, &str); 12] = [
    ("POST", "/v1/claims/"),
    ("POST", "/v1/claims/?wait=1"),
    ("PATCH", "/v1/claims/1.key-of-claim-number-01/"),
    ("PATCH", "/v1/claims/2.key-of-claim-number-02/"),
    ("PATCH", "/v1/claims/1.key-of-claim-number-02/"),
    ("PATCH", "/v1/claims/1/"),
    ("POST", "/v1/renewals"),
    ("POST", "/ids/locks"),
    ("PATCH", "/ids/locks/1.key-of-claim-number-01"),
    ("POST", "/ids/operations"),
    ("POST", "/ids/work"),
    ("PATCH", "/ids/work/1.key-of-claim-number-01"),
];
const MEDIA: [&str; 3] =
    ["application/json", "application/x-www-form-urlencoded", "application/octet-stream"];

/// The first byte is the route, the second says what kind of body follows.
pub(crate) fn run(input: &[u8]) {
    let mut source = Source::new(input);
    let ((method, route), media) = (source.pick(&ROUTES), source.pick(&MEDIA));
    let body = source.rest();
    visit(Kind::Lived, async |house| {
        house.ask(method, route, &[("content-type", media.as_bytes())], body).await;
        if house.events().await != house.events {
            house.check().await;
        }
    });
}
