//! Where parameters come from: the JSON body, the query and the form, in that order of weight.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::problem::Problem;

/// What a body is, by its content type. Anything else is not looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// `application/json`, with or without parameters.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// Something else, or nothing.
    Other,
}

impl Media {
    /// From the value of the `Content-Type` header.
    pub fn of(content_type: Option<&str>) -> Self {
        let kind = content_type.unwrap_or("").split(';').next().unwrap_or("").trim();
        if kind.eq_ignore_ascii_case("application/json") {
            Self::Json
        } else if kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            Self::Form
        } else {
            Self::Other
        }
    }
}

/// One parameter as it came.
#[derive(Debug, Clone)]
pub enum Field<'a> {
    /// From the JSON body.
    Json(&'a RawValue),
    /// From the query or the form.
    Text(Cow<'a, str>),
}

impl Field<'_> {
    /// Whether it says that there is nothing.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Json(raw) if raw.get() == "null")
    }
}

/// The parameters of a request.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    json: Vec<(Cow<'a, str>, &'a RawValue)>,
    text: Vec<Pair<'a>>,
}

/// A name and its value.
type Pair<'a> = (Cow<'a, str>, Cow<'a, str>);

impl<'a> Fields<'a> {
    /// Reads body and query. A body that is JSON, but not an object, has no parameters.
    pub fn parse(media: Media, body: &'a [u8], query: &'a str) -> Result<Self, Problem> {
        let mut fields = Self { json: Vec::new(), text: pairs(query)? };
        match media {
            Media::Json if body.trim_ascii().is_empty() => {}
            Media::Json => {
                let read: Object<'a> = serde_json::from_slice(body).map_err(not_json)?;
                fields.json = read.0;
            }
            Media::Form => {
                let form = core::str::from_utf8(body).map_err(|_| not_utf8("the form"))?;
                fields.text.extend(pairs(form)?);
            }
            Media::Other => {}
        }
        Ok(fields)
    }

    /// The parameter of this name: JSON before query before form; of several in JSON the last, as
    /// Python reads it, of several in the query the first.
    pub fn get(&self, name: &str) -> Option<Field<'_>> {
        if let Some((_, raw)) = self.json.iter().rev().find(|(known, _)| known == name) {
            return Some(Field::Json(raw));
        }
        self.text(name).map(|text| Field::Text(Cow::Borrowed(text)))
    }

    /// The first of this name in query or form.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.text.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// All of this name in query and form.
    pub fn all<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b str> {
        self.text.iter().filter(move |(known, _)| known == name).map(|(_, value)| &**value)
    }
}

fn not_json(error: serde_json::Error) -> Problem {
    Problem::new(400, "The body is not JSON", alloc::format!("{error}: send a JSON object"))
}

fn not_utf8(what: &str) -> Problem {
    Problem::new(400, "Not UTF-8", alloc::format!("{what} has bytes that are not UTF-8"))
}

/// The pairs of a query or form.
fn pairs(text: &str) -> Result<Vec<Pair<'_>>, Problem> {
    let pieces = text.split('&').filter(|piece| !piece.is_empty());
    pieces
        .map(|piece| {
            let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
            Ok((decode(name)?, decode(value)?))
        })
        .collect()
}

/// Undoes `+` and `%41`.
fn decode(text: &str) -> Result<Cow<'_, str>, Problem> {
    if !text.contains(['%', '+']) {
        return Ok(Cow::Borrowed(text));
    }
    let digit = |at: usize| text.as_bytes().get(at).and_then(|&c| char::from(c).to_digit(16));
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                at += 2;
            }
            (b'+', ..) => bytes.push(b' '),
            _ => bytes.push(byte),
        }
        at += 1;
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| not_utf8("a parameter"))
}

/// A JSON object whose values are not looked into yet.
struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadObject)
    }
}

struct ReadObject;

impl<'de> Visitor<'de> for ReadObject {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some((Text(name), value)) = map.next_entry::<Text<'de>, &RawValue>()? {
            fields.push((name, value));
        }
        Ok(Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Object<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Object(Vec::new()))
    }

    fn visit_str<E>(self, _: &str) -> Result<Object<'de>, E> {
        Ok(Object(Vec::new()))
    }
    fn visit_unit<E>(self) -> Result<Object<'de>, E> {
        Ok(Object(Vec::new()))
    }
    fn visit_bool<E>(self, _: bool) -> Result<Object<'de>, E> {
        Ok(Object(Vec::new()))
    }
    fn visit_u64<E>(self, _: u64) -> Result<Object<'de>, E> {
        Ok(Object(Vec::new()))
    }
    fn visit_i64<E>(self, _: i64) -> Result<Object<'de>, E> {
        Ok(Object(Vec::new()))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Object<'de>, E> {
        Ok(Object(Vec::new()))
    }
}

/// A name, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
