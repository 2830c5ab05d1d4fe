//! The queue of operations with real locks and workers.

use std::sync::mpsc;

use claims::{Span, Stamp, Timestamp, WallTime};
use serde_json::Value;
use tenure::datasets::{
    Call, DatasetId, Delays, Item, Job, LockManager, LockType, Operation, Operations, Requested,
};

fn at(secs: u64) -> Stamp {
    Stamp { at: Timestamp::ZERO + Span::from_secs(secs), wall: WallTime(secs * 1_000) }
}

/// A queue whose jobs are put aside, to be finished when the test likes.
fn queue(locks: &LockManager) -> (Operations, mpsc::Receiver<Job>) {
    let (begin, begun) = mpsc::channel();
    let begin = move |job| begin.send(job).unwrap();
    (Operations::new(locks.clone(), Delays::default(), begin), begun)
}

fn status(operations: &Operations) -> Value {
    serde_json::from_str(&operations.service_status().to_json()).unwrap()
}

const DATASET: Item = Item::Dataset(DatasetId(2));

#[test]
fn operation_is_put_off_while_its_lock_is_refused() {
    let locks = LockManager::new();
    let (operations, begun) = queue(&locks);
    let reader = locks.lock([2], Call::GetData.lock().unwrap()).reason("getData").get().unwrap();
    operations.request(DATASET, Operation::Archive, "1/2 (F/I/V/D)", at(0)).unwrap();
    operations.tick(at(1));
    assert!(begun.try_recv().is_err());
    assert!(operations.is_maybe_offline(DATASET));
    // An operator sees what is in the way.
    let told = status(&operations);
    assert_eq!(told["opsQueue"][0]["request"], "ARCHIVE_REQUESTED");
    assert_eq!(told["locks"][0]["reason"], "getData");

    drop(reader);
    operations.tick(at(2));
    let job = begun.try_recv().unwrap();
    assert_eq!((job.operation(), job.items()), (Operation::Archive, &[DATASET][..]));
    // Nobody reads what is being archived; it begins once.
    assert!(locks.lock([2], LockType::Shared).get().is_err());
    operations.tick(at(3));
    assert!(begun.try_recv().is_err());
    assert_eq!(status(&operations)["locks"][0]["reason"], "background archive");
    job.finish(at(4), |_| Ok(()));
    assert_eq!(operations.state(DATASET), None);
    assert!(locks.locks().is_empty());
}

#[test]
fn while_the_writer_of_write_then_archive_runs_the_archiving_is_shown() {
    let locks = LockManager::new();
    let (operations, begun) = queue(&locks);
    for request in [Operation::Write, Operation::Archive] {
        operations.request(DATASET, request, "x", at(0)).unwrap();
    }
    let reader = locks.lock([2], LockType::Shared).get().unwrap();
    operations.tick(at(1));
    let writer = begun.try_recv().unwrap();
    assert_eq!(writer.operation(), Operation::Write, "beside a reader");
    assert_eq!(operations.state(DATASET), Some(Requested::Archive));
    drop(reader);
    operations.tick(at(2));
    assert!(begun.try_recv().is_err(), "one after the other");
    writer.finish(at(3), |_| Ok(()));
    operations.tick(at(4));
    begun.try_recv().unwrap().finish(at(5), |_| Ok(()));
    assert_eq!(status(&operations)["opsQueue"], Value::Array(vec![]));
}

/// Restore, put and archive on one dataset, queued together, drain.
#[test]
fn operations_on_files_of_one_dataset_wait_for_each_other_and_all_are_done() {
    let locks = LockManager::new();
    let (operations, begun) = queue(&locks);
    let file = |datafile| Item::Datafile { dataset: DatasetId(2), datafile };
    let requests = [
        (1, Operation::Restore),
        (2, Operation::Write),
        (3, Operation::Archive),
        (4, Operation::Delete),
        (5, Operation::Restore),
    ];
    for (datafile, request) in requests {
        let data = format!("place/{datafile}");
        operations.request(file(datafile), request, &data, at(datafile)).unwrap();
    }
    let mut order = Vec::new();
    for pass in 0..4 {
        operations.tick(at(10 + pass));
        let job = begun.try_recv().unwrap();
        assert!(begun.try_recv().is_err(), "one kind at a time");
        order.push((job.operation(), job.items().len()));
        job.finish(at(10 + pass), |_| Ok(()));
    }
    let expected = [
        (Operation::Restore, 2),
        (Operation::Write, 1),
        (Operation::Archive, 1),
        (Operation::Delete, 1),
    ];
    assert_eq!(order, expected, "the oldest first");
    assert_eq!(status(&operations)["opsQueue"], Value::Array(vec![]));
}

#[test]
fn failed_restore_is_told_until_it_succeeds_or_somebody_prepares_it() {
    let locks = LockManager::new();
    let (operations, begun) = queue(&locks);
    let restore = |well: bool| {
        operations.request(DATASET, Operation::Restore, "x", at(0)).unwrap();
        operations.tick(at(1));
        let job = begun.try_recv().unwrap();
        job.finish(at(2), |_| if well { Ok(()) } else { Err("the archive is corrupt".into()) });
    };
    restore(false);
    let told = status(&operations);
    assert_eq!(told["failures"], serde_json::json!([2]));
    assert_eq!(told["failed"][0]["reason"], "the archive is corrupt");
    assert_eq!(told["opsQueue"], Value::Array(vec![]));
    restore(true);
    assert_eq!(status(&operations)["failures"], Value::Array(vec![]));
    restore(false);
    operations.prepare(DATASET);
    assert_eq!(status(&operations)["failures"], Value::Array(vec![]));
}

#[test]
fn worker_that_panics_leaves_no_lock_and_a_failure() {
    let locks = LockManager::new();
    let (operations, begun) = queue(&locks);
    operations.request(DATASET, Operation::Restore, "x", at(0)).unwrap();
    operations.tick(at(1));
    let job = begun.try_recv().unwrap();
    let worker = std::thread::spawn(move || {
        let _job = job;
        panic!("on purpose: the worker of a test");
    });
    assert!(worker.join().is_err());
    assert!(locks.locks().is_empty());
    assert_eq!(status(&operations)["failures"], serde_json::json!([2]));
}

#[test]
fn request_that_cancels_what_is_about_to_begin_begins_nothing() {
    let locks = LockManager::new();
    let (operations, begun) = queue(&locks);
    let file = Item::Datafile { dataset: DatasetId(2), datafile: 7 };
    operations.request(file, Operation::Archive, "x", at(0)).unwrap();
    operations.request(file, Operation::Restore, "x", at(0)).unwrap();
    operations.tick(at(1));
    assert!(begun.try_recv().is_err());
    assert_eq!(operations.state(file), None);
    assert!(locks.locks().is_empty());
}
