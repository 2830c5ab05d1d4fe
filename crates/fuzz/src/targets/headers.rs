//! The headers of a request, to a server that lets nobody in without a token.

use hyper::StatusCode;

use crate::house::{ADMINISTRATOR, House, Kind, TOKENS, visit};
use crate::source::Source;
use crate::told::Told;

const ROUTES: [(&str, &str, &[u8]); 7] = [
    ("GET", "/v1/claims/", b""),
    ("GET", "/v1/events", b""),
    ("GET", "/metrics", b""),
    ("GET", "/ids/getServiceStatus?sessionId=x", b""),
    ("POST", "/v1/claims/", br#"{"resource":"held","ttl":5}"#),
    ("PATCH", "/v1/claims/1/", br#"{"status":"revoked"}"#),
    ("PATCH", "/v1/claims/2.key-of-claim-number-02/", br#"{"status":"active"}"#),
];

/// The first byte is the route; the rest is headers, a line each.
pub(crate) fn run(input: &[u8]) {
    let mut source = Source::new(input);
    let (method, route, body) = source.pick(&ROUTES);
    let lines = source.rest().split(|&byte| byte == b'\n').take(64);
    let headers: Vec<(&str, &[u8])> = lines
        .filter_map(|line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            Some((std::str::from_utf8(&line[..colon]).ok()?, line[colon + 1..].trim_ascii()))
        })
        .collect();
    visit(Kind::Guarded, async |house| {
        let Some(mut told) = house.ask(method, route, &headers, body).await else { return };
        let shows_one = headers.iter().any(|(_, value)| shows_a_token(value));
        assert!(shows_one || !told.status.is_success(), "let in without a token");
        if told.status == StatusCode::UNAUTHORIZED {
            assert!(told.headers.contains_key("www-authenticate"));
        }
        if told.is_stream() {
            follow(house, &headers, &mut told).await;
        }
        if house.events().await != house.events {
            house.check().await;
        }
    });
}

/// Whether a value has one of the tokens in it, plain or in base64.
fn shows_a_token(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    let plain = TOKENS.iter().map(|(token, ..)| *token).chain([ADMINISTRATOR]);
    plain.into_iter().any(|token| text.contains(token)) || text.to_lowercase().contains("basic")
}

/// What is there from a position on is told at once, in order, with positions that go on from it.
async fn follow(house: &House, headers: &[(&str, &[u8])], told: &mut Told) {
    let last = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("last-event-id"));
    let last = last.and_then(|(_, value)| std::str::from_utf8(value).ok()?.trim().parse().ok());
    let from = last.map_or(house.events, |last: u64| last.saturating_add(1));
    // Who may not read everything may have nothing to be told.
    let reads_all = headers.iter().any(|(name, value)| {
        let shown = String::from_utf8_lossy(value);
        name.eq_ignore_ascii_case("authorization")
            && (shown.contains(TOKENS[0].0) || shown.contains(ADMINISTRATOR))
    });
    told.pieces(1 + usize::from(reads_all && from < house.events)).await;
    let ids: Vec<u64> =
        told.text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{}", told.text);
    assert!(ids.iter().all(|&id| id + 1 >= from), "{}", told.text);
    assert!(told.text.ends_with("\n\n"), "{}", told.text);
}
