//! A client of a data service, as it comes from PyPI, reads the status of a real server.
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
fn python() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let tools = cache.or_else(home)?.join("tenure-tools/icat");
    tools.join("complete-1").exists().then(|| tools.join("bin/python"))
}

#[test]
fn python_icat_reads_the_service_status_and_understands_refusals() {
    let Some(python) = python() else {
        // Past the test harness, which shows nothing of a test that passes.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: no python-icat; run `make tools`");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let tenure = || Command::new(env!("CARGO_BIN_EXE_tenure"));
    let mut server = tenure()
        .args(["serve", "--listen", "127.0.0.1:0", "--require-tokens", "--data"])
        .arg(&data)
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
    let url = format!("http://{}", rest.split('/').next().unwrap());
    // The administrator is the root user of the data service.
    let token = std::fs::read_to_string(data.join("admin-token")).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ids.py");
    let output = Command::new(python).arg(script).args([&url, token.trim()]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(told.trim(), "well");
}
