//! Copies modules of the product for the scheduler: see `src/lib.rs`.

use std::path::{Path, PathBuf};
use std::{env, fs};

mod edits;

use edits::{BENT, Edit, PLANTED};

/// The modules that share memory, and what they need of their own crate.
const MODULES: [(&str, &str); 9] = [
    ("bell", "server/src/bell.rs"),
    ("commits", "registry/src/commits.rs"),
    ("crowd", "server/src/crowd.rs"),
    ("desk", "registry/src/desk/mod.rs"),
    ("inbox", "registry/src/desk/inbox.rs"),
    ("outbox", "cli/src/keychain/outbox.rs"),
    ("store", "registry/src/store.rs"),
    ("view", "client/src/driver/view.rs"),
    ("waits", "registry/src/sql/waits.rs"),
];

/// What the scheduler has to see, and its own in place of it.
const OURS: [(&str, &str); 4] = [
    ("std::sync", "crate::model::sync"),
    ("std::thread", "crate::model::thread"),
    ("std::time::{Duration, Instant}", "crate::model::time::{Duration, Instant}"),
    ("tokio::sync", "crate::model::tokio"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=edits.rs");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo says where"));
    let mut done = Vec::new();
    for (name, file) in MODULES {
        let copy = copied(&crates, file, &mut done);
        fs::write(out.join(format!("{name}.rs")), copy).expect("the output can be written");
    }
    for edit in BENT.iter().chain(PLANTED) {
        assert!(done.iter().any(|file| file == edit.file), "{} is not copied", edit.file);
    }
}

/// A file with its child modules inside, its tests left out, and all changes made.
fn copied(crates: &Path, file: &str, done: &mut Vec<String>) -> String {
    let path = crates.join(file);
    println!("cargo::rerun-if-changed={}", path.display());
    let mut text = fs::read_to_string(&path).expect("the product is beside this crate");
    for edit in BENT.iter().chain(PLANTED).filter(|edit| edit.file == file) {
        text = edited(text, edit);
    }
    done.push(file.to_owned());
    for (theirs, ours) in OURS {
        text = text.replace(theirs, ours);
    }
    let mut copy = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match child(line) {
            _ if line == "#[cfg(test)]" => match lines.next() {
                Some("mod tests;") => {}
                // Tests are last.
                _ => break,
            },
            Some(name) => {
                let folder = file.rsplit_once('/').expect("a file in a folder").0;
                let inner = copied(crates, &format!("{folder}/{name}.rs"), done);
                copy += &format!("mod {name} {{\n{inner}}}\n");
            }
            // A module in braces cannot open with its own documentation.
            None => copy += &format!("{}\n", line.replacen("//!", "//", 1)),
        }
    }
    copy
}

fn child(line: &str) -> Option<&str> {
    line.strip_prefix("mod ")?.strip_suffix(';')
}

fn edited(text: String, edit: &Edit) -> String {
    let found = text.matches(edit.before).count();
    assert_eq!(
        found, 1,
        "{} has changed: {:?} is there {found} times, so edits.rs has to be changed, too",
        edit.file, edit.before
    );
    text.replacen(edit.before, edit.after, 1)
}
