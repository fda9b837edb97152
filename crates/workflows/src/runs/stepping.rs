//! Place of a step: where it is asked for while it is small, else on the threads that compute, in the turn of its
//! organisation. A step is pure, so that one that turns out to be large is thrown away and done there anew; its
//! version is remembered, and the next steps of it go there at once.

use std::sync::Arc;

use heddle_engine::{Attempt, Command, Inline, RunContext, State, Step, step, step_inline};
use heddle_kernel::TenantId;
use heddle_usecase::{Admission, computed};

use super::Runs;
use super::advance::refused;
use crate::UseCaseError;
use crate::models::CompiledVersion;

/// Step of a run that is to be done.
pub(super) struct PlannedStep<'a> {
    /// The organisation.
    pub tenant: TenantId,
    /// Version of the workflow.
    pub version: &'a Arc<CompiledVersion>,
    /// Process of it.
    pub process: &'a str,
    /// State that the step begins in.
    pub state: &'a State,
    /// The command.
    pub command: Command,
    /// Context of the command.
    pub context: RunContext,
    /// Whether somebody waits for it, who can come again.
    pub asked: bool,
}

impl Runs {
    /// Result of a step; `None` when the version has no such process.
    ///
    /// # Errors
    /// A rejection of the engine; `QueueFull`.
    pub(super) async fn stepped(&self, planned: PlannedStep<'_>) -> Result<Option<Step>, UseCaseError> {
        let PlannedStep { tenant, version, process, state, command, context, asked } = planned;
        let Some(graph) = version.process(process) else { return Ok(None) };
        if !version.is_large() {
            let attempt = step_inline(graph, state, &command, &context, Inline::DEFAULT).map_err(refused)?;
            match attempt {
                Attempt::Done(step) => return Ok(Some(step)),
                Attempt::Overrun => version.found_large(),
            }
        }
        let admission = if asked { Admission::Refuse } else { Admission::Take };
        let (graph, state) = (Arc::clone(graph), state.clone());
        let work = move || step(&graph, &state, command, &context);
        computed(&*self.ports.compute, tenant, admission, work).await?.map(Some).map_err(refused)
    }
}
