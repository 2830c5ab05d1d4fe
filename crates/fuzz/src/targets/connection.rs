//! Everything that may come on a connection, from its first byte to its last.

use std::time::Duration;

use server::fuzzing::converse;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::sync::Notify;

use crate::house::{Kind, visit};

/// Room for all answers, so that nobody waits for the other side.
const ROOM: usize = 1 << 20;
const EVENTS: &[u8] = b"text/event-stream";
/// Longer than anything takes: only a hang is noticed.
const HANGS: Duration = Duration::from_secs(15);

pub(crate) fn run(input: &[u8]) {
    visit(Kind::Lived, async |house| {
        let (mut client, stream) = duplex(ROOM);
        let mut said = Vec::new();
        // Events go on for as long as somebody reads them, so nobody does.
        let streams = Notify::new();
        let asking = async {
            // A server that has heard enough hangs up.
            let _ = client.write_all(input).await;
            let _ = client.shutdown().await;
            while client.read_buf(&mut said).await.is_ok_and(|count| count > 0) {
                if said.windows(EVENTS.len()).any(|window| window == EVENTS) {
                    streams.notify_one();
                    break;
                }
            }
        };
        let answering = async {
            tokio::select! {
                () = converse(&house.server, stream) => {}
                () = streams.notified() => {}
            }
        };
        let talk = async { tokio::join!(answering, asking) };
        tokio::time::timeout(HANGS, talk).await.expect("a connection that is closed ends");
        check(&said);
        if house.events().await != house.events {
            house.check().await;
        }
    });
}

/// Whatever came, each answer is one; none of them says that something is wrong in here.
fn check(mut said: &[u8]) {
    while !said.is_empty() {
        let Some(end) = said.windows(4).position(|window| window == b"\r\n\r\n") else { return };
        let head = std::str::from_utf8(&said[..end]).expect("our headers are text");
        let status: u16 = head
            .strip_prefix("HTTP/1.")
            .and_then(|rest| rest.get(2..5)?.parse().ok())
            .unwrap_or_else(|| panic!("this is no answer: {head}"));
        assert!(status < 500 || status == 503, "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        // Without a length it is a stream, and the last answer.
        let Some(length) = length.and_then(|text| text.parse::<usize>().ok()) else { return };
        let rest = said.get(end + 4..).unwrap_or_default();
        // The answer to HEAD has a length, but no body.
        said = match rest.starts_with(b"HTTP/1.") {
            true => rest,
            false => rest.get(length..).unwrap_or_default(),
        };
    }
}
