//! What `run` and `once` say: to people one line, to programs (`--json`) one object an event. All of it
//! on the error stream, because the output belongs to the command.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) struct Voice {
    json: bool,
    terminal: bool,
    /// A line that is not finished stands on the terminal.
    line: bool,
    since: Instant,
}

impl Voice {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, terminal: stderr().is_terminal(), line: false, since: Instant::now() }
    }

    /// Whether somebody looks on while it waits.
    pub(crate) fn shows_waiting(&self) -> bool {
        self.terminal || self.json
    }

    /// For programs. A reader that is gone is no reason to end.
    pub(crate) fn event(&self, name: &str, mut fields: Value) {
        if self.json {
            fields["event"] = name.into();
            let _ = writeln!(stderr(), "{fields}");
        }
    }

    /// For people; programs are told by events.
    pub(crate) fn say(&mut self, text: &str) {
        self.clear();
        if self.json {
            self.event("message", json!({ "text": text }));
        } else {
            let _ = writeln!(stderr(), "tenure: {text}");
        }
    }

    /// Says where it stands in the queue, and who is in the way.
    pub(crate) fn waiting(&mut self, what: &str, position: Option<u64>, holders: &[Value]) {
        let waited = self.since.elapsed();
        self.event(
            "waiting",
            json!({
                "position": position,
                "holders": holders,
                "waited": waited.as_secs_f64(),
            }),
        );
        if self.terminal && !self.json {
            let place = position.map_or(String::new(), |position| format!(" at place {position}"));
            let who = holders.first().map_or(String::new(), who);
            let line = format!("waiting for {what}{place}{who}, {} so far", rough(waited));
            // One line stays one line: what does not fit is cut.
            let line: String = line.chars().take(columns()).collect();
            let _ = write!(stderr(), "\r\x1b[K{line}");
            let _ = stderr().flush();
            self.line = true;
        }
    }

    /// Takes the unfinished line away.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.line) {
            let _ = write!(stderr(), "\r\x1b[K");
            let _ = stderr().flush();
        }
    }
}

/// The holder in words. What others wrote must not drive the terminal.
fn who(holder: &Value) -> String {
    let held = holder["active_duration"].as_f64().unwrap_or(0.0).max(0.0);
    let held = rough(Duration::try_from_secs_f64(held).unwrap_or_default());
    let data = &holder["user_data"];
    let said = match (data["command"].as_str(), data["host"].as_str(), data["pid"].as_u64()) {
        (Some(command), Some(host), Some(pid)) => format!("{command} on {host}, pid {pid}"),
        _ if data.is_null() => "who says nothing".into(),
        _ => data.to_string(),
    };
    let said: String = said.chars().filter(|c| !c.is_control()).take(60).collect();
    format!(", held by claim {} ({said}) for {held}", holder["id"])
}

fn rough(span: Duration) -> String {
    match span.as_secs() {
        secs @ 0..60 => format!("{secs} s"),
        secs @ 60..3600 => format!("{} min {} s", secs / 60, secs % 60),
        secs => format!("{} h {} min", secs / 3600, secs / 60 % 60),
    }
}

fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(stderr());
    size.ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 1)
        .map_or(79, |c| c - 1)
}
