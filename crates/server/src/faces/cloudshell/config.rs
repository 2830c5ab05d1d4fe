//! What can be adjusted about reservations.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use claims::{Span, TTL_MAX, Ttl};

/// The reservations of a server, as CloudShell's clients see them.
#[derive(Debug, Clone, Default)]
pub struct Cloudshell {
    /// Who may log on. Nobody named: whoever reaches the port.
    pub users: Vec<User>,
    /// How long a service may be there; the first that is about its alias counts.
    pub longest_holds: Vec<LongestHold>,
    /// Whether reservations that were made elsewhere are taken for running ones.
    pub foreign_reservations: bool,
    /// Whether everybody may remove every service, as in the original.
    pub anybody_removes: bool,
}

impl Cloudshell {
    /// How long a service under this alias may be there.
    pub(super) fn longest_hold(&self, alias: &str) -> Ttl {
        let hold = self.longest_holds.iter().find(|hold| hold.is_about(alias));
        hold.map_or(Ttl::UNLIMITED, |hold| hold.ttl)
    }

    /// The user of this name, if it is still there.
    pub(super) fn user(&self, name: &str) -> Option<&User> {
        self.users.iter().find(|user| user.name == name)
    }
}

/// Somebody who may log on: `NAME:HASH`.
#[derive(Clone)]
pub struct User {
    name: String,
    hash: PasswordHash,
}

impl User {
    /// A user with this password, which is kept as a hash (argon2id).
    ///
    /// ```
    /// let user = server::User::new("jane", "hush").unwrap();
    /// assert!(user.to_string().starts_with("jane:$argon2id$"));
    /// ```
    pub fn new(name: &str, password: &str) -> Result<Self, String> {
        let hash = Argon2::default().hash_password(password.as_bytes());
        let hash = hash.map_err(|error| format!("the password cannot be hashed: {error}"))?;
        Self::checked(name, hash)
    }

    fn checked(name: &str, hash: PasswordHash) -> Result<Self, String> {
        if name.is_empty() || name.len() > 128 || name.contains([':', ' ']) || has_control(name) {
            return Err("a name is 1 to 128 letters without blanks and colons".into());
        }
        Ok(Self { name: name.into(), hash })
    }

    /// Whether this is the password. Takes its time, and 19 MiB, on purpose.
    pub(super) fn has_password(&self, password: &str) -> bool {
        Argon2::default().verify_password(password.as_bytes(), &self.hash).is_ok()
    }

    /// Tells one password of a user from another one that it had before.
    pub(super) fn mark(&self) -> String {
        blake3::hash(self.hash.to_string().as_bytes()).to_hex()[..16].to_owned()
    }
}

impl FromStr for User {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "NAME:HASH is wanted, such as `tenure password NAME` prints it";
        let (name, hash) = text.split_once(':').ok_or(wanted)?;
        let hash = PasswordHash::new(hash).map_err(|_| wanted)?;
        match hash.algorithm.as_str() {
            "argon2id" => Self::checked(name, hash),
            other => Err(format!("the hash is {other:?}, and argon2id is wanted")),
        }
    }
}

impl fmt::Display for User {
    /// As the configuration has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.hash)
    }
}

impl fmt::Debug for User {
    /// Without the hash: this may be logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "User({})", self.name)
    }
}

/// How long services under an alias may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongestHold {
    alias: String,
    ttl: Ttl,
}

impl LongestHold {
    /// For one alias, or for all with `*`.
    pub fn new(alias: &str, span: Duration) -> Self {
        let span = Span::from_micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX));
        let ttl = Ttl::new(span.min(TTL_MAX)).expect("it is not longer than the longest");
        Self { alias: alias.into(), ttl }
    }

    fn is_about(&self, alias: &str) -> bool {
        self.alias == "*" || self.alias == alias
    }
}

fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_known_by_its_hash_alone() {
        let user = User::new("jane", "h\u{fc}sh").expect("a user");
        let read: User = user.to_string().parse().expect("the same user");
        assert!(read.has_password("h\u{fc}sh") && !read.has_password("hush"));
        assert_eq!(read.mark(), user.mark());
        assert_ne!(User::new("jane", "h\u{fc}sh").expect("a user").mark(), user.mark());
        assert!(!format!("{read:?}").contains("argon2"));
        for wrong in ["", "jane", "jane:", "jane:hush", ":$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ"] {
            assert!(wrong.parse::<User>().is_err(), "{wrong}");
        }
        assert!(User::new("a b", "x").is_err() && User::new("a:b", "x").is_err());
    }

    #[test]
    fn first_bound_that_is_about_an_alias_counts() {
        let hold = |alias: &str, secs| LongestHold::new(alias, Duration::from_secs(secs));
        let holds = vec![hold("MUTEX", 600), hold("*", 60), hold("late", 1)];
        let config = Cloudshell { longest_holds: holds, ..Cloudshell::default() };
        let secs = |alias| config.longest_hold(alias).span().as_micros() / 1_000_000;
        assert_eq!((secs("MUTEX"), secs("mutex"), secs("late")), (600, 60, 60));
        assert_eq!(Cloudshell::default().longest_hold("MUTEX"), Ttl::UNLIMITED);
    }
}
