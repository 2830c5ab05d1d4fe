//! Time-outs that need no async runtime around them: one thread keeps them for everybody.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle};

/// The output of `work`, if it comes before `deadline`.
pub(super) async fn before<T>(deadline: Instant, work: impl Future<Output = T>) -> Option<T> {
    let work = std::pin::pin!(work);
    tokio::select! {
        biased;
        output = work => Some(output),
        () = pause(deadline.saturating_duration_since(Instant::now())) => None,
    }
}

/// Returns after this long.
pub(super) async fn pause(span: Duration) {
    struct Alarm(tokio::task::JoinHandle<()>);
    impl Drop for Alarm {
        fn drop(&mut self) {
            self.0.abort();
        }
    }
    let mut alarm = Alarm(timers().spawn(async move { tokio::time::sleep(span).await }));
    let _ = (&mut alarm.0).await;
}

fn timers() -> &'static Handle {
    static TIMERS: OnceLock<Handle> = OnceLock::new();
    TIMERS.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime that only keeps time can be made");
        let handle = runtime.handle().clone();
        let keep = move || runtime.block_on(std::future::pending::<()>());
        std::thread::Builder::new()
            .name("tenure timers".into())
            .spawn(keep)
            .expect("the system gives a thread");
        handle
    })
}
