//! Type expressions: `list<context<a: number>>`, `function<date> -> number`, names of several words.

use std::sync::Arc;

use super::Parser;
use super::lexer::Kind;
use crate::error::SyntaxError;
use crate::types::{Signature, Type};

impl Parser<'_> {
    fn words(&mut self, words: &[&str]) -> Result<(), SyntaxError> {
        for word in words {
            self.expect_word(word)?;
        }
        Ok(())
    }

    pub(super) fn type_expression(&mut self) -> Result<Type, SyntaxError> {
        self.nested(Self::type_here)
    }

    fn type_here(&mut self) -> Result<Type, SyntaxError> {
        if let Some(found) = self.spaced_type() {
            self.advance_to(found.end)?;
            return Ok(Type::Named(found.name));
        }
        if let Some(found) = self.spaced_name(false)
            && self.is_declared(&found.name)
        {
            self.advance_to(found.end)?;
            return Ok(Type::Named(found.name));
        }
        if self.token.kind != Kind::Name {
            return Err(self.unexpected("a type"));
        }
        let word = self.word();
        self.advance()?;
        Ok(match word {
            "Any" => Type::Any,
            "Null" | "null" => Type::Null,
            "boolean" => Type::Boolean,
            "number" => Type::Number,
            "string" => Type::String,
            "time" => Type::Time,
            "dateTime" => Type::DateTime,
            "dayTimeDuration" => Type::DaysAndTimeDuration,
            "yearMonthDuration" => Type::YearsAndMonthsDuration,
            // `date and x` is a conjunction unless it goes on as the type's name.
            "date" if self.word() == "and" && self.follows("time") => {
                self.words(&["and", "time"])?;
                Type::DateTime
            }
            "date" => Type::Date,
            "days" if self.word() == "and" => {
                self.words(&["and", "time", "duration"])?;
                Type::DaysAndTimeDuration
            }
            "years" if self.word() == "and" => {
                self.words(&["and", "months", "duration"])?;
                Type::YearsAndMonthsDuration
            }
            "list" => Type::List(self.type_argument()?.map(Box::new)),
            "range" => Type::Range(self.type_argument()?.map(Box::new)),
            "context" => Type::Context(self.type_members()?),
            "function" => Type::Function(self.type_signature()?),
            name => self.qualified(name)?,
        })
    }

    fn follows(&self, word: &str) -> bool {
        super::lexer::token(self.source, self.token.end)
            .is_ok_and(|t| self.source.get(t.start..t.end) == Some(word))
    }

    fn qualified(&mut self, first: &str) -> Result<Type, SyntaxError> {
        let mut name = first.to_owned();
        while self.token.kind == Kind::Dot {
            self.advance()?;
            if self.token.kind != Kind::Name {
                return Err(self.unexpected("a type's name"));
            }
            name.push('.');
            name.push_str(self.word());
            self.advance()?;
        }
        Ok(Type::Named(name.into()))
    }

    fn type_argument(&mut self) -> Result<Option<Type>, SyntaxError> {
        if !self.eat(Kind::Lt)? {
            return Ok(None);
        }
        let inner = self.type_expression()?;
        self.expect(Kind::Gt, "`>`")?;
        Ok(Some(inner))
    }

    fn type_members(&mut self) -> Result<Vec<(Arc<str>, Type)>, SyntaxError> {
        let mut members = Vec::new();
        if !self.eat(Kind::Lt)? {
            return Ok(members);
        }
        while self.token.kind != Kind::Gt {
            let name = self.new_name("")?;
            self.expect(Kind::Colon, "`:`")?;
            members.push((name, self.type_expression()?));
            if !self.eat(Kind::Comma)? {
                break;
            }
        }
        self.expect(Kind::Gt, "`>`")?;
        Ok(members)
    }

    fn type_signature(&mut self) -> Result<Option<Signature>, SyntaxError> {
        if !self.eat(Kind::Lt)? {
            return Ok(None);
        }
        let mut parameters = Vec::new();
        while self.token.kind != Kind::Gt {
            parameters.push(self.type_expression()?);
            if !self.eat(Kind::Comma)? {
                break;
            }
        }
        self.expect(Kind::Gt, "`>`")?;
        self.expect(Kind::Arrow, "`->`")?;
        Ok(Some((parameters, Box::new(self.type_expression()?))))
    }
}
