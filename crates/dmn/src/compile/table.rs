//! Decision tables compiled: tests as constants where they are, rules found by an index.

use std::sync::Arc;

use heddle_feel::{Expression, UnaryTests, Value};

use super::index::Index;
use super::plain::Deferred;
use super::plan::{AllowedValues, ItemType, Place};
use crate::model::{Aggregation, HitPolicy};

/// From so many rules on they are found by an index.
const INDEXED: usize = 12;

#[derive(Debug)]
pub(crate) struct Table {
    pub hit_policy: HitPolicy,
    pub aggregation: Option<Aggregation>,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    /// Ids of the rules.
    pub rules: Vec<Option<Arc<str>>>,
    /// Tests of all rules, rule by rule.
    pub tests: Vec<Test>,
    /// Outputs of all rules, rule by rule.
    pub cells: Vec<Cell>,
    pub index: Option<Index>,
}

#[derive(Debug)]
pub(crate) struct Input {
    /// The text of the input, for explanations.
    pub text: Arc<str>,
    pub value: Cell,
    pub kind: Option<Arc<ItemType>>,
    /// Whether its value comes from outside without a type, so that a text is read as the date, time or duration of
    /// `kind`.
    pub reads: bool,
    pub allowed: Option<AllowedValues>,
    pub place: Place,
}

#[derive(Debug)]
pub(crate) struct Output {
    pub name: Option<Arc<str>>,
    pub kind: Option<Arc<ItemType>>,
    /// The values possible, by priority.
    pub values: Vec<Value>,
    pub default: Option<Cell>,
    pub place: Place,
}

/// A text that gives a value.
#[derive(Debug)]
pub(crate) enum Cell {
    Constant(Value),
    Feel(Expression, Place),
    Missing(Arc<str>, Place),
}

/// An entry of a rule.
#[derive(Debug)]
pub(crate) enum Test {
    Any,
    Constants {
        tests: Vec<Value>,
        negated: bool,
        /// Program for inputs that are no scalars.
        program: Deferred,
        place: Place,
    },
    Program(UnaryTests, Place),
    /// The text could not be read; it lets nothing through.
    Broken(Arc<str>, Place),
}

/// Whether a constant test lets a value through that is neither a list, a range nor a context.
fn passes(test: &Value, input: &Value) -> Option<bool> {
    match test {
        Value::Range(range) => range.includes(input),
        Value::List(items) => Some(items.iter().any(|item| passes(item, input) == Some(true))),
        _ => input.equals(test),
    }
}

/// Whether the quick way of testing constants is right for that input.
pub(crate) const fn is_scalar(input: &Value) -> bool {
    !matches!(input, Value::List(_) | Value::Range(_) | Value::Context(_) | Value::Function(_))
}

/// Whether constant tests let a scalar through.
#[inline]
pub(crate) fn any_passes(tests: &[Value], negated: bool, input: &Value) -> bool {
    let mut unknown = false;
    for test in tests {
        match passes(test, input) {
            Some(true) => return !negated,
            Some(false) => {}
            None => unknown = true,
        }
    }
    negated && !unknown
}

impl Table {
    /// The tests of a rule.
    pub(crate) fn tests_of(&self, rule: usize) -> &[Test] {
        let width = self.inputs.len();
        self.tests.get(rule * width..(rule + 1) * width).unwrap_or_default()
    }

    /// The outputs of a rule.
    pub(crate) fn cells_of(&self, rule: usize) -> &[Cell] {
        let width = self.outputs.len();
        self.cells.get(rule * width..(rule + 1) * width).unwrap_or_default()
    }

    /// Makes the index when it is worth it.
    pub(crate) fn indexed(mut self) -> Self {
        if self.rules.len() >= INDEXED && !self.inputs.is_empty() {
            self.index = Some(Index::new(&self.tests, self.inputs.len()));
        }
        self
    }
}
