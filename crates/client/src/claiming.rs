//! A claim that is being made.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use claims::claimant::Patience;
use claims::{Data, Limit, Refusal, Resources, Ttl};
use tokio::sync::watch;

use crate::claim::Claim;
use crate::clock;
use crate::driver::{Driver, Errand, Told};
use crate::error::ClaimError;
use crate::key::Key;
use crate::news::{News, Phase};
use crate::wish::{self, NotJson, Wish};

/// A claim that is being made: say what is special about it, then `.await` it.
///
/// Dropped before it is held (a `select!` that lost interest, a timeout around it), it leaves the
/// queue.
#[must_use = "a claim is made by awaiting it"]
#[derive(Debug, Clone)]
pub struct Claiming {
    driver: Arc<Driver>,
    resources: Result<Resources, Refusal>,
    ttl: Duration,
    pub(crate) patience: Patience,
    limit: Result<Limit, Refusal>,
    data: Result<Option<Data>, NotJson>,
    key: Option<Key>,
    waiting: Waiting,
}

/// Who hears of the place in the queue.
#[derive(Clone, Default)]
struct Waiting(Option<Arc<dyn Fn(Option<u64>) + Send + Sync>>);

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Waiting(somebody)" } else { "Waiting(nobody)" })
    }
}

impl Claiming {
    pub(crate) fn new(
        driver: Arc<Driver>,
        resources: Result<Resources, Refusal>,
        ttl: Duration,
        patience: Patience,
    ) -> Self {
        let (limit, data) = (Ok(Limit::EXCLUSIVE), Ok(None));
        Self {
            driver,
            resources,
            ttl,
            patience,
            limit,
            data,
            key: None,
            waiting: Waiting::default(),
        }
    }

    /// How long the lease lasts without renewal.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// How long it may take until it is held.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        let span = clock::span(timeout);
        self.patience = match self.patience {
            Patience::Try(_) => Patience::Try(span),
            Patience::Forever | Patience::For(_) => Patience::For(span),
        };
        self
    }

    /// Together with any number of others that share.
    pub fn shared(mut self) -> Self {
        self.limit = Ok(Limit::SHARED);
        self
    }

    /// Together with others, `count` in all.
    pub fn limit(mut self, count: u32) -> Self {
        self.limit = Limit::at_most(count);
        self
    }

    /// What others may see: a JSON text.
    pub fn data(mut self, json: &str) -> Self {
        self.data = wish::data(json).map(Some);
        self
    }

    /// Under a key of one's own. With a key that was used before, by this program or one that is gone,
    /// the claim is taken over if it is still there.
    pub fn key(mut self, key: Key) -> Self {
        self.key = Some(key);
        self
    }

    /// Tells the place in the queue while it waits, each time that the server says it: 1 is next, and
    /// none is a place that does not know. Runs on the manager's thread, so it must not block.
    ///
    /// ```
    /// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/house/mod.rs")); }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let house = house::House::open();
    /// # let manager = tenure::LockManager::connect(&house.url())?;
    /// let first = manager.claim("printer").await?;
    /// let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    /// let second = manager.claim("printer").on_wait(move |place| drop(tell.send(place)));
    /// let second = tokio::spawn(async move { second.await });
    /// assert_eq!(told.recv().await, Some(Some(1)));
    /// first.release().await?;
    /// assert!(second.await?.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_wait(mut self, tell: impl Fn(Option<u64>) + Send + Sync + 'static) -> Self {
        self.waiting = Waiting(Some(Arc::new(tell)));
        self
    }

    fn wish(self) -> Result<(Arc<Driver>, Wish), ClaimError> {
        let ttl = Ttl::new(clock::span(self.ttl))?;
        let mut wish = Wish::new(self.resources?, ttl);
        wish.limit = self.limit?;
        wish.data = self.data?;
        wish.patience = self.patience;
        wish.adopts = self.key.is_some();
        wish.key = self.key.unwrap_or(wish.key);
        Ok((self.driver, wish))
    }

    pub(crate) async fn make(self) -> Result<Claim, ClaimError> {
        let waiting = self.waiting.clone();
        let (driver, wish) = self.wish()?;
        let names = wish.resources.clone();
        let key = wish.key.clone();
        let (sender, mut news) = watch::channel(News::default());
        let errand = driver.pursue(wish, move |told| {
            if let (Told::Waiting { position }, Some(tell)) = (told, &waiting.0) {
                tell(*position);
            }
            sender.send_modify(|news| news.take(told));
        });
        let interest = Interest(Some(errand));
        let decided = news.wait_for(|news| !matches!(news.phase, Phase::Waiting)).await;
        let phase = decided.map(|news| news.phase.clone());
        match phase {
            Ok(Phase::Held) => Ok(Claim::new(driver, interest.keep(), names, key, news)),
            Ok(Phase::Missed(miss)) => Err(ClaimError::missed(what(&names), miss)),
            Ok(Phase::Waiting | Phase::Lost(_)) | Err(_) => {
                Err(ClaimError::Closed { what: what(&names) })
            }
        }
    }
}

impl IntoFuture for Claiming {
    type Output = Result<Claim, ClaimError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}

/// Someone waits for the claim. If nobody does any more, it is given up.
struct Interest(Option<Errand>);

impl Interest {
    fn keep(mut self) -> Errand {
        self.0.take().expect("it is kept once")
    }
}

impl Drop for Interest {
    fn drop(&mut self) {
        if let Some(errand) = &self.0 {
            errand.release();
        }
    }
}

/// What is wanted, in words.
pub(crate) fn what(names: &Resources) -> String {
    let names: Vec<String> = names.as_slice().iter().map(|name| format!("{name:?}")).collect();
    names.join(" and ")
}
