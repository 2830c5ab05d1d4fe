//! The process of a keychain, and the lines to and from it.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use tokio::net::unix::pipe::{Receiver, Sender};

use super::{Event, Keychain, Request};
use crate::driver::Settings;

/// A keychain at work. Nobody waits for it to read: what it has not taken yet is kept here.
pub(super) struct Process {
    child: Child,
    input: Sender,
    output: Receiver,
    unsent: Vec<u8>,
    unread: Vec<u8>,
}

impl Process {
    pub(super) fn start(keychain: &Keychain, settings: &Settings) -> io::Result<Self> {
        let mut command = Command::new(keychain.path());
        command.arg("keychain").arg("--server").arg(settings.place.url());
        if let Some(silence) = keychain.max_silence {
            command.arg("--max-silence").arg(silence.as_secs_f64().to_string());
        }
        if let Some(file) = &settings.ca_file {
            command.arg("--ca-file").arg(file);
        }
        if let Some(token) = &settings.token {
            command.env("TENURE_TOKEN", token);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let pipes = (child.stdin.take().map(OwnedFd::from), child.stdout.take().map(OwnedFd::from));
        let (Some(input), Some(output)) = pipes else {
            return Err(io::Error::other("the keychain has no pipes"));
        };
        let (input, output) = (Sender::from_owned_fd(input)?, Receiver::from_owned_fd(output)?);
        Ok(Self { child, input, output, unsent: Vec::new(), unread: Vec::new() })
    }

    pub(super) fn say(&mut self, request: &Request) {
        let line = serde_json::to_vec(request).expect("requests have only JSON in them");
        self.unsent.extend(line);
        self.unsent.push(b'\n');
    }

    /// Moves bytes in both directions, and returns when something was heard. None if the keychain
    /// is gone.
    pub(super) async fn listen(&mut self) -> Option<Vec<Event>> {
        let mut bytes = [0; 4 << 10];
        loop {
            tokio::select! {
                ready = self.input.writable(), if !self.unsent.is_empty() => {
                    ready.ok()?;
                    match self.input.try_write(&self.unsent) {
                        Ok(count) => drop(self.unsent.drain(..count)),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Err(_) => return None,
                    }
                }
                ready = self.output.readable() => {
                    ready.ok()?;
                    match self.output.try_read(&mut bytes) {
                        Ok(0) => return None,
                        Ok(count) => self.unread.extend_from_slice(&bytes[..count]),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                        Err(_) => return None,
                    }
                    let events = self.events();
                    if !events.is_empty() {
                        return Some(events);
                    }
                }
            }
        }
    }

    /// Lets it give up what is left, and end: its pipe ends here.
    pub(super) fn leave(self) {
        let Self { mut child, input, output, .. } = self;
        drop((input, output));
        // Somebody must take note of its end; nobody must wait for that.
        let _ = std::thread::Builder::new().spawn(move || child.wait());
    }

    /// One that broke off must not go on renewing what nobody here believes in.
    pub(super) fn bury(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The whole lines that were read. What is not understood is from a later version.
    fn events(&mut self) -> Vec<Event> {
        let Some(end) = self.unread.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let rest = self.unread.split_off(end + 1);
        let lines = std::mem::replace(&mut self.unread, rest);
        let lines = lines.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }
}
