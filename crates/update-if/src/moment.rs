//! A moment in UTC, to the microsecond: the finest that all three databases keep.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: i64 = 86_400;

/// A moment in UTC, in microseconds since 1970. Databases hold it in a column of type `timestamptz` or
/// `timestamp` (PostgreSQL), `datetime(6)` or `timestamp(6)` (MySQL), or as text (SQLite).
///
/// ```
/// use update_if::Moment;
/// let moment: Moment = "2026-11-16 03:04:05.000006".parse().unwrap();
/// assert_eq!(moment.to_string(), "2026-11-16 03:04:05.000006");
/// assert_eq!(moment.micros(), 1_794_798_245_000_006);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(i64);

impl Moment {
    /// So many microseconds since the beginning of 1970.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the beginning of 1970.
    pub const fn micros(self) -> i64 {
        self.0
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let micros = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        match time.duration_since(UNIX_EPOCH) {
            Ok(after) => Self(micros(after)),
            Err(before) => Self(-micros(before.duration())),
        }
    }
}

/// `2026-11-16 03:04:05.000006`: six digits always, so that text sorts and compares as time does.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0.div_euclid(1_000_000), self.0.rem_euclid(1_000_000));
        let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
    }
}

/// The text was not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a moment: write it as 2026-11-16 03:04:05.000006, in UTC")]
pub struct NotAMoment(String);

/// Reads `2026-11-16 03:04:05`, with up to six digits after the second and `T` or a space in between.
impl std::str::FromStr for Moment {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        read(text).ok_or_else(|| NotAMoment(text.to_owned()))
    }
}

fn read(text: &str) -> Option<Moment> {
    let text = text.strip_suffix('Z').or(text.strip_suffix("+00:00")).unwrap_or(text);
    let (date, time) = text.split_once([' ', 'T'])?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day) && year <= 9999;
    let is_time = hour < 24 && minute < 60 && second < 60;
    let is_fraction = fraction.len() <= 6 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !(is_date && is_time && is_fraction) {
        return None;
    }
    let micros: i64 = format!("{fraction:0<6}").parse().ok()?;
    let seconds = days(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
    Some(Moment(seconds * 1_000_000 + micros))
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u32>().ok().map(i64::from)).flatten()
    };
    let mut parts = text.split(separator).map(number);
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

// Civil dates by Howard Hinnant's method: years that begin in March, in eras of 400 years.

fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_is_read_as_it_is_written() {
        for day in (-146_097 / 2)..146_097 {
            let moment = Moment(day * DAY * 1_000_000 + 86_399_999_999);
            assert_eq!(moment.to_string().parse(), Ok(moment));
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        let dates = [(0, "1970-01-01"), (19_782, "2024-02-29"), (19_783, "2024-03-01")];
        for (day, text) in dates {
            let written = Moment(day * DAY * 1_000_000).to_string();
            assert_eq!(written, format!("{text} 00:00:00.000000"));
        }
    }

    #[test]
    fn what_is_not_a_moment_is_refused() {
        for text in ["", "now", "2026-13-01 00:00:00", "2026-01-01", "2026-01-01 1:2:3.1234567"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
