//! Stores that earlier versions wrote can be opened; what this version writes does not change unseen.
#![allow(unreachable_pub, reason = "the modules of a test have no outside")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![allow(dead_code, reason = "the twin serves other tests, too")]

#[path = "embedded/twin.rs"]
mod twin;

use std::path::{Path, PathBuf};

use claims::{Command, Data, Farewell, KeyHash, Limit, Name, Resources, Status};
use registry::StoreError;
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

/// What an earlier version left behind.
fn left_behind() -> Twin {
    let twin = Twin::default();
    for entry in std::fs::read_dir(kept()).unwrap() {
        let entry = entry.unwrap();
        let bytes = std::fs::read(entry.path()).unwrap();
        let name = entry.file_name().into_string().unwrap();
        twin.create(&name, 0).unwrap().write_at(0, &bytes).unwrap();
    }
    twin
}

/// Checked out files are copies, so a new epoch begins.
fn checked_out() -> Options {
    Options { new_epoch: true, ..options() }
}

/// Changes a file, and makes the checksum over its head right again.
fn rewrite(twin: &Twin, name: &str, head: usize, change: impl FnOnce(&mut [u8])) {
    let file = twin.file(name);
    let mut bytes = file.borrow_mut();
    change(&mut bytes);
    let checksum = crc32c::crc32c(&bytes[..head]);
    bytes[head..head + 4].copy_from_slice(&checksum.to_le_bytes());
}

/// What is in the files, to be compared.
fn content(twin: &Twin) -> Vec<(String, Vec<u8>)> {
    let content = |name: String| (name.clone(), twin.file(&name).borrow().clone());
    twin.names("").into_iter().map(content).collect()
}

fn refused(twin: &Twin, options: Options) -> String {
    match Store::open(twin, options) {
        Ok(_) => panic!("it was opened"),
        Err(StoreError::Corrupt(why)) => why,
        Err(other) => panic!("it was refused for another reason: {other}"),
    }
}

#[test]
fn store_of_format_1_is_opened_with_all_it_holds() {
    let twin = left_behind();
    let store = Store::open(&twin, checked_out()).unwrap();
    let state = store.ledger.state();
    let names: Vec<&str> = state.names_after(None).map(Name::as_str).collect();
    assert_eq!(names, ["dataset/γ", "shared"]);
    let ended = state.claims_after(None).find(|claim| claim.data().is_some()).unwrap();
    assert_eq!(ended.status(), Status::Expired);
    assert_eq!(ended.data().unwrap().as_str(), "{\"host\":\"n17\"}");
    assert_eq!(ended.keepers(), [KeyHash([9; 16])]);
    assert_eq!(ended.resources.as_slice().len(), 2);
}

/// Upgrading is starting the new version on the old directory.
#[test]
fn store_of_format_1_is_served_and_written_on() {
    let twin = left_behind();
    let mut store = Store::open(&twin, checked_out()).unwrap();
    let holders: Vec<_> = store.ledger.state().holders(&Name::new("shared").unwrap()).collect();
    let highest = holders.iter().map(|claim| claim.activation().unwrap().fence).max().unwrap();
    assert_eq!(holders.len(), 3, "they hold on");
    // A newcomer waits for whoever held before the upgrade.
    let (waiter, _) = store.claim("shared");
    assert!(waiter.claim.activation().is_none());
    let snapshots = twin.names("snapshot-");
    for nth in 0..80 {
        let (standing, owner) = store.claim(&format!("new/{nth}"));
        let fence = standing.claim.activation().unwrap().fence;
        assert!(fence > highest, "fences go on above the old ones");
        store.release(owner);
    }
    assert_ne!(twin.names("snapshot-"), snapshots, "new snapshots replace the old ones");
    let store = Store::open(&twin, options()).unwrap();
    let state = store.ledger.state();
    assert_eq!(state.holders(&Name::new("shared").unwrap()).count(), 3);
    assert_eq!(state.queue_len(&Name::new("shared").unwrap()), 1);
    assert_eq!(state.holders(&Name::new("dataset/γ").unwrap()).count(), 1);
}

#[test]
fn newer_format_is_refused_by_name_and_nothing_is_changed() {
    let newest = |twin: &Twin, prefix| twin.names(prefix).pop().unwrap();
    let newer = |bytes: &mut [u8]| bytes[8..12].copy_from_slice(&2u32.to_le_bytes());
    for (prefix, head) in [("identity", 44), ("log-", 60)] {
        let twin = left_behind();
        let name = newest(&twin, prefix);
        rewrite(&twin, &name, head, newer);
        let before = content(&twin);
        let why = refused(&twin, checked_out());
        assert!(why.contains("format 2, and this version reads format 1"), "{name}: {why}");
        assert!(why.contains("start the newer version that wrote it"), "{name}: {why}");
        assert!(content(&twin) == before, "{name}: something was changed");
    }
}

/// A newer version may add kinds of events without a new format. Who goes back to an older one is
/// told so; what that cannot read is whole, and must not pass for a torn tail, which is cut off.
#[test]
fn event_of_a_newer_version_is_refused_and_never_cut_off() {
    let twin = left_behind();
    let (name, offset, length) = last_frame(&twin);
    let file = twin.file(&name);
    {
        let mut bytes = file.borrow_mut();
        let frame = &mut bytes[offset..offset + length];
        // The first byte of an event is its kind.
        frame[56] = 120;
        let sum = crc32c::crc32c(&options().salt);
        let sum = crc32c::crc32c_append(sum, &frame[..8]);
        let sum = crc32c::crc32c_append(sum, &frame[12..]);
        frame[8..12].copy_from_slice(&sum.to_le_bytes());
    }
    let before = content(&twin);
    let why = refused(&twin, checked_out());
    assert!(why.contains(&format!("{name} at byte {offset}")), "{why}");
    assert!(why.contains("start the newer version that wrote it"), "{why}");
    assert!(content(&twin) == before, "something was changed");
}

/// Where the last frame of the log is, and how long.
fn last_frame(twin: &Twin) -> (String, usize, usize) {
    let mut last = None;
    for name in twin.names("log-") {
        let file = twin.file(&name);
        let bytes = file.borrow();
        let mut offset = 64;
        while bytes.get(offset..offset + 4) == Some(b"tnr\x01") {
            let body = u32::from_le_bytes(bytes[offset + 4..offset + 8].try_into().unwrap());
            last = Some((name.clone(), offset, 56 + body as usize));
            offset += 56 + body as usize;
        }
    }
    last.unwrap()
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
