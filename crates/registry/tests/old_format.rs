//! Stores that earlier versions wrote can be opened; what this version writes does not change unseen.
#![allow(unreachable_pub, reason = "the modules of a test have no outside")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![allow(dead_code, reason = "the twin serves other tests, too")]

#[path = "embedded/twin.rs"]
mod twin;

use std::path::{Path, PathBuf};

use claims::{Command, Data, Farewell, KeyHash, Limit, Name, Resources, Status};
use registry::embedded::{Medium, MediumFile, Options};
use twin::{Store, Twin, small};

fn options() -> Options {
    let mut options = Options { segment_bytes: 4 << 10, snapshot_after: 3 << 10, ..small() };
    options.rules.ended_max = 20;
    options
}

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-1")
}

/// Something of everything that can be written down.
fn write() -> Twin {
    let twin = Twin::default();
    let mut store = Store::open(&twin, options()).unwrap();
    let mut wish = store.wish("dataset/α");
    wish.data = Some(Data::new("{\"host\":\"n17\"}").unwrap());
    wish.resources =
        Resources::try_from(vec![Name::new("dataset/α").unwrap(), Name::new("dataset/β").unwrap()])
            .unwrap();
    let key = wish.key;
    let holder = store.run(Command::Register(wish)).claim.id;
    let owner = claims::Owner { claim: holder, key };
    store.run(Command::Appoint(owner, KeyHash([9; 16])));
    let (_, waiter) = store.claim("dataset/β");
    for nth in 0..80 {
        let (_, passing) = store.claim(&format!("passing/{nth}"));
        store.release(passing);
    }
    for _ in 0..3 {
        let mut reader = store.wish("shared");
        reader.limit = Limit::SHARED;
        store.run(Command::Register(reader));
    }
    store.pass(claims::Span::from_secs(70));
    store.ledger.sweep();
    store.ledger.commit().unwrap();
    let mut store = Store::open(&twin, options()).unwrap();
    store.run(Command::End(waiter, Farewell::Withdraw));
    store.claim("dataset/γ");
    twin
}

#[test]
fn store_of_format_1_is_opened_with_all_it_holds() {
    let twin = Twin::default();
    for entry in std::fs::read_dir(kept()).unwrap() {
        let entry = entry.unwrap();
        let bytes = std::fs::read(entry.path()).unwrap();
        let name = entry.file_name().into_string().unwrap();
        twin.create(&name, 0).unwrap().write_at(0, &bytes).unwrap();
    }
    // Checked out files are copies, so a new epoch begins.
    let store = Store::open(&twin, Options { new_epoch: true, ..options() }).unwrap();
    let state = store.ledger.state();
    let names: Vec<&str> = state.names_after(None).map(Name::as_str).collect();
    assert_eq!(names, ["dataset/γ", "shared"]);
    let ended = state.claims_after(None).find(|claim| claim.data().is_some()).unwrap();
    assert_eq!(ended.status(), Status::Expired);
    assert_eq!(ended.data().unwrap().as_str(), "{\"host\":\"n17\"}");
    assert_eq!(ended.keepers(), [KeyHash([9; 16])]);
    assert_eq!(ended.resources.as_slice().len(), 2);
}

/// If this fails, the format has changed: see the end of `docs/log-format.md`. To keep what this
/// version writes (before a release, never after), run it with `KEEP_FORMAT=1`.
#[test]
fn this_version_writes_format_1_byte_by_byte() {
    let twin = write();
    if std::env::var_os("KEEP_FORMAT").is_some() {
        let _ = std::fs::remove_dir_all(kept());
        std::fs::create_dir_all(kept()).unwrap();
        for name in twin.names("") {
            std::fs::write(kept().join(&name), &*twin.file(&name).borrow()).unwrap();
        }
    }
    for name in twin.names("") {
        let before = std::fs::read(kept().join(&name)).unwrap();
        assert!(*twin.file(&name).borrow() == before, "{name} is written differently");
    }
    assert_eq!(twin.names("").len(), std::fs::read_dir(kept()).unwrap().count());
}
