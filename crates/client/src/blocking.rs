//! The same without async: every call returns when it is done.
//!
//! The work is done by the manager's own thread in any case; here the caller only sleeps until it is.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use crate::driver::Loss;
use crate::error::{ClaimError, RefreshError, ReleaseError};
use crate::key::Key;
use crate::place::ConnectError;

/// See [`LockManager`](crate::LockManager).
#[derive(Debug, Clone)]
pub struct LockManager(crate::LockManager);

/// See [`Claiming`](crate::Claiming); [`get`](Claiming::get) waits until it is held.
#[must_use = "a claim is made by get()"]
#[derive(Debug, Clone)]
pub struct Claiming(crate::Claiming);

/// See [`Claim`](crate::Claim).
#[must_use = "a claim that is dropped is given back"]
#[derive(Debug)]
pub struct Claim(crate::Claim);

impl From<crate::LockManager> for LockManager {
    fn from(manager: crate::LockManager) -> Self {
        Self(manager)
    }
}

impl LockManager {
    /// See [`LockManager::connect`](crate::LockManager::connect); with other settings, set up the
    /// async one and turn it `into` this.
    pub fn connect(url: &str) -> Result<Self, ConnectError> {
        crate::LockManager::connect(url).map(Self)
    }

    /// See [`LockManager::claim`](crate::LockManager::claim).
    pub fn claim(&self, resource: &str) -> Claiming {
        Claiming(self.0.claim(resource))
    }

    /// See [`LockManager::try_claim`](crate::LockManager::try_claim).
    pub fn try_claim(&self, resource: &str) -> Claiming {
        Claiming(self.0.try_claim(resource))
    }

    /// See [`LockManager::claim_all`](crate::LockManager::claim_all).
    pub fn claim_all<R: AsRef<str>>(&self, resources: impl IntoIterator<Item = R>) -> Claiming {
        Claiming(self.0.claim_all(resources))
    }

    /// See [`LockManager::capabilities`](crate::LockManager::capabilities).
    pub fn capabilities(&self) -> crate::Capabilities {
        self.0.capabilities()
    }

    /// Renews a claim of somebody else's: see [`Keeper`](crate::Keeper).
    pub fn renew_as_keeper(&self, token: &str, ttl: Duration) -> Result<(), RefreshError> {
        wait(self.0.keeper(token).renew(ttl))
    }
}

impl Claiming {
    /// How long the lease lasts without renewal.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self(self.0.ttl(ttl))
    }

    /// How long it may take until it is held.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.timeout(timeout))
    }

    /// Together with any number of others that share.
    pub fn shared(self) -> Self {
        Self(self.0.shared())
    }

    /// Together with others, `count` in all.
    pub fn limit(self, count: u32) -> Self {
        Self(self.0.limit(count))
    }

    /// What others may see: a JSON text.
    pub fn data(self, json: &str) -> Self {
        Self(self.0.data(json))
    }

    /// See [`Claiming::key`](crate::Claiming::key).
    pub fn key(self, key: Key) -> Self {
        Self(self.0.key(key))
    }

    /// See [`Claiming::on_wait`](crate::Claiming::on_wait).
    pub fn on_wait(self, tell: impl Fn(Option<u64>) + Send + Sync + 'static) -> Self {
        Self(self.0.on_wait(tell))
    }

    /// Waits until it is held.
    pub fn get(self) -> Result<Claim, ClaimError> {
        wait(self.0.make()).map(Claim)
    }
}

impl Claim {
    /// See [`Claim::refresh`](crate::Claim::refresh).
    pub fn refresh(&self, ttl: impl Into<Option<Duration>>) -> Result<(), RefreshError> {
        wait(self.0.refresh(ttl))
    }

    /// See [`Claim::release`](crate::Claim::release).
    pub fn release(self) -> Result<(), ReleaseError> {
        wait(self.0.release())
    }

    /// See [`Claim::keeper`](crate::Claim::keeper).
    pub fn keeper(&self) -> Result<String, RefreshError> {
        wait(self.0.keeper())
    }

    /// Waits until the claim is lost: for a thread that watches it.
    pub fn lost(&self) -> Loss {
        wait(self.0.lost())
    }
}

/// What needs no waiting is the same.
impl std::ops::Deref for Claim {
    type Target = crate::Claim;
    fn deref(&self) -> &crate::Claim {
        &self.0
    }
}

/// Sleeps until the future is done.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    struct Sleeper(Thread);
    impl Wake for Sleeper {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Sleeper(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
