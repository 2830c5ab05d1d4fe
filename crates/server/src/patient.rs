//! A socket that does not wait for ever: a client that takes too long to send the head of a request,
//! or to receive its answer, is let go.
//!
//! Both are counted from the first moment that had to be waited for to the end of the whole, not from
//! the last byte: a client that trickles is no better than one that is silent. No timer is made for
//! what comes and goes at once, which is nearly everything.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::answer::Answer;
use crate::config::Config;
use crate::unread::Outgoing;

/// Requests and answers of a connection, in turns.
#[derive(Default)]
pub(crate) struct Turns {
    /// Counts beginnings and ends of requests: while it is odd, what arrives is no head.
    count: AtomicUsize,
    /// What answers take until they are gone.
    outgoing: Arc<Outgoing>,
}

impl Turns {
    /// A request has arrived.
    pub(crate) fn asked(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Its answer is ready to be written.
    pub(crate) fn answered(&self, answer: &mut Answer) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.outgoing.expect(answer);
    }
}

pub(crate) struct Patient<'a, S> {
    stream: S,
    config: &'a Config,
    turns: &'a Turns,
    turn: usize,
    /// A head has begun to arrive in this turn.
    in_head: bool,
    /// Running while a head is not complete, and while what was written is not gone.
    head: Option<Pin<Box<Sleep>>>,
    stuck: Option<Pin<Box<Sleep>>>,
}

impl<'a, S> Patient<'a, S> {
    pub(crate) fn new(stream: S, config: &'a Config, turns: &'a Turns) -> Self {
        Self { stream, config, turns, turn: 0, in_head: false, head: None, stuck: None }
    }
}

/// Waits on, if there is patience left.
fn wait<T>(
    timer: &mut Option<Pin<Box<Sleep>>>,
    patience: Duration,
    cx: &mut Context<'_>,
) -> Poll<io::Result<T>> {
    let timer = timer.get_or_insert_with(|| Box::pin(sleep(patience)));
    ready!(timer.as_mut().poll(cx));
    Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<'_, S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let me = &mut *self;
        let turn = me.turns.count.load(Ordering::Relaxed);
        if turn != me.turn {
            (me.turn, me.in_head, me.head) = (turn, false, None);
        }
        let progress = Pin::new(&mut me.stream).poll_read(cx, buffer);
        if progress.is_pending() && me.in_head {
            return wait(&mut me.head, me.config.head_for, cx);
        }
        me.in_head |= progress.is_ready() && turn.is_multiple_of(2);
        progress
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<'_, S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let me = &mut *self;
        match Pin::new(&mut me.stream).poll_write(cx, bytes) {
            Poll::Pending => wait(&mut me.stuck, me.config.write_for, cx),
            written => written,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let me = &mut *self;
        match Pin::new(&mut me.stream).poll_flush(cx) {
            Poll::Pending => wait(&mut me.stuck, me.config.write_for, cx),
            // Everything that was ready is gone.
            flushed => {
                me.stuck = None;
                me.turns.outgoing.flushed();
                flushed
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
