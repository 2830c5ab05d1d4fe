//! Signals that reach a program under test, whoever started the tests.

use std::process::Command;

/// A program that hears every signal. What `nohup` or a shell without job control makes its jobs
/// ignore is ignored by all that follows from them: a key on a terminal would be waited for in vain.
pub(crate) fn hearing(program: &str) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal", program]);
    command
}

/// These tests of this binary hold where everything that can be is ignored, and there is no terminal,
/// no input, no home, and hardly a variable.
pub(crate) fn hold_in_a_hostile_environment(tests: &[&str]) {
    let script = "trap '' HUP INT QUIT TERM USR1 USR2 TSTP TTIN TTOU; exec \"$@\" <&-";
    let mut command = Command::new("setsid");
    // Whatever hangs is ended, and has failed.
    command.args(["--wait", "sh", "-c", script, "sh", "timeout", "--signal=KILL", "180"]);
    command.arg(std::env::current_exe().unwrap()).arg("--exact").args(tests);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", "/nonexistent").env("CI", "true");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = format!("{} passed; 0 failed", tests.len());
    assert!(
        output.status.success() && said.contains(&passed),
        "{}: {said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}
