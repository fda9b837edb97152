//! Expressions: conditions with their language, their combinations, and points in time.

use heddle_bpmn::model::{Condition, Edge, EventDefinition};
use heddle_bpmn_graph::{Comparison, TimerDefinition, TimerKind};
use std::fmt::Write as _;

/// The language of conditions in FEEL.
pub(super) const FEEL: &str = "http://www.omg.org/spec/DMN/20230324/FEEL/";
/// The language that WS-BPEL takes when none is given.
pub(super) const XPATH: &str = "urn:oasis:names:tc:wsbpel:2.0:sublang:xpath1.0";

/// An expression with its language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expr {
    /// Source text of the expression.
    pub text: String,
    /// URI of the expression language.
    pub language: String,
}

impl Expr {
    pub(crate) fn xpath(text: impl Into<String>) -> Self {
        Self { text: text.into(), language: XPATH.to_owned() }
    }

    /// An expression of the model, in the language it names or else in the model's. A language that nobody
    /// names is FEEL, as for the engine; a text of JUEL belongs to no language that was named.
    pub(crate) fn of_model(text: &str, own: Option<&str>, model: Option<&str>) -> Result<Self, String> {
        let text = text.trim();
        let named = |language: Option<&str>| {
            language.map(str::trim).filter(|language| !language.is_empty()).map(str::to_owned)
        };
        let language = named(own).or_else(|| named(model)).unwrap_or_default();
        let lower = language.to_ascii_lowercase();
        if lower.contains("xpath") && !lower.ends_with("xpath20") && !lower.ends_with("xpath2.0") {
            return if text.is_empty() {
                Err("the expression is empty".to_owned())
            } else {
                Ok(Self::xpath(text))
            };
        }
        if text.starts_with("${") || text.starts_with("#{") {
            return Err(format!("`{text}` is JUEL, which has no place in WS-BPEL"));
        }
        let text = if language.is_empty() || lower.contains("feel") {
            text.strip_prefix('=').unwrap_or(text).trim()
        } else {
            text
        };
        if text.is_empty() {
            return Err("the expression is empty".to_owned());
        }
        let language = if language.is_empty() || lower.contains("feel") { FEEL.to_owned() } else { language };
        Ok(Self { text: text.to_owned(), language })
    }

    fn knows_logic(&self) -> bool {
        self.language == FEEL || self.language == XPATH
    }

    /// The opposite; none in a language whose operators nobody knows here.
    pub(crate) fn negated(&self) -> Option<Self> {
        let text = match self.language.as_str() {
            XPATH => format!("not({})", self.text),
            // FEEL knows null, which is not true; its opposite must be true.
            FEEL => format!("not(({}) = true)", self.text),
            _ => return None,
        };
        Some(Self { text, language: self.language.clone() })
    }

    /// True when all are.
    pub(crate) fn all(list: &[Self]) -> Option<Self> {
        let first = list.first()?;
        if list.len() == 1 {
            return Some(first.clone());
        }
        if !first.knows_logic() || list.iter().any(|one| one.language != first.language) {
            return None;
        }
        let texts: Vec<String> = list.iter().map(|one| format!("({})", one.text)).collect();
        Some(Self { text: texts.join(" and "), language: first.language.clone() })
    }
}

/// Condition of a sequence flow; none where it is unconditional.
pub(super) fn of_edge(edge: &Edge, model: Option<&str>) -> Result<Option<Expr>, String> {
    let own = edge.condition.as_ref().filter(|own| {
        own.left.is_some() || own.operator.is_some() || own.value.is_some() || own.on.is_some()
    });
    if let Some(own) = own {
        let outcome = of_side(own, edge.source.as_deref().unwrap_or_default())?;
        let data = match own.left.as_deref().filter(|left| !left.trim().is_empty()) {
            Some(left) => Some(comparison(left, own)?),
            None => None,
        };
        let texts: Vec<String> = outcome.into_iter().chain(data).collect();
        if texts.is_empty() {
            return Ok(None);
        }
        return Ok(Some(Expr { text: texts.join(" and "), language: FEEL.to_owned() }));
    }
    let bpmn = edge.bpmn.as_deref();
    match bpmn.and_then(|bpmn| bpmn.condition_expression.as_deref()) {
        None => Ok(None),
        Some(text) => {
            let own = bpmn.and_then(|bpmn| bpmn.condition_language.as_deref());
            Expr::of_model(text, own, model).map(Some)
        }
    }
}

fn of_side(own: &Condition, source: &str) -> Result<Option<String>, String> {
    match own.on.as_deref() {
        None | Some("" | "success" | "always") => Ok(None),
        Some(on) => match on.strip_prefix("outcome:") {
            Some(outcome) => {
                let outcome = quoted(outcome.trim());
                Ok(Some(format!("nodes.{}.output.outcome = {outcome}", step(source))))
            }
            None => Err(format!("a flow that is taken on `{on}` of its source has no mapping")),
        },
    }
}

/// `left operator value` as FEEL; see `graph::condition` for its meaning.
fn comparison(left: &str, own: &Condition) -> Result<String, String> {
    let operator = own.operator.as_deref().unwrap_or("eq");
    let value = own.value.as_deref();
    let steps = Comparison::compile(left, operator, value)?.path;
    let path = path(&steps);
    let text = value.unwrap_or_default();
    let literal = literal(text);
    let any =
        |items: &[String]| -> Vec<String> { items.iter().flat_map(|item| equals(&path, item)).collect() };
    let some = |tests: Vec<String>| -> String {
        if tests.is_empty() { "false".to_owned() } else { format!("({})", tests.join(" or ")) }
    };
    // FEEL compares values of two types to null, whose opposite is null again.
    let none = |tests: Vec<String>| -> String {
        let tests: Vec<String> = tests.iter().map(|test| format!("not(({test}) = true)")).collect();
        if tests.is_empty() { "true".to_owned() } else { tests.join(" and ") }
    };
    let listed = || heddle_bpmn_graph::condition_list(value);
    let contains = format!(
        "(if {path} instance of string then contains({path}, {0}) else list contains({path}, {literal}))",
        quoted(text)
    );
    let empty = format!("({path} = null or {path} = \"\" or {path} = [] or {path} = {{}})");
    Ok(match operator {
        "eq" => some(equals(&path, text)),
        "neq" => none(equals(&path, text)),
        "gt" => format!("{path} > {literal}"),
        "gte" => format!("{path} >= {literal}"),
        "lt" => format!("{path} < {literal}"),
        "lte" => format!("{path} <= {literal}"),
        "between" => {
            let bounds: Vec<String> = listed().iter().map(|bound| self::literal(bound)).collect();
            format!("{path} between {}", bounds.join(" and "))
        }
        "in" => some(any(&listed())),
        "notIn" => none(any(&listed())),
        "contains" => contains,
        "notContains" => format!("not({contains})"),
        "startsWith" => format!("starts with({path}, {})", quoted(text)),
        "endsWith" => format!("ends with({path}, {})", quoted(text)),
        "matches" => format!("matches({path}, {})", quoted(text)),
        "exists" => format!("{path} != null"),
        "notExists" => format!("{path} = null"),
        "empty" => empty,
        "notEmpty" => format!("not({empty})"),
        "isTrue" => format!("{path} = true"),
        "isFalse" => format!("{path} = false"),
        other => return Err(format!("there is no operator `{other}`")),
    })
}

/// Tests of which one holds when the operand equals the text: a number, a boolean or a date is also compared as
/// the text that it is.
fn equals(path: &str, text: &str) -> Vec<String> {
    let literal = literal(text);
    let mut tests = vec![format!("{path} = {literal}")];
    if !literal.starts_with('"') && text.trim() != "null" {
        tests.push(format!("{path} = {}", quoted(text)));
    }
    tests
}

fn path(steps: &[String]) -> String {
    let mut text = String::new();
    for (at, one) in steps.iter().enumerate() {
        match one.parse::<usize>() {
            // FEEL counts from one.
            Ok(index) if at > 0 => {
                let _ = write!(text, "[{}]", index.saturating_add(1));
            }
            _ => {
                let dot = if at > 0 { "." } else { "" };
                let _ = write!(text, "{dot}{}", step(one));
            }
        }
    }
    text
}

/// A member's name; backquotes where it is no plain name.
fn step(name: &str) -> String {
    let mut letters = name.chars();
    let plain = letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_');
    if plain { name.to_owned() } else { format!("`{}`", name.replace('`', "'")) }
}

/// The operand as a number, boolean, null, date or else a text.
fn literal(text: &str) -> String {
    let trimmed = text.trim();
    match serde_json::from_str::<serde_json::Value>(trimmed) {
        Ok(value) if value.is_number() || value.is_boolean() || value.is_null() => trimmed.to_owned(),
        Ok(serde_json::Value::String(inner)) => quoted(&inner),
        _ => {
            let iso = trimmed.starts_with(|first: char| first.is_ascii_digit()) && !trimmed.contains('(');
            let date = iso && TimerDefinition::parse(TimerKind::Date, trimmed).is_ok();
            if date { format!("@{}", quoted(trimmed)) } else { quoted(text) }
        }
    }
}

/// A text literal of FEEL.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text literal of XPath 1.0, which has no escapes: what holds both quotes is put together.
pub(super) fn xpath_text(text: &str) -> String {
    if !text.contains('\'') {
        return format!("'{text}'");
    }
    if !text.contains('"') {
        return format!("\"{text}\"");
    }
    let parts: Vec<String> = text.split('\'').map(|part| format!("'{part}'")).collect();
    format!("concat({})", parts.join(", \"'\", "))
}

/// Duration or deadline of a timer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Timer {
    For(Expr),
    Until(Expr),
}

/// A timer of the model: a literal date or duration becomes an XPath text, anything else an expression.
pub(super) fn timer(event: &EventDefinition, model: Option<&str>) -> Result<Timer, String> {
    if event.time_cycle.as_deref().is_some_and(|cycle| !cycle.trim().is_empty()) {
        return Err("a recurring time has no mapping".to_owned());
    }
    let own = event.language.as_deref();
    let read = |kind: TimerKind, text: &str| {
        let text = text.trim();
        let is_literal = text.starts_with(|first: char| first == 'P' || first.is_ascii_digit())
            && !text.contains('(')
            && TimerDefinition::parse(kind, text).is_ok();
        if is_literal { Ok(Expr::xpath(xpath_text(text))) } else { Expr::of_model(text, own, model) }
    };
    let given = |text: &'_ Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    match (given(&event.time_date), given(&event.time_duration)) {
        (Some(date), None) => read(TimerKind::Date, &date).map(Timer::Until),
        (None, Some(duration)) => read(TimerKind::Duration, &duration).map(Timer::For),
        (None, None) => Err("the timer has neither a date nor a duration".to_owned()),
        (Some(_), Some(_)) => Err("the timer has both a date and a duration".to_owned()),
    }
}

/// The duration of a plain cycle such as `R/PT1H`, for handlers that fire again and again.
pub(super) fn repeating(event: &EventDefinition) -> Option<Timer> {
    let duration = event.time_cycle.as_deref()?.trim().strip_prefix("R/")?;
    if !duration.starts_with('P') || TimerDefinition::parse(TimerKind::Duration, duration).is_err() {
        return None;
    }
    Some(Timer::For(Expr::xpath(xpath_text(duration))))
}
