//! A call: a method and its arguments, as the client sends them.

use std::collections::BTreeMap;

use super::refusal::No;
use super::xml::Element;

/// The attributes of a service, by name.
pub(super) type Attributes = BTreeMap<String, String>;

/// A call that could be read.
#[derive(Debug)]
pub(super) struct Call(Element);

impl Call {
    /// Reads the call of a method.
    pub(super) fn read(method: &str, body: &[u8]) -> Result<Self, No> {
        let root = Element::read(body).map_err(|why| No::unreadable(&why))?;
        match root.name == method {
            true => Ok(Self(root)),
            false => {
                let why = format!("it is called {:?}, and was sent to {method}", root.name);
                Err(No::unreadable(&why))
            }
        }
    }

    /// The text of an argument; empty if it is not there.
    pub(super) fn text(&self, argument: &str) -> &str {
        self.0.child(argument).map_or("", |argument| &argument.text)
    }

    /// The text of an argument that has to be there.
    pub(super) fn needed(&self, argument: &str) -> Result<&str, No> {
        match self.text(argument) {
            "" => Err(No::missing(argument)),
            text => Ok(text),
        }
    }

    /// A whole number; 0 if it is not there.
    pub(super) fn number(&self, argument: &str) -> Result<u64, No> {
        match self.text(argument).trim() {
            "" => Ok(0),
            digits => digits.parse().map_err(|_| {
                No::because(format!("The argument {argument} should be a whole number"))
            }),
        }
    }

    /// A list of texts. Some drivers send one text where a list is meant.
    pub(super) fn list(&self, argument: &str) -> Vec<&str> {
        let Some(argument) = self.0.child(argument) else { return Vec::new() };
        match argument.children.as_slice() {
            [] if argument.text.trim().is_empty() => Vec::new(),
            [] => vec![&argument.text],
            several => several.iter().map(|one| one.text.as_str()).collect(),
        }
    }

    /// Names with values. A name that is said twice has the last of its values.
    pub(super) fn attributes(&self, argument: &str) -> Result<Attributes, No> {
        let Some(list) = self.0.child(argument) else { return Ok(Attributes::new()) };
        if list.children.is_empty() && !list.text.trim().is_empty() {
            let said = format!("The argument {argument} should be a list of names and values");
            return Err(No::because(said));
        }
        let pairs = list.children.iter().map(|pair| {
            let text = |name| pair.child(name).map_or("", |field| field.text.as_str());
            match text("Name") {
                "" => Err(No::missing("Name of an attribute")),
                name => Ok((name.to_owned(), text("Value").to_owned())),
            }
        });
        pairs.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found_in_every_form_that_clients_send() {
        let body = b"<Add><id>7</id><services><string>a</string><string>b</string></services>\
            <bare>MUTEX</bare><none /><attributes><AttributeNameValue><Name>Mutex Owner</Name>\
            <Value>me</Value></AttributeNameValue><AttributeNameValue><Name>n</Name>\
            </AttributeNameValue></attributes></Add>";
        let call = Call::read("Add", body).expect("a call");
        assert_eq!((call.needed("id"), call.number("id")), (Ok("7"), Ok(7)));
        assert_eq!(call.list("services"), ["a", "b"]);
        assert_eq!(call.list("bare"), ["MUTEX"]);
        assert!(call.list("none").is_empty() && call.list("absent").is_empty());
        let attributes = call.attributes("attributes").expect("attributes");
        assert_eq!(attributes["Mutex Owner"], "me");
        assert_eq!(attributes["n"], "");
        assert!(call.attributes("bare").is_err());
        assert!(call.needed("none").is_err() && call.number("bare").is_err());
        assert!(Call::read("Remove", body).is_err());
    }
}
