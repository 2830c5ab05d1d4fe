//! Where a history is written down, one file for each who writes.
//!
//! An act is written down before it is begun, as one whose outcome nobody knows, and again when it
//! is over: the later line counts. So whoever is killed in the middle of it leaves behind that it
//! was begun.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context;
use torture::history::{Acquired, Entry, What};

use crate::clock::now;

/// How a file of lines is known.
const ENDING: &str = "jsonl";

/// The client under whose number the rig itself acts.
pub(crate) const RIG: u32 = 0;

/// A file that takes one line after the other, each with one call.
pub(crate) struct Record(Mutex<File>);

impl Record {
    pub(crate) fn create(directory: &Path, name: &str) -> anyhow::Result<Self> {
        let path = directory.join(name).with_extension(ENDING);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        Ok(Self(Mutex::new(file.with_context(|| format!("cannot write {}", path.display()))?)))
    }

    pub(crate) fn write(&self, entry: &Entry) {
        let line = entry.to_line() + "\n";
        let mut file = self.0.lock().expect("nobody panics while writing");
        file.write_all(line.as_bytes()).expect("a history that cannot be written proves nothing");
    }

    /// What is about to be done to the world.
    pub(crate) fn fault(&self, kind: &str) -> Entry {
        let what = What::Fault { kind: kind.to_owned() };
        let fault = Entry { client: RIG, resource: String::new(), begin: now(), end: None, what };
        self.write(&fault);
        fault
    }
}

/// The claims that a client was granted and has not begun to give back, with their resources.
pub(crate) fn held(directory: &Path, client: u32) -> anyhow::Result<Vec<(u64, String)>> {
    let text = std::fs::read_to_string(directory.join(name(client)).with_extension(ENDING))?;
    let mut held = Vec::new();
    for entry in text.lines().filter_map(|line| Entry::from_line(line).ok()) {
        if let What::Release { claim, .. } = entry.what {
            held.retain(|(granted, _)| *granted != claim);
        }
        if let What::Acquire { outcome: Acquired::Granted { claim, .. }, .. } = entry.what {
            held.push((claim, entry.resource));
        }
    }
    Ok(held)
}

/// The file of a client.
pub(crate) fn name(client: u32) -> String {
    format!("client-{client}")
}

/// Everything that was written down in a directory, in the order of beginnings.
pub(crate) fn merged(directory: &Path) -> anyhow::Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut known = HashMap::new();
    for file in std::fs::read_dir(directory)? {
        let path = file?.path();
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        for line in BufReader::new(File::open(&path)?).lines() {
            let line = line?;
            let Ok(entry) = Entry::from_line(&line) else {
                // The last line of somebody who was killed while writing it.
                continue;
            };
            let act = std::mem::discriminant(&entry.what);
            match known.entry((entry.client, entry.begin, act, entry.resource.clone())) {
                Place::Occupied(place) => entries[*place.get()] = entry,
                Place::Vacant(place) => {
                    place.insert(entries.len());
                    entries.push(entry);
                }
            }
        }
    }
    entries.sort_by_key(|entry| entry.begin);
    Ok(entries)
}
