//! Every answer that is not yes has a name for programs and a text for people.

use std::collections::BTreeSet;

use claims::{ClaimId, Ending, Refusal, Status, TTL_MAX};

use super::world::name;

/// One of each, with its code. Codes are part of every face: they never change.
fn refusals() -> Vec<(Refusal, &'static str)> {
    let claim = ClaimId(41);
    let status = Status::Expired;
    let resource = name("backup");
    vec![
        (Refusal::StillWaiting { claim, position: 3, holders: vec![ClaimId(7)] }, "still-waiting"),
        (Refusal::Unknown { claim }, "unknown"),
        (Refusal::NotActive { claim, status }, "not-active"),
        (Refusal::Over { claim, status }, "over"),
        (Refusal::CannotEnd { claim, status, asked: Ending::Released }, "cannot-end"),
        (Refusal::KeyInUse { claim }, "key-in-use"),
        (Refusal::KeeperMayOnlyRenew { claim }, "keeper-may-only-renew"),
        (Refusal::TooManyKeepers { claim, max: 8 }, "too-many-keepers"),
        (Refusal::QueueFull { resource: resource.clone(), waiting: 10_000 }, "queue-full"),
        (Refusal::NameEmpty, "name-empty"),
        (Refusal::NameTooLong { bytes: 1_025 }, "name-too-long"),
        (Refusal::NameHasControl { at: 2, control: '\n' }, "name-has-control"),
        (Refusal::NoResource, "no-resource"),
        (Refusal::TooManyResources { count: 17 }, "too-many-resources"),
        (Refusal::OneResourceOnly { count: 2 }, "one-resource-only"),
        (Refusal::ResourceTwice { resource }, "resource-twice"),
        (Refusal::LimitZero, "limit-zero"),
        (Refusal::TtlNotANumber, "ttl-not-a-number"),
        (Refusal::TtlNegative, "ttl-negative"),
        (Refusal::TtlTooLong { max: TTL_MAX }, "ttl-too-long"),
        (Refusal::DataTooLarge { bytes: 70_000 }, "data-too-large"),
    ]
}

/// Rule 13. A clear refusal.
#[test]
fn every_refusal_has_its_own_stable_code() {
    let mut codes = BTreeSet::new();
    for (refusal, code) in refusals() {
        assert_eq!(refusal.code(), code);
        assert!(codes.insert(code), "{code} is used twice");
        let kebab = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(code.chars().all(kebab), "{code}");
    }
}

/// Rule 13. The text is one line, different for each, and names what it is about.
#[test]
fn every_refusal_explains_itself() {
    let mut texts = BTreeSet::new();
    for (refusal, code) in refusals() {
        let text = refusal.to_string();
        assert!(text.len() > 20 && !text.contains('\n'), "{code}: {text:?}");
        assert!(texts.insert(text), "{code} says what another says");
    }
    let text = |wanted: &str| {
        let mut found = refusals().into_iter();
        let found = found.find(|(_, code)| *code == wanted);
        found.expect("the code is in the list").0.to_string()
    };
    assert!(text("still-waiting").contains("place 3"));
    assert!(text("cannot-end").contains("expired and cannot become released"));
    assert!(text("name-has-control").contains(r"'\n' at byte 2"));
    assert!(text("queue-full").contains("\"backup\""));
    assert!(text("ttl-too-long").contains("10000000000 seconds"));
}

/// The list above has every refusal there is. `Refusal` cannot be matched without a wildcard from
/// here, so the source is asked instead.
#[test]
fn list_of_refusals_is_complete() {
    let source = include_str!("../../src/refusal.rs");
    let arms = source.matches("=> \"").count();
    assert_eq!(arms, refusals().len());
}
