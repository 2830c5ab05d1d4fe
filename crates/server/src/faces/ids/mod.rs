//! What a data service tells about its locks and its queue, and small calls for services in other
//! languages: `/ids/…`.
//!
//! A lock on datasets is claims on `dataset/<id>`; what is known of an operation is a claim without
//! an end on `operation/<dataset>` or `operation/<dataset>/<datafile>`, with the record as its data.
//! So all of it is in the store, shows in `tenure why` and in the events, and survives a restart. The
//! rules are those of `claims::datasets`.

mod locks;
mod operations;
mod read;
mod records;
mod status;
mod taking;
mod work;

pub(crate) use self::locks::{lock, release, renew};
pub(crate) use self::operations::request;
pub(crate) use self::status::{ping, status, version};
pub(crate) use self::work::{finish, work};

use claims::wire::{Fields, Media, Problem};

/// The session that a client of a data service shows in the query: here it is a token.
pub(crate) fn session(query: Option<&str>) -> Option<String> {
    let fields = Fields::parse(Media::Other, b"", query?).ok()?;
    fields.text("sessionId").map(str::to_owned)
}

/// Any problem in the words that clients of a data service understand. They read the code, and they
/// read it as ASCII.
pub(crate) fn worded(problem: Problem) -> Problem {
    let code = match problem.status {
        401 | 403 => "InsufficientPrivilegesException",
        404 => "NotFoundException",
        503 if problem.title() == BUSY => {
            return problem.in_words_of_ids("DataNotOnlineException", Some("Data is busy"));
        }
        500.. => "InternalException",
        _ => "BadRequestException",
    };
    problem.in_words_of_ids(code, None)
}

/// The title of a refusal because somebody else has a dataset.
const BUSY: &str = "Data is busy";
