//! `claims`, `show`, `why`, `revoke`, and what the server says when it starts.

use crate::house::{House, Said};
use crate::signals::hearing;

#[test]
fn server_says_where_it_is_how_to_try_it_and_where_the_token_is() {
    let house = House::open();
    let lines: Vec<&str> = house.greeting.lines().collect();
    assert_eq!(
        lines[0],
        format!("Tenure serves at {}/, with its data in ./tenure-data", house.url())
    );
    let curl = lines[1].split("try it:").nth(1).unwrap().trim();
    let claimed = std::process::Command::new("sh").args(["-c", &format!("{curl} -s")]).output();
    // Where curl is installed, the line to try works as it stands.
    if let Ok(output) = claimed
        && output.status.code() != Some(127)
    {
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("\"status\":\"active\""), "{text}");
    }
    let file = lines[2].split("token is in ").nth(1).unwrap();
    let token = std::fs::read_to_string(house.home.path().join(file)).unwrap();
    assert!(token.trim().len() >= 22);
    assert!(!house.greeting.contains('\x1b'), "no colours where nobody looks");
}

#[test]
fn claims_are_filtered_and_told_as_table_and_json() {
    let house = House::open();
    house.claim(r#"{"resource":"a b","ttl":60}"#);
    house.claim(r#"{"resource":"a b","ttl":60}"#);
    house.claim(r#"{"resources":["c","d"],"ttl":600}"#);
    let ids = |flags: &[&str]| -> Vec<u64> {
        let json = house.run(&[&["claims", "--json"], flags].concat()).good();
        let list: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
        list.iter().map(|claim| claim["id"].as_u64().unwrap()).collect()
    };
    assert_eq!(ids(&[]), [1, 2, 3]);
    assert_eq!(ids(&["--resource", "a b"]), [1, 2]);
    assert_eq!(ids(&["--resource", "d"]), [3]);
    assert_eq!(ids(&["--status", "waiting"]), [2]);
    assert_eq!(ids(&["--ends-within", "5m"]), [1]);
    assert_eq!(ids(&["--held-for", "1h"]), [] as [u64; 0]);
    assert_eq!(ids(&["--waited-for", "1h"]), [] as [u64; 0]);
    assert_eq!(ids(&["--since", "0"]), [1, 2, 3]);
    assert_eq!(ids(&["--until", "0"]), [] as [u64; 0]);
    let said = house.run(&["claims", "--limit", "2"]);
    assert!(said.err.contains("raise --limit"), "{said:?}");
    let table = said.good();
    assert_eq!(table.lines().count(), 3, "{table}");
    let table = house.run(&["claims", "--resource", "c"]).good();
    assert!(table.lines().nth(1).unwrap().ends_with("  c, d"), "{table}");
    let err = house.run(&["claims", "--since", "yesterday"]).bad(1);
    assert!(err.contains("minimum_created should be a date"), "{err}");
}

#[test]
fn why_tells_holder_data_queue_and_usual_time() {
    let house = House::open();
    let (first, _) = house.claim(r#"{"resource":"press","ttl":60}"#);
    house.release(&first);
    house.claim(r#"{"resource":"press","ttl":60,"user_data":{"who":"anna\u0007"}}"#);
    house.claim(r#"{"resource":"press","ttl":60,"user_data":"me, too"}"#);
    let text = house.run(&["why", "press"]).good();
    assert!(text.contains("Claim 2 holds press since "), "{text}");
    assert!(text.contains("it says: {\"who\":\"anna"), "{text}");
    assert!(!text.contains('\u{7}'), "what others wrote does not ring the bell");
    assert!(text.contains("1 claim waits for it:\n  claim 3 has waited for "), "{text}");
    assert!(
        text.contains("says: \"me, too\"") && text.contains("It is usually held for "),
        "{text}"
    );
    let text = house.run(&["why", "nothing"]).good();
    assert_eq!(text, "Nobody holds nothing.\nNobody waits for it.\n");
    let json = house.run(&["why", "press", "--json"]).good();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["waiting"], 1);
}

#[test]
fn administrator_s_token_is_found_in_the_data_directory_or_where_it_is_named() {
    let house = House::open();
    for _ in 0..3 {
        house.claim(r#"{"resource":"one","ttl":60}"#);
    }
    assert_eq!(house.run(&["revoke", "1"]).good(), "Claim 1 is revoked.\n");
    let text = house.run(&["show", "1"]).good();
    assert!(text.contains("revoked since "), "{text}");
    // From another directory, by file and by variable.
    let elsewhere = tempfile::tempdir().unwrap();
    let file = house.home.path().join("tenure-data/admin-token");
    let mut command = house.command(&["revoke", "2", "--json"]);
    command.current_dir(elsewhere.path()).env("TENURE_TOKEN_FILE", &file);
    let json = Said::of(command.output().unwrap()).good();
    assert_eq!(json, "{\"id\":2,\"status\":\"revoked\"}\n");
    let mut command = house.command(&["revoke", "3"]);
    command
        .current_dir(elsewhere.path())
        .env("TENURE_TOKEN", std::fs::read_to_string(&file).unwrap());
    Said::of(command.output().unwrap()).good();
}

#[test]
fn administrator_s_token_of_this_machine_is_not_shown_to_another() {
    let house = House::open();
    let err = house.run(&["revoke", "1", "--at", "http://locks.example:7117"]).bad(77);
    assert!(err.contains("wants a token"), "{err}");
}

#[test]
fn colours_are_for_terminals_whose_owner_wants_them() {
    let house = House::open();
    let shown = |variable: Option<&str>| {
        let bench = house.command(&[]);
        let mut script = hearing("script");
        let line = format!(
            "exec {} bench cycle --seconds 0.1 --warmup 1ms --connections 1",
            crate::house::TENURE
        );
        script.args(["-qefc", &line, "/dev/null"]);
        script.envs(bench.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.env("TERM", "xterm").env_remove("NO_COLOR").stdin(std::process::Stdio::null());
        script.envs(variable.map(|value| ("NO_COLOR", value)));
        Said::of(script.output().unwrap()).good()
    };
    let bold = "\x1b[1m";
    assert!(shown(None).contains(bold));
    assert!(shown(Some("")).contains(bold), "an empty one says nothing");
    assert!(!shown(Some("1")).contains(bold));
    let piped = house.run(&["bench", "cycle", "--seconds", "0.1", "--connections", "1"]).good();
    assert!(!piped.contains('\x1b'), "{piped:?}");
}
