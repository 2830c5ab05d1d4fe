//! Several data servers that share their locks at a lock server.

use tenure::datasets::{DatasetId, LockError, LockManager, LockType};

use super::house::{House, ask};
use super::{LONG, wait_until};

fn manager(house: &House) -> LockManager {
    LockManager::sharing(tenure::LockManager::connect(&house.url()).unwrap())
}

#[test]
fn data_servers_share_their_locks() {
    let house = House::open();
    let (here, there) = (manager(&house), manager(&house));
    let reader = here.lock([1, 2], LockType::Shared).owner("ids-1").reason("getData").get();
    let reader = reader.unwrap();
    let other = there.lock([2, 2], LockType::Shared).get().unwrap();
    let refused = there.lock([3, 2], LockType::Exclusive).get().unwrap_err();
    let LockError::AlreadyLocked(locked) = refused else { panic!("{refused}") };
    assert_eq!((locked.dataset, locked.kind, locked.count), (DatasetId(2), LockType::Shared, 3));
    assert!(here.lock([3], LockType::Exclusive).get().is_ok(), "all or nothing");
    assert_eq!((here.locks().len(), there.locks().len()), (2, 1), "each tells of its own");
    // The server knows who and why.
    let (_, text) = ask(&house.url(), "GET", "/v1/resources/dataset/1/", "");
    assert!(text.contains("ids-1") && text.contains("getData"), "{text}");

    other.release();
    let waiter = {
        let there = there.clone();
        std::thread::spawn(move || there.lock([1, 2], LockType::Exclusive).within(LONG).get())
    };
    wait_until(|| {
        ask(&house.url(), "GET", "/v1/resources/dataset/1/", "").1.contains("\"waiting\":1")
    });
    assert!(reader.check().is_ok());
    drop(reader);
    let writer = waiter.join().unwrap().unwrap();
    let refused = here.lock([1], LockType::Shared).get().unwrap_err();
    assert!(refused.to_string().contains("EXCLUSIVE by 1"), "{refused}");
    writer.release();
    writer.release();
    assert!(writer.check().is_err());
    wait_until(|| here.lock([1, 2], LockType::Exclusive).get().is_ok());
}

#[test]
fn large_sets_are_all_or_nothing_at_a_lock_server_too() {
    let house = House::open();
    let (here, there) = (manager(&house), manager(&house));
    let last = there.lock([40], LockType::Exclusive).get().unwrap();
    let all: Vec<u64> = (1..=40).collect();
    let refused = here.lock(all.clone(), LockType::Shared).get().unwrap_err();
    assert!(refused.to_string().contains("dataset 40"), "{refused}");
    let first = there.lock([1], LockType::Exclusive).get().unwrap();
    drop(first);
    drop(last);
    let lock = here.lock(all, LockType::Shared).within(LONG).get().unwrap();
    assert_eq!(here.locks().len(), 40);
    drop(lock);
    wait_until(|| there.lock([1, 40], LockType::Exclusive).get().is_ok());
}

#[test]
fn silent_lock_server_is_an_error_of_its_own() {
    let house = House::open();
    let url = house.url();
    drop(house);
    let claims = tenure::LockManager::at(&url).timeout(std::time::Duration::from_millis(50));
    let manager = LockManager::sharing(claims.connect().unwrap());
    let error = manager.lock([1], LockType::Shared).get().unwrap_err();
    assert!(matches!(error, LockError::Claim(_)) && !error.is_busy(), "{error}");
}

#[test]
fn who_may_not_look_is_refused_and_waits_all_the_same() {
    let data = tempfile::tempdir().unwrap();
    let file = server::TokenFile::within(data.path());
    let grants = vec![claims::Grant::parse("claim:dataset/").unwrap()];
    let now = tenure::datasets::now().wall;
    let made = file.change(|list| list.create("ids", grants.into(), None, now));
    let token = made.unwrap().unwrap();
    let tokens = server::Tokens::open(file).unwrap();
    let config = server::Config { tokens: Some(tokens.into()), ..server::Config::default() };
    let house = House::with(claims::Rules::default(), config);
    let connect = || {
        let claims = tenure::LockManager::at(&house.url()).token(&token);
        LockManager::sharing(claims.connect().unwrap())
    };
    let (here, there) = (connect(), connect());
    let holder = here.lock([1, 2], LockType::Exclusive).get().unwrap();
    let refused = there.lock([2], LockType::Shared).get().unwrap_err();
    assert!(matches!(refused, LockError::Claim(_)) && refused.is_busy(), "{refused}");
    let within = std::time::Duration::from_millis(50);
    assert!(there.lock([2], LockType::Shared).within(within).get().unwrap_err().is_busy());
    holder.release();
    assert!(there.lock([2], LockType::Shared).within(LONG).get().is_ok());
}
