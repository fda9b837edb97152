//! Calls: of built-in functions, whose parameters are known here, and of values.

use std::sync::Arc;

use super::Parser;
use super::index::Seen;
use super::lexer::{self, Kind};
use crate::catalog::Builtin;
use crate::error::SyntaxError;
use crate::program::{NONE, Node, NodeId};

enum Arguments {
    Positional(Vec<NodeId>),
    Named(Vec<(Arc<str>, NodeId)>),
}

impl Parser<'_> {
    /// Arguments up to the closing parenthesis; the opening one has been read.
    fn arguments(&mut self) -> Result<Arguments, SyntaxError> {
        self.bracketed(|p| {
            let (mut named, mut seen) = (Vec::new(), Seen::default());
            let mut positional = Vec::new();
            while p.token.kind != Kind::CloseParen || !named.is_empty() || !positional.is_empty() {
                let at = p.token.start;
                match p.argument_name()? {
                    Some(name) if positional.is_empty() => {
                        p.expect(Kind::Colon, "`:`")?;
                        if !seen.add(&name) {
                            return Err(p.error(at, format!("the argument `{name}` is given twice")));
                        }
                        let value = p.expression()?;
                        named.push((name, value));
                    }
                    None if named.is_empty() => positional.push(p.positive_test()?),
                    _ => return Err(p.error(at, "arguments are either all named or all in order")),
                }
                if !p.eat(Kind::Comma)? {
                    break;
                }
            }
            p.expect(Kind::CloseParen, "`,` or `)`")?;
            Ok(if named.is_empty() { Arguments::Positional(positional) } else { Arguments::Named(named) })
        })
    }

    fn argument_name(&mut self) -> Result<Option<Arc<str>>, SyntaxError> {
        if self.token.kind == Kind::String && lexer::token(self.source, self.token.end)?.kind == Kind::Colon {
            let name = lexer::unescape(self.source, self.token)?;
            self.advance()?;
            return Ok(Some(name.into()));
        }
        match self.key()? {
            Some(found) => {
                self.advance_to(found.end)?;
                Ok(Some(found.name))
            }
            None => Ok(None),
        }
    }

    pub(super) fn call(&mut self, callee: NodeId, at: usize) -> Result<NodeId, SyntaxError> {
        let arguments = self.arguments()?;
        self.call_of(callee, &arguments, at)
    }

    fn call_of(&mut self, callee: NodeId, arguments: &Arguments, at: usize) -> Result<NodeId, SyntaxError> {
        let mut words = vec![callee];
        match arguments {
            Arguments::Positional(arguments) => {
                words.extend(arguments);
                let run = self.extend(&words);
                self.push(Node::Call(run), at)
            }
            Arguments::Named(arguments) => {
                for (name, value) in arguments {
                    words.extend([self.intern(name), *value]);
                }
                let run = self.extend(&words);
                self.push(Node::CallNamed(run), at)
            }
        }
    }

    /// A built-in's name in front of its parenthesis: where the words end and which one it is.
    fn builtin_name(&self) -> Result<Option<(Builtin, usize)>, SyntaxError> {
        let first = self.text();
        let mut end = self.token.end;
        let mut token = lexer::token(self.source, end)?;
        if token.kind == Kind::OpenParen {
            return Ok(Builtin::named(first, self.dialect).map(|builtin| (builtin, end)));
        }
        if token.kind != Kind::Name || !Builtin::begins_long_name(first) {
            return Ok(None);
        }
        let mut name = first.to_owned();
        while token.kind == Kind::Name && name.len() < 64 {
            name.push(' ');
            name.push_str(self.source.get(token.start..token.end).unwrap_or_default());
            end = token.end;
            token = lexer::token(self.source, end)?;
        }
        if token.kind != Kind::OpenParen {
            return Ok(None);
        }
        Ok(Builtin::named(&name, self.dialect).map(|builtin| (builtin, end)))
    }

    /// The name of several words of a built-in function that is not called but handed on, and where it ends.
    pub(super) fn builtin_value(&self) -> Result<Option<(&'static str, usize)>, SyntaxError> {
        let first = self.text();
        // Hardly any name is followed by another.
        let next = lexer::skip_space(self.source, self.token.end)?;
        if !self.source.as_bytes().get(next).is_some_and(u8::is_ascii_alphabetic)
            || !Builtin::begins_long_name(first)
            || self.is_local(first)
            || self.is_declared(first)
        {
            return Ok(None);
        }
        let (mut name, mut found) = (first.to_owned(), None);
        let mut token = lexer::token(self.source, self.token.end)?;
        while token.kind == Kind::Name && name.len() < 64 {
            let word = self.source.get(token.start..token.end).unwrap_or_default();
            // `date and time` is rather a conjunction.
            if word == "and" {
                break;
            }
            name.push(' ');
            name.push_str(word);
            if let Some(builtin) = Builtin::named(&name, self.dialect) {
                found = Some((builtin.name(), token.end));
            }
            token = lexer::token(self.source, token.end)?;
        }
        Ok(found)
    }

    /// A call of a built-in function, unless the expression or the declarations give the name another meaning: then
    /// of what has the name when that is a function, since a date called `date` takes nothing from `date(...)`.
    pub(super) fn builtin_call(&mut self) -> Result<Option<NodeId>, SyntaxError> {
        let Some((builtin, end)) = self.builtin_name()? else { return Ok(None) };
        let at = self.token.start;
        let name = builtin.name();
        let shadowed = self.is_local(name) || self.is_declared(name);
        let variable = if shadowed { Some(self.variable(name, at)?) } else { None };
        self.advance_to(end)?;
        self.advance()?;
        let arguments = self.arguments()?;
        if builtin == Builtin::IsDefined
            && let Arguments::Positional(nodes) = &arguments
            && let [node] = nodes.as_slice()
        {
            return self.push(Node::IsDefined(*node), at).map(Some);
        }
        let own = self.builtin_with(builtin, &arguments, at)?;
        let Some(callee) = variable else { return Ok(Some(own)) };
        let call = self.call_of(callee, &arguments, at)?;
        self.push(Node::CallEither { callee, call, builtin: own }, at).map(Some)
    }

    fn builtin_with(
        &mut self,
        builtin: Builtin,
        arguments: &Arguments,
        at: usize,
    ) -> Result<NodeId, SyntaxError> {
        let by_name = matches!(arguments, Arguments::Named(_));
        let placed = match arguments {
            Arguments::Positional(nodes) => builtin.accepts(nodes.len()).then(|| nodes.clone()),
            Arguments::Named(named) => {
                let names: Vec<&str> = named.iter().map(|(name, _)| &**name).collect();
                builtin.places(&names).map(|places| {
                    let mut nodes = Vec::new();
                    for (place, (_, node)) in places.into_iter().zip(named) {
                        while nodes.len() <= place {
                            nodes.push(NONE);
                        }
                        if let Some(slot) = nodes.get_mut(place) {
                            *slot = *node;
                        }
                    }
                    nodes
                })
            }
        };
        match placed {
            Some(nodes) => {
                let arguments = self.extend(&nodes);
                self.push(Node::Builtin { builtin, named: by_name, arguments }, at)
            }
            None => {
                let reason = self.intern(&format!("{}() does not take these arguments", builtin.name()));
                self.push(Node::Invalid(reason), at)
            }
        }
    }
}
