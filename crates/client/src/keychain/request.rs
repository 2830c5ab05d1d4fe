//! What a program says to its keychain: one JSON object a line.

use claims::claimant::Patience;
use claims::{Limit, Name, Resources, Span, Ttl};
use serde::{Deserialize, Serialize};

use super::json::Json;
use crate::key::Key;
use crate::wish::{self, Wish};

/// The longest line that a keychain reads, its end not counted: more than the server takes.
pub const LINE_BYTES_MAX: usize = 128 << 10;

/// How long the server may take to answer somebody who only tries, if nothing is said.
const TRY_SECONDS: f64 = 10.0;

/// What a program asks for. Fields that are not known are ignored.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Request {
    /// Make a claim, and keep it until it is released.
    Claim(Terms),
    /// Give a claim back, or leave the queue.
    Release {
        /// The program's name for it.
        claim: String,
    },
    /// Renew now.
    Refresh {
        /// The program's name for it.
        claim: String,
        /// From now on with this ttl, in seconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        ttl: Option<f64>,
        /// Comes back with the answer.
        #[serde(skip_serializing_if = "Json::is_null")]
        id: Json,
    },
    /// Is it held, and for how long is that certain?
    Validate {
        /// The program's name for it.
        claim: String,
        /// Comes back with the answer.
        #[serde(skip_serializing_if = "Json::is_null")]
        id: Json,
    },
    /// What is there?
    List {
        /// Comes back with the answer.
        #[serde(skip_serializing_if = "Json::is_null")]
        id: Json,
    },
    /// Are you there?
    Ping {
        /// Comes back with the answer.
        #[serde(skip_serializing_if = "Json::is_null")]
        id: Json,
    },
    /// Give everything back, and end.
    Shutdown,
}

/// What is wanted of a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// The program's own name for it, by which it is spoken of from here on.
    pub claim: String,
    /// What is wanted, all or nothing.
    #[serde(default)]
    pub resources: Vec<String>,
    /// The same for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// How long the lease lasts without renewal, in seconds.
    #[serde(default = "minute")]
    pub ttl: f64,
    /// How long it may take until it is held, in seconds. For ever if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Do not wait for others.
    #[serde(default, rename = "try")]
    pub tries: bool,
    /// Together with any number of others that share.
    #[serde(default)]
    pub shared: bool,
    /// Together with others, so many in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// What others may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// The secret that makes it one's own; a new one is made if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// A claim under this key may be there already, made through a keychain that is gone.
    #[serde(default)]
    pub adopt: bool,
}

impl Request {
    /// Reads a line. What is to be done is read first and the rest after it: together, numbers would
    /// not come through as they were sent.
    pub fn parse(line: &[u8]) -> serde_json::Result<Self> {
        // A list of the fields' values would do for serde.
        if line.trim_ascii_start().first() != Some(&b'{') {
            return Err(serde::de::Error::custom("a JSON object is required"));
        }
        Ok(match serde_json::from_slice::<Wanted>(line)?.what {
            What::Claim => Self::Claim(serde_json::from_slice(line)?),
            What::Release => Self::Release { claim: serde_json::from_slice::<About>(line)?.claim },
            What::Refresh => {
                let Refresh { claim, ttl, id } = serde_json::from_slice(line)?;
                Self::Refresh { claim, ttl, id }
            }
            What::Validate => {
                let About { claim, id } = serde_json::from_slice(line)?;
                Self::Validate { claim, id }
            }
            What::List => Self::List { id: serde_json::from_slice::<Question>(line)?.id },
            What::Ping => Self::Ping { id: serde_json::from_slice::<Question>(line)?.id },
            What::Shutdown => Self::Shutdown,
        })
    }
}

#[derive(Deserialize)]
struct Wanted {
    #[serde(rename = "do")]
    what: What,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum What {
    Claim,
    Release,
    Refresh,
    Validate,
    List,
    Ping,
    Shutdown,
}

#[derive(Deserialize)]
struct About {
    claim: String,
    #[serde(default)]
    id: Json,
}

#[derive(Deserialize)]
struct Refresh {
    claim: String,
    ttl: Option<f64>,
    #[serde(default)]
    id: Json,
}

#[derive(Deserialize)]
struct Question {
    #[serde(default)]
    id: Json,
}

fn minute() -> f64 {
    60.0
}

impl Terms {
    /// What a driver is to pursue, or in words why that cannot be.
    pub fn wish(&self) -> Result<Wish, String> {
        let names = self.resource.iter().chain(&self.resources).map(|name| Name::new(name));
        let names: Vec<Name> = names.collect::<Result<_, _>>().map_err(words)?;
        let resources = Resources::try_from(names).map_err(words)?;
        let mut wish = Wish::new(resources, Ttl::from_secs_f64(self.ttl).map_err(words)?);
        wish.limit = match (self.shared, self.limit) {
            (true, Some(_)) => return Err("say either \"shared\" or \"limit\"".to_owned()),
            (true, None) => Limit::SHARED,
            (false, Some(count)) => Limit::at_most(count).map_err(words)?,
            (false, None) => Limit::EXCLUSIVE,
        };
        let data = self.data.as_ref().map(|data| wish::data(data.as_str()));
        wish.data = data.transpose().map_err(words)?;
        wish.patience = match (self.tries, self.timeout) {
            (true, timeout) => Patience::Try(span(timeout.unwrap_or(TRY_SECONDS))?),
            (false, Some(timeout)) => Patience::For(span(timeout)?),
            (false, None) => Patience::Forever,
        };
        if let Some(key) = &self.key {
            let wrong =
                "this is no key: give 22 to 128 letters, digits, - or _, as random as can be";
            wish.key = Key::parse(key).ok_or(wrong)?;
            wish.adopts = self.adopt;
        } else if self.adopt {
            return Err("to adopt a claim, say its \"key\"".to_owned());
        }
        Ok(wish)
    }
}

fn words(refusal: impl std::fmt::Display) -> String {
    refusal.to_string()
}

fn span(seconds: f64) -> Result<Span, String> {
    if seconds.is_nan() || seconds < 0.0 {
        return Err(format!("a timeout of {seconds} is none: give seconds, 0 or more"));
    }
    Ok(Span::from_micros((seconds * 1e6) as u64))
}

#[cfg(test)]
mod tests {
    use super::Request;

    /// Found by the fuzzer: 0.1 came with one digit more or less than it was sent with.
    #[test]
    fn numbers_in_data_and_ids_are_kept_to_their_last_digit() {
        for number in ["7.0", "5e-324", "0.30000000000000004", "123456789012345678901234567890"] {
            let claim = format!(r#"{{"do":"claim","claim":"a","resource":"r","data":[{number}]}}"#);
            let Ok(Request::Claim(terms)) = Request::parse(claim.as_bytes()) else { panic!() };
            let data = terms.wish().expect("it is possible").data.expect("it was said");
            assert_eq!(data.as_str(), format!("[{number}]"));
            let ping = format!(r#"{{"do":"ping","id":{number}}}"#);
            let read = Request::parse(ping.as_bytes()).expect("it is a request");
            assert_eq!(serde_json::to_string(&read).expect("it can be written"), ping);
        }
    }

    #[test]
    fn what_is_no_request_is_told_why() {
        let table = [
            (r#"{"do":"sing"}"#, "unknown variant `sing`"),
            (r#"{"claim":"a"}"#, "missing field `do`"),
            (r#"{"do":"release"}"#, "missing field `claim`"),
            (r#"{"do":"claim","claim":"a","ttl":"long"}"#, "invalid type"),
            (r#"["ping"]"#, "a JSON object is required"),
        ];
        for (line, why) in table {
            let error = Request::parse(line.as_bytes()).expect_err(line).to_string();
            assert!(error.contains(why), "{line}: {error}");
        }
        // What is not asked for is not looked at.
        assert!(Request::parse(br#"{"do":"ping","claim":7,"ttl":"long"}"#).is_ok());
    }
}
