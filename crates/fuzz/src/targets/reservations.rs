//! Calls of clients of CloudShell, in XML.

use std::sync::Arc;

use hyper::Request;
use hyper::body::Bytes;
use server::fuzzing::Reservations;
use server::{Body, Cloudshell, Server};

use crate::house::{House, Kind, visit};
use crate::source::text_of;
use crate::told::Told;
use crate::xml::attributes;

/// How many calls an input may have.
const CALLS_MAX: usize = 8;

/// Calls with NUL in between, which XML cannot have: the name of the call, a blank, and its body.
pub(crate) fn run(input: &[u8]) {
    visit(Kind::Reserving, async |house| {
        let face = open(&house.server).await;
        let mut events = house.events;
        for call in input.split(|&byte| byte == 0).take(CALLS_MAX) {
            let blank = call.iter().position(|&byte| byte == b' ').unwrap_or(call.len());
            let (name, body) = (text_of(&call[..blank]), call.get(blank + 1..).unwrap_or_default());
            ask(&face, &house.session, name, body).await;
            let before = std::mem::replace(&mut events, house.events().await);
            if events != before {
                house.check().await;
            }
        }
        nobody_else_is_in(house, &face).await;
    });
}

async fn open(server: &Arc<Server>) -> Reservations {
    let config = Cloudshell { foreign_reservations: true, ..Cloudshell::default() };
    Reservations::open(server.clone(), config).await.expect("memory answers")
}

/// Opens a session, and gives its token.
pub(crate) async fn log_on(server: &Arc<Server>) -> String {
    let face = open(server).await;
    let told = ask(&face, "", "Logon", b"<Logon><username>me</username></Logon>").await;
    let told = told.expect("a good call").text;
    let token = told.split("Token=\"").nth(1).and_then(|rest| rest.split('"').next());
    token.expect("whoever logs on gets a token").to_owned()
}

async fn ask(face: &Reservations, token: &str, call: &str, body: &[u8]) -> Option<Told> {
    let request = Request::builder()
        .method("POST")
        .uri(format!("/ResourceManagerApiService/{call}"))
        .header("host", "localhost")
        .header("authorization", format!("MachineName=m;Token={token}"))
        .body(Body::Whole(Bytes::copy_from_slice(body)))
        .ok()?;
    let told = Told::of(face.handle(request).await);
    assert!(!told.status.is_server_error(), "{}: {}", told.status, told.text);
    let success = attributes(&told.text, "Success");
    assert!(success == ["true"] || success == ["false"], "{}", told.text);
    Some(told)
}

/// Whatever was asked, a token that nobody was given opens nothing.
async fn nobody_else_is_in(house: &House, face: &Reservations) {
    let before = house.events().await;
    let token = "1.ZZZZZZZZZZZZZZZZZZZZZZ";
    let told = ask(face, token, "Logoff", b"<Logoff></Logoff>").await.expect("a good call");
    assert!(told.text.contains("Success=\"false\""), "{}", told.text);
    assert_eq!(house.events().await, before);
}
