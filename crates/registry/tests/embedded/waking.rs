//! A turn wakes whose turn it is, and nobody else.

use claims::Rules;
use registry::embedded::{Options, open};

use crate::wakes::{Woken, in_one_queue, on_many_resources};

#[tokio::test]
async fn every_grant_wakes_one_waiter_when_all_is_given_back_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), Options::default()).unwrap();
    let woken = on_many_resources(&store, 1_000).await;
    assert_eq!(woken, Woken { grants: 1_000, wakes: 1_000 });
}

#[tokio::test]
async fn every_turn_in_a_long_queue_wakes_one_waiter() {
    let store = registry::memory(Rules::default());
    let woken = in_one_queue(&store, 1_000).await;
    assert_eq!(woken, Woken { grants: 1_000, wakes: 1_000 });
}
