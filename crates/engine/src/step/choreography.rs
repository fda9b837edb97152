//! Messages of a run that choreographies speak of (clause 11): each is compared with what its participant may send or receive
//! next. One out of order is told and stops nothing.

use super::{At, Machine};
use crate::event::{ChoreographyViolated, EventKind};
use heddle_bpmn_graph::choreography::{ChoreographyState, Direction, Refused};

/// Evaluation steps that a place of a marking costs that is looked at.
const PLACE: u64 = 16;

impl Machine<'_> {
    /// Shows the monitors of the process's choreographies a message that was sent or has come at a node.
    pub(super) fn exchanged(&mut self, at: At, direction: Direction, message: &str) {
        let graph = self.graph;
        let Some(node) = at.node else { return };
        for own in graph.choreographies() {
            let Some(exchange) = own.exchange(&graph.node(node).id, direction, message) else { continue };
            let choreography_id = own.monitor.id().clone();
            let before = self.state.choreographies.get(&choreography_id).cloned().unwrap_or_default();
            let mut work = 0;
            let seen = own.monitor.observe_counted(&before, &exchange, &mut work);
            // The step stops at its next token when this was too much.
            let _ = self.steps.charge(work.saturating_mul(PLACE));
            let kind = match seen {
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
