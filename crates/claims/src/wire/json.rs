//! Writing JSON text by hand: an answer is one string, filled once.

use alloc::string::String;

/// Writes a JSON string with its quotes.
pub fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') {
        out.push_str(&rest[..at]);
        let special = rest.as_bytes()[at];
        match special {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => {
                out.push_str("\\u00");
                out.push(char::from(b"01"[usize::from(special >> 4)]));
                out.push(char::from(b"0123456789abcdef"[usize::from(special & 15)]));
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Writes a whole number.
pub(super) fn write_whole(out: &mut String, number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::{write_text, write_whole};

    #[test]
    fn text_reads_back_as_it_was() {
        for text in ["", "plain", "quo\"te\\", "\u{0}\u{1f}\n\r\t", "ночь 🌙", "a/b?c#d%"] {
            let mut out = String::new();
            write_text(&mut out, text);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }

    #[test]
    fn whole_numbers_read_back_as_they_were() {
        for number in [0, 7, 10, 1_234_567_890, (1 << 53) - 1, u64::MAX] {
            let mut out = String::new();
            write_whole(&mut out, number);
            assert_eq!(out, number.to_string());
        }
    }
}
