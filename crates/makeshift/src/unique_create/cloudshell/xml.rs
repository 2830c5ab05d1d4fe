//! The little XML that the service speaks, in both directions.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Deeper than this is nothing that the service says.
const DEPTH_MAX: usize = 64;

/// An element: its attributes, its children, its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    text: String,
}

impl Element {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    pub(super) fn text(name: &str, text: &str) -> Self {
        Self { name: name.into(), text: text.into(), ..Self::default() }
    }

    pub(super) fn with(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    /// The first element of that name, however deep.
    pub(super) fn find(&self, name: &str) -> Option<&Self> {
        if self.name == name {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.find(name))
    }

    /// A value, which may be an attribute or the text of a child.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let attribute = self.attributes.iter().find(|(key, _)| key == name);
        let child = || self.children.iter().find(|child| child.name == name);
        attribute.map(|(_, value)| value.as_str()).or_else(|| Some(child()?.text.as_str()))
    }

    /// As the service wants it: plain ASCII, no declaration.
    pub(super) fn write(&self, out: &mut String) {
        *out += "<";
        *out += &self.name;
        if self.children.is_empty() && self.text.is_empty() {
            *out += " />";
            return;
        }
        *out += ">";
        escape(out, &self.text);
        for child in &self.children {
            child.write(out);
        }
        *out += "</";
        *out += &self.name;
        *out += ">";
    }

    /// Reads an answer. Nothing is looked up or expanded: a document that declares anything of its
    /// own is refused.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut reader = Reader::from_str(text);
        let mut open: Vec<Self> = Vec::new();
        loop {
            match reader.read_event().map_err(|error| error.to_string())? {
                Event::Start(start) => {
                    if open.len() >= DEPTH_MAX {
                        return Err("too deep".into());
                    }
                    open.push(opened(&start)?);
                }
                Event::Empty(start) => {
                    let element = opened(&start)?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => return Ok(element),
                    }
                }
                Event::End(_) => {
                    let closed = open.pop().ok_or("it ends before it begins")?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(closed),
                        None => return Ok(closed),
                    }
                }
                Event::Text(part) => {
                    let part = part.decode().map_err(|error| error.to_string())?;
                    if let Some(element) = open.last_mut() {
                        element.text += &part;
                    }
                }
                Event::CData(part) => {
                    let part = part.decode().map_err(|error| error.to_string())?;
                    if let Some(element) = open.last_mut() {
                        element.text += &part;
                    }
                }
                Event::GeneralRef(reference) => {
                    let name = reference.decode().map_err(|error| error.to_string())?;
                    let escaped = format!("&{name};");
                    let plain =
                        quick_xml::escape::unescape(&escaped).map_err(|error| error.to_string())?;
                    if let Some(element) = open.last_mut() {
                        element.text += &plain;
                    }
                }
                Event::DocType(_) => return Err("it declares a document type".into()),
                Event::Eof => return Err("it ends too early".into()),
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            }
        }
    }
}

fn opened(start: &BytesStart<'_>) -> Result<Element, String> {
    let name = start.local_name();
    let name = std::str::from_utf8(name.as_ref()).map_err(|error| error.to_string())?;
    let mut element = Element::new(name);
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let key = attribute.key.local_name();
        let key = std::str::from_utf8(key.as_ref()).map_err(|error| error.to_string())?.to_owned();
        let value = std::str::from_utf8(&attribute.value).map_err(|error| error.to_string())?;
        let value = quick_xml::escape::unescape(value).map_err(|error| error.to_string())?;
        element.attributes.push((key, value.into_owned()));
    }
    Ok(element)
}

fn escape(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '<' | '>' | '&' | '"' | '\'' => *out += &format!("&#{};", u32::from(letter)),
            // XML has no way to say most control characters.
            _ if letter.is_control() && !matches!(letter, '\t' | '\n') => *out += "?",
            _ if letter.is_ascii() => out.push(letter),
            _ => *out += &format!("&#{};", u32::from(letter)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Element;

    #[test]
    fn requests_are_plain_ascii() {
        let mut out = String::new();
        let call = Element::new("Add")
            .with(Element::text("alias", "Ä<&\u{1f512}\u{7}"))
            .with(Element::text("empty", ""));
        call.write(&mut out);
        assert_eq!(out, "<Add><alias>&#196;&#60;&#38;&#128274;?</alias><empty /></Add>");
        assert_eq!(Element::read(&out).expect("XML").field("alias"), Some("Ä<&\u{1f512}?"));
    }

    #[test]
    fn answers_are_read_by_local_names_with_fields_as_attributes_or_children() {
        let text = r#"<?xml version="1.0"?><r:Response xmlns="urn:x" xmlns:r="urn:y" Success="true">
            <Services><Service Alias="a &amp; b"><Name>n</Name></Service></Services></r:Response>"#;
        let answer = Element::read(text).expect("XML");
        assert_eq!(answer.field("Success"), Some("true"));
        let service = answer.find("Service").expect("a service");
        assert_eq!((service.field("Alias"), service.field("Name")), (Some("a & b"), Some("n")));
    }

    #[test]
    fn nothing_is_expanded_and_nonsense_is_refused() {
        let bomb = r#"<!DOCTYPE r [<!ENTITY a "aaaaaaaa">]><r>&a;</r>"#;
        for text in ["", "<r>", "<r></s>", "no", bomb, "<r>&undeclared;</r>", &"<a>".repeat(100)] {
            assert!(Element::read(text).is_err(), "{text}");
        }
    }
}
