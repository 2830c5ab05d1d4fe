//! A directory that came back from a backup does not give a fence twice.

use registry::StoreError;
use registry::embedded::{Directory, Ledger, Options, Reading, open};

use crate::twin::{Store, Twin, small};

#[test]
fn restored_directory_is_refused_until_a_new_epoch_begins() {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    store.claim("a");
    let backup = twin.backup();
    // Life goes on after the backup: fences it knows nothing of are given out.
    let last = (0..100).map(|nth| store.claim(&format!("b/{nth}")).0).last().unwrap();
    let refusal = Store::open(&backup, small()).err().expect("it is a copy");
    assert!(matches!(refusal, StoreError::Corrupt(_)), "{refusal}");
    assert!(refusal.to_string().contains("new epoch"), "{refusal}");

    let options = Options { new_epoch: true, ..small() };
    let mut restored = Store::open(&backup, options).unwrap();
    let (first, _) = restored.claim("c");
    let fence = |standing: &claims::Standing| standing.claim.activation().unwrap().fence;
    assert!(fence(&first) > fence(&last), "above any given before");
    assert!(first.claim.id > last.claim.id, "ids, too");
    assert!(fence(&first).0 < 1 << 53);
    Store::open(&backup, small()).expect("from now on it is the original");
}

#[test]
fn every_new_epoch_is_above_the_last() {
    let twin = Twin::default();
    let mut last = Store::open(&twin, small()).unwrap().claim("a").0.claim.id;
    for _ in 0..5 {
        let mut store = Store::open(&twin, Options { new_epoch: true, ..small() }).unwrap();
        let next = store.claim("a").0.claim.id;
        assert!(next > last);
        last = next;
    }
}

#[test]
fn copied_directory_of_the_real_file_system_is_noticed_and_a_moved_one_is_not() {
    let parent = tempfile::tempdir().unwrap();
    let (here, there, copy) =
        (parent.path().join("here"), parent.path().join("there"), parent.path().join("copy"));
    drop(open(&here, small()).unwrap());
    std::fs::rename(&here, &there).unwrap();
    drop(open(&there, small()).expect("moved as it is"));
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(&there).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let refusal = open(&copy, small()).err().expect("a copy");
    assert!(refusal.to_string().contains("is a copy"), "{refusal}");
    open(&copy, Options { new_epoch: true, ..small() }).expect("with a new epoch");
}

#[test]
fn second_user_of_a_directory_is_told_who_has_it() {
    let directory = tempfile::tempdir().unwrap();
    let _first = open(directory.path(), small()).unwrap();
    let refusal = open(directory.path(), small()).err().expect("it is taken");
    let text = refusal.to_string();
    assert!(text.contains(&format!("process {}", std::process::id())), "{text}");
}

#[test]
fn directory_that_everybody_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let refusal = Directory::claim(directory.path()).expect_err("anybody could plant a file");
    assert!(refusal.to_string().contains("chmod o-w"), "{refusal}");
}

#[test]
fn link_in_place_of_a_file_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("target");
    std::fs::write(&target, b"somebody's").unwrap();
    let store = directory.path().join("store");
    std::fs::create_dir(&store).unwrap();
    std::os::unix::fs::symlink(&target, store.join("lock")).unwrap();
    assert!(open(&store, small()).is_err());
    assert_eq!(std::fs::read(&target).unwrap(), b"somebody's");
    let reading = Reading { boot: claims::Span::ZERO, wall: claims::WallTime(0) };
    std::fs::remove_file(store.join("lock")).unwrap();
    std::os::unix::fs::symlink(&target, store.join("identity.tmp")).unwrap();
    let opened = Ledger::open(Directory::claim(&store).unwrap(), small(), reading);
    assert!(opened.is_err());
    assert_eq!(std::fs::read(&target).unwrap(), b"somebody's");
}
