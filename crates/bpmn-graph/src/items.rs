//! Import items that depend on what is executed: words that became settings, and lanes.

use super::unsupported::refused_setting;
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{ImportItem, LaneSet, Node, WorkflowDefinition, graphs};
use serde_json::Value;
use std::collections::HashMap;

/// Gives each item of a word that became a setting which is not executed at its element the outcome `unsupported`, with
/// the reason: publishing refuses the element with it. Where the setting has no effect yet the outcome is `preserved`.
pub fn settle_items(items: &mut [ImportItem]) {
    for item in items.iter_mut().filter(|item| item.outcome.as_deref() == Some("mapped")) {
        let element = item.element_type.clone().unwrap_or_default();
        let word = item.source_kind.clone().unwrap_or_default();
        let settings = item.configuration.iter().flatten();
        let mut refused =
            settings.filter_map(|(member, value)| refused_setting(&element, member, Some(value)));
        // The type of a job says nothing by itself: its topic gives the setting.
        let job = || word.ends_with(":type").then(|| refused_setting(&element, "jobType", None)).flatten();
        let silent = item.configuration.as_ref().is_none_or(serde_json::Map::is_empty);
        let reason = if silent { job() } else { refused.next() };
        if let Some(reason) = reason {
            let kept = match item.configuration.as_ref().and_then(|own| own.keys().next()) {
                Some(member) => format!("It is kept as the setting `{member}`"),
                None => "It is kept".to_owned(),
            };
            item.outcome = Some("unsupported".to_owned());
            item.message = Some(format!("{word}: {kept}, but publishing refuses it: {reason}."));
        } else if item.configuration.as_ref().is_some_and(|own| own.len() == 1 && own.contains_key("retry")) {
            item.outcome = Some("preserved".to_owned());
            item.message = Some(format!(
                "{word}: It is kept as the setting `retry`: nothing at this node is tried again yet."
            ));
        }
    }
}

/// One item for each lane with user tasks: whether they are offered to the group named like the lane.
#[must_use]
pub fn lane_items(definition: &WorkflowDefinition) -> Vec<ImportItem> {
    let mut items = Vec::new();
    for graph in graphs(definition) {
        let is_user = |node: &&Node| node.is(ElementKind::UserTask);
        let tasks = graph.nodes.iter().filter(is_user).filter_map(|node| Some((node.element_id()?, node)));
        let tasks: HashMap<&str, &Node> = tasks.collect();
        let sets = graph.process.and_then(|process| process.lane_sets.as_deref()).unwrap_or_default();
        if !tasks.is_empty() {
            sets.iter().for_each(|set| in_set(set, &tasks, &mut items));
        }
    }
    items
}

/// The lanes of a set and, from the inside, those within them. The nesting is bounded by the reader.
fn in_set(set: &LaneSet, tasks: &HashMap<&str, &Node>, items: &mut Vec<ImportItem>) {
    for lane in set.lanes.iter().flatten() {
        let own = lane.flow_node_refs.iter().flatten().filter_map(|id| tasks.get(id.as_str()));
        let (mut offered, mut open) = (0, 0);
        for node in own {
            let settings = node.configuration.as_ref();
            if settings.and_then(|own| own.get("laneCandidates")).and_then(Value::as_bool) == Some(true) {
                offered += 1;
            } else {
                open += 1;
            }
        }
        if offered + open > 0 {
            let (outcome, sentence) = match (offered, open) {
                (_, 0) => ("mapped", "Its user tasks are offered to the group of the lane's name."),
                (0, _) => (
                    "preserved",
                    "It says nothing about who may do its user tasks: one that names neither assignee nor candidates is for \
                     everybody who may complete tasks. Set `laneCandidates` at a task to offer it to the group of the \
                     lane's name.",
                ),
                _ => (
                    "preserved",
                    "Only its user tasks with `laneCandidates` are offered to the group of the lane's name.",
                ),
            };
            items.push(ImportItem {
                element_id: lane.id.clone(),
                element_type: Some(ElementKind::Lane.name().to_owned()),
                message: Some(format!("bpmn:lane: {sentence}")),
                name: lane.name.clone(),
                outcome: Some(outcome.to_owned()),
                source_id: lane.id.clone(),
                source_kind: Some("bpmn:lane".to_owned()),
                ..ImportItem::default()
            });
        }
        if let Some(inner) = lane.child_lane_set.as_deref() {
            in_set(inner, tasks, items);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_bpmn::xml;

    fn told(document: &str) -> Vec<String> {
        let document = format!(
            r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:x"
                xmlns:camunda="http://camunda.org/schema/1.0/bpmn"
                xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
                xmlns:heddle="{}">{document}</definitions>"#,
            xml::HEDDLE_NS
        );
        let imported = xml::read(document.as_bytes()).unwrap();
        let mut items = imported.items;
        items.extend(lane_items(&imported.definition));
        settle_items(&mut items);
        let text = |own: Option<String>| own.unwrap_or_default();
        items
            .into_iter()
            .map(|item| {
                format!("{} {} {}", text(item.element_id), text(item.source_kind), text(item.outcome))
            })
            .collect()
    }

    #[test]
    fn a_word_that_publishing_refuses_is_not_told_as_mapped() {
        for (node, expected) in [
            (
                r#"<serviceTask id="x" camunda:type="external" camunda:topic="pay"/>"#,
                &["x camunda:type unsupported", "x camunda:topic unsupported"][..],
            ),
            (
                r#"<callActivity id="x"><extensionElements><camunda:out source="a" target="b"/></extensionElements>
                   </callActivity>"#,
                &["x camunda:out mapped"],
            ),
            (
                r#"<userTask id="x"><extensionElements><zeebe:ioMapping><zeebe:input source="=a" target="b"/>
                   </zeebe:ioMapping></extensionElements></userTask>"#,
                &["x zeebe:ioMapping unsupported"],
            ),
            (
                r#"<scriptTask id="x" camunda:resultVariable="r"><extensionElements><camunda:inputOutput>
                   <camunda:inputParameter name="a">1</camunda:inputParameter></camunda:inputOutput></extensionElements>
                   </scriptTask>"#,
                &["x camunda:resultVariable mapped", "x camunda:inputOutput mapped"],
            ),
            (
                r#"<businessRuleTask id="x" camunda:decisionRef="d" camunda:decisionRefVersion="2"/>"#,
                &["x camunda:decisionRef mapped", "x camunda:decisionRefVersion unsupported"],
            ),
            (
                r#"<task id="x"><extensionElements><camunda:failedJobRetryTimeCycle>R3/PT10S</camunda:failedJobRetryTimeCycle>
                   </extensionElements></task>"#,
                &["x camunda:failedJobRetryTimeCycle preserved"],
            ),
        ] {
            assert_eq!(told(&format!(r#"<process id="p">{node}</process>"#)), expected, "{node}");
        }
    }

    #[test]
    fn a_lane_tells_whether_it_gives_candidates() {
        let process = |settings: &str| {
            format!(
                r#"<process id="p"><laneSet id="ls"><lane id="outer" name="Bank"><childLaneSet id="inner">
                   <lane id="risk" name="Risk"><flowNodeRef>u</flowNodeRef></lane></childLaneSet></lane></laneSet>
                   <userTask id="u">{settings}</userTask></process>"#
            )
        };
        assert_eq!(told(&process("")), ["risk bpmn:lane preserved"]);
        let own = r#"<extensionElements><heddle:data>{"configuration":{"laneCandidates":true}}</heddle:data></extensionElements>"#;
        assert_eq!(told(&process(own)), ["risk bpmn:lane mapped"]);
    }
}
