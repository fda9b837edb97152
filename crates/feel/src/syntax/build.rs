//! The parser's hands: taking tokens and laying down nodes.

use super::lexer::{self, Kind};
use super::{MAX_NESTING, MAX_NODES, Parser};
use crate::error::SyntaxError;
use crate::program::{Node, NodeId, Run};
use crate::value::Value;

impl<'s> Parser<'s> {
    pub(super) fn text(&self) -> &'s str {
        self.source.get(self.token.start..self.token.end).unwrap_or_default()
    }

    /// The token when it is a name or keyword, else nothing.
    pub(super) fn word(&self) -> &'s str {
        if self.token.kind == Kind::Name { self.text() } else { "" }
    }

    pub(super) fn advance(&mut self) -> Result<(), SyntaxError> {
        self.before = self.token.end;
        self.token = lexer::token(self.source, self.token.end)?;
        Ok(())
    }

    /// Goes on behind a name that may be longer than the token.
    pub(super) fn advance_to(&mut self, end: usize) -> Result<(), SyntaxError> {
        self.before = end;
        self.token = lexer::token(self.source, end)?;
        Ok(())
    }

    pub(super) fn eat(&mut self, kind: Kind) -> Result<bool, SyntaxError> {
        let found = self.token.kind == kind;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(super) fn eat_word(&mut self, word: &str) -> Result<bool, SyntaxError> {
        let found = self.word() == word;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, kind: Kind, what: &str) -> Result<(), SyntaxError> {
        if self.eat(kind)? { Ok(()) } else { Err(self.unexpected(what)) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), SyntaxError> {
        if self.eat_word(word)? { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError::at(self.source, at, message)
    }

    pub(super) fn unexpected(&self, wanted: &str) -> SyntaxError {
        let found = match self.token.kind {
            Kind::End => "the expression ends".to_owned(),
            _ => format!("`{}` stands", self.text().chars().take(40).collect::<String>()),
        };
        self.error(self.token.start, format!("{found} where {wanted} is expected"))
    }

    pub(super) fn push(&mut self, node: Node, at: usize) -> Result<NodeId, SyntaxError> {
        let id = self.nodes.len();
        if id >= MAX_NODES {
            return Err(self.error(at, format!("an expression has at most {MAX_NODES} parts")));
        }
        self.nodes.push(node);
        self.offsets.push(u32::try_from(at).unwrap_or(u32::MAX));
        Ok(u32::try_from(id).unwrap_or(0))
    }

    pub(super) fn constant(&mut self, value: Value, at: usize) -> Result<NodeId, SyntaxError> {
        let id = u32::try_from(self.constants.len()).unwrap_or(u32::MAX);
        self.constants.push(value);
        self.push(Node::Const(id), at)
    }

    pub(super) fn extend(&mut self, words: &[u32]) -> Run {
        let start = u32::try_from(self.extra.len()).unwrap_or(u32::MAX);
        self.extra.extend_from_slice(words);
        Run { start, len: u32::try_from(words.len()).unwrap_or(0) }
    }

    pub(super) fn intern(&mut self, name: &str) -> u32 {
        self.names.add(name).0
    }

    /// Reads one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.nesting >= MAX_NESTING {
            return Err(self.error(
                self.token.start,
                format!("an expression is nested at most {MAX_NESTING} levels deep"),
            ));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Reads within brackets, where nothing outside of them matters.
    pub(super) fn bracketed<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        let outer = std::mem::replace(&mut self.range_end, false);
        let result = read(self);
        self.range_end = outer;
        result
    }
}
