//! Columns of workflows and runs that name a thing, by which access filters narrow lists.

use heddle_policy::resource::{Case, CaseType, DeadLetter, Definition, Instance, Run, Workflow};
use heddle_store::filter::Names;

use crate::schema::{dead_letters, human_tasks, runs, workflows};

impl Names<Instance> for runs::id {}
impl Names<Instance> for human_tasks::run_id {}
impl Names<DeadLetter> for dead_letters::id {}
impl Names<Run> for dead_letters::run_id {}
impl Names<Case> for dead_letters::run_id {}
impl Names<Workflow> for dead_letters::workflow_id {}
impl Names<CaseType> for dead_letters::workflow_id {}
impl Names<Definition> for runs::workflow_id {}
impl Names<Definition> for human_tasks::workflow_id {}
impl Names<Workflow> for workflows::id {}
impl Names<CaseType> for workflows::id {}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::WorkflowId;
    use heddle_policy::{AccessFilter, InstanceFilter};
    use heddle_store::{Id, does_not_name, filter};
    use uuid::Uuid;

    #[test]
    fn a_filter_of_one_kind_does_not_fit_a_column_of_another() {
        does_not_name!(human_tasks::id, Instance);
        does_not_name!(runs::id, Definition);
        does_not_name!(workflows::id, Instance);
        does_not_name!(dead_letters::run_id, DeadLetter);
        does_not_name!(dead_letters::workflow_id, DeadLetter);
    }

    #[test]
    fn what_stands_within_a_denied_workflow_is_told_by_its_column() {
        let workflow = WorkflowId(Uuid::from_u128(2));
        let access = AccessFilter::<Run>::everything().but_within::<Workflow>([workflow]);
        let access = InstanceFilter::from(&access);
        assert_eq!(filter::above(human_tasks::workflow_id, access.filter()), [Id::from(workflow)]);
    }
}
