//! Answers in XML, as another reader than ours reads them.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// Reads it to its end, and gives every value of this attribute, in order.
pub(crate) fn attributes(text: &str, name: &str) -> Vec<String> {
    let mut reader = Reader::from_str(text);
    let (mut depth, mut found) = (0_usize, Vec::new());
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {text}")) {
            Event::Start(start) => {
                depth += 1;
                found.extend(attribute(&start, name));
            }
            Event::Empty(start) => found.extend(attribute(&start, name)),
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
    assert_eq!(depth, 0, "{text}");
    found
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let all: Result<Vec<_>, _> = start.attributes().collect();
    let all = all.expect("attributes are well-formed");
    let one = all.iter().find(|attribute| attribute.key.as_ref() == name.as_bytes())?;
    Some(one.normalized_value(XmlVersion::Explicit1_0).expect("it can be read").into_owned())
}
