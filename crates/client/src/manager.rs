//! The way in: a manager knows a lock server and makes claims there.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use claims::claimant::Patience;
use claims::{Name, Refusal, Resources, Ttl};

use crate::capabilities::Capabilities;
use crate::claiming::Claiming;
use crate::clock;
use crate::driver::{Driver, Settings};
use crate::keeper::Keeper;
use crate::keychain::Keychain;
use crate::place::{ConnectError, Place};

/// How long a lease lasts if nobody says.
const TTL: Duration = Duration::from_secs(60);

/// How long the server may take to answer somebody who only tries.
const TRY: Duration = Duration::from_secs(10);

/// Makes claims at one lock server. Clones share one background thread and one pool of connections.
#[derive(Debug, Clone)]
pub struct LockManager {
    driver: Arc<Driver>,
    ttl: Duration,
    timeout: Option<Duration>,
}

/// A manager that is being set up; [`connect`](Connecting::connect) makes it.
#[derive(Debug, Clone)]
pub struct Connecting {
    url: String,
    ttl: Duration,
    timeout: Option<Duration>,
    version: String,
    token: Option<String>,
    ca_file: Option<PathBuf>,
    keychain: Option<Keychain>,
}

impl LockManager {
    /// Makes claims at this address, such as `http://127.0.0.1:7117`, with the usual settings: a ttl of
    /// 60 s, no timeout, API version v1. Nothing is sent before the first claim.
    pub fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::at(url).connect()
    }

    /// The same with other settings.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tenure::LockManager;
    ///
    /// let manager = LockManager::at("http://127.0.0.1:7117")
    ///     .ttl(Duration::from_secs(20))
    ///     .timeout(Duration::from_secs(300))
    ///     .api_version("v1")
    ///     .token("the server's token")
    ///     .connect()?;
    /// # drop(manager);
    /// let error = LockManager::connect("redis://localhost").unwrap_err();
    /// assert!(error.to_string().contains("http://"));
    /// # Ok::<(), tenure::ConnectError>(())
    /// ```
    pub fn at(url: &str) -> Connecting {
        Connecting {
            url: url.to_owned(),
            ttl: TTL,
            timeout: None,
            version: "v1".to_owned(),
            token: None,
            ca_file: None,
            keychain: None,
        }
    }

    /// Claims a resource: `.await` it, after saying what is special about it.
    pub fn claim(&self, resource: &str) -> Claiming {
        self.claiming(Name::new(resource).map(Resources::one))
    }

    /// Claims a resource if it is free now; if not, [`ClaimError::Busy`](crate::ClaimError::Busy).
    pub fn try_claim(&self, resource: &str) -> Claiming {
        let patience = Patience::Try(clock::span(self.timeout.unwrap_or(TRY)));
        let mut claiming = self.claim(resource);
        claiming.patience = patience;
        claiming
    }

    /// Claims several resources, all or none. Claims over several cannot deadlock each other.
    pub fn claim_all<R: AsRef<str>>(&self, resources: impl IntoIterator<Item = R>) -> Claiming {
        let names = resources.into_iter().map(|name| Name::new(name.as_ref()));
        let names: Result<Vec<Name>, Refusal> = names.collect();
        self.claiming(names.and_then(Resources::try_from))
    }

    /// The same for those who do not wait.
    pub(crate) fn try_claim_all<R: AsRef<str>>(
        &self,
        resources: impl IntoIterator<Item = R>,
    ) -> Claiming {
        let mut claiming = self.claim_all(resources);
        claiming.patience = Patience::Try(clock::span(self.timeout.unwrap_or(TRY)));
        claiming
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// What claims can do here.
    pub fn capabilities(&self) -> Capabilities {
        self.driver.capabilities()
    }

    /// Someone who may renew a claim of somebody else's: see [`Claim::keeper`](crate::Claim::keeper).
    pub fn keeper(&self, token: &str) -> Keeper {
        Keeper::new(self.driver.clone(), token)
    }

    fn claiming(&self, resources: Result<Resources, Refusal>) -> Claiming {
        let patience = match self.timeout {
            Some(timeout) => Patience::For(clock::span(timeout)),
            None => Patience::Forever,
        };
        Claiming::new(self.driver.clone(), resources, self.ttl, patience)
    }
}

impl Connecting {
    /// How long a lease lasts without renewal, if a claim does not say otherwise. Renewals come by
    /// themselves; after this long without one, others are served.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// How long it may take until a claim is held, if a claim does not say otherwise.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The version of the protocol. There is "v1".
    pub fn api_version(mut self, version: &str) -> Self {
        self.version = version.to_owned();
        self
    }

    /// The token of a server that lets in only whom it knows.
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Trusts only the certificate authorities in this file (PEM) when the address is https.
    pub fn ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(file.into());
        self
    }

    /// Lets a process of its own hold the claims: see [`keychain`](crate::keychain).
    pub fn keychain(mut self, keychain: Keychain) -> Self {
        self.keychain = Some(keychain);
        self
    }

    /// Makes the manager.
    pub fn connect(self) -> Result<LockManager, ConnectError> {
        if self.version != "v1" {
            return Err(ConnectError::Version { version: self.version });
        }
        Ttl::new(clock::span(self.ttl))?;
        let place = Place::parse(&self.url)?;
        let settings = Settings { token: self.token, ca_file: self.ca_file, ..Settings::at(place) };
        let driver = match self.keychain {
            Some(keychain) => Driver::through(keychain, settings)?,
            None => Driver::start(settings)?,
        };
        Ok(LockManager { driver: Arc::new(driver), ttl: self.ttl, timeout: self.timeout })
    }
}
