//! The contest for a lease in a plain record, a step at a time.

use claims::contest::{
    BadTerms, CannotKeep, Contest, Dice, Ending, Heard, Holding, Joining, Lease, Loss, Machine,
    NotAcquired, Now, Seen, Sighting, Step, Terms, Wall, Why, WriterId,
};
use claims::{Span, Timestamp};

/// A moment: seconds since the start by both clocks.
fn at(secs: f64) -> Now {
    let micros = (secs * 1e6) as u64;
    Now { at: Timestamp::from_micros(micros), wall: Wall(1_000_000_000 + micros) }
}

fn id(text: &str) -> WriterId {
    WriterId::new(text).expect("a good id")
}

fn terms() -> Terms {
    Terms::new(Span::from_secs(30), Span::from_secs(1)).expect("good terms")
}

fn contest(terms: Terms) -> Contest {
    Contest::new(terms, id("me"), 7)
}

/// What a reader finds after this was written.
fn as_read(lease: &Lease) -> Seen {
    Seen::Record(Sighting {
        writer: Some(lease.writer.clone()),
        written_at: lease.released_at.is_none().then_some(lease.written_at),
        expire: Some(lease.expire),
        first_acquired_at: lease.first_acquired_at,
        released: lease.released_at.is_some(),
    })
}

fn record(writer: &str, written_at: f64) -> Sighting {
    Sighting {
        writer: Some(id(writer)),
        written_at: Some(at(written_at).wall),
        expire: Some(Span::from_secs(30)),
        first_acquired_at: Some(at(written_at).wall),
        released: false,
    }
}

fn written<T>(step: Step<T>) -> Lease {
    match step {
        Step::Write { lease, .. } => lease,
        Step::Read { .. } | Step::Wait { .. } | Step::Done(_) => panic!("it does not write"),
    }
}

fn waits<T>(step: Step<T>) -> (Timestamp, Why) {
    match step {
        Step::Wait { until, why } => (until, why),
        Step::Read { .. } | Step::Write { .. } | Step::Done(_) => panic!("it does not wait"),
    }
}

fn done<T>(step: Step<T>) -> T {
    match step {
        Step::Done(outcome) => outcome,
        Step::Read { .. } | Step::Wait { .. } | Step::Write { .. } => panic!("it goes on"),
    }
}

fn reads<T>(step: &Step<T>) -> bool {
    matches!(step, Step::Read { .. })
}

/// Takes a free record without trouble: acquired at second 2.
fn held() -> Holding {
    let mut contest = contest(terms());
    assert!(reads(&contest.step(Heard::Go, at(0.0))));
    let first = written(contest.step(Heard::Saw(Seen::Absent), at(0.1)));
    waits(contest.step(Heard::Wrote, at(0.2)));
    contest.step(Heard::Go, at(1.2));
    let second = written(contest.step(Heard::Saw(as_read(&first)), at(1.3)));
    assert!(reads(&contest.step(Heard::Wrote, at(1.4))));
    done(contest.step(Heard::Saw(as_read(&second)), at(2.0))).expect("acquired")
}

#[test]
fn free_record_is_taken_after_the_margin_and_confirmed() {
    let mut contest = contest(terms());
    assert!(reads(&contest.step(Heard::Go, at(0.0))));
    let first = written(contest.step(Heard::Saw(Seen::Absent), at(0.1)));
    assert_eq!((first.writes, first.first_acquired_at), (1, None));
    // The margin counts from the acknowledgement.
    let (until, why) = waits(contest.step(Heard::Wrote, at(0.2)));
    assert_eq!((until, why), (at(1.2).at, Why::Settling));
    assert!(reads(&contest.step(Heard::Go, at(1.2))));
    let second = written(contest.step(Heard::Saw(as_read(&first)), at(1.3)));
    assert_eq!((second.writes, second.first_acquired_at), (2, Some(at(1.3).wall)));
    assert_eq!(second.writer, first.writer);
    assert!(reads(&contest.step(Heard::Wrote, at(1.4))), "a last look");
    let holding = done(contest.step(Heard::Saw(as_read(&second)), at(1.5))).expect("acquired");
    // Believed in from before the confirmation was sent, less the margin.
    assert_eq!(holding.deadline(), at(1.3 + 29.0).at);
}

#[test]
fn record_is_judged_in_the_order_that_all_contenders_share() {
    let free = |seen: Seen| {
        let mut contest = contest(terms());
        contest.step(Heard::Go, at(100.0));
        matches!(contest.step(Heard::Saw(seen), at(100.0)), Step::Write { .. })
    };
    let fresh = record("other", 90.0);
    assert!(free(Seen::Absent));
    assert!(!free(Seen::Record(fresh.clone())));
    // Released comes before fresh, and fresh before whose it is.
    assert!(free(Seen::Record(Sighting { released: true, ..fresh.clone() })));
    assert!(free(Seen::Record(Sighting { writer: None, written_at: None, ..fresh.clone() })));
    assert!(free(Seen::Record(record("other", 69.9))));
    assert!(!free(Seen::Record(record("other", 70.0))), "the last microsecond is still fresh");
    // A stamp of the future is fresh for that long.
    assert!(!free(Seen::Record(record("other", 3_700.0))));
    // Alive, but not to be understood.
    assert!(!free(Seen::Record(Sighting { writer: None, ..fresh.clone() })));
    assert!(!free(Seen::Record(Sighting { expire: None, ..fresh })));
    assert!(!free(Seen::Unreadable));
}

#[test]
fn longer_of_the_two_expiries_counts() {
    let sighting = Sighting { expire: Some(Span::from_secs(60)), ..record("other", 0.0) };
    assert!(sighting.is_fresh(Span::from_secs(30), at(60.0).wall));
    assert!(!sighting.is_fresh(Span::from_secs(30), at(60.1).wall));
    assert!(sighting.is_fresh(Span::from_secs(90), at(90.0).wall));
}

#[test]
fn who_was_outwritten_begins_anew_under_another_name() {
    let mut contest = contest(terms());
    contest.step(Heard::Go, at(0.0));
    let first = written(contest.step(Heard::Saw(Seen::Absent), at(0.0)));
    contest.step(Heard::Wrote, at(0.1));
    contest.step(Heard::Go, at(1.1));
    let (_, why) = waits(contest.step(Heard::Saw(Seen::Record(record("other", 0.5))), at(1.1)));
    assert_eq!(why, Why::Outwritten);
    contest.step(Heard::Go, at(40.0));
    // A late copy of the first write is somebody else's now: nobody may believe in it.
    let (_, why) = waits(contest.step(Heard::Saw(as_read(&first)), at(20.0)));
    assert_eq!(why, Why::HeldBy(Some(first.writer.clone())));
    contest.step(Heard::Go, at(40.0));
    let second = written(contest.step(Heard::Saw(as_read(&first)), at(40.0)));
    assert_ne!(second.writer, first.writer);
}

#[test]
fn unacknowledged_write_counts_from_when_it_is_seen() {
    let mut contest = contest(terms());
    contest.step(Heard::Go, at(0.0));
    let first = written(contest.step(Heard::Saw(Seen::Absent), at(0.0)));
    contest.step(Heard::Unsure, at(0.8));
    contest.step(Heard::Go, at(2.4));
    // It landed, nobody knows when: whoever looked just before needs the whole margin from here.
    let (until, why) = waits(contest.step(Heard::Saw(as_read(&first)), at(2.5)));
    assert_eq!((until, why), (at(3.5).at, Why::Settling));
    contest.step(Heard::Go, at(3.5));
    written(contest.step(Heard::Saw(as_read(&first)), at(3.5)));
}

#[test]
fn write_is_given_less_time_than_the_margin_counted_from_the_read() {
    let mut contest = contest(terms());
    contest.step(Heard::Go, at(5.0));
    let step = contest.step(Heard::Saw(Seen::Absent), at(5.4));
    assert!(matches!(step, Step::Write { by, .. } if by == at(5.75).at), "{step:?}");
    // Too late to be sent: nothing was written, and the next look decides.
    let (_, why) = waits(contest.step(Heard::NotWritten, at(6.0)));
    assert_eq!(why, Why::Outwritten);
}

#[test]
fn late_confirmation_looks_again_instead_of_giving_up() {
    let mut contest = contest(terms());
    contest.step(Heard::Go, at(0.0));
    let first = written(contest.step(Heard::Saw(Seen::Absent), at(0.0)));
    contest.step(Heard::Wrote, at(0.0));
    contest.step(Heard::Go, at(1.0));
    written(contest.step(Heard::Saw(as_read(&first)), at(2.0)));
    assert!(reads(&contest.step(Heard::NotWritten, at(2.0))));
    written(contest.step(Heard::Saw(as_read(&first)), at(2.1)));
}

#[test]
fn unreadable_record_is_never_written_over_and_not_looked_at_for_ever() {
    let mut contest = contest(terms().patience(None));
    let (mut now, mut looks) = (0.0, 0);
    contest.step(Heard::Go, at(now));
    let refusal = loop {
        looks += 1;
        match contest.step(Heard::Saw(Seen::Unreadable), at(now)) {
            Step::Wait { until, why } => {
                assert_eq!(why, Why::Unreadable);
                now = until.as_micros() as f64 / 1e6;
                assert!(reads(&contest.step(Heard::Go, at(now))));
            }
            Step::Done(outcome) => break outcome.expect_err("not acquired"),
            Step::Read { .. } | Step::Write { .. } => panic!("it is left alone"),
        }
    };
    assert_eq!(refusal, NotAcquired::Unreadable);
    assert!((10..200).contains(&looks), "{looks} looks in {now} seconds");
}

#[test]
fn patience_ends_under_contention_too() {
    let mut contest = contest(terms().patience(Some(Span::from_secs(10))));
    let mut now = 0.0;
    contest.step(Heard::Go, at(now));
    let refusal = loop {
        // It looks free, and somebody always writes after us.
        written(contest.step(Heard::Saw(Seen::Absent), at(now)));
        contest.step(Heard::Wrote, at(now));
        contest.step(Heard::Go, at(now + 1.0));
        match contest.step(Heard::Saw(Seen::Record(record("other", now))), at(now + 1.0)) {
            Step::Wait { until, .. } => {
                now = until.as_micros() as f64 / 1e6;
                contest.step(Heard::Go, at(now));
            }
            Step::Done(outcome) => break outcome.expect_err("not acquired"),
            Step::Read { .. } | Step::Write { .. } => panic!("it pauses first"),
        }
        assert!(now < 60.0);
    };
    assert_eq!(refusal, NotAcquired::Outwritten);
}

#[test]
fn no_patience_means_one_look() {
    let mut contest = contest(terms().patience(Some(Span::ZERO)));
    contest.step(Heard::Go, at(0.0));
    let refusal = done(contest.step(Heard::Saw(Seen::Record(record("other", 0.0))), at(0.0)));
    assert_eq!(refusal.expect_err("held"), NotAcquired::Held(Some(id("other"))));
}

#[test]
fn stale_holder_is_told_and_touches_nothing() {
    let others = [
        (Seen::Record(record("other", 12.0)), Loss::TakenBy(Some(id("other")))),
        (Seen::Absent, Loss::Gone),
        (Seen::Record(Sighting { released: true, ..record("me.1", 12.0) }), Loss::Released),
    ];
    for (seen, loss) in others {
        for wish in [Heard::Go, Heard::Stop] {
            let mut holding = held();
            assert!(reads(&holding.step(wish, at(12.0))), "it looks before it writes");
            let ending = done(holding.step(Heard::Saw(seen.clone()), at(12.1)));
            assert_eq!(ending, Ending::Lost(loss.clone()));
        }
    }
}

#[test]
fn failed_refreshes_are_tried_again_until_the_deadline() {
    let mut holding = held();
    let deadline = holding.deadline();
    let (mut now, mut tries) = (12.0, 0);
    holding.step(Heard::Go, at(now));
    loop {
        tries += 1;
        match holding.step(Heard::Blind, at(now)) {
            Step::Wait { until, .. } => {
                assert!(until <= deadline);
                now = until.as_micros() as f64 / 1e6;
                if let Step::Done(ending) = holding.step(Heard::Go, at(now)) {
                    assert_eq!(ending, Ending::Lost(Loss::Expired));
                    assert_eq!(at(now).at, deadline, "not before the deadline");
                    break;
                }
            }
            Step::Done(_) | Step::Read { .. } | Step::Write { .. } => panic!("it pauses first"),
        }
    }
    assert!(tries > 10, "{tries}");
}

#[test]
fn refresh_moves_the_deadline_only_when_it_is_acknowledged() {
    let mut holding = held();
    let before = holding.deadline();
    let lease = holding.lease().clone();
    holding.step(Heard::Go, at(12.0));
    written(holding.step(Heard::Saw(as_read(&lease)), at(12.5)));
    waits(holding.step(Heard::Unsure, at(13.0)));
    assert_eq!(holding.deadline(), before);
    holding.step(Heard::Go, at(14.0));
    let again = written(holding.step(Heard::Saw(as_read(&lease)), at(14.5)));
    waits(holding.step(Heard::Wrote, at(15.0)));
    assert_eq!(holding.deadline(), at(14.5 + 29.0).at, "from before it was sent");
    assert_eq!(again.first_acquired_at, lease.first_acquired_at);
}

#[test]
fn holder_that_slept_past_its_deadline_writes_nothing() {
    let mut holding = held();
    let lease = holding.lease().clone();
    assert!(reads(&holding.step(Heard::Go, at(12.0))));
    // The answer still shows its own name, but the process was asleep in between.
    let ending = done(holding.step(Heard::Saw(as_read(&lease)), at(100.0)));
    assert_eq!(ending, Ending::Lost(Loss::Expired));
}

#[test]
fn release_that_a_refresh_ran_over_is_written_again() {
    let mut holding = held();
    let lease = holding.lease().clone();
    assert!(reads(&holding.step(Heard::Stop, at(5.0))));
    let release = written(holding.step(Heard::Saw(as_read(&lease)), at(5.0)));
    assert!(release.released_at.is_some());
    // The remote had read before, and has the margin to write in: only then is there something to see.
    assert_eq!(waits(holding.step(Heard::Wrote, at(5.1))).0, at(6.1).at);
    assert!(reads(&holding.step(Heard::Go, at(6.1))));
    let again = written(holding.step(Heard::Saw(as_read(&lease)), at(6.2)));
    assert!(again.released_at.is_some());
    assert_eq!(waits(holding.step(Heard::Wrote, at(6.3))).0, at(7.3).at);
    assert!(reads(&holding.step(Heard::Go, at(7.3))));
    assert_eq!(done(holding.step(Heard::Saw(as_read(&again)), at(7.4))), Ending::Released);
}

/// The lease may end while the owner waits to see what became of its release. It looks, and touches
/// nothing.
#[test]
fn release_is_looked_at_even_when_the_lease_is_over_by_then() {
    let last_moment = |seen: &dyn Fn(&Lease) -> Seen| {
        let mut holding = held();
        let (lease, end) = (holding.lease().clone(), holding.deadline().as_micros() as f64 / 1e6);
        holding.step(Heard::Stop, at(end - 0.3));
        let release = written(holding.step(Heard::Saw(as_read(&lease)), at(end - 0.2)));
        waits(holding.step(Heard::Wrote, at(end - 0.1)));
        assert!(reads(&holding.step(Heard::Go, at(end + 0.9))));
        done(holding.step(Heard::Saw(seen(&release)), at(end + 1.0)))
    };
    assert_eq!(last_moment(&as_read), Ending::Released);
    let refreshed = |release: &Lease| as_read(&Lease { released_at: None, ..release.clone() });
    assert_eq!(last_moment(&refreshed), Ending::Unreleased);
}

#[test]
fn release_that_somebody_took_up_at_once_is_a_release() {
    let mut holding = held();
    let lease = holding.lease().clone();
    holding.step(Heard::Stop, at(5.0));
    written(holding.step(Heard::Saw(as_read(&lease)), at(5.0)));
    waits(holding.step(Heard::Wrote, at(5.1)));
    assert!(reads(&holding.step(Heard::Go, at(6.1))));
    let next = Seen::Record(record("next", 5.1));
    assert_eq!(done(holding.step(Heard::Saw(next), at(6.2))), Ending::Released);
}

fn join(expected: Option<&str>, seen: Seen, now: f64) -> Result<Holding, CannotKeep> {
    let mut joining = Joining::new(expected.map(id), Span::from_secs(1), 3);
    assert!(reads(&joining.step(Heard::Go, at(now))));
    done(joining.step(Heard::Saw(seen), at(now)))
}

#[test]
fn remote_accepts_only_the_live_lease_of_its_own_writer() {
    let lease = record("owner", 0.0);
    let table = [
        (Some("owner"), Seen::Absent, CannotKeep::NoLease),
        (Some("owner"), Seen::Record(record("other", 0.0)), CannotKeep::LostTo(Some(id("other")))),
        (
            Some("owner"),
            Seen::Record(Sighting { released: true, ..lease.clone() }),
            CannotKeep::Released,
        ),
        (None, Seen::Record(Sighting { expire: None, ..lease.clone() }), CannotKeep::NoExpiry),
        (
            None,
            Seen::Record(Sighting { expire: Some(Span::ZERO), ..lease.clone() }),
            CannotKeep::NoExpiry,
        ),
        (
            None,
            Seen::Record(Sighting { first_acquired_at: None, ..lease.clone() }),
            CannotKeep::NeverAcquired,
        ),
        (Some("owner"), Seen::Record(record("owner", 0.0)), CannotKeep::Expired),
    ];
    for (expected, seen, refusal) in table {
        let now = if refusal == CannotKeep::Expired { 31.0 } else { 5.0 };
        assert_eq!(join(expected, seen, now), Err(refusal));
    }
    assert!(join(Some("owner"), Seen::Record(lease.clone()), 5.0).is_ok());
    assert!(join(None, Seen::Record(lease), 5.0).is_ok());
}

#[test]
fn remote_keeps_the_terms_of_the_lease_and_never_releases() {
    let lease = record("owner", 0.0);
    let mut remote = join(Some("owner"), Seen::Record(lease.clone()), 5.0).expect("joined");
    assert_eq!(remote.deadline(), at(29.0).at, "what is left of it");
    // At once: nobody knows when the owner refreshes next.
    assert!(reads(&remote.step(Heard::Go, at(5.0))));
    let write = written(remote.step(Heard::Saw(Seen::Record(lease.clone())), at(5.1)));
    assert_eq!((write.writes, write.by_remote), (1, true));
    assert_eq!(write.first_acquired_at, lease.first_acquired_at);
    assert_eq!(write.expire, Span::from_secs(30));
    waits(remote.step(Heard::Wrote, at(5.2)));
    assert_eq!(done(remote.step(Heard::Stop, at(6.0))), Ending::Left);
}

#[test]
fn remote_does_not_revive_a_released_lease() {
    let lease = record("owner", 0.0);
    let mut remote = join(Some("owner"), Seen::Record(lease.clone()), 5.0).expect("joined");
    remote.step(Heard::Go, at(5.0));
    let released = Seen::Record(Sighting { released: true, written_at: None, ..lease });
    assert_eq!(done(remote.step(Heard::Saw(released), at(5.1))), Ending::Lost(Loss::Released));
}

#[test]
fn pauses_grow_and_no_two_contenders_keep_in_step() {
    let pause = |seed, nth| Dice::new(seed).backing_off(Span::from_millis(200), nth, 32);
    for nth in 0..10 {
        let about = 200_000 * (1 << nth.min(5));
        for seed in 0..100 {
            let micros = pause(seed, nth).as_micros();
            assert!((about / 2..=about / 2 * 3).contains(&micros), "{micros} at {nth}");
        }
        assert_ne!(pause(1, nth), pause(2, nth));
    }
}

#[test]
fn bad_terms_are_refused() {
    let secs = Span::from_secs;
    assert_eq!(Terms::new(secs(30), secs(16)), Err(BadTerms::MarginTooLong));
    assert_eq!(Terms::new(secs(30), Span::ZERO), Err(BadTerms::MarginTooShort));
    assert!(Terms::new(secs(30), secs(15)).is_ok(), "equal is allowed");
    assert_eq!(WriterId::new(""), None);
    assert_eq!(WriterId::new("a/b"), None);
}
