//! Whose claim it is.

use claims::Status::{Aborted, Active, Released, Revoked, Waiting, Withdrawn};
use claims::{ClaimId, Command, Farewell, Owner, Refusal};

use super::world::{World, key, refused, ttl, wish};

/// Everything that needs a key.
fn commands(owner: Owner) -> Vec<Command> {
    vec![
        Command::Activate(owner),
        Command::Leave(owner),
        Command::Renew(owner, None),
        Command::End(owner, Farewell::Release),
        Command::End(owner, Farewell::Abort),
        Command::End(owner, Farewell::Withdraw),
        Command::Appoint(owner, key(99)),
    ]
}

/// Rule 9. A claim belongs to whoever knows its key: nobody else does anything with it.
#[test]
fn wrong_key_does_nothing() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let before = world.state.clone();
    let thief = Owner { key: key(4), ..holder };
    for command in commands(thief) {
        assert_eq!(refused(world.execute(command)), "unknown");
        assert!(world.events().is_empty());
        assert!(world.state == before);
    }
}

/// Rule 9. An unknown id and a wrong key are one answer, so that ids cannot be probed.
#[test]
fn unknown_id_and_wrong_key_are_one_answer() {
    let mut world = World::new();
    let claim = world.register(wish("a")).claim;
    for (there, not_there) in commands(Owner { claim, key: key(4) })
        .into_iter()
        .zip(commands(Owner { claim: ClaimId(77), key: key(4) }))
    {
        let wrong = world.execute(there).unwrap_err();
        let unknown = world.execute(not_there).unwrap_err();
        assert_eq!(wrong, Refusal::Unknown { claim });
        assert_eq!(unknown, Refusal::Unknown { claim: ClaimId(77) });
    }
}

/// Rule 9. With the key: renewing, releasing, withdrawing, aborting.
#[test]
fn owner_ends_its_claim_as_it_likes() {
    let mut world = World::new();
    for (end, status) in [
        (World::release as fn(&mut World, Owner) -> _, Released),
        (World::abort, Aborted),
        (World::withdraw, Withdrawn),
    ] {
        let holder = world.register(wish("a"));
        world.renew(holder).unwrap();
        end(&mut world, holder).unwrap();
        assert_eq!(world.status(holder), status);
    }
}

/// Rule 9. A waiter gives up; it has nothing to release.
#[test]
fn waiter_withdraws_or_aborts_but_has_nothing_to_release() {
    let mut world = World::new();
    world.register(wish("a"));
    let first = world.register(wish("a"));
    let second = world.register(wish("a"));
    assert_eq!(refused(world.release(first)), "cannot-end");
    assert_eq!(world.status(first), Waiting);
    world.withdraw(first).unwrap();
    world.abort(second).unwrap();
    assert_eq!(world.status(first), Withdrawn);
    assert_eq!(world.status(second), Aborted);
}

/// Rule 9. The answer to an ending may be lost: asked again it is the same answer, another is not.
#[test]
fn claim_ends_once_and_says_so_twice() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    world.release(holder).unwrap();
    let again = world.release(holder).unwrap();
    assert_eq!(again.claim.status(), Released);
    assert!(world.events().is_empty());
    assert_eq!(refused(world.abort(holder)), "cannot-end");
    assert_eq!(refused(world.withdraw(holder)), "cannot-end");
}

/// Rule 9. A late release frees nobody else's hold.
#[test]
fn release_of_an_ended_claim_does_not_touch_the_next_holder() {
    let mut world = World::new();
    let before = world.register(wish("a").ttl(10));
    let after = world.at(11).register(wish("a"));
    assert_eq!(refused(world.release(before)), "cannot-end");
    assert_eq!(world.status(after), Active);
}

/// Rule 9. Reading and listing never show the key: it never comes in, and its hash is not told.
#[test]
fn what_is_written_about_a_key_does_not_give_it_away() {
    let secret = claims::KeyHash([0xab; 16]);
    let shown = format!("{secret:?}");
    assert!(shown.matches("ab").count() <= 2, "{shown}");
    let mut world = World::new();
    let owner = world.register(wish("a").key(secret));
    let wrong = world.poll(Owner { claim: ClaimId(9), ..owner }).unwrap_err();
    assert!(!wrong.to_string().contains("ab"));
}

/// Rule 9. Keys are compared to their last byte.
#[test]
fn nearly_the_right_key_is_a_wrong_key() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    for byte in 0..16 {
        let mut nearly = holder;
        nearly.key.0[byte] ^= 1;
        assert_eq!(refused(world.renew(nearly)), "unknown");
    }
}

/// Rule 9. A keeper key may only renew.
#[test]
fn keeper_renews_and_does_nothing_else() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let keeper = Owner { key: key(5), ..holder };
    world.appoint(holder, keeper.key).unwrap();
    for command in commands(keeper) {
        let renews = matches!(command, Command::Renew(..));
        let answer = world.execute(command);
        match renews {
            true => drop(answer.unwrap()),
            false => assert_eq!(refused(answer), "keeper-may-only-renew"),
        }
    }
    assert_eq!(world.status(holder), Active);
    world.execute(Command::Renew(keeper, Some(ttl(5)))).unwrap();
    assert_eq!(world.deadline(holder), super::world::secs(5));
}

/// Rule 9. A keeper of one claim is a stranger to the next.
#[test]
fn keeper_of_one_claim_is_unknown_to_another() {
    let mut world = World::new();
    let mine = world.register(wish("a"));
    let other = world.register(wish("b"));
    world.appoint(mine, key(5)).unwrap();
    let stranger = Owner { key: key(5), ..other };
    assert_eq!(refused(world.renew(stranger)), "unknown");
}

/// Rule 9. Keepers are appointed once each, a few at most, to live claims, and survive a restart.
#[test]
fn keepers_are_few_and_remembered() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    for keeper in 0..8 {
        world.appoint(holder, key(keeper)).unwrap();
        world.appoint(holder, key(keeper)).unwrap();
    }
    assert_eq!(world.claim(holder).keepers().len(), 8);
    assert_eq!(refused(world.appoint(holder, key(8))), "too-many-keepers");
    world.restart();
    let keeper = Owner { key: key(3), ..holder };
    world.renew(keeper).unwrap();
    world.release(holder).unwrap();
    assert_eq!(refused(world.appoint(holder, key(9))), "over");
    assert_eq!(refused(world.renew(keeper)), "not-active");
}

/// Rule 9. Handing the key over hands the claim over: who shows it does not matter.
#[test]
fn key_alone_decides_who_the_owner_is() {
    let mut world = World::new();
    let Owner { claim, key } = world.register(wish("a"));
    let heir = Owner { claim, key };
    world.renew(heir).unwrap();
    world.release(heir).unwrap();
}

/// Rule 9. An administrator revokes by id, holders and waiters alike.
#[test]
fn administrator_revokes_by_id() {
    let mut world = World::new();
    let holder = world.register(wish("a"));
    let waiter = world.register(wish("a"));
    let last = world.register(wish("a"));
    world.revoke(waiter.claim).unwrap();
    world.revoke(holder.claim).unwrap();
    world.revoke(holder.claim).unwrap();
    assert_eq!(world.status(holder), Revoked);
    assert_eq!(world.status(waiter), Revoked);
    world.poll(last).unwrap();
    assert_eq!(refused(world.renew(holder)), "not-active");
    assert_eq!(refused(world.poll(waiter)), "over");
    assert_eq!(refused(world.revoke(ClaimId(99))), "unknown");
}

/// Rule 10. The same registration again returns the same claim, and a lost answer leaves no ghost.
#[test]
fn same_registration_again_is_the_same_claim() {
    let mut world = World::new();
    let mine = wish("a b").shared().data("{}").key(key(1));
    let first = world.register(mine.clone());
    assert_eq!(world.register(mine.clone()), first);
    assert_eq!(world.holders("a"), [first.claim]);
    assert_eq!(world.state.tally().active, 1);
    world.renew_for(first, 500).unwrap();
    assert_eq!(world.register(mine.clone()), first, "a renewal changes no terms");
    world.release(first).unwrap();
    let over = world.try_register(mine).unwrap();
    assert_eq!(over.claim.id, first.claim);
    assert_eq!(over.claim.status(), Released, "not taken up again");
}

/// Rule 10. While it waits, too: it keeps its one place.
#[test]
fn same_registration_again_waits_once() {
    let mut world = World::new();
    world.register(wish("a"));
    let mine = wish("a").key(key(1));
    let first = world.register(mine.clone());
    let other = world.register(wish("a"));
    assert_eq!(world.register(mine), first);
    assert_eq!(world.queue("a"), [first.claim, other.claim]);
}

/// Rule 10. A different one under that key is refused, whatever differs.
#[test]
fn different_registration_under_a_key_is_refused() {
    let mut world = World::new();
    let mine = wish("a b").ttl(10).at_most(2).data("x").key(key(1));
    let claim = world.register(mine.clone()).claim;
    let before = world.state.clone();
    for other in [
        wish("a").ttl(10).at_most(2).data("x"),
        wish("b a").ttl(10).at_most(2).data("x"),
        mine.clone().ttl(11),
        mine.clone().shared(),
        mine.clone().data("y"),
        wish("a b").ttl(10).at_most(2),
    ] {
        let refusal = world.try_register(other.key(key(1))).unwrap_err();
        assert_eq!(refusal, Refusal::KeyInUse { claim });
        assert!(world.state == before);
    }
}

/// Rule 10. A key is free again when its claim is forgotten.
#[test]
fn key_of_a_forgotten_claim_makes_a_new_one() {
    let mut world = World::new();
    let mine = wish("a").key(key(1));
    let first = world.register(mine.clone());
    world.release(first).unwrap();
    world.at(86_400).sweep();
    let second = world.register(mine);
    assert!(second.claim > first.claim);
    assert_eq!(world.status(second), Active);
}
