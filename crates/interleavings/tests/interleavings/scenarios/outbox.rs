//! What the keychain tells its program, however slowly that reads.

use std::io;
use std::time::Duration;

use serde_json::Value;
use shuttle::future::block_on;
use tenure::keychain::{Event, Json};

use crate::model::sync::atomic::{AtomicBool, Ordering};
use crate::model::sync::{Arc, Mutex};
use crate::model::thread;
use crate::outbox;
use crate::rig::{always, catches};

/// Only whoever is not woken needs it.
const LONG: Duration = Duration::from_secs(60);

/// The program's end of the pipe, until it hangs up.
#[derive(Clone, Default)]
struct Pipe {
    read: Arc<Mutex<Vec<u8>>>,
    hung_up: Arc<AtomicBool>,
}

impl io::Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.hung_up.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.read.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Pipe {
    /// The ids of the answers that were read.
    fn ids(&self) -> Vec<u64> {
        let text = String::from_utf8(self.read.lock().unwrap().clone()).unwrap();
        let line = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64();
        text.lines().filter_map(line).collect()
    }
}

/// Two threads answer, one of them as often as there is room.
fn two_answer() {
    let pipe = Pipe::default();
    let outbox = outbox::start(pipe.clone()).unwrap();
    let other = thread::spawn({
        let outbox = outbox.clone();
        move || outbox.reply_about(1, Event::Pong { id: Json::from(100) })
    });
    for id in 0..3 {
        while !outbox.has_room() {
            block_on(outbox.room());
        }
        outbox.reply(Event::Pong { id: Json::from(id) });
    }
    other.join().unwrap();
    outbox.finish(LONG);
    let mut ids = pipe.ids();
    let ours: Vec<u64> = ids.iter().copied().filter(|&id| id < 100).collect();
    assert_eq!(ours, [0, 1, 2], "each once, in order, and written when that is said");
    ids.sort();
    assert_eq!(ids, [0, 1, 2, 100]);
    pipe.hung_up.store(true, Ordering::SeqCst);
    outbox.reply(Event::Pong { id: Json::from(3) });
    block_on(outbox.broken());
}

#[test]
fn every_answer_is_written_once_and_in_order_before_the_keychain_ends() {
    always(two_answer);
    catches("finished before it is written", "written when that is said", two_answer);
    catches("room that nobody hears of", "deadlock", two_answer);
}
