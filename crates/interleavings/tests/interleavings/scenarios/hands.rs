//! Threads that do the desk's work beside its own.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use claims::{Command, Farewell};
use shuttle::future::block_on;

use crate::desk::{Books, Desk};
use crate::model::sync::Arc;
use crate::model::sync::atomic::{AtomicBool, Ordering};
use crate::model::thread;
use crate::rig::{always, catches};
use crate::scenarios::desk::{desk, is_active, owner, register};
use crate::store::{Pending, Store};

const LONG: Duration = Duration::from_secs(3600);

/// Asks, and lends a hand until it is answered.
pub(super) fn ask<'a, B: Books, T>(desk: &'a Desk<B>, ask: impl FnOnce() -> Pending<'a, T>) -> T {
    let mut hand = Store::lend_a_hand(desk);
    let (mut ask, mut pending) = (Some(ask), None);
    let answer = block_on(poll_fn(|cx| {
        assert!(hand.as_mut().poll(cx).is_pending(), "a hand is lent until it is taken away");
        let pending = pending.get_or_insert_with(|| ask.take().expect("asked once")());
        pending.as_mut().poll(cx)
    }));
    answer.expect("served")
}

/// Two lend a hand, one does not, and all of them want the same.
fn hands_and_others_take_turns() {
    let desk = desk();
    let inside = Arc::new(AtomicBool::new(false));
    let claimants = [1, 2, 3].map(|nth| {
        let (desk, inside) = (desk.clone(), inside.clone());
        thread::spawn(move || {
            let wait = || desk.submit_and_wait(register(nth, "one"), LONG);
            let granted =
                if nth < 3 { ask(&desk, wait) } else { block_on(wait()).expect("served") };
            let standing = granted.expect("granted");
            assert!(is_active(&standing), "told before it holds");
            assert!(!inside.swap(true, Ordering::SeqCst), "two hold");
            inside.store(false, Ordering::SeqCst);
            let release = || desk.submit(Command::End(owner(nth, &standing), Farewell::Release));
            ask(&desk, release).expect("it is ours");
        })
    });
    claimants.into_iter().for_each(|claimant| claimant.join().unwrap());
}

/// Patience ends by itself, and whoever lent a hand is asleep then.
fn patience_ends_while_every_hand_sleeps() {
    let desk = desk();
    let holder = ask(&desk, || desk.submit(register(1, "one"))).expect("known");
    assert!(is_active(&holder));
    let moment = Duration::from_millis(1);
    let told = ask(&desk, || desk.submit_and_wait(register(2, "one"), moment)).expect("known");
    assert!(!is_active(&told), "two hold");
}

/// A hand is taken away between a question and the answer.
fn hand_is_taken_away() {
    let desk = desk();
    let mut hand = Store::lend_a_hand(&*desk);
    block_on(poll_fn(|cx| {
        assert!(hand.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    }));
    let asked = desk.submit(register(1, "one"));
    drop(hand);
    assert!(block_on(asked).expect("served").is_ok());
}

#[test]
fn whoever_lends_a_hand_or_not_has_its_turn_and_no_two_have_it() {
    always(hands_and_others_take_turns);
    catches("leaves without a look", "deadlock", hands_and_others_take_turns);
}

#[test]
fn what_is_due_by_itself_happens_although_hands_did_the_rest() {
    always(patience_ends_while_every_hand_sleeps);
    catches("reminds only who sleeps", "deadlock", patience_ends_while_every_hand_sleeps);
}

#[test]
fn what_was_asked_before_a_hand_was_taken_away_is_answered() {
    always(hand_is_taken_away);
    catches("goes and says nothing", "deadlock", hand_is_taken_away);
}
