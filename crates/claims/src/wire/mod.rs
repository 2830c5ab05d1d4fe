//! HTTP v1 in JSON, both directions: what clients of the original sent and expect, and what was
//! added without disturbing them. Bytes in, terms out; no HTTP and no clock in here.
//!
//! Reading a request: [`Fields`] merges body, query and form, [`NewClaim`] and [`Change`] make terms
//! of it. Writing an answer: [`write_claim`], and [`Problem`] for everything that is not yes. What all
//! of that looks like: [`schema`].

mod fields;
mod json;
mod number;

mod change;
mod claim;
mod date;
mod event;
mod handle;
mod problem;
mod register;
mod report;
pub mod schema;

pub use self::change::{Change, WishedStatus};
pub use self::claim::{View, write_claim, write_renewal};
pub use self::date::{parse_moment, write_date, write_moment};
pub use self::event::{event_name, write_event};
pub use self::fields::{Field, Fields, Media};
pub use self::handle::{Handle, KEY_CHARS_MAX, KEY_CHARS_MIN, is_key};
pub use self::json::write_text;
pub use self::number::{number, write_seconds};
pub use self::problem::Problem;
pub use self::register::{DATA_DEPTH_MAX, NewClaim};
pub use self::report::{ClaimReport, RegisterBody};
