//! etcd as a cabinet.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use claims::{ClaimId, Name};
use etcd_client::{
    Client, Compare, CompareOp, DeleteOptions, Error, GetOptions, GetResponse, ResponseHeader, Txn,
    TxnOp, TxnOpResponse, TxnResponse,
};

use super::address::Address;
use crate::error::StoreError;
use crate::swap::cabinet::{Cabinet, Content, Exchange, Key, News, Swapped};

/// How many keys one request reads or lists. etcd takes 128 operations in a transaction.
const READ_MAX: usize = 100;
const LIST_MAX: i64 = 5_000;
/// How many claims are remembered with where they are.
const HOMES_MAX: usize = 64 * 1024;
/// Bits of a claim's number that are drawn: two processes that choose at the same revision differ.
const DRAWN: u32 = 10;
/// The events of one transaction have positions of their own: this many bits of them.
const EVENT_BITS: u32 = 12;

/// Keys under a prefix.
pub(super) struct Etcd {
    pub(super) client: Client,
    pub(super) prefix: String,
    timeout: Duration,
    shown: String,
    /// The latest revision that is known.
    revision: AtomicI64,
    /// The revision when it was opened.
    pub(super) opened: i64,
    homes: Mutex<HashMap<ClaimId, Key>>,
}

impl Etcd {
    pub(super) async fn connect(address: Address) -> Result<Self, StoreError> {
        let Address { endpoints, prefix, options, timeout, shown, .. } = address;
        let failed = |error: &Error| {
            StoreError::Unavailable(format!("{shown} cannot be opened: {}", said(error)))
        };
        let connecting = Client::connect(&endpoints, Some(options));
        let client = tokio::time::timeout(timeout * 3, connecting).await;
        let client = client.map_err(|_| {
            StoreError::Unavailable(format!("{shown} does not answer: is it running there?"))
        })?;
        let client = client.map_err(|error| failed(&error))?;
        let revision = AtomicI64::new(0);
        let homes = Mutex::default();
        let shown = shown.clone();
        let mut etcd = Self { client, prefix, timeout, shown, revision, opened: 0, homes };
        let mut tries = 2 * endpoints.len();
        loop {
            match etcd.present().await {
                Ok(revision) => {
                    etcd.opened = revision;
                    return Ok(etcd);
                }
                Err(error) if tries == 0 => return Err(error),
                // The next try is another member's.
                Err(_) => tries -= 1,
            }
        }
    }

    /// The revision right now.
    pub(super) async fn present(&self) -> Result<i64, StoreError> {
        let marker = self.marker();
        let mut client = self.client.kv_client();
        let got = self.ask(client.get(marker, None)).await?;
        Ok(self.heard(got.header()))
    }

    pub(super) async fn remove(&self) -> Result<(), StoreError> {
        let mut client = self.client.kv_client();
        let all = DeleteOptions::new().with_prefix();
        self.ask(client.delete(self.prefix.as_str(), Some(all))).await.map(drop)
    }

    pub(super) async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, StoreError> {
        match tokio::time::timeout(self.timeout, request).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(StoreError::Unavailable(format!(
                "{} cannot serve: {}",
                self.shown,
                said(&error)
            ))),
            Err(_) => Err(StoreError::Unavailable(format!(
                "{} did not answer within {:?}: try again later",
                self.shown, self.timeout
            ))),
        }
    }

    /// Notes the revision of an answer.
    pub(super) fn heard(&self, header: Option<&ResponseHeader>) -> i64 {
        let revision = header.map_or(0, ResponseHeader::revision);
        self.revision.fetch_max(revision, Ordering::Relaxed);
        revision
    }

    pub(super) fn resource_key(&self, key: &str) -> String {
        format!("{}r/{key}", self.prefix)
    }

    fn claim_key(&self, claim: ClaimId) -> String {
        format!("{}c/{:014x}", self.prefix, claim.0)
    }

    /// Changes whenever a resource's key goes. A new key may only begin to count from a revision
    /// after that, or its fences would begin below those that were given.
    fn marker(&self) -> String {
        format!("{}gone", self.prefix)
    }

    fn homes(&self) -> MutexGuard<'_, HashMap<ClaimId, Key>> {
        self.homes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, claim: ClaimId, home: Key) {
        let mut homes = self.homes();
        if homes.len() >= HOMES_MAX {
            homes.clear();
        }
        homes.insert(claim, home);
    }

    fn transaction(&self, swap: &Exchange<i64>) -> Txn {
        let mut compares = Vec::new();
        for (key, version) in &swap.expected {
            let revision = version.unwrap_or(0);
            compares.push(Compare::mod_revision(
                self.resource_key(key),
                CompareOp::Equal,
                revision,
            ));
        }
        if swap.expected.iter().any(|(_, version)| version.is_none()) {
            let floor = i64::try_from(swap.floor).unwrap_or(i64::MAX - 1);
            compares.push(Compare::mod_revision(self.marker(), CompareOp::Less, floor + 1));
        }
        let mut then = Vec::new();
        for (key, bytes) in &swap.puts {
            match bytes {
                Some(bytes) => then.push(TxnOp::put(self.resource_key(key), bytes.clone(), None)),
                None => then.push(TxnOp::delete(self.resource_key(key), None)),
            }
        }
        if swap.puts.iter().any(|(_, bytes)| bytes.is_none()) {
            then.push(TxnOp::put(self.marker(), "", None));
        }
        for (claim, home) in &swap.born {
            let key = self.claim_key(*claim);
            compares.push(Compare::create_revision(key.clone(), CompareOp::Equal, 0));
            then.push(TxnOp::put(key, home.as_bytes(), None));
        }
        for claim in &swap.forgotten {
            then.push(TxnOp::delete(self.claim_key(*claim), None));
        }
        let look = swap.expected.iter().map(|(key, _)| TxnOp::get(self.resource_key(key), None));
        let otherwise: Vec<TxnOp> = look.collect();
        Txn::new().when(compares).and_then(then).or_else(otherwise)
    }
}

/// The position of the first event of a revision.
pub(super) fn position(revision: i64) -> u64 {
    u64::try_from(revision).unwrap_or(0) << EVENT_BITS
}

/// What an error says, without the layers around it.
fn said(error: &Error) -> String {
    if let Error::GRpcStatus(status) = error {
        return status.message().to_owned();
    }
    error.to_string()
}

fn contents(answer: &TxnResponse) -> Vec<Content<i64>> {
    let gets = answer.op_responses().into_iter();
    gets.filter_map(|answer| match answer {
        TxnOpResponse::Get(got) => Some(content(&got)),
        TxnOpResponse::Put(_) | TxnOpResponse::Delete(_) | TxnOpResponse::Txn(_) => None,
    })
    .collect()
}

fn content(got: &GetResponse) -> Content<i64> {
    got.kvs().first().map(|kv| (kv.mod_revision(), kv.value().to_vec()))
}

impl Cabinet for Etcd {
    type Version = i64;
    const SEVERAL: bool = true;
    const SEQUENCES_MAX: u64 = 1 << (53 - DRAWN);
    const ENDED_MAX: usize = 4;
    const BYTES_MAX: usize = 1024 * 1024;
    const GUESSES: bool = true;
    const FOLLOWS: bool = true;
    const GIVES_UP: bool = true;
    /// The watch tells; this is for when it does not.
    const LOOK: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));

    fn drawer(&self, name: &Name) -> Key {
        name.as_str().into()
    }

    fn claim_id(&self, sequence: u64, _: &Key) -> ClaimId {
        let drawn = getrandom::u32().expect("the system has random numbers") % (1 << DRAWN);
        ClaimId(sequence << DRAWN | u64::from(drawn))
    }

    fn floor(&self) -> u64 {
        u64::try_from(self.revision.load(Ordering::Relaxed)).unwrap_or(0)
    }

    async fn find(&self, claim: ClaimId) -> Result<Option<Key>, StoreError> {
        if let Some(home) = self.homes().get(&claim) {
            return Ok(Some(home.clone()));
        }
        let mut client = self.client.kv_client();
        let got = self.ask(client.get(self.claim_key(claim), None)).await?;
        self.heard(got.header());
        let Some(kv) = got.kvs().first() else { return Ok(None) };
        let home = kv.value_str().map_err(|_| {
            StoreError::Corrupt(format!("the key of claim {claim} does not name a resource"))
        })?;
        let home = Key::from(home);
        self.remember(claim, home.clone());
        Ok(Some(home))
    }

    async fn read(&self, keys: &[Key]) -> Result<Vec<Content<i64>>, StoreError> {
        let mut found = Vec::with_capacity(keys.len());
        for keys in keys.chunks(READ_MAX) {
            let mut client = self.client.kv_client();
            if let [key] = keys {
                let got = self.ask(client.get(self.resource_key(key), None)).await?;
                self.heard(got.header());
                found.push(content(&got));
                continue;
            }
            let gets: Vec<TxnOp> =
                keys.iter().map(|key| TxnOp::get(self.resource_key(key), None)).collect();
            let answer = self.ask(client.txn(Txn::new().and_then(gets))).await?;
            self.heard(answer.header());
            found.extend(contents(&answer));
        }
        Ok(found)
    }

    async fn list(&self) -> Result<Vec<(Key, i64)>, StoreError> {
        let prefix = self.resource_key("");
        // The end of the prefix: its last byte is a slash, and a zero comes right after that.
        let end = format!("{}0", &prefix[..prefix.len() - 1]);
        let (mut from, mut found) = (prefix.clone(), Vec::new());
        loop {
            let mut client = self.client.kv_client();
            let options = GetOptions::new().with_range(end.as_str()).with_limit(LIST_MAX);
            let got = self.ask(client.get(from.as_str(), Some(options.with_keys_only()))).await?;
            self.heard(got.header());
            for kv in got.kvs() {
                let key = kv.key_str().ok().and_then(|key| key.strip_prefix(prefix.as_str()));
                found.extend(key.map(|key| (Key::from(key), kv.mod_revision())));
            }
            match got.kvs().last().and_then(|kv| kv.key_str().ok()) {
                Some(last) if got.more() => from = format!("{last}\0"),
                _ => return Ok(found),
            }
        }
    }

    async fn swap(&self, swap: Exchange<i64>) -> Result<Swapped<i64>, StoreError> {
        let mut client = self.client.kv_client();
        let answer = self.ask(client.txn(self.transaction(&swap))).await?;
        let revision = self.heard(answer.header());
        if !answer.succeeded() {
            return Ok(Swapped::Conflict(Some(contents(&answer))));
        }
        for (claim, home) in swap.born {
            self.remember(claim, home);
        }
        let mut homes = self.homes();
        swap.forgotten.iter().for_each(|claim| drop(homes.remove(claim)));
        let versions = swap.puts.iter().map(|(_, bytes)| bytes.as_ref().map(|_| revision));
        Ok(Swapped::Done(versions.collect(), Some(position(revision))))
    }

    async fn follow(&self, tell: impl FnMut(News<i64>) + Send) {
        self.watch(tell).await;
    }
}
