//! Everything that a process has started, and what that has started.
//!
//! Whoever calls this is a *child subreaper*: a process below it whose parent ends becomes its own
//! child. So neither a double fork nor a new session leads out of the tree, and the parents in `/proc`
//! show all of it.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, pidfd_open, pidfd_send_signal, wait,
};

use super::moment::Moment;

/// How long to wait for what was killed: longer only if the kernel itself is stuck.
const GIVE_UP_AFTER: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A process, told apart from a later one with the same number by when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Process {
    pid: Pid,
    parent: i32,
    started: u64,
}

/// From now on, orphans below this process become its children.
pub(crate) fn gather_orphans() -> rustix::io::Result<()> {
    rustix::process::set_child_subreaper(Some(getpid()))
}

/// Buries all children that have ended; returns how the one with this number did, if it is among them.
pub(crate) fn bury(awaited: Pid) -> Option<WaitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == awaited {
            found = Some(status);
        }
    }
    found
}

/// Asks everything below this process to end, and kills what is still there at that moment. Returns
/// when nothing is left, with the numbers of those that could not be stopped.
pub(crate) async fn stop(kill_at: Moment) -> Vec<i32> {
    let mut asked = HashSet::new();
    let mut untouchable = HashSet::new();
    let give_up_at = kill_at.max(Moment::now()).after(GIVE_UP_AFTER);
    let mut quiet = 0;
    loop {
        if bury_all() {
            return Vec::new();
        }
        let mut left = below();
        left.retain(|process| !untouchable.contains(process));
        // Somebody may have changed parents while we looked: only the second look is believed.
        quiet = if left.is_empty() { quiet + 1 } else { 0 };
        let stuck = quiet > 1 && !untouchable.is_empty();
        if stuck || give_up_at.has_passed() {
            return untouchable
                .iter()
                .chain(&left)
                .map(|process| process.pid.as_raw_pid())
                .collect();
        }
        let kills = kill_at.has_passed();
        for process in left {
            let sent = match (kills, asked.insert(process)) {
                (true, _) => process.send(Signal::KILL),
                // Who is stopped cannot hear before it goes on.
                (false, true) => {
                    process.send(Signal::TERM).and_then(|()| process.send(Signal::CONT))
                }
                (false, false) => Ok(()),
            };
            if sent == Err(Errno::PERM) {
                untouchable.insert(process);
            }
        }
        tokio::time::sleep(LOOK_AGAIN.min(kill_at.left().max(Duration::from_millis(1)))).await;
    }
}

/// Buries all children that have ended. Whether there are none left: then there is nothing below this
/// process at all, because every orphan would be its child.
fn bury_all() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(error) => return error == Errno::CHILD,
        }
    }
}

/// All that live below this process.
fn below() -> Vec<Process> {
    let mut rest: Vec<Process> = all();
    let mut found = Vec::new();
    let mut parents = vec![getpid().as_raw_pid()];
    while let Some(parent) = parents.pop() {
        rest.retain(|process| {
            let is_child = process.parent == parent;
            if is_child {
                found.push(*process);
                parents.push(process.pid.as_raw_pid());
            }
            !is_child
        });
    }
    found
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(|number| Process::read(Pid::from_raw(number)?)).collect()
}

impl Process {
    /// Reads it, if it lives.
    fn read(pid: Pid) -> Option<Self> {
        let directory = format!("/proc/{}", pid.as_raw_pid());
        let stat = fs::read(format!("{directory}/stat")).ok()?;
        // The name of the program comes first, in parentheses, and may contain anything.
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = String::from_utf8_lossy(stat.get(end + 1..)?).into_owned();
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let process = Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        };
        // A first thread that has ended looks dead; the others may go on.
        let threads = || fs::read_dir(format!("{directory}/task")).map_or(0, Iterator::count);
        let dead = matches!(*fields.first()?, "Z" | "X" | "x") && threads() <= 1;
        (!dead).then_some(process)
    }

    /// Sends a signal to this very process, not to a later one with its number.
    fn send(self, signal: Signal) -> Result<(), Errno> {
        let handle = pidfd_open(self.pid, PidfdFlags::empty())?;
        match Self::read(self.pid) {
            Some(now) if now.started == self.started => pidfd_send_signal(handle, signal),
            _ => Err(Errno::SRCH),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_with_its_parent_whatever_its_name() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "printf ') Z 1 (' > /proc/self/comm; echo ready; read line"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        let pid = Pid::from_raw(child.id() as i32).unwrap();
        let process = Process::read(pid).unwrap();
        assert_eq!(process.parent, getpid().as_raw_pid());
        assert!(below().contains(&process));
        let earlier = Process { started: process.started - 1, ..process };
        assert_eq!(earlier.send(Signal::KILL), Err(Errno::SRCH));
        assert_eq!(process.send(Signal::KILL), Ok(()));
        child.wait().unwrap();
        assert!(Process::read(pid).is_none());
    }
}
