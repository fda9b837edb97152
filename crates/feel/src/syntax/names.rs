//! Names: which are in sight, how long they are in the text, and where their values lie.

use std::sync::Arc;

use super::Parser;
use super::lexer::{self, Kind, Token};
use crate::SyntaxError;
use crate::program::{Node, NodeId, Source};

/// One function's variables (or the expression's own).
#[derive(Default)]
pub(super) struct Frame {
    scopes: Vec<Entry>,
    next: u32,
    pub slots: u32,
    pub captures: Vec<(Source, u32)>,
}

enum Entry {
    Name(Arc<str>, u32),
    /// The members of the filtered items are names.
    Items(u32),
}

/// Names of several words or with operators in them.
pub(super) struct Known {
    names: Vec<Spaced>,
    /// Keys of contexts read so far, which may name members.
    keys: Vec<Spaced>,
    plain: Vec<String>,
}

struct Spaced {
    name: Arc<str>,
    parts: Vec<Box<str>>,
}

fn parts(name: &str) -> Vec<Box<str>> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(c) = name.get(at..).and_then(|rest| rest.chars().next()) {
        let identifier = lexer::identifier_end(name, at);
        let end = if identifier > at {
            identifier
        } else if c.is_ascii_digit() {
            at + name.bytes().skip(at).take_while(|b| b.is_ascii_alphanumeric()).count()
        } else {
            at + c.len_utf8()
        };
        if !c.is_whitespace() {
            parts.push(name.get(at..end).unwrap_or_default().into());
        }
        at = end;
    }
    parts
}

impl Spaced {
    /// The name when it is more than one identifier.
    fn new(name: &str) -> Option<Self> {
        let parts = parts(name);
        (parts.len() > 1).then(|| Self { name: name.into(), parts })
    }

    /// Where the name ends that the text at `at` begins with.
    fn matches(&self, source: &str, at: usize) -> Option<usize> {
        let mut end = at;
        let mut last_is_word = false;
        for (index, part) in self.parts.iter().enumerate() {
            let from = if index == 0 { end } else { lexer::skip_space(source, end).ok()? };
            let word = part.chars().next().is_some_and(lexer::is_name_part);
            if index > 0 && word && last_is_word && from == end {
                return None;
            }
            if !source.get(from..)?.starts_with(&**part) {
                return None;
            }
            end = from + part.len();
            last_is_word = word;
        }
        let after = source.get(end..)?.chars().next();
        (!(last_is_word && after.is_some_and(lexer::is_name_part))).then_some(end)
    }
}

fn longest<'k>(names: &'k [Spaced], source: &str, at: usize) -> Option<(&'k Arc<str>, usize)> {
    let found = names.iter().filter_map(|name| name.matches(source, at).map(|end| (&name.name, end)));
    found.max_by_key(|(_, end)| *end)
}

impl Known {
    pub(super) fn new(names: &[String]) -> Self {
        let spaced: Vec<Spaced> = names.iter().filter_map(|name| Spaced::new(name)).collect();
        Self { names: spaced, keys: Vec::new(), plain: names.to_vec() }
    }
}

/// A name as it stands in the text.
pub(super) struct Found {
    pub name: Arc<str>,
    pub end: usize,
}

const KEYWORDS: [&str; 17] = [
    "if",
    "then",
    "else",
    "for",
    "in",
    "return",
    "some",
    "every",
    "satisfies",
    "and",
    "or",
    "between",
    "instance",
    "true",
    "false",
    "null",
    "function",
];

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

impl Parser<'_> {
    /// The longest name in sight that begins at this token, of more than one word.
    pub(super) fn spaced_name(&self, member: bool) -> Option<Found> {
        if self.known.names.is_empty() && self.known.keys.is_empty() {
            return None;
        }
        let in_filter = self.frames.iter().any(|f| f.scopes.iter().any(|e| matches!(e, Entry::Items(_))));
        let at = self.token.start;
        let name = longest(&self.known.names, self.source, at);
        let key = if member || in_filter { longest(&self.known.keys, self.source, at) } else { None };
        let (name, end) = match (name, key) {
            (Some(a), Some(b)) if b.1 > a.1 => b,
            (Some(a), _) => a,
            (None, b) => b?,
        };
        Some(Found { name: name.clone(), end })
    }

    /// Whether the declaration list has the name.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.known.plain.iter().any(|known| known == name)
    }

    /// Whether this part of the expression itself defines the name.
    pub(super) fn is_local(&self, name: &str) -> bool {
        self.frames.iter().any(|f| f.scopes.iter().any(|e| matches!(e, Entry::Name(n, _) if **n == *name)))
    }

    /// Remembers a context's key, which may later name a member.
    pub(super) fn remember_key(&mut self, name: &str) {
        if let Some(spaced) = Spaced::new(name)
            && !self.known.keys.iter().any(|known| *known.name == *name)
        {
            self.known.keys.push(spaced);
        }
    }

    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn new_slot(&mut self) -> u32 {
        let frame = self.frame();
        let slot = frame.next;
        frame.next += 1;
        frame.slots = frame.slots.max(frame.next);
        slot
    }

    /// Brings a variable in sight.
    pub(super) fn declare(&mut self, name: Arc<str>) -> u32 {
        let slot = self.new_slot();
        self.declare_at(name, slot);
        slot
    }

    pub(super) fn declare_at(&mut self, name: Arc<str>, slot: u32) {
        if let Some(spaced) = Spaced::new(&name) {
            self.known.names.push(spaced);
        }
        self.frame().scopes.push(Entry::Name(name, slot));
    }

    /// Brings the members of a filter's items in sight, and `item`.
    pub(super) fn declare_items(&mut self) -> u32 {
        let slot = self.new_slot();
        self.frame().scopes.push(Entry::Name("item".into(), slot));
        self.frame().scopes.push(Entry::Items(slot));
        slot
    }

    /// Reads something whose declarations go out of sight after it; their slots are used again.
    pub(super) fn scoped<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        let (depth, next) = {
            let frame = self.frame();
            (frame.scopes.len(), frame.next)
        };
        let names = self.known.names.len();
        let result = read(self);
        self.known.names.truncate(names);
        let frame = self.frame();
        frame.scopes.truncate(depth);
        frame.next = next;
        result
    }

    /// Reads a function's body in a frame of its own and gives what it captures and how many slots it needs.
    pub(super) fn in_frame<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<(T, Frame), SyntaxError> {
        let names = self.known.names.len();
        self.frames.push(Frame::default());
        let result = read(self);
        let frame = self.frames.pop().unwrap_or_default();
        self.known.names.truncate(names);
        Ok((result?, frame))
    }

    fn capture(&mut self, frame: usize, source: Source) -> u32 {
        let Some(frame) = self.frames.get_mut(frame) else { return 0 };
        if let Some((_, slot)) = frame.captures.iter().find(|(known, _)| *known == source) {
            return *slot;
        }
        // Captured values stay for the whole call, so they take slots above all that scopes use again.
        let slot = Self::CAPTURED + u32::try_from(frame.captures.len()).unwrap_or(0);
        frame.captures.push((source, slot));
        slot
    }

    /// Slots from here on are captures; a function's definition moves them behind its other slots.
    pub(super) const CAPTURED: u32 = 1 << 24;

    /// Where the name's value lies for the frame, and the filtered items whose members it may name before that.
    fn resolve(&mut self, frame: usize, name: &str, items: &mut Vec<u32>) -> Source {
        let mut inner = Vec::new();
        let mut found = None;
        if let Some(frame) = self.frames.get(frame) {
            for entry in frame.scopes.iter().rev() {
                match entry {
                    Entry::Name(known, slot) if **known == *name => {
                        found = Some(*slot);
                        break;
                    }
                    Entry::Items(slot) => inner.push(*slot),
                    Entry::Name(..) => {}
                }
            }
        }
        items.extend(&inner);
        if let Some(slot) = found {
            return Source::Local(slot);
        }
        if frame == 0 {
            return Source::Global(self.intern(name));
        }
        let mut outer = Vec::new();
        let source = self.resolve(frame - 1, name, &mut outer);
        for slot in outer {
            let captured = self.capture(frame, Source::Local(slot));
            items.push(captured);
        }
        Source::Local(self.capture(frame, source))
    }

    /// The node that reads the variable.
    pub(super) fn variable(&mut self, name: &str, at: usize) -> Result<NodeId, SyntaxError> {
        if name == "?" {
            self.input_uses += 1;
        }
        let mut items = Vec::new();
        let source = self.resolve(self.frames.len() - 1, name, &mut items);
        let last = match source {
            Source::Local(slot) => self.push(Node::Local(slot), at)?,
            Source::Global(name) => self.push(Node::Global(name), at)?,
        };
        if items.is_empty() {
            return Ok(last);
        }
        let name = self.intern(name);
        let mut words = vec![name, last];
        words.extend(items);
        let run = self.extend(&words);
        self.push(Node::Member(run), at)
    }

    /// The name before a `:` (a context's key or a named argument), or nothing.
    pub(super) fn key(&self) -> Result<Option<Found>, SyntaxError> {
        let mut token = self.token;
        if token.kind == Kind::Quoted {
            let name = self.source.get(token.start + 1..token.end - 1).unwrap_or_default();
            let after = lexer::token(self.source, token.end)?;
            return Ok((after.kind == Kind::Colon).then(|| Found { name: name.into(), end: token.end }));
        }
        if token.kind != Kind::Name {
            return Ok(None);
        }
        let mut name = String::new();
        let mut end = token.start;
        loop {
            let allowed = matches!(
                token.kind,
                Kind::Name
                    | Kind::Number
                    | Kind::Plus
                    | Kind::Minus
                    | Kind::Star
                    | Kind::StarStar
                    | Kind::Slash
                    | Kind::Dot
            );
            if token.kind == Kind::Colon {
                return Ok(Some(Found { name: name.into(), end }));
            }
            let apostrophe = self.source.get(token.start..).is_some_and(|rest| rest.starts_with('\''));
            if !allowed && !apostrophe {
                return Ok(None);
            }
            if !name.is_empty() && token.start > end {
                name.push(' ');
            }
            name.push_str(self.source.get(token.start..token.end).unwrap_or_default());
            end = token.end;
            token = match lexer::token(self.source, end) {
                Ok(token) => token,
                Err(_) => match self.quote(end) {
                    Some(token) => token,
                    None => return Ok(None),
                },
            };
        }
    }

    /// An apostrophe, which is no token of its own but may stand within names.
    fn quote(&self, at: usize) -> Option<Token> {
        let start = lexer::skip_space(self.source, at).ok()?;
        let c = self.source.get(start..)?.chars().next()?;
        matches!(c, '\'' | '\u{2019}').then(|| Token { kind: Kind::Name, start, end: start + c.len_utf8() })
    }

    /// A declared name: identifiers up to something else, or to the given keyword.
    pub(super) fn new_name(&mut self, until: &str) -> Result<Arc<str>, SyntaxError> {
        if self.token.kind == Kind::Quoted {
            let name = self.source.get(self.token.start + 1..self.token.end - 1).unwrap_or_default();
            self.advance()?;
            return Ok(name.into());
        }
        let mut name = String::new();
        while self.token.kind == Kind::Name && self.word() != until {
            if name.is_empty() && is_keyword(self.word()) {
                return Err(self.unexpected("a name"));
            }
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(self.word());
            self.advance()?;
        }
        if name.is_empty() { Err(self.unexpected("a name")) } else { Ok(name.into()) }
    }
}
