//! What is to be told, kept in bounds however slowly the program reads.
//!
//! Answers are kept in order; as they come from questions, no more questions are read while many wait
//! (`has_room`). News of a claim come by themselves, for ever: of those only the newest is kept, and
//! that the claim was granted. So a program that does not read costs two events for each of its
//! claims, and finds the present when it reads again, not the past.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tenure::keychain::Event;
use tokio::sync::Notify;

/// So many answers may wait to be read.
const ANSWERS_MAX: usize = 1_024;

/// About so much is written at once.
const BYTES_AT_ONCE: usize = 16 << 10;

/// The way to the program.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    filled: Condvar,
    emptied: Condvar,
    room: Notify,
    broken: Notify,
}

#[derive(Default)]
struct Queue {
    answers: VecDeque<Event>,
    news: HashMap<u64, News>,
    /// The claims that have news, the longest waiting first.
    turns: VecDeque<u64>,
    /// Something is being written.
    writing: bool,
}

/// What was not told of a claim yet.
#[derive(Default)]
struct News {
    granted: Option<Event>,
    newest: Option<Event>,
}

/// Writes on a thread of its own: nobody else waits for the program.
pub(crate) fn start(output: impl Write + Send + 'static) -> io::Result<Outbox> {
    let outbox = Outbox(Arc::default());
    let shared = outbox.0.clone();
    std::thread::Builder::new().name("output".into()).spawn(move || {
        if write_all(&shared, output).is_err() {
            shared.broken.notify_one();
        }
    })?;
    Ok(outbox)
}

fn write_all(shared: &Shared, mut output: impl Write) -> io::Result<()> {
    let mut lines = Vec::new();
    loop {
        lines.clear();
        let mut queue = shared.queue();
        queue.writing = false;
        while !queue.take(&mut lines)? {
            shared.emptied.notify_all();
            queue = shared.filled.wait(queue).expect("nobody panics with the queue");
        }
        queue.writing = true;
        drop(queue);
        shared.room.notify_one();
        output.write_all(&lines)?;
        output.flush()?;
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("nobody panics with the queue")
    }
}

impl Queue {
    /// Takes some lines at once. False if there are none.
    fn take(&mut self, lines: &mut Vec<u8>) -> io::Result<bool> {
        while lines.len() < BYTES_AT_ONCE
            && let Some(event) = self.next()
        {
            serde_json::to_writer(&mut *lines, &event)?;
            lines.push(b'\n');
        }
        Ok(!lines.is_empty())
    }

    fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.answers.pop_front() {
            return Some(event);
        }
        loop {
            let number = *self.turns.front()?;
            let event = self.news.get_mut(&number).and_then(News::next);
            if event.is_some() {
                return event;
            }
            self.news.remove(&number);
            self.turns.pop_front();
        }
    }
}

impl News {
    fn next(&mut self) -> Option<Event> {
        self.granted.take().or_else(|| self.newest.take())
    }
}

impl Outbox {
    /// An answer to a question.
    pub(crate) fn reply(&self, event: Event) {
        self.0.queue().answers.push_back(event);
        self.0.filled.notify_one();
    }

    /// News of a claim, in place of those that were not told yet.
    pub(crate) fn news(&self, number: u64, event: Event) {
        let mut queue = self.0.queue();
        if !queue.news.contains_key(&number) {
            queue.turns.push_back(number);
        }
        let news = queue.news.entry(number).or_default();
        if matches!(event, Event::Granted { .. }) {
            *news = News { granted: Some(event), newest: None };
        } else {
            news.newest = Some(event);
        }
        drop(queue);
        self.0.filled.notify_one();
    }

    /// The answer to a question about a claim, or its end: in turn, after what must be known before.
    pub(crate) fn reply_about(&self, number: u64, event: Event) {
        let mut queue = self.0.queue();
        if let Some(news) = queue.news.remove(&number) {
            queue.answers.extend(news.granted);
        }
        queue.answers.push_back(event);
        drop(queue);
        self.0.filled.notify_one();
    }

    /// Whether more questions may be asked.
    pub(crate) fn has_room(&self) -> bool {
        self.0.queue().answers.len() < ANSWERS_MAX
    }

    /// Returns when there may be room again.
    pub(crate) async fn room(&self) {
        self.0.room.notified().await;
    }

    /// Returns when the program cannot be told anything any more.
    pub(crate) async fn broken(&self) {
        self.0.broken.notified().await;
    }

    /// Waits until all is written, but not for long.
    pub(crate) fn finish(&self, patience: Duration) {
        let until = Instant::now() + patience;
        let mut queue = self.0.queue();
        while queue.writing || !queue.answers.is_empty() || !queue.turns.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.0.emptied.wait_timeout(queue, left);
            queue = waited.expect("nobody panics with the queue").0;
        }
    }
}
