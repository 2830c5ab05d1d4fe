//! The path of a request.

use crate::house::{Kind, visit};
use crate::source::{Source, text_of};

pub(super) const METHODS: [&str; 8] =
    ["GET", "HEAD", "POST", "PATCH", "DELETE", "PUT", "OPTIONS", "X"];
const BODIES: [&[u8]; 4] =
    [b"", br#"{"status":"active"}"#, br#"{"ttl":5}"#, br#"{"resource":"new","ttl":5}"#];

/// The first byte is the method, the second picks a body; the rest is the path.
pub(crate) fn run(input: &[u8]) {
    let mut source = Source::new(input);
    let (method, body) = (source.pick(&METHODS), source.pick(&BODIES));
    let path = text_of(source.rest());
    visit(Kind::Lived, async |house| {
        let Some(mut told) = house.ask(method, path, &[], body).await else { return };
        told.pieces(1).await;
        if house.events().await != house.events {
            house.check().await;
        }
    });
}
