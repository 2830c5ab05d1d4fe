//! `watch`: lines, JSON, filters, interruptions, and the table on a terminal.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::house::House;
use crate::signals::{hearing, hold_in_a_hostile_environment};

/// A watcher that does not outlive its test.
struct Watcher {
    process: Child,
    lines: mpsc::Receiver<String>,
    said: mpsc::Receiver<String>,
}

impl Watcher {
    fn start(house: &House, arguments: &[&str]) -> Self {
        let mut command = house.command(&[&["watch"], arguments].concat());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = received(process.stdout.take().unwrap());
        let said = received(process.stderr.take().unwrap());
        Self { process, lines, said }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    /// Makes claims until the watcher has seen one: then it is connected.
    fn is_connected(&self, house: &House) {
        loop {
            let (path, _) = house.claim(r#"{"resource":"knock","ttl":60}"#);
            house.release(&path);
            if self.lines.recv_timeout(Duration::from_millis(500)).is_ok() {
                break;
            }
        }
        // The rest of the knocking is over when this has come through.
        house.claim(r#"{"resource":"knocked","ttl":60}"#);
        while !self.line().contains("knocked") {}
        assert!(self.line().contains("activated"));
    }
}

fn received(stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn events_are_lines_with_the_names_of_claims_that_were_there_before() {
    let house = House::open();
    let (before, _) = house.claim(r#"{"resource":"printer","ttl":60}"#);
    let watcher = Watcher::start(&house, &[]);
    watcher.is_connected(&house);
    house.release(&before);
    let line = watcher.line();
    assert!(line.ends_with("released     claim 1  printer"), "{line}");
    house.claim(r#"{"resource":"scanner","ttl":60}"#);
    let line = watcher.line();
    assert!(line.contains("registered") && line.contains("scanner  ttl 60.0 s"), "{line}");
    let line = watcher.line();
    assert!(line.contains("activated") && line.contains("scanner  fence "), "{line}");
}

#[test]
fn json_is_one_object_an_event_and_filters_hold() {
    let house = House::open();
    let (wanted, _) = house.claim(r#"{"resource":"k/1","ttl":60}"#);
    let (other, _) = house.claim(r#"{"resource":"other","ttl":60}"#);
    let watcher = Watcher::start(&house, &["--json", "--prefix", "k"]);
    watcher.is_connected(&house);
    house.release(&other);
    house.release(&wanted);
    let event: serde_json::Value = serde_json::from_str(&watcher.line()).unwrap();
    assert_eq!((&event["event"], &event["claim_id"]), (&"released".into(), &1.into()));
    assert_eq!(event["resources"], serde_json::json!(["k/1"]));
    assert!(event["position"].is_u64(), "{event}");
}

#[test]
fn watcher_goes_on_where_it_was_after_the_server_was_killed() {
    let mut house = House::open();
    let (path, _) = house.claim(r#"{"resource":"printer","ttl":600}"#);
    let watcher = Watcher::start(&house, &[]);
    watcher.is_connected(&house);
    house.restart();
    // Released while the watcher may not be connected yet: it is told all the same.
    house.release(&path);
    let said = watcher.said.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(said.contains("lost the server") && said.contains("trying again"), "{said}");
    let said = watcher.said.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(said.contains("connected again"), "{said}");
    loop {
        let line = watcher.line();
        assert!(!line.contains("skipped") || line.contains("events"), "{line}");
        if line.contains("released") && line.contains("printer") {
            break;
        }
    }
}

#[test]
fn terminal_shows_a_table_that_is_taken_away_at_the_end() {
    let house = House::open();
    house.claim(r#"{"resource":"printer","ttl":600}"#);
    house.claim(r#"{"resource":"printer","ttl":600}"#);
    // `script` gives the command a terminal of its own. Without `exec` some shells stay between
    // them, and end by the signal that the command heard.
    let watch = house.command(&["watch"]);
    let mut script = hearing("script");
    script.args(["-qefc", &format!("exec {} watch", crate::house::TENURE), "/dev/null"]);
    script.envs(watch.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.env("TERM", "xterm").env_remove("NO_COLOR").current_dir(house.home.path());
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = script.spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut out = process.stdout.take().unwrap();
    let seen = read_until(&mut out, "printer");
    assert!(seen.contains("\x1b[?1049h") && seen.contains("1 held, 1 waiting"), "{seen:?}");
    // What Ctrl-C sends.
    std::io::Write::write_all(&mut input, b"\x03").unwrap();
    let rest = read_until(&mut out, "\x1b[?1049l");
    assert!(rest.contains("\x1b[?25h"), "the cursor is back: {rest:?}");
    assert!(process.wait().unwrap().success());
}

#[test]
fn terminals_and_interrupts_work_whoever_starts_the_tests() {
    hold_in_a_hostile_environment(&[
        "watching::terminal_shows_a_table_that_is_taken_away_at_the_end",
        "looking::colours_are_for_terminals_whose_owner_wants_them",
        "benching::interrupted_bench_gives_back_what_it_holds",
    ]);
}

fn read_until(out: &mut ChildStdout, text: &str) -> String {
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = out.read(&mut piece).unwrap();
        seen.extend_from_slice(&piece[..count]);
        let so_far = String::from_utf8_lossy(&seen).into_owned();
        assert!(count > 0, "it ended without {text:?}: {so_far:?}");
        if so_far.contains(text) {
            return so_far;
        }
    }
}
