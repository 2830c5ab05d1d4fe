//! The secret that proves a claim is yours.

use std::fmt;

use claims::wire::is_key;

const BASE64URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A key: whoever knows it owns the claim. It is never shown by accident, only by
/// [`reveal`](Key::reveal).
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A new one of 128 random bits.
    pub fn random() -> Self {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the system gives random numbers");
        let bits = u128::from_be_bytes(bytes);
        // 22 digits of 6 bits hold 132; the last one has the 2 that are left over.
        let digit = |nth: u32| match 128_u32.checked_sub(6 * (nth + 1)) {
            Some(shift) => (bits >> shift) & 63,
            None => (bits << 4) & 63,
        };
        Self((0..22).map(|nth| char::from(BASE64URL[digit(nth) as usize])).collect())
    }

    /// One that was made before.
    pub fn parse(text: &str) -> Option<Self> {
        is_key(text).then(|| Self(text.to_owned()))
    }

    /// Its text, to keep it or to hand the claim over.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn keys_differ_and_can_be_kept() {
        let keys: std::collections::BTreeSet<String> =
            (0..500).map(|_| Key::random().reveal().to_owned()).collect();
        assert_eq!(keys.len(), 500);
        for key in &keys {
            assert_eq!(Key::parse(key).map(|key| key.0), Some(key.clone()));
        }
        assert!(Key::parse("short").is_none());
        assert_eq!(format!("{:?}", Key::random()), "Key(..)");
    }
}
