//! Ad-hoc sub-processes (clause 13.3.5).

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::activity::AdHoc;
use super::compile::{Builder, Raw};
use super::events::Refusals;
use super::inside;
use super::settings::Setting;
use super::{Graph, Work};
use heddle_bpmn::model::NodeBpmn;
use serde_json::Value;
use std::sync::Arc;

impl Builder<'_> {
    /// The order and the end of an ad-hoc sub-process's content.
    pub(super) fn ad_hoc(&mut self, raw: &Raw<'_>, bpmn: &NodeBpmn) -> Result<Work, Refusals> {
        let mut refused = Refusals::default();
        let wrong = |sentence: String| ("wrongAdHoc", sentence, "10.3.5");
        if bpmn.triggered_by_event == Some(true) {
            refused.add(wrong("an ad-hoc sub-process is not triggered by an event".to_owned()));
        }
        let activity = bpmn.activity.as_ref();
        let ordering = activity.and_then(|own| own.ordering.as_deref()).unwrap_or_default();
        let sequential = match ordering.to_ascii_lowercase().as_str() {
            "" | "parallel" => false,
            "sequential" => true,
            _ => {
                refused.add(wrong(format!("ordering: `{ordering}` is neither Parallel nor Sequential")));
                false
            }
        };
        let condition = activity.and_then(|own| own.completion_condition.as_deref());
        let active = raw.node.configuration.as_ref().and_then(|own| own.get("activeElements"));
        let active = refused.part(match active.filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(value @ (Value::String(_) | Value::Array(_))) => Setting::read(value)
                .map(Some)
                .map_err(|message| ("expressionSyntax", format!("activeElements: {message}"), "8.4.6")),
            Some(_) => {
                let sentence = "activeElements: must be a list of ids, or an expression that gives it";
                Err(("wrongSetting", sentence.to_owned(), "10.3.5"))
            }
        });
        let active = active.flatten();
        let is_agent = inside::agent_of(raw.node);
        if is_agent && (active.is_some() || sequential) {
            let sentence = "an agent begins the activities one by one, as it calls its tools: it has neither \
                            `activeElements` nor the ordering Sequential";
            refused.add(wrong(sentence.to_owned()));
        }
        let agent = if is_agent { refused.part(self.agent(raw.node, bpmn)) } else { None };
        let completion = refused.part(self.marker_condition("completionCondition", condition)).flatten();
        let rules = AdHoc {
            sequential,
            completion,
            cancel_remaining: activity.and_then(|own| own.cancel_remaining_instances) != Some(false),
            active,
            agent,
        };
        refused.unless_any(Work::AdHoc { scope: raw.content.unwrap_or_default(), rules: Arc::new(rules) })
    }

    /// Checks that nothing starts or ends the content of an ad-hoc sub-process.
    pub(super) fn check_ad_hoc(&mut self, graph: &Graph, scope: usize, id: &str) {
        let owner = graph.scopes[scope].node.map(|owner| &graph.node(owner).work);
        if !matches!(owner, Some(Work::AdHoc { .. })) {
            return;
        }
        let inside = graph.nodes().iter().filter(|node| node.scope as usize == scope);
        let mut wrong = inside.filter(|node| matches!(node.work, Work::Start(_) | Work::End(_)));
        if let Some(node) = wrong.next() {
            let sentence =
                format!("an ad-hoc sub-process has no start and no end events, such as `{}`", node.id);
            self.refuse(id, "adHocContent", sentence, "10.3.5");
        }
    }
}
