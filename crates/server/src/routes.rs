//! From an operation to its handler: exhaustive, so that a row without a handler does not compile.

use heddle_api::operations::{OperationId, ops};

use crate::gate::{Handler, gated, public, session};
use crate::handlers::{
    accounts, conformance, decisions, directory, licence, platform, roles, runs, sessions, transform,
    workflows,
};
use crate::stream;

/// The handler of an operation.
#[must_use]
pub fn handler(id: OperationId) -> Handler {
    use OperationId as Id;
    match id {
        Id::GetHealth => public::<ops::GetHealth, _, _>(platform::health),
        Id::GetLiveness => public::<ops::GetLiveness, _, _>(platform::live),
        Id::GetReadiness => public::<ops::GetReadiness, _, _>(platform::ready),
        Id::GetContractDocument => public::<ops::GetContractDocument, _, _>(platform::openapi),
        Id::GetPlatformDocument => public::<ops::GetPlatformDocument, _, _>(platform::openapi_platform),
        Id::GetDocs => public::<ops::GetDocs, _, _>(platform::docs),
        Id::AdvanceTestClock => session::<ops::AdvanceTestClock, _, _>(platform::advance_clock),

        Id::ListWorkflows => gated::<ops::ListWorkflows, _, _>(workflows::list),
        Id::CreateWorkflow => gated::<ops::CreateWorkflow, _, _>(workflows::create),
        Id::GetWorkflow => gated::<ops::GetWorkflow, _, _>(workflows::get),
        Id::UpdateWorkflow => gated::<ops::UpdateWorkflow, _, _>(workflows::patch),
        Id::DeleteWorkflow => gated::<ops::DeleteWorkflow, _, _>(workflows::delete),
        Id::SaveDraft => gated::<ops::SaveDraft, _, _>(workflows::save_draft),
        Id::ValidateWorkflow => gated::<ops::ValidateWorkflow, _, _>(workflows::validate),
        Id::PublishWorkflow => gated::<ops::PublishWorkflow, _, _>(workflows::publish),
        Id::ListVersions => gated::<ops::ListVersions, _, _>(workflows::versions),
        Id::StarWorkflow => gated::<ops::StarWorkflow, _, _>(workflows::star),
        Id::UnstarWorkflow => gated::<ops::UnstarWorkflow, _, _>(workflows::unstar),
        Id::GetBpmnConformance => gated::<ops::GetBpmnConformance, _, _>(conformance::bpmn),
        Id::GetCommonExecutableProfile => {
            gated::<ops::GetCommonExecutableProfile, _, _>(conformance::common_executable)
        }
        Id::GetBpmnConformanceReport => {
            gated::<ops::GetBpmnConformanceReport, _, _>(conformance::bpmn_report)
        }
        Id::GetDmnConformance => gated::<ops::GetDmnConformance, _, _>(conformance::dmn),
        Id::GetDmnConformanceReport => gated::<ops::GetDmnConformanceReport, _, _>(conformance::dmn_report),
        Id::PreviewTransform => gated::<ops::PreviewTransform, _, _>(transform::preview),
        Id::ExportBpel => gated::<ops::ExportBpel, _, _>(transform::export_bpel),
        Id::ExportBpmn => gated::<ops::ExportBpmn, _, _>(transform::export_bpmn),
        Id::GetDecisionLogic => gated::<ops::GetDecisionLogic, _, _>(decisions::logic),
        Id::SaveDecisionLogic => gated::<ops::SaveDecisionLogic, _, _>(decisions::save_logic),
        Id::ExportDmn => gated::<ops::ExportDmn, _, _>(transform::export_dmn),
        Id::GetImportSource => gated::<ops::GetImportSource, _, _>(transform::import_source),

        Id::ListRuns => gated::<ops::ListRuns, _, _>(runs::list),
        Id::StartRun => gated::<ops::StartRun, _, _>(runs::start),
        Id::GetRun => gated::<ops::GetRun, _, _>(runs::get),
        Id::CancelRun => gated::<ops::CancelRun, _, _>(runs::cancel),
        Id::DecideRun => gated::<ops::DecideRun, _, _>(runs::decide),
        Id::ListRunEvents => gated::<ops::ListRunEvents, _, _>(runs::events),
        Id::StreamRunEvents => gated::<ops::StreamRunEvents, _, _>(stream::stream),
        Id::CompleteHumanTask => gated::<ops::CompleteHumanTask, _, _>(runs::complete),
        Id::ListHumanTasks => gated::<ops::ListHumanTasks, _, _>(runs::tasks),
        Id::AssignHumanTask => gated::<ops::AssignHumanTask, _, _>(runs::assign),
        Id::SubmitCaseEvent => gated::<ops::SubmitCaseEvent, _, _>(runs::case_event),
        Id::GetCaseEvent => gated::<ops::GetCaseEvent, _, _>(runs::case_event_status),
        Id::SendSignal => gated::<ops::SendSignal, _, _>(runs::signal),

        Id::SetUpInstallation => public::<ops::SetUpInstallation, _, _>(sessions::set_up),
        Id::SignIn => public::<ops::SignIn, _, _>(sessions::sign_in),
        Id::SignOut => session::<ops::SignOut, _, _>(sessions::sign_out),
        Id::GetSession => session::<ops::GetSession, _, _>(sessions::current),
        Id::ListSessions => session::<ops::ListSessions, _, _>(sessions::list),
        Id::EndSession => session::<ops::EndSession, _, _>(sessions::end),
        Id::ChangePassword => session::<ops::ChangePassword, _, _>(sessions::change_password),
        Id::ListApiTokens => session::<ops::ListApiTokens, _, _>(sessions::tokens),
        Id::CreateApiToken => session::<ops::CreateApiToken, _, _>(sessions::create_token),
        Id::DeleteApiToken => session::<ops::DeleteApiToken, _, _>(sessions::delete_token),

        Id::GetLicence => gated::<ops::GetLicence, _, _>(licence::get),
        Id::InstallLicence => gated::<ops::InstallLicence, _, _>(licence::install),
        Id::ValidateLicence => gated::<ops::ValidateLicence, _, _>(licence::validate),
        Id::GetLicenceRequest => gated::<ops::GetLicenceRequest, _, _>(licence::request),
        Id::StartTrial => gated::<ops::StartTrial, _, _>(licence::start_trial),

        Id::ListOrganizations => gated::<ops::ListOrganizations, _, _>(directory::list),
        Id::CreateOrganization => gated::<ops::CreateOrganization, _, _>(directory::create),
        Id::GetOrganization => gated::<ops::GetOrganization, _, _>(directory::get),
        Id::UpdateOrganization => gated::<ops::UpdateOrganization, _, _>(directory::patch),
        Id::DeleteOrganization => gated::<ops::DeleteOrganization, _, _>(directory::delete),
        Id::ListUsers => gated::<ops::ListUsers, _, _>(accounts::list),
        Id::CreateUser => gated::<ops::CreateUser, _, _>(accounts::create),
        Id::GetUser => gated::<ops::GetUser, _, _>(accounts::get),
        Id::UpdateUser => gated::<ops::UpdateUser, _, _>(accounts::patch),
        Id::DeleteUser => gated::<ops::DeleteUser, _, _>(accounts::delete),
        Id::ListMembers => gated::<ops::ListMembers, _, _>(accounts::members),
        Id::SetMember => gated::<ops::SetMember, _, _>(accounts::set_member),
        Id::RemoveMember => gated::<ops::RemoveMember, _, _>(accounts::remove_member),
        Id::ListRoles => gated::<ops::ListRoles, _, _>(roles::list),
        Id::CreateRole => gated::<ops::CreateRole, _, _>(roles::create),
        Id::GetRole => gated::<ops::GetRole, _, _>(roles::get),
        Id::UpdateRole => gated::<ops::UpdateRole, _, _>(roles::patch),
        Id::DeleteRole => gated::<ops::DeleteRole, _, _>(roles::delete),
        Id::ListGrants => gated::<ops::ListGrants, _, _>(roles::grants),
        Id::CreateGrant => gated::<ops::CreateGrant, _, _>(roles::create_grant),
        Id::GetGrant => gated::<ops::GetGrant, _, _>(roles::get_grant),
        Id::DeleteGrant => gated::<ops::DeleteGrant, _, _>(roles::delete_grant),
        Id::ListAuditEvents => gated::<ops::ListAuditEvents, _, _>(directory::audit_events),
    }
}
