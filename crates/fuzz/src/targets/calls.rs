//! One call of a client of CloudShell, in XML, without a server around it: whatever it says comes
//! back in the answer as it was said.

use server::fuzzing::call;

use crate::source::text_of;
use crate::told::Told;
use crate::xml::attributes;

/// The first line is the name of the call, the rest is its body.
pub(crate) fn run(input: &[u8]) {
    let line = input.iter().position(|&byte| byte == b'\n').unwrap_or(input.len());
    let (name, body) = (text_of(&input[..line]), input.get(line + 1..).unwrap_or_default());
    let (said, answer) = call(name, body);
    let told = Told::of(answer);
    assert!(!told.status.is_server_error(), "{}: {}", told.status, told.text);
    let success = attributes(&told.text, "Success");
    assert!(success == ["true"] || success == ["false"], "{}", told.text);
    assert!(said.is_empty() || success == ["true"], "{}", told.text);
    assert_eq!(attributes(&told.text, "CommandName"), [sayable(name)]);
    let said: Vec<String> = said.iter().map(|text| sayable(text)).collect();
    assert_eq!(attributes(&told.text, "Text"), said);
}

/// XML has no way to say most control characters.
fn sayable(text: &str) -> String {
    let is_sayable = |c: char| {
        matches!(c, '\t' | '\n' | '\r') || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))
    };
    text.chars().map(|c| if is_sayable(c) { c } else { '?' }).collect()
}
