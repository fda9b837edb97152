//! Tags, comments and text of a document that is text already, in order: what [`crate::Document`] is built from.
//!
//! A reader of events checks the encoding of each again, copies the names of open elements, and reads the attributes
//! in a second pass, which takes three times as long as all this.

/// Token at a place, and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    /// Text up to the next markup or the end, and whether there are references in it.
    Text(bool),
    /// A tag that opens an element of that name; its attributes come next.
    Open(&'s str),
    /// A tag that closes an element of that name.
    Close(&'s str),
    /// `<![CDATA[ ... ]]>`
    Data,
    /// A comment, or an instruction other than the declaration of XML.
    Aside,
    /// The declaration of XML.
    Declaration,
    /// A document type declaration, of which only the beginning was looked at.
    DocumentType,
    /// The end of the document.
    End,
}

/// Next token within a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inner<'s> {
    /// An attribute: its name and its value as it stands.
    Attribute(&'s str, &'s str),
    /// The tag's end; the element has content.
    Content,
    /// The tag's end; the element is empty.
    Empty,
}

/// Reads a document from its begin to its end. Errors are sentences for people.
pub(crate) struct Scanner<'s> {
    source: &'s str,
    /// Up to where it has been read.
    pub at: usize,
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl<'s> Scanner<'s> {
    pub(crate) const fn new(source: &'s str) -> Self {
        Self { source, at: 0 }
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn byte(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    /// Goes on behind the next occurrence of the text.
    fn behind(&mut self, text: &str) -> Option<()> {
        self.at += self.rest().find(text)? + text.len();
        Some(())
    }

    fn spaces(&mut self) {
        while self.byte().is_some_and(is_space) {
            self.at += 1;
        }
    }

    /// A name, up to white space or what is never part of one. It may be empty.
    fn name(&mut self) -> &'s str {
        let from = self.at;
        let ends =
            |byte: u8| is_space(byte) || matches!(byte, b'/' | b'>' | b'=' | b'<' | b'"' | b'\'' | b'&');
        while self.byte().is_some_and(|byte| !ends(byte)) {
            self.at += 1;
        }
        self.source.get(from..self.at).unwrap_or_default()
    }

    /// Next token outside of tags.
    pub(crate) fn token(&mut self) -> Result<Token<'s>, &'static str> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        if bytes.first() != Some(&b'<') {
            let first = memchr::memchr2(b'<', b'&', bytes).unwrap_or(rest.len());
            let refers = bytes.get(first) == Some(&b'&');
            let after = bytes.get(first..).filter(|_| refers);
            let end = after.map_or(first, |after| first + memchr::memchr(b'<', after).unwrap_or(after.len()));
            self.at += end;
            return Ok(if rest.is_empty() { Token::End } else { Token::Text(refers) });
        }
        self.at += 1;
        match bytes.get(1) {
            Some(b'/') => self.close(),
            Some(b'!') if rest.starts_with("<!--") => {
                self.at += 3;
                self.behind("-->").ok_or("A comment has no end")?;
                Ok(Token::Aside)
            }
            Some(b'!') if rest.starts_with("<![CDATA[") => {
                self.behind("]]>").ok_or("A section of character data has no end")?;
                Ok(Token::Data)
            }
            Some(b'!') if matches!(bytes.get(2), Some(b'D' | b'd')) => Ok(Token::DocumentType),
            Some(b'!') => Err("This markup is not known"),
            Some(b'?') => {
                self.behind("?>").ok_or("An instruction has no end")?;
                let declares = rest.starts_with("<?xml")
                    && bytes.get(5).is_some_and(|&byte| is_space(byte) || byte == b'?');
                Ok(if declares { Token::Declaration } else { Token::Aside })
            }
            _ => match self.name() {
                "" => Err("A tag has no name"),
                name => Ok(Token::Open(name)),
            },
        }
    }

    fn close(&mut self) -> Result<Token<'s>, &'static str> {
        self.at += 1;
        let name = self.name();
        self.spaces();
        if self.byte() != Some(b'>') {
            return Err("A closing tag has no end");
        }
        self.at += 1;
        Ok(Token::Close(name))
    }

    /// Next token within a tag that has been opened.
    pub(crate) fn inner(&mut self) -> Result<Inner<'s>, &'static str> {
        self.spaces();
        match self.byte() {
            Some(b'>') => {
                self.at += 1;
                return Ok(Inner::Content);
            }
            Some(b'/') if self.rest().starts_with("/>") => {
                self.at += 2;
                return Ok(Inner::Empty);
            }
            _ => {}
        }
        let name = self.name();
        if name.is_empty() {
            return Err("A tag has no end, or an attribute no name");
        }
        self.spaces();
        if self.byte() != Some(b'=') {
            return Err("An attribute has no value");
        }
        self.at += 1;
        self.spaces();
        let quote = self
            .byte()
            .filter(|byte| matches!(byte, b'"' | b'\''))
            .ok_or("A value of an attribute has no quotes")?;
        let from = self.at + 1;
        let value = self.source.get(from..).unwrap_or_default();
        // Most values are too short for a search by blocks to pay.
        let length =
            value.bytes().position(|byte| byte == quote).ok_or("A value of an attribute has no end")?;
        self.at = from + length + 1;
        Ok(Inner::Attribute(name, value.get(..length).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Result<Vec<String>, &'static str> {
        let mut scanner = Scanner::new(source);
        let mut found = Vec::new();
        loop {
            match scanner.token()? {
                Token::End => return Ok(found),
                Token::Open(name) => {
                    let mut tag = name.to_owned();
                    loop {
                        match scanner.inner()? {
                            Inner::Attribute(name, value) => tag += &format!(" {name}={value}"),
                            Inner::Content => break found.push(tag),
                            Inner::Empty => break found.push(tag + "/"),
                        }
                    }
                }
                other => found.push(format!("{other:?}")),
            }
        }
    }

    #[test]
    fn tags_and_text() {
        let source = "<?xml version='1.0'?>\n<a b = \"1>2\"\n c='\"'><!-- <x> --><d/><e f=''/>t&amp;t<![CDATA[<y>]]></a ><?pi?>";
        let wanted = [
            "Declaration",
            "Text(false)",
            "a b=1>2 c=\"",
            "Aside",
            "d/",
            "e f=/",
            "Text(true)",
            "Data",
            "Close(\"a\")",
            "Aside",
        ];
        assert_eq!(tokens(source), Ok(wanted.map(str::to_owned).to_vec()));
    }

    #[test]
    fn what_is_no_markup() {
        for source in [
            "<",
            "<>",
            "< a>",
            "<a",
            "<a ",
            "<a b",
            "<a b>",
            "<a b=>",
            "<a b=1>",
            "<a b='1>",
            "<a/b>",
            "<a<b>",
            "</a",
            "</a b>",
            "<!-->",
            "<!-- ",
            "<![CDATA[ ]]",
            "<!ELEMENT a>",
            "<?a>",
            "<a b='1'&c=''>",
            "<a =''/>",
        ] {
            assert!(tokens(source).is_err(), "{source}");
        }
    }
}
