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
    /// Reads a setting whose members and elements, at any depth, may be FEEL after `=` as the whole may.
    ///
    /// # Errors
    /// A sentence that begins with the place of the first text that is no FEEL.
    pub fn read_nested(value: &Value) -> Result<Self, String> {
        if value.is_string() || !holds_feel(value) {
            return Self::read(value);
        }
        check(value, &mut String::new())?;
        let mut source = String::new();
        write(value, &mut source);
        let compiled = Expression::compile(&source, Dialect::Heddle);
        compiled.map(Self::Expression).map_err(|error| format!("the expressions in it are no FEEL: {error}"))
    }
}

fn feel(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix('=').map(str::trim)
}

fn holds_feel(value: &Value) -> bool {
    match value {
        Value::String(text) => feel(text).is_some(),
        Value::Array(all) => all.iter().any(holds_feel),
        Value::Object(members) => members.values().any(holds_feel),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Compiles each expression by itself: what is wrong is told by its place, and none ends within another.
fn check(value: &Value, place: &mut String) -> Result<(), String> {
    let whole = place.len();
    match value {
        Value::String(text) => {
            if let Some(source) = feel(text)
                && let Err(error) = Expression::compile(source, Dialect::Heddle)
            {
                return Err(format!("{}: `{source}` is no FEEL: {error}", place.trim_start_matches('.')));
            }
        }
        Value::Array(all) => {
            for (number, one) in all.iter().enumerate() {
                place.push_str(&format!("[{number}]"));
                check(one, place)?;
                place.truncate(whole);
            }
        }
        Value::Object(members) => {
            for (name, one) in members {
                place.push_str(&format!(".{name}"));
                check(one, place)?;
                place.truncate(whole);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

/// Writes a value as FEEL. An object is made of its entries, not as a context literal, whose entries would hide variables of
/// their names from the expressions behind them (DMN 1.5, 10.3.2.6).
fn write(value: &Value, to: &mut String) {
    match value {
        Value::Null => to.push_str("null"),
        Value::Bool(flag) => to.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(number), ..) => to.push_str(&number.to_string()),
            (None, Some(number), _) => to.push_str(&number.to_string()),
            // Without an exponent.
            (None, None, number) => to.push_str(&number.unwrap_or_default().to_string()),
        },
        Value::String(text) => match feel(text) {
            // A comment at its end ends with the line.
            Some(source) => {
                to.push('(');
                to.push_str(source);
                to.push_str("\n)");
            }
            None => write_text(text, to),
        },
        Value::Array(all) => {
            to.push('[');
            for (number, one) in all.iter().enumerate() {
                if number > 0 {
                    to.push_str(", ");
                }
                write(one, to);
            }
            to.push(']');
        }
        Value::Object(members) if members.is_empty() => to.push_str("{}"),
        Value::Object(members) => {
            to.push_str("context([");
            for (number, (name, one)) in members.iter().enumerate() {
                // The value stands first: the key hides nothing from it.
                to.push_str(if number > 0 { ", {value: " } else { "{value: " });
                write(one, to);
                to.push_str(", key: ");
                write_text(name, to);
                to.push('}');
            }
            to.push_str("])");
        }
    }
}

fn write_text(text: &str, to: &mut String) {
    to.push('"');
    for letter in text.chars() {
        match letter {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            control if control.is_control() => to.push_str(&format!("\\u{:04X}", u32::from(control))),
            other => to.push(other),
        }
    }
    to.push('"');
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

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_feel::{EvalContext, to_json};
    use heddle_kernel::Timestamp;
    use serde_json::json;

    fn given(value: &Value, variables: &Value) -> Value {
        let Setting::Expression(expression) = Setting::read_nested(value).unwrap() else {
            panic!("nothing is evaluated in {value}")
        };
        let context = EvalContext { now: Timestamp::from_micros(0) };
        to_json(&expression.evaluate(variables.as_object().unwrap(), &context).unwrap().value)
    }

    #[test]
    fn expressions_within_objects_and_lists_are_evaluated_where_they_stand() {
        let filter = json!({ "and": [
            { "field": "metadata.year", "eq": "= year" },
            { "field": "metadata.tag", "in": ["a", "= upper case(tag) // the\n", 7, -1.5, null, true, {}] },
        ], "year": 1, "quoted \"\\": "line\nbreak \"and\" \\ tab\t\u{7}", "last": "=year" });
        let expected = json!({ "and": [
            { "field": "metadata.year", "eq": 2024 },
            { "field": "metadata.tag", "in": ["a", "NEW", 7, -1.5, null, true, {}] },
        ], "year": 1, "quoted \"\\": "line\nbreak \"and\" \\ tab\t\u{7}", "last": 2024 });
        assert_eq!(given(&filter, &json!({ "year": 2024, "tag": "new" })), expected);
        assert_eq!(given(&json!(["= missing"]), &json!({})), json!([null]));
    }

    #[test]
    fn what_holds_no_expression_is_a_value_and_a_wrong_one_is_told_by_its_place() {
        let plain = json!({ "field": "a = b", "eq": [1e300, "x"] });
        assert!(matches!(Setting::read_nested(&plain), Ok(Setting::Literal(value)) if value == plain));
        assert!(matches!(Setting::read_nested(&json!("= a + 1")), Ok(Setting::Expression(_))));
        for (value, place) in [
            (json!({ "and": [{ "field": "f", "eq": "= 1 +" }] }), "and[0].eq: "),
            (json!([1, "= a) + (b"]), "[1]: "),
        ] {
            let told = Setting::read_nested(&value).unwrap_err();
            assert!(told.starts_with(place), "{told}");
        }
    }
}
