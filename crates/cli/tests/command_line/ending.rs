//! Exit codes, each with the command that ends that way; output that cannot be written.

use std::io::Read;
use std::process::Stdio;

use crate::house::{House, Said, tenure};

#[test]
fn no_is_1_and_says_why() {
    let house = House::open();
    let err = house.run(&["show", "77"]).bad(1);
    assert!(err.contains("there is no claim 77"), "{err}");
}

#[test]
fn usage_is_64() {
    let home = tempfile::tempdir().unwrap();
    for wrong in [
        &["frobnicate"][..],
        &[],
        &["show"],
        &["show", "seven"],
        &["claims", "--status", "lost"],
        &["serve", "--listen", "nowhere"],
        &["claims", "--at", "127.0.0.1:7117"],
        &["completions", "basic"],
        &["watch", "one", "--prefix", "two"],
        &["bench", "swim"],
    ] {
        let err = Said::of(tenure(home.path()).args(wrong).output().unwrap()).bad(64);
        assert!(!err.is_empty(), "{wrong:?}");
    }
}

#[test]
fn damaged_data_is_65() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("tenure-data");
    std::fs::create_dir(&data).unwrap();
    // A log of somebody, but no identity: not an empty store.
    std::fs::write(data.join("log-0000000000000001"), [7; 100]).unwrap();
    let mut command = tenure(home.path());
    let err =
        Said::of(command.args(["serve", "--listen", "127.0.0.1:0"]).output().unwrap()).bad(65);
    assert!(err.contains("restore the directory from a backup"), "{err}");
}

#[test]
fn no_server_is_69_and_says_how_to_start_one() {
    let home = tempfile::tempdir().unwrap();
    // A port that was free a moment ago, and nobody listens on.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    for command in [&["claims"][..], &["show", "1"], &["why", "a"], &["watch"], &["bench", "cycle"]]
    {
        let said =
            Said::of(tenure(home.path()).args(command).args(["--at", &url]).output().unwrap());
        let err = said.bad(69);
        assert!(err.contains("tenure serve") && err.contains("--at"), "{command:?}: {err}");
    }
}

#[test]
fn something_that_is_no_tenure_server_is_69() {
    let home = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let other = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 1024];
        let _ = stream.read(&mut head).unwrap();
        let page = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        std::io::Write::write_all(&mut stream, page.as_bytes()).unwrap();
    });
    let said = Said::of(tenure(home.path()).args(["claims", "--at", &url]).output().unwrap());
    other.join().unwrap();
    let err = said.bad(69);
    assert!(err.contains("not that of a Tenure server"), "{err}");
}

#[test]
fn address_in_use_is_69_and_so_is_a_directory_in_use() {
    let house = House::open();
    let home = tempfile::tempdir().unwrap();
    let mut command = tenure(home.path());
    let err =
        Said::of(command.args(["serve", "--listen", &house.address]).output().unwrap()).bad(69);
    assert!(err.contains("choose another --listen"), "{err}");
    let err = house.run(&["serve", "--listen", "127.0.0.1:0"]).bad(69);
    assert!(err.contains("in use by process"), "{err}");
}

#[test]
fn full_disk_is_74_and_is_said() {
    let house = House::open();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for command in [
        &["claims"][..],
        &["why", "a"],
        &["--help"],
        &["--version"],
        &["completions", "bash"],
        &["serve", "--print-config"],
        &["demo"],
    ] {
        let mut command = house.command(command);
        let err = Said::of(command.stdout(full()).output().unwrap()).bad(74);
        assert!(err.contains("cannot write the output"), "{command:?}: {err}");
    }
}

#[test]
fn wrong_and_missing_tokens_are_77_and_say_what_to_do() {
    let house = House::open();
    house.claim(r#"{"resource":"one","ttl":60}"#);
    let err = house.run(&["revoke", "1", "--data", "elsewhere"]).bad(77);
    assert!(err.contains("--token-file") && err.contains("--data"), "{err}");
    let mut command = house.command(&["revoke", "1"]);
    let err = Said::of(command.env("TENURE_TOKEN", "wrong").output().unwrap()).bad(77);
    assert!(err.contains("token") && err.contains("TENURE_TOKEN_FILE"), "{err}");
    let err = house.run(&["revoke", "1", "--token-file", "absent"]).bad(77);
    assert!(err.contains("cannot read the token in absent"), "{err}");
    assert_eq!(house.get("/v1/claims/1/")["status"], "active");
}

#[test]
fn configuration_that_is_not_safe_is_78() {
    let home = tempfile::tempdir().unwrap();
    let mut command = tenure(home.path());
    let err = Said::of(command.args(["serve", "--listen", "0.0.0.0:0"]).output().unwrap()).bad(78);
    assert!(err.contains("--let-everybody-in-without-encryption"), "{err}");
}

#[test]
fn help_and_the_document_say_the_same_about_exit_codes() {
    let home = tempfile::tempdir().unwrap();
    let help = Said::of(tenure(home.path()).arg("--help").output().unwrap()).good();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = std::fs::read_to_string(root.join("docs/command-line.md")).unwrap();
    let codes: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Exit codes:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .collect();
    assert_eq!(codes.len(), 8, "{help}");
    for line in codes {
        let (code, meaning) = line.trim().split_once("  ").unwrap();
        let row = format!("| {code} | {meaning} |");
        assert!(document.contains(&row), "docs/command-line.md lacks {row}");
    }
}

#[test]
fn reader_that_has_seen_enough_ends_the_program_quietly() {
    let house = House::open();
    for nth in 0..300 {
        house.claim(&format!(r#"{{"resource":"{}{nth}","ttl":60}}"#, "long".repeat(200)));
    }
    let mut process = house
        .command(&["claims", "--limit", "300"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    process.stdout.take().unwrap().read_exact(&mut first).unwrap();
    // The pipe is closed now, with most of the list unread.
    let said = Said::of(process.wait_with_output().unwrap());
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
}

#[test]
fn version_names_the_commit_and_completions_name_the_commands() {
    let home = tempfile::tempdir().unwrap();
    let version = Said::of(tenure(home.path()).arg("--version").output().unwrap()).good();
    let rest = version.strip_prefix(&format!("tenure {}", env!("CARGO_PKG_VERSION"))).unwrap();
    // In a copy without git there is no commit; otherwise it looks like " (abc1234 2026-11-16)".
    let commit = rest.trim_end().strip_prefix(" (").map(|rest| rest.strip_suffix(')').unwrap());
    assert!(rest.trim().is_empty() || commit.unwrap().split(' ').count() == 2, "{version}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let mut command = tenure(home.path());
        let script = Said::of(command.args(["completions", shell]).output().unwrap()).good();
        assert!(script.contains("handover") || script.contains("bench"), "{shell}: {script}");
    }
}

/// In a build for the controls of the torture rig a variable names a bug to keep in.
#[cfg(not(feature = "planted"))]
#[test]
fn product_cannot_be_broken_on_purpose() {
    let home = tempfile::tempdir().unwrap();
    let mut command = tenure(home.path());
    command.env("TENURE_PLANTED", "Barging").args(["completions", "bash"]);
    let said = Said::of(command.output().unwrap());
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
}
