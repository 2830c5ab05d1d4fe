//! Whatever is sent, the answer is one that the client can read, and the server goes on.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::face::{Line, Said, Session};
use crate::house::House;

fn sent(house: &House, method: &str, body: &[u8]) -> Said {
    let mut line = Line::to(&house.reservations);
    line.send(method, "", body);
    line.answer().expect("an answer")
}

#[test]
fn rubbish_is_answered_with_an_error_that_the_client_can_read() {
    let house = House::open(&[]);
    let laughs: String = (1..10).fold("<!ENTITY l0 'ha'>".into(), |all, nth| {
        let ten = format!("&l{};", nth - 1).repeat(10);
        format!("{all}<!ENTITY l{nth} '{ten}'>")
    });
    let laughs = format!("<!DOCTYPE Logon [{laughs}]><Logon><username>&l9;</username></Logon>");
    let outside = "<!DOCTYPE Logon [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>\
        <Logon><username>&x;</username></Logon>";
    let deep = format!("<Logon>{}", "<a>".repeat(30_000));
    let utf16: Vec<u8> =
        "\u{feff}<Logon/>".encode_utf16().flat_map(|unit| unit.to_le_bytes()).collect();
    let large = format!("<Logon><username>{}</username></Logon>", "a".repeat(200_000));
    let bodies: [&[u8]; 14] = [
        b"",
        b"\0\0\0\0",
        b"{\"json\": true}",
        b"<Logon>",
        b"<Logon><username>admin",
        b"<Logon></Logoff>",
        b"<Logon/><Logon/>",
        b"<Logoff/>",
        b"<Logon><username>\xff\xfe</username></Logon>",
        b"<?xml version='1.0' encoding='utf-16'?><Logon/>",
        laughs.as_bytes(),
        outside.as_bytes(),
        deep.as_bytes(),
        &utf16,
    ];
    for body in bodies.into_iter().chain([large.as_bytes()]) {
        let (code, text) = sent(&house, "Logon", body).refused();
        let start = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert!(
            code == "100" && text.contains("cannot be read") | text.contains("can be read"),
            "{start}: {text}"
        );
        assert!(!text.contains("root:"), "{text}");
    }
    // Names and numbers that cannot be.
    let mut session = Session::open(&house.reservations);
    let reservation = session.reserve();
    let long = "x".repeat(2_000);
    for alias in ["a&#10;b", &long] {
        assert_eq!(session.add(&reservation, alias, "o").refused().0, "100");
    }
    let huge = "y".repeat(70_000);
    assert!(session.add(&reservation, "MUTEX", &huge).refused().1.contains("user data"));
    let minutes = [("reservationName", "r"), ("durationInMinutes", "-1")];
    assert!(session.ask("CreateImmediateReservation", &minutes).refused().1.contains("number"));
    assert!(session.ask("NoSuchCall", &[]).refused().1.contains("NoSuchCall"));
    assert!(session.ask("EndReservation", &[]).refused().1.contains("reservationId"));
    session.add(&reservation, "MUTEX", "o").good();
}

#[test]
fn requests_that_no_client_sends_are_turned_away() {
    let house = House::open(&[]);
    let table = [
        ("GET /ResourceManagerApiService/Logon HTTP/1.1\r\nHost: localhost", "405"),
        ("POST / HTTP/1.1\r\nHost: localhost", "404"),
        ("POST /v1/claims/ HTTP/1.1\r\nHost: localhost", "404"),
        ("POST /ResourceManagerApiService/Logon HTTP/1.1\r\nHost: evil.example", "421"),
        (
            "POST /ResourceManagerApiService/Logon HTTP/1.1\r\nHost: localhost\r\nOrigin: http://x",
            "403",
        ),
        ("rubbish", "400"),
    ];
    for (head, status) in table {
        let mut stream = TcpStream::connect(&house.reservations).unwrap();
        let request = format!("{head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{head}: {answer}");
    }
}
