//! Spans of time as people write them: one reader for every flag, variable and file.

use std::time::Duration;

/// `500ms`, `30s`, `2m`, `24h`, `7d`, or a number of seconds.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let wrong = || "a span of time such as 500ms, 30s, 2m, 24h or 7d is wanted".to_owned();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let secs = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * secs).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_with_their_units() {
        for (text, millis) in [("500ms", 500), ("0", 0), ("1.5", 1500), ("2m", 120_000)] {
            assert_eq!(span(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for wrong in ["", "s", "-1", "NaN", "inf", "1e99", "10 parsecs", "1us"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
