//! Ranges between two ends, and the ranges that comparisons stand for.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Value;

/// Range between two ends of one kind; an absent end is unbounded.
#[derive(Debug, Clone)]
pub struct Range {
    /// The lower end.
    pub low: Option<Value>,
    /// Whether the lower end itself belongs to the range.
    pub low_included: bool,
    /// The upper end.
    pub high: Option<Value>,
    /// Whether the upper end itself belongs to the range.
    pub high_included: bool,
    /// The form in which it is written.
    pub form: RangeForm,
}

/// End of a range as it is written: what gives it, and whether it itself belongs to the range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound<T> {
    /// The value of the end, or the node that gives it.
    pub value: T,
    /// Whether the end itself belongs to the range.
    pub included: bool,
}

/// Form in which a range is written; ranges of different forms are not equal (`(< 10)` is not `(null..10)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RangeForm {
    /// `[1..5]`
    #[default]
    Interval,
    /// `(< 5)`, `(<= 5)`, `(> 5)`, `(>= 5)`
    Comparison,
    /// `(= 5)`
    Equal,
    /// `(!= 5)`: everything but the ends, which are the same.
    NotEqual,
}

impl Range {
    /// Whether the value lies within; `None` when it cannot be compared with the ends.
    #[must_use]
    pub fn includes(&self, value: &Value) -> Option<bool> {
        match (self.form, &self.low) {
            (RangeForm::Equal, Some(end)) => return value.equals(end),
            (RangeForm::NotEqual, Some(end)) => return value.equals(end).map(|equal| !equal),
            _ => {}
        }
        let above = match &self.low {
            None => true,
            Some(low) => match value.compare(low)? {
                Ordering::Greater => true,
                Ordering::Equal => self.low_included,
                Ordering::Less => false,
            },
        };
        let below = match &self.high {
            None => true,
            Some(high) => match value.compare(high)? {
                Ordering::Less => true,
                Ordering::Equal => self.high_included,
                Ordering::Greater => false,
            },
        };
        Some(above && below)
    }

    /// A range between ends of one kind, either of which may be null; `None` when they cannot bound one.
    pub(crate) fn between(low: Bound<Value>, high: Bound<Value>) -> Option<Value> {
        if !low.value.can_bound() || !high.value.can_bound() {
            return None;
        }
        if low.value.is_null() && high.value.is_null() {
            return None;
        }
        let open = low.value.is_null() || high.value.is_null();
        let ascending = open || low.value.compare(&high.value).is_some_and(Ordering::is_le);
        ascending.then(|| {
            Value::Range(Arc::new(Self {
                low: Some(low.value),
                low_included: low.included,
                high: Some(high.value),
                high_included: high.included,
                form: RangeForm::Interval,
            }))
        })
    }
}

impl Value {
    /// Whether values of the kind have an order, so that they can be the ends of ranges.
    pub(crate) const fn can_bound(&self) -> bool {
        match self {
            Self::Null
            | Self::Number(_)
            | Self::String(_)
            | Self::Date(_)
            | Self::Time(_)
            | Self::DateTime(_)
            | Self::DaysAndTimeDuration(_)
            | Self::YearsAndMonthsDuration(_) => true,
            Self::Boolean(_) | Self::List(_) | Self::Context(_) | Self::Range(_) | Self::Function(_) => false,
        }
    }
}
