//! Answers as the client reads them: one `Response`, in UTF-8, with the namespace in exactly these
//! words, because the client removes it by its text.

use std::borrow::Cow;

use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use quick_xml::Writer;
use quick_xml::escape::escape;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use quick_xml::name::QName;

use super::refusal::No;
use crate::answer::Answer;
use crate::body::Body;

const NAMESPACES: [(&str, &str); 3] = [
    ("xmlns", "http://schemas.qualisystems.com/ResourceManagement/ApiCommandResult.xsd"),
    ("xmlns:xsd", "http://www.w3.org/2001/XMLSchema"),
    ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
];

/// An element to be written: attributes, then children or a text.
#[derive(Debug, Default)]
pub(super) struct Node {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
    text: String,
}

impl Node {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    pub(super) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    pub(super) fn with(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    pub(super) fn with_all(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    fn saying(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, text: text.into(), ..Self::default() }
    }

    fn write(&self, out: &mut Writer<Vec<u8>>) {
        let mut start = BytesStart::new(self.name);
        for (name, value) in &self.attributes {
            start.push_attribute(attribute(name, value));
        }
        let empty = self.children.is_empty() && self.text.is_empty();
        let mut event = |event| out.write_event(event).expect("a vector takes everything");
        if empty {
            return event(Event::Empty(start));
        }
        event(Event::Start(start));
        event(Event::Text(BytesText::new(&sayable(&self.text))));
        self.children.iter().for_each(|child| child.write(out));
        let end = Event::End(BytesEnd::new(self.name));
        out.write_event(end).expect("a vector takes everything");
    }
}

/// What a call is told: the class that the client makes of it, and what is in it. Most calls are
/// told nothing but that they were carried out.
pub(super) type Told = Option<(&'static str, Vec<Node>)>;

/// The whole answer to a call.
pub(super) fn response(call: &str, told: Result<Told, No>) -> Answer {
    let mut root = Node::new("Response").set("CommandName", call);
    root = root.set("Success", if told.is_ok() { "true" } else { "false" });
    for (name, value) in NAMESPACES {
        root = root.set(name, value);
    }
    let (status, root) = match told {
        Ok(told) => {
            let root = root.with(Node::saying("ErrorCode", "0"));
            let info = told.map(|(kind, nodes)| {
                Node::new("ResponseInfo").set("xsi:type", kind).with_all(nodes)
            });
            (StatusCode::OK, root.with_all(info))
        }
        Err(no) => {
            let root = root.with(Node::saying("Error", no.text));
            (no.status, root.with(Node::saying("ErrorCode", no.code.to_string())))
        }
    };
    let mut out = Writer::new(Vec::new());
    let declaration = Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None));
    out.write_event(declaration).expect("a vector takes everything");
    root.write(&mut out);
    let mut answer = Response::new(Body::Whole(Bytes::from(out.into_inner())));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/xml; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// A reader takes line breaks in an attribute for blanks, unless they are written as numbers: what
/// an owner called itself has to come back exactly.
fn attribute(name: &'static str, value: &str) -> Attribute<'static> {
    let mut value = escape(sayable(value)).into_owned();
    for (character, number) in [('\t', "&#9;"), ('\n', "&#10;"), ('\r', "&#13;")] {
        if value.contains(character) {
            value = value.replace(character, number);
        }
    }
    Attribute { key: QName(name.as_bytes()), value: value.into_bytes().into() }
}

/// XML has no way to say most control characters.
fn sayable(text: &str) -> Cow<'_, str> {
    // Nearly every text is as plain as this.
    if text.bytes().fold(true, |plain, byte| plain & (b' '..=b'~').contains(&byte)) {
        return text.into();
    }
    let sayable = |c: char| match c {
        '\t' | '\n' | '\r' => c,
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '?',
        c => c,
    };
    text.chars().map(sayable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(answer: Answer) -> String {
        let Body::Whole(bytes) = answer.into_body() else { panic!("a stream") };
        String::from_utf8(bytes.to_vec()).expect("UTF-8")
    }

    const HEAD: &str = r#"xmlns="http://schemas.qualisystems.com/ResourceManagement/ApiCommandResult.xsd" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#;

    #[test]
    fn answers_are_to_the_letter_what_the_client_expects() {
        let yes = text(response("Logoff", Ok(None)));
        let expected = format!(
            r#"<?xml version="1.0" encoding="utf-8"?><Response CommandName="Logoff" Success="true" {HEAD}><ErrorCode>0</ErrorCode></Response>"#
        );
        assert_eq!(yes, expected);
        let no = text(response("AddServiceToReservation", Err(No::alias_exists())));
        let expected = format!(
            r#"<?xml version="1.0" encoding="utf-8"?><Response CommandName="AddServiceToReservation" Success="false" {HEAD}><Error>Service with given alias already exists</Error><ErrorCode>100</ErrorCode></Response>"#
        );
        assert_eq!(no, expected);
    }

    #[test]
    fn whatever_clients_said_is_well_formed_when_it_comes_back() {
        let node = Node::new("Service").set("Alias", "\"<&'>\u{7}\u{0}\n\u{1f512}");
        let told = text(response("<x/>", Ok(Some(("Info", vec![node])))));
        assert!(told.contains("??&#10;\u{1f512}"), "{told}");
        super::super::xml::Element::read(told.as_bytes()).expect("well-formed");
    }
}
