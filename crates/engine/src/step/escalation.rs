//! Escalations: thrown outwards, and no harm where nothing catches them (clause 13.5.6).

use super::{Machine, StepFault, expression};
use crate::LocalId;
use heddle_bpmn_graph::ErrorReference;

impl Machine<'_> {
    pub(super) fn throw_escalation(
        &mut self,
        _id: LocalId,
        _escalation: &ErrorReference,
    ) -> Result<(), StepFault> {
        Err(expression("escalations come with the part undo"))
    }
}
