//! The file of tokens, and grants.

use claims::{Grant, Grants, Name, Verb};
use server::fuzzing::tokens;

use crate::source::text_of;

pub(crate) fn run(input: &[u8]) {
    let text = text_of(input);
    match tokens(text) {
        Ok(written) => assert_eq!(tokens(&written).as_ref(), Ok(&written), "{text}"),
        Err(problem) => assert!(!problem.is_empty()),
    }
    for line in text.lines() {
        grant(line);
    }
}

fn grant(text: &str) {
    let Ok(grant) = Grant::parse(text) else { return };
    let written = grant.to_string();
    assert_eq!(Grant::parse(&written).as_ref(), Ok(&grant), "{text} is written {written}");
    let (verbs, prefix) = written.split_once(':').expect("it has one");
    let grants = Grants::from(vec![grant]);
    for verb in Verb::ALL {
        let is_said = verbs.split(',').any(|said| said == verb.as_str());
        assert_eq!(grants.allow_something(verb), is_said, "{written}");
        assert_eq!(grants.allow_everything(verb), is_said && prefix == "*", "{written}");
        let below = if prefix == "*" { "x".to_owned() } else { format!("{prefix}x") };
        if let Ok(name) = Name::new(&below) {
            assert_eq!(grants.allow(verb, &[name]), is_said, "{written}");
        }
        let beside = Name::new("\u{10ffff}").expect("a name");
        let reaches = prefix == "*" || "\u{10ffff}".starts_with(prefix);
        assert_eq!(grants.allow(verb, &[beside]), is_said && reaches, "{written}");
    }
}
