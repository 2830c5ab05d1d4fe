//! Names as files in a directory, created exclusively.
//!
//! The obvious (create `name`, delete `name`) cannot be followed by somebody else safely: who deletes
//! a dead holder's file may delete the fresh one of whoever was faster. So every change, a sign of
//! life too, is a file of the next generation, `name.000042`, and the highest one counts. It is made under another name and
//! then linked, which only one can do, and nobody sees half of it. A release is a generation of
//! nobody's. The highest is never removed, so generations rise for ever: they are the fence.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rustix::fs::OFlags;

use super::{Creation, Names, Sign, Tag};
use crate::Fault;
use crate::fault::random_name;

/// How many generations are kept. Somebody who listed the directory, fell asleep and creates a
/// generation that was there before finds a higher one when it looks again, unless all of these came
/// and went during that one look.
const KEPT: u64 = 32;
const BYTES_MAX: u64 = 64 * 1024;

/// Names as files in a directory that only its owner can enter.
#[derive(Debug, Clone)]
pub struct Files {
    directory: PathBuf,
}

impl Files {
    /// In this directory, which is made (0700) if it is not there. One that others may write to, or
    /// that is a symbolic link, is refused: they could put a file in our way, or lead us away.
    pub fn new(directory: impl Into<PathBuf>) -> Result<Self, Fault> {
        let directory = directory.into();
        let shown = directory.display().to_string();
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .map_err(Fault::files(format!("making {shown}")))?;
        let meta = fs::symlink_metadata(&directory)
            .map_err(Fault::files(format!("looking at {shown}")))?;
        if !meta.is_dir() {
            return Err(Fault::Address(format!(
                "{shown} is not a directory (links are not followed)"
            )));
        }
        let me = rustix::process::geteuid().as_raw();
        if meta.uid() != me || meta.mode() & 0o022 != 0 {
            return Err(Fault::Address(format!(
                "{shown} belongs to somebody else or others may write to it: \
                 locks need a directory of their own (chmod 700 {shown})"
            )));
        }
        Ok(Self { directory })
    }

    fn create_now(&self, name: &str, tag: &Tag) -> Result<Creation, Fault> {
        match self.highest(name)? {
            Some((_, Some(sign))) => Ok(Creation::Taken(Some(sign))),
            Some((generation, None)) => self.claim(name, generation + 1, tag),
            None => self.claim(name, 1, tag),
        }
    }

    fn claim(&self, name: &str, generation: u64, tag: &Tag) -> Result<Creation, Fault> {
        if self.add(name, generation, Some(tag))? {
            Ok(Creation::Created(sign(tag.clone(), generation)))
        } else {
            Ok(Creation::Taken(self.highest(name)?.and_then(|(_, sign)| sign)))
        }
    }

    /// Adds a generation, if nobody has.
    fn add(&self, name: &str, generation: u64, tag: Option<&Tag>) -> Result<bool, Fault> {
        check(name)?;
        let temporary = self.prepare(tag)?;
        let linked = fs::hard_link(&temporary, self.path(name, generation));
        let _ = fs::remove_file(&temporary);
        match linked {
            // It may have been there before, and been tidied up: then there is a higher one.
            Ok(()) => match self.highest(name)? {
                Some((highest, _)) if highest == generation => {
                    self.tidy(name, generation);
                    Ok(true)
                }
                Some(_) | None => Ok(false),
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(Fault::files("creating a lock file")(error)),
        }
    }

    /// The highest generation, and whose it is.
    fn highest(&self, name: &str) -> Result<Option<(u64, Option<Sign>)>, Fault> {
        check(name)?;
        // A file may be tidied up between being listed and being read: then there is a higher one.
        for _ in 0..100 {
            let Some(generation) = self.generations(name)?.into_iter().max() else {
                return Ok(None);
            };
            let path = self.path(name, generation);
            match read(&path) {
                Ok(text) => return Ok(Some((generation, parse(&path, generation, &text)?))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(Fault::files(format!("reading {}", path.display()))(error));
                }
            }
        }
        Err(Fault::Unable("the directory changes faster than it can be read"))
    }

    fn generations(&self, name: &str) -> Result<Vec<u64>, Fault> {
        let what = || format!("listing {}", self.directory.display());
        let entries = fs::read_dir(&self.directory).map_err(Fault::files(what()))?;
        let mut found = Vec::new();
        for entry in entries {
            let file = entry.map_err(Fault::files(what()))?.file_name();
            let generation =
                file.to_str().and_then(|file| file.strip_prefix(name)?.strip_prefix('.'));
            found.extend(generation.and_then(|digits| digits.parse::<u64>().ok()));
        }
        Ok(found)
    }

    fn tidy(&self, name: &str, highest: u64) {
        for generation in self.generations(name).unwrap_or_default() {
            if generation + KEPT < highest {
                let _ = fs::remove_file(self.path(name, generation));
            }
        }
    }

    /// A finished file under a name of its own.
    fn prepare(&self, tag: Option<&Tag>) -> Result<PathBuf, Fault> {
        let path = self.directory.join(format!(".tenure-{}", random_name(8)?));
        let text = tag.map_or_else(Vec::new, |tag| serde_json::to_vec(tag).expect("JSON"));
        let written = File::options().write(true).create_new(true).mode(0o600).open(&path);
        let done = written.and_then(|mut file| file.write_all(&text));
        done.map_err(Fault::files(format!("writing {}", path.display())))?;
        Ok(path)
    }

    fn path(&self, name: &str, generation: u64) -> PathBuf {
        self.directory.join(format!("{name}.{generation:06}"))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let own = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&own)).await;
        done.map_err(|_| Fault::Unable("the runtime is ending"))?
    }
}

#[async_trait]
impl Names for Files {
    async fn create(&self, name: &str, tag: &Tag) -> Result<Creation, Fault> {
        let (name, tag) = (name.to_owned(), tag.clone());
        self.blocking(move |files| files.create_now(&name, &tag)).await
    }

    async fn read(&self, name: &str) -> Result<Option<Sign>, Fault> {
        let name = name.to_owned();
        self.blocking(move |files| Ok(files.highest(&name)?.and_then(|(_, sign)| sign))).await
    }

    async fn remove(&self, name: &str, seen: &Sign) -> Result<bool, Fault> {
        let (name, seen) = (name.to_owned(), seen.clone());
        self.blocking(move |files| files.add(&name, next(&seen), None)).await
    }

    async fn swap(&self, name: &str, seen: &Sign, tag: &Tag) -> Result<Creation, Fault> {
        let (name, seen, tag) = (name.to_owned(), seen.clone(), tag.clone());
        self.blocking(move |files| files.claim(&name, next(&seen), &tag)).await
    }

    fn has_leases(&self) -> bool {
        true
    }
}

fn check(name: &str) -> Result<(), Fault> {
    let bad = |why: &str| Err(Fault::Name { name: name.into(), why: why.into() });
    if name.is_empty() || name.len() > 200 {
        return bad("a file name has 1 to 200 bytes");
    }
    if name.starts_with('.') || name.contains(['/', '\0']) {
        return bad("a file name has no slash in it and no dot in front");
    }
    Ok(())
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let no_link = OFlags::NOFOLLOW.bits() as i32;
    let file = File::options().read(true).custom_flags(no_link).open(path)?;
    let mut text = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut text)?;
    Ok(text)
}

fn parse(path: &Path, generation: u64, text: &[u8]) -> Result<Option<Sign>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    let tag: Tag = serde_json::from_slice(text).map_err(|_| Fault::Name {
        name: path.display().to_string(),
        why: "there is a file of that name that is not a lock".into(),
    })?;
    Ok(Some(sign(tag, generation)))
}

fn sign(tag: Tag, generation: u64) -> Sign {
    Sign { tag, version: generation.to_string(), fence: Some(generation) }
}

/// The generation after the one that was seen: whoever changes it first has it.
fn next(seen: &Sign) -> u64 {
    seen.fence.unwrap_or(0) + 1
}
