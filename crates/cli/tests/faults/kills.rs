//! `kill -9`, again and again, while clients are at work.

use std::sync::atomic::Ordering;

use crate::load::{Ending, Load};
use crate::rig::{Line, Server, until};

const KILLS: usize = 100;
const CLIENTS: usize = 4;

#[test]
fn hundred_kills_under_load_lose_nothing_and_reuse_no_fence() {
    let directory = tempfile::tempdir().unwrap();
    let load = Load::default();
    std::thread::scope(|scope| {
        let ending = Ending(&load);
        let mut server = Server::start(directory.path());
        load.address.lock().unwrap().clone_from(&server.address);
        let load = &load;
        let clients: Vec<_> =
            (0..CLIENTS).map(|client| scope.spawn(move || load.run(client))).collect();
        for kill in 0..KILLS {
            // Sometimes right after the start, sometimes later; never twice at the same place.
            let enough = load.heard.load(Ordering::SeqCst) + 1 + (kill * 37) % 60;
            until(|| {
                assert!(!clients.iter().any(|client| client.is_finished()), "a client failed");
                load.heard.load(Ordering::SeqCst) >= enough
            });
            server.kill();
            server = Server::start(directory.path());
            load.address.lock().unwrap().clone_from(&server.address);
        }
        drop(ending);
        for client in clients {
            client.join().unwrap();
        }
        check(load, &server.address);
    });
}

fn check(load: &Load, address: &str) {
    load.check_fences();
    let lost = load.lost.load(Ordering::SeqCst);
    assert!(lost > 0, "every answer arrived: nobody was killed at work");
    let mut line = Line::open(address).unwrap();
    let all = load.acknowledged.lock().unwrap();
    for one in all.iter() {
        let told = line.ask("GET", &one.location, "").unwrap().is(200);
        let status = if one.released { "released" } else { "active" };
        assert_eq!(told.body["status"], status, "{}", one.location);
        assert_eq!(told.body["fence"], one.fence, "{}", one.location);
    }
    // What was asked for twice, because the answer was lost, was made once.
    let held = all.iter().filter(|one| !one.released).count();
    assert_eq!(count(&mut line, "active"), held, "more are held than were asked for");
    assert_eq!(count(&mut line, "waiting"), 0, "somebody was left in line");
    let last = all.iter().rfind(|one| !one.released).unwrap();
    line.ask("PATCH", &last.location, r#"{"ttl":60}"#).unwrap().is(200);
}

fn count(line: &mut Line, status: &str) -> usize {
    let mut count = 0;
    loop {
        let path = format!("/v1/claims/?status={status}&limit=1000&offset={count}");
        let page = line.ask("GET", &path, "").unwrap().is(200);
        match page.body.as_array().unwrap().len() {
            0 => return count,
            more => count += more,
        }
    }
}
