//! Secrets: made from the system's random numbers, kept as hashes, compared in constant time.

use std::fmt;
use std::sync::Mutex;

use claims::KeyHash;
use subtle::ConstantTimeEq;

/// How many random bytes are fetched at once: a system call for each key would be a waste.
const POOL: usize = 1024;

const BASE64URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Makes keys.
pub(crate) struct KeyMaker {
    pool: Mutex<(Box<[u8; POOL]>, usize)>,
}

impl Default for KeyMaker {
    fn default() -> Self {
        Self { pool: Mutex::new((Box::new([0; POOL]), POOL)) }
    }
}

impl KeyMaker {
    /// A new key of 128 random bits, as 22 letters and digits.
    pub(crate) fn new_key(&self) -> String {
        let mut pool = self.pool.lock().expect("making a key does not panic");
        let (bytes, used) = &mut *pool;
        if *used == POOL {
            getrandom::fill(&mut bytes[..]).expect("the system gives random numbers");
            *used = 0;
        }
        let taken = &mut bytes[*used..*used + 16];
        let key = base64url(taken);
        taken.fill(0);
        *used += 16;
        key
    }
}

/// What the store sees of a key.
pub(crate) fn hash_of(key: &str) -> KeyHash {
    let hash = blake3::hash(key.as_bytes());
    let mut short = [0; 16];
    short.copy_from_slice(&hash.as_bytes()[..16]);
    KeyHash(short)
}

/// A new token of 256 random bits.
pub fn new_token() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    base64url(&bytes)
}

/// The hash of the administrator's token.
#[derive(Clone)]
pub struct AdminToken([u8; 32]);

impl AdminToken {
    /// Of the token's text.
    pub fn of(token: &str) -> Self {
        Self(*blake3::hash(token.as_bytes()).as_bytes())
    }

    /// Whether this is the token.
    pub(crate) fn is(&self, token: &str) -> bool {
        blake3::hash(token.as_bytes()).as_bytes().ct_eq(&self.0).into()
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken(..)")
    }
}

fn base64url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 2);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, &byte| word << 8 | u32::from(byte));
        let word = word << (8 * (3 - chunk.len()));
        for nth in 0..=chunk.len() {
            let digit = (word >> (18 - 6 * nth)) & 63;
            text.push(char::from(BASE64URL[digit as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{KeyMaker, base64url};

    #[test]
    fn base64url_is_that_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("???", "Pz8_")]
        {
            assert_eq!(base64url(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn keys_differ_and_can_be_sent_back() {
        let maker = KeyMaker::default();
        let keys: std::collections::BTreeSet<String> = (0..500).map(|_| maker.new_key()).collect();
        assert_eq!(keys.len(), 500);
        assert!(keys.iter().all(|key| claims::wire::is_key(key)));
    }
}
