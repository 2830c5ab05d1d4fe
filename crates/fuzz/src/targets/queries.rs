//! The query of a request: filters, pages, positions, and parameters that could be in the body.

use crate::house::{Kind, visit};
use crate::source::{Source, text_of};

const ROUTES: [(&str, &str); 9] = [
    ("GET", "/v1/claims/"),
    ("GET", "/v1/resources/"),
    ("GET", "/v1/resources/held/"),
    ("GET", "/v1/events"),
    ("GET", "/ids/getServiceStatus"),
    ("POST", "/v1/claims/"),
    ("PATCH", "/v1/claims/1.key-of-claim-number-01/"),
    ("PATCH", "/v1/claims/2.key-of-claim-number-02/"),
    ("POST", "/v1/renewals"),
];

/// The first byte is the route; the rest is the query.
pub(crate) fn run(input: &[u8]) {
    let mut source = Source::new(input);
    let (method, route) = source.pick(&ROUTES);
    let uri = format!("{route}?{}", text_of(source.rest()));
    visit(Kind::Lived, async |house| {
        let Some(mut told) = house.ask(method, &uri, &[], b"").await else { return };
        told.pieces(1).await;
        if house.events().await != house.events {
            house.check().await;
        }
    });
}
