//! A well-formed call of every operation.

use heddle_api::Face;
use heddle_api::operations::{BodyMedia, OperationId, OperationSpec};
use heddle_testkit::Answer;
use serde_json::{Value, json};

/// An id that nothing has.
pub(crate) const NOBODY: &str = "018f0000-0000-7000-8000-000000000001";

/// A case of one human task.
pub(crate) const CMMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL" id="m" targetNamespace="urn:x"><case id="claim" name="Claim"><casePlanModel id="plan" name="Plan"><planItem id="item" definitionRef="assess"/><humanTask id="assess" name="Assess"/></casePlanModel></case></definitions>"#;

/// A case type that was made from [`CMMN`]; its id.
pub(crate) async fn case_type(client: &heddle_testkit::Client, slug: &str) -> String {
    let made = client.post("/api/case-types/import/cmmn", json!({ "content": CMMN, "slug": slug })).await;
    made.expect(201).id()
}

/// The path with every parameter filled in.
pub(crate) fn path(spec: &OperationSpec, value: impl Fn(&str) -> String) -> String {
    spec.path_parameters()
        .fold(spec.path.to_owned(), |path, name| path.replace(&format!("{{{name}}}"), &value(name)))
}

/// The id, or the name of a vector database, that nothing has.
fn nothing(parameter: &str) -> &'static str {
    if parameter == "name" { "no-such-database" } else { NOBODY }
}

/// The path with ids that nothing has.
pub(crate) fn nobody(spec: &OperationSpec) -> String {
    path(spec, |name| nothing(name).to_owned())
}

/// The path with the caller's organisation, and other ids that nothing has.
pub(crate) fn within(spec: &OperationSpec, organization: &str) -> String {
    path(spec, |name| if name == "organizationId" { organization } else { nothing(name) }.to_owned())
}

/// The code of a failure in the service's own form; none where clients of other products read another.
pub(crate) fn code(spec: &OperationSpec, answer: &Answer) -> Option<Value> {
    (spec.area.face() == Face::Own).then(|| answer.json()["error"]["code"].clone())
}

/// Whether the operation reads a JSON body.
pub(crate) fn takes_json(spec: &OperationSpec) -> bool {
    spec.body != BodyMedia::None
}

/// Whether the operation reads a JSON object of members: what calls at a hook may send any value.
pub(crate) fn takes_members(spec: &OperationSpec) -> bool {
    takes_json(spec) && spec.id != OperationId::ReceiveHook
}

/// Whether the operation knows each member that it takes: what a model is asked may have some for its provider.
pub(crate) fn knows_members(spec: &OperationSpec) -> bool {
    takes_members(spec) && !spec.id.infers()
}

/// A body that the operation takes.
pub(crate) fn body(id: OperationId) -> Value {
    use OperationId as Id;
    let secret = "a long enough secret";
    match id {
        Id::SubmitCaseEvent => {
            json!({ "correlationKey": "k", "eventType": "e", "idempotencyKey": "i", "payload": {} })
        }
        Id::CreateWorkflow => json!({ "slug": "sample", "displayName": "Sample", "description": "" }),
        Id::CreateCaseType => json!({ "slug": "sample", "displayName": "Sample", "description": "" }),
        Id::ImportCaseType => json!({ "content": CMMN, "slug": "imported" }),
        Id::PreviewCaseTypeImport => json!({ "content": CMMN }),
        Id::SaveCaseTypeDraft => json!({ "definition": { "cases": [] } }),
        Id::PreviewTransform => json!({ "source": { "format": "bpmn", "content": "<a/>" } }),
        Id::UpdateWorkflow | Id::UpdateCaseType | Id::UpdateOrganization | Id::UpdateUser => {
            json!({ "displayName": "Other" })
        }
        Id::SaveDecisionLogic => json!({ "decisions": [] }),
        Id::SaveDraft => json!({ "definition": { "nodes": [], "edges": [] } }),
        Id::EvaluateDecision => json!({ "decision": "d", "input": {} }),
        Id::DecideRun => json!({ "decision": "suspend" }),
        Id::ActivateJobs => json!({ "types": ["sample"], "worker": "w" }),
        Id::CompleteJob => json!({ "epoch": 1 }),
        Id::FailJob => json!({ "epoch": 1, "message": "m" }),
        Id::ThrowJobError => json!({ "epoch": 1, "code": "c" }),
        Id::ExtendJob => json!({ "epoch": 1, "lockMs": 1000 }),
        Id::AssignHumanTask => json!({ "assignee": "me" }),
        Id::SendSignal => json!({ "name": "s", "payload": {}, "idempotencyKey": "i" }),
        Id::SetUpInstallation => json!({
            "token": "t", "organization": { "slug": "acme", "displayName": "Acme" },
            "administrator": { "email": "a@example.com", "displayName": "A", "password": secret },
        }),
        Id::SignIn => json!({ "email": "nobody@example.com", "password": secret }),
        Id::ChangePassword => json!({ "currentPassword": "wrong", "newPassword": secret }),
        Id::CreateApiToken => json!({ "name": "sample" }),
        Id::EnrolTotp | Id::RemoveTotp => json!({ "password": "wrong" }),
        Id::InstallLicence | Id::ValidateLicence => json!({ "licence": "nonsense" }),
        Id::CreateOrganization => json!({ "slug": "sample", "displayName": "Sample" }),
        Id::CreateUser => json!({ "email": "sample@example.com", "displayName": "Sample" }),
        Id::SetMember => json!({ "roles": ["viewer"] }),
        Id::CreateGroup => json!({ "name": "sample" }),
        Id::UpdateGroup => json!({ "description": "Other" }),
        Id::CreateRole => json!({ "name": "sample" }),
        Id::UpdateRole => json!({ "description": "Other" }),
        Id::CreateGrant => json!({
            "principal": { "kind": "everyone" }, "resourceType": "workflow", "action": "read",
            "resourceId": "*", "effect": "allow",
        }),
        Id::CreateConnection => json!({
            "name": "sample", "type": "http", "config": { "baseUrl": "https://example.com" },
        }),
        Id::UpdateConnection => json!({ "description": "Other" }),
        Id::StartCase => json!({ "caseTypeId": NOBODY }),
        Id::PutCaseFileItem => json!({ "value": 1 }),
        Id::CreateHook => json!({ "name": "sample", "eventType": "e", "correlationKey": "body.key" }),
        Id::UpdateHook => json!({ "requestsPerSecond": 10 }),
        Id::CreateVectorDatabase => json!({ "name": "sample", "embeddingModelId": null }),
        Id::UpdateVectorDatabase => json!({ "displayName": "Other" }),
        Id::UploadVectorFiles => json!({ "files": [{ "name": "sample.txt", "text": "A sample." }] }),
        Id::UpdateVectorFile => json!({ "title": "Other" }),
        Id::QueryVectorDatabase => json!({ "query": "sample" }),
        Id::CreateModelConnection => json!({ "name": "sample", "type": "ollama" }),
        Id::UpdateModelConnection => json!({ "name": "other" }),
        Id::CreateDeployment => json!({ "model": "m", "alias": "sample" }),
        Id::UpdateDeployment => json!({ "alias": "other" }),
        Id::ImportModels => json!({ "models": [{ "model": "m" }] }),
        Id::SetDeploymentMemory => json!({ "policy": "onDemand" }),
        Id::SetDeploymentPreload => json!({ "enabled": false }),
        Id::Chat | Id::CreateChatCompletion | Id::CountMessageTokens => {
            json!({ "model": "no-such-model", "messages": [{ "role": "user", "content": "q" }] })
        }
        Id::CreateMessage => json!({
            "model": "no-such-model", "max_tokens": 16, "messages": [{ "role": "user", "content": "q" }],
        }),
        Id::CreateEmbeddings | Id::CreateOpenAiEmbeddings => {
            json!({ "model": "no-such-model", "input": "a" })
        }
        Id::CreateWebhook => {
            json!({ "name": "sample", "connectionId": NOBODY, "eventTypes": ["*"] })
        }
        Id::UpdateWebhook => json!({ "paused": true }),
        Id::CheckAccess => json!({ "action": "read", "resource": { "type": "workflow" } }),
        Id::EvaluateAccess | Id::EvaluateAccesses => json!({
            "subject": { "type": "user", "id": NOBODY }, "action": { "name": "read" },
            "resource": { "type": "workflow", "id": NOBODY },
        }),
        Id::AdvanceTestClock => json!({ "advance": "PT1S" }),
        Id::FetchExternalTasks => json!({ "workerId": "w", "maxTasks": 1 }),
        Id::CompleteExternalTask | Id::FailExternalTask => json!({ "workerId": "w" }),
        Id::ThrowExternalTaskError => json!({ "workerId": "w", "errorCode": "e" }),
        Id::ExtendExternalTaskLock => json!({ "workerId": "w", "newDuration": 1000 }),
        Id::ActivateCamundaJobs => {
            json!({ "type": "t", "timeout": 1000, "maxJobsToActivate": 1, "requestTimeout": -1 })
        }
        Id::ThrowCamundaJobError => json!({ "errorCode": "e" }),
        Id::UpdateCamundaJob => json!({ "changeset": { "timeout": 1000 } }),
        Id::CreateProcessInstance => json!({ "processDefinitionId": "no-such-process" }),
        Id::PublishMessage | Id::CorrelateMessage => json!({ "name": "m" }),
        Id::BroadcastSignal => json!({ "signalName": "s" }),
        _ => json!({}),
    }
}
