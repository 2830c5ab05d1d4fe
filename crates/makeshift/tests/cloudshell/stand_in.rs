//! A service with one reservation, as far as a mutex needs it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The service. It ends with the runtime of the test.
pub(crate) struct StandIn {
    state: Arc<Mutex<State>>,
    port: u16,
}

#[derive(Default)]
struct State {
    /// Aliases and the raw attributes they were added with.
    services: BTreeMap<String, String>,
    tokens: Vec<String>,
    logons: usize,
    replies_to_lose: (String, usize),
    says_yes: bool,
    refuses_logons: bool,
    asked_cache: bool,
}

impl StandIn {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { state, port }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn aliases(&self) -> Vec<String> {
        self.state.lock().unwrap().services.keys().cloned().collect()
    }

    pub(crate) fn forget_tokens(&self) {
        self.state.lock().unwrap().tokens.clear();
    }

    pub(crate) fn logons(&self) -> usize {
        self.state.lock().unwrap().logons
    }

    pub(crate) fn lose_replies_to(&self, call: &str, count: usize) {
        self.state.lock().unwrap().replies_to_lose = (call.into(), count);
    }

    pub(crate) fn say_yes_to_everybody(&self) {
        self.state.lock().unwrap().says_yes = true;
    }

    pub(crate) fn refuse_logons(&self) {
        self.state.lock().unwrap().refuses_logons = true;
    }

    pub(crate) fn add_foreign(&self, alias: &str) {
        self.state.lock().unwrap().services.insert(alias.into(), String::new());
    }

    pub(crate) fn assert_cache_was_never_asked(&self) {
        assert!(!self.state.lock().unwrap().asked_cache, "an answer may be five seconds old");
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut stream = BufReader::new(stream);
    while let Some((path, token, body)) = request(&mut stream).await {
        let call = path.trim_start_matches("/ResourceManagerApiService/").to_owned();
        let (status, answer) = answer(&mut state.lock().unwrap(), &call, &token, &body);
        let lose = {
            let mut state = state.lock().unwrap();
            let (name, left) = &mut state.replies_to_lose;
            let lose = *name == call && *left > 0;
            *left -= usize::from(lose);
            lose
        };
        if lose {
            return;
        }
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", answer.len());
        if stream.write_all(format!("{head}{answer}").as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn request(stream: &mut BufReader<TcpStream>) -> Option<(String, String, String)> {
    let (mut path, mut token, mut length) = (String::new(), String::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if path.is_empty() {
            path = line.split(' ').nth(1)?.to_owned();
        } else if line.is_empty() {
            break;
        } else if let Some((name, value)) = line.split_once(": ") {
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().ok()?,
                "authorization" => token = value.split_once(";Token=")?.1.to_owned(),
                _ => {}
            }
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    assert!(body.is_ascii(), "the service reads ASCII");
    Some((path, token, String::from_utf8(body).ok()?))
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).and_then(|(_, rest)| rest.split_once(end)).map_or("", |(inner, _)| inner)
}

fn answer(state: &mut State, call: &str, token: &str, body: &str) -> (&'static str, String) {
    assert!(body.starts_with(&format!("<{call}>")), "{body}");
    if call == "Logon" {
        state.logons += 1;
        if state.refuses_logons {
            return no(call, 118, "Invalid password");
        }
        assert_eq!(between(body, "<password>", "</password>"), "p&#228;ssword");
        let token = format!("token-{}", state.logons);
        state.tokens.push(token.clone());
        let info = format!(
            r#"<ResponseInfo xsi:type="LogonResponseInfo"><Token Token="{token}"/></ResponseInfo>"#
        );
        return yes(call, &info);
    }
    if !state.tokens.iter().any(|known| known == token) {
        return ("401 Unauthorized", "who?".into());
    }
    let alias = between(body, "<alias>", "</alias>").to_owned();
    match call {
        "AddServiceToReservation" => {
            let order =
                ["<reservationId>", "<serviceName>Mutex Service<", "<alias>", "<attributes>"];
            assert!(order.windows(2).all(|two| body.find(two[0]) < body.find(two[1])), "{body}");
            if state.services.contains_key(&alias) {
                if state.says_yes {
                    return yes(call, "");
                }
                return no(call, 100, "Service with given alias already exists");
            }
            let owner = between(body, "<Name>Mutex Owner</Name><Value>", "</Value>").to_owned();
            state.services.insert(alias, owner);
            yes(call, "")
        }
        "GetReservationDetails" => {
            state.asked_cache |= between(body, "<disableCache>", "</disableCache>") != "true";
            let services = state.services.iter().map(|(alias, owner)| {
                let attribute = format!(r#"<Attribute Name="Mutex Owner" Value="{owner}"/>"#);
                let attribute = if owner.is_empty() { String::new() } else { attribute };
                format!(r#"<Service ServiceName="Mutex Service" Alias="{alias}"><Attributes>{attribute}</Attributes></Service>"#)
            });
            let services: String = services.collect();
            yes(
                call,
                &format!(
                    r#"<ResponseInfo xsi:type="GetReservationDescriptionResponseInfo"><ReservationDescription Id="r" Name="n"><Services>{services}</Services></ReservationDescription></ResponseInfo>"#
                ),
            )
        }
        "RemoveServicesFromReservation" => {
            state.services.remove(between(body, "<string>", "</string>"));
            yes(call, "")
        }
        other => panic!("nobody calls {other}"),
    }
}

const HEAD: &str = r#"xmlns="http://schemas.qualisystems.com/ResourceManagement/ApiCommandResult.xsd" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#;

fn yes(call: &str, info: &str) -> (&'static str, String) {
    let start = format!(
        r#"<?xml version="1.0" encoding="utf-8"?><Response CommandName="{call}" Success="true" {HEAD}>"#
    );
    ("200 OK", format!("{start}<ErrorCode>0</ErrorCode>{info}</Response>"))
}

fn no(call: &str, code: u32, why: &str) -> (&'static str, String) {
    let start = format!(
        r#"<?xml version="1.0" encoding="utf-8"?><Response CommandName="{call}" Success="false" {HEAD}>"#
    );
    ("200 OK", format!("{start}<Error>{why}</Error><ErrorCode>{code}</ErrorCode></Response>"))
}
