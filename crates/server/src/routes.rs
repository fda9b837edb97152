//! From an operation to its handler: exhaustive, so that a row without a handler does not compile; nor does a row with a
//! handler of another kind of access.

use heddle_api::operations::{OperationId, ops};

use crate::bind::{Handler, bind};
use crate::handlers::{
    accounts, audit, authorization, camunda7, camunda8, case_events, conformance, connections, dead_letters,
    decisions, directory, jobs, licence, platform, roles, runs, sessions, tasks, transform, webhooks,
    workflows,
};
use crate::{organization_stream, stream};

/// The handler of an operation.
#[must_use]
pub(crate) fn handler(id: OperationId) -> Handler {
    use OperationId as Id;
    match id {
        Id::GetHealth => bind::<ops::GetHealth>(platform::health),
        Id::GetLiveness => bind::<ops::GetLiveness>(platform::live),
        Id::GetReadiness => bind::<ops::GetReadiness>(platform::ready),
        Id::GetContractDocument => bind::<ops::GetContractDocument>(platform::openapi),
        Id::GetPlatformDocument => bind::<ops::GetPlatformDocument>(platform::openapi_platform),
        Id::GetDocs => bind::<ops::GetDocs>(platform::docs),
        Id::AdvanceTestClock => bind::<ops::AdvanceTestClock>(platform::advance_clock),

        Id::ListWorkflows => bind::<ops::ListWorkflows>(workflows::list),
        Id::CreateWorkflow => bind::<ops::CreateWorkflow>(workflows::create),
        Id::GetWorkflow => bind::<ops::GetWorkflow>(workflows::get),
        Id::UpdateWorkflow => bind::<ops::UpdateWorkflow>(workflows::patch),
        Id::DeleteWorkflow => bind::<ops::DeleteWorkflow>(workflows::delete),
        Id::SaveDraft => bind::<ops::SaveDraft>(workflows::save_draft),
        Id::ValidateWorkflow => bind::<ops::ValidateWorkflow>(workflows::validate),
        Id::PublishWorkflow => bind::<ops::PublishWorkflow>(workflows::publish),
        Id::ListVersions => bind::<ops::ListVersions>(workflows::versions),
        Id::StarWorkflow => bind::<ops::StarWorkflow>(workflows::star),
        Id::UnstarWorkflow => bind::<ops::UnstarWorkflow>(workflows::unstar),
        Id::GetBpmnConformance => bind::<ops::GetBpmnConformance>(conformance::bpmn),
        Id::GetCommonExecutableProfile => {
            bind::<ops::GetCommonExecutableProfile>(conformance::common_executable)
        }
        Id::GetBpmnConformanceReport => bind::<ops::GetBpmnConformanceReport>(conformance::bpmn_report),
        Id::GetDmnConformance => bind::<ops::GetDmnConformance>(conformance::dmn),
        Id::GetDmnConformanceReport => bind::<ops::GetDmnConformanceReport>(conformance::dmn_report),
        Id::PreviewTransform => bind::<ops::PreviewTransform>(transform::preview),
        Id::ExportBpel => bind::<ops::ExportBpel>(transform::export_bpel),
        Id::ExportBpmn => bind::<ops::ExportBpmn>(transform::export_bpmn),
        Id::GetDecisionLogic => bind::<ops::GetDecisionLogic>(decisions::logic),
        Id::SaveDecisionLogic => bind::<ops::SaveDecisionLogic>(decisions::save_logic),
        Id::ExportDmn => bind::<ops::ExportDmn>(transform::export_dmn),
        Id::GetImportSource => bind::<ops::GetImportSource>(transform::import_source),

        Id::ListRuns => bind::<ops::ListRuns>(runs::list),
        Id::StartRun => bind::<ops::StartRun>(runs::start),
        Id::GetRun => bind::<ops::GetRun>(runs::get),
        Id::CancelRun => bind::<ops::CancelRun>(runs::cancel),
        Id::DecideRun => bind::<ops::DecideRun>(runs::decide),
        Id::ListRunEvents => bind::<ops::ListRunEvents>(runs::events),
        Id::StreamRunEvents => bind::<ops::StreamRunEvents>(stream::stream),
        Id::CompleteHumanTask => bind::<ops::CompleteHumanTask>(tasks::complete),
        Id::ListHumanTasks => bind::<ops::ListHumanTasks>(tasks::list),
        Id::GetHumanTask => bind::<ops::GetHumanTask>(tasks::get),
        Id::CompleteTaskById => bind::<ops::CompleteTaskById>(tasks::complete_one),
        Id::ListAllRuns => bind::<ops::ListAllRuns>(runs::list_all),
        Id::StreamEvents => bind::<ops::StreamEvents>(organization_stream::stream),
        Id::EvaluateDecision => bind::<ops::EvaluateDecision>(decisions::evaluate),
        Id::AssignHumanTask => bind::<ops::AssignHumanTask>(tasks::assign),
        Id::SubmitCaseEvent => bind::<ops::SubmitCaseEvent>(case_events::submit),
        Id::GetCaseEvent => bind::<ops::GetCaseEvent>(case_events::get),
        Id::SendSignal => bind::<ops::SendSignal>(case_events::signal),

        Id::ListJobs => bind::<ops::ListJobs>(jobs::list),
        Id::ActivateJobs => bind::<ops::ActivateJobs>(jobs::activate),
        Id::CompleteJob => bind::<ops::CompleteJob>(jobs::complete),
        Id::FailJob => bind::<ops::FailJob>(jobs::fail),
        Id::ThrowJobError => bind::<ops::ThrowJobError>(jobs::error),
        Id::ExtendJob => bind::<ops::ExtendJob>(jobs::extend),

        Id::ListDeadLetters => bind::<ops::ListDeadLetters>(dead_letters::list),
        Id::RetryDeadLetter => bind::<ops::RetryDeadLetter>(dead_letters::retry),
        Id::DropDeadLetter => bind::<ops::DropDeadLetter>(dead_letters::discard),

        Id::ListConnections => bind::<ops::ListConnections>(connections::list),
        Id::CreateConnection => bind::<ops::CreateConnection>(connections::create),
        Id::GetConnectionOptions => bind::<ops::GetConnectionOptions>(connections::options),
        Id::GetConnection => bind::<ops::GetConnection>(connections::get),
        Id::UpdateConnection => bind::<ops::UpdateConnection>(connections::patch),
        Id::DeleteConnection => bind::<ops::DeleteConnection>(connections::delete),
        Id::TestConnection => bind::<ops::TestConnection>(connections::test),
        Id::ListWebhooks => bind::<ops::ListWebhooks>(webhooks::list),
        Id::CreateWebhook => bind::<ops::CreateWebhook>(webhooks::create),
        Id::GetWebhook => bind::<ops::GetWebhook>(webhooks::get),
        Id::UpdateWebhook => bind::<ops::UpdateWebhook>(webhooks::patch),
        Id::DeleteWebhook => bind::<ops::DeleteWebhook>(webhooks::delete),
        Id::TestWebhook => bind::<ops::TestWebhook>(webhooks::test),

        Id::SetUpInstallation => bind::<ops::SetUpInstallation>(sessions::set_up),
        Id::SignIn => bind::<ops::SignIn>(sessions::sign_in),
        Id::SignOut => bind::<ops::SignOut>(sessions::sign_out),
        Id::GetSession => bind::<ops::GetSession>(sessions::current),
        Id::ListSessions => bind::<ops::ListSessions>(sessions::list),
        Id::EndSession => bind::<ops::EndSession>(sessions::end),
        Id::ChangePassword => bind::<ops::ChangePassword>(sessions::change_password),
        Id::ListApiTokens => bind::<ops::ListApiTokens>(sessions::tokens),
        Id::CreateApiToken => bind::<ops::CreateApiToken>(sessions::create_token),
        Id::DeleteApiToken => bind::<ops::DeleteApiToken>(sessions::delete_token),

        Id::GetLicence => bind::<ops::GetLicence>(licence::get),
        Id::InstallLicence => bind::<ops::InstallLicence>(licence::install),
        Id::ValidateLicence => bind::<ops::ValidateLicence>(licence::validate),
        Id::GetLicenceRequest => bind::<ops::GetLicenceRequest>(licence::request),
        Id::StartTrial => bind::<ops::StartTrial>(licence::start_trial),

        Id::ListOrganizations => bind::<ops::ListOrganizations>(directory::list),
        Id::CreateOrganization => bind::<ops::CreateOrganization>(directory::create),
        Id::GetOrganization => bind::<ops::GetOrganization>(directory::get),
        Id::UpdateOrganization => bind::<ops::UpdateOrganization>(directory::patch),
        Id::DeleteOrganization => bind::<ops::DeleteOrganization>(directory::delete),
        Id::ListUsers => bind::<ops::ListUsers>(accounts::list),
        Id::CreateUser => bind::<ops::CreateUser>(accounts::create),
        Id::GetUser => bind::<ops::GetUser>(accounts::get),
        Id::UpdateUser => bind::<ops::UpdateUser>(accounts::patch),
        Id::DeleteUser => bind::<ops::DeleteUser>(accounts::delete),
        Id::ListMembers => bind::<ops::ListMembers>(accounts::members),
        Id::SetMember => bind::<ops::SetMember>(accounts::set_member),
        Id::RemoveMember => bind::<ops::RemoveMember>(accounts::remove_member),
        Id::ListRoles => bind::<ops::ListRoles>(roles::list),
        Id::CreateRole => bind::<ops::CreateRole>(roles::create),
        Id::GetRole => bind::<ops::GetRole>(roles::get),
        Id::UpdateRole => bind::<ops::UpdateRole>(roles::patch),
        Id::DeleteRole => bind::<ops::DeleteRole>(roles::delete),
        Id::ListGrants => bind::<ops::ListGrants>(roles::grants),
        Id::CreateGrant => bind::<ops::CreateGrant>(roles::create_grant),
        Id::GetGrant => bind::<ops::GetGrant>(roles::get_grant),
        Id::DeleteGrant => bind::<ops::DeleteGrant>(roles::delete_grant),
        Id::ListAuditEvents => bind::<ops::ListAuditEvents>(audit::events),
        Id::ListInstallationAuditEvents => {
            bind::<ops::ListInstallationAuditEvents>(audit::installation_events)
        }

        Id::CheckAccess => bind::<ops::CheckAccess>(authorization::check),
        Id::GetEffectiveAccess => bind::<ops::GetEffectiveAccess>(authorization::effective),
        Id::GetAuthzenConfiguration => bind::<ops::GetAuthzenConfiguration>(authorization::configuration),
        Id::EvaluateAccess => bind::<ops::EvaluateAccess>(authorization::evaluate),
        Id::EvaluateAccesses => bind::<ops::EvaluateAccesses>(authorization::evaluate_all),

        Id::FetchExternalTasks => bind::<ops::FetchExternalTasks>(camunda7::fetch),
        Id::CompleteExternalTask => bind::<ops::CompleteExternalTask>(camunda7::complete),
        Id::FailExternalTask => bind::<ops::FailExternalTask>(camunda7::fail),
        Id::ThrowExternalTaskError => bind::<ops::ThrowExternalTaskError>(camunda7::error),
        Id::ExtendExternalTaskLock => bind::<ops::ExtendExternalTaskLock>(camunda7::extend),
        Id::UnlockExternalTask => bind::<ops::UnlockExternalTask>(camunda7::unlock),
        Id::ActivateCamundaJobs => bind::<ops::ActivateCamundaJobs>(camunda8::activate),
        Id::CompleteCamundaJob => bind::<ops::CompleteCamundaJob>(camunda8::complete),
        Id::FailCamundaJob => bind::<ops::FailCamundaJob>(camunda8::fail),
        Id::ThrowCamundaJobError => bind::<ops::ThrowCamundaJobError>(camunda8::error),
        Id::UpdateCamundaJob => bind::<ops::UpdateCamundaJob>(camunda8::update),
        Id::CreateProcessInstance => bind::<ops::CreateProcessInstance>(camunda8::create),
        Id::PublishMessage => bind::<ops::PublishMessage>(camunda8::publish),
        Id::CorrelateMessage => bind::<ops::CorrelateMessage>(camunda8::correlate),
        Id::BroadcastSignal => bind::<ops::BroadcastSignal>(camunda8::broadcast),
        Id::GetTopology => bind::<ops::GetTopology>(camunda8::topology),
    }
}
