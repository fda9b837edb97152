//! Conditions of sequence flows: a FEEL expression, or the editor's `left operator value`.

use super::timer;
use heddle_feel::{Dialect, EvalContext, Expression, LimitError, StepBudget};
use heddle_kernel::Timestamp;
pub(super) use heddle_settings::expression::{Wrong, feel, juel, xpath};
use serde_json::{Map, Number, Value};
use std::cmp::Ordering;
use std::sync::Arc;

/// End of its source for which a flow is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// The source ended without a failure.
    Success,
    /// The source failed.
    Failure,
    /// The human task was completed with this outcome.
    Outcome(Arc<str>),
    /// Either way.
    Always,
}

/// Condition under which a flow is taken.
#[derive(Debug, Clone)]
pub struct FlowCondition {
    /// End of the source for which it is taken.
    pub side: Side,
    /// The test of the data; absent when the side alone decides.
    pub test: Option<Test>,
}

/// A test of the data.
#[derive(Debug, Clone)]
pub enum Test {
    /// A FEEL expression that must be true.
    Feel(Expression),
    /// A comparison of one value with a text.
    Compare(Comparison),
}

/// `left operator value` of an edge.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Members and indexes from a variable, or from `nodes`, to the left operand.
    pub path: Vec<String>,
    operator: Operator,
    negated: bool,
    value: String,
    /// The three texts as they were written, for messages.
    text: String,
}

#[derive(Debug, Clone)]
enum Operator {
    Equal,
    Order(fn(Ordering) -> bool),
    Between(String, String),
    In(Vec<String>),
    Contains,
    StartsWith,
    EndsWith,
    Matches(Expression),
    Exists,
    Empty,
    Is(bool),
}

impl Comparison {
    /// Compiles the three texts of a condition.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn compile(left: &str, operator: &str, value: Option<&str>) -> Result<Self, String> {
        let word = operator;
        let path = path(left)?;
        let (operator, negated, needs_value) = match operator {
            "eq" => (Operator::Equal, false, true),
            "neq" => (Operator::Equal, true, true),
            "gt" => (Operator::Order(Ordering::is_gt), false, true),
            "gte" => (Operator::Order(Ordering::is_ge), false, true),
            "lt" => (Operator::Order(Ordering::is_lt), false, true),
            "lte" => (Operator::Order(Ordering::is_le), false, true),
            "between" => (between(value)?, false, true),
            "in" => (Operator::In(list(value)), false, true),
            "notIn" => (Operator::In(list(value)), true, true),
            "contains" => (Operator::Contains, false, true),
            "notContains" => (Operator::Contains, true, true),
            "startsWith" => (Operator::StartsWith, false, true),
            "endsWith" => (Operator::EndsWith, false, true),
            "matches" => (matches_operator()?, false, true),
            "exists" => (Operator::Exists, false, false),
            "notExists" => (Operator::Exists, true, false),
            "empty" => (Operator::Empty, false, false),
            "notEmpty" => (Operator::Empty, true, false),
            "isTrue" => (Operator::Is(true), false, false),
            "isFalse" => (Operator::Is(false), false, false),
            other => return Err(format!("there is no operator `{other}`")),
        };
        if needs_value && value.is_none() {
            return Err("the condition has no value to compare with".to_owned());
        }
        let text = [left.trim(), word, value.unwrap_or_default()].join(" ").trim_end().to_owned();
        Ok(Self { path, operator, negated, value: value.unwrap_or_default().to_owned(), text })
    }

    /// The question whether a value is equal to a text, as `eq` asks it.
    pub(super) fn equal_to(path: Vec<String>, value: &str) -> Self {
        let text = format!("{} eq {value}", path.join("."));
        Self { path, operator: Operator::Equal, negated: false, value: value.to_owned(), text }
    }

    /// The comparison as it was written: `left operator value`.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the comparison holds for the left operand; an absent operand is null. None where the question has no
    /// answer, as FEEL gives null: an ordering of values of two types or of null, a part of what is no text or list. A
    /// pattern that exceeds a limit of its own does not match.
    ///
    /// # Errors
    /// `Budget` when the budget is used up.
    pub fn holds(&self, left: Option<&Value>, budget: &StepBudget) -> Result<Option<bool>, LimitError> {
        let left = left.unwrap_or(&Value::Null);
        let value = self.value.as_str();
        budget.charge(1 + (value.len() + shallow(left)) as u64 / 8)?;
        let holds = match &self.operator {
            Operator::Equal => equal(left, value),
            Operator::Order(test) => match order(left, value) {
                Some(order) => test(order),
                None => return Ok(None),
            },
            Operator::Between(low, high) => match (order(left, low), order(left, high)) {
                (Some(low), Some(high)) => low.is_ge() && high.is_le(),
                _ => return Ok(None),
            },
            Operator::In(items) => items.iter().any(|item| equal(left, item)),
            Operator::Contains => match left {
                Value::String(text) => text.contains(value),
                Value::Array(items) => items.iter().any(|item| equal(item, value)),
                Value::Object(members) => members.contains_key(value),
                Value::Null | Value::Bool(_) | Value::Number(_) => return Ok(None),
            },
            Operator::StartsWith => match left.as_str() {
                Some(text) => text.starts_with(value),
                None => return Ok(None),
            },
            Operator::EndsWith => match left.as_str() {
                Some(text) => text.ends_with(value),
                None => return Ok(None),
            },
            Operator::Matches(expression) => match left.as_str() {
                Some(text) => matches(expression, text, value, budget)?,
                None => return Ok(None),
            },
            Operator::Exists => !left.is_null(),
            Operator::Empty => match left {
                Value::Null => true,
                Value::String(text) => text.is_empty(),
                Value::Array(items) => items.is_empty(),
                Value::Object(members) => members.is_empty(),
                _ => false,
            },
            Operator::Is(expected) => left.as_bool() == Some(*expected),
        };
        Ok(Some(holds != self.negated))
    }
}

/// Follows members and indexes into a value.
#[must_use]
pub fn follow<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match value {
        Value::Object(members) => members.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// `a.b[0].c` as its steps.
fn path(left: &str) -> Result<Vec<String>, String> {
    let mut steps = Vec::new();
    for part in left.trim().split('.') {
        let mut pieces = part.split('[');
        steps.push(pieces.next().unwrap_or_default().trim().to_owned());
        for index in pieces {
            match index.strip_suffix(']') {
                Some(index) => steps.push(index.trim().to_owned()),
                None => return Err(format!("`{left}` is not a path")),
            }
        }
    }
    if steps.iter().any(String::is_empty) {
        return Err(format!("`{left}` is not a path such as order.total or nodes.review.outcome"));
    }
    Ok(steps)
}

/// The texts of a JSON array, or of a list parted by commas.
pub fn list(value: Option<&str>) -> Vec<String> {
    let value = value.unwrap_or_default();
    if let Ok(Value::Array(items)) = serde_json::from_str(value) {
        return items
            .into_iter()
            .map(|item| match item {
                Value::String(text) => text,
                other => other.to_string(),
            })
            .collect();
    }
    value.split(',').map(|item| item.trim().to_owned()).collect()
}

fn between(value: Option<&str>) -> Result<Operator, String> {
    let mut bounds = list(value);
    match (bounds.pop(), bounds.pop(), bounds.pop()) {
        (Some(high), Some(low), None) => Ok(Operator::Between(low, high)),
        _ => Err("`between` needs two values: low,high".to_owned()),
    }
}

/// Patterns are FEEL's, so that the condition means the same after its export as FEEL.
fn matches_operator() -> Result<Operator, String> {
    match Expression::compile("matches(text, pattern)", Dialect::Heddle) {
        Ok(expression) => Ok(Operator::Matches(expression)),
        Err(error) => Err(error.message),
    }
}

/// Bytes or entries that a comparison looks at.
fn shallow(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => 1,
    }
}

fn matches(
    expression: &Expression,
    text: &str,
    pattern: &str,
    budget: &StepBudget,
) -> Result<bool, LimitError> {
    let mut scope = Map::new();
    scope.insert("text".to_owned(), text.into());
    scope.insert("pattern".to_owned(), pattern.into());
    let context = EvalContext { now: Timestamp::from_micros(0) };
    match expression.evaluate_on(&scope, &context, budget) {
        Ok(evaluated) => Ok(matches!(evaluated.value, heddle_feel::Value::Boolean(true))),
        Err(error @ LimitError::Budget(_)) => Err(error),
        Err(_) => Ok(false),
    }
}

fn equal(left: &Value, right: &str) -> bool {
    match left {
        Value::Null => right == "null",
        Value::Bool(truth) => right.trim().parse() == Ok(*truth),
        Value::Number(_) => order(left, right) == Some(Ordering::Equal),
        Value::String(text) => text == right || order(left, right) == Some(Ordering::Equal),
        Value::Array(_) | Value::Object(_) => {
            serde_json::from_str::<Value>(right).is_ok_and(|right| right == *left)
        }
    }
}

/// The order of two numbers or of two ISO 8601 dates.
fn order(left: &Value, right: &str) -> Option<Ordering> {
    match left {
        Value::Number(left) => numbers(left, &right.trim().parse().ok()?),
        Value::String(left) => Some(timer::date(left).ok()?.cmp(&timer::date(right.trim()).ok()?)),
        _ => None,
    }
}

fn numbers(left: &Number, right: &Number) -> Option<Ordering> {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn operators_compare_strictly_by_type() {
        let at_noon = json!("2024-05-01T12:00:00Z");
        for (left, operator, value, expected) in [
            (json!(5), "eq", "5", true),
            (json!(5), "eq", "5.0", true),
            (json!("5"), "eq", "5", true),
            (json!("a"), "neq", "b", true),
            (json!(null), "neq", "b", true),
            (json!(true), "eq", "true", true),
            (json!(true), "eq", "1", false),
            (json!(10), "gt", "9", true),
            (at_noon.clone(), "lt", "2024-05-02", true),
            (at_noon, "gte", "2024-05-01T14:00:00+02:00", true),
            (json!(3), "between", "1,3", true),
            (json!(4), "between", "1,3", false),
            (json!("de"), "in", "at, de", true),
            (json!(2), "in", "[1,2]", true),
            (json!("fr"), "notIn", "at,de", true),
            (json!("heddle"), "contains", "dd", true),
            (json!(["a", "b"]), "contains", "b", true),
            (json!(["a", "b"]), "notContains", "c", true),
            (json!("heddle"), "startsWith", "he", true),
            (json!("heddle"), "endsWith", "le", true),
            (json!(0), "exists", "", true),
            (json!(null), "notExists", "", true),
            (json!([]), "empty", "", true),
            (json!("x"), "notEmpty", "", true),
            (json!(true), "isTrue", "", true),
            (json!("true"), "isTrue", "", false),
            (json!(false), "isFalse", "", true),
            (json!({"a": 1}), "eq", "{\"a\": 1}", true),
        ] {
            let comparison = Comparison::compile("x", operator, Some(value)).unwrap();
            assert_eq!(
                comparison.holds(Some(&left), &StepBudget::default()),
                Ok(Some(expected)),
                "{left} {operator} {value}"
            );
        }
    }

    #[test]
    fn what_cannot_be_compared_is_no_answer() {
        for (left, operator, value) in [
            (json!("10"), "gt", "9"),
            (json!(null), "lte", "9"),
            (json!("soon"), "between", "1,3"),
            (json!(null), "contains", "a"),
            (json!(7), "notContains", "7"),
            (json!(null), "startsWith", "a"),
            (json!([]), "endsWith", "a"),
            (json!(12), "matches", "1.*"),
        ] {
            let comparison = Comparison::compile("x", operator, Some(value)).unwrap();
            let told = comparison.holds(Some(&left), &StepBudget::default());
            assert_eq!(told, Ok(None), "{left} {operator} {value}");
        }
    }

    #[test]
    fn a_pattern_is_feels() {
        let comparison = Comparison::compile("x", "matches", Some("^[a-c]+$")).unwrap();
        let budget = StepBudget::new(10_000);
        assert_eq!(comparison.holds(Some(&json!("abc")), &budget), Ok(Some(true)));
        assert_eq!(comparison.holds(Some(&json!("abd")), &budget), Ok(Some(false)));
        let long = json!("a".repeat(1_000_000));
        assert_eq!(comparison.holds(Some(&long), &budget), Err(LimitError::Budget(10_000)));
    }

    #[test]
    fn paths_go_through_members_and_indexes() {
        let value = json!({"items": [{"price": 3}]});
        let comparison = Comparison::compile("order.items[0].price", "eq", Some("3")).unwrap();
        assert_eq!(comparison.path, ["order", "items", "0", "price"]);
        assert_eq!(follow(&value, &comparison.path[1..]), Some(&json!(3)));
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for (left, operator, value) in [
            ("", "eq", Some("1")),
            ("a..b", "eq", Some("1")),
            ("a[0", "eq", Some("1")),
            ("a", "is", Some("1")),
            ("a", "eq", None),
            ("a", "between", Some("1")),
        ] {
            assert!(Comparison::compile(left, operator, value).is_err(), "{left} {operator}");
        }
    }
}
