//! Withdrawal of node instances, scopes and runs.

use super::{At, Machine};
use crate::event::{CancelReason, EventKind, Resolution};
use crate::{LocalId, Rejection};
use std::sync::Arc;

impl Machine<'_> {
    /// Withdraws a node instance with everything in it.
    pub(super) fn cancel(&mut self, id: LocalId, reason: CancelReason) -> Result<(), Rejection> {
        let (ix, at) = self.at(id)?;
        self.task_withdrawn(id)?;
        self.withdraw_compensations(id, reason)?;
        self.empty_scope(id, reason)?;
        self.close_waits(id, false);
        self.withdraw_work(id, at);
        self.settle_incidents(Some(id), at);
        let element = self.graph.node(ix).element;
        self.emit(at, EventKind::NodeCancelled { element, reason });
        Ok(())
    }

    /// Withdraws what is in the scope of a node instance, if it has one, and closes that.
    pub(super) fn empty_scope(&mut self, id: LocalId, reason: CancelReason) -> Result<(), Rejection> {
        if self.state.scope(id).is_none() {
            return Ok(());
        }
        self.cancel_contents(id, reason, None)?;
        self.close_waits(id, true);
        let (ix, _) = self.at(id)?;
        self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::ScopeClosed {});
        Ok(())
    }

    /// Withdraws the node instances and tokens of a scope.
    pub(super) fn cancel_contents(
        &mut self,
        scope: LocalId,
        reason: CancelReason,
        keep: Option<LocalId>,
    ) -> Result<(), Rejection> {
        self.drop_compensations(scope);
        let inside: Vec<LocalId> = match self.index() {
            Some(index) => index.nodes(scope),
            None => {
                let inside = self.state.flow.active.iter().filter(|own| own.scope == scope);
                inside.map(|own| own.id).collect()
            }
        };
        let gone = inside.into_iter().rev().filter(|id| Some(*id) != keep);
        gone.into_iter().try_for_each(|id| {
            // One that compensates may have gone with what waits for it.
            if self.state.instance(id).is_none() { Ok(()) } else { self.cancel(id, reason) }
        })?;
        self.withdraw_tokens(scope);
        while let Some(own) =
            self.state.incidents.iter().find(|own| own.scope == scope && own.instance.is_none())
        {
            let (incident_id, by) = (own.id, self.actor());
            let resolved = EventKind::IncidentResolved { incident_id, resolution: Resolution::Obsolete, by };
            self.emit(At::scope(scope), resolved);
        }
        Ok(())
    }

    /// Withdraws the tokens on the flows of a scope.
    fn withdraw_tokens(&mut self, scope: LocalId) {
        if self.index().is_some_and(|index| index.tokens(scope) == 0) {
            return;
        }
        let tokens = self.state.flow.tokens.iter().filter(|token| token.scope == scope);
        let flows: Vec<Arc<str>> = tokens.map(|token| token.flow.clone()).collect();
        if !flows.is_empty() {
            self.emit(At::scope(scope), EventKind::TokensWithdrawn { flows });
        }
    }

    pub(super) fn cancel_run(&mut self, reason: Option<String>) -> Result<(), Rejection> {
        self.cancel_contents(LocalId::ROOT, CancelReason::RunCancelled, None)?;
        self.close_waits(LocalId::ROOT, true);
        let by = self.actor();
        self.emit(At::RUN, EventKind::RunCancelled { reason, by });
        Ok(())
    }
}
