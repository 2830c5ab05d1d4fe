//! Keys, keepers, and asking twice.

use claims::{Command, Ending, Farewell, KeyHash, Owner, Refusal, Status};

use super::{Examined, is_active, seconds};

/// Rule 9.
pub async fn wrong_key_and_unknown_claim_are_one_answer(it: &Examined) {
    let (_, owner) = it.register(it.exclusive("r")).await;
    let thief = Owner { key: KeyHash([9; 16]), ..owner };
    let nobody = Owner { claim: claims::ClaimId(u64::MAX >> 12), ..owner };
    for stranger in [thief, nobody] {
        for command in [
            Command::Activate(stranger),
            Command::Leave(stranger),
            Command::Renew(stranger, None),
            Command::End(stranger, Farewell::Release),
            Command::End(stranger, Farewell::Abort),
            Command::Appoint(stranger, KeyHash([1; 16])),
        ] {
            let refusal = it.ask(command).await.expect_err("it is not the stranger's");
            assert_eq!(refusal, Refusal::Unknown { claim: stranger.claim });
        }
    }
    it.release(owner).await;
}

/// Rule 9.
pub async fn keeper_may_renew_and_nothing_else(it: &Examined) {
    let (_, owner) = it.register(it.exclusive("r")).await;
    let keeper = Owner { key: KeyHash([3; 16]), ..owner };
    it.ask(Command::Appoint(owner, keeper.key)).await.expect("the owner may");
    it.ask(Command::Renew(keeper, Some(seconds(60.0)))).await.expect("a keeper may");
    for command in [
        Command::End(keeper, Farewell::Release),
        Command::End(keeper, Farewell::Withdraw),
        Command::Appoint(keeper, KeyHash([4; 16])),
    ] {
        let refusal = it.ask(command).await.expect_err("a keeper may not");
        assert_eq!(refusal, Refusal::KeeperMayOnlyRenew { claim: owner.claim });
    }
    it.release(owner).await;
}

/// Rule 10.
pub async fn registration_sent_again_is_the_same_claim(it: &Examined) {
    let registration = it.exclusive("r");
    let (first, owner) = it.register(registration.clone()).await;
    let (again, _) = it.register(registration.clone()).await;
    assert_eq!(first.claim.id, again.claim.id);
    if it.clock {
        assert_eq!(first.claim.activation(), again.claim.activation());
    }
    // Its place on the timeline is the reader's, where a store has no clock.
    let activation = |standing: &claims::Standing| {
        standing.claim.activation().map(|activation| (activation.fence, activation.since.wall))
    };
    assert_eq!(activation(&first), activation(&again));
    it.release(owner).await;
    let (over, _) = it.register(registration).await;
    assert_eq!(over.claim.status(), Status::Released, "an old answer, not a new claim");
}

/// Rule 10.
pub async fn other_registration_under_the_same_key_is_refused(it: &Examined) {
    let registration = it.exclusive("r");
    let (standing, _) = it.register(registration.clone()).await;
    let mut other = registration.clone();
    other.ttl = seconds(1.0);
    let refusal = it.ask(Command::Register(other)).await.expect_err("the key is in use");
    assert_eq!(refusal, Refusal::KeyInUse { claim: standing.claim.id });
}

/// A lost answer to a release is asked for again.
pub async fn ending_twice_is_one_ending(it: &Examined) {
    let (_, owner) = it.register(it.exclusive("r")).await;
    it.release(owner).await;
    it.release(owner).await;
    let refusal = it.ask(Command::End(owner, Farewell::Abort)).await.expect_err("it is over");
    let asked = Ending::Aborted;
    let status = Status::Released;
    assert_eq!(refusal, Refusal::CannotEnd { claim: owner.claim, status, asked });
}

/// Only what is held can be given back.
pub async fn waiter_cannot_release(it: &Examined) {
    let (_, holder) = it.register(it.exclusive("r")).await;
    let (_, waiter) = it.register(it.exclusive("r")).await;
    let refusal = it.ask(Command::End(waiter, Farewell::Release)).await.expect_err("it waits");
    assert!(matches!(refusal, Refusal::CannotEnd { status: Status::Waiting, .. }), "{refusal}");
    it.ask(Command::End(waiter, Farewell::Withdraw)).await.expect("it may withdraw");
    it.release(holder).await;
}

/// Rule 9.
pub async fn administrator_revokes_by_id(it: &Examined) {
    let (_, holder) = it.register(it.exclusive("r")).await;
    let revoked = it.ask(Command::Revoke(holder.claim)).await.expect("it is held");
    assert_eq!(revoked.claim.status(), Status::Revoked);
    it.ask(Command::Renew(holder, None)).await.expect_err("it was taken away");
    assert!(is_active(&it.register(it.exclusive("r")).await.0));
}
