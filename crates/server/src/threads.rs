//! The threads that connections are dealt out to.
//!
//! Reading requests and sending answers is most of what the server does, and one thread can use only
//! one core for it. Each thread has an event loop and a bell of its own, and a connection stays where
//! it was dealt to: nothing is shared between them but what the whole server shares.
//!
//! Each thread with somebody to answer has to be woken after each commit. Few connections are served
//! sooner by one thread than by two that take turns at it, so a thread is used when those before it have enough.
//!
//! Threads lend the store a hand, and wait for its disk then. If that hangs, so do they. The thread that
//! accepts connections never does: it is the last to be used, and takes back whoever is not seen to in time.

use std::io;
use std::net;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use registry::Store;
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

/// How many connections a thread has before the next one gets any.
const FEW: usize = 32;

/// How long a thread has to see to a connection. One that waits for a disk that is only slow is sooner
/// back.
pub(crate) const SEEN_TO_WITHIN: Duration = Duration::from_millis(100);

/// The thread that accepts connections, and those that serve them as long as they have few.
pub(crate) struct Threads {
    here: Served,
    others: Vec<Other>,
    seen_to_within: Duration,
}

/// How many connections a thread serves.
type Served = Arc<AtomicUsize>;

struct Other {
    served: Served,
    runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Threads {
    /// So many threads in all, the calling one included.
    pub(crate) fn start(
        count: usize,
        store: &Arc<dyn Store>,
        seen_to_within: Duration,
    ) -> io::Result<Self> {
        let others = (1..count).map(|number| Other::start(number, store.clone()));
        let others = others.collect::<io::Result<_>>()?;
        Ok(Self { here: Served::default(), others, seen_to_within })
    }

    /// Serves a connection in the first thread that has few, or else in the one that has fewest, or else
    /// here if that one hangs.
    pub(crate) fn deal<F>(
        &self,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let load = |served: &Served| served.load(Ordering::Relaxed).saturating_sub(FEW - 1);
        let other = self.others.iter().min_by_key(|other| load(&other.served));
        let other = other.filter(|other| load(&other.served) <= load(&self.here));
        let Some(other) = other else {
            let visit = Visit::begin(&self.here);
            let serving = serve(stream);
            tokio::spawn(async move {
                serving.await;
                drop(visit);
            });
            return;
        };
        // A socket is watched by the event loop it was made in, so it is made again in the other.
        let stream = match stream.into_std() {
            Ok(stream) => stream,
            Err(error) => return cannot_serve(&error),
        };
        let visit = Visit::begin(&other.served);
        let offer = Arc::new(Offer(Mutex::new(Some((stream, serve, visit)))));
        other.runtime.spawn(offer.clone().see_to());
        let (here, seen_to_within) = (self.here.clone(), self.seen_to_within);
        tokio::spawn(async move {
            tokio::time::sleep(seen_to_within).await;
            offer.take_back(&here).await;
        });
    }
}

/// A connection that was dealt out, and that nobody has seen to yet.
struct Offer<S>(Mutex<Option<(net::TcpStream, S, Visit)>>);

impl<S, F> Offer<S>
where
    S: FnOnce(TcpStream) -> F,
    F: Future<Output = ()>,
{
    /// Serves it in this thread, unless another does.
    async fn see_to(self: Arc<Self>) {
        let offered = self.0.lock().expect("nothing panics with it in its hands").take();
        // Whoever still looks at the offer need not keep it for as long as this takes.
        drop(self);
        let Some((stream, serve, visit)) = offered else { return };
        match TcpStream::from_std(stream) {
            Ok(stream) => serve(stream).await,
            Err(error) => cannot_serve(&error),
        }
        drop(visit);
    }

    /// The thread that it was dealt to hangs: it is served in this one.
    async fn take_back(self: Arc<Self>, here: &Served) {
        if let Some((_, _, visit)) =
            &mut *self.0.lock().expect("nothing panics with it in its hands")
        {
            *visit = Visit::begin(here);
        }
        self.see_to().await;
    }
}

fn cannot_serve(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be served");
}

/// One connection in the care of a thread.
struct Visit(Served);

impl Visit {
    fn begin(served: &Served) -> Self {
        served.fetch_add(1, Ordering::Relaxed);
        Self(served.clone())
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Other {
    fn start(number: usize, store: Arc<dyn Store>) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let name = format!("tenure-{}", number + 1);
        let thread = thread::Builder::new().name(name).spawn(move || {
            runtime.block_on(async {
                tokio::spawn(bell().listen());
                tokio::spawn(async move { store.lend_a_hand().await });
                // Also if nobody is there any more to say so.
                let _ = stopped.await;
            });
        })?;
        let served = Served::default();
        Ok(Self { served, runtime: handle, stop: Some(stop), thread: Some(thread) })
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
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// Connections that were dealt out, and which threads have them.
    struct Table {
        listener: TcpListener,
        threads: Threads,
        told: mpsc::Sender<thread::ThreadId>,
        tell: mpsc::Receiver<thread::ThreadId>,
    }

    impl Table {
        async fn new(threads: usize, seen_to_within: Duration) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let (told, tell) = mpsc::channel(1);
            let store: Arc<dyn Store> = Arc::new(registry::memory(claims::Rules::default()));
            let threads = Threads::start(threads, &store, seen_to_within).unwrap();
            Self { listener, threads, told, tell }
        }

        /// Deals one more; it is served until its client hangs up.
        async fn deal(&mut self) -> (TcpStream, thread::ThreadId) {
            let client = TcpStream::connect(self.listener.local_addr().unwrap()).await.unwrap();
            let (stream, _) = self.listener.accept().await.unwrap();
            let told = self.told.clone();
            self.threads.deal(stream, |mut stream| async move {
                told.send(thread::current().id()).await.unwrap();
                assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
                drop(told);
            });
            (client, self.tell.recv().await.unwrap())
        }

        /// Deals some, and counts those that each thread got.
        async fn deal_many(&mut self, many: usize) -> (Vec<TcpStream>, Vec<usize>) {
            let (mut clients, mut counts) = (Vec::new(), Vec::new());
            for _ in 0..many {
                let (client, by) = self.deal().await;
                clients.push(client);
                match counts.iter_mut().find(|(thread, _)| *thread == by) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((by, 1)),
                }
            }
            (clients, counts.into_iter().map(|(_, count)| count).collect())
        }
    }

    #[tokio::test]
    async fn threads_are_used_one_after_the_other_and_then_alike() {
        let mut table = Table::new(3, LONG).await;
        let (few, counts) = table.deal_many(FEW).await;
        assert_eq!(counts, [FEW], "one is enough");
        let (_first, other) = table.deal().await;
        assert_ne!(other, thread::current().id(), "and now it is not, but this one is the last");
        let (more, counts) = table.deal_many(2 * FEW + 5).await;
        assert!(counts.iter().sum::<usize>() == more.len() && counts.len() == 3, "{counts:?}");
        let served = table.threads.others.iter().map(|other| &other.served);
        for served in served.chain([&table.threads.here]) {
            let served = served.load(Ordering::Relaxed);
            assert!((FEW..=FEW + 3).contains(&served), "{served}");
        }
        // Whoever leaves makes room where it was.
        drop(few);
        while table.threads.others[0].served.load(Ordering::Relaxed) >= FEW {
            tokio::task::yield_now().await;
        }
        let (_next, by) = table.deal().await;
        assert!(by != other && by != thread::current().id());
    }

    #[tokio::test]
    async fn connections_are_dealt_past_a_thread_that_hangs_with_the_disk() {
        let mut table = Table::new(2, Duration::from_millis(1)).await;
        let (disk, sync) = std::sync::mpsc::channel::<()>();
        table.threads.others[0].runtime.spawn(async move { sync.recv().unwrap() });
        let (_meanwhile, by) = table.deal().await;
        assert_eq!(by, thread::current().id(), "it is served, and not by the one that hangs");
        disk.send(()).unwrap();
        assert_eq!(table.threads.here.load(Ordering::Relaxed), 1);
        // The disk is back, and so is the thread: sooner or later it is in time again.
        while table.deal().await.1 == thread::current().id() {}
    }

    #[tokio::test]
    async fn threads_end_with_what_they_serve() {
        let mut table = Table::new(2, LONG).await;
        let (_clients, counts) = table.deal_many(2 * FEW).await;
        assert_eq!(counts, [FEW, FEW]);
        let Table { threads, told, .. } = table;
        drop(threads);
        assert_eq!(told.strong_count(), 1 + FEW, "only what is served here goes on");
    }
}
