//! Claims in etcd, for those who outgrow one machine.
//!
//! A key for each resource has everything about it; a key for each claim says where it is. Every
//! decision is one transaction that compares the revisions of what it looked at. etcd's own locks and
//! leases are not used: its lock has been seen to grant to clients whose lease was over, and its leases
//! begin anew when the leader changes.
//!
//! Three members keep serving with any one of them gone, and so does any number of Tenure servers
//! over them.

pub(crate) mod address;
mod cabinet;
mod client;
mod messages;
mod watch;

use claims::Rules;

use self::address::Address;
use self::cabinet::Etcd;
use crate::error::StoreError;
use crate::store::Store;
use crate::swap::Swap;

/// How many may wait for one resource: a record is read and written as a whole, and etcd takes no
/// request above 1.5 MiB.
const QUEUE_MAX: usize = 2_000;

/// Opens `etcd://[user:password@]host[:port],host[:port]/prefix`.
///
/// Without a user in the address, `TENURE_ETCD_USER` and `TENURE_ETCD_PASSWORD` are used if set. The
/// prefix is `tenure` if not said. Parameters: `tls=true` encrypts and trusts what the system trusts,
/// `ca=FILE` trusts that authority only, `cert=FILE&key=FILE` show a certificate, `timeout=SECONDS` is
/// for one request (2), and `epoch=N` is to be raised after a restore from a backup.
pub async fn open(url: &str, rules: Rules) -> Result<Box<dyn Store>, StoreError> {
    let address = Address::parse(url)?;
    let epoch = address.epoch;
    let etcd = Etcd::connect(address).await?;
    Ok(Box::new(Swap::over(etcd, rules, QUEUE_MAX, epoch)))
}

/// Removes every key under the prefix of the address, with all claims and counters. Only for a prefix
/// that nobody uses any more.
pub async fn remove(url: &str) -> Result<(), StoreError> {
    Etcd::connect(Address::parse(url)?).await?.remove().await
}
