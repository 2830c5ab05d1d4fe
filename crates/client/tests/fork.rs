//! A program that forks while it holds: the child has no claim, and harms none.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![allow(unsafe_code, reason = "there is no other way to fork")]

#[allow(dead_code, reason = "no test needs all of it")]
mod house;

use house::House;
use tenure::blocking::LockManager;
use tenure::{Lease, Loss};

#[test]
fn guard_in_a_forked_child_neither_believes_nor_renews_nor_releases() {
    let house = House::open();
    let manager = LockManager::connect(&house.url()).unwrap();
    let claim = manager.claim("printer").get().unwrap();
    // SAFETY: the child only looks at memory of its own, drops, and leaves with `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let disbelieves = claim.lease() == Lease::Lost(Loss::Forked)
            && claim.check() == Err(Loss::Forked)
            && claim.valid_for().is_zero()
            && claim.lost() == Loss::Forked
            && claim.refresh(None).is_err();
        drop(claim);
        drop(manager);
        // SAFETY: ends this process, and nothing of the parent's is touched on the way.
        unsafe { libc::_exit(if disbelieves { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: waits for the child just made.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child saw a claim of its own");
    claim.check().unwrap();
    claim.refresh(None).unwrap();
    let (_, body) = house::ask(&house.url(), "GET", "/v1/claims/?status=active", "");
    assert_eq!(
        body.matches("printer").count(),
        2,
        "one claim, named once alone and once in its list"
    );
    claim.release().unwrap();
}
