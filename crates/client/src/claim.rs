//! A claim that is held.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use claims::{ClaimId, Resources, Ttl};
use hyper::Method;
use tokio::sync::watch;

use crate::clock;
use crate::driver::{Driver, End, Errand, Held, Loss, Problem};
use crate::error::{RefreshError, ReleaseError};
use crate::key::Key;
use crate::news::{News, Phase};

/// A claim that is held, and renewed in the background until it is released or dropped.
///
/// It is a lease: ask [`check`](Claim::check) before each effect, and hand [`fence`](Claim::fence) to
/// what is protected, so that it can refuse what comes late.
#[must_use = "a claim that is dropped is given back"]
#[derive(Debug)]
pub struct Claim {
    driver: Arc<Driver>,
    errand: Errand,
    resources: Resources,
    key: Key,
    news: watch::Receiver<News>,
    /// How many renewals were asked for.
    refreshes: Mutex<u64>,
}

/// How certain it is that a claim is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lease {
    /// Certain, for so long even if nothing is heard from the server any more.
    Held(Duration),
    /// The last renewal was not confirmed. Still certain for so long; after that, lost.
    Unknown(Duration),
    /// Not held any more.
    Lost(Loss),
}

impl Claim {
    pub(crate) fn new(
        driver: Arc<Driver>,
        errand: Errand,
        resources: Resources,
        key: Key,
        news: watch::Receiver<News>,
    ) -> Self {
        Self { driver, errand, resources, key, news, refreshes: Mutex::default() }
    }

    /// A number greater than any that a holder of its resources ever had. Hand it to what you protect,
    /// and let that refuse lower ones. None from servers that give none.
    pub fn fence(&self) -> Option<u64> {
        self.errand.fence().map(|fence| fence.0)
    }

    /// For how long it is certain that the claim is held; nothing if it is lost.
    pub fn valid_for(&self) -> Duration {
        match self.lease() {
            Lease::Held(span) | Lease::Unknown(span) => span,
            Lease::Lost(_) => Duration::ZERO,
        }
    }

    /// How certain it is that the claim is held.
    pub fn lease(&self) -> Lease {
        if self.errand.is_forked() {
            return Lease::Lost(Loss::Forked);
        }
        if let Phase::Lost(loss) = &self.news.borrow().phase {
            return Lease::Lost(loss.clone());
        }
        match self.errand.lease() {
            Some(Held { valid_for, confirmed: true }) => Lease::Held(valid_for),
            Some(Held { valid_for, confirmed: false }) => Lease::Unknown(valid_for),
            // The driver will say so in a moment; the clock has said it already.
            None => Lease::Lost(Loss::Unconfirmed(Problem::new("the lease is over"))),
        }
    }

    /// Whether it is still held. Ask before each effect that must not come late.
    pub fn check(&self) -> Result<(), Loss> {
        match self.lease() {
            Lease::Held(_) | Lease::Unknown(_) => Ok(()),
            Lease::Lost(loss) => Err(loss),
        }
    }

    /// Returns when the claim is lost. To select on, beside the work.
    pub async fn lost(&self) -> Loss {
        if let Lease::Lost(loss) = self.lease() {
            return loss;
        }
        let mut news = self.news.clone();
        let lost = news.wait_for(|news| matches!(news.phase, Phase::Lost(_))).await;
        match lost.map(|news| news.phase.clone()) {
            Ok(Phase::Lost(loss)) => loss,
            _ => Loss::Unconfirmed(Problem::new("nobody renews it any more")),
        }
    }

    /// Renews now, and from now on with this ttl.
    pub async fn refresh(&self, ttl: impl Into<Option<Duration>>) -> Result<(), RefreshError> {
        self.check()?;
        let ttl = ttl.into().map(|ttl| Ttl::new(clock::span(ttl))).transpose();
        let ttl =
            ttl.map_err(|refusal| RefreshError::Refused(Problem::new(refusal.to_string())))?;
        let mut news = self.news.clone();
        let nth = self.ask_for_refresh(ttl);
        let done = |news: &News| {
            let over = matches!(news.phase, Phase::Lost(_)) || news.end.is_some();
            over || (news.refreshes >= nth && news.refreshed.is_some())
        };
        let told =
            news.wait_for(done).await.map(|news| (news.phase.clone(), news.refreshed.clone()));
        match told {
            Ok((Phase::Lost(loss), _)) => Err(loss.into()),
            Ok((_, Some(Ok(())))) => Ok(()),
            Ok((_, Some(Err(problem)))) => Err(RefreshError::Unknown(problem)),
            Ok((_, None)) | Err(_) => Err(Loss::GivenUp.into()),
        }
    }

    /// Asks, and says the how-manieth it is. In one step: several may ask at once, and none of them
    /// takes the confirmation of one before it for its own.
    fn ask_for_refresh(&self, ttl: Option<Ttl>) -> u64 {
        let mut asked = self.refreshes.lock().unwrap_or_else(PoisonError::into_inner);
        *asked += 1;
        self.errand.refresh(ttl);
        *asked
    }

    /// Gives it back, and returns when the server has confirmed that.
    pub async fn release(self) -> Result<(), ReleaseError> {
        if let Lease::Lost(loss) = self.lease() {
            return Err(ReleaseError::Lost(loss));
        }
        self.errand.release();
        let mut news = self.news.clone();
        let told = news.wait_for(|news| news.end.is_some()).await;
        let told = told.map(|news| (news.phase.clone(), news.end.clone()));
        match told {
            Ok((_, Some(End::Confirmed | End::Never))) => Ok(()),
            Ok((Phase::Lost(loss), _)) => Err(ReleaseError::Lost(loss)),
            Ok((_, Some(End::Refused(problem)))) => Err(ReleaseError::Lost(Loss::Unknown(problem))),
            Ok((_, Some(End::Unknown(problem)))) => {
                Err(ReleaseError::Unknown(problem.unwrap_or_else(Problem::nothing)))
            }
            Ok((_, None)) | Err(_) => Err(ReleaseError::Unknown(Problem::nothing())),
        }
    }

    /// A token for somebody who may renew this claim and nothing else: see
    /// [`LockManager::keeper`](crate::LockManager::keeper).
    pub async fn keeper(&self) -> Result<String, RefreshError> {
        self.check()?;
        let keeper = Key::random();
        let claim = self.id();
        let path = format!("/v1/claims/{claim}.{}/", self.key.reveal());
        let json = format!("{{\"keeper\":\"{}\"}}", keeper.reveal());
        let reply = self.driver.ask(Method::PATCH, path, json).await;
        crate::keeper::outcome(reply)?;
        Ok(format!("{claim}.{}", keeper.reveal()))
    }

    /// The number of the claim at its server.
    pub fn id(&self) -> u64 {
        self.errand.claim().map_or(0, |ClaimId(id)| id)
    }

    /// The secret that makes the claim yours. Who gets it can take the claim over.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// What is held.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.resources.as_slice().iter().map(|name| name.as_str())
    }
}

impl Drop for Claim {
    /// Gives it back without waiting for the server. Works with and without an async runtime; in a
    /// forked child it does nothing.
    fn drop(&mut self) {
        self.errand.release();
    }
}
