//! Who may hold together, in which order, and until when.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use claims::{Command, Farewell, Limit, Refusal, Resources, Status};

use super::{Examined, PATIENCE, fence, is_active, seconds};

/// Rule 1.
pub async fn free_resource_is_granted_at_once(it: &Examined) {
    let (standing, owner) = it.register(it.exclusive("r")).await;
    assert!(is_active(&standing));
    assert!(standing.place.is_none());
    it.release(owner).await;
}

/// Rule 1.
pub async fn exclusive_claim_excludes_all_others(it: &Examined) {
    let (_, holder) = it.register(it.exclusive("r")).await;
    for limit in [Limit::EXCLUSIVE, Limit::SHARED, Limit::at_most(5).expect("a limit")] {
        let (standing, _) = it.register(it.wish("r", limit)).await;
        assert_eq!(standing.claim.status(), Status::Waiting);
        assert_eq!(standing.place.expect("it waits").holders, [holder.claim]);
    }
}

/// Rule 1.
pub async fn shared_claims_hold_together(it: &Examined) {
    for _ in 0..20 {
        assert!(is_active(&it.register(it.wish("r", Limit::SHARED)).await.0));
    }
    assert!(!is_active(&it.register(it.exclusive("r")).await.0));
}

/// Rule 1.
pub async fn semaphore_admits_as_many_as_its_limit(it: &Examined) {
    let three = Limit::at_most(3).expect("a limit");
    let (_, first) = it.register(it.wish("r", three)).await;
    for _ in 0..2 {
        assert!(is_active(&it.register(it.wish("r", three)).await.0));
    }
    let (fourth, owner) = it.register(it.wish("r", three)).await;
    assert!(!is_active(&fourth));
    it.release(first).await;
    assert!(is_active(&it.ask(Command::Activate(owner)).await.expect("it is its turn")));
}

/// Rule 1.
pub async fn smallest_limit_counts(it: &Examined) {
    let limit = |count| Limit::at_most(count).expect("a limit");
    assert!(is_active(&it.register(it.wish("r", limit(5))).await.0));
    assert!(is_active(&it.register(it.wish("r", limit(2))).await.0));
    assert!(!is_active(&it.register(it.wish("r", limit(5))).await.0));
}

/// Rule 7.
pub async fn several_resources_are_granted_all_or_none(it: &Examined) {
    let (_, holder) = it.register(it.exclusive("b")).await;
    let mut both = it.exclusive("a");
    both.resources = Resources::try_from(vec![it.name("a"), it.name("b")]).expect("two names");
    if it.refuses_several(&both).await {
        return;
    }
    let (standing, owner) = it.register(both).await;
    assert!(!is_active(&standing));
    let report = it.store.resource(it.name("a"), 10).await.expect("the store serves");
    assert!(report.holders.is_empty(), "nothing is held while not all is");
    it.release(holder).await;
    assert!(is_active(&it.ask(Command::Activate(owner)).await.expect("both are free")));
    for name in ["a", "b"] {
        let report = it.store.resource(it.name(name), 0).await.expect("the store serves");
        assert_eq!(report.holders[0].id, owner.claim);
    }
}

/// Rule 7.
pub async fn claims_over_several_resources_do_not_deadlock(it: &Examined) {
    let wish = |first: &str, second: &str| {
        let mut wish = it.exclusive(first);
        wish.resources = Resources::try_from(vec![it.name(first), it.name(second)]).expect("names");
        wish
    };
    if it.refuses_several(&wish("a", "b")).await {
        return;
    }
    let rounds = (0..10).flat_map(|_| [("a", "b"), ("b", "c"), ("c", "a")]);
    let all = rounds.map(|(first, second)| {
        let (registration, it) = (wish(first, second), &it);
        async move {
            let key = registration.key;
            let granted =
                it.wait(Command::Register(registration), PATIENCE).await.expect("granted");
            assert!(is_active(&granted), "nobody waits for ever");
            it.release(claims::Owner { claim: granted.claim.id, key }).await;
        }
    });
    for one in all.collect::<Vec<_>>() {
        one.await;
    }
}

/// Rule 2.
pub async fn waiters_are_served_in_turn(it: &Examined) {
    let (_, mut holder) = it.register(it.exclusive("r")).await;
    let mut queue = Vec::new();
    for place in 1..=5 {
        let (standing, owner) = it.register(it.exclusive("r")).await;
        assert_eq!(standing.place.expect("it waits").position, place);
        queue.push(owner);
    }
    while !queue.is_empty() {
        it.release(holder).await;
        for late in queue.iter().skip(1) {
            let refusal = it.ask(Command::Activate(*late)).await.expect_err("others were before");
            assert!(matches!(refusal, Refusal::StillWaiting { .. }), "{refusal}");
        }
        holder = queue.remove(0);
        assert!(is_active(&it.ask(Command::Activate(holder)).await.expect("it is next")));
    }
}

/// Rule 2.
pub async fn newcomer_does_not_barge(it: &Examined) {
    let (_, reader) = it.register(it.wish("r", Limit::SHARED)).await;
    let (_, writer) = it.register(it.exclusive("r")).await;
    let (late_reader, _) = it.register(it.wish("r", Limit::SHARED)).await;
    assert!(!is_active(&late_reader), "the writer was there before");
    it.release(reader).await;
    assert!(is_active(&it.ask(Command::Activate(writer)).await.expect("it is next")));
}

/// Rule 8.
pub async fn every_grant_has_a_greater_fence(it: &Examined) {
    let mut last = 0;
    for _ in 0..5 {
        let (one, first) = it.register(it.wish("r", Limit::SHARED)).await;
        let (two, second) = it.register(it.wish("r", Limit::SHARED)).await;
        assert!(last < fence(&one) && fence(&one) < fence(&two));
        assert!(fence(&two) < 1 << 53, "every JSON reader keeps it exact");
        last = fence(&two);
        it.release(first).await;
        it.release(second).await;
    }
}

/// Rules 4 and 5.
pub async fn lease_that_ends_goes_to_the_next(it: &Examined) {
    let mut short = it.exclusive("r");
    short.ttl = seconds(0.05);
    let (holder, owner) = it.register(short).await;
    let next = it.wait(Command::Register(it.exclusive("r")), PATIENCE).await.expect("granted");
    assert!(is_active(&next));
    assert!(fence(&next) > fence(&holder));
    let refusal = it.ask(Command::Renew(owner, None)).await.expect_err("it was given on");
    assert!(matches!(refusal, Refusal::NotActive { status: Status::Expired, .. }), "{refusal}");
}

/// Rule 4.
pub async fn renewed_lease_does_not_end(it: &Examined) {
    let mut short = it.exclusive("r");
    short.ttl = seconds(0.05);
    let (_, holder) = it.register(short).await;
    it.ask(Command::Renew(holder, Some(seconds(600.0)))).await.expect("it is held");
    let waiter =
        it.wait(Command::Register(it.exclusive("r")), std::time::Duration::from_millis(200));
    assert!(!is_active(&waiter.await.expect("it is told where it stands")));
    it.release(holder).await;
}

/// The one promise that everything is for.
pub async fn contenders_never_overlap(it: &Examined) {
    let inside = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let (store, inside) = (it.store.clone(), inside.clone());
            let wishes: Vec<_> = (0..10).map(|_| it.exclusive("r")).collect();
            tokio::spawn(async move {
                for wish in wishes {
                    let key = wish.key;
                    let granted = store.submit_and_wait(Command::Register(wish), PATIENCE).await;
                    let granted = granted.expect("the store serves").expect("granted");
                    assert!(is_active(&granted), "everybody is served");
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two were inside");
                    tokio::task::yield_now().await;
                    inside.fetch_sub(1, Ordering::SeqCst);
                    let owner = claims::Owner { claim: granted.claim.id, key };
                    let release = Command::End(owner, Farewell::Release);
                    store.submit(release).await.expect("the store serves").expect("it is held");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no contender fails");
    }
}
