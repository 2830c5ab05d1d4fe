//! Writing an object so that a late writer cannot undo a newer one.
//!
//! The obvious (keep the fence beside the object, or in its metadata) fails on S3: there the version
//! of an object is a hash of its bytes, so somebody who writes the same bytes under a higher fence
//! leaves the version as it was, and an older writer's conditional put goes through. So the fence is
//! in the bytes: a fenced object begins with a line `tenure-fence 42`, and your bytes follow.

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutMode, UpdateVersion};
use thiserror::Error as ThisError;

use crate::{Fault, Place};

const HEAD: &[u8] = b"tenure-fence ";
/// How often somebody may come between before it is called a fault.
const RACES_MAX: usize = 100;

/// Why nothing was written.
#[derive(Debug, ThisError)]
pub enum NotWritten {
    /// Somebody with a higher fence has written already: you have lost the lock.
    #[error(
        "{object}: fence {yours} is older than {theirs}, which has written already: you hold the lock no more"
    )]
    Outdated {
        /// The object.
        object: String,
        /// The fence that was offered.
        yours: u64,
        /// The fence that is there.
        theirs: u64,
    },
    /// There is an object without a fence. Whose it is, nobody knows: it is left alone.
    #[error("{0} has no fence: it was not written by put_fenced, and is left as it is")]
    Unfenced(String),
    /// The store cannot be used, or cannot do this.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Writes the object unless its fence is higher than this one. The same fence may write again.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use makeshift::Place;
/// use makeshift::fenced::{get_fenced, put_fenced};
///
/// let place = Place::open("memory:///")?;
/// put_fenced(&place, "report", 7, b"by the holder").await?;
/// assert!(put_fenced(&place, "report", 6, b"by the one before").await.is_err());
/// assert_eq!(get_fenced(&place, "report").await?, Some((7, "by the holder".into())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn put_fenced(
    place: &Place,
    object: &str,
    fence: u64,
    bytes: &[u8],
) -> Result<(), NotWritten> {
    if !place.is_conditional() {
        let why = "a directory has no conditional puts, so a write to it cannot be fenced";
        return Err(Fault::Unable(why).into());
    }
    let path = place.object(object)?;
    let mut whole = [HEAD, fence.to_string().as_bytes(), b"\n"].concat();
    whole.extend_from_slice(bytes);
    let whole = Bytes::from(whole);
    for _ in 0..RACES_MAX {
        let mode = match find(place, &path).await? {
            None => PutMode::Create,
            Some((Some((theirs, _)), _)) if theirs > fence => {
                return Err(NotWritten::Outdated { object: object.into(), yours: fence, theirs });
            }
            Some((Some(_), version)) => PutMode::Update(version),
            Some((None, _)) => return Err(NotWritten::Unfenced(object.into())),
        };
        match place.objects.put_opts(&path, whole.clone().into(), mode.into()).await {
            Ok(_) => return Ok(()),
            // Somebody came between: look at their fence.
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(error) => return Err(Fault::from(error).into()),
        }
    }
    Err(Fault::Unable("others keep writing the object, so nothing was written").into())
}

/// The fence of an object and its bytes.
pub async fn get_fenced(place: &Place, object: &str) -> Result<Option<(u64, Bytes)>, NotWritten> {
    match find(place, &place.object(object)?).await? {
        None => Ok(None),
        Some((Some(fenced), _)) => Ok(Some(fenced)),
        Some((None, _)) => Err(NotWritten::Unfenced(object.into())),
    }
}

type Found = (Option<(u64, Bytes)>, UpdateVersion);

async fn find(place: &Place, path: &Path) -> Result<Option<Found>, Fault> {
    let answer = match place.objects.get(path).await {
        Ok(answer) => answer,
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let meta = answer.meta.clone();
    let fenced = split(answer.bytes().await?);
    Ok(Some((fenced, UpdateVersion { e_tag: meta.e_tag, version: meta.version })))
}

fn split(bytes: Bytes) -> Option<(u64, Bytes)> {
    let end = bytes.iter().take(64).position(|byte| *byte == b'\n')?;
    let digits = bytes[..end].strip_prefix(HEAD)?;
    let fence = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((fence, bytes.slice(end + 1..)))
}
