//! JSON as it came. Whoever reads a number and writes it again may change it: a long one loses its
//! last digits, a large one becomes a fraction.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// Any JSON value, as it was said but for the blanks, and therefore on one line.
#[derive(Debug, Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Takes a JSON text.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Self(RawValue::from_string(without_blanks(raw.get()))?))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Whether it says that there is nothing.
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }
}

/// Blanks outside of texts mean nothing.
fn without_blanks(json: &str) -> String {
    let (mut in_text, mut escaped) = (false, false);
    let means_something = |c: &char| {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            _ => {}
        }
        in_text || !c.is_ascii_whitespace()
    };
    json.chars().filter(means_something).collect()
}

impl Default for Json {
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self(RawValue::from_string(number.to_string()).expect("a number is JSON"))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

/// Within an enum that is told by a field, values are read before it is known what for: not as they
/// came, but whoever reads them there made them, and knows them.
pub(super) fn read_within<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Json::parse(&value.to_string()).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn json_is_kept_as_it_came_but_for_blanks_between() {
        let table = [
            (" 0.10 ", "0.10"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("[ 1e5,\n\t-0 ]", "[1e5,-0]"),
            (r#"{ "a \" b\\" : "\n x" }"#, r#"{"a \" b\\":"\n x"}"#),
            ("null", "null"),
        ];
        for (said, kept) in table {
            assert_eq!(Json::parse(said).expect("it is JSON").as_str(), kept);
        }
        assert!(Json::parse("1 2").is_err() && Json::parse("").is_err());
        assert!(Json::default().is_null() && Json::from(7).as_str() == "7");
    }
}
