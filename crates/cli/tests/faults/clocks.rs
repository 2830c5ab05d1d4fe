//! A wall clock that jumps by years: no lease ends for it, and none is longer.

use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::rig::{Line, RELEASED, Server, TENURE, Told, until};

const DAY: i64 = 86_400;
const YEAR: i64 = 365 * DAY;

/// A wall clock that is off by as many seconds as a file says. The clocks that count from boot are
/// not touched: nobody can set those.
struct WallClock(PathBuf);

impl WallClock {
    fn command(&self) -> Command {
        let mut command = Command::new(TENURE);
        command
            .env("LD_PRELOAD", library())
            .env("FAKETIME_TIMESTAMP_FILE", &self.0)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command
    }

    fn jump(&self, secs: i64) {
        // The server may read it at any time: it finds the old or the new one.
        let new = self.0.with_extension("new");
        std::fs::write(&new, format!("{secs:+}")).unwrap();
        std::fs::rename(new, &self.0).unwrap();
    }
}

fn library() -> PathBuf {
    let places = std::fs::read_dir("/usr/lib").unwrap().map(|entry| entry.unwrap().path());
    let mut found = places.map(|place| place.join("faketime/libfaketimeMT.so.1"));
    found.find(|path| path.exists()).expect("libfaketime is installed: `make tools` does it")
}

/// The year in which a claim was made, as the server has it.
fn year(made: &Told) -> i64 {
    let created = made.body["created"].as_str().unwrap();
    let mut numbers = created.split(|c: char| !c.is_ascii_digit());
    numbers.find(|number| number.len() == 4).unwrap().parse().unwrap()
}

fn claim(line: &mut Line, resource: &str, ttl: u32) -> Told {
    let body = format!(r#"{{"resource":"{resource}","ttl":{ttl}}}"#);
    line.ask("POST", "/v1/claims/", &body).unwrap()
}

#[test]
fn jumping_wall_clock_ends_no_lease_and_extends_none() {
    let directory = tempfile::tempdir().unwrap();
    let clock = WallClock(directory.path().join("clock"));
    clock.jump(0);
    let server = Server::start_as(&mut clock.command(), &directory.path().join("data"));
    let mut line = Line::open(&server.address).unwrap();
    let held = claim(&mut line, "held", 60).is(201);
    let waits = claim(&mut line, "held", 60).is(202);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (to_1970, this_year) = (i64::try_from(now).unwrap() - 10 * DAY, year(&held));
    let jumps = [(DAY, 0..=1), (10 * YEAR, 9..=10), (-10 * YEAR, -10..=-9), (-to_1970, -200..=-50)];
    for (secs, years) in jumps {
        // This one is over after its second, wherever the clock goes meanwhile.
        let short = claim(&mut line, &format!("short {secs}"), 1).is(201);
        clock.jump(secs);
        let mut probes = 0..;
        until(|| {
            let probe = format!("probe {secs} {}", probes.next().unwrap());
            let made = claim(&mut line, &probe, 60).is(201);
            years.contains(&(year(&made) - this_year))
        });
        let told = line.ask("GET", &held.location, "").unwrap().is(200);
        assert_eq!(told.body["status"], "active", "after a jump of {secs} s");
        let left = told.body["ttl"].as_f64().unwrap();
        assert!((0.0..=60.0).contains(&left), "{left} s are left after a jump of {secs} s");
        let refused = line.ask("PATCH", &waits.location, r#"{"status":"active"}"#).unwrap();
        refused.is(409);
        line.ask("PATCH", &held.location, r#"{"ttl":60}"#).unwrap().is(200);

        let next = format!(r#"{{"resource":"short {secs}","ttl":60,"wait":60}}"#);
        let next = line.ask("POST", "/v1/claims/", &next).unwrap().is(201);
        assert!(next.fence() > short.fence());
    }
    line.ask("PATCH", &held.location, RELEASED).unwrap().is(204);
    line.ask("PATCH", &waits.location, r#"{"status":"active"}"#).unwrap().is(200);
}
