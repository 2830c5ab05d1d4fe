//! The tokens that a running server knows.

use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};

use claims::WallTime;

use super::file::TokenFile;
use super::token::{Token, TokenList, id_of};
use crate::files::{FileProblem, Mark};

/// The tokens that a running server knows, kept up to date with their file.
#[derive(Debug)]
pub struct Tokens {
    file: TokenFile,
    /// Sorted by id.
    known: RwLock<Arc<[Arc<Token>]>>,
    /// The state of the file that was read last.
    read: Mutex<Mark>,
}

/// Why a text is not a token that opens anything.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoToken {
    Unknown,
    /// It was one: whoever has it may know.
    Expired {
        name: String,
    },
}

impl Tokens {
    /// The tokens in a file. What is wrong with it is better said before the server starts.
    pub fn open(file: TokenFile) -> Result<Self, FileProblem> {
        let mark = file.mark();
        let known = sorted(file.read()?);
        Ok(Self { file, known: RwLock::new(known), read: Mutex::new(mark) })
    }

    /// The tokens in a data directory.
    pub fn within(data: &Path) -> Result<Self, FileProblem> {
        Self::open(TokenFile::within(data))
    }

    /// Reads the file again if it is a different one. If it cannot be read, the tokens stay as they
    /// were: to let everybody out would end what they hold, to let everybody in is no choice.
    pub fn refresh(&self) {
        let mut read = self.read.lock().expect("reading does not panic");
        let mark = self.file.mark();
        if *read == mark {
            return;
        }
        *read = mark;
        match self.file.read() {
            Ok(list) => {
                let known = sorted(list);
                tracing::info!(tokens = known.len(), "tokens have changed");
                *self.known.write().expect("reading does not panic") = known;
            }
            Err(error) => tracing::error!(%error, "tokens stay as they were"),
        }
    }

    /// The token with this text, if it is one and has not ended.
    pub(crate) fn find(&self, text: &str, now: WallTime) -> Result<Arc<Token>, NoToken> {
        let presented = blake3::hash(text.as_bytes());
        let known = self.known.read().expect("reading does not panic");
        let found = id_of(text).and_then(|id| by_id(&known, id));
        match found {
            Some(token) if token.is(&presented) && token.is_live(now) => Ok(token.clone()),
            Some(token) if token.is(&presented) => {
                Err(NoToken::Expired { name: token.name.clone() })
            }
            _ => Err(NoToken::Unknown),
        }
    }

    /// Whether a token that was found before still opens what it did.
    pub(crate) fn has(&self, token: &Token, now: WallTime) -> bool {
        let known = self.known.read().expect("reading does not panic");
        by_id(&known, &token.id).is_some_and(|token| token.is_live(now))
    }
}

fn sorted(list: TokenList) -> Arc<[Arc<Token>]> {
    let mut known: Vec<Arc<Token>> = list.as_slice().iter().cloned().map(Arc::new).collect();
    known.sort_by(|a, b| a.id.cmp(&b.id));
    known.into()
}

/// Ids are public, so this may take its time.
fn by_id<'a>(known: &'a [Arc<Token>], id: &str) -> Option<&'a Arc<Token>> {
    let at = known.binary_search_by(|token| token.id.as_str().cmp(id)).ok()?;
    known.get(at)
}
