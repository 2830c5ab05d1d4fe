//! Leases in blobs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use claims::Span;
use claims::contest::{CannotKeep, Ending, Loss, NotAcquired, Terms};
use makeshift::Place;
use makeshift::last_writer::{LastWriter, LeaseState, NotHeld, Unless, list, wipe};

fn terms(expire: u64, patience: Option<Span>) -> Terms {
    Terms::new(Span::from_secs(expire), Span::from_millis(300)).unwrap().patience(patience)
}

fn lock(place: &Place, name: &str, terms: Terms) -> LastWriter {
    LastWriter::new(place.clone(), name, terms).unwrap()
}

pub(crate) async fn one_holder_at_a_time(place: &Place) {
    let inside = AtomicUsize::new(0);
    let one = async || {
        let lease = lock(place, "lw/one/lock", terms(60, None)).acquire().await.unwrap();
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
        tokio::time::sleep(Duration::from_millis(20)).await;
        inside.fetch_sub(1, Ordering::SeqCst);
        assert_eq!(lease.release().await, Ending::Released);
    };
    tokio::join!(one(), one(), one(), one());
}

pub(crate) async fn result_or_lease_whichever_comes_first(place: &Place) {
    let at_once = terms(60, Some(Span::ZERO));
    let held = lock(place, "lw/two/lock", terms(60, None)).acquire().await.unwrap();
    let refused = lock(place, "lw/two/lock", at_once).acquire().await.unwrap_err();
    let by = Some(held.writer().clone());
    assert!(
        matches!(refused, NotHeld::NotAcquired { why: NotAcquired::Held(other), .. } if other == by)
    );
    // The result is there first: nothing is held.
    let asked = AtomicUsize::new(0);
    let third_time =
        || std::future::ready((asked.fetch_add(1, Ordering::SeqCst) >= 2).then_some(42));
    let lock = lock(place, "lw/two/lock", terms(60, None));
    assert!(matches!(lock.acquire_unless(third_time).await.unwrap(), Unless::Done(42)));
    // It comes with the release: whoever acquires then finds it, and gives the lease back.
    held.release().await;
    asked.store(0, Ordering::SeqCst);
    let second_time =
        || std::future::ready((asked.fetch_add(1, Ordering::SeqCst) >= 1).then_some(43));
    assert!(matches!(lock.acquire_unless(second_time).await.unwrap(), Unless::Done(43)));
    // There is none: the lease.
    let never = || std::future::ready(None::<()>);
    let Unless::Acquired(lease) = lock.acquire_unless(never).await.unwrap() else { panic!() };
    assert_eq!(lease.release().await, Ending::Released);
}

pub(crate) async fn remote_keeps_and_stale_holder_is_told(place: &Place) {
    let lock = lock(place, "lw/three/lock", terms(9, None));
    let owner = lock.acquire().await.unwrap();
    let remote = lock.join(Some(owner.writer().clone())).await.unwrap();
    assert_eq!(remote.writer(), owner.writer());
    // Somebody takes it away: both are told, and neither writes any more.
    while wipe(place, "lw/three/lock").await.unwrap().state != LeaseState::Released {}
    assert_eq!((owner.lost().await, remote.lost().await), (Loss::Released, Loss::Released));
    assert_eq!(owner.release().await, Ending::Lost(Loss::Released));
    let late = lock.join(None).await.unwrap_err();
    assert!(matches!(
        late,
        NotHeld::CannotKeep { why: CannotKeep::Released | CannotKeep::NeverAcquired, .. }
    ));
}

pub(crate) async fn leases_are_listed(place: &Place) {
    let held = lock(place, "lw/four/lock", terms(60, None)).acquire().await.unwrap();
    let reports = list(place).await.unwrap();
    let state =
        |name: &str| reports.iter().find(|one| one.lease.contains(name)).map(|one| one.state);
    assert_eq!(state("lw/four"), Some(LeaseState::Held));
    assert_eq!(state("lw/one"), Some(LeaseState::Released));
    held.release().await;
}
