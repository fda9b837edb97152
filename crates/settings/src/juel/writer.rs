//! JUEL's expressions written as FEEL.

use super::JuelError;
use super::methods::{Method, Unit};
use super::parser::{Expr, Operator};

/// Longest FEEL written, in bytes.
const MAX_WRITTEN: usize = 64 * 1024;

/// Type that an expression surely gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Number,
    Text,
    Null,
    Any,
}

/// Words that FEEL reads as something else than a name.
const RESERVED: &[&str] = &[
    "and",
    "between",
    "else",
    "every",
    "external",
    "false",
    "for",
    "function",
    "if",
    "in",
    "instance",
    "not",
    "null",
    "or",
    "return",
    "satisfies",
    "some",
    "then",
    "true",
];

/// FEEL that gives the same value.
pub(super) fn value(expression: &Expr<'_>) -> Result<String, JuelError> {
    bounded(written(expression)?.0)
}

/// FEEL that is true exactly when the expression is; elsewhere it may be null instead of false.
pub(super) fn truth(expression: &Expr<'_>) -> Result<String, JuelError> {
    bounded(match expression {
        Expr::Binary(operator @ (Operator::And | Operator::Or), left, right) => {
            let word = if *operator == Operator::And { "and" } else { "or" };
            format!("{} {word} {}", truth_operand(left)?, truth_operand(right)?)
        }
        Expr::Binary(operator, left, right) => match comparison(*operator, left, right)? {
            Some((text, _)) => text,
            None => written(expression)?.0,
        },
        _ => written(expression)?.0,
    })
}

/// FEEL that gives the expression's value as a part of a text: null is the empty text.
pub(super) fn text(expression: &Expr<'_>) -> Result<String, JuelError> {
    match written(expression)? {
        (text, Kind::Text) => Ok(text),
        (text, _) => bounded(format!("get or else(string({text}), \"\")")),
    }
}

/// A FEEL text.
pub(super) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// Nesting writes some operands more than once, so that the length needs a bound of its own.
pub(super) fn bounded(text: String) -> Result<String, JuelError> {
    if text.len() > MAX_WRITTEN {
        return Err(JuelError("its translation would be too long".to_owned()));
    }
    Ok(text)
}

fn written(expression: &Expr<'_>) -> Result<(String, Kind), JuelError> {
    let (text, kind) = match expression {
        Expr::Null => ("null".to_owned(), Kind::Null),
        Expr::Boolean(truth) => (truth.to_string(), Kind::Boolean),
        Expr::Number(digits) => ((*digits).to_owned(), Kind::Number),
        Expr::Text(text) => (string(text), Kind::Text),
        Expr::Name(name) => (own_name(name)?, Kind::Any),
        Expr::Member(base, member) => (path(&operand(base)?, member), Kind::Any),
        Expr::Item(base, index) => (item(&operand(base)?, *index), Kind::Any),
        Expr::At(base, key) => (at(&operand(base)?, &operand(key)?), Kind::Any),
        Expr::Now => ("now()".to_owned(), Kind::Any),
        Expr::Shift(base, amount, unit, later) => {
            (shifted(&operand(base)?, amount, *unit, *later)?, Kind::Any)
        }
        Expr::Call(method, base, argument) => (called(*method, base, argument.as_deref())?, Kind::Any),
        Expr::Feel(text) => (format!("({text})"), Kind::Any),
        Expr::Not(inner) => (format!("{} != true", truth_operand(inner)?), Kind::Boolean),
        Expr::Negative(inner) => (format!("-{}", number(inner)?.0), Kind::Number),
        Expr::Empty(inner) => {
            (format!("list contains([null, \"\", [], {{}}], {})", value(inner)?), Kind::Boolean)
        }
        Expr::If(condition, then, otherwise) => {
            let condition = truth(condition)?;
            let ((then, first), (otherwise, second)) = (written(then)?, written(otherwise)?);
            let kind = if first == second { first } else { Kind::Any };
            (format!("if {condition} then {then} else {otherwise}"), kind)
        }
        Expr::Binary(Operator::And | Operator::Or, ..) => {
            (format!("({}) = true", truth(expression)?), Kind::Boolean)
        }
        Expr::Binary(Operator::Join, left, right) => joined(left, right)?,
        Expr::Binary(operator, left, right) => match comparison(*operator, left, right)? {
            Some((text, true)) => (text, Kind::Boolean),
            Some((text, false)) => (format!("({text}) = true"), Kind::Boolean),
            None => (arithmetic(*operator, left, right)?, Kind::Number),
        },
    };
    Ok((bounded(text)?, kind))
}

/// A comparison, and whether it is never null.
fn comparison(
    operator: Operator,
    left: &Expr<'_>,
    right: &Expr<'_>,
) -> Result<Option<(String, bool)>, JuelError> {
    let sign = match operator {
        Operator::Equal => "=",
        Operator::Unequal => "!=",
        Operator::Less => "<",
        Operator::LessOrEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => ">=",
        _ => return Ok(None),
    };
    let (first, second) = (operand(left)?, operand(right)?);
    let with_null = matches!(left, Expr::Null) || matches!(right, Expr::Null);
    Ok(Some(match operator {
        Operator::Equal => (format!("{first} = {second}"), with_null),
        Operator::Unequal if with_null => (format!("{first} != {second}"), true),
        // Values of different types are unequal; FEEL alone would say null.
        Operator::Unequal => (format!("({first} = {second}) != true"), true),
        // To JUEL two nulls are in order.
        Operator::LessOrEqual | Operator::GreaterOrEqual if !literal(left) && !literal(right) => {
            (format!("({first} {sign} {second} or {first} = {second})"), false)
        }
        _ => (format!("{first} {sign} {second}"), false),
    }))
}

fn arithmetic(operator: Operator, left: &Expr<'_>, right: &Expr<'_>) -> Result<String, JuelError> {
    let ((first, surely), (second, sure)) = (number(left)?, number(right)?);
    Ok(match operator {
        // FEEL's plus would join two texts.
        Operator::Plus if !surely && !sure => format!("{first} - (0 - {second})"),
        Operator::Plus => format!("{first} + {second}"),
        Operator::Minus => format!("{first} - {second}"),
        Operator::Times => format!("{first} * {second}"),
        // FEEL says null where the divisor is 0, with the reason.
        Operator::Divide => format!("{first} / {second}"),
        Operator::Remainder if matches!(left, Expr::Number(_)) => {
            format!("modulo({first}, abs({second}))")
        }
        // The remainder has the sign of the dividend there, and that of the divisor in FEEL.
        Operator::Remainder => format!(
            "(if {first} < 0 then -modulo(-({first}), abs({second})) else modulo({first}, abs({second})))"
        ),
        Operator::Or
        | Operator::And
        | Operator::Equal
        | Operator::Unequal
        | Operator::Less
        | Operator::LessOrEqual
        | Operator::Greater
        | Operator::GreaterOrEqual
        | Operator::Join => return Err(JuelError("the operator computes no number".to_owned())),
    })
}

/// Plus of a script: texts are joined, with the word `null` for null, and numbers are added.
fn joined(left: &Expr<'_>, right: &Expr<'_>) -> Result<(String, Kind), JuelError> {
    let ((first, a), (second, b)) = (written(left)?, written(right)?);
    let enclosed = |expression: &Expr<'_>, text: String| {
        if simple(expression) { text } else { format!("({text})") }
    };
    if a != Kind::Text && b != Kind::Text {
        let quoted = |own: &Expr<'_>| matches!(own, Expr::Feel(text) if text.contains('"'));
        if quoted(left) || quoted(right) {
            return Err(JuelError("whether a variable is a text is not known here".to_owned()));
        }
        let kind = if a == Kind::Number && b == Kind::Number { Kind::Number } else { Kind::Any };
        return Ok((format!("{} + {}", enclosed(left, first), enclosed(right, second)), kind));
    }
    let text = |expression: &Expr<'_>, text: String, kind: Kind| match kind {
        Kind::Text => enclosed(expression, text),
        Kind::Boolean | Kind::Number | Kind::Null | Kind::Any => {
            format!("get or else(string({text}), \"null\")")
        }
    };
    Ok((format!("{} + {}", text(left, first, a), text(right, second, b)), Kind::Text))
}

/// A method on a value, as a function's call or in parentheses.
fn called(method: Method, base: &Expr<'_>, argument: Option<&Expr<'_>>) -> Result<String, JuelError> {
    let base = operand(base)?;
    let argument = argument.map_or_else(|| Ok(String::new()), operand)?;
    Ok(match method {
        Method::Equals => format!("({base} = {argument})"),
        Method::EqualsIgnoringCase => format!("(lower case({base}) = lower case({argument}))"),
        Method::LowerCase => format!("lower case({base})"),
        Method::UpperCase => format!("upper case({base})"),
        Method::Trim => format!("trim({base})"),
        Method::Length => format!("string length({base})"),
        Method::Size => format!(
            "(if {base} = null then null else if {base} instance of list<Any> then count({base}) \
             else count(get entries({base})))"
        ),
        Method::Contains => format!(
            "(if {base} instance of list<Any> then list contains({base}, {argument}) \
             else contains({base}, {argument}))"
        ),
        Method::StartsWith => format!("starts with({base}, {argument})"),
        Method::EndsWith => format!("ends with({base}, {argument})"),
        Method::HasKey => format!("list contains(get entries({base}).key, {argument})"),
        Method::Text => format!("string({base})"),
        Method::Json => format!("(if {base} instance of string then from json({base}) else {base})"),
    })
}

/// An instant moved by so many units.
fn shifted(base: &str, amount: &Expr<'_>, unit: Unit, later: bool) -> Result<String, JuelError> {
    let sign = if later { '+' } else { '-' };
    if let Expr::Number(digits) = amount {
        let duration = digits.parse::<u32>().ok().and_then(|count| unit.duration(count));
        let wrong = || JuelError(format!("`{digits}` is no count of units of time"));
        return Ok(format!("({base} {sign} duration(\"{}\"))", duration.ok_or_else(wrong)?));
    }
    let (count, _) = number(amount)?;
    let one = unit.duration(1).unwrap_or_default();
    Ok(format!("({base} {sign} {count} * duration(\"{one}\"))"))
}

/// An operand of arithmetic, and whether it surely is a number: null counts as 0.
fn number(expression: &Expr<'_>) -> Result<(String, bool), JuelError> {
    let (text, kind) = written(expression)?;
    match kind {
        Kind::Number if simple(expression) => Ok((text, true)),
        Kind::Number => Ok((format!("({text})"), true)),
        Kind::Null => Ok(("0".to_owned(), true)),
        Kind::Any => Ok((format!("get or else({text}, 0)"), false)),
        Kind::Text | Kind::Boolean => {
            Err(JuelError("arithmetic with a text or a truth value is not translated".to_owned()))
        }
    }
}

fn literal(expression: &Expr<'_>) -> bool {
    matches!(expression, Expr::Number(_) | Expr::Text(_) | Expr::Boolean(_))
}

fn simple(expression: &Expr<'_>) -> bool {
    matches!(
        expression,
        Expr::Null
            | Expr::Boolean(_)
            | Expr::Number(_)
            | Expr::Text(_)
            | Expr::Name(_)
            | Expr::Member(..)
            | Expr::Empty(_)
            | Expr::Item(..)
            | Expr::At(..)
            | Expr::Now
            | Expr::Shift(..)
            | Expr::Call(..)
            | Expr::Feel(_)
    )
}

/// The value, in parentheses where it is compound.
fn operand(expression: &Expr<'_>) -> Result<String, JuelError> {
    let text = value(expression)?;
    Ok(if simple(expression) { text } else { format!("({text})") })
}

fn truth_operand(expression: &Expr<'_>) -> Result<String, JuelError> {
    let text = truth(expression)?;
    Ok(if simple(expression) { text } else { format!("({text})") })
}

fn plain(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_');
    first
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !RESERVED.contains(&name)
}

pub(super) fn own_name(name: &str) -> Result<String, JuelError> {
    if plain(name) {
        return Ok(name.to_owned());
    }
    if name.is_empty() || name.contains(['`', '\n', '\r']) {
        return Err(JuelError(format!("`{name}` cannot be a name in FEEL")));
    }
    Ok(format!("`{name}`"))
}

pub(super) fn path(base: &str, member: &str) -> String {
    if plain(member) { format!("{base}.{member}") } else { format!("get value({base}, {})", string(member)) }
}

/// An item of a list; what is no list has none.
fn item(base: &str, index: u32) -> String {
    format!("(if {base} instance of list<Any> then {base}[{}] else null)", u64::from(index) + 1)
}

/// An item of a list by a computed place, or a member by a computed key.
fn at(base: &str, key: &str) -> String {
    format!(
        "(if {base} instance of list<Any> then sublist({base}, {key} + 1, 1)[1] else get value({base}, {key}))"
    )
}
