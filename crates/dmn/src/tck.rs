//! Test cases of the DMN Technology Compatibility Kit: reading them, carrying them out and judging the results.
//!
//! ```ignore
//! let file = heddle_dmn::tck::read(&bytes)?;
//! let compiled = heddle_dmn::compile(&models); // the model that `file.model_name` names, then its imports
//! for case in heddle_dmn::tck::run(&file, &compiled.model, &options) {
//!     println!("{} {:?}", case.id, case.verdict);
//! }
//! ```

use std::sync::Arc;

use heddle_feel::{
    Context, Duration, Number, Value, parse_date, parse_date_time, parse_duration, parse_time, to_json,
};
use heddle_xml::{Document, El, Limits, XmlError, decode};

use crate::compile::Model;
use crate::eval::{ElementKind, EvalOptions};

/// Namespace of test cases.
pub const TEST_NS: &str = "http://www.omg.org/spec/DMN/20160719/testcase";
const XSI_NS: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// How far a number may be from the one expected.
const TOLERANCE: f64 = 1e-8;

/// A file of test cases.
#[derive(Debug, Clone)]
pub struct TestFile {
    /// File name of the model.
    pub model_name: String,
    /// The cases.
    pub cases: Vec<TestCase>,
}

/// What a test case calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invocable {
    /// The decisions that its results name.
    Decision,
    /// A business knowledge model.
    Bkm,
    /// A decision service.
    Service,
}

/// A test case.
#[derive(Debug, Clone)]
pub struct TestCase {
    /// Id.
    pub id: String,
    /// What it calls.
    pub kind: Invocable,
    /// Name of what it calls, unless these are decisions.
    pub invocable: Option<String>,
    /// Inputs by name; those of imported models by namespace, `#` and name.
    pub inputs: Context,
    /// What is expected.
    pub results: Vec<ResultNode>,
}

/// A result expected.
#[derive(Debug, Clone)]
pub struct ResultNode {
    /// Name of the decision.
    pub name: String,
    /// Its namespace, when told.
    pub namespace: Option<String>,
    /// Whether an error or null is expected.
    pub error: bool,
    /// The value expected.
    pub expected: Value,
}

/// The judgement of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All results are as expected.
    Passed,
    /// One is not: why.
    Failed(String),
    /// The case needs what no pure engine has: why.
    Skipped(String),
}

/// A case with its judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseOutcome {
    /// Id of the case.
    pub id: String,
    /// The judgement.
    pub verdict: Verdict,
}

/// Reads a file of test cases.
///
/// # Errors
/// When it is no well-formed XML or exceeds the limits of models.
pub fn read(bytes: &[u8]) -> Result<TestFile, XmlError> {
    let source = decode::decode(bytes, crate::xml::MAX_BYTES)?;
    let limits = Limits { depth: crate::xml::MAX_DEPTH, elements: crate::xml::MAX_ELEMENTS };
    let document = Document::parse(&source, limits)?;
    let mut file = TestFile { model_name: String::new(), cases: Vec::new() };
    for child in document.children(document.root()) {
        match document.local(child) {
            "modelName" => document.text(child).trim().clone_into(&mut file.model_name),
            "testCase" => file.cases.push(case(&document, child)),
            _ => {}
        }
    }
    Ok(file)
}

fn case(document: &Document<'_>, el: El) -> TestCase {
    let kind = match document.attribute(el, "type").as_deref() {
        Some("bkm") => Invocable::Bkm,
        Some("decisionService") => Invocable::Service,
        _ => Invocable::Decision,
    };
    let mut case = TestCase {
        id: document.attribute(el, "id").unwrap_or_default().into_owned(),
        kind,
        invocable: document.attribute(el, "invocableName").map(std::borrow::Cow::into_owned),
        inputs: Context::new(),
        results: Vec::new(),
    };
    for child in document.children(el) {
        let name = document.attribute(child, "name").unwrap_or_default().into_owned();
        let namespace = document.attribute(child, "namespace").map(std::borrow::Cow::into_owned);
        match document.local(child) {
            "inputNode" => {
                let value = value(document, child);
                if let Some(namespace) = namespace {
                    case.inputs.put(format!("{namespace}#{name}"), value.clone());
                }
                case.inputs.put(name, value);
            }
            "resultNode" => {
                let error = document.attribute(child, "errorResult");
                let error = error.is_some_and(|text| matches!(text.trim(), "true" | "1"));
                let expected = document.children(child).find(|el| document.local(*el) == "expected");
                let expected = expected.map_or(Value::Null, |el| value(document, el));
                case.results.push(ResultNode { name, namespace, error, expected });
            }
            _ => {}
        }
    }
    case
}

/// The value of an element of `valueType`: a value, components or a list.
fn value(document: &Document<'_>, el: El) -> Value {
    let is_nil = |el| document.attribute_of(el, XSI_NS, "nil").is_some_and(|text| text.trim() == "true");
    if is_nil(el) {
        return Value::Null;
    }
    let mut context: Option<Context> = None;
    for child in document.children(el) {
        match document.local(child) {
            "value" if is_nil(child) => return Value::Null,
            "value" => return simple(document, child),
            "list" if is_nil(child) => return Value::Null,
            "list" => {
                let items = document.children(child).filter(|el| document.local(*el) == "item");
                return Value::list(items.map(|el| value(document, el)).collect());
            }
            "component" => {
                let name = document.attribute(child, "name").unwrap_or_default();
                context.get_or_insert_default().put(&*name, value(document, child));
            }
            _ => {}
        }
    }
    context.map_or(Value::Null, Value::context)
}

fn simple(document: &Document<'_>, el: El) -> Value {
    let text = document.text(el);
    let kind = document.attribute_of(el, XSI_NS, "type").unwrap_or_default();
    let kind = kind.rsplit_once(':').map_or(&*kind, |(_, local)| local);
    let trimmed = text.trim();
    let parsed = match kind {
        "boolean" => Some(Value::Boolean(matches!(trimmed, "true" | "1"))),
        "decimal" | "double" | "float" | "integer" | "int" | "long" => {
            let exact = trimmed.parse::<Number>().ok();
            let near = || trimmed.parse::<f64>().ok().and_then(Number::from_f64);
            exact.or_else(near).map(Value::Number)
        }
        "date" => parse_date(trimmed).map(Value::Date),
        "time" => parse_time(trimmed).map(|time| Value::Time(Arc::new(time))),
        "dateTime" => parse_date_time(trimmed).map(|time| Value::DateTime(Arc::new(time))),
        "duration" => parse_duration(trimmed).map(|duration| match duration {
            Duration::DaysAndTime(duration) => Value::DaysAndTimeDuration(duration),
            Duration::YearsAndMonths(months) => Value::YearsAndMonthsDuration(months),
        }),
        _ => None,
    };
    parsed.unwrap_or_else(|| Value::string(&*text))
}

/// Whether a value is the one expected: numbers to 1e-8, everything else equal.
#[must_use]
pub fn matches(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (Value::Null, Value::Null) => true,
        (Value::Number(a), Value::Number(b)) => {
            a == b || a.minus(*b).is_ok_and(|difference| difference.to_f64().abs() <= TOLERANCE)
        }
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| matches(a, b))
        }
        (Value::Context(a), Value::Context(b)) => {
            a.len() == b.len() && b.iter().all(|(name, b)| a.get(name).is_some_and(|a| matches(a, b)))
        }
        _ => actual.equals(expected) == Some(true),
    }
}

/// The inputs of a case as JSON: dates, times and durations are texts.
#[must_use]
pub fn inputs(case: &TestCase) -> serde_json::Value {
    to_json(&Value::context(case.inputs.clone()))
}

/// Whether JSON is what the result expects; dates, times and durations are texts, and an error is null.
#[must_use]
pub fn matches_json(actual: &serde_json::Value, result: &ResultNode) -> bool {
    if result.error { actual.is_null() } else { json_matches(actual, &result.expected) }
}

fn json_matches(actual: &serde_json::Value, expected: &Value) -> bool {
    use serde_json::Value as Json;
    match (actual, expected) {
        (Json::Array(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| json_matches(a, b))
        }
        (Json::Object(a), Value::Context(b)) => {
            a.len() == b.len() && b.iter().all(|(name, b)| a.get(&**name).is_some_and(|a| json_matches(a, b)))
        }
        (Json::Number(a), Value::Number(_)) => {
            a.to_string().parse().is_ok_and(|a| matches(&Value::Number(a), expected))
        }
        (Json::String(text), Value::Date(_)) => {
            parse_date(text).is_some_and(|own| matches(&Value::Date(own), expected))
        }
        (Json::String(text), Value::Time(_)) => {
            parse_time(text).is_some_and(|own| matches(&Value::Time(Arc::new(own)), expected))
        }
        (Json::String(text), Value::DateTime(_)) => {
            parse_date_time(text).is_some_and(|own| matches(&Value::DateTime(Arc::new(own)), expected))
        }
        _ => *actual == to_json(expected),
    }
}

/// Carries the cases out on a compiled model and judges them.
#[must_use]
pub fn run(file: &TestFile, model: &Model, options: &EvalOptions) -> Vec<CaseOutcome> {
    let outcome = |case: &TestCase| CaseOutcome { id: case.id.clone(), verdict: judge(case, model, options) };
    file.cases.iter().map(outcome).collect()
}

fn judge(case: &TestCase, model: &Model, options: &EvalOptions) -> Verdict {
    for result in &case.results {
        let actual = evaluate(case, result, model, options);
        let good = match &actual {
            Ok((value, _)) if result.error => value.is_null(),
            Ok((value, _)) => matches(value, &result.expected),
            Err(_) => result.error,
        };
        if good {
            continue;
        }
        let got = match actual {
            Ok((value, reasons)) if reasons.is_empty() => value.to_string(),
            Ok((value, reasons)) => format!("{value} ({})", reasons.join("; ")),
            Err(error) => error,
        };
        let wanted = if result.error { "an error".to_owned() } else { result.expected.to_string() };
        if !result.error && (got.contains("carried out by Java") || got.contains("external functions")) {
            return Verdict::Skipped(format!("{}: {got}", result.name));
        }
        return Verdict::Failed(format!("{}: {wanted} was expected, not {got}", result.name));
    }
    Verdict::Passed
}

fn evaluate(
    case: &TestCase,
    result: &ResultNode,
    model: &Model,
    options: &EvalOptions,
) -> Result<(Value, Vec<String>), String> {
    let kind = match case.kind {
        Invocable::Decision => ElementKind::Decision,
        Invocable::Bkm => ElementKind::BusinessKnowledgeModel,
        Invocable::Service => ElementKind::DecisionService,
    };
    let name = case.invocable.as_deref().filter(|_| kind != ElementKind::Decision).unwrap_or(&result.name);
    let namespace = result.namespace.as_deref();
    let element = model
        .find_in(kind, name, namespace)
        .or_else(|| model.find_in(kind, name, None))
        .or_else(|| model.find(name))
        .ok_or_else(|| format!("the model has no {name:?}"))?;
    let outcome =
        model.evaluate_element(element, &case.inputs, options).map_err(|error| error.to_string())?;
    let reasons = outcome.reasons.iter().map(|reason| reason.message.clone()).collect();
    let value = match &outcome.value {
        Value::Context(context) if kind == ElementKind::DecisionService && model.has_outputs(element) => {
            context.get(&result.name).cloned().unwrap_or_default()
        }
        value => value.clone(),
    };
    Ok((value, reasons))
}
