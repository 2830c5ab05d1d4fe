//! The documents say what is there: the map equals the land.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// Words in backticks that match.
fn quoted(text: &str, is: impl Fn(&str) -> bool) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).filter(|word| is(word)).map(str::to_owned).collect()
}

fn crates() -> BTreeSet<String> {
    let entries = std::fs::read_dir(root().join("crates")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn architecture_names_every_crate_and_no_ghost() {
    let text = read("ARCHITECTURE.md");
    let named = quoted(&text, |word| word.starts_with("crates/") && !word.contains(['*', ' ']));
    let named: BTreeSet<String> = named
        .iter()
        .map(|path| path.trim_start_matches("crates/").split('/').next().unwrap().to_owned())
        .collect();
    assert_eq!(named, crates());
}

#[test]
fn every_path_in_the_documents_exists() {
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/guarantees.md",
        "docs/command-line.md",
        "docs/configuration.md",
    ] {
        let is_path = |word: &str| {
            ["crates/", "docs/", ".ci/"].iter().any(|start| word.starts_with(start))
                && !word.contains(['*', ' ', '<', '…'])
        };
        for path in quoted(&read(document), is_path) {
            assert!(root().join(&path).exists(), "{document} names {path}, which is not there");
        }
    }
}

#[test]
fn every_test_that_proves_a_guarantee_exists() {
    let sources = sources(&root().join("crates"));
    for document in ["docs/guarantees.md", "docs/security.md"] {
        let tests = quoted(&read(document), |word| {
            word.len() > 15
                && word.contains('_')
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        });
        assert!(tests.len() > 20, "{document}: promises are proved by tests");
        for test in tests {
            let is_there = sources.contains(&format!("fn {test}("));
            assert!(is_there, "{document} names the test {test}, which is not there");
        }
    }
}

fn sources(directory: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text += &sources(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text += &std::fs::read_to_string(&path).unwrap();
        }
    }
    text
}
