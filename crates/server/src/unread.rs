//! What answers may take together until their clients have read them.
//!
//! **Problem.** A list can have megabytes, and is in memory until its client has taken it or is let go.
//! One connection cannot ask for much; all that are allowed, together, could ask for more than there is.
//!
//! **Idea.** Large answers share one amount of memory. Whoever asks for a list when it is used up is told
//! to come back. Only what is looked at is refused so: an answer that tells of something done always goes
//! out, and small ones, which locking needs, are not counted.

use std::sync::{Arc, Mutex};

use claims::wire::Problem;
use hyper::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::Answer;
use crate::body::Body;

/// Answers up to this size are not counted.
const SMALL: usize = 16 << 10;
/// What is counted: a number of bytes can be more than a semaphore counts to.
const UNIT: usize = 1 << 10;

/// Memory for large answers.
pub(crate) struct Unread {
    left: Arc<Semaphore>,
    bytes_max: usize,
}

/// A large body, and what it takes of that memory.
#[derive(Debug)]
pub struct Large {
    bytes: Bytes,
    share: Option<OwnedSemaphorePermit>,
    outgoing: Arc<Outgoing>,
}

/// What is taken by bodies that a connection is writing. They are copied on the way, so it is not given back
/// with their bytes, but when they are gone.
#[derive(Debug, Default)]
pub(crate) struct Outgoing(Mutex<Vec<OwnedSemaphorePermit>>);

impl Unread {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { left: Arc::new(Semaphore::new(bytes_max / UNIT)), bytes_max }
    }

    /// Lets an answer out that tells of nothing done, if there is room for it.
    pub(crate) fn let_out(&self, answer: Answer) -> Result<Answer, Problem> {
        match answer.body() {
            Body::Whole(bytes) if bytes.len() > SMALL => {
                let units = u32::try_from(bytes.len().div_ceil(UNIT)).unwrap_or(u32::MAX);
                let share = self.left.clone().try_acquire_many_owned(units);
                let share = share.map_err(|_| self.used_up())?;
                let (share, outgoing) = (Some(share), Arc::default());
                let bytes = bytes.clone();
                Ok(answer.map(|_| Body::Large(Large { bytes, share, outgoing })))
            }
            Body::Whole(_) | Body::Large(_) | Body::Stream(_) => Ok(answer),
        }
    }

    fn used_up(&self) -> Problem {
        let mib = self.bytes_max >> 20;
        let detail = format!(
            "answers that others have not read yet take {mib} MiB: ask again in a second, or for less"
        );
        Problem::new(503, "Too much is unread", detail).retry_after(1)
    }
}

impl Large {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes, to be written now.
    pub(crate) fn take(&mut self) -> Bytes {
        self.outgoing.list().extend(self.share.take());
        std::mem::take(&mut self.bytes)
    }
}

impl Outgoing {
    /// This answer will be written here.
    pub(crate) fn expect(self: &Arc<Self>, answer: &mut Answer) {
        if let Body::Large(large) = answer.body_mut() {
            large.outgoing = self.clone();
        }
    }

    /// All that was to be written is gone.
    pub(crate) fn flushed(&self) {
        self.list().clear();
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<OwnedSemaphorePermit>> {
        self.0.lock().expect("nothing panics with it")
    }
}
