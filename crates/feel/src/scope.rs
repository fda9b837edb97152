//! Scopes, in which an expression finds the variables that it does not define itself.

use std::fmt;

use serde_json::{Map, Value as Json};

use crate::error::LimitError;
use crate::machine::Machine;
use crate::value::json::{from_json, number};
use crate::value::number::Number;
use crate::value::{Context, List, MAX_VALUE_DEPTH, Value};

/// A value that may still lie in the caller's data.
#[derive(Debug, Clone)]
pub enum Ref<'a> {
    /// JSON of the caller, read only as far as the expression asks.
    Json(&'a Json),
    /// A value of the caller.
    Borrowed(&'a Value),
    /// A value of its own.
    Owned(Value),
}

/// The variables an expression can name.
pub trait Scope {
    /// The variable of that whole name, spaces included; `None` when there is none (which is not null).
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>>;
}

impl Scope for Map<String, Json> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        Self::get(self, name).map(Ref::Json)
    }
}

impl Scope for Context {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        Self::get(self, name).map(Ref::Borrowed)
    }
}

/// No variables.
impl Scope for () {
    fn get<'a>(&'a self, _name: &str) -> Option<Ref<'a>> {
        None
    }
}

/// Scopes one over another: the first that knows the name answers.
pub struct Layers<'s>(pub &'s [&'s dyn Scope]);

impl fmt::Debug for Layers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} layers", self.0.len())
    }
}

impl Scope for Layers<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        self.0.iter().find_map(|scope| scope.get(name))
    }
}

/// View of a [`Ref`] without a copy of it.
pub(crate) enum View<'r> {
    Null,
    Boolean(bool),
    Number(Number),
    String(&'r str),
    JsonList,
    JsonContext,
    Other(&'r Value),
}

impl<'a> Ref<'a> {
    pub(crate) const NULL: Self = Self::Owned(Value::Null);

    /// The value; JSON is converted.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self {
            Self::Json(json) => from_json(json),
            Self::Borrowed(value) => value.clone(),
            Self::Owned(value) => value,
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        let value = match self {
            Self::Json(json) => {
                return match json {
                    Json::Null => View::Null,
                    Json::Bool(value) => View::Boolean(*value),
                    Json::Number(value) => number(value).map_or(View::Null, View::Number),
                    Json::String(text) => View::String(text),
                    Json::Array(_) => View::JsonList,
                    Json::Object(_) => View::JsonContext,
                };
            }
            Self::Borrowed(value) => *value,
            Self::Owned(value) => value,
        };
        match value {
            Value::Null => View::Null,
            Value::Boolean(value) => View::Boolean(*value),
            Value::Number(value) => View::Number(*value),
            Value::String(text) => View::String(text),
            other => View::Other(other),
        }
    }

    pub(crate) fn as_number(&self) -> Option<Number> {
        match self {
            Self::Owned(Value::Number(value)) | Self::Borrowed(Value::Number(value)) => Some(*value),
            Self::Json(Json::Number(value)) => number(value),
            _ => None,
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Owned(Value::Boolean(value)) | Self::Borrowed(Value::Boolean(value)) => Some(*value),
            Self::Json(Json::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.view(), View::Null)
    }

    /// The member of a context; `None` when this is no context or has no such member.
    pub(crate) fn member(&self, name: &str) -> Option<Ref<'a>> {
        match self {
            Self::Json(Json::Object(members)) => members.get(name).map(Ref::Json),
            Self::Borrowed(Value::Context(context)) => context.get(name).map(Ref::Borrowed),
            Self::Owned(Value::Context(context)) => context.get(name).cloned().map(Ref::Owned),
            _ => None,
        }
    }

    /// The items of a list; `None` when this is no list.
    pub(crate) fn items(self) -> Option<Items<'a>> {
        match self {
            Self::Json(Json::Array(items)) => Some(Items::Json(items)),
            Self::Borrowed(Value::List(items)) => Some(Items::Borrowed(items)),
            Self::Owned(Value::List(items)) => Some(Items::Owned(items)),
            _ => None,
        }
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self.view() {
            View::Null => "null",
            View::Boolean(_) => "boolean",
            View::Number(_) => "number",
            View::String(_) => "string",
            View::JsonList => "list",
            View::JsonContext => "context",
            View::Other(value) => value.type_name(),
        }
    }
}

/// The items of a list, wherever they lie.
#[derive(Clone)]
pub(crate) enum Items<'a> {
    Json(&'a [Json]),
    Borrowed(&'a [Value]),
    Owned(std::sync::Arc<List>),
    /// Some of the items of a list, each where it lies.
    Picked(Vec<Ref<'a>>),
}

impl<'a> Items<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Json(items) => items.len(),
            Self::Borrowed(items) => items.len(),
            Self::Owned(items) => items.len(),
            Self::Picked(items) => items.len(),
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<Ref<'a>> {
        match self {
            Self::Json(items) => items.get(at).map(Ref::Json),
            Self::Borrowed(items) => items.get(at).map(Ref::Borrowed),
            Self::Owned(items) => items.get(at).cloned().map(Ref::Owned),
            Self::Picked(items) => items.get(at).cloned(),
        }
    }
}

impl Machine {
    /// The value, which is the evaluation's own from here on. Converting JSON is counted as work.
    pub(crate) fn own(&mut self, value: Ref<'_>) -> Result<Value, LimitError> {
        let is_json = matches!(value, Ref::Json(_));
        let value = value.into_value();
        if is_json {
            self.charge(u64::from(value.weight()))?;
        }
        if value.depth() > MAX_VALUE_DEPTH {
            return Err(LimitError::Depth(MAX_VALUE_DEPTH));
        }
        Ok(value)
    }
}
