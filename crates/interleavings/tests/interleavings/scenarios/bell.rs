//! Answers that come from another thread, and those who sleep until then.

use std::pin::pin;
use std::task::Poll;

use shuttle::future::block_on;

use crate::bell::Bell;
use crate::model::sync::Arc;
use crate::model::{thread, tokio::oneshot};
use crate::rig::{always, catches};

/// Two wait, the store answers both, and the one who wakes them may come late and leave early.
fn two_wait_and_the_ringer_comes_and_goes() {
    let bell = Arc::new(Bell::default());
    let (first, one) = oneshot::channel();
    let (second, two) = oneshot::channel();
    let waiting = [one, two].map(|answer| {
        let bell = bell.clone();
        thread::spawn(move || block_on(bell.wait_for(answer)).expect("answered"))
    });
    let ringer = thread::spawn({
        let bell = bell.clone();
        move || {
            let mut listening = pin!(bell.listen());
            let mut left = 2;
            // It listens twice, and is then gone.
            block_on(std::future::poll_fn(|cx| {
                left -= 1;
                assert!(listening.as_mut().poll(cx).is_pending());
                cx.waker().wake_by_ref();
                if left == 0 { Poll::Ready(()) } else { Poll::Pending }
            }));
        }
    });
    let store = thread::spawn(move || {
        first.send(1).expect("somebody waits");
        second.send(2).expect("somebody waits");
    });
    assert_eq!(waiting.map(|one| one.join().unwrap()), [1, 2]);
    ringer.join().unwrap();
    store.join().unwrap();
}

/// The same with a ringer that sleeps until it is rung for.
fn two_wait_and_the_ringer_sleeps() {
    let bell = Arc::new(Bell::default());
    let ringer = shuttle::future::spawn(bell.clone().listen());
    let (first, one) = oneshot::channel();
    let (second, two) = oneshot::channel();
    let waiting = [one, two].map(|answer| {
        let bell = bell.clone();
        shuttle::future::spawn(async move { bell.wait_for(answer).await.expect("answered") })
    });
    let store = thread::spawn(move || {
        first.send(1).expect("somebody waits");
        second.send(2).expect("somebody waits");
    });
    for one in waiting {
        block_on(one).expect("it runs to its end");
    }
    ringer.abort();
    store.join().unwrap();
}

#[test]
fn everybody_who_is_answered_wakes_whether_or_not_somebody_rings() {
    always(two_wait_and_the_ringer_comes_and_goes);
    always(two_wait_and_the_ringer_sleeps);
    catches("polls before it listens", "deadlock", two_wait_and_the_ringer_sleeps);
    catches("deaf and silent", "deadlock", two_wait_and_the_ringer_comes_and_goes);
}
