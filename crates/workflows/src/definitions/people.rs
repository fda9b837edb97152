//! People whom a workflow names.

use heddle_bpmn::ElementKind;
use heddle_bpmn::diagnostic::Diagnostic;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_graph::lane_names;
use heddle_execution::people::{self, Named, literals};
use heddle_kernel::TenantId;
use serde_json::Value;

use crate::UseCaseError;
use crate::ports::Directory;

/// A warning for each user and group that a human task names, or takes from its lane, and that the organisation does not
/// have.
///
/// # Errors
/// `Unavailable`.
pub(super) async fn findings(
    directory: &dyn Directory,
    tenant: TenantId,
    definition: &WorkflowDefinition,
) -> Result<Vec<Diagnostic>, UseCaseError> {
    people::findings(directory, tenant, named(definition)).await
}

fn named(definition: &WorkflowDefinition) -> Vec<Named> {
    let lanes = lane_names(definition);
    let mut found = Vec::new();
    for at in heddle_bpmn::model::nodes(definition) {
        let Some(configuration) =
            at.node.configuration.as_ref().filter(|_| at.node.is(ElementKind::UserTask))
        else {
            continue;
        };
        for (member, is_group) in [("assignee", false), ("candidateUsers", false), ("candidateGroups", true)]
        {
            let names = configuration.get(member).map(literals).unwrap_or_default();
            found.extend(names.into_iter().map(|name| Named {
                name,
                element: at.node.element_id().unwrap_or_default().to_owned(),
                path: Some(format!("{}.configuration.{member}", at.path)),
                is_group,
            }));
        }
        let asks_lane = configuration.get("laneCandidates").and_then(Value::as_bool) == Some(true);
        let lane = at.node.element_id().filter(|_| asks_lane).and_then(|id| lanes.get(id));
        found.extend(lane.map(|name| Named {
            name: (*name).to_owned(),
            element: at.node.element_id().unwrap_or_default().to_owned(),
            path: Some(format!("{}.configuration.laneCandidates", at.path)),
            is_group: true,
        }));
    }
    found
}
