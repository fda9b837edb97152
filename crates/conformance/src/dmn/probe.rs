//! Models that tell what the reader, the writer, the compiler and the evaluation do with a feature.

use heddle_feel::{Dialect, EvalContext, Expression, Value};
use heddle_kernel::Timestamp;
use heddle_xml::text::escape_text;

use super::{FeatureClaim, Group};
use crate::Extent;
use heddle_dmn::EvalOptions;
use heddle_dmn::Severity;
use heddle_dmn::model::DecisionModel;
use heddle_dmn::xml::{self, MODEL_NS};

/// Which part of a model a feature's text is, and the value that the decision `d` then has, in FEEL.
#[derive(Debug, Clone, Copy)]
pub(super) enum Probe {
    /// The content of the definitions, in which stands the decision `d`.
    Model(&'static str, &'static str),
    /// The content of the definitions; there is nothing to evaluate.
    Kept(&'static str),
    /// The logic of the decision `d`, which requires the input data `n`.
    Logic(&'static str, &'static str),
    /// The text of the decision's literal expression.
    Feel(&'static str, &'static str),
    /// The content of a diagram that shows the decision `d`.
    Diagram(&'static str),
}

/// A feature.
#[derive(Debug, Clone, Copy)]
pub(super) struct Feature {
    /// Part of the standard that the feature belongs to.
    pub group: Group,
    /// Name of the feature.
    pub name: &'static str,
    /// The clause of DMN 1.5.
    pub clause: &'static str,
    /// The lowest conformance level that has it; 0 where no level speaks of it.
    pub level: u8,
    /// The name of its element, or its attribute as it stands in the text; empty where the text is all of it.
    pub mark: &'static str,
    /// A model that uses it.
    pub probe: Probe,
}

/// A document of that namespace around a content.
pub(super) fn document_in(namespace: &str, content: &str) -> String {
    format!(
        r#"<definitions xmlns="{namespace}" id="m" name="m" namespace="urn:probe">{content}</definitions>"#
    )
}

/// The decision `d` with that logic, and its input.
pub(super) fn decision(logic: &str) -> String {
    format!(
        r##"<inputData id="i" name="n"><variable id="iv" name="n"/></inputData><decision id="d" name="d"><variable id="dv"
        name="d"/><informationRequirement id="r"><requiredInput href="#i"/></informationRequirement>{logic}</decision>"##
    )
}

/// A literal expression.
pub(super) fn literal(text: &str) -> String {
    let mut escaped = String::new();
    escape_text(text, &mut escaped);
    format!(r#"<literalExpression id="l"><text>{escaped}</text></literalExpression>"#)
}

/// The document that the probes with an import use.
const IMPORTED: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="o" name="o" namespace="urn:other">
    <itemDefinition id="ot" name="tSmall"><typeRef>number</typeRef><allowedValues id="oa"><text>&lt; 10</text></allowedValues>
    </itemDefinition><decision id="od" name="four"><variable id="ov" name="four"/><literalExpression id="ol"><text>4</text>
    </literalExpression></decision></definitions>"#;

impl Probe {
    fn document(self) -> String {
        let content = match self {
            Self::Model(content, _) | Self::Kept(content) => content.to_owned(),
            Self::Logic(logic, _) => decision(logic),
            Self::Feel(text, _) => decision(&literal(text)),
            Self::Diagram(content) => format!(
                r#"{}<dmndi:DMNDI xmlns:dmndi="https://www.omg.org/spec/DMN/20230324/DMNDI/"
                xmlns:dc="http://www.omg.org/spec/DMN/20180521/DC/" xmlns:di="http://www.omg.org/spec/DMN/20180521/DI/">{content}
                </dmndi:DMNDI>"#,
                decision(&literal("1"))
            ),
        };
        document_in(MODEL_NS, &content)
    }

    const fn expected(self) -> Option<&'static str> {
        match self {
            Self::Model(_, expected) | Self::Logic(_, expected) | Self::Feel(_, expected) => Some(expected),
            Self::Kept(_) | Self::Diagram(_) => None,
        }
    }
}

/// Number of an element's start tags, or of an attribute as it is written, in a text.
fn count(text: &str, mark: &str) -> usize {
    if mark.contains('=') {
        return text.matches(mark).count();
    }
    let tag = format!("<{mark}");
    let ends = |rest: &str| rest.starts_with([' ', '/', '>', '\n']);
    text.match_indices(&tag).filter(|(at, _)| text.get(at + tag.len()..).is_some_and(ends)).count()
}

fn bare(model: &DecisionModel) -> DecisionModel {
    DecisionModel { source_xml: None, ..model.clone() }
}

/// Whether the model, written, has the mark as often, and read again is the same.
fn holds(model: &DecisionModel, mark: &str, times: usize) -> bool {
    let Ok(text) = xml::write(model) else { return false };
    let same = xml::read(text.as_bytes()).is_ok_and(|again| bare(&again.model) == bare(model));
    same && (mark.is_empty() || count(&text, mark) == times)
}

/// Reads, writes, compiles and evaluates the model of a feature.
pub(super) fn claim(feature: &Feature) -> (Group, FeatureClaim) {
    let mut claim = FeatureClaim {
        name: feature.name,
        clause: feature.clause,
        level: Some(feature.level).filter(|level| *level > 0),
        parse: false,
        export: false,
        execute: Extent::None,
        since: env!("CARGO_PKG_VERSION"),
        notes: None,
    };
    let source = feature.probe.document();
    match xml::read(source.as_bytes()) {
        Ok(imported) => {
            let times = count(&source, feature.mark);
            let mark = feature.mark;
            let model = &imported.model;
            let changed = DecisionModel { exporter: Some("changed".to_owned()), ..model.clone() };
            let known = mark.is_empty() || times > 0;
            claim.export = known && holds(model, mark, times) && holds(&changed, mark, times);
            claim.parse = known
                && imported.diagnostics.is_empty()
                && match feature.probe {
                    Probe::Diagram(_) => is_drawn(&source, mark),
                    _ => holds(&bare(model), mark, times),
                };
            (claim.execute, claim.notes) = executed(model, feature.probe);
        }
        Err(error) => claim.notes = Some(error.to_string()),
    }
    (feature.group, claim)
}

fn is_drawn(source: &str, mark: &str) -> bool {
    let Ok(drawing) = heddle_dmn::diagram::drawing(source) else { return false };
    match mark {
        "dmndi:DMNShape" | "dc:Bounds" => !drawing.shapes.is_empty(),
        "dmndi:DMNEdge" | "di:waypoint" => !drawing.edges.is_empty(),
        "dmndi:DMNDI" | "dmndi:DMNDiagram" => !drawing.shapes.is_empty() && !drawing.edges.is_empty(),
        _ => false,
    }
}

fn executed(model: &DecisionModel, probe: Probe) -> (Extent, Option<String>) {
    let Some(expected) = probe.expected() else { return (Extent::NotOperational, None) };
    match outcome(model, expected) {
        Ok(()) => (Extent::Full, None),
        Err(reason) => (Extent::None, Some(reason)),
    }
}

/// Whether the decision `d` has that value; else why not.
fn outcome(model: &DecisionModel, expected: &str) -> Result<(), String> {
    let mut models = vec![model.clone()];
    if !model.imports.is_empty() {
        models.extend(xml::read(IMPORTED.as_bytes()).ok().map(|imported| imported.model));
    }
    let compiled = heddle_dmn::compile(&models);
    if let Some(found) = compiled.diagnostics.iter().find(|found| found.severity == Severity::Error) {
        return Err(found.message.clone());
    }
    let now = Timestamp::from_micros(1_700_000_000_000_000);
    let mut given = serde_json::Map::new();
    given.insert("n".to_owned(), serde_json::Value::from(3));
    let outcome =
        compiled.model.evaluate("d", &given, &EvalOptions::new(now)).map_err(|error| error.to_string())?;
    let wanted = value(expected, now)?;
    if outcome.value == wanted {
        return Ok(());
    }
    let reasons: Vec<&str> = outcome.reasons.iter().map(|reason| reason.message.as_str()).collect();
    Err(format!("{wanted} was expected, not {} ({})", outcome.value, reasons.join("; ")))
}

fn value(text: &str, now: Timestamp) -> Result<Value, String> {
    let expression = Expression::compile(text, Dialect::Standard).map_err(|error| error.to_string())?;
    let evaluated = expression
        .evaluate(&serde_json::Map::new(), &EvalContext { now })
        .map_err(|error| error.to_string())?;
    Ok(evaluated.value)
}
