//! The reservation mutex against a stand-in that speaks the service's protocol over a real socket.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod stand_in;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use makeshift::unique_create::{
    IfNot, Login, Mutex, NotMine, Outcome, Reservation, Terms, Unreleased,
};

use crate::stand_in::StandIn;

const RESERVATION: &str = "9f3c7d52-0000-4000-8000-0123456789ab";

fn mutex(service: &StandIn, name: &str, owner: &str, tries: u32) -> Mutex {
    let login = Login {
        endpoint: service.endpoint(),
        user: "admin".into(),
        password: "pässword".into(),
        domain: "Global".into(),
    };
    let names = Arc::new(Reservation::new(login, RESERVATION).unwrap());
    let pauses = (Duration::from_millis(5), Duration::from_millis(20));
    Mutex::new(names, name, Terms { tries, pauses, ..Terms::new(owner) })
}

#[tokio::test]
async fn drivers_take_turns_in_a_reservation() {
    let service = StandIn::start().await;
    let inside = AtomicUsize::new(0);
    let one = async |owner: &str| {
        for _ in 0..5 {
            let outcome = mutex(&service, "MUTEX", owner, 10_000).acquire().await.unwrap();
            let Outcome::Held(held) = outcome else { panic!("without") };
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
            tokio::task::yield_now().await;
            inside.fetch_sub(1, Ordering::SeqCst);
            held.release().await.unwrap();
        }
    };
    tokio::join!(one("a"), one("b"), one("c"));
    assert_eq!(service.aliases(), Vec::<String>::new());
    service.assert_cache_was_never_asked();
}

#[tokio::test]
async fn other_names_are_other_locks_and_the_owner_is_recorded() {
    let service = StandIn::start().await;
    let Outcome::Held(first) = mutex(&service, "MUTEX", "X & <Y> ü", 1).acquire().await.unwrap()
    else {
        panic!("without")
    };
    let Outcome::Held(second) = mutex(&service, "OTHER", "Z", 1).acquire().await.unwrap() else {
        panic!("without")
    };
    let refused = mutex(&service, "MUTEX", "Z", 2).acquire().await.unwrap_err();
    assert!(matches!(&refused, NotMine::Held { by: Some(by), .. } if by.tag.owner == "X & <Y> ü"));
    assert!(refused.to_string().contains("tenure blob break"), "{refused}");
    second.release().await.unwrap();
    first.release().await.unwrap();
}

#[tokio::test]
async fn token_that_is_not_known_any_more_costs_one_logon() {
    let service = StandIn::start().await;
    let mutex = mutex(&service, "MUTEX", "a", 1);
    let Outcome::Held(held) = mutex.acquire().await.unwrap() else { panic!("without") };
    service.forget_tokens();
    held.release().await.unwrap();
    assert_eq!(service.aliases(), Vec::<String>::new());
    assert_eq!(service.logons(), 2);
}

#[tokio::test]
async fn lost_reply_to_a_successful_add_is_recognised_as_our_own() {
    let service = StandIn::start().await;
    service.lose_replies_to("AddServiceToReservation", 1);
    let Outcome::Held(held) = mutex(&service, "MUTEX", "a", 5).acquire().await.unwrap() else {
        panic!("without")
    };
    // Under the same owner's name another attempt is somebody else.
    assert!(mutex(&service, "MUTEX", "a", 2).acquire().await.is_err());
    held.release().await.unwrap();
}

#[tokio::test]
async fn try_that_ends_in_silence_leaves_nothing_behind() {
    let service = StandIn::start().await;
    service.lose_replies_to("AddServiceToReservation", 1);
    let refused = mutex(&service, "MUTEX", "a", 1).acquire().await.unwrap_err();
    assert!(matches!(refused, NotMine::Fault(_)), "{refused}");
    assert_eq!(service.aliases(), Vec::<String>::new(), "a lock that nobody knows of");
}

#[tokio::test]
async fn going_on_without_does_not_remove_somebody_else_s_lock() {
    let service = StandIn::start().await;
    let Outcome::Held(held) = mutex(&service, "MUTEX", "a", 1).acquire().await.unwrap() else {
        panic!("without")
    };
    let other = mutex(&service, "MUTEX", "b", 2).if_not(IfNot::GoOn);
    let Outcome::Without(refusal) = other.acquire().await.unwrap() else { panic!("two at once") };
    assert!(refusal.to_string().contains("held by a"), "{refusal}");
    assert_eq!(service.aliases(), ["MUTEX"]);
    held.release().await.unwrap();
}

#[tokio::test]
async fn store_that_lets_two_in_is_caught_by_reading_back() {
    let service = StandIn::start().await;
    service.say_yes_to_everybody();
    let Outcome::Held(held) = mutex(&service, "MUTEX", "a", 1).acquire().await.unwrap() else {
        panic!("without")
    };
    let refused = mutex(&service, "MUTEX", "b", 2).acquire().await.unwrap_err();
    assert!(refused.to_string().contains("held by a"), "{refused}");
    held.release().await.unwrap();
}

#[tokio::test]
async fn stuck_lock_of_others_is_seen_and_broken_deliberately() {
    let service = StandIn::start().await;
    // Left by the simple sample: no owner at all.
    service.add_foreign("MUTEX");
    let mutex = mutex(&service, "MUTEX", "a", 2);
    let refused = mutex.acquire().await.unwrap_err();
    assert!(refused.to_string().contains("left no name"), "{refused}");
    assert_eq!(mutex.wipe().await.unwrap().unwrap().tag.owner, "somebody who left no name");
    let Outcome::Held(held) = mutex.acquire().await.unwrap() else { panic!("without") };
    // Somebody breaks ours and takes it: our release touches nothing.
    mutex.wipe().await.unwrap();
    service.add_foreign("MUTEX");
    assert!(matches!(held.release().await, Err(Unreleased::Lost(_))));
    assert_eq!(service.aliases(), ["MUTEX"]);
}

#[tokio::test]
async fn refusals_of_the_service_are_told_at_once() {
    let service = StandIn::start().await;
    service.refuse_logons();
    let refused = mutex(&service, "MUTEX", "a", 100).acquire().await.unwrap_err();
    assert!(refused.to_string().contains("118"), "{refused}");
    assert_eq!(service.logons(), 1, "a wrong password is not tried again");
}
