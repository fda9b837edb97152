//! Conditional events (clause 10.5.5.2).

use super::Machine;
use super::wait::{Wait, What};
use crate::event::SubscriptionKind;
use heddle_bpmn_graph::{Condition, NodeIx};

impl Machine<'_> {
    /// Wait of an event for its condition.
    pub(super) fn wait_for_condition(&self, node: NodeIx, condition: &Condition) -> Wait {
        let name = condition.expression.source().into();
        Wait { node, what: What::Subscription { kind: SubscriptionKind::Condition, name, key: None } }
    }
}
