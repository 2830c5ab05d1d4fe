//! What a program says to its keychain, and what a keychain says to its program: JSON, line by line.

use cli::fuzzing::keychain_lines;
use tenure::keychain::{Event, Request};

pub(crate) fn run(input: &[u8]) {
    let lines = keychain_lines(input);
    let ends = input.iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(lines.len(), ends, "each line is answered, and none that has not ended");
    for line in lines {
        match line {
            Ok(request) => understood(&request),
            Err(problem) => assert!(!problem.is_empty(), "a program is told why"),
        }
    }
    for line in input.split(|&byte| byte == b'\n') {
        if let Ok(event) = serde_json::from_slice::<Event>(line) {
            let _ = event.claim();
            again(&event);
        }
    }
}

fn understood(request: &Request) {
    again(request);
    if let Request::Claim(terms) = request
        && let Err(problem) = terms.wish()
    {
        assert!(!problem.is_empty(), "a program is told why");
    }
}

/// What was read is written so that it is read as the same.
fn again<T: serde::Serialize + serde::de::DeserializeOwned>(read: &T) {
    let line = serde_json::to_string(read).expect("what was read can be written");
    assert!(!line.contains('\n'), "it is one line: {line}");
    let reread: T = serde_json::from_str(&line).expect("what was written can be read");
    let twice = serde_json::to_string(&reread).expect("what was read can be written");
    assert_eq!(line, twice);
}
