//! The lease file, as real processes read and write it.

use claims::Span;
use claims::contest::{Lease, Seen, Sighting, Wall, WriterId};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// More than this is not a lease.
pub(crate) const BYTES_MAX: u64 = 64 * 1024;

/// The fields, in the order in which the original writes them.
#[derive(Serialize)]
struct File<'a> {
    writer_id: &'a str,
    written_at: String,
    expire_s: f64,
    write_count: u32,
    hostname: String,
    pid: String,
    tid: i64,
    first_written_at: String,
    first_acquired_at: String,
    released_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    writer_name: Option<&'a str>,
}

/// What to write.
pub fn write(lease: &Lease) -> Vec<u8> {
    let optional = |wall: Option<Wall>| wall.map_or_else(String::new, stamp);
    let file = File {
        writer_id: lease.writer.as_str(),
        // A released record has no stamp, so that nobody who looks at the stamp alone thinks it alive.
        written_at: optional(lease.released_at.is_none().then_some(lease.written_at)),
        expire_s: lease.expire.as_micros() as f64 / 1e6,
        write_count: lease.writes,
        hostname: host_name(),
        pid: std::process::id().to_string(),
        tid: i64::from(rustix::thread::gettid().as_raw_nonzero().get()),
        first_written_at: stamp(lease.first_written_at),
        first_acquired_at: optional(lease.first_acquired_at),
        released_at: optional(lease.released_at),
        writer_name: lease.by_remote.then_some("remote"),
    };
    serde_json::to_vec_pretty(&file).expect("a lease can be written as JSON")
}

/// What a reader makes of it. Only nothing and empty values mean that nobody has it; what cannot be
/// understood may be somebody's.
pub fn read(bytes: &[u8]) -> Seen {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return Seen::Unreadable };
    if is_falsy(&value) {
        return Seen::Absent;
    }
    let Value::Object(fields) = value else { return Seen::Unreadable };
    let text =
        |name: &str| fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let moment = |name: &str| match fields.get(name) {
        Some(value) if !is_falsy(value) => value.as_str().and_then(parse_stamp).map(Some),
        Some(_) | None => Some(None),
    };
    let released = fields.get("released_at").is_some_and(|value| !is_falsy(value));
    // A stamp that cannot be read does not matter in a record that says it was given back.
    let written_at = match moment("written_at") {
        Some(written_at) => written_at,
        None if released => None,
        None => return Seen::Unreadable,
    };
    let seconds = fields.get("expire_s").and_then(Value::as_f64).filter(|secs| *secs > 0.0);
    Seen::Record(Sighting {
        writer: text("writer_id").and_then(WriterId::new),
        written_at,
        expire: seconds.map(|secs| Span::from_micros((secs * 1e6) as u64)),
        first_acquired_at: moment("first_acquired_at").flatten(),
        released,
    })
}

/// What is not there for a program in Python.
fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(yes) => !yes,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Exactly six digits and an offset: some versions of Python read nothing else.
pub(crate) fn stamp(wall: Wall) -> String {
    let micros = i64::try_from(wall.0).unwrap_or(i64::MAX);
    let moment = Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX);
    moment.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string()
}

fn parse_stamp(text: &str) -> Option<Wall> {
    let moment: Timestamp = text.parse().ok()?;
    Some(Wall(u64::try_from(moment.as_microsecond()).unwrap_or(0)))
}

/// The name of this machine.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use claims::Span;
    use claims::contest::{Lease, Seen, Sighting, Wall, WriterId};

    use super::{read, stamp, write};

    fn lease() -> Lease {
        Lease {
            writer: WriterId::new("me.1").expect("a good id"),
            written_at: Wall(1_794_770_177_000_000),
            expire: Span::from_millis(2_500),
            writes: 3,
            first_written_at: Wall(1_794_770_170_000_001),
            first_acquired_at: Some(Wall(1_794_770_171_000_000)),
            released_at: None,
            by_remote: false,
        }
    }

    #[test]
    fn stamps_have_six_digits_and_an_offset() {
        assert_eq!(stamp(Wall(1_794_770_177_000_000)), "2026-11-15T19:16:17.000000+00:00");
        assert_eq!(stamp(Wall(1_794_770_177_000_042)), "2026-11-15T19:16:17.000042+00:00");
    }

    #[test]
    fn what_is_written_is_read_back() {
        let Seen::Record(seen) = read(&write(&lease())) else { panic!("a record") };
        assert_eq!(seen.writer, Some(lease().writer));
        assert_eq!(seen.written_at, Some(lease().written_at));
        assert_eq!(seen.expire, Some(lease().expire));
        assert_eq!(seen.first_acquired_at, lease().first_acquired_at);
        assert!(!seen.released);
        let released = Lease { released_at: Some(Wall(1_794_770_178_000_000)), ..lease() };
        let Seen::Record(seen) = read(&write(&released)) else { panic!("a record") };
        assert!(seen.released && seen.written_at.is_none());
    }

    #[test]
    fn fields_are_those_of_the_original_with_their_types() {
        let text = String::from_utf8(write(&Lease { by_remote: true, ..lease() })).expect("text");
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix('"')?.split('"').next())
            .collect();
        let expected = "writer_id written_at expire_s write_count hostname pid tid \
            first_written_at first_acquired_at released_at writer_name";
        assert_eq!(names, expected.split_ascii_whitespace().collect::<Vec<_>>());
        assert!(text.starts_with("{\n  \"writer_id\": \"me.1\",\n"), "{text}");
        assert!(text.contains("\"expire_s\": 2.5") && text.contains("\"pid\": \""), "{text}");
    }

    #[test]
    fn only_nothing_means_absent() {
        for text in ["{}", "null", "[]", "0", "\"\"", "false"] {
            assert_eq!(read(text.as_bytes()), Seen::Absent, "{text}");
        }
        for text in ["", "{", "[1]", "\"x\"", "7", "\u{feff}{}", "{\"written_at\": 12}"] {
            assert_eq!(read(text.as_bytes()), Seen::Unreadable, "{text}");
        }
        let naive = r#"{"writer_id": "a", "written_at": "2026-11-15T19:16:17", "expire_s": 30}"#;
        assert_eq!(read(naive.as_bytes()), Seen::Unreadable);
    }

    #[test]
    fn records_of_others_are_read_with_what_they_left_out() {
        let text = r#"{"writer_id": "a", "written_at": "2026-11-15T21:16:17+02:00", "more": 1}"#;
        let expected = Sighting {
            writer: WriterId::new("a"),
            written_at: Some(Wall(1_794_770_177_000_000)),
            ..Sighting::default()
        };
        assert_eq!(read(text.as_bytes()), Seen::Record(expected));
        let released = r#"{"released_at": "2026-11-15T21:16:17Z", "written_at": "nonsense"}"#;
        assert_eq!(
            read(released.as_bytes()),
            Seen::Record(Sighting { released: true, ..Sighting::default() })
        );
    }
}
