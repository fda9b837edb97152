//! The opening tags of a text, for a look at a fragment whose surroundings are not known.

use crate::scan::{Inner, Scanner, Token};

/// The tag that opens an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag<'s> {
    /// Name with prefix.
    pub name: &'s str,
    /// Names with prefix and values as in the source; declarations of namespaces are among them.
    pub attributes: Vec<(&'s str, &'s str)>,
}

impl<'s> Tag<'s> {
    /// The value, as in the source, of the attribute of this name with its prefix.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&'s str> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, raw)| *raw)
    }
}

/// The opening tags of a text in order, up to its end or to what is no markup.
pub fn tags(source: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut scanner = Scanner::new(source);
    std::iter::from_fn(move || {
        loop {
            match scanner.token().ok()? {
                Token::Open(name) => return tag(name, &mut scanner),
                Token::End => return None,
                Token::Text(_) | Token::Close(_) | Token::Data | Token::Aside | Token::Declaration => {}
                // Only its beginning has been looked at.
                Token::DocumentType => return None,
            }
        }
    })
}

fn tag<'s>(name: &'s str, scanner: &mut Scanner<'s>) -> Option<Tag<'s>> {
    let mut attributes = Vec::new();
    loop {
        match scanner.inner().ok()? {
            Inner::Attribute(name, raw) => attributes.push((name, raw)),
            Inner::Content | Inner::Empty => return Some(Tag { name, attributes }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_up_to_what_is_none() {
        let source = "<!-- <n/> --><p:a x='1' p:y=\"2\">t<b/></p:a><c d>";
        let found: Vec<Tag> = tags(source).collect();
        assert_eq!(found.iter().map(|tag| tag.name).collect::<Vec<_>>(), ["p:a", "b"]);
        assert_eq!(found[0].attribute("p:y"), Some("2"));
        assert_eq!(found[0].attribute("y"), None);
    }
}
