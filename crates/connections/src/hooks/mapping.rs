//! From a call to a case event: the expressions of a hook over the call's body, headers and query.

use heddle_feel::{Dialect, EvalContext, Expression, to_json};
use heddle_kernel::Timestamp;
use heddle_usecase::sha256_hex;
use serde_json::{Map, Value};

use super::signature::SignedCall;
use crate::records::{HookMapping, SignatureScheme};
use crate::{Problem, Problems};

/// The longest expression, in characters.
const EXPRESSION: usize = 4_000;
/// The longest key, in characters.
const KEY: usize = 200;
/// Headers that tell who calls, which no expression sees.
const UNSEEN: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// Keys and payload that a call gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mapped {
    pub correlation_key: String,
    pub idempotency_key: String,
    pub payload: Value,
}

/// Parts of a call that expressions see.
pub(super) struct Parts<'a> {
    pub call: SignedCall<'a>,
    pub scheme: Option<SignatureScheme>,
    pub body: Value,
    pub query: &'a [(String, String)],
}

/// Adds what is wrong with the expressions.
pub(super) fn check(problems: &mut Problems, mapping: &HookMapping) {
    let all = [
        ("correlationKey", Some(&mapping.correlation_key)),
        ("idempotencyKey", mapping.idempotency_key.as_ref()),
        ("payload", mapping.payload.as_ref()),
        ("when", mapping.when.as_ref()),
    ];
    for (field, text) in all {
        let Some(text) = text else { continue };
        heddle_usecase::length(problems, field, text, 1..=EXPRESSION);
        match compile(text) {
            Ok(expression) if expression.has_externals() => {
                problems.add(field, "notSupported", "Functions of another language are not carried out.");
            }
            Ok(_) => {}
            Err(error) => problems.add(field, "notAnExpression", error.to_string()),
        }
    }
}

fn compile(text: &str) -> Result<Expression, heddle_feel::SyntaxError> {
    Expression::compile(text, Dialect::Heddle)
}

impl HookMapping {
    /// The event that a call becomes; none when its condition does not hold.
    ///
    /// # Errors
    /// The problem, named by the expression: a key that is no text or number, a condition that is neither true nor false.
    pub(super) fn apply(&self, parts: Parts<'_>) -> Result<Option<Mapped>, Problem> {
        let Parts { call, scheme, body, query } = parts;
        let headers = call.headers.iter().filter(|(name, _)| !UNSEEN.contains(&name.as_str()));
        let variables = Map::from_iter([
            ("headers".to_owned(), texts(headers)),
            ("query".to_owned(), texts(query.iter())),
            ("body".to_owned(), body),
        ]);
        let evaluate = |field: &str, text: &str| evaluated(field, text, &variables, call.now);
        match self.when.as_deref().map(|when| evaluate("when", when)).transpose()? {
            None | Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => return Ok(None),
            Some(_) => {
                let message = "The condition is neither true nor false for this call.";
                return Err(Problem::at("when", "notBoolean", message));
            }
        }
        let correlation_key = key("correlationKey", evaluate("correlationKey", &self.correlation_key)?)?;
        let idempotency_key = match (&self.idempotency_key, call.message_id(scheme)) {
            (Some(text), _) => key("idempotencyKey", evaluate("idempotencyKey", text)?)?,
            (None, Some(id)) => key("idempotencyKey", Value::from(id))?,
            (None, None) => own_id(scheme, &variables).unwrap_or_else(|| sha256_hex(call.body)),
        };
        let payload = match &self.payload {
            Some(text) => evaluate("payload", text)?,
            None => variables.get("body").cloned().unwrap_or_default(),
        };
        Ok(Some(Mapped { correlation_key, idempotency_key, payload }))
    }
}

/// The id that stands in the body of Stripe's events.
fn own_id(scheme: Option<SignatureScheme>, variables: &Map<String, Value>) -> Option<String> {
    let id = variables.get("body").and_then(|body| body.get("id")).and_then(Value::as_str)?;
    let is_key = !id.is_empty() && id.chars().count() <= KEY && !id.chars().any(char::is_control);
    (scheme == Some(SignatureScheme::Stripe) && is_key).then(|| id.to_owned())
}

/// Texts by name; of a name that is repeated, a list.
fn texts<'t>(all: impl Iterator<Item = &'t (String, String)>) -> Value {
    let mut found: Map<String, Value> = Map::new();
    for (name, text) in all {
        match found.get_mut(name) {
            None => {
                found.insert(name.clone(), Value::from(text.as_str()));
            }
            Some(Value::Array(several)) => several.push(Value::from(text.as_str())),
            Some(one) => *one = Value::Array(vec![one.take(), Value::from(text.as_str())]),
        }
    }
    Value::Object(found)
}

fn evaluated(
    field: &str,
    text: &str,
    variables: &Map<String, Value>,
    now: Timestamp,
) -> Result<Value, Problem> {
    let wrong = |message: String| Problem::at(field, "notEvaluated", message);
    let expression = compile(text).map_err(|error| wrong(error.to_string()))?;
    let evaluated =
        expression.evaluate(variables, &EvalContext { now }).map_err(|error| wrong(error.to_string()))?;
    Ok(to_json(&evaluated.value))
}

/// A key: a text of 1 to 200 characters without control characters, or a number.
fn key(field: &str, value: Value) -> Result<String, Problem> {
    let text = match value {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            let message = "The expression gives neither a text nor a number for this call.";
            return Err(Problem::at(field, "notAKey", message));
        }
    };
    match (1..=KEY).contains(&text.chars().count()) && !text.chars().any(char::is_control) {
        true => Ok(text),
        false => {
            let message = format!("A key has 1 to {KEY} characters, none of them a control character.");
            Err(Problem::at(field, "outOfRange", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mapping(correlation: &str) -> HookMapping {
        HookMapping {
            correlation_key: correlation.to_owned(),
            idempotency_key: None,
            payload: None,
            when: None,
        }
    }

    fn apply(
        mapping: &HookMapping,
        scheme: Option<SignatureScheme>,
        body: Value,
    ) -> Result<Option<Mapped>, Problem> {
        let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let headers =
            [("x-github-delivery", "d-1"), ("x-github-event", "push"), ("authorization", "secret")].map(text);
        let query = [("shop", "12"), ("tag", "a"), ("tag", "b")].map(text);
        let now = Timestamp::from_micros(0);
        let call = SignedCall { headers: &headers, body: b"raw", now };
        mapping.apply(Parts { call, scheme, body, query: &query })
    }

    #[test]
    fn keys_and_payload_come_out_of_body_headers_and_query() {
        let whole = HookMapping {
            idempotency_key: Some("body.id".to_owned()),
            payload: Some(
                "{order: body.order, event: get value(headers, \"x-github-event\"), tags: query.tag}"
                    .to_owned(),
            ),
            when: Some("body.id > 1".to_owned()),
            ..mapping("query.shop + \"-\" + body.order")
        };
        let mapped = apply(&whole, None, json!({"id": 7, "order": "o1"})).unwrap().unwrap();
        assert_eq!((mapped.correlation_key.as_str(), mapped.idempotency_key.as_str()), ("12-o1", "7"));
        assert_eq!(mapped.payload, json!({"order": "o1", "event": "push", "tags": ["a", "b"]}));
        assert_eq!(apply(&whole, None, json!({"id": 1, "order": "o1"})), Ok(None));
        let unknown = apply(&whole, None, json!({"order": "o1"})).unwrap_err();
        assert_eq!((unknown.field.as_deref(), unknown.reason), (Some("when"), "notBoolean"));
    }

    #[test]
    fn a_call_that_gives_no_key_is_refused_and_credentials_are_not_seen() {
        for expression in ["body.nothing", "null", "true", "\"\"", "headers.authorization", "query.tag"] {
            let refused = apply(&mapping(expression), None, json!({})).unwrap_err();
            assert_eq!(refused.field.as_deref(), Some("correlationKey"), "{expression}");
        }
    }

    #[test]
    fn without_an_expression_the_senders_own_id_counts() {
        let own = |scheme, body| apply(&mapping("1"), scheme, body).unwrap().unwrap().idempotency_key;
        // What GitHub's signature is not over makes no other call of the same one.
        assert_eq!(own(Some(SignatureScheme::Github), json!({"id": "x"})), sha256_hex(b"raw"));
        assert_eq!(own(Some(SignatureScheme::Stripe), json!({"id": "evt_1"})), "evt_1");
        assert_eq!(own(None, json!({"id": "x"})), sha256_hex(b"raw"));
        assert_eq!(own(Some(SignatureScheme::Stripe), json!({})), sha256_hex(b"raw"));
    }

    #[test]
    fn an_expression_that_is_none_is_told_with_its_member() {
        let mut problems = Problems::default();
        check(&mut problems, &HookMapping { when: Some("1 +".to_owned()), ..mapping("body.id") });
        let crate::UseCaseError::Invalid(problems) = problems.finish().unwrap_err() else { panic!() };
        let told: Vec<_> = problems.iter().map(|one| (one.field.as_deref(), one.reason)).collect();
        assert_eq!(told, [(Some("when"), "notAnExpression")]);
    }
}
