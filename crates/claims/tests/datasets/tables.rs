//! The tables as people know them, against the code that uses them.

use claims::datasets::{
    Call, DatasetId, Delays, HeldFor, Item, NotPossible, Note, Operation, Queue, Requested,
};
use claims::{Span, Stamp, Timestamp, WallTime};

pub(super) fn at(secs: u64) -> Stamp {
    Stamp { at: Timestamp::ZERO + Span::from_secs(secs), wall: WallTime(secs * 1_000) }
}

/// What is queued, and what WRITE, ARCHIVE and RESTORE make of it; `=` is no change.
pub(super) const DATASET: &str = "
    -   W   A   R
    A   WA  =   R
    R   W   A   =
    W   =   WA  =
    WA  =   =   W
";

/// The same with DELETE; `x` leaves the queue.
pub(super) const DATAFILE: &str = "
    -   W   A   R   D
    A   =   =   x   D
    R   =   A   =   D
    W   =   WA  =   x
    WA  =   =   W   x
    D   =   =   =   =
";

pub(super) fn short(state: Option<Requested>) -> &'static str {
    match state {
        None => "-",
        Some(Requested::Write) => "W",
        Some(Requested::Archive) => "A",
        Some(Requested::Restore) => "R",
        Some(Requested::Delete) => "D",
        Some(Requested::WriteThenArchive) => "WA",
    }
}

/// A queue in which the item is queued like this.
fn queued(item: Item, state: &str) -> Queue {
    let mut queue = Queue::new(Delays::default());
    let requests: &[Operation] = match state {
        "-" => &[],
        "A" => &[Operation::Archive],
        "R" => &[Operation::Restore],
        "W" => &[Operation::Write],
        "WA" => &[Operation::Write, Operation::Archive],
        "D" => &[Operation::Delete],
        other => panic!("{other}"),
    };
    for &request in requests {
        queue.request(item, request, "x", Note::default(), at(0)).unwrap();
    }
    assert_eq!(short(queue.state(item)), state);
    queue
}

#[test]
fn every_request_on_every_queued_item_does_what_the_tables_say() {
    let dataset = Item::Dataset(DatasetId(1));
    let datafile = Item::Datafile { dataset: DatasetId(1), datafile: 1 };
    for (item, table) in [(dataset, DATASET), (datafile, DATAFILE)] {
        for line in table.lines().filter(|line| !line.trim().is_empty()) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            for (&request, &cell) in Operation::ALL.iter().zip(&cells[1..]) {
                let mut queue = queued(item, cells[0]);
                queue.request(item, request, "x", Note::default(), at(1)).unwrap();
                let expected = match cell {
                    "=" => cells[0],
                    "x" => "-",
                    next => next,
                };
                assert_eq!(short(queue.state(item)), expected, "{item:?}: {} {request}", cells[0]);
            }
        }
    }
}

#[test]
fn whole_dataset_is_not_deleted_in_the_background() {
    let item = Item::Dataset(DatasetId(1));
    let mut queue = Queue::new(Delays::default());
    let refused = queue.request(item, Operation::Delete, "x", Note::default(), at(0));
    assert_eq!(refused, Err(NotPossible::DeleteDataset));
    assert_eq!(queue.records().count(), 0);
}

#[test]
fn another_write_request_begins_the_delay_of_a_dataset_again() {
    let item = Item::Dataset(DatasetId(1));
    let delays = Delays { dataset_writes: Span::from_secs(10), ..Delays::default() };
    let mut queue = Queue::new(delays);
    queue.request(item, Operation::Write, "x", Note::default(), at(0)).unwrap();
    queue.request(item, Operation::Write, "x", Note::default(), at(8)).unwrap();
    // To be archived as well does not delay it further.
    queue.request(item, Operation::Archive, "x", Note::default(), at(12)).unwrap();
    assert!(queue.wanted(at(17)).is_empty());
    assert_eq!(queue.wanted(at(18)).len(), 1);
}

#[test]
fn files_wait_for_the_delay_after_the_first_of_them_and_what_remains_does_not_wait_again() {
    let file = |datafile| Item::Datafile { dataset: DatasetId(1), datafile };
    let mut queue = Queue::new(Delays { datafiles: Span::from_secs(10), ..Delays::default() });
    queue.request(file(1), Operation::Archive, "a", Note::default(), at(0)).unwrap();
    queue.request(file(2), Operation::Archive, "b", Note::default(), at(9)).unwrap();
    queue.request(file(3), Operation::Restore, "c", Note::default(), at(9)).unwrap();
    assert!(queue.tick(at(9), |_| Some(1)).is_empty());
    // One lock for all files of one dataset with which the same is done; the rest meets it.
    let begun = queue.tick(at(10), |wanted| (wanted.operation == Operation::Archive).then_some(1));
    assert_eq!(begun.len(), 1);
    assert_eq!(begun[0].0.items, [file(1), file(2)]);
    for item in [file(1), file(2)] {
        queue.finish(item, 1, Ok(()), at(10));
    }
    let begun = queue.tick(at(19), |_| Some(2));
    assert_eq!(begun[0].0.items, [file(3)], "ten seconds after the first request of those there");
}

#[test]
fn what_was_not_written_is_never_archived() {
    let item = Item::Dataset(DatasetId(1));
    let mut queue = Queue::new(Delays::default());
    let request = |queue: &mut Queue, operation| {
        queue.request(item, operation, "x", Note::default(), at(0)).unwrap();
    };
    request(&mut queue, Operation::Write);
    request(&mut queue, Operation::Archive);
    queue.tick(at(0), |_| Some(1));
    queue.finish(item, 1, Err("the tape is full".into()), at(1));
    assert!(queue.tick(at(1), |_| panic!("it must not be archived")).is_empty());
    assert_eq!(queue.state(item), None, "it leaves the queue");
    let (_, record) = queue.records().next().unwrap();
    assert!(record.failures.contains_key(&Operation::Archive));
    // Written at last, it can be archived.
    request(&mut queue, Operation::Write);
    request(&mut queue, Operation::Archive);
    for worker in [2, 3] {
        let begun = queue.tick(at(2), |_| Some(worker));
        assert_eq!(begun.len(), 1);
        queue.finish(item, worker, Ok(()), at(3));
    }
    assert_eq!(queue.records().count(), 0, "nothing is left to know");
}

#[test]
fn document_has_the_table_of_calls_that_the_code_uses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/datasets.md");
    let text = std::fs::read_to_string(path).unwrap();
    let section = text.split("## Which call takes which lock").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let said: Vec<[&str; 3]> = rows
        .map(|row| {
            let mut cells =
                row.trim_matches('|').split('|').map(|cell| cell.trim_matches([' ', '`']));
            [cells.next().unwrap(), cells.next().unwrap(), cells.next().unwrap()]
        })
        .collect();
    let used = Call::TABLE.map(|(_, name, lock, held)| {
        let held = match held {
            HeldFor::TheStream => "until the last byte was sent",
            HeldFor::TheCall => "for the call",
            HeldFor::TheWorker => "while the worker works",
            HeldFor::Nothing => "–",
        };
        [name, lock.map_or("none", |lock| lock.as_str()), held]
    });
    assert_eq!(said, used);
}
