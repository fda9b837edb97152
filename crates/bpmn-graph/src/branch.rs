//! Branches of flows: a flow whose `branch` names an outcome of the human task before it, or a value that the decision before
//! it gives, is taken when that is what came out. The node before is the flow's source, or the only one before the gateway
//! that the flow leaves.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::compile::Builder;
use super::condition::{Comparison, FlowCondition, Side, Test, Wrong};
use super::meaning::Edition;
use super::{Element, FlowIx, NodeIx, Work};
use heddle_bpmn::model::Edge;
use std::collections::BTreeSet;

/// Meaning of a branch.
enum Branch {
    /// The condition that it is.
    Condition(Box<FlowCondition>),
    /// None, and the reason.
    Idle(&'static str),
}

/// Branch of a flow, as it was met.
pub(super) struct Branched<'d> {
    pub flow: FlowIx,
    pub branch: &'d str,
}

impl<'d> Builder<'d> {
    /// Notes the branch of a flow for [`Self::branches`], which needs all flows.
    pub(super) fn note_branch(&mut self, edge: &'d Edge, flow: FlowIx) {
        let branch = edge.branch.as_deref().map(str::trim).filter(|own| !own.is_empty());
        match (self.meaning.edition, branch) {
            (Edition::Second, Some(branch)) => self.branched.push(Branched { flow, branch }),
            (Edition::First | Edition::Second, _) => {}
        }
    }

    /// Gives the flows with a branch its condition, and tells where a branch has no effect.
    pub(super) fn branches(&mut self) {
        for Branched { flow, branch } in std::mem::take(&mut self.branched) {
            let own = &self.flows[flow as usize];
            let (id, source) = (own.id.clone(), own.source);
            let found = if own.condition.is_some() {
                Ok(Branch::Idle("the flow has a condition, which decides"))
            } else if self.nodes[source as usize].default_flow == Some(flow) {
                Ok(Branch::Idle("the flow is the default flow, which is taken when no other is"))
            } else {
                self.branch(source, branch)
            };
            match found {
                Ok(Branch::Condition(condition)) => self.flows[flow as usize].condition = Some(*condition),
                Ok(Branch::Idle(reason)) => {
                    let sentence = format!("branch: it has no effect here: {reason}");
                    self.warn(&id, "settingUnused", &sentence, "8.4.13");
                }
                Err(wrong) => self.refuse(&id, wrong.code, wrong.sentence, "8.4.13"),
            }
        }
    }

    fn branch(&self, source: NodeIx, branch: &str) -> Result<Branch, Wrong> {
        let node = &self.nodes[source as usize];
        if !matches!(node.element, Element::ExclusiveGateway | Element::InclusiveGateway) {
            return self.branch_of(source, source, branch);
        }
        let before = self.before(source);
        let deciding = before.iter().any(|ix| self.decides(*ix));
        match (before.len(), before.first()) {
            (1, Some(only)) => self.branch_of(*only, source, branch),
            _ if deciding => {
                let sentence = "branch: several nodes stand before the gateway, so that it is not said whose outcome is \
                                meant; give the flow a condition";
                Err(Wrong::new("wrongCondition", sentence))
            }
            _ => Ok(Branch::Idle(
                "neither a human task with outcomes nor a decision stands before the gateway",
            )),
        }
    }

    /// The nodes before a gateway, through other gateways that only lead on.
    fn before(&self, gateway: NodeIx) -> BTreeSet<NodeIx> {
        let (mut found, mut seen, mut open) = (BTreeSet::new(), BTreeSet::from([gateway]), vec![gateway]);
        while let Some(ix) = open.pop() {
            for flow in self.flows.iter().filter(|flow| flow.target == ix) {
                let leads_on = matches!(
                    self.nodes[flow.source as usize].element,
                    Element::ExclusiveGateway | Element::InclusiveGateway | Element::ParallelGateway
                );
                if !leads_on {
                    found.insert(flow.source);
                } else if seen.insert(flow.source) {
                    open.push(flow.source);
                }
            }
        }
        found
    }

    fn decides(&self, ix: NodeIx) -> bool {
        match &self.nodes[ix as usize].work {
            Work::User(task) => !task.outcomes.is_empty(),
            Work::Decision(_) => true,
            Work::Start(_)
            | Work::End(_)
            | Work::Throw(_)
            | Work::Catch(_)
            | Work::Boundary { .. }
            | Work::Pass
            | Work::Receive(_)
            | Work::Script(_)
            | Work::Job(_)
            | Work::Call(_)
            | Work::SubProcess(_)
            | Work::Transaction(_)
            | Work::AdHoc { .. }
            | Work::EventSubProcess { .. } => false,
        }
    }

    /// The condition that a node's outcome or value is this.
    fn branch_of(&self, ix: NodeIx, source: NodeIx, branch: &str) -> Result<Branch, Wrong> {
        let node = &self.nodes[ix as usize];
        if !self.decides(ix) {
            return Ok(Branch::Idle(
                "only a human task with outcomes, or a decision, has what a branch names",
            ));
        }
        if node.marker.is_some() {
            return Ok(Branch::Idle("the activity has several instances, and each its own outcome"));
        }
        let member = match &node.work {
            Work::User(task) => {
                if !task.outcomes.iter().any(|own| **own == *branch) {
                    let sentence =
                        format!("branch: `{branch}` is none of the outcomes of the human task `{}`", node.id);
                    return Err(Wrong::new("wrongCondition", sentence));
                }
                "outcome"
            }
            Work::Decision(_)
            | Work::Start(_)
            | Work::End(_)
            | Work::Throw(_)
            | Work::Catch(_)
            | Work::Boundary { .. }
            | Work::Pass
            | Work::Receive(_)
            | Work::Script(_)
            | Work::Job(_)
            | Work::Call(_)
            | Work::SubProcess(_)
            | Work::Transaction(_)
            | Work::AdHoc { .. }
            | Work::EventSubProcess { .. } => "output",
        };
        if ix == source && member == "outcome" {
            let side = Side::Outcome(branch.into());
            return Ok(Branch::Condition(Box::new(FlowCondition { side, test: None })));
        }
        let path = vec!["nodes".to_owned(), node.id.to_string(), member.to_owned()];
        let test = Some(Test::Compare(Comparison::equal_to(path, branch)));
        Ok(Branch::Condition(Box::new(FlowCondition { side: Side::Success, test })))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Edition, Graph, Meaning, Side, Test, compile, compile_with};
    use heddle_bpmn::diagnostic::Severity;
    use heddle_bpmn::model::WorkflowDefinition;
    use serde_json::{Value, json};

    fn definition(nodes: &Value, edges: &Value) -> WorkflowDefinition {
        serde_json::from_value(json!({"nodes": nodes, "edges": edges})).unwrap()
    }

    fn review() -> Value {
        json!({"id": "review", "type": "userTask", "configuration": {"outcomes": ["yes", "no"]}})
    }

    fn said(graph: &Graph, flow: &str) -> String {
        let condition = graph.flow(graph.find_flow(flow).unwrap()).condition.clone();
        match condition {
            None => "-".to_owned(),
            Some(own) => match (own.side, own.test) {
                (Side::Outcome(outcome), None) => format!("outcome {outcome}"),
                (Side::Success, Some(Test::Compare(own))) => own.text().to_owned(),
                other => panic!("{other:?}"),
            },
        }
    }

    fn split(branches: [&str; 2]) -> WorkflowDefinition {
        let nodes = json!([{"id": "s", "type": "startEvent"}, review(), {"id": "x", "type": "exclusiveGateway"},
            {"id": "a", "type": "endEvent"}, {"id": "b", "type": "endEvent"}]);
        let edges = json!([{"id": "f", "source": "s", "target": "review"}, {"id": "g", "source": "review", "target": "x"},
            {"id": "y", "source": "x", "target": "a", "branch": branches[0]},
            {"id": "n", "source": "x", "target": "b", "branch": branches[1]}]);
        definition(&nodes, &edges)
    }

    #[test]
    fn a_branch_is_the_outcome_of_the_task_before_also_before_the_gateway() {
        let compiled = compile(&split(["yes", "no"]));
        let graph = &compiled.processes[0];
        assert_eq!(said(graph, "y"), "nodes.review.outcome eq yes");
        assert_eq!(said(graph, "n"), "nodes.review.outcome eq no");
        let nodes = json!([{"id": "s", "type": "startEvent"}, review(), {"id": "a", "type": "endEvent"}]);
        let edges = json!([{"id": "f", "source": "s", "target": "review"},
            {"id": "y", "source": "review", "target": "a", "branch": "yes"}]);
        assert_eq!(said(&compile(&definition(&nodes, &edges)).processes[0], "y"), "outcome yes");
    }

    #[test]
    fn a_branch_that_names_no_outcome_is_refused_and_one_without_effect_is_told() {
        let compiled = compile(&split(["yes", "maybe"]));
        let found: Vec<_> = compiled.diagnostics.iter().filter(|one| one.is_error()).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].element_id.as_deref() == Some("n") && found[0].message.contains("maybe"));

        let nodes = json!([{"id": "s", "type": "startEvent"}, {"id": "a", "type": "endEvent"}]);
        let edges = json!([{"id": "f", "source": "s", "target": "a", "branch": "main"}]);
        let compiled = compile(&definition(&nodes, &edges));
        let told: Vec<_> = compiled.diagnostics.iter().filter(|one| one.code == "settingUnused").collect();
        assert_eq!((told.len(), told[0].severity), (1, Severity::Warning));
        assert_eq!(said(&compiled.processes[0], "f"), "-");
    }

    #[test]
    fn a_version_of_before_takes_a_branch_for_a_name() {
        let meaning = Meaning { edition: Edition::First, ..Meaning::NOW };
        let compiled = compile_with(&split(["yes", "maybe"]), meaning);
        assert!(compiled.is_executable(), "{:?}", compiled.diagnostics);
        assert_eq!(said(&compiled.processes[0], "y"), "-");
    }
}
