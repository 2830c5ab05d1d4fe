//! The threads that connections are dealt out to.
//!
//! Reading requests and sending answers is most of what the server does, and one thread can use only
//! one core for it. Each thread has an event loop and a bell of its own, and a connection stays where
//! it was dealt to: nothing is shared between them but what the whole server shares.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use tokio::net::TcpStream;
use tokio::runtime::{self, Handle};
use tokio::sync::oneshot;

use crate::bell::Bell;

thread_local! {
    static BELL: Arc<Bell> = Arc::default();
}

/// The bell of this thread: to be woken by that of another would be a system call.
pub(crate) fn bell() -> Arc<Bell> {
    BELL.with(Arc::clone)
}

/// The thread that accepts connections serves its share of them; these are the others.
pub(crate) struct Threads {
    others: Vec<Other>,
    dealt: AtomicUsize,
}

struct Other {
    runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Threads {
    /// So many threads in all, the calling one included.
    pub(crate) fn start(count: usize) -> io::Result<Self> {
        let others = (1..count).map(Other::start).collect::<io::Result<_>>()?;
        Ok(Self { others, dealt: AtomicUsize::new(0) })
    }

    /// Serves a connection in the next thread.
    pub(crate) fn deal<F>(
        &self,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let next = self.dealt.fetch_add(1, Ordering::Relaxed) % (self.others.len() + 1);
        let Some(other) = next.checked_sub(1).and_then(|next| self.others.get(next)) else {
            tokio::spawn(serve(stream));
            return;
        };
        // A socket is watched by the event loop it was made in, so it is made again in the other.
        let moved = stream.into_std();
        other.runtime.spawn(async move {
            match moved.and_then(TcpStream::from_std) {
                Ok(stream) => serve(stream).await,
                Err(error) => tracing::warn!(%error, "a connection could not be served"),
            }
        });
    }
}

impl Other {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let name = format!("tenure-{}", number + 1);
        let thread = thread::Builder::new().name(name).spawn(move || {
            runtime.block_on(async {
                tokio::spawn(bell().listen());
                // Also if nobody is there any more to say so.
                let _ = stopped.await;
            });
        })?;
        Ok(Self { runtime: handle, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Other {
    /// What is still served is cut off: the server has waited for it as long as it does.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn connections_are_dealt_out_in_turn_and_threads_end_with_what_they_serve() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let threads = Threads::start(3).unwrap();
        let (told, mut tell) = mpsc::channel(6);
        let mut clients = Vec::new();
        for _ in 0..6 {
            clients.push(TcpStream::connect(address).await.unwrap());
            let (stream, _) = listener.accept().await.unwrap();
            let told = told.clone();
            threads.deal(stream, |stream| async move {
                stream.writable().await.unwrap();
                told.send(thread::current().id()).await.unwrap();
                std::future::pending::<()>().await;
            });
        }
        drop(told);
        let mut served = Vec::new();
        for _ in 0..6 {
            served.push(tell.recv().await.unwrap());
        }
        let here = thread::current().id();
        assert_eq!(served.iter().filter(|&&by| by == here).count(), 2);
        served.sort_by_key(|id| format!("{id:?}"));
        served.dedup();
        assert_eq!(served.len(), 3, "every thread had its share");
        drop(threads);
        assert!(tell.is_empty(), "nobody was served twice");
        assert_eq!(tell.sender_strong_count(), 2, "only what is served here goes on");
    }
}
