//! A document being written: counts characters, holds the limit, remembers parts.

use std::collections::BTreeMap;

use crate::document::{Attachment, Document, Heading, Markup, Part, PartKind};
use crate::error::{ExtractError, Limit};
use crate::kind::FileKind;
use crate::limits::Limits;
use crate::offsets::CharIndex;
use crate::structure::Structure;

/// Characters of what a file says of itself: longer values are cut.
const LONGEST_VALUE: usize = 1_000;

/// Bytes that tell the language.
const SAMPLE: usize = 16 << 10;

/// A document being written.
#[derive(Debug)]
pub(crate) struct Builder<'l> {
    pub(crate) limits: &'l Limits,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) attachments: Vec<Attachment>,
    metadata: BTreeMap<String, String>,
    text: String,
    characters: u64,
    parts: Vec<Part>,
    has_text: bool,
}

impl<'l> Builder<'l> {
    /// An empty document.
    pub(crate) const fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            title: None,
            language: None,
            warnings: Vec::new(),
            attachments: Vec::new(),
            metadata: BTreeMap::new(),
            text: String::new(),
            characters: 0,
            parts: Vec::new(),
            has_text: false,
        }
    }

    /// Adds text of the file.
    pub(crate) fn push(&mut self, text: &str) -> Result<(), ExtractError> {
        self.has_text |= text.chars().any(|letter| !letter.is_whitespace() && letter != '\0');
        self.frame(text)
    }

    /// Adds text that stands around the file's: it does not count as text of the file.
    pub(crate) fn frame(&mut self, text: &str) -> Result<(), ExtractError> {
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\0' => continue,
                '\r' if letters.peek() == Some(&'\n') => continue,
                '\r' => self.text.push('\n'),
                other => self.text.push(other),
            }
            self.characters += 1;
        }
        if self.characters > self.limits.characters {
            return Err(ExtractError::limit(Limit::Characters, self.limits.characters, self.characters));
        }
        Ok(())
    }

    /// Adds an empty line, where there is not one already, so that what follows is a block of its own.
    pub(crate) fn gap(&mut self) -> Result<(), ExtractError> {
        if self.text.is_empty() || self.text.ends_with("\n\n") {
            return Ok(());
        }
        let missing = if self.text.ends_with('\n') { "\n" } else { "\n\n" };
        self.frame(missing)
    }

    /// Adds a part, after a gap; one without text is left out, unless it has a name.
    pub(crate) fn part(
        &mut self,
        kind: PartKind,
        number: u32,
        name: Option<String>,
        text: &str,
    ) -> Result<(), ExtractError> {
        let text = text.trim();
        if text.is_empty() && name.is_none() {
            return Ok(());
        }
        self.gap()?;
        let start = self.characters;
        if let Some(name) = &name {
            self.frame(&format!("## {}\n\n", one_line(name)))?;
        }
        self.push(text)?;
        self.close(kind, number, name, start);
        Ok(())
    }

    /// Notes a part that began at a character and ends here.
    pub(crate) fn close(&mut self, kind: PartKind, number: u32, name: Option<String>, start: u64) {
        let (start_char, end_char) = (narrow(start), narrow(self.characters));
        self.parts.push(Part { kind, number, name, start_char, end_char });
    }

    /// Characters so far.
    pub(crate) const fn characters(&self) -> u64 {
        self.characters
    }

    /// Notes what the file says of itself; empty values are left out.
    pub(crate) fn note(&mut self, name: &str, value: Option<&str>) {
        let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else { return };
        let value: String = value.chars().filter(|letter| *letter != '\0').take(LONGEST_VALUE).collect();
        self.metadata.insert(name.to_owned(), value);
    }

    /// Notes the title, if it has one.
    pub(crate) fn titled(&mut self, title: Option<&str>) {
        let title = title.map(one_line).filter(|title| !title.is_empty());
        self.title = title.or(self.title.take());
    }

    /// The document.
    pub(crate) fn finish(mut self, kind: FileKind, markup: Markup) -> Result<Document, ExtractError> {
        if !self.has_text {
            return Err(ExtractError::NoText { hint: None });
        }
        let structure = Structure::of(&self.text, markup);
        let index = CharIndex::new(&self.text);
        let headings: Vec<Heading> = structure
            .headings
            .into_iter()
            .filter(|found| !found.text.is_empty())
            .map(|found| Heading {
                level: found.level,
                text: one_line(&found.text),
                start_char: narrow(index.at(found.range.start)),
            })
            .collect();
        if self.title.is_none() {
            self.title =
                headings.iter().min_by_key(|heading| heading.level).map(|heading| heading.text.clone());
        }
        Ok(Document {
            kind,
            markup,
            title: self.title,
            language: self.language.or_else(|| language(&self.text)),
            characters: self.characters,
            parts: self.parts,
            headings,
            metadata: self.metadata,
            attachments: self.attachments,
            warnings: self.warnings,
            text: self.text,
        })
    }
}

/// An offset of a text within the limit of characters.
fn narrow(offset: u64) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// A text on one line, at most [`LONGEST_VALUE`] characters.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if !word.is_empty() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    if let Some((end, _)) = line.char_indices().nth(LONGEST_VALUE) {
        line.truncate(end);
    }
    line
}

/// Language of a text, where its letters and their sequence tell it reliably.
fn language(text: &str) -> Option<String> {
    let mut end = text.len().min(SAMPLE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let found = whatlang::detect(text.get(..end)?)?;
    found.is_reliable().then(|| short(found.lang().code()).to_owned())
}

/// Shorter name of a language that the primary subtag of a language tag names: `de` of `de-AT`.
pub(crate) fn language_of_tag(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_']).next()?.to_ascii_lowercase();
    (matches!(primary.len(), 2 | 3) && primary.bytes().all(|byte| byte.is_ascii_lowercase()))
        .then(|| short(&primary).to_owned())
}

/// ISO 639-1 code of an ISO 639-3 code, of the languages that are told apart; others stay.
fn short(code: &str) -> &str {
    CODES.iter().find(|(long, _)| *long == code).map_or(code, |(_, short)| short)
}

const CODES: &[(&str, &str)] = &[
    ("afr", "af"),
    ("aka", "ak"),
    ("amh", "am"),
    ("ara", "ar"),
    ("aze", "az"),
    ("bel", "be"),
    ("ben", "bn"),
    ("bul", "bg"),
    ("cat", "ca"),
    ("ces", "cs"),
    ("cmn", "zh"),
    ("cym", "cy"),
    ("dan", "da"),
    ("deu", "de"),
    ("ell", "el"),
    ("eng", "en"),
    ("epo", "eo"),
    ("est", "et"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("guj", "gu"),
    ("heb", "he"),
    ("hin", "hi"),
    ("hrv", "hr"),
    ("hun", "hu"),
    ("hye", "hy"),
    ("ind", "id"),
    ("ita", "it"),
    ("jav", "jv"),
    ("jpn", "ja"),
    ("kan", "kn"),
    ("kat", "ka"),
    ("khm", "km"),
    ("kor", "ko"),
    ("lat", "la"),
    ("lav", "lv"),
    ("lit", "lt"),
    ("mal", "ml"),
    ("mar", "mr"),
    ("mkd", "mk"),
    ("mya", "my"),
    ("nep", "ne"),
    ("nld", "nl"),
    ("nob", "no"),
    ("ori", "or"),
    ("pan", "pa"),
    ("pes", "fa"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rus", "ru"),
    ("sin", "si"),
    ("slk", "sk"),
    ("slv", "sl"),
    ("sna", "sn"),
    ("spa", "es"),
    ("srp", "sr"),
    ("swe", "sv"),
    ("tam", "ta"),
    ("tel", "te"),
    ("tgl", "tl"),
    ("tha", "th"),
    ("tuk", "tk"),
    ("tur", "tr"),
    ("ukr", "uk"),
    ("urd", "ur"),
    ("uzb", "uz"),
    ("vie", "vi"),
    ("yid", "yi"),
    ("zul", "zu"),
];
