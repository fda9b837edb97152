//! The arguments of a call, read as the kinds that a function takes.

use std::borrow::Cow;
use std::sync::Arc;

use crate::pattern::Patterns;
use crate::value::date::Date;
use crate::value::number::Number;
use crate::value::outcome::{Outcome, null};
use crate::value::{Context, Function, List, Value};

/// Arguments in the order of the parameters; one not given is `None`.
#[derive(Debug)]
pub(crate) struct Args<'p> {
    values: Vec<Option<Value>>,
    named: bool,
    /// The regular expressions of the program that makes the call.
    pub(super) patterns: &'p Patterns,
    /// Byte offset of the call in its source.
    pub(super) at: u32,
}

static NULL: Value = Value::Null;

impl<'p> Args<'p> {
    pub(crate) fn new(values: Vec<Option<Value>>, named: bool, patterns: &'p Patterns, at: u32) -> Self {
        Self { values, named, patterns, at }
    }

    /// Whether the arguments were given in order rather than by name.
    pub(super) const fn positional(&self) -> bool {
        !self.named
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the argument was given, be it as null.
    pub(super) fn given(&self, at: usize) -> bool {
        self.values.get(at).is_some_and(Option::is_some)
    }

    /// The argument as it is; null when not given.
    pub(super) fn any(&self, at: usize) -> &Value {
        self.values.get(at).and_then(Option::as_ref).unwrap_or(&NULL)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().map(|value| value.as_ref().unwrap_or(&NULL))
    }

    /// The argument, out of a list of one (DMN 1.5, 10.3.2.9.4).
    pub(super) fn single(&self, at: usize) -> &Value {
        match self.any(at) {
            Value::List(items) if items.len() == 1 => items.first().unwrap_or(&NULL),
            value => value,
        }
    }

    fn wrong<T>(&self, at: usize, wanted: &str) -> Outcome<T> {
        null(format!("argument {} is a {}, not a {wanted}", at + 1, self.any(at).type_name()))
    }

    pub(super) fn number(&self, at: usize) -> Outcome<Number> {
        match self.single(at) {
            Value::Number(number) => Ok(*number),
            _ => self.wrong(at, "number"),
        }
    }

    /// A whole number; a fraction is cut off.
    pub(super) fn integer(&self, at: usize) -> Outcome<i64> {
        match self.number(at)?.truncated() {
            Some(integer) => Ok(integer),
            None => null(format!("argument {} is too large", at + 1)),
        }
    }

    pub(super) fn string(&self, at: usize) -> Outcome<&Arc<str>> {
        match self.single(at) {
            Value::String(text) => Ok(text),
            _ => self.wrong(at, "string"),
        }
    }

    /// A date, or that of a date and time.
    pub(super) fn date(&self, at: usize) -> Outcome<Date> {
        match self.single(at) {
            Value::Date(date) => Ok(*date),
            Value::DateTime(time) => Ok(time.date),
            other => null(format!("a {} is no date", other.type_name())),
        }
    }

    pub(super) fn context(&self, at: usize) -> Outcome<&Context> {
        match self.single(at) {
            Value::Context(context) => Ok(context),
            _ => self.wrong(at, "context"),
        }
    }

    pub(super) fn function(&self, at: usize) -> Outcome<&Function> {
        match self.any(at) {
            Value::Function(function) => Ok(function),
            _ => self.wrong(at, "function"),
        }
    }

    /// A list; any other value but null reads as the list of it.
    pub(super) fn list(&self, at: usize) -> Outcome<Cow<'_, [Value]>> {
        match self.any(at) {
            Value::List(items) => Ok(Cow::Borrowed(items)),
            Value::Null => self.wrong(at, "list"),
            value => Ok(Cow::Owned(vec![value.clone()])),
        }
    }

    /// The items of the only list, or the arguments themselves.
    pub(super) fn items(&self) -> Outcome<Vec<Value>> {
        match (self.len(), self.any(0)) {
            (1, Value::List(items)) => Ok(List::clone(items).into_items()),
            (1, Value::Null) => self.wrong(0, "list"),
            _ => Ok(self.iter().cloned().collect()),
        }
    }
}
