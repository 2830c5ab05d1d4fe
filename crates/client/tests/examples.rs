//! The examples do what they say, against a real server. They are built by `cargo test` beside this.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[allow(dead_code, reason = "no test needs all of it")]
mod house;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use house::House;

/// The example as cargo built it.
fn example(name: &str, url: &str) -> Command {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(path.exists(), "build it first: cargo build -p tenure --examples");
    let mut command = Command::new(path);
    command.env("TENURE_URL", url);
    command
}

fn says(name: &str) -> String {
    let house = House::open();
    let output = example(name, &house.url()).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn hello_claim_holds_and_gives_back() {
    let told = says("hello_claim");
    assert!(told.contains("ours") && told.ends_with("given back\n"), "{told}");
}

#[test]
fn shared_readers_hold_together_and_the_writer_alone() {
    let told = says("shared_readers");
    assert!(told.contains("two readers") && told.contains("the writer is alone"), "{told}");
}

#[test]
fn semaphore_lets_three_work_at_a_time() {
    let told = says("semaphore");
    assert_eq!(told.matches("works").count(), 10, "{told}");
}

#[test]
fn many_resources_feed_every_philosopher() {
    let told = says("many_resources");
    assert_eq!(told.matches("eats").count(), 15, "{told}");
}

#[test]
fn server_restart_is_survived() {
    let data = tempfile::tempdir().unwrap();
    let first_life = House::keeping(data.path(), None);
    let address = first_life.address();
    let mut running = example("server_restart", &first_life.url());
    let mut process = running.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("now restart the server")));
    drop(first_life);
    assert!(lines.any(|line| line.contains("the server is away")));
    let _second_life = House::keeping(data.path(), Some(address));
    assert!(lines.any(|line| line.contains("still ours")));
    assert!(process.wait().unwrap().success());
}
