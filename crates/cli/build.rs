//! Tells the program which commit it is, if that is known. Without git it is built all the same.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=TENURE_COMMIT={}", commit().unwrap_or_default());
}

/// Such as ` (abc1234 2026-11-16)`.
fn commit() -> Option<String> {
    // Sources that were unpacked inside some other repository are not of its commit.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file])?;
        println!("cargo:rerun-if-changed={path}");
    }
    let commit = git(&["show", "-s", "--format=%h %cs", "HEAD"])?;
    Some(format!(" ({commit})"))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
