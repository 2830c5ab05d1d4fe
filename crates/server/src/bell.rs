//! Many answers, one wake-up.
//!
//! **Problem.** The store answers a whole batch at once, from a thread of its own. Each answer wakes
//! its request, and each wake-up from another thread is a system call: at 64 clients that is most of
//! what the store's thread does between two syncs.
//!
//! **Idea.** A request that waits for the store leaves its waker with the bell. The first answer of a
//! batch rings; the ringer, a task of the serving thread, then wakes everybody who is on the list.
//! Waking within the thread is no system call.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

#[derive(Default)]
pub(crate) struct Bell(Mutex<List>);

#[derive(Default)]
struct List {
    to_wake: Vec<Waker>,
    /// None if nobody listens to the bell: then everybody is woken directly.
    ringer: Option<Waker>,
}

impl Bell {
    /// Waits for something that another thread will do, and is woken by the bell.
    pub(crate) async fn wait_for<F: Future>(self: &Arc<Self>, future: F) -> F::Output {
        let mut future = pin!(future);
        let rope = Arc::new(Rope { bell: self.clone(), sleeper: Mutex::new(None) });
        let waker = Waker::from(rope.clone());
        poll_fn(|cx| {
            *rope.sleeper.lock().expect("waking does not panic") = Some(cx.waker().clone());
            future.as_mut().poll(&mut Context::from_waker(&waker))
        })
        .await
    }

    /// Wakes everybody on the list whenever it rings, in the thread that runs this.
    pub(crate) async fn listen(self: Arc<Self>) {
        let _deaf = Deaf(&self);
        let mut awake = Vec::new();
        poll_fn(|cx| {
            let mut list = self.list();
            list.ringer = Some(cx.waker().clone());
            std::mem::swap(&mut awake, &mut list.to_wake);
            drop(list);
            awake.drain(..).for_each(Waker::wake);
            Poll::<()>::Pending
        })
        .await;
    }

    fn ring(&self, sleeper: Waker) {
        let mut list = self.list();
        let Some(ringer) = &list.ringer else {
            drop(list);
            return sleeper.wake();
        };
        // Whoever finds a list that is not empty was preceded by somebody who rang.
        let ringer = list.to_wake.is_empty().then(|| ringer.clone());
        list.to_wake.push(sleeper);
        drop(list);
        if let Some(ringer) = ringer {
            ringer.wake();
        }
    }

    fn list(&self) -> std::sync::MutexGuard<'_, List> {
        self.0.lock().expect("waking does not panic")
    }
}

/// Nobody listens any more: those on the list must not sleep for ever.
struct Deaf<'a>(&'a Bell);

impl Drop for Deaf<'_> {
    fn drop(&mut self) {
        let list = std::mem::take(&mut *self.0.list());
        list.to_wake.into_iter().for_each(Waker::wake);
    }
}

/// One request's end of the rope.
struct Rope {
    bell: Arc<Bell>,
    sleeper: Mutex<Option<Waker>>,
}

impl Wake for Rope {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let sleeper = self.sleeper.lock().expect("waking does not panic").take();
        if let Some(sleeper) = sleeper {
            self.bell.ring(sleeper);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everybody_is_woken_with_and_without_a_ringer() {
        let bell = Arc::new(Bell::default());
        for listening in [false, true, false] {
            let ringer = listening.then(|| tokio::spawn(bell.clone().listen()));
            tokio::task::yield_now().await;
            let (senders, receivers): (Vec<_>, Vec<_>) =
                (0..100).map(|_| tokio::sync::oneshot::channel()).unzip();
            let waiting: Vec<_> = receivers
                .into_iter()
                .map(|receiver| {
                    let bell = bell.clone();
                    tokio::spawn(async move { bell.wait_for(receiver).await })
                })
                .collect();
            tokio::task::yield_now().await;
            std::thread::spawn(|| senders.into_iter().for_each(|sender| sender.send(()).unwrap()));
            for one in waiting {
                one.await.unwrap().unwrap();
            }
            if let Some(ringer) = ringer {
                ringer.abort();
                let _ = ringer.await;
            }
        }
    }
}
