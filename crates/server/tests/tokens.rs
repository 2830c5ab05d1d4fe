//! Tokens as they are kept: made, replaced, taken back, and noticed by a server that runs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use claims::{Grant, Grants, WallTime};
use server::{BadToken, TokenFile, TokenList, Tokens};

fn grants(text: &str) -> Grants {
    vec![Grant::parse(text).unwrap()].into()
}

const NOW: WallTime = WallTime(1_000_000);
const DAY: u64 = 86_400_000;

fn live(list: &TokenList, now: WallTime) -> Vec<&str> {
    let live = list.as_slice().iter().filter(|token| token.is_live(now));
    live.map(|token| token.name.as_str()).collect()
}

#[test]
fn rotation_lets_both_tokens_live_until_the_overlap_ends() {
    let mut list = TokenList::default();
    let first = list.create("ci", grants("claim:ci/"), Some(90 * DAY), NOW).unwrap();
    let second = list.rotate("ci", Some(90 * DAY), DAY, NOW).unwrap();
    assert_ne!(first, second);
    assert_eq!(live(&list, NOW), ["ci", "ci"]);
    assert_eq!(live(&list, WallTime(NOW.0 + DAY - 1)).len(), 2);
    assert_eq!(live(&list, WallTime(NOW.0 + DAY)).len(), 1);
    assert_eq!(live(&list, WallTime(NOW.0 + 90 * DAY)).len(), 0);
    let [old, new] = list.as_slice() else { panic!("there are two") };
    assert_eq!(old.grants, new.grants);
    // An overlap never makes a token live longer.
    let mut list = TokenList::default();
    list.create("ci", grants("claim:ci/"), Some(1_000), NOW).unwrap();
    list.rotate("ci", None, DAY, NOW).unwrap();
    assert_eq!(list.as_slice()[0].expires, Some(WallTime(NOW.0 + 1_000)));
    assert_eq!(list.as_slice()[1].expires, None);
}

#[test]
fn names_are_taken_once_and_are_safe_everywhere() {
    let mut list = TokenList::default();
    list.create("ci", grants("claim:ci/"), Some(DAY), NOW).unwrap();
    let again = list.create("ci", grants("claim:ci/"), None, NOW);
    assert!(matches!(again, Err(BadToken::Exists(_))));
    for name in ["", "a b", "a/b", "a\n", "é", "a:b", "administrator", &"x".repeat(65)] {
        let made = list.create(name, grants("claim:ci/"), None, NOW);
        assert!(matches!(made, Err(BadToken::Name(_))), "{name}");
    }
    assert_eq!(list.create("x", Grants::default(), None, NOW), Err(BadToken::NoGrant));
    assert!(matches!(list.rotate("x", None, 0, NOW), Err(BadToken::Unknown(_))));
    assert!(matches!(list.revoke("x"), Err(BadToken::Unknown(_))));
    // Long after its end a token is forgotten, and its name is free at its end.
    let later = WallTime(NOW.0 + DAY);
    list.create("ci", grants("read:*"), None, later).unwrap();
    assert_eq!((list.as_slice().len(), live(&list, later).len()), (2, 1));
    list.rotate("ci", None, 0, WallTime(NOW.0 + 40 * DAY)).unwrap();
    assert_eq!(list.as_slice().len(), 2);
    // By id only that one goes, by name all.
    let id = list.as_slice()[0].id.clone();
    assert_eq!(list.revoke(&id), Ok(1));
    assert_eq!(list.revoke("ci"), Ok(1));
}

#[test]
fn file_is_private_and_has_no_token_in_it() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("not/there/yet");
    let file = TokenFile::within(&data);
    assert!(file.read().unwrap().as_slice().is_empty());
    let made = file.change(|list| list.create("ci", grants("all:*"), None, NOW)).unwrap().unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file.path()), mode(&data)), (0o600, 0o700));
    let text = fs::read_to_string(file.path()).unwrap();
    let secret = &made[made.len() - 43..];
    assert!(!text.contains(secret) && text.contains("\"read,claim,revoke:*\""), "{text}");
    // What was refused is not written.
    let before = fs::metadata(file.path()).unwrap().modified().unwrap();
    assert!(file.change(|list| list.revoke("x")).unwrap().is_err());
    assert_eq!(fs::metadata(file.path()).unwrap().modified().unwrap(), before);
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o640)).unwrap();
    let problem = file.read().unwrap_err().to_string();
    assert!(problem.contains("chmod 600"), "{problem}");
    assert!(Tokens::open(file).is_err());
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let data = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for nth in 0..16 {
            let file = TokenFile::within(data.path());
            scope.spawn(move || {
                let name = format!("t{nth}");
                file.change(|list| list.create(&name, grants("read:*"), None, NOW))
                    .unwrap()
                    .unwrap()
            });
        }
    });
    assert_eq!(TokenFile::within(data.path()).read().unwrap().as_slice().len(), 16);
}

#[test]
fn broken_file_is_refused_at_the_start() {
    let data = tempfile::tempdir().unwrap();
    let file = TokenFile::within(data.path());
    file.change(|list| list.create("ci", grants("read:*"), None, NOW)).unwrap().unwrap();
    let good = fs::read_to_string(file.path()).unwrap();
    for broken in [
        "",
        "{",
        "[]",
        &good.replace("\"version\":1", "\"version\":2"),
        &good.replace("read:*", "write:*"),
        &good.replace("\"name\"", "\"nome\""),
        &good[..good.len() / 2],
    ] {
        fs::write(file.path(), broken).unwrap();
        let problem = Tokens::open(file.clone()).unwrap_err().to_string();
        assert!(problem.contains("tokens.json"), "{problem}");
    }
}
