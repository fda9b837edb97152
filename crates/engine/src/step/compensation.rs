//! Compensation (clause 13.5.5) and cancelled transactions (clause 13.3.4).

use super::{Machine, StepFault, expression};
use crate::LocalId;
use heddle_bpmn_graph::{Compensate, NodeIx};

impl Machine<'_> {
    /// Keeps what the compensation of a node instance that completes will need.
    pub(super) fn record_for_compensation(&mut self, _ix: NodeIx, _id: LocalId) {}

    pub(super) fn throw_compensation(&mut self, _id: LocalId, _what: &Compensate) -> Result<(), StepFault> {
        Err(expression("compensation comes with the part undo"))
    }

    pub(super) fn cancel_transaction(&mut self, _id: LocalId) -> Result<(), StepFault> {
        Err(expression("transactions come with the part undo"))
    }
}
