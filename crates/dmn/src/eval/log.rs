//! Reasons for nulls, and explanations of results.

use std::sync::Arc;

use heddle_feel::{Host, Value, to_json};
use heddle_kernel::shortened;
use serde::Serialize;
use serde_json::Value as Json;

use crate::compile::plan::Place;

/// Reasons kept of one evaluation; later ones are dropped.
const MAX_REASONS: usize = 50;
/// Tables and decisions kept in an explanation.
const MAX_EXPLAINED: usize = 10_000;

/// Values, by [`Value::weight`], that an explanation tells of.
const MAX_TOLD: u32 = 1_000_000;
/// Text in the place of a value beyond them.
const LEFT_OUT: &str = "(left out: the explanation is too large)";

/// Reason why a part of a result is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// The reason as a sentence without its end point.
    pub message: String,
    /// Name of the decision or function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element_name: Option<String>,
    /// Id of the nearest element that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element_id: Option<String>,
    /// Line in the XML where the text begins, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in the XML where the text begins, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Byte offset within the text of FEEL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
}

/// Explanation of results: the decisions that led to them.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The decisions evaluated, in order.
    pub decisions: Vec<DecisionExplanation>,
}

/// Explanation of a decision's result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionExplanation {
    /// Id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name.
    pub name: String,
    /// The values that it used, by name.
    pub inputs: serde_json::Map<String, Json>,
    /// The result.
    pub output: Json,
    /// The tables evaluated on the way, those in functions called among them.
    pub tables: Vec<TableExplanation>,
}

/// Explanation of a table's result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TableExplanation {
    /// Id of the table, or of the nearest element around that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element_id: Option<String>,
    /// Inputs with the values tested.
    pub inputs: Vec<TableInput>,
    /// The rules that matched.
    pub hits: Vec<TableHit>,
    /// The result.
    pub output: Json,
}

/// A value that rules tested.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TableInput {
    /// The input's text.
    pub expression: String,
    /// Value of the input.
    pub value: Json,
}

/// A rule that matched.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TableHit {
    /// Number of the rule, from 1.
    pub rule: usize,
    /// Id of the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Outputs of the rule, when they were evaluated.
    pub outputs: Vec<Json>,
}

/// Record of an evaluation: reasons for nulls and, where asked for, explanations.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub reasons: Vec<Reason>,
    /// Whether an explanation is wanted.
    pub explain: bool,
    pub decisions: Vec<DecisionExplanation>,
    pub tables: Vec<TableExplanation>,
    /// Values told so far.
    pub told: u32,
}

impl Log {
    pub(crate) fn table(&mut self, table: TableExplanation) {
        if self.tables.len() < MAX_EXPLAINED {
            self.tables.push(table);
        }
    }

    pub(crate) fn decision(&mut self, decision: DecisionExplanation) {
        if self.decisions.len() < MAX_EXPLAINED {
            self.decisions.push(decision);
        }
    }
}

fn reason(message: String, place: &Place, offset: Option<usize>) -> Reason {
    let known = place.at.line > 0;
    Reason {
        message: shortened(&message).into_owned(),
        element_name: place.owner.as_deref().map(str::to_owned),
        element_id: place.id.as_deref().map(str::to_owned),
        line: known.then_some(place.at.line),
        column: known.then_some(place.at.column),
        offset,
    }
}

/// Writes down why something at that place is null.
#[cold]
pub(crate) fn note(host: &mut Host<'_>, place: &Place, message: impl Into<String>) {
    if let Some(log) = host.extension::<Log>()
        && log.reasons.len() < MAX_REASONS
    {
        log.reasons.push(reason(message.into(), place, None));
    }
}

/// Writes down what the expression at that place noted.
#[cold]
pub(crate) fn notes(host: &mut Host<'_>, place: &Place) {
    let notes = host.take_notes(0);
    if let Some(log) = host.extension::<Log>() {
        for note in notes {
            if log.reasons.len() < MAX_REASONS {
                log.reasons.push(reason(note.message, place, Some(note.offset)));
            }
        }
    }
}

/// Whether an explanation is wanted.
pub(crate) fn explains(host: &mut Host<'_>) -> bool {
    host.extension::<Log>().is_some_and(|log| log.explain)
}

/// The value as JSON for an explanation; a short text in its place once the explanation tells of too many values. What
/// is only told must neither fail an evaluation nor fill the memory.
pub(crate) fn json(value: &Value, host: &mut Host<'_>) -> Json {
    let Some(log) = host.extension::<Log>() else { return Json::Null };
    let told = log.told.saturating_add(value.weight());
    if told > MAX_TOLD {
        return Json::String(LEFT_OUT.to_owned());
    }
    log.told = told;
    to_json(value)
}

pub(crate) fn text(text: Option<&Arc<str>>) -> Option<String> {
    text.map(|text| text.to_string())
}
