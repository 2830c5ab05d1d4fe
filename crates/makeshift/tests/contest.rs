//! The contest in simulation: a hundred thousand acquisitions with everything that can go wrong.
//!
//! Each window of the documentation is opened alone. Just inside what is promised nobody ever holds
//! twice; beyond it somebody does (or the simulation would prove nothing), within the bound that is
//! printed.

use claims::Span;
use claims::contest::Terms;
use makeshift::measure::{Fault, Faults, Latencies, Tally, Trial, simulate};

const ACQUISITIONS: u64 = 100_000;

/// A healthy network: half of the requests within 15 ms, one in a hundred over 60.
fn trial(margin: Span, faults: Faults) -> Trial {
    Trial {
        contenders: 6,
        terms: Terms::new(Span::from_secs(30), margin).expect("good terms"),
        latencies: Latencies::of_a_network(Span::from_millis(15), Span::from_millis(60)),
        hold: Span::from_secs(1),
        faults,
        conditional: false,
        acquisitions: ACQUISITIONS,
    }
}

/// Runs it on two seeds, as `measure` does on the first: what that prints must hold for the second.
fn within_bound(trial: &Trial) -> Tally {
    let few = Trial { acquisitions: ACQUISITIONS / 4, ..trial.clone() };
    let (printed, seen) = (simulate(&few, 1), simulate(trial, 2));
    assert_eq!(seen.acquisitions, ACQUISITIONS);
    assert!(seen.rate() <= printed.bound(), "{seen:?} exceeds the bound of {printed:?}");
    assert_eq!((printed.unexplained, seen.unexplained), (0, 0), "{printed:?} {seen:?}");
    seen
}

fn second() -> Span {
    Span::from_secs(1)
}

#[test]
fn healthy_network_never_has_two_holders_with_the_default_margin() {
    let tally = within_bound(&trial(second(), Faults::default()));
    assert_eq!((tally.double, tally.lost), (0, 0), "{tally:?}");
}

#[test]
fn delayed_writes_within_the_margin_harm_nobody() {
    // A read and a write that both stall need less than three quarters of a second.
    let stalls = Fault::new(20_000, Span::from_millis(300));
    let tally = within_bound(&trial(second(), Faults { stalls, ..Faults::default() }));
    assert_eq!(tally.double, 0, "{tally:?}");
}

#[test]
fn delayed_writes_beyond_the_margin_are_the_documented_window() {
    let stalls = Fault::new(1_000, Span::from_secs(10));
    let short = within_bound(&trial(second(), Faults { stalls, ..Faults::default() }));
    let long = within_bound(&trial(Span::from_secs(5), Faults { stalls, ..Faults::default() }));
    assert!(short.double > 0, "the simulation shows nothing: {short:?}");
    assert!(long.double < short.double, "a longer margin is safer: {long:?} {short:?}");
}

#[test]
fn duplicated_and_reordered_writes_stay_within_their_window() {
    let duplicates = Fault::new(1_000, Span::from_secs(10));
    let tally = within_bound(&trial(second(), Faults { duplicates, ..Faults::default() }));
    assert!(tally.double > 0, "the simulation shows nothing: {tally:?}");
    let soon = Fault::new(100_000, Span::from_millis(500));
    let tally = within_bound(&trial(second(), Faults { duplicates: soon, ..Faults::default() }));
    assert_eq!(tally.double, 0, "a copy within the margin: {tally:?}");
}

#[test]
fn stale_reads_stay_within_their_window() {
    let stale_reads = Fault::new(1_000, Span::from_secs(5));
    let tally = within_bound(&trial(second(), Faults { stale_reads, ..Faults::default() }));
    assert!(tally.double > 0, "the simulation shows nothing: {tally:?}");
}

#[test]
fn clocks_may_be_apart_by_half_a_lease() {
    // Fifteen seconds between the fastest and the slowest.
    let skew = Span::from_millis(7_500);
    let tally = within_bound(&trial(second(), Faults { skew, ..Faults::default() }));
    assert_eq!(tally.double, 0, "{tally:?}");
    let hold = Span::from_secs(60);
    let far = Faults { skew: Span::from_secs(25), ..Faults::default() };
    let tally = simulate(&Trial { hold, acquisitions: 2_000, ..trial(second(), far) }, 1);
    assert!(tally.double > 0, "the simulation shows nothing: {tally:?}");
}

#[test]
fn paused_holder_stops_by_itself_and_touches_nothing_of_its_successor() {
    let pauses = Fault::new(1_000, Span::from_secs(60));
    let tally = within_bound(&trial(second(), Faults { pauses, ..Faults::default() }));
    assert!(tally.lost > 0, "nobody was paused past its lease: {tally:?}");
    assert!(tally.rate() < 1e-3, "{tally:?}");
}

#[test]
fn everything_at_once_stays_within_the_printed_bound() {
    let faults = Faults {
        stalls: Fault::new(1_000, Span::from_secs(10)),
        duplicates: Fault::new(1_000, Span::from_secs(10)),
        stale_reads: Fault::new(100, Span::from_secs(1)),
        pauses: Fault::new(100, Span::from_secs(60)),
        skew: Span::ZERO,
    };
    within_bound(&trial(second(), faults));
}

#[test]
fn store_that_can_refuse_a_put_has_one_holder_whatever_is_delayed_or_doubled() {
    let faults = Faults {
        stalls: Fault::new(5_000, Span::from_secs(20)),
        duplicates: Fault::new(5_000, Span::from_secs(20)),
        ..Faults::default()
    };
    let tally = within_bound(&Trial { conditional: true, ..trial(second(), faults) });
    assert_eq!(tally.double, 0, "{tally:?}");
}

#[test]
fn crowd_does_not_outwrite_itself_for_ever() {
    let crowd = Trial { contenders: 60, acquisitions: 2_000, ..trial(second(), Faults::default()) };
    let tally = simulate(&crowd, 3);
    assert_eq!(tally.acquisitions, 2_000);
}

#[test]
fn one_seed_gives_one_tally() {
    let faults = Faults { stalls: Fault::new(1_000, Span::from_secs(10)), ..Faults::default() };
    let small = Trial { acquisitions: 5_000, ..trial(second(), faults) };
    assert_eq!(simulate(&small, 9), simulate(&small, 9));
}

#[test]
#[ignore = "prints the table of docs/blob-locks.md, and takes minutes"]
#[allow(clippy::print_stdout, reason = "it is a table")]
fn rates_of_the_documentation() {
    let none = Faults::default();
    let columns = [
        ("healthy", none),
        ("stalls", Faults { stalls: Fault::new(1_000, Span::from_secs(10)), ..none }),
        ("duplicates", Faults { duplicates: Fault::new(1_000, Span::from_secs(10)), ..none }),
        ("stale reads", Faults { stale_reads: Fault::new(1_000, Span::from_secs(5)), ..none }),
        ("pauses", Faults { pauses: Fault::new(1_000, Span::from_secs(60)), ..none }),
    ];
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    for hold in [1, 30] {
        println!("held for {hold} s\n\n| margin | {} |", names.join(" | "));
        for millis in [100_u64, 300, 500, 1_000, 2_000, 5_000, 10_000] {
            let cell = |faults| {
                let hold = Span::from_secs(hold);
                let trial = Trial { hold, ..trial(Span::from_millis(millis), faults) };
                let tally = simulate(&trial, 1);
                match tally.double {
                    0 => format!("none (below {:.1e})", tally.bound()),
                    _ => format!("{:.1e} (below {:.1e})", tally.rate(), tally.bound()),
                }
            };
            let cells: Vec<String> = columns.iter().map(|(_, faults)| cell(*faults)).collect();
            println!("| {:.1} s | {} |", f64::from(millis as u32) / 1e3, cells.join(" | "));
        }
    }
}
