//! Methods of texts, lists, maps and instants that have an exact counterpart in FEEL.
//!
//! A method that the other engine would call on null fails there and gives null here.

use super::parser::Expr;

/// A method or function with an exact counterpart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Equals,
    EqualsIgnoringCase,
    LowerCase,
    UpperCase,
    Trim,
    Length,
    Size,
    /// Of a text or of a list.
    Contains,
    StartsWith,
    EndsWith,
    HasKey,
    Text,
    /// The value of a JSON text; a value that is none stays.
    Json,
}

impl Method {
    /// Whether it surely gives true or false, or null.
    pub(super) const fn is_truth(self) -> bool {
        matches!(
            self,
            Self::Equals
                | Self::EqualsIgnoringCase
                | Self::Contains
                | Self::StartsWith
                | Self::EndsWith
                | Self::HasKey
        )
    }
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Minutes,
    Hours,
    Days,
    Weeks,
    Months,
    Years,
}

impl Unit {
    /// The ISO 8601 duration of so many of it; none beyond the range of counts. FEEL's durations know no weeks.
    pub(super) fn duration(self, count: u32) -> Option<String> {
        Some(match self {
            Self::Seconds => format!("PT{count}S"),
            Self::Minutes => format!("PT{count}M"),
            Self::Hours => format!("PT{count}H"),
            Self::Days => format!("P{count}D"),
            Self::Weeks => format!("P{}D", count.checked_mul(7)?),
            Self::Months => format!("P{count}M"),
            Self::Years => format!("P{count}Y"),
        })
    }
}

/// The names of the methods, with the counts of their arguments.
const NAMES: &[(&str, usize, Method)] = &[
    ("equals", 1, Method::Equals),
    ("equalsIgnoreCase", 1, Method::EqualsIgnoringCase),
    ("toLowerCase", 0, Method::LowerCase),
    ("toUpperCase", 0, Method::UpperCase),
    ("trim", 0, Method::Trim),
    ("length", 0, Method::Length),
    ("size", 0, Method::Size),
    ("contains", 1, Method::Contains),
    ("startsWith", 1, Method::StartsWith),
    ("endsWith", 1, Method::EndsWith),
    ("containsKey", 1, Method::HasKey),
    ("hasProp", 1, Method::HasKey),
    ("toString", 0, Method::Text),
];

/// Methods by which the other engine's wrapper of JSON gives the value itself.
const SAME: &[&str] = &["numberValue", "stringValue", "boolValue", "elements", "value"];

/// Methods that move an instant.
const SHIFTS: &[(&str, Unit)] = &[
    ("Seconds", Unit::Seconds),
    ("Minutes", Unit::Minutes),
    ("Hours", Unit::Hours),
    ("Days", Unit::Days),
    ("Weeks", Unit::Weeks),
    ("Months", Unit::Months),
    ("Years", Unit::Years),
];

fn shift(name: &str) -> Option<(Unit, bool)> {
    let later = name.strip_prefix("plus").map(|unit| (unit, true));
    let (unit, later) = later.or_else(|| name.strip_prefix("minus").map(|unit| (unit, false)))?;
    SHIFTS.iter().find(|(own, _)| *own == unit).map(|(_, unit)| (*unit, later))
}

/// Whether a method of this name may be translated; others run code of the other engine.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.iter().any(|(own, ..)| *own == name)
        || SAME.contains(&name)
        || matches!(name, "get" | "prop" | "isEmpty" | "toDate")
        || shift(name).is_some()
}

/// A call of a method on a value; none when it has no counterpart.
pub(super) fn call<'t>(base: Expr<'t>, name: &str, mut arguments: Vec<Expr<'t>>) -> Option<Expr<'t>> {
    let base = Box::new(base);
    let instant = matches!(&*base, Expr::Now | Expr::Shift(..));
    let count = arguments.len();
    let argument = arguments.pop();
    if let Some((unit, later)) = shift(name) {
        // Only of an instant it is known that it is one.
        return (instant && count == 1)
            .then_some(argument)
            .flatten()
            .map(|amount| Expr::Shift(base, Box::new(amount), unit, later));
    }
    if let Some((_, _, method)) = NAMES.iter().find(|(own, wanted, _)| *own == name && *wanted == count) {
        return Some(Expr::Call(*method, base, argument.map(Box::new)));
    }
    match (name, argument) {
        ("toDate", None) if instant => Some(*base),
        ("isEmpty", None) => Some(Expr::Empty(base)),
        (name, None) if SAME.contains(&name) => Some(*base),
        ("get" | "prop", Some(Expr::Text(key))) if count == 1 => Some(Expr::Member(base, key)),
        ("get", Some(Expr::Number(digits))) if count == 1 => {
            let index = digits.parse::<u32>().ok().filter(|index| *index < u32::MAX)?;
            Some(Expr::Item(base, index))
        }
        ("get", Some(key)) if count == 1 => Some(Expr::At(base, Box::new(key))),
        _ => None,
    }
}
