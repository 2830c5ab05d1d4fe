//! Every target over its corpus, and over a few thousand inputs made from it: without libFuzzer, the
//! same ones every time.

mod mutator;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fuzz::gauge::Gauge;
use fuzz::{Target, targets};

use self::mutator::Mutator;

#[global_allocator]
static GAUGE: Gauge = Gauge;

const SEED: u64 = 9;
/// How many inputs are made for each target.
const INPUTS: usize = 2_000;
/// A machine that is busy tries fewer; the corpus is tried in any case.
const AT_MOST: Duration = Duration::from_millis(700);

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries = std::fs::read_dir(&directory).expect("every target has a corpus");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("a file"))).collect()
}

/// Runs one input, and says how to see it again if it fails.
fn holds(target: &Target, input: &[u8], origin: &str) -> bool {
    let holds = std::panic::catch_unwind(|| target.run(input)).is_ok();
    if !holds {
        let (name, hex) = (target.name, hex(input));
        eprintln!("{name}: {origin} fails; see it again: cargo run -p fuzz -- {name} 0x{hex}");
    }
    holds
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Stops at the first input that fails.
fn holds_on_all(target: &Target) -> bool {
    let corpus = corpus(target.name);
    assert!(!corpus.is_empty(), "{} has no corpus", target.name);
    let kept = corpus.iter().map(|(path, input)| (path.display().to_string(), input.clone()));
    let inputs: Vec<&[u8]> = corpus.iter().map(|(_, input)| input.as_slice()).collect();
    let mut mutator = Mutator::new(SEED, &inputs);
    let until = Instant::now() + AT_MOST;
    let made = (0..INPUTS).take_while(|_| Instant::now() < until);
    let made = made.map(|nth| (format!("input {nth} of seed {SEED}"), mutator.next()));
    let nothing = ("nothing at all".to_owned(), Vec::new());
    std::iter::once(nothing)
        .chain(kept)
        .chain(made)
        .all(|(name, input)| holds(target, &input, &name))
}

#[test]
fn every_target_holds_on_its_corpus_and_on_what_is_made_of_it() {
    let failing = targets::ALL.iter().filter(|target| !holds_on_all(target));
    let failing: Vec<&str> = failing.map(|target| target.name).collect();
    assert!(failing.is_empty(), "something is wrong with {failing:?}: see above");
}

#[test]
fn every_target_has_a_corpus_of_its_name_and_none_is_left_over() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let entries = std::fs::read_dir(directory).expect("the corpora are here");
    let mut found: Vec<String> = entries
        .map(|entry| entry.expect("a corpus").file_name().into_string().expect("text"))
        .collect();
    found.sort();
    assert_eq!(found, targets::ALL.map(|target| target.name));
}
