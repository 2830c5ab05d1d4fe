//! The answer to `getServiceStatus`. The first four members, and the first ones of each entry, are
//! those that its readers know; the rest is for people, and ignored by programs that do not know it.
//!
//! All of it is ASCII: there are readers that decode it as that.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use super::note::Note;
use super::record::Record;
use super::request::{Operation, Requested};
use super::{DatasetId, Item, LockType};
use crate::time::WallTime;
use crate::wire::{write_moment, write_text};

/// How many holders of one lock are shown.
const HOLDERS_SHOWN: usize = 8;

/// What a data server is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceStatus {
    /// What is requested or being done.
    pub operations: Vec<OperationLine>,
    /// What is locked.
    pub locks: Vec<LockLine>,
    /// What went wrong.
    pub failed: Vec<Failed>,
    /// How many more are requested or being done than are listed.
    pub operations_left_out: usize,
    /// How many more are locked than are listed.
    pub locks_left_out: usize,
}

/// Something that is requested or being done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationLine {
    /// What people call the item.
    pub data: String,
    /// What is requested.
    pub request: Requested,
    /// Since when.
    pub since: WallTime,
    /// By whom, and why.
    pub note: Note,
}

/// A dataset that is locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockLine {
    /// Which.
    pub dataset: DatasetId,
    /// How.
    pub kind: LockType,
    /// Who holds it, the one who came first in front.
    pub holders: Vec<Holder>,
    /// How many wait for it.
    pub waiting: usize,
}

/// Somebody who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Since when.
    pub since: WallTime,
    /// Who, and why.
    pub note: Note,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The number of the dataset or datafile.
    pub id: u64,
    /// What was tried.
    pub operation: Operation,
    /// What the worker said.
    pub reason: String,
    /// When.
    pub since: WallTime,
}

impl ServiceStatus {
    /// Adds what is known of an item.
    pub fn add(&mut self, item: Item, record: &Record) {
        let (queued, changing) = (record.queued.as_ref(), record.changing.as_ref());
        let known = queued.map(|queued| (queued.since, &queued.note));
        let known = known.or_else(|| changing.map(|changing| (changing.since, &changing.note)));
        if let (Some(request), Some((since, note))) = (record.state(), known) {
            let (data, note, since) = (record.data.clone(), note.clone(), since.wall);
            self.operations.push(OperationLine { data, request, since, note });
        }
        for (&operation, failure) in &record.failures {
            let (reason, since) = (failure.reason.clone(), failure.since.wall);
            self.failed.push(Failed { id: item.id(), operation, reason, since });
        }
    }

    /// The body of the answer.
    pub fn to_json(&self) -> String {
        let mut out = String::from("{\"opsQueue\":[");
        for (nth, line) in self.operations.iter().enumerate() {
            begin(&mut out, nth, "\"data\":");
            write_text(&mut out, &line.data);
            let _ = write!(out, ",\"request\":\"{}\"", line.request);
            write_note(&mut out, line.since, &line.note);
            out.push('}');
        }
        // The number of locked datasets, not of locks.
        let lock_count = self.locks.len() + self.locks_left_out;
        let _ = write!(out, "],\"lockCount\":{},\"locks\":[", lock_count);
        for (nth, line) in self.locks.iter().enumerate() {
            begin(&mut out, nth, "\"id\":");
            let (dataset, count) = (line.dataset, line.holders.len());
            let _ = write!(out, "{dataset},\"type\":\"{}\",\"count\":{count}", line.kind);
            if let Some(oldest) = line.holders.first() {
                write_note(&mut out, oldest.since, &oldest.note);
            }
            let _ = write!(out, ",\"waiting\":{},\"holders\":[", line.waiting);
            for (nth, holder) in line.holders.iter().take(HOLDERS_SHOWN).enumerate() {
                begin(&mut out, nth, "\"since\":\"");
                write_moment(&mut out, holder.since);
                out.push('"');
                write_who(&mut out, &holder.note);
                out.push('}');
            }
            out.push_str("]}");
        }
        out.push_str("],\"failures\":[");
        let restores = self.failed.iter().filter(|one| one.operation == Operation::Restore);
        for (nth, failed) in restores.enumerate() {
            let _ = write!(out, "{}{}", if nth > 0 { "," } else { "" }, failed.id);
        }
        out.push_str("],\"failed\":[");
        for (nth, failed) in self.failed.iter().enumerate() {
            begin(&mut out, nth, "\"id\":");
            let _ = write!(out, "{},\"operation\":\"{}\",\"reason\":", failed.id, failed.operation);
            write_text(&mut out, &failed.reason);
            out.push_str(",\"since\":\"");
            write_moment(&mut out, failed.since);
            out.push_str("\"}");
        }
        out.push(']');
        if self.operations_left_out + self.locks_left_out > 0 {
            let (operations, locks) = (self.operations_left_out, self.locks_left_out);
            let _ = write!(out, ",\"leftOut\":{{\"opsQueue\":{operations},\"locks\":{locks}}}");
        }
        out.push('}');
        ascii(&out)
    }
}

fn begin(out: &mut String, nth: usize, first: &str) {
    out.push_str(if nth > 0 { ",{" } else { "{" });
    out.push_str(first);
}

fn write_note(out: &mut String, since: WallTime, note: &Note) {
    out.push_str(",\"since\":\"");
    write_moment(out, since);
    out.push('"');
    write_who(out, note);
}

fn write_who(out: &mut String, note: &Note) {
    for (name, text) in [("owner", &note.owner), ("reason", &note.reason)] {
        let _ = write!(out, ",\"{name}\":");
        match text {
            Some(text) => write_text(out, text),
            None => out.push_str("null"),
        }
    }
}

/// The same JSON in ASCII. What is not ASCII is within texts, where it may be escaped.
pub(crate) fn ascii(json: &str) -> String {
    if json.is_ascii() {
        return json.into();
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}
