//! Loops and multi-instance activities (clauses 13.3.6 and 13.3.7).

use super::leave::Completion;
use super::{Machine, StepFault, expression};
use crate::LocalId;
use heddle_bpmn_graph::{Marker, NodeIx};
use std::sync::Arc;

impl Machine<'_> {
    /// Makes a node instance the body of its loop or of its instances, and starts the first of them.
    pub(super) fn open_marker(
        &mut self,
        _ix: NodeIx,
        _id: LocalId,
        _marker: &Arc<Marker>,
    ) -> Result<(), StepFault> {
        Err(expression("loops come with the part loops"))
    }

    /// An instance of a body has done all but its end.
    pub(super) fn iteration_done(
        &mut self,
        _id: LocalId,
        _iteration: u64,
        _ending: Completion,
    ) -> Result<(), StepFault> {
        Err(expression("loops come with the part loops"))
    }
}
