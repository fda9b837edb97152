//! Relations between points and ranges (DMN 1.5, 10.3.4.7, Table 78).

use std::cmp::Ordering;

use super::Args;
use crate::machine::Machine;
use crate::value::outcome::{Outcome, null};
use crate::value::{RangeForm, Value};

/// An argument seen as a range; a point is one whose ends are the same. A range without an end, such as `(> 5)`, goes
/// on for ever there.
struct Span<'v> {
    low: Option<&'v Value>,
    low_included: bool,
    high: Option<&'v Value>,
    high_included: bool,
    point: bool,
}

fn span<'v>(args: &'v Args<'_>, at: usize) -> Outcome<Span<'v>> {
    match args.single(at) {
        Value::Range(range) if range.form == RangeForm::NotEqual => {
            null("what is not one value is no range between two ends")
        }
        Value::Range(range) => Ok(Span {
            low: range.low.as_ref(),
            low_included: range.low_included,
            high: range.high.as_ref(),
            high_included: range.high_included,
            point: false,
        }),
        Value::Null => null("these relations are between points and ranges, not null"),
        value => Ok(Span {
            low: Some(value),
            low_included: true,
            high: Some(value),
            high_included: true,
            point: true,
        }),
    }
}

fn order(a: &Value, b: &Value) -> Outcome<Ordering> {
    match a.compare(b) {
        Some(order) => Ok(order),
        None => null(format!("a {} and a {} have no order", a.type_name(), b.type_name())),
    }
}

/// The order of two lower ends, the absent one being the least.
fn lows(a: Option<&Value>, b: Option<&Value>) -> Outcome<Ordering> {
    match (a, b) {
        (Some(a), Some(b)) => order(a, b),
        _ => Ok(a.is_some().cmp(&b.is_some())),
    }
}

/// The order of two upper ends, the absent one being the greatest.
fn highs(a: Option<&Value>, b: Option<&Value>) -> Outcome<Ordering> {
    match (a, b) {
        (Some(a), Some(b)) => order(a, b),
        _ => Ok(b.is_some().cmp(&a.is_some())),
    }
}

impl Span<'_> {
    /// Order of this one's upper end and the other's lower one; none when one of them is absent.
    fn gap(&self, other: &Self) -> Outcome<Option<Ordering>> {
        match (self.high, other.low) {
            (Some(high), Some(low)) => order(high, low).map(Some),
            _ => Ok(None),
        }
    }

    fn before(&self, other: &Self) -> Outcome<bool> {
        Ok(match self.gap(other)? {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => !self.high_included || !other.low_included,
            Some(Ordering::Greater) | None => false,
        })
    }

    fn meets(&self, other: &Self) -> Outcome<bool> {
        Ok(self.high_included && other.low_included && self.gap(other)? == Some(Ordering::Equal))
    }

    fn overlaps(&self, other: &Self) -> Outcome<bool> {
        Ok(!self.before(other)? && !other.before(self)?)
    }

    /// Whether this begins before the other does.
    fn begins_before(&self, other: &Self) -> Outcome<bool> {
        Ok(match lows(self.low, other.low)? {
            Ordering::Less => true,
            Ordering::Equal => self.low_included && !other.low_included,
            Ordering::Greater => false,
        })
    }

    fn ends_before(&self, other: &Self) -> Outcome<bool> {
        Ok(match highs(self.high, other.high)? {
            Ordering::Less => true,
            Ordering::Equal => !self.high_included && other.high_included,
            Ordering::Greater => false,
        })
    }

    fn overlaps_before(&self, other: &Self) -> Outcome<bool> {
        Ok(self.begins_before(other)? && !self.before(other)? && !other.ends_before(self)?)
    }

    fn same_low(&self, other: &Self) -> Outcome<bool> {
        Ok(self.low_included == other.low_included && lows(self.low, other.low)?.is_eq())
    }

    fn same_high(&self, other: &Self) -> Outcome<bool> {
        Ok(self.high_included == other.high_included && highs(self.high, other.high)?.is_eq())
    }

    fn includes(&self, other: &Self) -> Outcome<bool> {
        Ok(!other.begins_before(self)? && !self.ends_before(other)?)
    }

    fn starts(&self, other: &Self) -> Outcome<bool> {
        Ok(self.same_low(other)? && !other.ends_before(self)?)
    }

    fn finishes(&self, other: &Self) -> Outcome<bool> {
        Ok(self.same_high(other)? && !self.begins_before(other)?)
    }
}

/// Rule of which of two arguments may be a point.
#[derive(Clone, Copy)]
enum Points {
    Both,
    First,
    Second,
    /// Both or none of them.
    Alike,
    Neither,
}

impl Points {
    const fn admit(self, first: bool, second: bool) -> bool {
        match self {
            Self::Both => true,
            Self::First => !second,
            Self::Second => !first,
            Self::Alike => first == second,
            Self::Neither => !first && !second,
        }
    }
}

fn related(
    args: &Args<'_>,
    points: Points,
    relation: impl FnOnce(&Span<'_>, &Span<'_>) -> Outcome<bool>,
) -> Outcome {
    let (a, b) = (span(args, 0)?, span(args, 1)?);
    if !points.admit(a.point, b.point) {
        return null("this relation needs a range here");
    }
    relation(&a, &b).map(Value::Boolean)
}

macro_rules! relations {
    ($($name:ident ($points:ident) $relation:expr;)*) => {$(
        pub(super) fn $name(_: &mut Machine, args: &Args<'_>) -> Outcome {
            related(args, Points::$points, $relation)
        }
    )*};
}

relations! {
    before (Both) |a, b| a.before(b);
    after (Both) |a, b| b.before(a);
    meets (Neither) |a, b| a.meets(b);
    met_by (Neither) |a, b| b.meets(a);
    overlaps (Neither) |a, b| a.overlaps(b);
    overlaps_before (Neither) |a, b| a.overlaps_before(b);
    overlaps_after (Neither) |a, b| Ok(b.begins_before(a)? && !b.before(a)? && !a.ends_before(b)?);
    finishes (First) |a, b| a.finishes(b);
    finished_by (Second) |a, b| b.finishes(a);
    includes (Second) |a, b| a.includes(b);
    during (First) |a, b| b.includes(a);
    starts (First) |a, b| a.starts(b);
    started_by (Second) |a, b| b.starts(a);
    coincides (Alike) |a, b| Ok(a.same_low(b)? && a.same_high(b)?);
}
