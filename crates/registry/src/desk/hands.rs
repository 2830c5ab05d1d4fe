//! The threads that do the desk's work.
//!
//! **Problem.** To wake a thread takes longer than to decide. Whoever asks wakes the desk's thread, and is
//! woken by it for the answer: where few ask at a time, that is a good part of what they wait for.
//!
//! **Idea.** A thread that serves many can lend the desk a hand. What it asks it does itself, when it
//! has asked all it had to ask, as long as that is little. The desk keeps a thread of its own for
//! everything else: for what comes from others, for what comes in crowds, for what is due by itself.

use std::future::poll_fn;
use std::sync::{Mutex, TryLockError};
use std::task::Poll;
use std::thread::ThreadId;
use std::time::Duration;

use super::Desk;
use super::books::Books;
use super::inbox::Inbox;
use super::request::Request;
use super::writer::{By, Writer};
use crate::embedded::Fatal;
use crate::store::Pending;

/// Whose turn it is to work: whoever has it in its hands. Nothing when the desk is closed.
pub(super) type Turn<B> = Mutex<Option<Writer<B>>>;

/// What to do when the disk cannot be believed any more. Whoever finds that out keeps the turn: nobody
/// else must try the same again, and let the answers go that were held back.
pub(super) type Stop = fn(Fatal) -> !;

/// The desk's own thread: serves until the desk is closed.
pub(super) fn run<B: Books>(turn: &Turn<B>, inbox: &Inbox<Request<B>>, stop: Stop) {
    let mut rest = Duration::ZERO;
    loop {
        inbox.nap(rest);
        let mut turn = turn.lock().expect("who is unsure does not go on");
        let Some(writer) = turn.as_mut() else { return };
        if let Err(fatal) = writer.round(By::Desk) {
            stop(fatal);
        }
        rest = writer.rest();
        if writer.closing {
            let writer = turn.take().expect("it was there a moment ago");
            return writer.books.close().unwrap_or_else(|fatal| stop(fatal));
        }
    }
}

impl<B: Books> Desk<B> {
    pub(super) fn lend_a_hand(&self) -> Pending<'_, ()> {
        let mut hand = Hand { inbox: &self.inbox, enlisted: None };
        Box::pin(poll_fn(move |cx| {
            let me = self.inbox.enlist(cx.waker());
            hand.is_now(me);
            self.work();
            Poll::Pending
        }))
    }

    /// One round, if somebody waits for it and nobody is at it. Whoever is looks again afterwards.
    fn work(&self) {
        if !self.inbox.is_for_a_hand() {
            return;
        }
        let mut turn = match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::WouldBlock | TryLockError::Poisoned(_)) => return,
        };
        let Some(writer) = turn.as_mut() else { return };
        if let Err(fatal) = writer.round(By::Hand) {
            (self.stop)(fatal);
        }
        let rest = writer.rest();
        drop(turn);
        self.inbox.look_within(rest);
    }
}

/// A thread that is enlisted, until this is dropped.
struct Hand<'a, B: Books> {
    inbox: &'a Inbox<Request<B>>,
    enlisted: Option<ThreadId>,
}

impl<B: Books> Hand<'_, B> {
    /// A task may come to run in another thread.
    fn is_now(&mut self, thread: ThreadId) {
        let before = self.enlisted.replace(thread);
        if let Some(before) = before.filter(|&before| before != thread) {
            self.inbox.dismiss(before);
        }
    }
}

impl<B: Books> Drop for Hand<'_, B> {
    fn drop(&mut self) {
        if let Some(thread) = self.enlisted {
            self.inbox.dismiss(thread);
        }
    }
}

#[cfg(test)]
mod tests;
