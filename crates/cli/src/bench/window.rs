//! The time in which is measured: after a warm-up, until the end or until somebody stops it.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;

use crate::serve::stopped;

pub(super) struct Window {
    warmup: Duration,
    length: Duration,
    begun: Mutex<Option<Instant>>,
    /// When somebody stopped it before its end.
    cut: watch::Sender<Option<Instant>>,
}

impl Window {
    pub(super) fn new(warmup: Duration, length: Duration) -> Arc<Self> {
        let cut = watch::Sender::new(None);
        Arc::new(Self { warmup, length, begun: Mutex::new(None), cut })
    }

    /// Begins to warm up. Before that, nothing is over.
    pub(super) fn begin(self: &Arc<Self>) {
        *self.begun.lock().expect("nobody panics with it") = Some(Instant::now());
        tokio::spawn(show_progress(self.clone()));
    }

    /// When measuring starts.
    pub(super) fn start(&self) -> Instant {
        let begun = *self.begun.lock().expect("nobody panics with it");
        begun.unwrap_or_else(Instant::now) + self.warmup
    }

    /// When it ends, as far as is known.
    pub(super) fn end(&self) -> Instant {
        let end = self.start() + self.length;
        self.cut.borrow().map_or(end, |cut| cut.min(end))
    }

    /// Whether something that happens now counts.
    pub(super) fn counts(&self, now: Instant) -> bool {
        self.start() <= now && now < self.end()
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_cut() || Instant::now() >= self.end()
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut.borrow().is_some()
    }

    /// Sleeps until a moment, but not beyond the end.
    pub(super) async fn sleep_until(&self, moment: Instant) {
        let mut cut = self.cut.subscribe();
        tokio::select! {
            () = tokio::time::sleep_until(moment.min(self.end()).into()) => {}
            _ = cut.wait_for(Option::is_some) => {}
        }
    }

    /// For how long was measured.
    pub(super) fn measured(&self) -> Duration {
        let measured = self.end().saturating_duration_since(self.start());
        measured.max(Duration::from_millis(1))
    }

    /// The processor time of this process, in cores since it started measuring.
    pub(super) fn cpu(&self) -> f64 {
        let used = clock_gettime(ClockId::ProcessCPUTime);
        let used = used.tv_sec as f64 + used.tv_nsec as f64 / 1e9;
        let begun = self.start().checked_sub(self.warmup).unwrap_or_else(Instant::now);
        used / begun.elapsed().as_secs_f64().max(0.001)
    }
}

/// The first signal ends the measuring, and all claims are given back; the second ends everything.
pub(super) fn stop_on_signal(window: Arc<Window>) -> io::Result<impl Future<Output = ()>> {
    let first = stopped()?;
    Ok(async move {
        first.await;
        // Listened for only now: whoever listened before has heard the first one, too.
        let second = stopped();
        aside!("tenure: stopping, and giving back what is held; once more to leave at once");
        window.cut.send_replace(Some(Instant::now()));
        match second {
            Ok(second) => second.await,
            Err(error) => return tracing::warn!(%error, "a second signal will not be heard"),
        }
        aside!("tenure: left at once: what was held ends with its ttl");
        std::process::exit(130);
    })
}

/// A bar on a terminal, nothing elsewhere.
async fn show_progress(window: Arc<Window>) {
    let whole = window.warmup + window.length;
    let bar = ProgressBar::new(whole.as_millis() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {msg}") {
        bar.set_style(style);
    }
    while !window.is_over() {
        let left = window.end().saturating_duration_since(Instant::now());
        bar.set_position((whole.saturating_sub(left)).as_millis() as u64);
        bar.set_message(format!("{} s left", left.as_secs()));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bar.finish_and_clear();
}
