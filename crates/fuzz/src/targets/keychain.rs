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
    let line = written(request);
    let reread = Request::parse(line.as_bytes()).expect("what was written can be read");
    assert_eq!(&reread, request, "{line}");
    let Request::Claim(terms) = request else { return };
    match terms.wish() {
        Ok(wish) => assert_eq!(
            wish.data.as_ref().map(|data| data.as_str()),
            terms.data.as_ref().map(|data| data.as_str()),
            "what others may see is told as it came"
        ),
        Err(problem) => assert!(!problem.is_empty(), "a program is told why"),
    }
}

/// What was read is written so that it is read as the same.
fn again(event: &Event) {
    let line = written(event);
    let reread: Event = serde_json::from_str(&line).expect("what was written can be read");
    assert_eq!(&reread, event, "{line}");
}

fn written(what: &impl serde::Serialize) -> String {
    let line = serde_json::to_string(what).expect("what was read can be written");
    assert!(!line.contains('\n'), "it is one line: {line}");
    line
}
