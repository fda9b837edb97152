//! Bounds of what a caller may have sent: what they may not see themselves they send nobody.

use heddle_kernel::WorkflowId;
use heddle_policy::capability::{RunList, RunRead, WorkflowRead};
use heddle_policy::{AccessFilter, RequestContext, resource};

use crate::Problem;

/// Checks that the caller may read all that a webhook of these workflows sends; none stands for all.
pub(crate) fn may_send(context: &RequestContext, workflows: Option<&[WorkflowId]>) -> Result<(), Problem> {
    let refusal = |field: &str, message: &str| Err(Problem::at(field, "exceedsOwnRights", message));
    let snapshot = context.snapshot();
    // Events tell of a run what its reader sees: who may list it and not read it is sent none of it.
    let runs: [AccessFilter<resource::Run>; 2] = match (
        snapshot.authorize_list::<RunList>().map(|list| list.filter().clone()),
        snapshot.authorize_some::<RunRead>(),
    ) {
        (Ok(list), Ok(reads)) => [list, reads],
        (Err(_), _) | (_, Err(_)) => return refusal("eventTypes", "The caller may not read runs."),
    };
    let Some(workflows) = workflows else {
        let message = "The caller may not read every run: name the workflows whose events are sent.";
        let every = runs.iter().all(AccessFilter::is_everything);
        return if every { Ok(()) } else { refusal("workflows", message) };
    };
    // Runs that are listed one by one, or are one's own, are not all runs of a workflow.
    let all_runs =
        runs.iter().all(|runs| runs.all() && runs.denied().is_empty() && runs.denied_own().is_none());
    let denied: Vec<WorkflowId> =
        runs.iter().flat_map(AccessFilter::denied_within::<resource::Workflow>).collect();
    for (at, id) in workflows.iter().enumerate() {
        let readable = snapshot.authorize_one::<WorkflowRead>(*id, ()).is_ok();
        if !readable || !all_runs || denied.contains(id) {
            let message = "The caller may not read this workflow with its runs.";
            return refusal(&format!("workflows[{at}]"), message);
        }
    }
    Ok(())
}
