//! etcd as a cabinet.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use claims::{ClaimId, Name};
use tonic::Status;

use super::address::Address;
use super::client::Client;
use super::messages::{
    Compare, DeleteRangeRequest, EQUAL, LESS, RangeRequest, RangeResponse, RequestOp,
    ResponseHeader, TxnRequest, TxnResponse,
};
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
        let Address { members, prefix, login, tls, timeout, shown, .. } = address;
        let connecting = Client::connect(&members, tls.as_ref(), timeout, login);
        let client = tokio::time::timeout(timeout * 3, connecting).await;
        let client = client.map_err(|_| {
            StoreError::Unavailable(format!("{shown} does not answer: is it running there?"))
        })?;
        let client = client.map_err(|status| {
            StoreError::Unavailable(format!("{shown} cannot be opened: {}", status.message()))
        })?;
        let revision = AtomicI64::new(0);
        let homes = Mutex::default();
        let mut etcd = Self { client, prefix, timeout, shown, revision, opened: 0, homes };
        let mut tries = 2 * members.len();
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
        let got = self.ask(self.client.range(RangeRequest::one(self.marker()))).await?;
        Ok(self.heard(got.header))
    }

    pub(super) async fn remove(&self) -> Result<(), StoreError> {
        let (key, range_end) = (self.prefix.clone(), end_of(&self.prefix));
        self.ask(self.client.delete(DeleteRangeRequest { key, range_end })).await.map(drop)
    }

    pub(super) async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, StoreError> {
        match tokio::time::timeout(self.timeout, request).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(status)) => Err(StoreError::Unavailable(format!(
                "{} cannot serve: {}",
                self.shown,
                status.message()
            ))),
            Err(_) => Err(StoreError::Unavailable(format!(
                "{} did not answer within {:?}: try again later",
                self.shown, self.timeout
            ))),
        }
    }

    /// Notes the revision of an answer.
    pub(super) fn heard(&self, header: Option<ResponseHeader>) -> i64 {
        let revision = header.map_or(0, |header| header.revision);
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

    fn transaction(&self, swap: &Exchange<i64>) -> TxnRequest {
        let mut compare = Vec::new();
        for (key, version) in &swap.expected {
            let revision = version.unwrap_or(0);
            compare.push(Compare::mod_revision(self.resource_key(key), EQUAL, revision));
        }
        if swap.expected.iter().any(|(_, version)| version.is_none()) {
            let floor = i64::try_from(swap.floor).unwrap_or(i64::MAX - 1);
            compare.push(Compare::mod_revision(self.marker(), LESS, floor + 1));
        }
        let mut success = Vec::new();
        for (key, bytes) in &swap.puts {
            match bytes {
                Some(bytes) => success.push(RequestOp::put(self.resource_key(key), bytes.clone())),
                None => success.push(RequestOp::delete(self.resource_key(key))),
            }
        }
        if swap.puts.iter().any(|(_, bytes)| bytes.is_none()) {
            success.push(RequestOp::put(self.marker(), Vec::new()));
        }
        for (claim, home) in &swap.born {
            let key = self.claim_key(*claim);
            compare.push(Compare::create_revision(key.clone(), EQUAL, 0));
            success.push(RequestOp::put(key, home.as_bytes().to_vec()));
        }
        for claim in &swap.forgotten {
            success.push(RequestOp::delete(self.claim_key(*claim)));
        }
        let look = swap.expected.iter().map(|(key, _)| RequestOp::get(self.resource_key(key)));
        TxnRequest { compare, success, failure: look.collect() }
    }
}

/// The position of the first event of a revision.
pub(super) fn position(revision: i64) -> u64 {
    u64::try_from(revision).unwrap_or(0) << EVENT_BITS
}

/// The end of all keys that begin with a prefix: its last byte is a slash, and a zero comes right after that.
pub(super) fn end_of(prefix: &str) -> String {
    let stem = prefix.strip_suffix('/').expect("a prefix ends with a slash");
    format!("{stem}0")
}

fn contents(answer: TxnResponse) -> Vec<Content<i64>> {
    answer.responses.into_iter().filter_map(|it| it.response_range).map(content).collect()
}

fn content(got: RangeResponse) -> Content<i64> {
    got.kvs.into_iter().next().map(|kv| (kv.mod_revision, kv.value))
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
        let got = self.ask(self.client.range(RangeRequest::one(self.claim_key(claim)))).await?;
        self.heard(got.header);
        let Some(kv) = got.kvs.first() else { return Ok(None) };
        let home = std::str::from_utf8(&kv.value).map_err(|_| {
            StoreError::Corrupt(format!("the key of claim {claim} does not name a resource"))
        })?;
        let home = Key::from(home);
        self.remember(claim, home.clone());
        Ok(Some(home))
    }

    async fn read(&self, keys: &[Key]) -> Result<Vec<Content<i64>>, StoreError> {
        let mut found = Vec::with_capacity(keys.len());
        for keys in keys.chunks(READ_MAX) {
            if let [key] = keys {
                let request = RangeRequest::one(self.resource_key(key));
                let got = self.ask(self.client.range(request)).await?;
                self.heard(got.header);
                found.push(content(got));
                continue;
            }
            let success = keys.iter().map(|key| RequestOp::get(self.resource_key(key))).collect();
            let request = TxnRequest { success, ..TxnRequest::default() };
            let answer = self.ask(self.client.txn(request)).await?;
            self.heard(answer.header);
            found.extend(contents(answer));
        }
        Ok(found)
    }

    async fn list(&self) -> Result<Vec<(Key, i64)>, StoreError> {
        let prefix = self.resource_key("");
        let (mut from, mut found) = (prefix.clone(), Vec::new());
        loop {
            let (key, range_end) = (from, end_of(&prefix));
            let request = RangeRequest { key, range_end, limit: LIST_MAX, keys_only: true };
            let got = self.ask(self.client.range(request)).await?;
            self.heard(got.header);
            for kv in &got.kvs {
                let key = std::str::from_utf8(&kv.key).ok();
                let key = key.and_then(|key| key.strip_prefix(prefix.as_str()));
                found.extend(key.map(|key| (Key::from(key), kv.mod_revision)));
            }
            match got.kvs.last().and_then(|kv| std::str::from_utf8(&kv.key).ok()) {
                Some(last) if got.more => from = format!("{last}\0"),
                _ => return Ok(found),
            }
        }
    }

    async fn swap(&self, swap: Exchange<i64>) -> Result<Swapped<i64>, StoreError> {
        let answer = self.ask(self.client.txn(self.transaction(&swap))).await?;
        let revision = self.heard(answer.header);
        if !answer.succeeded {
            return Ok(Swapped::Conflict(Some(contents(answer))));
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
