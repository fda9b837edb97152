//! Multiple and parallel multiple events, and links (clause 10.5.5).

use super::wait::Wait;
use super::{Machine, StepFault, expression};
use crate::LocalId;
use heddle_bpmn_graph::{NodeIx, Several, Throw};

impl Machine<'_> {
    /// Wait of an event with several triggers.
    pub(super) fn wait_for_several(
        &self,
        _node: NodeIx,
        _several: &Several,
        _scope: LocalId,
    ) -> Result<Option<Wait>, StepFault> {
        Err(expression("multiple events come with the part events"))
    }

    pub(super) fn throw_several(
        &mut self,
        _ix: NodeIx,
        _id: LocalId,
        _all: &[Throw],
    ) -> Result<(), StepFault> {
        Err(expression("multiple events come with the part events"))
    }

    /// Goes on at the catching link of a name.
    pub(super) fn follow_link(&mut self, _ix: NodeIx, _id: LocalId, _name: &str) -> Result<(), StepFault> {
        Err(expression("links come with the part events"))
    }
}
