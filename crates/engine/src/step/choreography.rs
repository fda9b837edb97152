//! Messages of a run that choreographies speak of (clause 11): each is compared with what its participant may send or receive
//! next. One out of order is told and stops nothing.

use super::{At, Machine};
use crate::event::{ChoreographyViolated, EventKind};
use heddle_bpmn_graph::choreography::{ChoreographyState, Direction, Refused};

impl Machine<'_> {
    /// Shows the monitors of the process's choreographies a message that was sent or has come at a node.
    pub(super) fn exchanged(&mut self, at: At, direction: Direction, message: &str) {
        let graph = self.graph;
        let Some(node) = at.node else { return };
        for own in graph.choreographies() {
            let Some(exchange) = own.exchange(&graph.node(node).id, direction, message) else { continue };
            let choreography_id = own.monitor.id().clone();
            let before = self.state.choreographies.get(&choreography_id).cloned().unwrap_or_default();
            // The step stops at its next token when this was too much.
            let _ = self.charge_places(before.size());
            let kind = match own.monitor.observe(&before, &exchange) {
                Ok(state) if state == before => continue,
                Ok(state) => EventKind::ChoreographyAdvanced { choreography_id, exchange, state },
                Err(Refused::Violation(violation)) => {
                    EventKind::ChoreographyViolated(Box::new(ChoreographyViolated {
                        choreography_id,
                        violation: *violation,
                    }))
                }
                Err(Refused::TooManyPossibilities) => {
                    let state = ChoreographyState::lost();
                    EventKind::ChoreographyAdvanced { choreography_id, exchange, state }
                }
            };
            self.emit(at, kind);
        }
    }
}
