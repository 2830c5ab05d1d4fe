//! Unique names as objects.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use makeshift::Place;
use makeshift::unique_create::{
    Creation, Held, Lost, Mutex, Names, NotMine, Objects, Outcome, Tag, Terms,
};

fn terms(owner: &str, ttl: Duration, patience: Duration) -> Terms {
    Terms {
        ttl: Some(ttl),
        tries: u32::MAX,
        patience: Some(patience),
        pauses: (Duration::from_millis(10), Duration::from_millis(50)),
        ..Terms::new(owner)
    }
}

fn names(place: &Place) -> Arc<dyn Names> {
    Arc::new(Objects::new(place.clone()).unwrap())
}

async fn acquire(mutex: &Mutex) -> Result<Held, NotMine> {
    match mutex.acquire().await? {
        Outcome::Held(held) => Ok(held),
        Outcome::Without(refusal) => Err(refusal),
    }
}

pub(crate) async fn store_honours_conditions(place: &Place) {
    Objects::new(place.clone()).unwrap().prove().await.unwrap();
}

pub(crate) async fn racers_have_one_winner_each_time_with_a_greater_fence(place: &Place) {
    let names = names(place);
    let mut last = 0;
    for round in 0..3 {
        let racers = (0..8).map(|racer| {
            let names = Arc::clone(&names);
            tokio::spawn(async move {
                let tag = Tag {
                    owner: format!("racer {racer}"),
                    attempt: format!("{round}-{racer}"),
                    ttl_ms: None,
                    beat: 0,
                };
                names.create("race", &tag).await.unwrap()
            })
        });
        let racers: Vec<_> = racers.collect();
        let mut winners = Vec::new();
        for racer in racers {
            if let Creation::Created(sign) = racer.await.unwrap() {
                winners.push(sign);
            }
        }
        let [winner] = &winners[..] else { panic!("{winners:?}") };
        assert!(winner.fence.unwrap() > last);
        last = winner.fence.unwrap();
        assert_eq!(names.read("race").await.unwrap().unwrap().tag, winner.tag);
        assert!(names.remove("race", winner).await.unwrap());
        assert!(!names.remove("race", winner).await.unwrap(), "removed twice");
    }
}

pub(crate) async fn dead_holder_is_followed_and_cannot_come_back(place: &Place) {
    let names = names(place);
    let (second, minute) = (Duration::from_secs(1), Duration::from_secs(300));
    // Somebody who created it and died: nobody renews it.
    let dead = Tag { owner: "dead".into(), attempt: "1".into(), ttl_ms: Some(1_000), beat: 0 };
    let Creation::Created(sign) = names.create("follow", &dead).await.unwrap() else { panic!() };
    let next = Mutex::new(Arc::clone(&names), "follow", terms("next", second, minute));
    let held = acquire(&next).await.unwrap();
    assert!(held.fence() > sign.fence);
    // The dead one wakes up: it neither renews nor removes what is not its own.
    assert!(!names.remove("follow", &sign).await.unwrap());
    let swapped = names.swap("follow", &sign, &Tag { beat: 1, ..dead }).await.unwrap();
    assert!(matches!(swapped, Creation::Taken(_)));
    // A live one is not followed: it renews, and others give up.
    let other = Mutex::new(Arc::clone(&names), "follow", terms("other", second, 3 * second));
    match acquire(&other).await {
        Err(refused) => assert!(refused.to_string().contains("next"), "{refused}"),
        // On a machine that stood still for a lease it is, and knows it.
        Ok(_) => return assert!(held.valid_for().is_zero(), "two at once"),
    }
    // Broken, it is told.
    while other.wipe().await.is_err() {}
    assert_eq!(held.lost().await, Lost::Taken(None));
    assert!(held.release().await.is_err());
    let fences: BTreeSet<_> = [acquire(&other).await.unwrap().fence(), sign.fence].into();
    assert_eq!(fences.len(), 2);
}
