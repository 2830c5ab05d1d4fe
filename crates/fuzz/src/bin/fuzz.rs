//! One input again: `cargo run -p fuzz -- TARGET FILE...`. Built by `make fuzz` it is libFuzzer with
//! one target, which `FUZZ_TARGET` names while it is compiled: libFuzzer looks at every counter of the
//! program after each input, and the counters of all the others take longer than most inputs.
#![cfg_attr(fuzzing, no_main)]

use fuzz::Target;
use fuzz::gauge::Gauge;

#[global_allocator]
static GAUGE: Gauge = Gauge;

#[cfg(fuzzing)]
const TARGET: Target = match option_env!("FUZZ_TARGET") {
    Some(name) => Target::find(name).expect("FUZZ_TARGET is the name of a target"),
    None => panic!("FUZZ_TARGET says which target"),
};

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    TARGET.run(input);
});

#[cfg(not(fuzzing))]
fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let names = || fuzz::targets::ALL.map(|target| target.name).join(", ");
    let usage = || format!("say TARGET and FILE..., or HEX for bytes; targets are {}", names());
    let target = arguments.next().and_then(|name| Target::find(&name)).ok_or_else(usage)?;
    for argument in arguments {
        let input = match hex(&argument) {
            Some(bytes) => bytes,
            None => std::fs::read(&argument).map_err(|error| format!("{argument}: {error}"))?,
        };
        let took = target.run(&input);
        eprintln!("{argument}: {} bytes hold, with {took} bytes of memory", input.len());
    }
    Ok(())
}

#[cfg(not(fuzzing))]
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    let pair = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}
