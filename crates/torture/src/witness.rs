//! The protected thing: it lets an effect through unless a higher fence was there before.
//!
//! It is the judge's eye. Whatever clients and server believe, what happened to the thing is
//! written down here, at one instant of one clock.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use torture::history::{Entry, What};

use crate::clock::now;
use crate::record::Record;

/// What is answered to an effect that was let through.
const LANDED: &[u8] = b"landed\n";

/// And to one that was not.
const LATE: &[u8] = b"late\n";

/// Longer than a healthy way there and back.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) struct Witness {
    record: Record,
    /// The highest fence that was seen of each resource.
    highest: Mutex<HashMap<String, u64>>,
}

impl Witness {
    /// Begins to watch, for as long as the process lives.
    pub(crate) fn watch(address: &str, record: Record) -> anyhow::Result<SocketAddr> {
        let listener = TcpListener::bind(address)
            .with_context(|| format!("the witness cannot listen at {address}"))?;
        let bound = listener.local_addr()?;
        let witness = Arc::new(Self { record, highest: Mutex::default() });
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let witness = witness.clone();
                std::thread::spawn(move || witness.attend(stream));
            }
        });
        Ok(bound)
    }

    /// One line is one effect: client, fence, resource.
    fn attend(&self, stream: TcpStream) {
        let Ok(mut answers) = stream.try_clone() else { return };
        let _ = stream.set_nodelay(true);
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { return };
            let mut words = line.splitn(3, ' ');
            let (client, fence) = (words.next(), words.next());
            let numbers = client
                .and_then(|text| text.parse().ok())
                .zip(fence.and_then(|text| text.parse().ok()));
            let (Some((client, fence)), Some(resource)) = (numbers, words.next()) else { return };
            let answer = if self.see(client, fence, resource) { LANDED } else { LATE };
            if answers.write_all(answer).is_err() {
                return;
            }
        }
    }

    fn see(&self, client: u32, fence: u64, resource: &str) -> bool {
        let mut seen = self.highest.lock().expect("nobody panics while looking");
        let highest = seen.entry(resource.to_owned()).or_default();
        let landed = fence >= *highest;
        *highest = fence.max(*highest);
        // Written down before the next one is looked at: the order of the lines is that of the
        // effects.
        let at = now();
        let (resource, what) = (resource.to_owned(), What::Effect { fence, landed });
        self.record.write(&Entry { client, resource, begin: at, end: Some(at), what });
        landed
    }
}

/// Somebody who changes the protected thing.
pub(crate) struct Hand {
    address: String,
    line: Option<BufReader<TcpStream>>,
}

impl Hand {
    pub(crate) fn of(address: &str) -> Self {
        Self { address: address.to_owned(), line: None }
    }

    /// Whether it was let through; none if nobody knows.
    pub(crate) fn touch(&mut self, client: u32, fence: u64, resource: &str) -> Option<bool> {
        let answer = self.try_touch(client, fence, resource).ok();
        if answer.is_none() {
            self.line = None;
        }
        answer
    }

    fn try_touch(&mut self, client: u32, fence: u64, resource: &str) -> anyhow::Result<bool> {
        if self.line.is_none() {
            let stream = TcpStream::connect_timeout(&self.address.parse()?, PATIENCE)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            self.line = Some(BufReader::new(stream));
        }
        let line = self.line.as_mut().context("it was opened")?;
        line.get_mut().write_all(format!("{client} {fence} {resource}\n").as_bytes())?;
        let mut answer = String::new();
        anyhow::ensure!(line.read_line(&mut answer)? > 0, "the witness is gone");
        Ok(answer.as_bytes() == LANDED)
    }
}
