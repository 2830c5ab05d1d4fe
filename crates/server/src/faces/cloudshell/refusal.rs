//! Answers that are not yes, in the numbers and words that clients of CloudShell know.

use claims::Refusal;
use hyper::StatusCode;
use registry::StoreError;

use crate::server::unavailable;

/// What the product says about nearly everything.
const GENERIC: u16 = 100;
const WRONG_PASSWORD: u16 = 118;

/// A call that was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct No {
    /// 200 where the client is to read the rest: it takes any other status for an accident.
    pub(super) status: StatusCode,
    pub(super) code: u16,
    /// Never empty: the client cannot print an error without a text.
    pub(super) text: String,
}

impl No {
    pub(super) fn because(text: impl Into<String>) -> Self {
        Self { status: StatusCode::OK, code: GENERIC, text: text.into() }
    }

    /// What a mutex waits for, to the letter.
    pub(super) fn alias_exists() -> Self {
        Self::because("Service with given alias already exists")
    }

    /// One answer for a user that is not there and a password that is wrong.
    pub(super) fn wrong_password() -> Self {
        let text = "Login failed: the user is not known, or the password is wrong";
        Self { code: WRONG_PASSWORD, ..Self::because(text) }
    }

    /// The client logs on again and repeats the call. Never the answer to a logon: it would do so
    /// without end.
    pub(super) fn not_logged_on() -> Self {
        let text = "The token is not that of a session: log on again";
        Self { status: StatusCode::UNAUTHORIZED, ..Self::because(text) }
    }

    pub(super) fn unreadable(why: &str) -> Self {
        Self::because(format!("The request is not a call that can be read: {why}"))
    }

    pub(super) fn missing(argument: &str) -> Self {
        Self::because(format!("The argument {argument} is missing, or empty"))
    }

    pub(super) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl From<Refusal> for No {
    fn from(refusal: Refusal) -> Self {
        Self::because(format!("Not possible: {refusal}"))
    }
}

impl From<StoreError> for No {
    /// The outcome is open: not a refusal, and the client must not take it for one.
    fn from(error: StoreError) -> Self {
        let text = format!("Not now: {error}");
        let _ = unavailable(error);
        Self::because(text).with_status(StatusCode::SERVICE_UNAVAILABLE)
    }
}
