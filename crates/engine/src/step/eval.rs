//! Conditions of flows.

use super::{Machine, StepFault, expression};
use crate::LocalId;
use crate::core::budgets::reached;
use crate::core::eval::{Variables, brief, prefixed};
use heddle_bpmn_graph::{Comparison, FlowIx, Side, Test, follow};
use heddle_feel::to_json;
use serde_json::Value;

impl Machine<'_> {
    /// Whether a flow out of a node is to be taken. Only true and false decide that.
    pub(super) fn holds(&self, flow: FlowIx, scope: LocalId, failed: bool) -> Result<bool, StepFault> {
        self.holds_over(flow, &self.variables(scope), failed)
    }

    /// The same against given variables.
    pub(super) fn holds_over(
        &self,
        flow: FlowIx,
        variables: &Variables<'_>,
        failed: bool,
    ) -> Result<bool, StepFault> {
        let flow = self.graph.flow(flow);
        let Some(condition) = &flow.condition else { return Ok(!failed) };
        let side = match &condition.side {
            Side::Always => true,
            Side::Success => !failed,
            Side::Failure => failed,
            Side::Outcome(_) if failed => false,
            Side::Outcome(wanted) => {
                let source = &self.graph.node(flow.source).id;
                let given = self.state.outputs.get(&**source).and_then(|entry| entry.get("outcome"));
                given.and_then(Value::as_str) == Some(wanted)
            }
        };
        if !side {
            return Ok(false);
        }
        match &condition.test {
            None => Ok(true),
            Some(Test::Compare(comparison)) => {
                let left = operand(comparison, variables);
                match comparison.holds(left, &self.steps) {
                    Ok(Some(truth)) => Ok(truth),
                    Ok(None) => {
                        let left = left.unwrap_or(&Value::Null);
                        Err(undecided(
                            comparison.text(),
                            &flow.id,
                            &format!("nothing, since its left side is {}", brief(left)),
                            &[],
                        ))
                    }
                    Err(limit) => Err(reached(limit, |own| expression(own.to_string()))),
                }
            }
            Some(Test::Feel(source)) => match self.evaluate(source, variables)? {
                (heddle_feel::Value::Boolean(truth), _) => Ok(truth),
                (other, notes) => Err(undecided(source.source(), &flow.id, &brief(&to_json(&other)), &notes)),
            },
        }
    }
}

fn operand<'s>(comparison: &Comparison, variables: &Variables<'s>) -> Option<&'s Value> {
    let (first, rest) = comparison.path.split_first()?;
    follow(variables.find(first)?, rest)
}

/// The fault of a condition that is neither true nor false: it decides nothing, and the default flow is not taken for it.
fn undecided(text: &str, flow: &str, value: &str, notes: &[String]) -> StepFault {
    let because = prefixed(notes);
    expression(format!(
        "the condition `{text}` of the flow `{flow}` gives {value}, not true or false{because}"
    ))
}
