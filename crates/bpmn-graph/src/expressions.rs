//! Import items of a document's conditions and timers, which are no vendor's words.

use super::condition;
use super::settings::Setting;
use super::timer::{TimerDefinition, TimerKind};
use super::words::{self, Script};
use heddle_bpmn::element::ElementKind as K;
use heddle_bpmn::juel;
use heddle_bpmn::model::{Edge, EventDefinition, ImportItem, Node, WorkflowDefinition, graphs};
use serde_json::{Map, Value};

/// One item for each condition of a sequence flow or an event, and for each timer: `mapped` with the FEEL that is
/// evaluated (or the text, where it is ISO 8601), else `unsupported` with the reason.
#[must_use]
pub fn expression_items(definition: &WorkflowDefinition) -> Vec<ImportItem> {
    let bpmn = definition.bpmn.as_deref();
    let language = bpmn.and_then(|bpmn| bpmn.expression_language.as_deref());
    let mut items = Vec::new();
    for graph in graphs(definition) {
        items.extend(graph.edges.iter().filter_map(|edge| flow(edge, language)));
        for node in graph.nodes {
            let events = node.bpmn.iter().flat_map(|bpmn| bpmn.event_definitions.iter().flatten());
            items.extend(events.flat_map(|event| event_items(node, event, language)));
            items.extend(script_item(node));
        }
    }
    items
}

/// Outcome for a script in another language than FEEL: the expression, or the type of the job of a worker.
fn script_item(node: &Node) -> Option<ImportItem> {
    let activity = node.bpmn.as_deref()?.activity.as_ref()?;
    let text = activity.script.as_deref().filter(|text| !text.trim().is_empty())?;
    if !node.is(K::ScriptTask) {
        return None;
    }
    let read = words::script(node.configuration.as_ref(), Some(text), activity.script_format.as_deref());
    let (member, found) = match read {
        Ok(None) => return None,
        Ok(Some(Script::Feel(task))) => {
            let outputs = task.data.outputs.len();
            let sentence = format!("It is evaluated as FEEL; it sets {outputs} variables.");
            ("source", Ok((format!("={}", task.source.source()), sentence)))
        }
        Ok(Some(Script::Job(job))) => {
            let Setting::Literal(Value::String(name)) = job.job_type else { return None };
            ("jobType", Ok((name, "A worker runs it, as a job of the type that is named.".to_owned())))
        }
        Err(wrong) => {
            let reasons: Vec<String> = wrong.into_iter().map(|(_, sentence, _)| sentence).collect();
            ("source", Err(reasons.join("; ")))
        }
    };
    let owner = Owner { id: node.element_id(), name: node.display_name.clone() };
    Some(item(owner, K::ScriptTask.name(), "bpmn:script", member, found))
}

fn flow(edge: &Edge, language: Option<&str>) -> Option<ImportItem> {
    let bpmn = edge.bpmn.as_deref()?;
    let text = bpmn.condition_expression.as_deref()?;
    let found = feel(text, bpmn.condition_language.as_deref(), language);
    let name = edge.bpmn.as_deref().and_then(|bpmn| bpmn.name.clone());
    Some(item(
        Owner { id: edge.id.as_deref(), name },
        K::SequenceFlow.name(),
        "bpmn:conditionExpression",
        "condition",
        found,
    ))
}

fn event_items(node: &Node, event: &EventDefinition, language: Option<&str>) -> Vec<ImportItem> {
    let owner = || Owner { id: node.element_id(), name: node.display_name.clone() };
    let kind = node.element_type().unwrap_or_default();
    let timers = [
        (TimerKind::Date, &event.time_date, "timeDate"),
        (TimerKind::Duration, &event.time_duration, "timeDuration"),
        (TimerKind::Cycle, &event.time_cycle, "timeCycle"),
    ];
    let told = |text: &&str| !text.trim().is_empty();
    let mut items: Vec<ImportItem> = timers
        .into_iter()
        .filter_map(|(form, text, name)| Some((form, text.as_deref().filter(told)?, name)))
        .map(|(form, text, name)| item(owner(), kind, &format!("bpmn:{name}"), name, timer(form, text)))
        .collect();
    if let Some(text) = event.expression.as_deref().filter(told) {
        items.push(item(owner(), kind, "bpmn:condition", "condition", feel(text, None, language)));
    }
    items
}

/// The FEEL of a condition and a sentence on it, or why there is none.
fn feel(text: &str, own: Option<&str>, language: Option<&str>) -> Result<(String, String), String> {
    let text = text.trim();
    let told = |wrong: condition::Wrong| wrong.sentence;
    match condition::juel(text, own).map_err(told)? {
        Some(translated) => {
            condition::feel(&translated, None).map_err(told)?;
            Ok((format!("={translated}"), format!("`{text}` is evaluated as FEEL.")))
        }
        None => {
            condition::feel(text, own.or(language)).map_err(told)?;
            if let Some(translated) = condition::xpath(text, own.or(language)).map_err(told)? {
                return Ok((
                    format!("={translated}"),
                    format!("`{text}` is XPath and is evaluated as FEEL."),
                ));
            }
            let source = text.strip_prefix('=').unwrap_or(text).trim();
            Ok((format!("={source}"), "It is FEEL.".to_owned()))
        }
    }
}

fn timer(form: TimerKind, text: &str) -> Result<(String, String), String> {
    let text = text.trim();
    TimerDefinition::parse(form, text).map_err(|error| error.to_string())?;
    if juel::is_juel(text)
        && let Ok(translated) = juel::value(text)
    {
        return Ok((format!("={translated}"), format!("`{text}` is evaluated as FEEL.")));
    }
    Ok((text.to_owned(), "It is taken as it is.".to_owned()))
}

/// Element to which an expression belongs.
struct Owner<'a> {
    id: Option<&'a str>,
    name: Option<String>,
}

fn item(
    owner: Owner<'_>,
    element_type: &str,
    source_kind: &str,
    member: &str,
    found: Result<(String, String), String>,
) -> ImportItem {
    let (outcome, value, message) = match found {
        Ok((value, message)) => ("mapped", Some(value), message),
        Err(reason) => ("unsupported", None, format!("It is kept, but cannot be executed: {reason}.")),
    };
    let configuration = value.map(|value| Map::from_iter([(member.to_owned(), Value::String(value))]));
    ImportItem {
        configuration,
        element_id: owner.id.map(str::to_owned),
        element_type: Some(element_type.to_owned()),
        message: Some(format!("{source_kind}: {message}")),
        name: owner.name,
        outcome: Some(outcome.to_owned()),
        source_id: owner.id.map(str::to_owned),
        source_kind: Some(source_kind.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_bpmn::xml;

    #[test]
    fn every_condition_and_timer_is_told() {
        let condition = |language: &str, text: &str| {
            format!(
                r#"<sequenceFlow id="{language}" sourceRef="x" targetRef="t"><conditionExpression{}
                 >{text}</conditionExpression></sequenceFlow>"#,
                if language.starts_with('f') { String::new() } else { format!(" language=\"{language}\"") }
            )
        };
        let event = |id: &str, kind: &str, text: &str| {
            format!(
                r#"<intermediateCatchEvent id="{id}"><timerEventDefinition><{kind}>{text}</{kind}>
                 </timerEventDefinition></intermediateCatchEvent>"#
            )
        };
        let document = format!(
            r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:x">
             <process id="p"><exclusiveGateway id="x"/><task id="t"/>{}{}{}{}{}{}{}{}</process></definitions>"#,
            condition("f1", "${amount gt 5}"),
            condition("f2", "=amount &gt; 5"),
            condition("groovy", "amount > 5"),
            condition("XPath", "getDataObject('amount') &gt; 5"),
            condition("xpath", "/amount &gt; 5"),
            event("e1", "timeDuration", "PT5M"),
            event("e2", "timeDuration", "${wait}"),
            event("e3", "timeDate", "2014-13-45T99:00:00"),
        );
        let definition = xml::read(document.as_bytes()).unwrap().definition;
        let told: Vec<String> = expression_items(&definition)
            .into_iter()
            .map(|item| {
                let value = item.configuration.and_then(|members| members.values().next().cloned());
                let value = value.as_ref().and_then(Value::as_str).unwrap_or("-").to_owned();
                format!("{} {} {value}", item.element_id.unwrap(), item.outcome.unwrap())
            })
            .collect();
        assert_eq!(
            told,
            [
                "f1 mapped =amount > 5",
                "f2 mapped =amount > 5",
                "groovy mapped =(amount > 5) = true",
                "XPath mapped =amount > 5",
                "xpath unsupported -",
                "e1 mapped PT5M",
                "e2 mapped =wait",
                "e3 unsupported -",
            ]
        );
    }
}
