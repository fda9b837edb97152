//! Documents in a form in which they compare; the test programs of the crates of BPMN and CMMN share this file.

use quick_xml::NsReader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;
use quick_xml::name::{LocalName, Namespace, ResolveResult};

/// A document as one line for each tag, text, comment and instruction, indentation left out.
pub(crate) fn lines(source: &str) -> Vec<String> {
    let mut reader = NsReader::from_str(source);
    reader.config_mut().expand_empty_elements = true;
    let mut found = Vec::new();
    let mut text = String::new();
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Text(part) => text.push_str(&part.xml10_content()),
            Event::CData(part) => text.push_str(&part.xml10_content()),
            Event::GeneralRef(part) => text.push_str(&unescape(&format!("&{};", &**part)).unwrap()),
            _ if !text.trim().is_empty() => found.push(format!("text {:?}", text.trim())),
            _ => {}
        }
        match event {
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => continue,
            Event::Start(tag) => {
                let name = expanded(reader.resolver().resolve_element(tag.name()));
                let mut attributes: Vec<String> = Vec::new();
                for attribute in tag.attributes().map(Result::unwrap) {
                    if attribute.key.as_namespace_binding().is_none() {
                        let key = expanded(reader.resolver().resolve_attribute(attribute.key));
                        let spaced = attribute.value.replace(['\n', '\t'], " ");
                        attributes.push(format!("{key}={:?}", unescape(&spaced).unwrap()));
                    }
                }
                attributes.sort();
                found.push(format!("<{name} {}", attributes.join(" ")));
            }
            Event::End(_) => found.push("end".to_owned()),
            Event::Comment(part) => found.push(format!("comment {:?}", &*part)),
            Event::PI(part) => found.push(format!("instruction {:?}", &*part)),
            Event::Eof => return found,
            Event::Decl(_) | Event::DocType(_) | Event::Empty(_) => {}
        }
        text.clear();
    }
}

fn expanded((ns, local): (ResolveResult<'_>, LocalName<'_>)) -> String {
    match ns {
        ResolveResult::Bound(Namespace(ns)) => format!("{{{ns}}}{}", local.into_inner()),
        _ => local.into_inner().to_owned(),
    }
}
