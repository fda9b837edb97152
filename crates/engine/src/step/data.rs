//! Data of activities and events: objects, inputs and outputs, sets and associations (clauses 10.4 and 13.3.2).

use super::{Machine, StepFault};
use crate::LocalId;
use heddle_bpmn_graph::NodeIx;

impl Machine<'_> {
    /// Moves data into a node instance, by its data input associations.
    pub(super) fn data_in(&mut self, _ix: NodeIx, _id: LocalId) -> Result<(), StepFault> {
        Ok(())
    }

    /// Moves data out of a node instance, by its data output associations.
    pub(super) fn data_out(&mut self, _ix: NodeIx, _id: LocalId) -> Result<(), StepFault> {
        Ok(())
    }
}
