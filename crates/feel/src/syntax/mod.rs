//! From text to the compiled form in one pass: names are resolved while reading, since FEEL declares them first.

mod build;
mod calls;
mod compound;
mod expression;
mod index;
mod lexer;
mod names;
mod simple;
mod types;

use std::sync::Arc;

use crate::catalog::Dialect;
use crate::error::SyntaxError;
use crate::pattern::Patterns;
use crate::program::{Node, NodeId, Program, Run};
use crate::types::{Type, Types};
use crate::value::Value;

use index::Names;
use lexer::{Kind, Token};
use names::{Frame, Known};

/// Levels of parentheses, operators, calls and the like within each other. Chosen so that reading and evaluating the
/// deepest expression takes a part of a stack of 2 MB, without optimisation too.
const MAX_NESTING: u32 = 150;
const MAX_SOURCE: usize = 1 << 20;
const MAX_NODES: usize = 1 << 16;

/// Options of reading a text.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The functions and notations allowed.
    pub dialect: Dialect,
    /// Names known from declarations. Only those with spaces or operators need to be here; they are found by
    /// longest match.
    pub names: Vec<String>,
    /// Names of contexts' members, which only count behind a point and within filters.
    pub members: Vec<String>,
}

/// Reader of one text.
pub(crate) struct Parser<'s> {
    source: &'s str,
    token: Token,
    /// End of the token before.
    before: usize,
    dialect: Dialect,
    nesting: u32,
    /// Within the end of a range, where a `[` may close it.
    range_end: bool,
    /// Number of times that the input of unary tests was named.
    input_uses: u32,
    /// The name of the context entry whose value comes next, for a function to call itself by.
    own_name: Option<Arc<str>>,
    known: Known,
    frames: Vec<Frame>,
    nodes: Vec<Node>,
    offsets: Vec<u32>,
    extra: Vec<u32>,
    constants: Vec<Value>,
    names: Names,
    /// Filters around the token.
    filters: u32,
    definitions: Vec<crate::program::Definition>,
    types: Vec<Type>,
    declared: Types,
}

/// Reads an expression.
pub(crate) fn expression(source: &str, options: &Options, types: &Types) -> Result<Program, SyntaxError> {
    if let Some(program) = simple::path(source, options, types) {
        return Ok(program);
    }
    let mut parser = Parser::new(source, options, types)?;
    let root = parser.expression()?;
    parser.end()?;
    Ok(parser.finish(root))
}

/// Reads a range's text during an evaluation, which may have used up much of the stack: few levels are enough.
pub(crate) fn shallow(source: &str) -> Result<Program, SyntaxError> {
    let mut parser = Parser::new(source, &Options::default(), &Types::default())?;
    parser.nesting = MAX_NESTING - 12;
    let root = parser.expression()?;
    parser.end()?;
    Ok(parser.finish(root))
}

/// Reads unary tests (grammar rules 12 to 17).
pub(crate) fn unary_tests(source: &str, options: &Options, types: &Types) -> Result<Program, SyntaxError> {
    let mut parser = Parser::new(source, options, types)?;
    parser.declare("?".into());
    let root = parser.unary_tests()?;
    parser.end()?;
    Ok(parser.finish(root))
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, options: &Options, types: &Types) -> Result<Self, SyntaxError> {
        if source.len() > MAX_SOURCE {
            return Err(SyntaxError::at(
                source,
                MAX_SOURCE,
                format!("an expression has at most {MAX_SOURCE} bytes"),
            ));
        }
        // A byte order mark is white space like any other.
        let token = lexer::token(source, 0)?;
        Ok(Self {
            source,
            token,
            before: 0,
            dialect: options.dialect,
            nesting: 0,
            range_end: false,
            input_uses: 0,
            own_name: None,
            known: Known::new(&options.names, &options.members, types),
            frames: vec![Frame::default()],
            nodes: Vec::with_capacity(16),
            offsets: Vec::with_capacity(16),
            extra: Vec::new(),
            constants: Vec::new(),
            names: Names::default(),
            filters: 0,
            definitions: Vec::new(),
            types: Vec::new(),
            declared: types.clone(),
        })
    }

    fn finish(self, root: NodeId) -> Program {
        Program {
            source: Arc::from(self.source),
            nodes: self.nodes,
            offsets: self.offsets,
            extra: self.extra,
            constants: self.constants,
            names: self.names.into_list(),
            definitions: self.definitions,
            types: self.types,
            declared: self.declared,
            root,
            slots: self.frames.first().map_or(0, |frame| frame.slots),
            patterns: Patterns::default(),
        }
    }

    fn end(&self) -> Result<(), SyntaxError> {
        if self.token.kind == Kind::End { Ok(()) } else { Err(self.unexpected("the end of the expression")) }
    }

    fn unary_tests(&mut self) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        if self.token.kind == Kind::Minus && lexer::token(self.source, self.token.end)?.kind == Kind::End {
            self.advance()?;
            return self.push(Node::Boolean(true), at);
        }
        if self.word() == "not" {
            let saved = (self.token, self.before, self.nodes.len(), self.extra.len());
            self.advance()?;
            if self.token.kind == Kind::OpenParen {
                self.advance()?;
                let tests = self.test_list()?;
                self.expect(Kind::CloseParen, "`)`")?;
                if self.token.kind == Kind::End {
                    return self.push(Node::UnaryTests { tests, negated: true }, at);
                }
            }
            // `not(a) or b` is an expression that begins like a negation of tests.
            (self.token, self.before) = (saved.0, saved.1);
            self.nodes.truncate(saved.2);
            self.offsets.truncate(saved.2);
            self.extra.truncate(saved.3);
        }
        let tests = self.test_list()?;
        self.push(Node::UnaryTests { tests, negated: false }, at)
    }

    fn test_list(&mut self) -> Result<Run, SyntaxError> {
        let mut tests = Vec::new();
        loop {
            let uses = self.input_uses;
            let test = self.positive_test()?;
            tests.extend([test, u32::from(self.input_uses > uses)]);
            if !self.eat(Kind::Comma)? {
                return Ok(self.extend(&tests));
            }
        }
    }
}
