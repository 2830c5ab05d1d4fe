//! Secrets: random bytes, and what the store sees of them.

use anyhow::Context;
use claims::KeyHash;

/// The hash of a new key of 256 random bits. (The key itself is not needed where one process makes,
/// keeps and ends its claims.)
pub(crate) fn new_key() -> anyhow::Result<KeyHash> {
    let hash = blake3::hash(&random::<32>()?);
    let mut short = [0; 16];
    short.copy_from_slice(&hash.as_bytes()[..16]);
    Ok(KeyHash(short))
}

/// Random bytes from the system.
pub(crate) fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes)
}
