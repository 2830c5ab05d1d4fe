//! Who asks, and what they may do.
//!
//! What a grant allows is a rule and lives in `claims`. In here is how somebody proves to be the
//! one who was granted it.

mod caller;
mod credentials;
mod file;
mod token;
mod tokens;

pub(crate) use self::caller::{Caller, authenticate, now};
pub use self::file::TokenFile;
pub use self::token::{BadToken, Token, TokenList};
pub use self::tokens::Tokens;
