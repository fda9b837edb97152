//! Bounds of what a caller may have sent: what they may not see themselves they send nobody.

use std::collections::BTreeMap;

use heddle_kernel::{CaseTypeId, DefinitionKind, WorkflowId};
use heddle_policy::capability::{CaseList, CaseRead, CaseTypeRead, Lists, RunList, RunRead, WorkflowRead};
use heddle_policy::resource::{self, In};
use heddle_policy::{AccessFilter, Capability, RequestContext, Resource, Snapshot};

use crate::Problem;

/// Runs, or cases, that a caller may list, and those that they may read. Events tell of one what its reader sees: who may
/// list it and not read it is sent none of it.
struct Readable<R: Resource>([AccessFilter<R>; 2]);

impl<R: Resource> Readable<R> {
    /// Instances by a caller's rights; none when they may list or read none at all.
    fn of<L: Lists<On = R>, C: Capability<On = R>>(snapshot: &Snapshot) -> Option<Self> {
        let list = snapshot.authorize_list::<L>().ok()?;
        Some(Self([list.filter().clone(), snapshot.authorize_some::<C>().ok()?]))
    }

    fn is_everything(&self) -> bool {
        self.0.iter().all(AccessFilter::is_everything)
    }

    /// Whether it is all of a definition. What is listed one by one, or is one's own, is not all of any.
    fn is_all_of<P: Resource>(&self, definition: &P::Id) -> bool
    where
        R: In<P>,
    {
        self.0.iter().all(|reach| {
            let is_whole = reach.all() && reach.denied().is_empty() && reach.denied_own().is_none();
            is_whole && !reach.denied_within::<P>().contains(definition)
        })
    }
}

/// Checks that the caller may read all that a webhook of these workflows and case types sends; none stands for all
/// workflows. One of which no kind is known is gone, and sends nothing: it is taken for a workflow.
pub(crate) fn may_send(
    context: &RequestContext,
    named: Option<&[WorkflowId]>,
    kinds: &BTreeMap<WorkflowId, DefinitionKind>,
) -> Result<(), Problem> {
    let refusal = |field: &str, message: &str| Err(Problem::at(field, "exceedsOwnRights", message));
    let snapshot = context.snapshot();
    let kind_of = |id: &WorkflowId| kinds.get(id).copied().unwrap_or(DefinitionKind::Workflow);
    let runs = Readable::of::<RunList, RunRead>(snapshot);
    let of_runs = named.is_none_or(|ids| ids.iter().any(|id| kind_of(id) == DefinitionKind::Workflow));
    if of_runs && runs.is_none() {
        return refusal("eventTypes", "The caller may not read runs.");
    }
    let Some(named) = named else {
        let message = "The caller may not read every run: name the workflows whose events are sent.";
        let every = runs.as_ref().is_some_and(Readable::is_everything);
        return if every { Ok(()) } else { refusal("workflows", message) };
    };
    let cases = Readable::of::<CaseList, CaseRead>(snapshot);
    for (at, id) in named.iter().enumerate() {
        let (may, message) = match kind_of(id) {
            DefinitionKind::Workflow => {
                let all_runs = runs.as_ref().is_some_and(|runs| runs.is_all_of::<resource::Workflow>(id));
                let may = all_runs && snapshot.authorize_one::<WorkflowRead>(*id, ()).is_ok();
                (may, "The caller may not read this workflow with its runs.")
            }
            DefinitionKind::Case => {
                let id = CaseTypeId::from(*id);
                let all_cases =
                    cases.as_ref().is_some_and(|cases| cases.is_all_of::<resource::CaseType>(&id));
                let may = all_cases && snapshot.authorize_one::<CaseTypeRead>(id, ()).is_ok();
                (may, "The caller may not read this case type with its cases.")
            }
        };
        if !may {
            return refusal(&format!("workflows[{at}]"), message);
        }
    }
    Ok(())
}
