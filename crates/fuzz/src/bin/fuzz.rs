//! One program for every target. Built by `make fuzz` it is libFuzzer, and `FUZZ_TARGET` says which
//! target; built as usual it runs some inputs once: `cargo run -p fuzz -- TARGET FILE...`.
#![cfg_attr(fuzzing, no_main)]

use fuzz::Target;
use fuzz::gauge::Gauge;

#[global_allocator]
static GAUGE: Gauge = Gauge;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(init: { target(); }, |input: &[u8]| { target().run(input); });

#[cfg(fuzzing)]
fn target() -> &'static Target {
    static CHOSEN: std::sync::OnceLock<&Target> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        Target::find(&name).unwrap_or_else(|| panic!("FUZZ_TARGET={name:?} is no target"))
    })
}

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
