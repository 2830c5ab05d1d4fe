//! `tenure verify` on databases: every promise tried out there, and nothing left.

use std::process::{Command, Stdio};

use crate::house::{TENURE, until};
use crate::postgres::Postgres;
use crate::servers;

fn verify(url: &str) {
    let done = Command::new(TENURE)
        .args(["verify", url, "--processes", "3", "--rounds", "5"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("15 of 15 turns taken by 3 processes: never two inside"), "{said}");
    assert!(said.contains("several resources  holds"), "{said}");
}

#[test]
fn postgres_is_verified_in_a_schema_that_is_gone_afterwards() {
    let postgres = Postgres::start();
    verify(&postgres.url());
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'tenure%'";
    assert_eq!(postgres.ask(schemas), "0");
}

#[test]
fn mariadb_is_verified_in_a_database_that_is_gone_afterwards() {
    let directory = servers::mariadb();
    let socket = directory.join("mysql.sock");
    until(|| std::os::unix::net::UnixStream::connect(&socket).is_ok());
    let shown = socket.to_str().unwrap().replace('/', "%2F");
    verify(&format!("mysql://root@localhost/mysql?socket={shown}&ssl-mode=disabled"));
    let client = ["mariadb", "--no-defaults", "-uroot", "-N", "-e"];
    let asked = Command::new(client[0])
        .args(&client[1..])
        .arg("SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE 'tenure%'")
        .arg(format!("--socket={}", socket.display()))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&asked.stdout).trim(), "0", "{asked:?}");
}
