//! What a grant allows, and above all what it does not.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use claims::{BadGrant, Grant, Grants, Name, Verb};
use proptest::prelude::*;

fn grants(texts: &[&str]) -> Grants {
    texts.iter().map(|text| Grant::parse(text).unwrap()).collect::<Vec<_>>().into()
}

fn names(names: &[&str]) -> Vec<Name> {
    names.iter().map(|name| Name::new(name).unwrap()).collect()
}

#[test]
fn what_is_not_granted_is_denied() {
    let table: [(&[&str], Verb, &[&str], bool); 14] = [
        (&[], Verb::Read, &["a"], false),
        (&["read:*"], Verb::Read, &["a"], true),
        (&["read:*"], Verb::Claim, &["a"], false),
        (&["read:*"], Verb::Revoke, &["a"], false),
        (&["all:*"], Verb::Revoke, &["a"], true),
        (&["claim:a/"], Verb::Claim, &["a/x"], true),
        (&["claim:a/"], Verb::Claim, &["a"], false),
        (&["claim:a/"], Verb::Claim, &["b/x"], false),
        (&["claim:a/"], Verb::Claim, &["A/x"], false),
        // All of several, and they may come from different grants.
        (&["claim:a/"], Verb::Claim, &["a/x", "b/x"], false),
        (&["claim:a/", "claim:b/"], Verb::Claim, &["a/x", "b/x"], true),
        (&["claim:a/", "read:b/"], Verb::Claim, &["a/x", "b/x"], false),
        // A prefix is text, not a folder: end it with a slash to mean one.
        (&["claim:team"], Verb::Claim, &["team-b/x"], true),
        (&["all:*"], Verb::Read, &[], false),
    ];
    for (granted, verb, asked, allowed) in table {
        let is = grants(granted).allow(verb, &names(asked));
        assert_eq!(is, allowed, "{granted:?} {verb} {asked:?}");
    }
}

#[test]
fn everything_and_something_are_told_apart() {
    let some = grants(&["read:a/", "claim:*"]);
    assert!(some.allow_something(Verb::Read) && !some.allow_everything(Verb::Read));
    assert!(some.allow_something(Verb::Claim) && some.allow_everything(Verb::Claim));
    assert!(!some.allow_something(Verb::Revoke) && !some.allow_everything(Verb::Revoke));
}

#[test]
fn grants_are_written_as_they_are_read() {
    for (text, written) in [
        ("read:a/", "read:a/"),
        ("revoke,read:ночь:1", "read,revoke:ночь:1"),
        ("all:*", "read,claim,revoke:*"),
        ("claim, claim:*x", "claim:*x"),
    ] {
        let grant = Grant::parse(text).unwrap();
        assert_eq!(grant.to_string(), written);
        assert_eq!(Grant::parse(written).unwrap(), grant);
    }
}

#[test]
fn what_cannot_be_meant_is_no_grant() {
    let is = |text: &str| Grant::parse(text).unwrap_err();
    assert!(matches!(is("read"), BadGrant::NoColon(_)));
    assert!(matches!(is("a/"), BadGrant::NoColon(_)));
    assert!(matches!(is("write:a/"), BadGrant::NoSuchVerb(_)));
    assert!(matches!(is(":a/"), BadGrant::NoSuchVerb(_)));
    assert!(matches!(is("READ:a/"), BadGrant::NoSuchVerb(_)));
    assert!(matches!(is("read:"), BadGrant::NoSuchName(_)));
    assert!(matches!(is("read:a\n"), BadGrant::NoSuchName(_)));
    assert!(matches!(is(&format!("read:{}", "x".repeat(1_025))), BadGrant::NoSuchName(_)));
}

proptest! {
    /// The rule, said in another way: each name has a grant of the verb that it begins with.
    #[test]
    fn rule_is_that_each_name_begins_with_a_prefix_of_the_verb(
        granted in prop::collection::vec((0_usize..3, "[ab/]{0,3}"), 0..4),
        asked in prop::collection::vec("[ab/]{1,4}", 1..4),
        verb in 0_usize..3,
    ) {
        let verb = Verb::ALL[verb];
        let texts: Vec<String> = granted
            .iter()
            .map(|(nth, prefix)| {
                let prefix = if prefix.is_empty() { "*" } else { prefix };
                format!("{}:{prefix}", Verb::ALL[*nth])
            })
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let expected = asked.iter().all(|name| {
            granted.iter().any(|(nth, prefix)| Verb::ALL[*nth] == verb && name.starts_with(prefix))
        });
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        prop_assert_eq!(grants(&texts).allow(verb, &names(&asked)), expected);
        // More grants never take anything away.
        if expected {
            let more: Vec<&str> = texts.iter().copied().chain(["read:z"]).collect();
            prop_assert!(grants(&more).allow(verb, &names(&asked)));
        }
    }
}
