//! The time of day as HTTP v1 writes it: an RFC 822 date in UTC with the offset `-0000`.

use alloc::string::String;

use super::json::write_whole;
use crate::time::WallTime;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// Writes a date such as `Sun, 15 Nov 2026 19:16:17 -0000`, without quotes.
pub fn write_date(out: &mut String, time: WallTime) {
    let secs = time.0 / 1_000;
    let (days, of_day) = (secs / 86_400, secs % 86_400);
    let (year, month, day) = civil(days);
    out.push_str(DAYS[(days % 7) as usize]);
    out.push_str(", ");
    two_digits(out, day);
    out.push(' ');
    out.push_str(MONTHS[month as usize - 1]);
    out.push(' ');
    write_whole(out, year);
    for (mark, part) in [(' ', of_day / 3600), (':', of_day / 60 % 60), (':', of_day % 60)] {
        out.push(mark);
        two_digits(out, part);
    }
    out.push_str(" -0000");
}

/// Writes a moment such as `2026-11-15T19:16:17.042Z`, without quotes.
pub fn write_moment(out: &mut String, time: WallTime) {
    let (secs, millis) = (time.0 / 1_000, time.0 % 1_000);
    let (days, of_day) = (secs / 86_400, secs % 86_400);
    let (year, month, day) = civil(days);
    write_whole(out, year);
    for (mark, part) in [
        ('-', month),
        ('-', day),
        ('T', of_day / 3600),
        (':', of_day / 60 % 60),
        (':', of_day % 60),
    ] {
        out.push(mark);
        two_digits(out, part);
    }
    out.push('.');
    out.push(char::from(b'0' + (millis / 100) as u8));
    two_digits(out, millis % 100);
    out.push('Z');
}

/// A moment given by a person or a program: seconds since 1970, a date as [`write_date`] writes it,
/// or `2026-11-15T19:16:17Z`. In milliseconds since 1970.
pub fn parse_moment(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Ok(secs) = text.parse::<f64>() {
        return (secs.is_finite() && secs >= 0.0).then_some((secs * 1000.0) as u64);
    }
    let secs = rfc_822(text).or_else(|| iso_8601(text))?;
    Some(secs * 1_000)
}

fn rfc_822(text: &str) -> Option<u64> {
    let text = text.split_once(", ").map_or(text, |(_, rest)| rest);
    let mut words = text.split_ascii_whitespace();
    let day: u64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(name))? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let of_day = time_of_day(words.next()?)?;
    let zone = words.next()?;
    matches!(zone, "-0000" | "+0000" | "GMT" | "UTC" | "Z").then_some(())?;
    Some(days_from_civil(year, month, day)? * 86_400 + of_day)
}

fn iso_8601(text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00"))?;
    let (date, time) = text.split_once(['T', ' '])?;
    let mut parts = date.split('-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let time = time.split_once('.').map_or(time, |(whole, _)| whole);
    Some(days_from_civil(year, month, day)? * 86_400 + time_of_day(time)?)
}

fn time_of_day(text: &str) -> Option<u64> {
    let mut parts = text.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) =
        (parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0));
    // Not before it is known that they are small.
    (hour < 24 && minute < 60 && second <= 60).then(|| hour * 3600 + minute * 60 + second)
}

fn two_digits(out: &mut String, number: u64) {
    out.push(char::from(b'0' + (number / 10 % 10) as u8));
    out.push(char::from(b'0' + (number % 10) as u8));
}

/// Year, month and day of a count of days since 1970 (Howard Hinnant's `civil_from_days`).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// The inverse of [`civil`], for the years people mean.
fn days_from_civil(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    Some(era * 146_097 + of_era - 719_468)
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::{parse_moment, write_date, write_moment};
    use crate::time::WallTime;

    #[test]
    fn dates_are_rfc_822_in_utc_with_an_offset() {
        let table = [
            (0, "Thu, 01 Jan 1970 00:00:00 -0000"),
            (1_794_770_177, "Sun, 15 Nov 2026 19:16:17 -0000"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 -0000"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 -0000"),
        ];
        for (secs, text) in table {
            let mut out = String::new();
            write_date(&mut out, WallTime(secs * 1_000 + 999));
            assert_eq!(out, text);
            assert_eq!(parse_moment(text), Some(secs * 1_000));
        }
    }

    #[test]
    fn moments_are_written_as_they_are_read() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_794_770_177_042, "2026-11-15T19:16:17.042Z"),
            (951_782_400_999, "2000-02-29T00:00:00.999Z"),
        ] {
            let mut out = String::new();
            write_moment(&mut out, WallTime(millis));
            assert_eq!(out, text);
            assert_eq!(parse_moment(text), Some(millis / 1_000 * 1_000));
        }
    }

    #[test]
    fn moments_are_read_in_the_forms_people_use() {
        let expected = Some(1_794_770_177_000);
        for text in
            ["1794770177", "1794770177.0", "2026-11-15T19:16:17Z", "2026-11-15 19:16:17+00:00"]
        {
            assert_eq!(parse_moment(text), expected, "{text}");
        }
        for text in [
            "",
            "yesterday",
            "nan",
            "-1",
            "2026-13-15T19:16:17Z",
            "Sun, 15 Nov 2026 25:00:00 -0000",
            "2 Nov 2026 1:18446744073709551615 -0000",
        ] {
            assert_eq!(parse_moment(text), None, "{text}");
        }
    }
}
