//! The real binary, guarded: tokens, the audit log, and who may reach it at all.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const TENURE: &str = env!("CARGO_BIN_EXE_tenure");
const RELEASED: &str = r#"{"status":"released"}"#;

/// A server that does not outlive its test.
struct Server {
    process: Child,
    greeting: String,
    address: String,
}

impl Server {
    fn start(data: &Path, flags: &[&str]) -> Self {
        Self::start_as(Command::new(TENURE), data, flags)
    }

    fn start_as(mut command: Command, data: &Path, flags: &[&str]) -> Self {
        let mut process = command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(flags)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut greeting = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut greeting).unwrap();
        let (_, rest) = greeting.split_once("://").unwrap_or_else(|| panic!("{greeting:?}"));
        let address = rest.split('/').next().unwrap().to_owned();
        Self { process, greeting, address }
    }

    fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    fn stop(mut self) {
        self.signal("-TERM");
        assert!(self.process.wait().unwrap().success());
    }

    fn ask(&self, token: &str, method: &str, path: &str, body: &str) -> Told {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let token = match token {
            "" => String::new(),
            token => format!("Authorization: Bearer {token}\r\n"),
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{token}\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let location = head.lines().find_map(|line| line.strip_prefix("location: "));
        let request = head.lines().find_map(|line| line.strip_prefix("x-request-id: "));
        Told {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            path: location.map_or("", |url| &url[url.find("/v1/").unwrap()..]).to_owned(),
            request: request.map(str::to_owned),
            body: serde_json::from_str(body).unwrap_or_default(),
        }
    }

    fn claim(&self, token: &str, resource: &str, ttl: f64) -> Told {
        let body = json!({ "resource": resource, "ttl": ttl }).to_string();
        self.ask(token, "POST", "/v1/claims/", &body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Debug)]
struct Told {
    status: u16,
    path: String,
    request: Option<String>,
    body: Value,
}

/// Runs the command line; what it says, and whether it is content.
fn tenure(data: &Path, arguments: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(TENURE);
    let output = command.args(arguments).arg("--data").arg(data).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

fn token(data: &Path, arguments: &[&str]) -> String {
    let arguments: Vec<&str> = ["token"].iter().chain(arguments).copied().collect();
    let (good, token, said) = tenure(data, &arguments);
    assert!(good && token.starts_with("tenure_"), "{token} {said}");
    token
}

fn until(mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never came true");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn tokens_are_made_replaced_and_taken_back_while_the_server_runs() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    // Before the first start.
    let early = token(&data, &["create", "early", "--grant", "all:*"]);
    let server = Server::start(&data, &["--require-tokens"]);
    let status = |token: &str| server.ask(token, "GET", "/v1/claims/", "").status;
    assert_eq!((status(""), status("nonsense"), status(&early)), (401, 401, 200));
    let admin = fs::read_to_string(data.join("admin-token")).unwrap();
    assert_eq!(status(admin.trim()), 200);

    // While it runs.
    let first = token(&data, &["create", "ci", "--grant", "read,claim:ci/", "--expires", "1d"]);
    until(|| status(&first) == 200);
    assert_eq!(server.claim(&first, "ci/db", 60.0).status, 201);
    assert_eq!(server.claim(&first, "other/db", 60.0).status, 403);
    let (good, _, said) = tenure(&data, &["token", "create", "ci", "--grant", "read:*"]);
    assert!(!good && said.contains("token rotate ci"), "{said}");

    // Both live, then only the new one.
    let second = token(&data, &["rotate", "ci", "--overlap", "1h"]);
    until(|| status(&second) == 200);
    assert_eq!(status(&first), 200);
    let third = token(&data, &["rotate", "ci", "--overlap", "0s"]);
    until(|| status(&first) == 401 && status(&second) == 401);
    assert_eq!(status(&third), 200);
    assert_eq!(server.claim(&third, "other/db", 60.0).status, 403, "the grants are the same");

    // The list shows neither tokens nor hashes.
    let (good, text, _) = tenure(&data, &["token", "list", "--json"]);
    let list: Vec<Value> = serde_json::from_str(&text).unwrap();
    let names: Vec<&str> = list.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!((good, names), (true, vec!["early", "ci", "ci", "ci"]));
    let live: Vec<bool> = list.iter().map(|one| one["live"].as_bool().unwrap()).collect();
    assert_eq!(live, [true, false, false, true]);
    assert!(list.iter().all(|one| one.get("hash").is_none()), "{text}");
    let (_, table, _) = tenure(&data, &["token", "list"]);
    for secret in [&early, &first, &third] {
        assert!(!text.contains(&secret[20..]) && !table.contains(&secret[20..]));
    }

    // Taken back, for good.
    let (good, ..) = tenure(&data, &["token", "revoke", "early"]);
    assert!(good);
    until(|| status(&early) == 401);
    server.stop();
    let server = Server::start(&data, &["--require-tokens"]);
    let status = |token: &str| server.ask(token, "GET", "/v1/claims/", "").status;
    assert_eq!((status(&early), status(&second), status(&third)), (401, 401, 200));
    let looked = Command::new(TENURE)
        .args(["claims", "--at", &format!("http://{}", server.address)])
        .env("TENURE_TOKEN", &third)
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&looked.stdout).contains("ci/db"), "{looked:?}");
}

#[test]
fn broken_token_file_changes_nothing_for_a_running_server() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let ci = token(data, &["create", "ci", "--grant", "all:*"]);
    let server = Server::start(data, &["--require-tokens"]);
    let status = |token: &str| server.ask(token, "GET", "/v1/claims/", "").status;
    let file = data.join("tokens.json");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, "{").unwrap();
    // SIGHUP makes it look at once; what is broken is not believed.
    server.signal("-HUP");
    assert_eq!((status(&ci), status("")), (200, 401));
    fs::write(&file, good.replace("\"ci\"", "\"cd\"")).unwrap();
    let (_, text, _) = tenure(data, &["token", "list", "--json"]);
    assert!(text.contains("\"cd\""), "{text}");
    fs::remove_file(&file).unwrap();
    until(|| status(&ci) == 401);
    server.stop();
    fs::write(&file, "{").unwrap();
    let output = Command::new(TENURE)
        .args(["serve", "--listen", "127.0.0.1:0", "--require-tokens", "--data"])
        .arg(data)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("tokens.json"), "{said}");
}

#[test]
fn audit_log_tells_each_change_and_each_denied_request_once() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let log = directory.path().join("audit.log");
    let ci = token(&data, &["create", "ci", "--grant", "claim:ci/"]);
    let ops = token(&data, &["create", "ops", "--grant", "read,revoke:*"]);
    let flags = ["--require-tokens", "--audit", log.to_str().unwrap()];
    let server = Server::start(&data, &flags);

    let none = server.ask("", "GET", "/v1/claims/", "");
    let beyond = server.claim(&ci, "other/\"x\"", 60.0);
    assert_eq!((none.status, beyond.status), (401, 403));
    // One that holds, one that waits behind it with its connection open.
    let first = server.claim(&ci, "ci/a", 60.0);
    let stolen = format!("/v1/claims/1.{}/", "A".repeat(22));
    assert_eq!(server.ask(&ci, "PATCH", &stolen, RELEASED).status, 404);
    let second = std::thread::scope(|scope| {
        let body = r#"{"resource":"ci/a","ttl":60}"#;
        let waiter = scope.spawn(|| server.ask(&ci, "POST", "/v1/claims/?wait=60", body));
        let waits = || server.ask(&ops, "GET", "/v1/claims/?status=waiting", "").body;
        until(|| waits().as_array().is_some_and(|list| list.len() == 1));
        assert_eq!(server.ask(&ci, "PATCH", &first.path, RELEASED).status, 204);
        waiter.join().unwrap()
    });
    assert_eq!(second.status, 201);
    assert_eq!(server.ask(&ci, "PATCH", &second.path, r#"{"ttl":30}"#).status, 200);
    assert_eq!(server.ask(&ops, "PATCH", &second.path, r#"{"ttl":30}"#).status, 403);
    let revoked = server.ask(&ops, "PATCH", "/v1/claims/2/", r#"{"status":"revoked"}"#);
    assert_eq!(revoked.status, 204);
    // Logs are moved away and go on.
    let events = |path: &Path| -> Vec<Value> {
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    until(|| fs::read_to_string(&log).unwrap_or_default().contains("\"event\":\"revoked\""));
    let old = directory.path().join("audit.log.1");
    fs::rename(&log, &old).unwrap();
    server.signal("-HUP");
    until(|| log.exists());
    // A lease that ends because somebody wants it: nobody asked for that.
    let third = server.claim(&ci, "ci/b", 0.05);
    let body = r#"{"resource":"ci/b","ttl":60}"#;
    let fourth = server.ask(&ci, "POST", "/v1/claims/?wait=60", body);
    assert_eq!((third.status, fourth.status), (201, 201));
    server.stop();

    let lines: Vec<Value> = events(&old).into_iter().chain(events(&log)).collect();
    let seen = |outcome: &str| -> Vec<Value> {
        let of = lines.iter().filter(|line| line["outcome"] == outcome);
        of.map(|line| {
            json!([line["event"], line["token"], line["verb"], line["claim_id"], line["resources"]])
        })
        .collect()
    };
    assert_eq!(
        seen("done"),
        [
            json!(["registered", "ci", "claim", 1, ["ci/a"]]),
            json!(["activated", "ci", "claim", 1, ["ci/a"]]),
            json!(["registered", "ci", "claim", 2, ["ci/a"]]),
            json!(["released", "ci", "claim", 1, ["ci/a"]]),
            json!(["activated", "ci", "claim", 2, ["ci/a"]]),
            json!(["renewed", "ci", "claim", 2, ["ci/a"]]),
            json!(["revoked", "ops", "revoke", 2, ["ci/a"]]),
            json!(["registered", "ci", "claim", 3, ["ci/b"]]),
            json!(["activated", "ci", "claim", 3, ["ci/b"]]),
            json!(["registered", "ci", "claim", 4, ["ci/b"]]),
            json!(["expired", null, null, 3, ["ci/b"]]),
            json!(["activated", "ci", "claim", 4, ["ci/b"]]),
        ],
        "{lines:#?}"
    );
    assert_eq!(
        seen("denied"),
        [
            json!(["denied", null, null, null, []]),
            json!(["denied", "ci", "claim", null, ["other/\"x\""]]),
            json!(["denied", "ci", "claim", 1, []]),
            json!(["denied", "ops", "claim", null, []]),
        ]
    );
    let statuses: Vec<_> = lines.iter().filter_map(|line| line["status"].as_u64()).collect();
    assert_eq!(statuses, [401, 403, 404, 403]);
    // Who asked from where, under the name that the answer had.
    let asked = |told: &Told| {
        let of = lines.iter().filter(|line| line["request"].as_str() == told.request.as_deref());
        of.map(|line| line["event"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(asked(&second), ["registered", "activated"]);
    assert_eq!(asked(&revoked), ["revoked"]);
    assert_eq!(asked(&none), ["denied"]);
    for line in lines.iter().filter(|line| !line["request"].is_null()) {
        assert!(line["peer"].as_str().unwrap().starts_with("127.0.0.1:"), "{line}");
        assert!(line["time"].as_str().unwrap().ends_with('Z'), "{line}");
    }
    let text = fs::read_to_string(&old).unwrap() + &fs::read_to_string(&log).unwrap();
    let key = |told: &Told| told.path.split(['.', '/']).nth(4).unwrap().to_owned();
    for secret in [ci[20..].to_owned(), ops[20..].to_owned(), key(&first), key(&second)] {
        assert!(secret.len() >= 22 && !text.contains(&secret), "{secret} is in the log");
    }
}

#[test]
fn other_machines_are_let_in_only_with_encryption_and_tokens() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let (chain, key) = (directory.path().join("chain.pem"), directory.path().join("key.pem"));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    fs::write(&chain, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (chain, key) = (chain.to_str().unwrap(), key.to_str().unwrap());
    let refused = |flags: &[&str]| {
        let output = Command::new(TENURE)
            .args(["serve", "--listen", "0.0.0.0:0", "--data"])
            .arg(&data)
            .args(flags)
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = refused(&[]);
    assert!(said.contains("--tls-cert") && said.contains("--require-tokens"), "{said}");
    let said = refused(&["--require-tokens"]);
    assert!(said.contains("needs encryption (") && !said.contains("and tokens"), "{said}");
    let said = refused(&["--tls-cert", chain, "--tls-key", key]);
    assert!(said.contains("needs tokens (") && !said.contains("encryption ("), "{said}");
    let said = refused(&["--require-tokens", "--tls-cert", chain, "--tls-key", chain]);
    assert!(said.contains("has no private key in it"), "{said}");
    let said = refused(&["--tls-cert", chain]);
    assert!(said.contains("--tls-key"), "{said}");

    let flags = ["--listen", "0.0.0.0:0", "--tls-cert", chain, "--tls-key", key];
    let both: Vec<&str> = flags.into_iter().chain(["--require-tokens"]).collect();
    let server = start_elsewhere(&data, &both);
    assert!(server.greeting.contains("https://0.0.0.0:"), "{}", server.greeting);
    server.stop();
    let insisting = ["--listen", "0.0.0.0:0", "--let-everybody-in-without-encryption"];
    start_elsewhere(&data, &insisting).stop();
}

/// A server that says itself where to listen.
fn start_elsewhere(data: &Path, flags: &[&str]) -> Server {
    let mut process = Command::new(TENURE)
        .args(["serve", "--data"])
        .arg(data)
        .args(flags)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut greeting = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut greeting).unwrap();
    Server { process, greeting, address: String::new() }
}

#[test]
fn full_disk_of_the_audit_log_costs_lines_and_not_claims() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let log = directory.path().join("audit.log");
    // Every write to it says that the disk is full.
    std::os::unix::fs::symlink("/dev/full", &log).unwrap();
    let errors = directory.path().join("errors");
    let mut command = Command::new(TENURE);
    command.stderr(fs::File::create(&errors).unwrap());
    let server = Server::start_as(command, &data, &["--audit", log.to_str().unwrap()]);
    assert_eq!(server.claim("", "lost", 60.0).status, 201);
    until(|| fs::read_to_string(&errors).unwrap().contains("the audit log cannot be written"));
    fs::remove_file(&log).unwrap();
    server.signal("-HUP");
    // What was lost is counted before the first line that is there.
    let lines = || fs::read_to_string(&log).unwrap_or_default();
    let mut nth = 0;
    until(|| {
        nth += 1;
        assert_eq!(server.claim("", &format!("kept {nth}"), 60.0).status, 201);
        lines().contains("kept")
    });
    let text = lines();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["outcome"], "lost", "{text}");
    assert!(first["count"].as_u64().unwrap() > 0, "{text}");
    server.stop();
}

/// In a network of its own, because the machine's own addresses are not counted.
#[test]
fn one_address_gets_so_many_connections_and_others_are_still_served() {
    let directory = tempfile::tempdir().unwrap();
    let script = "ip link set lo up && ip addr add 198.51.100.1/32 dev lo && \
        ip addr add 198.51.100.2/32 dev lo && exec \"$0\" serve --listen 198.51.100.1:7117 \
        --let-everybody-in-without-encryption --connections-per-address-max 5 --data \"$1\"";
    let mut process = Command::new("unshare")
        .args(["--map-root-user", "--net", "sh", "-c", script, TENURE])
        .arg(directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut greeting = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut greeting).unwrap();
    assert!(greeting.contains("198.51.100.1:7117"), "{greeting:?}");
    let server = Server { process, greeting, address: "198.51.100.1:7117".into() };
    // Six from one address: five are answered, the sixth is closed or told so. One from the other.
    let program = "
import socket
def ask(source):
    line = socket.create_connection(('198.51.100.1', 7117), 60, (source, 0))
    try:
        line.sendall(b'GET /livez HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')
        return line, line.recv(12)
    except OSError:
        return line, b''
held = [ask('198.51.100.1') for _ in range(6)]
print([answer == b'HTTP/1.1 200' for _, answer in held], ask('198.51.100.2')[1])
";
    let pid = server.process.id().to_string();
    let told = Command::new("nsenter")
        .args([
            "--preserve-credentials",
            "--user",
            "--net",
            "--target",
            &pid,
            "python3",
            "-c",
            program,
        ])
        .output()
        .unwrap();
    let told =
        String::from_utf8_lossy(&told.stdout).into_owned() + &String::from_utf8_lossy(&told.stderr);
    let wanted = "[True, True, True, True, True, False] b'HTTP/1.1 200'";
    assert_eq!(told.trim(), wanted);
}
