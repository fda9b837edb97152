//! Ad-hoc sub-processes (clause 13.3.5).

use super::{Machine, StepFault, expression};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{AdHoc, NodeIx, ScopeIx};

impl Machine<'_> {
    pub(super) fn open_ad_hoc(
        &mut self,
        _ix: NodeIx,
        _id: LocalId,
        _content: ScopeIx,
        _rules: &AdHoc,
    ) -> Result<(), StepFault> {
        Err(expression("ad-hoc sub-processes come with the part loops"))
    }

    /// Whether an ad-hoc sub-process in which nothing runs stays open, since its completion condition does not hold.
    pub(super) fn ad_hoc_keeps_open(&self, _scope: LocalId) -> Result<bool, Rejection> {
        Ok(false)
    }
}
