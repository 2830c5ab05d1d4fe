//! Bodies: read up to a bound and within a time, written whole or as a stream.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use claims::wire::Problem;
use hyper::body::{Bytes, Frame, SizeHint};
use tokio::sync::mpsc;

use crate::unread::Large;

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    /// All there.
    Whole(Bytes),
    /// All there, and large.
    Large(Large),
    /// Comes piece by piece, until the sender is dropped.
    Stream(mpsc::Receiver<Bytes>),
}

impl Body {
    /// All of it, unless it comes piece by piece.
    pub fn into_bytes(self) -> Result<Bytes, mpsc::Receiver<Bytes>> {
        match self {
            Self::Whole(bytes) => Ok(bytes),
            Self::Large(mut large) => Ok(large.take()),
            Self::Stream(pieces) => Err(pieces),
        }
    }

    /// Nothing.
    pub(crate) fn empty() -> Self {
        Self::Whole(Bytes::new())
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Large(large) if large.len() == 0 => Poll::Ready(None),
            Self::Large(large) => Poll::Ready(Some(Ok(Frame::data(large.take())))),
            Self::Stream(pieces) => {
                pieces.poll_recv(cx).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Large(large) => large.len() == 0,
            Self::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Large(large) => SizeHint::with_exact(large.len() as u64),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// Reads a body of at most `max` bytes within `patience`.
pub(crate) async fn read<B>(body: B, max: usize, patience: Duration) -> Result<Bytes, Problem>
where
    B: hyper::body::Body<Data = Bytes>,
{
    if body.size_hint().lower() > max as u64 {
        return Err(too_large(max));
    }
    let mut body = pin!(body);
    let mut whole = Vec::new();
    // Nearly always the body came with the head: no timer for that.
    if let Some(first) = at_once(body.as_mut()).await {
        match piece(first)? {
            Some(bytes) if body.is_end_stream() => return check(bytes, max),
            Some(bytes) => whole = bytes.to_vec(),
            None => return Ok(Bytes::new()),
        }
    }
    let rest = async {
        while let Some(bytes) = piece(next(body.as_mut()).await)? {
            if whole.len() + bytes.len() > max {
                return Err(too_large(max));
            }
            whole.extend_from_slice(&bytes);
        }
        Ok(())
    };
    within(patience, rest).await??;
    check(whole.into(), max)
}

type Next<E> = Option<Result<Frame<Bytes>, E>>;

async fn next<B: hyper::body::Body<Data = Bytes>>(mut body: Pin<&mut B>) -> Next<B::Error> {
    poll_fn(|cx| body.as_mut().poll_frame(cx)).await
}

/// What is there already, if something is.
async fn at_once<B: hyper::body::Body<Data = Bytes>>(
    mut body: Pin<&mut B>,
) -> Option<Next<B::Error>> {
    poll_fn(|cx| match body.as_mut().poll_frame(cx) {
        Poll::Ready(frame) => Poll::Ready(Some(frame)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

async fn within<T>(patience: Duration, work: impl Future<Output = T>) -> Result<T, Problem> {
    // Not 408: whoever is slow while it renews should try again, and clients give up on any 4xx.
    let slow = |_| Problem::unavailable("the body of the request did not arrive in time");
    tokio::time::timeout(patience, work).await.map_err(slow)
}

fn piece<E>(next: Next<E>) -> Result<Option<Bytes>, Problem> {
    match next {
        None => Ok(None),
        Some(Ok(frame)) => Ok(Some(frame.into_data().unwrap_or_default())),
        Some(Err(_)) => Err(Problem::new(400, "The body is cut off", "it ended too early")),
    }
}

fn check(bytes: Bytes, max: usize) -> Result<Bytes, Problem> {
    if bytes.len() > max { Err(too_large(max)) } else { Ok(bytes) }
}

fn too_large(max: usize) -> Problem {
    Problem::new(413, "The body is too large", format!("a body has at most {max} bytes"))
}
