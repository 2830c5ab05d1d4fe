//! The XML of a call, read within bounds.
//!
//! Nothing is looked up and nothing is expanded: a document that declares a type or an entity of
//! its own is refused before anything is read of it. How much there is to read is bounded by the
//! body.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

/// A call is a method, its arguments, a list in one of them, an object in it, and its fields.
const DEPTH_MAX: usize = 16;
/// The most elements of a call.
const ELEMENTS_MAX: usize = 4_096;

/// An element: a name, and children or a text. No call says anything in attributes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) children: Vec<Element>,
    pub(super) text: String,
}

impl Element {
    /// The child of that name.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// Reads a document, or says in a few words what is wrong with it.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not in UTF-8".to_owned())?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader::from_str(text);
        let mut open: Vec<Self> = Vec::new();
        let mut whole = None;
        let mut elements = 0;
        loop {
            let event = reader.read_event().map_err(|error| error.to_string())?;
            let closed = match event {
                Event::Start(start) => {
                    opened(&mut open, &mut elements, whole.is_some(), start.local_name().as_ref())?;
                    None
                }
                Event::Empty(start) => {
                    opened(&mut open, &mut elements, whole.is_some(), start.local_name().as_ref())?;
                    open.pop()
                }
                Event::End(_) => open.pop(),
                Event::Text(part) => {
                    say(&mut open, &part.decode().map_err(|error| error.to_string())?)?;
                    None
                }
                Event::CData(part) => {
                    say(&mut open, &part.decode().map_err(|error| error.to_string())?)?;
                    None
                }
                Event::GeneralRef(reference) => {
                    say(&mut open, &resolved(&reference)?)?;
                    None
                }
                Event::Decl(declaration) => {
                    check_encoding(declaration.encoding())?;
                    None
                }
                Event::DocType(_) => return Err("it declares a document type".into()),
                Event::PI(_) | Event::Comment(_) => None,
                Event::Eof => break,
            };
            match (closed, open.last_mut()) {
                (Some(closed), Some(parent)) => parent.children.push(closed),
                (Some(closed), None) => whole = Some(closed),
                (None, _) => {}
            }
        }
        match (open.is_empty(), whole) {
            (true, Some(whole)) => Ok(whole),
            _ => Err("it ends too early".into()),
        }
    }
}

fn opened(
    open: &mut Vec<Element>,
    elements: &mut usize,
    is_over: bool,
    name: &[u8],
) -> Result<(), String> {
    *elements += 1;
    if open.len() >= DEPTH_MAX {
        return Err(format!("it is more than {DEPTH_MAX} elements deep"));
    }
    if *elements > ELEMENTS_MAX {
        return Err(format!("it has more than {ELEMENTS_MAX} elements"));
    }
    if open.is_empty() && is_over {
        return Err("something follows its end".into());
    }
    let name = std::str::from_utf8(name).map_err(|error| error.to_string())?.to_owned();
    open.push(Element { name, ..Element::default() });
    Ok(())
}

fn say(open: &mut [Element], text: &str) -> Result<(), String> {
    match open.last_mut() {
        Some(element) => element.text += text,
        None if text.trim().is_empty() => {}
        None => return Err("it has text outside of its elements".into()),
    }
    Ok(())
}

fn resolved(reference: &BytesRef<'_>) -> Result<String, String> {
    if let Some(letter) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(letter.into());
    }
    let name = reference.decode().map_err(|error| error.to_string())?;
    resolve_predefined_entity(&name).map(Into::into).ok_or("it uses an entity of its own".into())
}

fn check_encoding(
    said: Option<Result<std::borrow::Cow<'_, [u8]>, quick_xml::events::attributes::AttrError>>,
) -> Result<(), String> {
    let said = said.transpose().map_err(|error| error.to_string())?;
    let is_known = said.is_none_or(|said| {
        said.eq_ignore_ascii_case(b"utf-8") || said.eq_ignore_ascii_case(b"us-ascii")
    });
    if is_known { Ok(()) } else { Err("it says that it is not in UTF-8".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_is_read_as_the_client_writes_it() {
        let call =
            b"<Add><id>1</id><alias>&#228;&lt;&amp;x</alias><none /><list><string>a</string>\
            <string>b</string></list></Add>";
        let call = Element::read(call).expect("XML");
        assert_eq!(call.name, "Add");
        assert_eq!(call.child("alias").expect("it is there").text, "\u{e4}<&x");
        assert_eq!(call.child("none").expect("it is there").text, "");
        let list: Vec<_> = call.child("list").expect("it is there").children.iter().collect();
        assert_eq!((list[0].text.as_str(), list[1].text.as_str()), ("a", "b"));
    }

    #[test]
    fn what_is_not_a_call_is_refused_at_bounded_cost() {
        let laughs = r#"<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><r>&b;</r>"#;
        let outside = r#"<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>"#;
        let deep = "<a>".repeat(100_000);
        let wide = format!("<r>{}</r>", "<a/>".repeat(5_000));
        let utf16: Vec<u8> =
            "\u{feff}<r/>".encode_utf16().flat_map(|unit| unit.to_le_bytes()).collect();
        let texts = [
            "",
            "no",
            "<r>",
            "<r></s>",
            "<r/><s/>",
            "<r/>more",
            "<r>&mine;</r>",
            "<r>&#0;</r>",
            "<r>&#xD800;</r>",
            "<r",
            "</r>",
            "<r></r></r>",
            "<r><![CDATA[</r>",
            r#"<?xml version="1.0" encoding="utf-16"?><r/>"#,
            laughs,
            outside,
            &deep,
            &wide,
        ];
        for text in texts {
            assert!(Element::read(text.as_bytes()).is_err(), "{}", &text[..text.len().min(80)]);
        }
        assert!(Element::read(&utf16).is_err());
        assert!(Element::read(b"<r>\xff</r>").is_err());
    }
}
