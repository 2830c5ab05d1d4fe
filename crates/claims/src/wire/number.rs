//! Numbers as HTTP v1 wants them: seconds always with a fraction, and read from text, too.

use alloc::string::String;

use super::fields::Field;
use super::json::write_whole;

/// Writes microseconds as seconds. Clients check that the parsed type is a float, so the fraction
/// is written even if it is nothing.
pub fn write_seconds(out: &mut String, micros: i64) {
    if micros < 0 {
        out.push('-');
    }
    let micros = micros.unsigned_abs();
    write_whole(out, micros / 1_000_000);
    out.push('.');
    let mut fraction = micros % 1_000_000;
    let mut digit = 100_000;
    // At least one digit, no useless zeros after it.
    loop {
        out.push(char::from(b'0' + (fraction / digit) as u8));
        fraction %= digit;
        digit /= 10;
        if fraction == 0 || digit == 0 {
            break;
        }
    }
}

/// The number a field holds, read as the original did: a number, a numeric string, or a truth
/// value. Whether it makes sense is for the rules to say: this may be NaN or infinite.
pub fn number(field: &Field<'_>) -> Option<f64> {
    match field {
        Field::Text(text) => text.trim().parse().ok(),
        Field::Json(raw) => match raw.get() {
            "true" => Some(1.0),
            "false" => Some(0.0),
            text if text.starts_with('"') => {
                serde_json::from_str::<String>(text).ok()?.trim().parse().ok()
            }
            text if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => text.parse().ok(),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::Cow;
    use alloc::string::String;

    use super::{number, write_seconds};
    use crate::wire::Field;

    #[test]
    fn seconds_always_have_a_fraction() {
        let table = [
            (0, "0.0"),
            (1, "0.000001"),
            (60_000_000, "60.0"),
            (59_999_998, "59.999998"),
            (-2_500_000, "-2.5"),
            (-1, "-0.000001"),
            (i64::MIN, "-9223372036854.775808"),
        ];
        for (micros, text) in table {
            let mut out = String::new();
            write_seconds(&mut out, micros);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn numbers_are_read_as_the_original_did() {
        let table = [
            ("60", Some(60.0)),
            ("0.25", Some(0.25)),
            ("1e3", Some(1000.0)),
            ("\"60\"", Some(60.0)),
            ("\" 1.5 \"", Some(1.5)),
            ("true", Some(1.0)),
            ("-1", Some(-1.0)),
            ("1e400", Some(f64::INFINITY)),
            ("\"inf\"", Some(f64::INFINITY)),
            ("\"abc\"", None),
            ("\"\"", None),
            ("null", None),
            ("[1]", None),
            ("{}", None),
        ];
        for (json, read) in table {
            assert_eq!(number(&Field::Json(serde_json::from_str(json).unwrap())), read, "{json}");
        }
        assert_eq!(number(&Field::Text(Cow::Borrowed("7"))), Some(7.0));
    }
}
