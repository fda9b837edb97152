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
    Context, Duration, Number, Type, Value, from_json, parse_date, parse_date_time, parse_duration,
    parse_time, to_json,
};
use heddle_xml::{Document, El, Limits, XmlError, decode};

use crate::compile::Model;
use crate::eval::{ElementKind, EvalOptions};

/// Namespace of test cases.
pub const TEST_NS: &str = "http://www.omg.org/spec/DMN/20160719/testcase";
const XSI_NS: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// Greatest difference of a number from the one expected.
const TOLERANCE: f64 = 1e-8;

/// A file of test cases.
#[derive(Debug, Clone)]
pub struct TestFile {
    /// File name of the model.
    pub model_name: String,
    /// The cases.
    pub cases: Vec<TestCase>,
}

/// Kind of element that a test case calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invocable {
    /// The decisions that its results name.
    Decision,
    /// A business knowledge model.
    Bkm,
    /// A decision service.
    Service,
}

/// A value as a test file has it.
#[derive(Debug, Clone)]
enum Given {
    /// One that tells its type of XML Schema.
    Value(Value),
    /// One that doesn't: it is of the type that the model has for it.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// Components by name.
    Context(Vec<(String, Self)>),
}

/// A test case.
#[derive(Debug, Clone)]
pub struct TestCase {
    /// Id.
    pub id: String,
    /// Kind of element that it calls.
    pub kind: Invocable,
    /// Name of what it calls, unless these are decisions.
    pub invocable: Option<String>,
    /// Inputs by name; those of imported models by namespace, `#` and name.
    pub inputs: Context,
    /// The same, where texts without a type wait for the model's.
    given: Vec<(String, Given)>,
    /// Results expected.
    pub results: Vec<ResultNode>,
}

/// A result expected.
#[derive(Debug, Clone)]
pub struct ResultNode {
    /// Name of the decision.
    pub name: String,
    /// Namespace of the decision's model, when told.
    pub namespace: Option<String>,
    /// Whether an error or null is expected.
    pub error: bool,
    /// The value expected.
    pub expected: Value,
    /// The same, where texts without a type are held against any.
    wanted: Given,
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
        given: Vec::new(),
        results: Vec::new(),
    };
    for child in document.children(el) {
        let name = document.attribute(child, "name").unwrap_or_default().into_owned();
        let namespace = document.attribute(child, "namespace").map(std::borrow::Cow::into_owned);
        match document.local(child) {
            "inputNode" => {
                let value = value(document, child);
                if let Some(namespace) = namespace {
                    case.given.push((format!("{namespace}#{name}"), value.clone()));
                }
                case.given.push((name, value));
            }
            "resultNode" => {
                let error = document.attribute(child, "errorResult");
                let error = error.is_some_and(|text| matches!(text.trim(), "true" | "1"));
                let expected = document.children(child).find(|el| document.local(*el) == "expected");
                let wanted = expected.map_or(Given::Value(Value::Null), |el| value(document, el));
                case.results.push(ResultNode { name, namespace, error, expected: wanted.untyped(), wanted });
            }
            _ => {}
        }
    }
    for (name, given) in &case.given {
        case.inputs.put(name.as_str(), given.untyped());
    }
    case
}

/// The value of an element of `valueType`: a value, components or a list.
fn value(document: &Document<'_>, el: El) -> Given {
    let is_nil = |el| document.attribute_of(el, XSI_NS, "nil").is_some_and(|text| text.trim() == "true");
    let null = Given::Value(Value::Null);
    if is_nil(el) {
        return null;
    }
    let mut components = Vec::new();
    for child in document.children(el) {
        match document.local(child) {
            "value" | "list" if is_nil(child) => return null,
            "value" => return simple(document, child),
            "list" => {
                let items = document.children(child).filter(|el| document.local(*el) == "item");
                return Given::List(items.map(|el| value(document, el)).collect());
            }
            "component" => {
                let name = document.attribute(child, "name").unwrap_or_default();
                components.push((name.into_owned(), value(document, child)));
            }
            _ => {}
        }
    }
    if components.is_empty() { null } else { Given::Context(components) }
}

fn simple(document: &Document<'_>, el: El) -> Given {
    let text = document.text(el);
    let Some(kind) = document.attribute_of(el, XSI_NS, "type") else {
        return Given::Text(text.into_owned());
    };
    let kind = match kind.rsplit_once(':').map_or(&*kind, |(_, local)| local) {
        "boolean" => Type::Boolean,
        "decimal" | "double" | "float" | "integer" | "int" | "long" => Type::Number,
        "date" => Type::Date,
        "time" => Type::Time,
        "dateTime" => Type::DateTime,
        "duration" => Type::DaysAndTimeDuration,
        _ => Type::String,
    };
    Given::Value(read_as(&text, &kind).unwrap_or_else(|| Value::string(&*text)))
}

/// The value of that type that a text is in XML Schema; either duration for one of them.
fn read_as(text: &str, kind: &Type) -> Option<Value> {
    let text = text.trim();
    match kind {
        Type::Boolean => Some(Value::Boolean(matches!(text, "true" | "1"))),
        Type::Number => {
            let near = || text.parse::<f64>().ok().and_then(Number::from_f64);
            text.parse::<Number>().ok().or_else(near).map(Value::Number)
        }
        Type::Date => parse_date(text).map(Value::Date),
        Type::Time => parse_time(text).map(|time| Value::Time(Arc::new(time))),
        Type::DateTime => parse_date_time(text).map(|time| Value::DateTime(Arc::new(time))),
        Type::DaysAndTimeDuration | Type::YearsAndMonthsDuration => {
            parse_duration(text).map(|duration| match duration {
                Duration::DaysAndTime(duration) => Value::DaysAndTimeDuration(duration),
                Duration::YearsAndMonths(months) => Value::YearsAndMonthsDuration(months),
            })
        }
        _ => None,
    }
}

/// The type of a value, for a text to be held against it.
const fn type_of(value: &Value) -> Type {
    match value {
        Value::Boolean(_) => Type::Boolean,
        Value::Number(_) => Type::Number,
        Value::Date(_) => Type::Date,
        Value::Time(_) => Type::Time,
        Value::DateTime(_) => Type::DateTime,
        Value::DaysAndTimeDuration(_) | Value::YearsAndMonthsDuration(_) => Type::DaysAndTimeDuration,
        _ => Type::String,
    }
}

impl Given {
    /// The value, where texts are of the type that the model has.
    fn typed(&self, kind: Option<&Type>) -> Value {
        match (self, kind) {
            (Self::Value(value), _) => value.clone(),
            (Self::Text(text), kind) => {
                kind.and_then(|kind| read_as(text, kind)).unwrap_or_else(|| Value::string(&**text))
            }
            (Self::List(items), Some(Type::List(Some(kind)))) => {
                Value::list(items.iter().map(|item| item.typed(Some(kind))).collect())
            }
            (Self::List(items), _) => Value::list(items.iter().map(|item| item.typed(None)).collect()),
            (Self::Context(members), kind) => {
                let kinds = if let Some(Type::Context(kinds)) = kind { kinds.as_slice() } else { &[] };
                let typed = |(name, member): &(String, Self)| {
                    let kind = kinds.iter().find(|(known, _)| **known == **name).map(|(_, kind)| kind);
                    (Arc::from(name.as_str()), member.typed(kind))
                };
                Value::context(Context::from_iter(members.iter().map(typed)))
            }
        }
    }

    /// The value, where texts are strings.
    fn untyped(&self) -> Value {
        self.typed(None)
    }

    /// Whether JSON is the value expected.
    fn is_json(&self, actual: &serde_json::Value) -> bool {
        use serde_json::Value as Json;
        match (self, actual) {
            (Self::Value(value), _) => json_matches(actual, value),
            (Self::Text(_), _) => self.is(&from_json(actual)),
            (Self::List(items), Json::Array(actual)) => {
                items.len() == actual.len()
                    && items.iter().zip(actual).all(|(item, actual)| item.is_json(actual))
            }
            (Self::Context(members), Json::Object(actual)) => {
                members.len() == actual.len()
                    && members
                        .iter()
                        .all(|(name, it)| actual.get(name).is_some_and(|actual| it.is_json(actual)))
            }
            _ => false,
        }
    }

    /// Whether a value is the one expected, where texts are of its type.
    fn is(&self, actual: &Value) -> bool {
        match (self, actual) {
            (Self::Value(value), _) => matches(actual, value),
            // Neither a type nor a text: nothing.
            (Self::Text(text), Value::Null) => text.trim().is_empty(),
            (Self::Text(_), _) => matches(actual, &self.typed(Some(&type_of(actual)))),
            (Self::List(items), Value::List(actual)) => {
                items.len() == actual.len()
                    && items.iter().zip(actual.iter()).all(|(item, actual)| item.is(actual))
            }
            (Self::Context(members), Value::Context(actual)) => {
                members.len() == actual.len()
                    && members.iter().all(|(name, it)| actual.get(name).is_some_and(|actual| it.is(actual)))
            }
            _ => false,
        }
    }
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

/// The inputs of a case as JSON: dates, times and durations are texts. Values without a type are of the model's.
#[must_use]
pub fn inputs(case: &TestCase, model: &Model) -> serde_json::Value {
    to_json(&Value::context(typed_inputs(case, model)))
}

/// The inputs of a case that JSON has no type for, each with the function of FEEL that makes it from a text.
#[must_use]
pub fn temporal_inputs<'c>(case: &'c TestCase, model: &Model) -> Vec<(&'c str, &'static str)> {
    let inputs = typed_inputs(case, model);
    let of = |(name, _): &'c (String, Given)| {
        let function = match inputs.get(name)? {
            Value::Date(_) => "date",
            Value::Time(_) => "time",
            Value::DateTime(_) => "date and time",
            Value::DaysAndTimeDuration(_) | Value::YearsAndMonthsDuration(_) => "duration",
            _ => return None,
        };
        Some((name.as_str(), function))
    };
    case.given.iter().filter_map(of).collect()
}

fn typed_inputs(case: &TestCase, model: &Model) -> Context {
    let mut inputs = Context::new();
    for (name, given) in &case.given {
        let kind =
            model.find_in(ElementKind::InputData, name, None).and_then(|input| model.input_type(input));
        inputs.put(name.as_str(), given.typed(kind));
    }
    inputs
}

/// Whether JSON is what the result expects; dates, times and durations are texts, and an error is null.
#[must_use]
pub fn matches_json(actual: &serde_json::Value, result: &ResultNode) -> bool {
    if result.error { actual.is_null() } else { result.wanted.is_json(actual) }
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
            Ok((value, _)) => result.wanted.is(value),
            // Where a limit ends an evaluation there is no value.
            Err(_) => result.error || result.expected.is_null(),
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
    let inputs = typed_inputs(case, model);
    let outcome = model.evaluate_element(element, &inputs, options).map_err(|error| error.to_string())?;
    let reasons = outcome.reasons.iter().map(|reason| reason.message.clone()).collect();
    let value = match &outcome.value {
        Value::Context(context) if kind == ElementKind::DecisionService && model.has_outputs(element) => {
            context.get(&result.name).cloned().unwrap_or_default()
        }
        value => value.clone(),
    };
    Ok((value, reasons))
}
