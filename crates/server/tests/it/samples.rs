//! A well-formed call of every operation.

use heddle_api::operations::{BodyMedia, OperationId, OperationSpec};
use serde_json::{Value, json};

/// An id that nothing has.
pub const NOBODY: &str = "018f0000-0000-7000-8000-000000000001";

/// The path with every parameter filled in.
pub fn path(spec: &OperationSpec, value: impl Fn(&str) -> String) -> String {
    spec.path_parameters()
        .fold(spec.path.to_owned(), |path, name| path.replace(&format!("{{{name}}}"), &value(name)))
}

/// The path with ids that nothing has.
pub fn nobody(spec: &OperationSpec) -> String {
    path(spec, |_| NOBODY.to_owned())
}

/// The path with the caller's organisation, and other ids that nothing has.
pub fn within(spec: &OperationSpec, organization: &str) -> String {
    path(spec, |name| if name == "organizationId" { organization } else { NOBODY }.to_owned())
}

/// Whether the operation reads a JSON body.
pub fn takes_json(spec: &OperationSpec) -> bool {
    spec.body != BodyMedia::None
}

/// A body that the operation takes.
pub fn body(id: OperationId) -> Value {
    use OperationId as Id;
    let secret = "a long enough secret";
    match id {
        Id::PostapiCaseEvents => {
            json!({ "correlationKey": "k", "eventType": "e", "idempotencyKey": "i", "payload": {} })
        }
        Id::PostapiWorkflows => json!({ "slug": "sample", "displayName": "Sample", "description": "" }),
        Id::PostapiWorkflowsTransformPreview => json!({ "source": { "format": "bpmn", "content": "<a/>" } }),
        Id::PatchapiWorkflowsWorkflowId
        | Id::PatchapiOrganizationsOrganizationId
        | Id::PatchapiUsersUserId => {
            json!({ "displayName": "Other" })
        }
        Id::PutapiWorkflowsWorkflowIdDmnLogic => json!({ "decisions": [] }),
        Id::PutapiWorkflowsWorkflowIdDraft => json!({ "definition": { "nodes": [], "edges": [] } }),
        Id::PostapiWorkflowsWorkflowIdRunsRunIdDecision => json!({ "decision": "suspend" }),
        Id::PostapiHumanTasksTaskIdAssign => json!({ "assignee": "me" }),
        Id::PostapiSignals => json!({ "name": "s", "payload": {}, "idempotencyKey": "i" }),
        Id::PostapiSetup => json!({
            "token": "t", "organization": { "slug": "acme", "displayName": "Acme" },
            "administrator": { "email": "a@example.com", "displayName": "A", "password": secret },
        }),
        Id::PostapiAuthSignIn => json!({ "email": "nobody@example.com", "password": secret }),
        Id::PutapiAuthPassword => json!({ "currentPassword": "wrong", "newPassword": secret }),
        Id::PostapiAuthTokens => json!({ "name": "sample" }),
        Id::PutapiLicence | Id::PostapiLicenceValidate => json!({ "licence": "nonsense" }),
        Id::PostapiOrganizations => json!({ "slug": "sample", "displayName": "Sample" }),
        Id::PostapiUsers => json!({ "email": "sample@example.com", "displayName": "Sample" }),
        Id::PutapiMembersUserId => json!({ "roles": ["viewer"] }),
        Id::PostapiRoles => json!({ "name": "sample" }),
        Id::PatchapiRolesRoleId => json!({ "description": "Other" }),
        Id::PostapiGrants => json!({
            "principal": { "kind": "everyone" }, "resourceType": "workflow", "action": "read",
            "resourceId": "*", "effect": "allow",
        }),
        Id::PostapiTestClock => json!({ "advance": "PT1S" }),
        _ => json!({}),
    }
}
