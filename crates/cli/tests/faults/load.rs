//! Clients that go on whatever happens to the server, and remember what they were told.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::rig::{Line, RELEASED, Told};

/// What a client was told. It must be true for ever.
pub(crate) struct Acknowledged {
    pub(crate) location: String,
    pub(crate) fence: u64,
    /// When it was asked for the first time, and when it was heard at last.
    sent: Instant,
    heard: Instant,
    pub(crate) released: bool,
}

/// What all clients share.
#[derive(Default)]
pub(crate) struct Load {
    /// Where the server is at present.
    pub(crate) address: Mutex<String>,
    pub(crate) acknowledged: Mutex<Vec<Acknowledged>>,
    /// How many answers were heard, and how many were lost on the way.
    pub(crate) heard: AtomicUsize,
    pub(crate) lost: AtomicUsize,
    pub(crate) over: AtomicBool,
    /// The test failed: nobody answers any more.
    failed: AtomicBool,
    /// The last fence that was inside of what all of them want.
    witness: Mutex<u64>,
    inside: AtomicBool,
}

/// Ends the load, also when a test fails.
pub(crate) struct Ending<'a>(pub(crate) &'a Load);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
        self.0.failed.store(std::thread::panicking(), Ordering::SeqCst);
    }
}

impl Load {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Claims, releases and contends until the load is over.
    pub(crate) fn run(&self, client: usize) {
        let mut line = None;
        for nth in 0.. {
            if self.is_over() {
                return;
            }
            let contends = nth % 5 == 4;
            let resource = if contends { "one".into() } else { format!("{client}/{nth}") };
            let Some(mut mine) = self.claim(&mut line, client, nth, &resource) else { return };
            if contends {
                self.hold(mine.fence);
            }
            if contends || nth % 3 == 0 {
                let Some(told) = self.persist(&mut line, "PATCH", &mine.location, RELEASED) else {
                    return;
                };
                told.is(204);
                mine.released = true;
            }
            self.acknowledged.lock().unwrap().push(mine);
        }
    }

    fn claim(
        &self,
        line: &mut Option<Line>,
        client: usize,
        nth: usize,
        resource: &str,
    ) -> Option<Acknowledged> {
        let key = format!("key-of-client-{client:02}-claim-{nth:08}");
        let body = format!(r#"{{"resource":"{resource}","ttl":3600,"wait":20,"key":"{key}"}}"#);
        let sent = Instant::now();
        loop {
            let told = self.persist(line, "POST", "/v1/claims/", &body)?;
            // It may have waited long enough; it waits on under the same key.
            if told.status != 202 {
                let told = told.is(201);
                let (heard, fence) = (Instant::now(), told.fence());
                let location = told.location;
                return Some(Acknowledged { location, fence, sent, heard, released: false });
            }
        }
    }

    /// Asks again until there is an answer, also when the load is over: what was begun is known in
    /// the end. None if the test has failed.
    fn persist(
        &self,
        line: &mut Option<Line>,
        method: &str,
        path: &str,
        body: &str,
    ) -> Option<Told> {
        loop {
            if line.is_none() {
                let address = self.address.lock().unwrap().clone();
                *line = Line::open(&address);
            }
            if let Some(open) = line {
                if let Some(told) = open.ask(method, path, body) {
                    self.heard.fetch_add(1, Ordering::SeqCst);
                    return Some(told);
                }
                self.lost.fetch_add(1, Ordering::SeqCst);
                *line = None;
            }
            if self.failed.load(Ordering::SeqCst) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Is inside of what all of them want: alone, and with a greater fence than anybody before.
    fn hold(&self, fence: u64) {
        assert!(!self.inside.swap(true, Ordering::SeqCst), "two are inside");
        let mut last = self.witness.lock().unwrap();
        assert!(fence > *last, "fence {fence} after {last}");
        *last = fence;
        drop(last);
        std::thread::yield_now();
        self.inside.store(false, Ordering::SeqCst);
    }

    /// No fence was given twice, and none is below one that was known before it was asked for.
    pub(crate) fn check_fences(&self) {
        let all = self.acknowledged.lock().unwrap();
        let distinct: BTreeSet<u64> = all.iter().map(|one| one.fence).collect();
        assert_eq!(distinct.len(), all.len(), "a fence was given twice");
        let mut by_heard: Vec<&Acknowledged> = all.iter().collect();
        by_heard.sort_by_key(|one| one.heard);
        let mut by_sent = by_heard.clone();
        by_sent.sort_by_key(|one| one.sent);
        let (mut known, mut next) = (0, by_heard.into_iter().peekable());
        for one in by_sent {
            while let Some(before) = next.next_if(|before| before.heard < one.sent) {
                known = known.max(before.fence);
            }
            assert!(one.fence > known, "fence {} after {known} was known", one.fence);
        }
    }
}
