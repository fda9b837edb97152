//! A value held against protection.

use heddle_feel::{EvalContext, Limits, Value as Feel};
use heddle_kernel::{Timestamp, shortened};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::model::{ModelRule, ModelVerdict, Undecided, closed};
use crate::policy::Policy;
use crate::rule::{MOST_BYTES, Rule, Test};
use crate::text::Found;
use crate::values::{self, Text, Texts};
use crate::words::{Action, Stage};
use crate::{injection, personal, secrets, urls};

/// Most places that one hit names.
const MOST_SPANS: usize = 20;
/// Most problems of a schema that a hit tells.
const MOST_PROBLEMS: usize = 10;
/// Steps of one condition.
const STEPS: u64 = 500_000;

/// A place at which something was found; the text itself is not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// JSON pointer of the text within the value.
    pub path: String,
    /// First byte in it.
    pub start: usize,
    /// Byte behind the last one.
    pub end: usize,
    /// Kind of what was found.
    pub kind: String,
}

/// A hit of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Name of the check.
    pub check_id: String,
    /// Stage at which it was made.
    pub stage: Stage,
    /// Action on it.
    pub action: Action,
    /// A sentence that a person or a model can act upon; it has nothing of the text.
    pub message: String,
    /// Number of places.
    pub count: usize,
    /// The first of the places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
}

/// A value's place in a run, as checks see it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Stage of the node.
    pub stage: Stage,
    /// The node.
    pub node: &'a str,
    /// Variables that the node sees, for conditions.
    pub variables: &'a Map<String, Value>,
    /// Schema that the value is to fit by the node's own settings; none where there is none.
    pub schema: Option<&'a Value>,
    /// The present time, for conditions.
    pub now: Timestamp,
}

/// Holds values against JSON Schemas, within bounds.
pub trait SchemaCheck {
    /// Faults of a value, in sentences without its content; empty where it fits. A schema that cannot be used lets nothing
    /// pass.
    fn problems(&self, schema: &Value, value: &Value) -> Vec<String>;
}

/// Result of the checks of a value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdict {
    /// The hits, in the order of the checks.
    pub hits: Vec<Hit>,
    /// The value, without what is to be taken out.
    pub value: Value,
    /// Whether anything was taken out.
    pub is_changed: bool,
}

impl Verdict {
    /// The strictest action among the hits; none without any.
    #[must_use]
    pub fn action(&self) -> Option<Action> {
        self.hits.iter().map(|hit| hit.action).max()
    }

    /// Whether the node ends here.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        self.action() == Some(Action::Block)
    }

    /// Adds the decision of a model on a check, or why there was none; a check that could not be made is a hit.
    pub fn note(&mut self, rule: &ModelRule, stage: Stage, decided: &Result<ModelVerdict, Undecided>) {
        let action = match decided {
            Ok(verdict) if !verdict.is_hit => return,
            Ok(_) => rule.action,
            Err(_) => closed(rule.action),
        };
        self.hits.push(Hit {
            check_id: rule.check.id.clone(),
            stage,
            action,
            message: rule.check.message(decided),
            count: 1,
            spans: Vec::new(),
        });
    }
}

/// Findings of a check in the texts of a value.
struct InText<'t> {
    text: &'t Text,
    found: Vec<Found>,
}

impl Policy {
    /// Holds a value against the deterministic checks, in order: each sees what those before it left. It takes time
    /// linear in the value's size.
    #[must_use]
    pub fn check(&self, subject: &Subject<'_>, value: Value, schemas: &dyn SchemaCheck) -> Verdict {
        let mut verdict = Verdict { hits: Vec::new(), value, is_changed: false };
        let own = self.custom.iter().map(|own| Named { id: &own.id, rule: &own.rule });
        let rules = self.rules.iter().map(|rule| Named { id: rule.check, rule });
        let all: Vec<Named<'_>> =
            rules.chain(own).filter(|named| named.rule.is_for(subject.node, subject.stage)).collect();
        if all.is_empty() {
            return verdict;
        }
        let mut texts = Texts::of(&verdict.value, MOST_BYTES);
        if texts.is_cut {
            let message = format!("The value has more texts than can be checked ({MOST_BYTES} bytes).");
            verdict.hits.push(plain("size", subject.stage, Action::Block, message));
            return verdict;
        }
        for named in all {
            if named.apply(subject, schemas, &mut verdict, &texts) {
                texts = Texts::of(&verdict.value, MOST_BYTES);
            }
            if verdict.is_blocked() {
                break;
            }
        }
        verdict
    }

    /// A text that a model is told beside what it decides upon, without what the checks of a node's input take out of texts
    /// or end the node for. None where it is too long to be looked at.
    #[must_use]
    pub fn cleaned(&self, node: &str, text: String) -> Option<String> {
        let custom = self.custom.iter().map(|own| &own.rule);
        let takes_out = |rule: &&Rule| {
            rule.is_for(node, Stage::Input) && matches!(rule.action, Action::Redact | Action::Block)
        };
        let mut value = Value::String(text);
        for rule in self.rules.iter().chain(custom).filter(takes_out) {
            let texts = Texts::of(&value, MOST_BYTES);
            if texts.is_cut {
                return None;
            }
            let named = Named { id: rule.check, rule };
            for own in &texts.all {
                let found = named.find(own);
                if !found.is_empty() {
                    values::replace(&mut value, &own.path, &values::merged(found))?;
                }
            }
        }
        match value {
            Value::String(text) => Some(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// A rule under the name that events have for it.
struct Named<'r> {
    id: &'r str,
    rule: &'r Rule,
}

impl Named<'_> {
    /// Makes the check; whether it changed the value.
    fn apply(
        &self,
        subject: &Subject<'_>,
        schemas: &dyn SchemaCheck,
        verdict: &mut Verdict,
        texts: &Texts,
    ) -> bool {
        let (stage, action) = (subject.stage, self.rule.action);
        let mut told =
            |message: String, action: Action| verdict.hits.push(plain(self.id, stage, action, message));
        match &self.rule.test {
            Test::Size(most) if texts.bytes > *most => {
                told(format!("The texts have {} bytes, and {most} are allowed.", texts.bytes), action);
            }
            Test::Schema(own) => {
                let Some(schema) = own.as_ref().or(subject.schema) else { return false };
                let problems = schemas.problems(schema, &verdict.value);
                for problem in problems.into_iter().take(MOST_PROBLEMS) {
                    verdict.hits.push(plain(self.id, stage, action, problem));
                }
            }
            Test::Feel(condition) => {
                let text = texts.all.iter().map(|own| own.text.as_str()).collect::<Vec<_>>().join("\n");
                let scope = json!({
                    "text": text,
                    "value": verdict.value,
                    "stage": stage.as_str(),
                    "node": subject.node,
                    "variables": subject.variables,
                });
                match holds(condition, scope, subject.now) {
                    Ok(false) => {}
                    Ok(true) => told("The condition of the check is true.".to_owned(), action),
                    Err(message) => told(message, closed(action)),
                }
            }
            Test::Secrets
            | Test::Personal(_)
            | Test::Injection(_)
            | Test::Urls(_)
            | Test::Keywords(_)
            | Test::Regex(_) => {
                return self.in_texts(stage, verdict, texts);
            }
            Test::Size(_) | Test::Model(_) | Test::ToolCalls => {}
        }
        false
    }

    /// Makes a check that looks at each text; whether it changed the value.
    fn in_texts(&self, stage: Stage, verdict: &mut Verdict, texts: &Texts) -> bool {
        let found = texts.all.iter().map(|text| InText { text, found: self.find(text) });
        let found: Vec<InText<'_>> = found.filter(|own| !own.found.is_empty()).collect();
        if found.is_empty() {
            return false;
        }
        let count = found.iter().map(|own| own.found.len()).sum();
        let spans = found.iter().flat_map(|own| own.found.iter().map(|one| span(own.text, one)));
        let spans: Vec<Span> = spans.take(MOST_SPANS).collect();
        let mut kinds: Vec<&str> =
            found.iter().flat_map(|own| own.found.iter().map(|one| one.kind)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let message = format!("Found {count} times: {}.", kinds.join(", "));
        let action = self.rule.action;
        verdict.hits.push(Hit { check_id: self.id.to_owned(), stage, action, message, count, spans });
        if action != Action::Redact {
            return false;
        }
        for own in found {
            if values::replace(&mut verdict.value, &own.text.path, &values::merged(own.found)).is_some() {
                verdict.is_changed = true;
            }
        }
        true
    }

    fn find(&self, text: &Text) -> Vec<Found> {
        let every = |pattern: &regex::Regex, given: &str, kind| -> Vec<Found> {
            let hits = pattern.find_iter(given).filter(|hit| !hit.is_empty());
            hits.map(|hit| Found { start: hit.start(), end: hit.end(), kind }).collect()
        };
        match &self.rule.test {
            Test::Secrets => secrets::find(&text.text),
            Test::Personal(kinds) => personal::find(&text.text, kinds),
            Test::Injection(threshold) => injection::find(&text.text, &text.folded, *threshold),
            Test::Urls(hosts) => urls::find(&text.text, hosts),
            Test::Keywords(Some(pattern)) => every(pattern, &text.folded.text, "keyword")
                .into_iter()
                .map(|one| text.folded.origin(one.start, one.end, one.kind))
                .collect(),
            Test::Regex(pattern) => every(pattern, &text.text, "pattern"),
            Test::Keywords(None)
            | Test::Size(_)
            | Test::Schema(_)
            | Test::Feel(_)
            | Test::Model(_)
            | Test::ToolCalls => Vec::new(),
        }
    }
}

fn span(text: &Text, found: &Found) -> Span {
    Span { path: text.path.clone(), start: found.start, end: found.end, kind: found.kind.to_owned() }
}

fn plain(id: &str, stage: Stage, action: Action, message: String) -> Hit {
    Hit { check_id: id.to_owned(), stage, action, message, count: 1, spans: Vec::new() }
}

/// Whether a condition holds; a sentence where it decides nothing.
fn holds(condition: &heddle_feel::Expression, scope: Value, now: Timestamp) -> Result<bool, String> {
    let Value::Object(scope) = scope else { return Err("The condition cannot be evaluated.".to_owned()) };
    let limits = Limits {
        steps: STEPS,
        depth: 256,
        list_size: 100_000,
        string_size: MOST_BYTES,
        notes: 5,
        cancel: None,
    };
    match condition.evaluate_within(&scope, &EvalContext { now }, &limits) {
        Ok(evaluated) => match evaluated.value {
            Feel::Boolean(own) => Ok(own),
            _ => Err("The condition of the check is neither true nor false.".to_owned()),
        },
        Err(error) => Err(format!("The condition cannot be evaluated: {}", shortened(&error.to_string()))),
    }
}
