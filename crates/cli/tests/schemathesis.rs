//! The real server against its own document, by a tool that knows nothing else of it: schemathesis
//! makes up requests that fit the document, and requests that do not, and checks every answer.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A server that does not outlive its test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What `.ci/peers` put there.
fn schemathesis() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let found = cache.or_else(home)?.join("tenure-tools/schemathesis/bin/schemathesis");
    found.exists().then_some(found)
}

#[test]
fn every_answer_is_one_that_the_document_promises() {
    let Some(schemathesis) = schemathesis() else {
        // Past the test harness, which shows nothing of a test that passes.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: no schemathesis; run `make tools`");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_tenure"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(directory.path().join("data"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map(Server)
        .unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(server.0.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    // What it says later must not fill the pipe.
    std::thread::spawn(move || said.read_to_end(&mut Vec::new()));
    let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("{line:?}"));
    let url = format!("http://{}/openapi.json", rest.split('/').next().unwrap());
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemathesis.toml");
    let output = Command::new(schemathesis)
        .args(["--config-file", config, "run", &url])
        .current_dir(directory.path())
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(report.contains("Tested: "), "{report}");
}
