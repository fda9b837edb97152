//! Withdrawal of node instances, scopes and runs.

use super::{At, Machine};
use crate::event::{CancelReason, EventKind, Resolution};
use crate::{LocalId, Rejection};
use std::sync::Arc;

impl Machine<'_> {
    /// Withdraws a node instance with everything in it.
    pub(super) fn cancel(&mut self, id: LocalId, reason: CancelReason) -> Result<(), Rejection> {
        let (ix, at) = self.at(id)?;
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
        let inside = self.state.flow.active.iter().filter(|own| own.scope == scope && Some(own.id) != keep);
        let inside: Vec<LocalId> = inside.map(|own| own.id).collect();
        // All waits are found at once, or each instance would look through them all. None is opened meanwhile.
        let is_outermost = self.waits.is_none() && inside.len() > 1;
        if is_outermost {
            self.waits = Some(self.waits_by_host());
        }
        let cancelled = inside.into_iter().rev().try_for_each(|id| {
            // One that compensates may have gone with what waits for it.
            if self.state.instance(id).is_none() { Ok(()) } else { self.cancel(id, reason) }
        });
        if is_outermost {
            self.waits = None;
        }
        cancelled?;
        let tokens = self.state.flow.tokens.iter().filter(|token| token.scope == scope);
        let flows: Vec<Arc<str>> = tokens.map(|token| token.flow.clone()).collect();
        if !flows.is_empty() {
            self.emit(At::scope(scope), EventKind::TokensWithdrawn { flows });
        }
        while let Some(own) =
            self.state.incidents.iter().find(|own| own.scope == scope && own.instance.is_none())
        {
            let (incident_id, by) = (own.id, self.actor());
            let resolved = EventKind::IncidentResolved { incident_id, resolution: Resolution::Obsolete, by };
            self.emit(At::scope(scope), resolved);
        }
        Ok(())
    }

    pub(super) fn cancel_run(&mut self, reason: Option<String>) -> Result<(), Rejection> {
        self.cancel_contents(LocalId::ROOT, CancelReason::RunCancelled, None)?;
        self.close_waits(LocalId::ROOT, true);
        let by = self.actor();
        self.emit(At::RUN, EventKind::RunCancelled { reason, by });
        Ok(())
    }
}
