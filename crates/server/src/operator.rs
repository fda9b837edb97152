//! Operations of the command line that are no call of the API: those of the installation, and looks at a composed service.

mod decisions;
mod summary;

pub use decisions::decision_findings;
pub use heddle_installation::operator::{
    Beginning, Check, Copied, Finding, Kept, KeyFiles, VerifiedTrail, back_up, checks, migrate,
    random_password, restore, vendor_keys, verify_copy, verify_export,
};
pub use summary::{Summary, summary};

use heddle_installation::error::StartError;
use heddle_kernel::{PageRequest, WorkflowId};
use heddle_policy::DenialError;
use heddle_policy::capability::{self, WorkflowList};
use heddle_workflows::ports::WorkflowFilter;

use crate::acting::Acting;
use crate::app::App;

/// The permissions of which operations that do an action to things of a type need one; none where no operation does it.
#[must_use]
pub fn needed_permissions(resource: &str, action: &str) -> Vec<&'static str> {
    let such = capability::ALL.iter();
    let such = such.filter(|one| one.resource.as_str() == resource && one.action.as_str() == action);
    let mut names: Vec<&'static str> =
        such.flat_map(|one| one.permissions).map(|name| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A workflow by its id or slug.
///
/// # Errors
/// `NotFound`, `Store`.
pub async fn find_workflow(app: &App, acting: &Acting, name: &str) -> Result<WorkflowId, StartError> {
    let context = acting.context(app);
    let authorized = context.snapshot().authorize_list::<WorkflowList>().map_err(denied)?;
    let id = name.parse::<uuid::Uuid>().ok();
    // The filter looks for a part of the text; only the whole slug counts.
    let q = if id.is_some() { None } else { Some(name.to_owned()) };
    let filter = WorkflowFilter { q, ..WorkflowFilter::default() };
    let mut page = PageRequest { limit: 200, cursor: None };
    loop {
        let found = app.definitions.list(&authorized, &context, &filter, &page).await?;
        let fits = |one: &heddle_workflows::records::Workflow| Some(one.id.0) == id || one.slug == name;
        if let Some(view) = found.items.iter().find(|view| fits(&view.definition)) {
            return Ok(view.definition.id);
        }
        page.cursor = found.next;
        if page.cursor.is_none() {
            return Err(StartError::NotFound(format!("there is no workflow `{name}`")));
        }
    }
}

fn denied(denial: DenialError) -> StartError {
    StartError::Internal(denial.reason.code().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_permissions_of_an_action_are_those_of_its_operations() {
        assert_eq!(needed_permissions("workflow", "delete"), ["workflows.manage"]);
        assert_eq!(needed_permissions("workflow", "read"), ["workflows.manage", "workflows.view"]);
        assert!(needed_permissions("workflow", "fly").is_empty());
    }
}
