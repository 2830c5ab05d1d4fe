//! Waiting: being there, leaving, coming back.

use std::time::Duration;

use claims::{Command, Owner, Refusal, Status};

use super::{Examined, PATIENCE, is_active};

const SHORT: Duration = Duration::from_millis(30);

/// Rules 3 and 6.
pub async fn open_wait_is_granted_by_the_release(it: &Examined) {
    let (_, holder) = it.register(it.exclusive("r")).await;
    let (_, waiter) = it.register(it.exclusive("r")).await;
    let store = it.store.clone();
    let wait = tokio::spawn(async move {
        store.submit_and_wait(Command::Activate(waiter), PATIENCE).await.expect("the store serves")
    });
    // The queue shows when the waiter is there; then its turn comes with the release itself.
    it.wait_until_seen(waiter).await;
    it.release(holder).await;
    let granted = wait.await.expect("the wait ends").expect("it is granted");
    assert!(is_active(&granted));
}

/// Rule 6.
pub async fn impatient_waiter_keeps_its_place(it: &Examined) {
    let (_, holder) = it.register(it.exclusive("r")).await;
    let registration = it.exclusive("r");
    let key = registration.key;
    let standing = it.wait(Command::Register(registration), SHORT).await.expect("it is told");
    assert_eq!(standing.place.as_ref().expect("it waits").position, 1);
    let owner = Owner { claim: standing.claim.id, key };
    let refusal = it.wait(Command::Activate(owner), SHORT).await.expect_err("it is not its turn");
    assert!(matches!(refusal, Refusal::StillWaiting { position: 1, .. }), "{refusal}");
    it.release(holder).await;
    assert!(is_active(&it.ask(Command::Activate(owner)).await.expect("it is next")));
}

/// Rule 3: nobody is made a holder behind its back.
pub async fn waiter_that_hangs_up_is_not_granted(it: &Examined) {
    let (_, holder) = it.register(it.exclusive("r")).await;
    let (_, waiter) = it.register(it.exclusive("r")).await;
    {
        let wait = it.store.submit_and_wait(Command::Activate(waiter), PATIENCE);
        tokio::select! {
            _ = wait => unreachable!("nobody releases"),
            () = it.wait_until_seen(waiter) => {}
        }
    }
    it.release(holder).await;
    let standing = it.store.standing(waiter.claim).await.expect("served").expect("known");
    assert_eq!(standing.claim.status(), Status::Waiting);
}

/// Rule 9.
pub async fn revoked_waiter_is_told(it: &Examined) {
    let (_, _holder) = it.register(it.exclusive("r")).await;
    let (_, waiter) = it.register(it.exclusive("r")).await;
    let store = it.store.clone();
    let wait = tokio::spawn(async move {
        store.submit_and_wait(Command::Activate(waiter), PATIENCE).await.expect("the store serves")
    });
    it.wait_until_seen(waiter).await;
    it.ask(Command::Revoke(waiter.claim)).await.expect("it waits");
    let refusal = wait.await.expect("the wait ends").expect_err("it was revoked");
    assert!(matches!(refusal, Refusal::Over { status: Status::Revoked, .. }), "{refusal}");
}

/// A client that comes back over a new connection is the one that counts.
pub async fn second_wait_replaces_the_first(it: &Examined) {
    let (_, holder) = it.register(it.exclusive("r")).await;
    let (_, waiter) = it.register(it.exclusive("r")).await;
    let first = it.store.submit_and_wait(Command::Activate(waiter), PATIENCE);
    let second = it.store.submit_and_wait(Command::Activate(waiter), PATIENCE);
    let refusal = first.await.expect("the store serves").expect_err("it was replaced");
    assert!(matches!(refusal, Refusal::StillWaiting { .. }), "{refusal}");
    it.release(holder).await;
    assert!(is_active(&second.await.expect("the store serves").expect("it is granted")));
}

impl Examined {
    /// Returns when the store has noted that the waiter asked.
    async fn wait_until_seen(&self, waiter: Owner) {
        let mut position = 0;
        loop {
            let page = self.store.events(position, 1000).await.expect("the store serves");
            let seen = page.events.iter().any(|kept| {
                matches!(kept.event, claims::Event::Seen { claim, .. } if claim == waiter.claim)
            });
            if seen {
                return;
            }
            position = page.next;
            let more = self.store.wait_for_event(position);
            tokio::time::timeout(PATIENCE, more).await.expect("it is seen").expect("served");
        }
    }
}
