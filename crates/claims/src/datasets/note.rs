//! What is said about a lock or a request, for people.

use alloc::string::String;

/// Who wants something, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Note {
    /// Who: a service, a host, a user.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub owner: Option<String>,
    /// Why: a call, a ticket.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reason: Option<String>,
}

#[cfg(feature = "wire")]
impl Note {
    /// As the data of a claim.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".into())
    }

    /// From the data of a claim, whoever made it. What is not a note says nothing.
    pub fn of(data: Option<&str>) -> Self {
        data.and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default()
    }
}
