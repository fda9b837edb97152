//! The values of FEEL (DMN 1.5, 10.3.2).

mod admit;
pub(crate) mod arithmetic;
mod context;
pub(crate) mod date;
mod display;
pub(crate) mod function;
pub(crate) mod json;
pub(crate) mod number;
pub(crate) mod outcome;
pub(crate) mod property;
mod range;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod zone;

use std::cmp::Ordering;
use std::ops::Deref;
use std::sync::Arc;

pub use context::Context;
use date::{Date, DaysAndTimeDuration};
pub(crate) use function::Function;
use number::Number;
pub(crate) use range::Bound;
pub use range::{Range, RangeForm};
use time::{DateTime, Time};

/// Levels of values within each other in an evaluation; comparing, writing and freeing them take stack for each.
pub(crate) const MAX_VALUE_DEPTH: u32 = 200;
/// Values deeper than this, which only a program around FEEL makes, are neither compared nor written.
const MAX_READ_DEPTH: u32 = MAX_VALUE_DEPTH * 2;

/// A value. Cloning is cheap: what can be large is shared.
#[derive(Debug, Clone, Default)]
// A tag of a whole word, so that values are moved by words: moving what lies behind a tag of one byte stalls.
#[repr(u64)]
pub enum Value {
    /// No value.
    #[default]
    Null,
    /// True or false.
    Boolean(bool),
    /// A decimal of 34 digits.
    Number(Number),
    /// Unicode text.
    String(Arc<str>),
    /// A calendar day.
    Date(Date),
    /// A time of day, with or without a zone.
    Time(Arc<Time>),
    /// A date and time, with or without a zone.
    DateTime(Arc<DateTime>),
    /// A duration in days, hours, minutes and seconds.
    DaysAndTimeDuration(DaysAndTimeDuration),
    /// A duration in months.
    YearsAndMonthsDuration(i64),
    /// Values in an order.
    List(Arc<List>),
    /// Named values in an order.
    Context(Arc<Context>),
    /// A range between two ends.
    Range(Arc<Range>),
    /// A function.
    Function(Function),
}

/// Values in an order, and how deeply they are nested.
#[derive(Debug, Clone, Default)]
pub struct List {
    items: Vec<Value>,
    depth: u32,
    weight: u32,
}

impl List {
    /// A list of these items.
    #[must_use]
    pub fn new(items: Vec<Value>) -> Self {
        let mut list = Self { items: Vec::new(), depth: 1, weight: 1 };
        for item in &items {
            list.weigh(item);
        }
        list.items = items;
        list
    }

    fn weigh(&mut self, item: &Value) {
        self.depth = self.depth.max(item.depth() + 1);
        self.weight = self.weight.saturating_add(item.weight());
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: Value) {
        self.weigh(&item);
        self.items.push(item);
    }

    /// The items.
    #[must_use]
    pub fn into_items(mut self) -> Vec<Value> {
        std::mem::take(&mut self.items)
    }
}

/// Deep values are freed level by level instead of within each other, which would take stack for each level.
impl Drop for List {
    fn drop(&mut self) {
        if self.depth > MAX_VALUE_DEPTH {
            free(std::mem::take(&mut self.items));
        }
    }
}

fn free(mut values: Vec<Value>) {
    while let Some(value) = values.pop() {
        match value {
            Value::List(list) => {
                values.extend(Arc::into_inner(list).map(List::into_items).unwrap_or_default())
            }
            Value::Context(context) => {
                values.extend(Arc::into_inner(context).map(Context::into_values).unwrap_or_default());
            }
            _ => {}
        }
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.items
    }
}

impl Value {
    /// A string.
    #[must_use]
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// A list.
    #[must_use]
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(List::new(items)))
    }

    /// A context.
    #[must_use]
    pub fn context(context: Context) -> Self {
        Self::Context(Arc::new(context))
    }

    /// A whole number.
    #[must_use]
    pub fn integer(value: i64) -> Self {
        Self::Number(Number::from_i64(value))
    }

    pub(crate) fn time(time: Time) -> Self {
        Self::Time(Arc::new(time))
    }

    pub(crate) fn date_time(value: DateTime) -> Self {
        Self::DateTime(Arc::new(value))
    }

    /// Levels of lists, contexts and functions within each other; 0 for a scalar. Kept with the value so that
    /// evaluation can bound it: comparing, writing and freeing a value go down level by level.
    #[must_use]
    pub fn depth(&self) -> u32 {
        match self {
            Self::List(list) => list.depth,
            Self::Context(context) => context.depth(),
            Self::Function(function) => function.depth(),
            _ => 0,
        }
    }

    /// About how many values lie within, each counted wherever it occurs: shared parts make a small value one that
    /// takes long to compare and much room to write.
    #[must_use]
    pub fn weight(&self) -> u32 {
        match self {
            Self::List(list) => list.weight,
            Self::Context(context) => context.weight(),
            Self::String(text) => u32::try_from(text.len() / 32).unwrap_or(u32::MAX).saturating_add(1),
            _ => 1,
        }
    }

    /// Whether this is null.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The truth value, when it is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// The text, when it is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, when it is one.
    #[must_use]
    pub const fn as_number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The type's name in FEEL.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Date(_) => "date",
            Self::Time(_) => "time",
            Self::DateTime(_) => "date and time",
            Self::DaysAndTimeDuration(_) => "days and time duration",
            Self::YearsAndMonthsDuration(_) => "years and months duration",
            Self::List(_) => "list",
            Self::Context(_) => "context",
            Self::Range(_) => "range",
            Self::Function(_) => "function",
        }
    }

    /// Equality of FEEL (Table 49): `None`, which reads as null, between values of different kinds and for a value
    /// nested more than 400 levels deep, which no evaluation gives.
    #[must_use]
    pub fn equals(&self, other: &Self) -> Option<bool> {
        Some(match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Null, _) | (_, Self::Null) => false,
            (Self::List(_) | Self::Context(_), _) if self.depth() > MAX_READ_DEPTH => return None,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Date(a), Self::Date(b)) => a == b,
            (Self::Time(a), Self::Time(b)) => a.compare(b) == Some(Ordering::Equal),
            (Self::DateTime(a), Self::DateTime(b)) => a.compare(b) == Some(Ordering::Equal),
            (Self::DaysAndTimeDuration(a), Self::DaysAndTimeDuration(b)) => a == b,
            (Self::YearsAndMonthsDuration(a), Self::YearsAndMonthsDuration(b)) => a == b,
            (Self::List(a), Self::List(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                for (x, y) in a.iter().zip(b.iter()) {
                    if !x.equals(y).unwrap_or(false) {
                        return Some(false);
                    }
                }
                true
            }
            (Self::Context(a), Self::Context(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(name, x)| b.get(name).is_some_and(|y| x.equals(y).unwrap_or(false)))
            }
            (Self::Range(a), Self::Range(b)) => {
                let end = |x: &Option<Self>, y: &Option<Self>| match (x, y) {
                    (None, None) => true,
                    (Some(x), Some(y)) => x.equals(y).unwrap_or(false),
                    _ => false,
                };
                a.form == b.form
                    && a.low_included == b.low_included
                    && a.high_included == b.high_included
                    && end(&a.low, &b.low)
                    && end(&a.high, &b.high)
            }
            (Self::Function(a), Self::Function(b)) => a.same(b),
            _ => return None,
        })
    }

    /// The order of FEEL (Table 50); none between kinds or for kinds without an order.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Some(a.cmp(b)),
            (Self::String(a), Self::String(b)) => Some(a.cmp(b)),
            (Self::Date(a), Self::Date(b)) => Some(a.cmp(b)),
            (Self::Time(a), Self::Time(b)) => a.compare(b),
            (Self::DateTime(a), Self::DateTime(b)) => a.compare(b),
            (Self::DaysAndTimeDuration(a), Self::DaysAndTimeDuration(b)) => Some(a.cmp(b)),
            (Self::YearsAndMonthsDuration(a), Self::YearsAndMonthsDuration(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// Structural equality, for tests and for finding duplicates; kinds that differ are unequal.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other) == Some(true)
    }
}
