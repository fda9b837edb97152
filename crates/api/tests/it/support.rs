//! Every operation's reading of what is sent, and the parts of the documents.

use heddle_api::Operation;
use heddle_api::contract::MediaType;
use heddle_api::decode::Problems;
use heddle_api::openapi::{compatibility_json, contract_json, platform_json};
use heddle_api::operations::{Document, OperationId, OperationSpec, ops};
use heddle_api::operations::{decode_body, decode_query};
use serde_json::Value;

/// How a row reads a JSON body.
pub(crate) type ReadBody = fn(&[u8]) -> Result<(), Problems>;
/// How a row reads a query.
pub(crate) type ReadQuery = fn(&str) -> Result<(), Problems>;

fn body<O: Operation>(bytes: &[u8]) -> Result<(), Problems> {
    decode_body::<O>(MediaType::Json, bytes).map(|_| ())
}

fn query<O: Operation>(raw: &str) -> Result<(), Problems> {
    decode_query::<O>(raw).map(|_| ())
}

/// Every row that takes a body.
pub(crate) const BODIES: &[(OperationId, ReadBody)] = &[
    (OperationId::SubmitCaseEvent, body::<ops::SubmitCaseEvent>),
    (OperationId::CreateWorkflow, body::<ops::CreateWorkflow>),
    (OperationId::CreateCaseType, body::<ops::CreateCaseType>),
    (OperationId::ImportCaseType, body::<ops::ImportCaseType>),
    (OperationId::PreviewCaseTypeImport, body::<ops::PreviewCaseTypeImport>),
    (OperationId::UpdateCaseType, body::<ops::UpdateCaseType>),
    (OperationId::SaveCaseTypeDraft, body::<ops::SaveCaseTypeDraft>),
    (OperationId::PublishCaseType, body::<ops::PublishCaseType>),
    (OperationId::ValidateCaseType, body::<ops::ValidateCaseType>),
    (OperationId::PreviewTransform, body::<ops::PreviewTransform>),
    (OperationId::UpdateWorkflow, body::<ops::UpdateWorkflow>),
    (OperationId::SaveDecisionLogic, body::<ops::SaveDecisionLogic>),
    (OperationId::SaveDraft, body::<ops::SaveDraft>),
    (OperationId::PublishWorkflow, body::<ops::PublishWorkflow>),
    (OperationId::StartRun, body::<ops::StartRun>),
    (OperationId::DecideRun, body::<ops::DecideRun>),
    (OperationId::ActivateJobs, body::<ops::ActivateJobs>),
    (OperationId::CompleteJob, body::<ops::CompleteJob>),
    (OperationId::FailJob, body::<ops::FailJob>),
    (OperationId::ThrowJobError, body::<ops::ThrowJobError>),
    (OperationId::ExtendJob, body::<ops::ExtendJob>),
    (OperationId::CompleteHumanTask, body::<ops::CompleteHumanTask>),
    (OperationId::CompleteTaskById, body::<ops::CompleteTaskById>),
    (OperationId::ValidateWorkflow, body::<ops::ValidateWorkflow>),
    (OperationId::SetUpInstallation, body::<ops::SetUpInstallation>),
    (OperationId::SignIn, body::<ops::SignIn>),
    (OperationId::ChangePassword, body::<ops::ChangePassword>),
    (OperationId::CreateApiToken, body::<ops::CreateApiToken>),
    (OperationId::EnrolTotp, body::<ops::EnrolTotp>),
    (OperationId::RemoveTotp, body::<ops::RemoveTotp>),
    (OperationId::InstallLicence, body::<ops::InstallLicence>),
    (OperationId::ValidateLicence, body::<ops::ValidateLicence>),
    (OperationId::CreateOrganization, body::<ops::CreateOrganization>),
    (OperationId::UpdateOrganization, body::<ops::UpdateOrganization>),
    (OperationId::CreateUser, body::<ops::CreateUser>),
    (OperationId::UpdateUser, body::<ops::UpdateUser>),
    (OperationId::CreateGroup, body::<ops::CreateGroup>),
    (OperationId::UpdateGroup, body::<ops::UpdateGroup>),
    (OperationId::CreateRole, body::<ops::CreateRole>),
    (OperationId::UpdateRole, body::<ops::UpdateRole>),
    (OperationId::CreateGrant, body::<ops::CreateGrant>),
    (OperationId::SetMember, body::<ops::SetMember>),
    (OperationId::AssignHumanTask, body::<ops::AssignHumanTask>),
    (OperationId::EvaluateDecision, body::<ops::EvaluateDecision>),
    (OperationId::SendSignal, body::<ops::SendSignal>),
    (OperationId::CreateConnection, body::<ops::CreateConnection>),
    (OperationId::UpdateConnection, body::<ops::UpdateConnection>),
    (OperationId::CreateVectorDatabase, body::<ops::CreateVectorDatabase>),
    (OperationId::UpdateVectorDatabase, body::<ops::UpdateVectorDatabase>),
    (OperationId::UploadVectorFiles, body::<ops::UploadVectorFiles>),
    (OperationId::UpdateVectorFile, body::<ops::UpdateVectorFile>),
    (OperationId::QueryVectorDatabase, body::<ops::QueryVectorDatabase>),
    (OperationId::CreateModelConnection, body::<ops::CreateModelConnection>),
    (OperationId::UpdateModelConnection, body::<ops::UpdateModelConnection>),
    (OperationId::CreateDeployment, body::<ops::CreateDeployment>),
    (OperationId::UpdateDeployment, body::<ops::UpdateDeployment>),
    (OperationId::ImportModels, body::<ops::ImportModels>),
    (OperationId::SyncLocalDeployments, body::<ops::SyncLocalDeployments>),
    (OperationId::SetDeploymentMemory, body::<ops::SetDeploymentMemory>),
    (OperationId::SetDeploymentPreload, body::<ops::SetDeploymentPreload>),
    (OperationId::RefreshDeploymentRevision, body::<ops::RefreshDeploymentRevision>),
    (OperationId::Chat, body::<ops::Chat>),
    (OperationId::CreateEmbeddings, body::<ops::CreateEmbeddings>),
    (OperationId::CreateChatCompletion, body::<ops::CreateChatCompletion>),
    (OperationId::CreateOpenAiEmbeddings, body::<ops::CreateOpenAiEmbeddings>),
    (OperationId::CreateMessage, body::<ops::CreateMessage>),
    (OperationId::CountMessageTokens, body::<ops::CountMessageTokens>),
    (OperationId::CreateWebhook, body::<ops::CreateWebhook>),
    (OperationId::UpdateWebhook, body::<ops::UpdateWebhook>),
    (OperationId::StartCase, body::<ops::StartCase>),
    (OperationId::ChangePlanItem, body::<ops::ChangePlanItem>),
    (OperationId::ChangeCase, body::<ops::ChangeCase>),
    (OperationId::PutCaseFileItem, body::<ops::PutCaseFileItem>),
    (OperationId::CreateHook, body::<ops::CreateHook>),
    (OperationId::UpdateHook, body::<ops::UpdateHook>),
    (OperationId::AdvanceTestClock, body::<ops::AdvanceTestClock>),
    (OperationId::CheckAccess, body::<ops::CheckAccess>),
    (OperationId::GetEffectiveAccess, body::<ops::GetEffectiveAccess>),
    (OperationId::EvaluateAccess, body::<ops::EvaluateAccess>),
    (OperationId::EvaluateAccesses, body::<ops::EvaluateAccesses>),
    (OperationId::FetchExternalTasks, body::<ops::FetchExternalTasks>),
    (OperationId::CompleteExternalTask, body::<ops::CompleteExternalTask>),
    (OperationId::FailExternalTask, body::<ops::FailExternalTask>),
    (OperationId::ThrowExternalTaskError, body::<ops::ThrowExternalTaskError>),
    (OperationId::ExtendExternalTaskLock, body::<ops::ExtendExternalTaskLock>),
    (OperationId::ActivateCamundaJobs, body::<ops::ActivateCamundaJobs>),
    (OperationId::CompleteCamundaJob, body::<ops::CompleteCamundaJob>),
    (OperationId::FailCamundaJob, body::<ops::FailCamundaJob>),
    (OperationId::ThrowCamundaJobError, body::<ops::ThrowCamundaJobError>),
    (OperationId::UpdateCamundaJob, body::<ops::UpdateCamundaJob>),
    (OperationId::CreateProcessInstance, body::<ops::CreateProcessInstance>),
    (OperationId::PublishMessage, body::<ops::PublishMessage>),
    (OperationId::CorrelateMessage, body::<ops::CorrelateMessage>),
    (OperationId::BroadcastSignal, body::<ops::BroadcastSignal>),
];

/// Every row that takes parameters in its query.
pub(crate) const QUERIES: &[(OperationId, ReadQuery)] = &[
    (OperationId::ListWorkflows, query::<ops::ListWorkflows>),
    (OperationId::ListCaseTypes, query::<ops::ListCaseTypes>),
    (OperationId::GetCaseType, query::<ops::GetCaseType>),
    (OperationId::ExportCmmn, query::<ops::ExportCmmn>),
    (OperationId::ListCaseTypeVersions, query::<ops::ListCaseTypeVersions>),
    (OperationId::ListConnections, query::<ops::ListConnections>),
    (OperationId::GetConnectionOptions, query::<ops::GetConnectionOptions>),
    (OperationId::ListVectorDatabases, query::<ops::ListVectorDatabases>),
    (OperationId::GetAddressAvailability, query::<ops::GetAddressAvailability>),
    (OperationId::ListVectorFiles, query::<ops::ListVectorFiles>),
    (OperationId::ListIngestionJobs, query::<ops::ListIngestionJobs>),
    (OperationId::ListModelConnections, query::<ops::ListModelConnections>),
    (OperationId::DeleteModelConnection, query::<ops::DeleteModelConnection>),
    (OperationId::ListProviderModels, query::<ops::ListProviderModels>),
    (OperationId::ListDeployments, query::<ops::ListDeployments>),
    (OperationId::ListModels, query::<ops::ListModels>),
    (OperationId::Chat, query::<ops::Chat>),
    (OperationId::CreateEmbeddings, query::<ops::CreateEmbeddings>),
    (OperationId::GetUsage, query::<ops::GetUsage>),
    (OperationId::ListWebhooks, query::<ops::ListWebhooks>),
    (OperationId::ListCases, query::<ops::ListCases>),
    (OperationId::ListCaseEvents, query::<ops::ListCaseEvents>),
    (OperationId::ListHooks, query::<ops::ListHooks>),
    (OperationId::GetBpmnConformanceReport, query::<ops::GetBpmnConformanceReport>),
    (OperationId::GetDmnConformanceReport, query::<ops::GetDmnConformanceReport>),
    (OperationId::GetWorkflow, query::<ops::GetWorkflow>),
    (OperationId::GetDecisionLogic, query::<ops::GetDecisionLogic>),
    (OperationId::ExportBpel, query::<ops::ExportBpel>),
    (OperationId::ExportBpmn, query::<ops::ExportBpmn>),
    (OperationId::ExportDmn, query::<ops::ExportDmn>),
    (OperationId::ListRuns, query::<ops::ListRuns>),
    (OperationId::CancelRun, query::<ops::CancelRun>),
    (OperationId::GetRun, query::<ops::GetRun>),
    (OperationId::ListRunEvents, query::<ops::ListRunEvents>),
    (OperationId::StreamRunEvents, query::<ops::StreamRunEvents>),
    (OperationId::ListVersions, query::<ops::ListVersions>),
    (OperationId::StartOidcSignIn, query::<ops::StartOidcSignIn>),
    (OperationId::FinishOidcSignIn, query::<ops::FinishOidcSignIn>),
    (OperationId::ListApiTokens, query::<ops::ListApiTokens>),
    (OperationId::ListOrganizations, query::<ops::ListOrganizations>),
    (OperationId::ListUsers, query::<ops::ListUsers>),
    (OperationId::DeleteApiToken, query::<ops::DeleteApiToken>),
    (OperationId::ListGroups, query::<ops::ListGroups>),
    (OperationId::ListRoles, query::<ops::ListRoles>),
    (OperationId::ListGrants, query::<ops::ListGrants>),
    (OperationId::ListMembers, query::<ops::ListMembers>),
    (OperationId::ListAuditEvents, query::<ops::ListAuditEvents>),
    (OperationId::VerifyAuditEvents, query::<ops::VerifyAuditEvents>),
    (OperationId::ListInstallationAuditEvents, query::<ops::ListInstallationAuditEvents>),
    (OperationId::ListJobs, query::<ops::ListJobs>),
    (OperationId::ListDeadLetters, query::<ops::ListDeadLetters>),
    (OperationId::ListHumanTasks, query::<ops::ListHumanTasks>),
    (OperationId::ListAllRuns, query::<ops::ListAllRuns>),
    (OperationId::StreamEvents, query::<ops::StreamEvents>),
];

/// Field and reason of each problem, sorted.
pub(crate) fn told(result: Result<(), Problems>) -> Vec<(String, String)> {
    let problems = result.err().map(|problems| problems.0).unwrap_or_default();
    let mut told: Vec<_> =
        problems.into_iter().map(|one| (one.field.unwrap_or_default(), one.reason)).collect();
    told.sort();
    told
}

/// One problem, as [`told`] gives it.
pub(crate) fn one(field: &str, reason: &str) -> Vec<(String, String)> {
    vec![(field.to_owned(), reason.to_owned())]
}

/// The document that a row stands in.
pub(crate) fn document_of(spec: &OperationSpec) -> &'static Value {
    match spec.document {
        Document::Contract => contract_json(),
        Document::Platform => platform_json(),
        Document::Compatibility => compatibility_json(),
    }
}

/// A row's operation object.
pub(crate) fn described(spec: &OperationSpec) -> &'static Value {
    &document_of(spec)["paths"][spec.path][spec.method.as_str().to_ascii_lowercase()]
}

/// What a reference leads to; anything else is itself.
pub(crate) fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
        None => value,
    }
}

/// The schema of a row's JSON body.
pub(crate) fn body_schema(spec: &OperationSpec) -> &'static Value {
    let schema = &described(spec)["requestBody"]["content"]["application/json"]["schema"];
    resolved(document_of(spec), schema)
}

/// The example of a row's JSON body.
pub(crate) fn example(spec: &OperationSpec) -> Value {
    described(spec)["requestBody"]["content"]["application/json"]["examples"]["small"]["value"].clone()
}

/// The query parameters of a row.
pub(crate) fn query_parameters(spec: &OperationSpec) -> Vec<&'static Value> {
    let parameters = described(spec)["parameters"].as_array().unwrap().iter();
    parameters.filter(|parameter| parameter["in"] == "query").collect()
}

/// The parameters of requests' headers that a row names, by the names of their components.
pub(crate) fn header_parameters(spec: &OperationSpec) -> Vec<&'static str> {
    let parameters = described(spec)["parameters"].as_array().unwrap().iter();
    let references = parameters.filter_map(|parameter| parameter["$ref"].as_str());
    references.map(|reference| reference.rsplit('/').next().unwrap()).collect()
}
