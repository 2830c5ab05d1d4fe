//! For the fuzzer: one call, read as every call is, and told again in an answer, without a server.

use super::answer::{Node, Told, response};
use super::call::Call;
use super::names::Id;
use super::refusal::No;
use crate::answer::Answer;

const TEXTS: [&str; 11] = [
    "alias",
    "domainName",
    "message",
    "owner",
    "password",
    "reservationName",
    "serviceAlias",
    "serviceName",
    "token",
    "username",
    "reservationId",
];

/// Everything that any call may say, in the order in which the answer tells it, and the answer.
pub(crate) fn hear(method: &str, body: &[u8]) -> (Vec<String>, Answer) {
    let read = Call::read(method, body).and_then(|call| said(&call));
    let told = |said: &Vec<String>| -> Told {
        let nodes = said.iter().map(|text| Node::new("Said").set("Text", text.as_str()));
        Some(("Hearing", nodes.collect()))
    };
    let answer = response(method, read.as_ref().map(told).map_err(No::clone));
    (read.unwrap_or_default(), answer)
}

fn said(call: &Call) -> Result<Vec<String>, No> {
    let mut said: Vec<String> = TEXTS.iter().map(|name| call.text(name).to_owned()).collect();
    said.push(call.number("durationInMinutes")?.to_string());
    said.extend(call.list("services").into_iter().map(String::from));
    for list in ["attributes", "attributeRequests"] {
        said.extend(call.attributes(list)?.into_iter().flat_map(|(name, value)| [name, value]));
    }
    if let Ok(id) = Id::of(call) {
        said.push(id.name().to_string());
        let alias = call.text("alias");
        said.extend([id.service(alias)?, id.attributes(alias)?].map(|name| name.to_string()));
    }
    Ok(said)
}
