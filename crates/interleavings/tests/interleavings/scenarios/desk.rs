//! The one thread that decides, and those who ask it.

use std::ops::Deref;
use std::time::Duration;

use claims::{
    ClaimId, Command, Farewell, KeyHash, Limit, Name, Owner, Phase, Registration, Resources, Rules,
    Span, Standing, Ttl, WallTime,
};
use shuttle::future::block_on;

use crate::desk::{Books, Clocks, Desk, Unwritten};
use crate::embedded::Reading;
use crate::model::sync::Arc;
use crate::model::sync::atomic::{AtomicBool, Ordering};
use crate::model::{thread, time};
use crate::rig::{always, catches};
use crate::store::{Answer, Store};

/// Nobody's patience ends before everything else has.
const LONG: Duration = Duration::from_secs(3600);

pub(super) struct ModelClocks;

impl Clocks for ModelClocks {
    fn read(&self) -> Reading {
        let since = time::now().as_micros() as u64;
        Reading { boot: Span::from_micros(1_000_000 + since), wall: WallTime(0) }
    }
}

/// A handle to a desk. When a scenario has failed, nobody can wait for the desk to close.
pub(super) struct Handle<B: Books>(Option<Arc<Desk<B>>>);

impl<B: Books> Clone for Handle<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Books> Deref for Handle<B> {
    type Target = Desk<B>;

    fn deref(&self) -> &Desk<B> {
        self.0.as_ref().expect("it is there until this is dropped")
    }
}

impl<B: Books> Drop for Handle<B> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::mem::forget(self.0.take());
        }
    }
}

pub(super) fn open<B: Books>(books: B) -> Handle<B> {
    let desk = Desk::open(books, Box::new(ModelClocks), |fatal| panic!("{fatal}"));
    Handle(Some(Arc::new(desk)))
}

pub(super) fn desk() -> Handle<Unwritten> {
    open(Unwritten::new(Rules::default(), ModelClocks.read()))
}

pub(super) fn register(nth: u8, name: &str) -> Command {
    Command::Register(Registration {
        key: KeyHash([nth; 16]),
        resources: Resources::one(Name::new(name).expect("a name")),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::from_secs_f64(3600.0).expect("a ttl"),
        data: None,
    })
}

pub(super) fn owner(nth: u8, standing: &Standing) -> Owner {
    Owner { claim: standing.claim.id, key: KeyHash([nth; 16]) }
}

pub(super) fn is_active(standing: &Standing) -> bool {
    matches!(standing.claim.phase, Phase::Active(_))
}

/// Registers, and holds at once.
fn hold<B: Books>(desk: &Desk<B>, nth: u8, name: &str) -> Owner {
    let standing = block_on(desk.submit(register(nth, name))).expect("served").expect("known");
    assert!(is_active(&standing), "nobody else wants it");
    owner(nth, &standing)
}

fn end<B: Books>(desk: &Desk<B>, owner: Owner, farewell: Farewell) {
    block_on(desk.submit(Command::End(owner, farewell))).expect("served").expect("it is ours");
}

fn holds<B: Books>(desk: &Desk<B>, claim: ClaimId) -> bool {
    is_active(&block_on(desk.standing(claim)).expect("served").expect("known"))
}

/// Three want the same, each waits for it, and gives it back.
fn three_take_turns() {
    let desk = desk();
    let inside = Arc::new(AtomicBool::new(false));
    let claimants: Vec<_> = (1..=3)
        .map(|nth| {
            let (desk, inside) = (desk.clone(), inside.clone());
            thread::spawn(move || {
                let granted = block_on(desk.submit_and_wait(register(nth, "one"), LONG));
                let standing = granted.expect("served").expect("granted");
                assert!(is_active(&standing), "told before it holds");
                assert!(!inside.swap(true, Ordering::SeqCst), "two hold");
                inside.store(false, Ordering::SeqCst);
                end(&desk, owner(nth, &standing), Farewell::Release);
            })
        })
        .collect();
    claimants.into_iter().for_each(|claimant| claimant.join().unwrap());
}

/// Two ask, and somebody stops the desk in the middle of it.
fn two_ask_while_it_stops() {
    let desk = desk();
    let before = desk.submit(register(9, "before"));
    let askers = [1, 2].map(|nth| {
        let desk = desk.clone();
        thread::spawn(move || {
            let waited = desk.submit_and_wait(register(nth, "same"), LONG);
            // Answered, or told that it is closed: both is well, as long as it returns.
            let _ = block_on(desk.submit(register(nth + 10, "other")));
            let _ = block_on(waited);
            let _ = block_on(desk.vitals());
        })
    });
    desk.close_early();
    assert!(block_on(before).is_ok_and(|it| it.is_ok()), "asked before it stopped, not answered");
    askers.into_iter().for_each(|asker| asker.join().unwrap());
}

/// One hangs up at any moment, also while it is being granted its turn.
fn one_hangs_up_in_the_middle() {
    let desk = desk();
    let holder = hold(&desk, 1, "one");
    let waiting = desk.submit_and_wait(register(2, "one"), LONG);
    let other = thread::spawn({
        let desk = desk.clone();
        move || drop(block_on(desk.vitals()))
    });
    let releaser = thread::spawn({
        let desk = desk.clone();
        move || end(&desk, holder, Farewell::Release)
    });
    drop(waiting);
    other.join().unwrap();
    releaser.join().unwrap();
    // The next one asks behind it, and has its turn as soon as the leaver's own key gives it up.
    let next = desk.submit_and_wait(register(3, "one"), LONG);
    let standing = block_on(desk.submit(register(2, "one"))).expect("served").expect("known");
    end(&desk, owner(2, &standing), Farewell::Abort);
    let granted = block_on(next).expect("served").expect("granted");
    assert!(is_active(&granted), "a ghost holds");
}

/// Nobody listens any more when the turn comes: then it is kept, not given.
fn nobody_is_there_when_the_turn_comes() {
    let desk = desk();
    let holder = hold(&desk, 1, "one");
    let waiter = block_on(desk.submit(register(2, "one"))).expect("served").expect("known");
    let waiting = desk.submit_and_wait(Command::Activate(owner(2, &waiter)), LONG);
    let other = thread::spawn({
        let desk = desk.clone();
        move || drop(block_on(desk.vitals()))
    });
    drop(waiting);
    end(&desk, holder, Farewell::Release);
    assert!(!holds(&desk, waiter.claim.id), "made a holder behind its back");
    other.join().unwrap();
}

/// The same claim waits twice, as over a new connection, and the first wait goes away at any moment.
fn the_same_claim_waits_again() {
    let desk = desk();
    let holder = hold(&desk, 1, "one");
    let first = desk.submit_and_wait(register(2, "one"), LONG);
    let standing = block_on(desk.vitals());
    assert_eq!(standing.expect("served").tally.waiting, 1);
    let again = [(), ()].map(|()| {
        let desk = desk.clone();
        thread::spawn(move || block_on(desk.submit_and_wait(register(2, "one"), LONG)))
    });
    drop(first);
    end(&desk, holder, Farewell::Release);
    let told = again.map(|wait| wait.join().unwrap());
    let granted = |it: &Result<Answer, _>| matches!(it, Ok(Ok(standing)) if is_active(standing));
    assert!(told.iter().all(Result::is_ok), "nobody answered a wait: {told:?}");
    assert!(told.iter().any(granted), "nobody was told of the turn: {told:?}");
}

/// Patience ends while the turn comes.
fn patience_ends_while_the_turn_comes() {
    let desk = desk();
    let holder = hold(&desk, 1, "one");
    let impatient = thread::spawn({
        let desk = desk.clone();
        move || {
            let moment = Duration::from_millis(1);
            block_on(desk.submit_and_wait(register(2, "one"), moment)).expect("served")
        }
    });
    end(&desk, holder, Farewell::Release);
    let told = impatient.join().unwrap();
    let standing = told.expect("it registered, so it is told where it stands");
    let held = holds(&desk, standing.claim.id);
    assert_eq!(held, is_active(&standing), "told one thing, and the other is true");
}

#[test]
fn nobody_who_waits_misses_its_turn_and_no_two_have_it() {
    always(three_take_turns);
    catches("nap without a look", "deadlock", three_take_turns);
}

#[test]
fn what_was_asked_before_the_desk_stops_is_answered_and_nobody_hangs() {
    always(two_ask_while_it_stops);
    catches("stops before it answers", "not answered", two_ask_while_it_stops);
    catches("closed and still open", "deadlock", two_ask_while_it_stops);
}

#[test]
fn wait_that_is_dropped_leaves_no_holder() {
    always(nobody_is_there_when_the_turn_comes);
    catches("nobody misses it", "behind its back", nobody_is_there_when_the_turn_comes);
}

#[test]
fn wait_that_is_dropped_while_it_is_granted_can_be_given_up_by_its_key() {
    always(one_hangs_up_in_the_middle);
    catches("nap without a look", "deadlock", one_hangs_up_in_the_middle);
}

#[test]
fn wait_that_goes_away_does_not_take_its_successor_along() {
    always(the_same_claim_waits_again);
    catches("an old ticket opens a new wait", "nobody", the_same_claim_waits_again);
}

#[test]
fn who_is_told_that_it_still_waits_does_not_hold() {
    always(patience_ends_while_the_turn_comes);
    catches("patience ends and it stays", "the other is true", patience_ends_while_the_turn_comes);
}
