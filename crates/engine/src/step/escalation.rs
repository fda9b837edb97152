//! Escalations: thrown outwards, and no harm where nothing catches them (clauses 10.5.6 and 13.5.4).

use super::error::{Sought, Thrown};
use super::leave::Completion;
use super::{Machine, StepFault};
use crate::event::EventKind;
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::ErrorReference;
use heddle_kernel::RunId;

impl Machine<'_> {
    /// Throws an escalation; its event goes on unless what catches it interrupts.
    pub(super) fn throw_escalation(
        &mut self,
        id: LocalId,
        escalation: &ErrorReference,
    ) -> Result<(), StepFault> {
        let thrown = self.thrown(id, escalation)?;
        let catcher = self.catcher(id, false, Sought::Escalation(&thrown.code))?;
        self.tell_escalation(id, &thrown, catcher.is_some())?;
        match catcher {
            Some(catcher) if self.interrupts(catcher) => {
                self.finish(id, Completion::default())?;
                Ok(self.catch(catcher, thrown)?)
            }
            Some(catcher) => {
                self.catch(catcher, thrown)?;
                Ok(self.leave(id)?)
            }
            None => Ok(self.leave(id)?),
        }
    }

    /// An escalation that a called run let go reaches the activity that called it.
    pub(super) fn escalate_call(&mut self, run: RunId, thrown: Thrown) -> Result<(), Rejection> {
        let found = self.state.calls.iter().find(|call| call.run == run);
        let id = found.ok_or(Rejection::UnknownCall(run))?.owner;
        let catcher = self.catcher(id, true, Sought::Escalation(&thrown.code))?;
        self.tell_escalation(id, &thrown, catcher.is_some())?;
        catcher.map_or(Ok(()), |catcher| self.catch(catcher, thrown))
    }

    fn tell_escalation(&mut self, id: LocalId, thrown: &Thrown, caught: bool) -> Result<(), Rejection> {
        let (_, at) = self.at(id)?;
        let (code, values) = (thrown.code.clone(), thrown.values.clone());
        self.emit(at, EventKind::EscalationThrown { code, values, caught });
        Ok(())
    }
}
