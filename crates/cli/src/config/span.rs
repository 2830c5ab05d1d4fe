//! Values that people write with a unit.

use std::str::FromStr;
use std::time::Duration;

use registry::embedded::Durability;

/// A span of time: `500ms`, `30s`, `2m`, `24h`, `7d`, or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span(pub(crate) Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let span = crate::span::span(text)?;
        // A century is longer than any lease, and still far from every overflow.
        match (Duration::from_millis(1)..=Duration::from_secs(100 * 365 * 86400)).contains(&span) {
            true => Ok(Self(span)),
            false => Err("it must be between 1ms and 36500d".into()),
        }
    }
}

impl From<Span> for claims::Span {
    fn from(span: Span) -> Self {
        Self::from_micros(u64::try_from(span.0.as_micros()).expect("a century fits"))
    }
}

/// When an answer may leave: `sync`, `none`, or the interval at which the disk follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Keep(pub(crate) Durability);

impl FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sync" => Ok(Self(Durability::Sync)),
            "none" => Ok(Self(Durability::None)),
            interval => match interval.parse::<Span>() {
                Ok(span) => Ok(Self(Durability::Interval(span.0))),
                Err(_) => Err("sync, none, or an interval such as 100ms is wanted".into()),
            },
        }
    }
}

/// Yes or no, as variables say it, too.
pub(crate) fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" | "" => Ok(false),
        _ => Err("true or false is wanted".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_settings_are_neither_nothing_nor_endless() {
        let read = |text: &str| text.parse::<Span>().map(|span| span.0.as_millis());
        for (text, millis) in
            [("500ms", 500), ("30", 30_000), ("1.5s", 1_500), ("2m", 120_000), ("1d", 86_400_000)]
        {
            assert_eq!(read(text), Ok(millis), "{text}");
        }
        for wrong in ["", "-1s", "0", "40000d"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!("sync".parse(), Ok(Keep(Durability::Sync)));
        assert_eq!("2s".parse(), Ok(Keep(Durability::Interval(Duration::from_secs(2)))));
        assert!("often".parse::<Keep>().is_err());
    }
}
