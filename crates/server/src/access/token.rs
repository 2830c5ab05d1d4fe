//! A bearer token: what is kept of it, and how it is made, replaced and taken back.
//!
//! A token reads `tenure_<id>_<secret>`. The id is public: it finds the entry, names the token in
//! lists, and lets a scanner that finds one in the wrong place say which to take back. The secret is
//! 256 random bits; only the hash of the whole text is kept.

use std::fmt;
use std::sync::Arc;

use claims::{Grants, WallTime};
use serde::{Deserialize, Serialize};

const MARK: &str = "tenure_";
/// The id: 48 random bits, in hexadecimal.
const ID_CHARS: usize = 12;
/// The longest name of a token.
const NAME_CHARS_MAX: usize = 64;
/// Tokens that expired are shown for a while, and then forgotten.
const REMEMBERED_MS: u64 = 30 * 24 * 3_600_000;
/// What the administrator is called where tokens have names.
pub(crate) const ADMINISTRATOR: &str = "administrator";

/// What is kept of a token.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// The public part.
    pub id: String,
    /// Whose it is. Two tokens may have one name while one replaces the other.
    pub name: String,
    #[serde(with = "hexadecimal")]
    hash: blake3::Hash,
    /// What it allows.
    pub grants: Arc<Grants>,
    /// When it was made.
    pub created: WallTime,
    /// When it ends; never if not said.
    pub expires: Option<WallTime>,
}

impl Token {
    /// Whether this is the token. The comparison takes the same time whatever differs: it is that
    /// of [`blake3::Hash`].
    pub(crate) fn is(&self, presented: &blake3::Hash) -> bool {
        self.hash == *presented
    }

    /// Whether it has not ended at this time of day.
    pub fn is_live(&self, now: WallTime) -> bool {
        self.expires.is_none_or(|expires| now.0 < expires.0)
    }
}

impl fmt::Debug for Token {
    /// Without the hash: this may be logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({} {})", self.id, self.name)
    }
}

/// The id in the text of a token, if it can be one.
pub(crate) fn id_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(MARK)?;
    let id = rest.get(..ID_CHARS)?;
    rest[ID_CHARS..].starts_with('_').then_some(id)
}

/// All tokens there are, as they are kept.
#[derive(Debug, Clone, Default)]
pub struct TokenList(Vec<Token>);

/// Why a token cannot be made, replaced or taken back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    /// The name would not be safe in addresses and logs.
    #[error(
        "{0:?} is no name for a token: use 1 to 64 letters, digits, '-', '_' and '.'; not {ADMINISTRATOR}"
    )]
    Name(String),
    /// A token without grants can do nothing.
    #[error("the token would allow nothing: give it a grant, such as --grant read,claim:team-a/")]
    NoGrant,
    /// There is one already.
    #[error(
        "there is a token called {0} already: replace it with `token rotate {0}`, or choose another name"
    )]
    Exists(String),
    /// There is none.
    #[error("there is no token with the name or id {0:?}: see `token list`")]
    Unknown(String),
}

impl TokenList {
    pub(crate) fn from_entries(tokens: Vec<Token>) -> Self {
        Self(tokens)
    }

    /// The tokens, oldest first.
    pub fn as_slice(&self) -> &[Token] {
        &self.0
    }

    /// Makes a token and returns its text, which is kept nowhere.
    pub fn create(
        &mut self,
        name: &str,
        grants: Grants,
        lives_for_ms: Option<u64>,
        now: WallTime,
    ) -> Result<String, BadToken> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name = (1..=NAME_CHARS_MAX).contains(&name.len()) && name.chars().all(is_plain);
        if !is_name || name == ADMINISTRATOR {
            return Err(BadToken::Name(name.chars().take(NAME_CHARS_MAX).collect()));
        }
        if grants.as_slice().is_empty() {
            return Err(BadToken::NoGrant);
        }
        self.forget(now);
        if self.0.iter().any(|token| token.name == name && token.is_live(now)) {
            return Err(BadToken::Exists(name.into()));
        }
        Ok(self.add(name, Arc::new(grants), lives_for_ms, now))
    }

    /// Makes another token with the name and the grants of the newest that has this name. Those
    /// before it end when `overlap_ms` has passed, so that everybody can change over.
    pub fn rotate(
        &mut self,
        name: &str,
        lives_for_ms: Option<u64>,
        overlap_ms: u64,
        now: WallTime,
    ) -> Result<String, BadToken> {
        let newest = self.0.iter().rfind(|token| token.name == name);
        let Some(grants) = newest.map(|token| token.grants.clone()) else {
            return Err(BadToken::Unknown(name.into()));
        };
        let last = WallTime(now.0.saturating_add(overlap_ms));
        for token in self.0.iter_mut().filter(|token| token.name == name) {
            token.expires = Some(token.expires.map_or(last, |expires| expires.min(last)));
        }
        self.forget(now);
        Ok(self.add(name, grants, lives_for_ms, now))
    }

    /// Takes back all tokens with this name, or the one with this id. Returns how many.
    pub fn revoke(&mut self, name_or_id: &str) -> Result<usize, BadToken> {
        let before = self.0.len();
        self.0.retain(|token| token.name != name_or_id && token.id != name_or_id);
        match before - self.0.len() {
            0 => Err(BadToken::Unknown(name_or_id.into())),
            count => Ok(count),
        }
    }

    fn add(
        &mut self,
        name: &str,
        grants: Arc<Grants>,
        lives_for_ms: Option<u64>,
        now: WallTime,
    ) -> String {
        let id = loop {
            let id = new_id();
            if self.0.iter().all(|token| token.id != id) {
                break id;
            }
        };
        let text = format!("{MARK}{id}_{}", crate::keys::new_token());
        self.0.push(Token {
            id,
            name: name.into(),
            hash: blake3::hash(text.as_bytes()),
            grants,
            created: now,
            expires: lives_for_ms.map(|span| WallTime(now.0.saturating_add(span))),
        });
        text
    }

    fn forget(&mut self, now: WallTime) {
        let is_remembered = |expires: WallTime| now.0 < expires.0.saturating_add(REMEMBERED_MS);
        self.0.retain(|token| token.expires.is_none_or(is_remembered));
    }
}

fn new_id() -> String {
    let mut bytes = [0; ID_CHARS / 2];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(hash: &blake3::Hash, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(hash.to_hex().as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<blake3::Hash, D::Error> {
        let text = String::deserialize(from)?;
        blake3::Hash::from_hex(text).map_err(|_| de::Error::custom("the hash is not one"))
    }
}
