//! One record in a store: read it, and replace it in one attempt.

use std::io;

use claims::Timestamp;
use claims::contest::{Heard, Lease, Seen, Step};
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutMode, UpdateVersion};

use super::directory::{Replaced, replace};
use super::lease_file;
use crate::{Fault, Place, clock};

/// The record, and the version of it that was read last.
pub(crate) struct Blob {
    place: Place,
    path: Path,
    /// What the last read found, for stores that can refuse to write over anything else.
    found: Option<Option<UpdateVersion>>,
    /// The store can get and put, and no more.
    plain: bool,
}

impl Blob {
    pub(crate) const fn new(place: Place, path: Path) -> Self {
        Self { place, path, found: None, plain: false }
    }

    /// Does what a step asks for and says what was heard. Waiting is the caller's business.
    pub(crate) async fn perform<T>(&mut self, step: &Step<T>) -> Result<Heard, Fault> {
        match step {
            Step::Read { by } => match tokio::time::timeout(clock::until(*by), self.read()).await {
                Ok(Ok(seen)) => Ok(Heard::Saw(seen)),
                Ok(Err(fault)) if fault.is_lasting() => Err(fault),
                Ok(Err(fault)) => {
                    tracing::debug!(%fault, "the lease could not be read");
                    Ok(Heard::Blind)
                }
                Err(_late) => Ok(Heard::Blind),
            },
            Step::Write { lease, by } => self.write(lease, *by).await,
            Step::Wait { .. } | Step::Done(_) => Ok(Heard::Go),
        }
    }

    /// What is there now, and its text.
    pub(crate) async fn text(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        self.found = None;
        let answer = match self.place.objects.get(&self.path).await {
            Ok(answer) => answer,
            Err(Error::NotFound { .. }) => {
                self.found = Some(None);
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let meta = answer.meta.clone();
        let text = if meta.size > lease_file::BYTES_MAX {
            Vec::new()
        } else {
            answer.bytes().await?.to_vec()
        };
        self.found = Some(Some(UpdateVersion { e_tag: meta.e_tag, version: meta.version }));
        Ok(Some(text))
    }

    async fn read(&mut self) -> Result<Seen, Fault> {
        Ok(self.text().await?.map_or(Seen::Absent, |text| lease_file::read(&text)))
    }

    async fn write(&mut self, lease: &Lease, by: Timestamp) -> Result<Heard, Fault> {
        let bytes = lease_file::write(lease);
        if clock::at() >= by {
            return Ok(Heard::NotWritten);
        }
        match self.place.file(&self.path) {
            Some(file) => {
                let put = tokio::task::spawn_blocking(move || replace(&file, &bytes, by));
                match tokio::time::timeout(clock::until(by), put).await {
                    Ok(Ok(done)) => heard(done),
                    // It looks at the clock once more before it lands, so it will hardly land now.
                    Ok(Err(_)) | Err(_) => Ok(Heard::Unsure),
                }
            }
            None => self.put(bytes, by).await,
        }
    }

    async fn put(&mut self, bytes: Vec<u8>, by: Timestamp) -> Result<Heard, Fault> {
        let mode = match &self.found {
            _ if self.plain => PutMode::Overwrite,
            Some(Some(version)) => PutMode::Update(version.clone()),
            Some(None) => PutMode::Create,
            None => return Ok(Heard::NotWritten),
        };
        let put = self.place.objects.put_opts(&self.path, bytes.into(), mode.into());
        match tokio::time::timeout(clock::until(by), put).await {
            Ok(Ok(_)) => Ok(Heard::Wrote),
            Ok(Err(Error::Precondition { .. } | Error::AlreadyExists { .. })) => {
                Ok(Heard::NotWritten)
            }
            // Get and put are enough for this lock: from now on without conditions.
            Ok(Err(error)) if !self.plain && knows_no_conditions(&error) => {
                tracing::info!(%error, "the store has no conditional puts");
                self.plain = true;
                Ok(Heard::NotWritten)
            }
            // There is no such bucket: an object that is not there can be put.
            Ok(Err(error @ Error::NotFound { .. })) => Err(error.into()),
            Ok(Err(error)) => {
                let fault = Fault::from(error);
                if fault.is_lasting() { Err(fault) } else { Ok(Heard::Unsure) }
            }
            Err(_late) => Ok(Heard::Unsure),
        }
    }

    /// Writes over whatever is there, deliberately.
    pub(crate) async fn overwrite(&self, lease: &Lease) -> Result<(), Fault> {
        let bytes = lease_file::write(lease);
        if let Some(file) = self.place.file(&self.path) {
            let what = format!("writing {}", file.display());
            replace(&file, &bytes, Timestamp::NEVER).map_err(Fault::files(what))?;
        } else {
            self.place.objects.put(&self.path, bytes.into()).await?;
        }
        Ok(())
    }
}

/// Some stores say so in words only.
fn knows_no_conditions(error: &Error) -> bool {
    let in_words = || error.to_string().contains("NotImplemented");
    matches!(error, Error::NotImplemented { .. } | Error::NotSupported { .. }) || in_words()
}

fn heard(done: io::Result<Replaced>) -> Result<Heard, Fault> {
    match done {
        Ok(Replaced::Yes) => Ok(Heard::Wrote),
        Ok(Replaced::TooLate) => Ok(Heard::NotWritten),
        Err(source) => {
            let fault = Fault::Files { what: "writing the lease file".into(), source };
            // Nothing was renamed, so nothing has changed.
            if fault.is_lasting() { Err(fault) } else { Ok(Heard::NotWritten) }
        }
    }
}

/// A put as the lock makes them, to be measured.
pub(crate) async fn measured_put(place: &Place, path: &Path, bytes: Vec<u8>) -> Result<(), Fault> {
    match place.file(path) {
        Some(file) => {
            let put = tokio::task::spawn_blocking(move || replace(&file, &bytes, Timestamp::NEVER));
            let done = put.await.map_err(|_| Fault::Unable("the runtime is ending"))?;
            done.map(|_| ()).map_err(Fault::files("writing a file to be measured"))
        }
        None => Ok(place.objects.put(path, bytes.into()).await.map(|_| ())?),
    }
}
