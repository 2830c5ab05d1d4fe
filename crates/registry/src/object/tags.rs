//! Which object a resource is in, and how a claim's number tells it.
//!
//! A claim is asked for by its number alone, and a bucket has no index. So the number ends with the
//! beginning of the hash of its resource's name, and that is also the name of the object.

use claims::{ClaimId, Name};

use crate::swap::cabinet::Key;

/// Twenty bits: a million objects at most, however many names there ever are. What is left below
/// 2^53 counts eight billion claims.
const BITS: u32 = 20;
/// How many claims can be counted.
pub(super) const SEQUENCES_MAX: u64 = 1 << (53 - BITS);

pub(super) fn drawer(name: &Name) -> Key {
    let hash = blake3::hash(name.as_str().as_bytes());
    let [a, b, c, ..] = *hash.as_bytes();
    key(u64::from(a) << 12 | u64::from(b) << 4 | u64::from(c) >> 4)
}

pub(super) fn claim_id(sequence: u64, drawer: &Key) -> ClaimId {
    let tag = u64::from_str_radix(drawer, 16).unwrap_or(0);
    ClaimId(sequence << BITS | tag)
}

pub(super) fn find(claim: ClaimId) -> Key {
    key(claim.0 & ((1 << BITS) - 1))
}

/// Whether an object of this name is one of ours.
pub(super) fn is_key(text: &str) -> bool {
    text.len() == 5 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn key(tag: u64) -> Key {
    format!("{tag:05x}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claim_leads_to_the_object_of_its_resource() {
        for nth in 0..1_000 {
            let name = Name::new(&format!("resource {nth}")).expect("a name");
            let drawer = drawer(&name);
            assert!(is_key(&drawer));
            assert_eq!(find(claim_id(nth + 1, &drawer)), drawer);
            assert!(claim_id(nth + 1, &drawer) < claim_id(nth + 2, &drawer));
        }
    }
}
