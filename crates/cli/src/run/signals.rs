//! Signals that somebody sends to `tenure run` and means for its command.

use std::fs::File;
use std::io;

use rustix::process::{Signal, getpgrp};
use rustix::termios::tcgetpgrp;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// The ones that are passed on. A command is stopped and continued with the whole job.
const PASSED: [Signal; 7] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::TERM,
];

/// Catches them. What is ignored (by `nohup`, say) stays ignored, here and in the command.
pub(crate) fn catch() -> io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (tell, told) = mpsc::unbounded_channel();
    let ignored = ignored();
    for passed in PASSED.into_iter().filter(|passed| ignored & bit(*passed) == 0) {
        let mut caught = signal(SignalKind::from_raw(passed.as_raw()))?;
        let tell = tell.clone();
        tokio::spawn(
            async move { while caught.recv().await.is_some() && tell.send(passed).is_ok() {} },
        );
    }
    Ok(told)
}

/// Whether the command has it, too: a key on the terminal is for the whole job in the foreground.
pub(crate) fn reaches_all(signal: Signal) -> bool {
    let from_keys = signal == Signal::INT || signal == Signal::QUIT;
    let foreground = || tcgetpgrp(File::open("/dev/tty").ok()?).ok();
    from_keys && foreground() == Some(getpgrp())
}

fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn bit(signal: Signal) -> u64 {
    1 << (signal.as_raw() - 1)
}
