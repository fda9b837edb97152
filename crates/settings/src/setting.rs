//! Settings that may be literal or FEEL: a text that begins with `=` is an expression.

use heddle_feel::{Dialect, Expression};
use serde_json::Value;

/// A literal value, or the FEEL expression that gives it.
#[derive(Debug, Clone)]
pub enum Setting {
    /// The value itself.
    Literal(Value),
    /// Evaluated when the node is activated.
    Expression(Expression),
}

impl Setting {
    /// Reads a setting.
    ///
    /// # Errors
    /// When the text begins with `=` and the rest is no FEEL.
    pub fn read(value: &Value) -> Result<Self, String> {
        match value.as_str().and_then(|text| text.trim_start().strip_prefix('=')) {
            None => Ok(Self::Literal(value.clone())),
            Some(source) => match Expression::compile(source.trim(), Dialect::Heddle) {
                Ok(expression) => Ok(Self::Expression(expression)),
                Err(error) => Err(format!("`{source}` is no FEEL: {error}")),
            },
        }
    }
}

impl Setting {
    /// The value itself, where no expression gives it.
    pub(crate) const fn literal(&self) -> Option<&Value> {
        match self {
            Self::Literal(value) => Some(value),
            Self::Expression(_) => None,
        }
    }

    /// The names of variables that it reads, with repetitions.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let expression = match self {
            Self::Literal(_) => None,
            Self::Expression(expression) => Some(expression),
        };
        expression.into_iter().flat_map(Expression::globals)
    }
}
