//! A lease file that anybody may have written, and what a contender makes of it.

use claims::Span;
use claims::Timestamp;
use claims::contest::{
    Contest, Heard, Joining, Lease, Machine, Now, Seen, Sighting, Step, Terms, Wall, WriterId,
};
use makeshift::last_writer::{read_lease, write_lease};

/// The time of day at which everything is looked at: in November 2026.
const WALL: Wall = Wall(1_794_770_177_000_000);
const NOW: Now = Now { at: Timestamp::from_micros(1_000_000), wall: WALL };

pub(crate) fn run(input: &[u8]) {
    let seen = read_lease(input);
    let terms = Terms::default();
    let name = WriterId::new("me").expect("a good name");
    let mut contest = Contest::new(terms, name.clone(), 7);
    assert!(matches!(contest.step(Heard::Go, NOW), Step::Read { .. }));
    let taken = match contest.step(Heard::Saw(seen.clone()), NOW) {
        Step::Write { lease, .. } => Some(lease),
        Step::Read { .. } | Step::Wait { .. } | Step::Done(_) => None,
    };
    match &seen {
        Seen::Absent => assert!(taken.is_some(), "nobody has it"),
        Seen::Unreadable => assert!(taken.is_none(), "it may be somebody's"),
        Seen::Record(record) => {
            let is_free = record.released || !record.is_fresh(terms.expire(), WALL);
            assert_eq!(taken.is_some(), is_free, "{record:?}");
            again(record);
        }
    }
    if let Some(lease) = taken {
        assert!(matches!(read_lease(&write_lease(&lease)), Seen::Record(_)));
    }
    // A remote keeps nothing but what it was told to keep.
    let mut joining = Joining::new(Some(name.clone()), terms.margin(), 7);
    let step = joining.step(Heard::Saw(seen.clone()), NOW);
    if let Step::Done(Ok(_)) = step {
        let is_mine = |record: &Sighting| record.writer.as_ref() == Some(&name) && !record.released;
        assert!(matches!(&seen, Seen::Record(record) if is_mine(record)), "{seen:?}");
    }
}

/// What we would write for the same is read as the same.
fn again(record: &Sighting) {
    let (Some(writer), Some(written_at), Some(expire)) =
        (&record.writer, record.written_at, record.expire)
    else {
        return;
    };
    // Later than any calendar reaches, and longer than any number of seconds tells exactly.
    if written_at.0 > 253_000_000_000_000_000 || expire > Span::from_secs(1 << 32) {
        return;
    }
    let lease = Lease {
        writer: writer.clone(),
        written_at,
        expire,
        writes: 1,
        first_written_at: written_at,
        first_acquired_at: record.first_acquired_at,
        released_at: None,
        by_remote: false,
    };
    let Seen::Record(reread) = read_lease(&write_lease(&lease)) else { panic!("a record") };
    assert_eq!(reread.writer.as_ref(), Some(writer));
    assert_eq!(reread.written_at, Some(written_at));
    let was = reread.expire.expect("it was written").as_micros();
    assert!(was.abs_diff(expire.as_micros()) <= 1, "{was} instead of {expire:?}");
}
