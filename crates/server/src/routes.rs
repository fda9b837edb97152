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
        Id::Gethealth => public::<ops::Gethealth, _, _>(platform::health),
        Id::GethealthLive => public::<ops::GethealthLive, _, _>(platform::live),
        Id::GethealthReady => public::<ops::GethealthReady, _, _>(platform::ready),
        Id::GetopenapiJson => public::<ops::GetopenapiJson, _, _>(platform::openapi),
        Id::GetopenapiPlatformJson => public::<ops::GetopenapiPlatformJson, _, _>(platform::openapi_platform),
        Id::Getdocs => public::<ops::Getdocs, _, _>(platform::docs),
        Id::PostapiTestClock => session::<ops::PostapiTestClock, _, _>(platform::advance_clock),

        Id::GetapiWorkflows => gated::<ops::GetapiWorkflows, _, _>(workflows::list),
        Id::PostapiWorkflows => gated::<ops::PostapiWorkflows, _, _>(workflows::create),
        Id::GetapiWorkflowsWorkflowId => gated::<ops::GetapiWorkflowsWorkflowId, _, _>(workflows::get),
        Id::PatchapiWorkflowsWorkflowId => gated::<ops::PatchapiWorkflowsWorkflowId, _, _>(workflows::patch),
        Id::DeleteapiWorkflowsWorkflowId => {
            gated::<ops::DeleteapiWorkflowsWorkflowId, _, _>(workflows::delete)
        }
        Id::PutapiWorkflowsWorkflowIdDraft => {
            gated::<ops::PutapiWorkflowsWorkflowIdDraft, _, _>(workflows::save_draft)
        }
        Id::PostapiWorkflowsWorkflowIdValidate => {
            gated::<ops::PostapiWorkflowsWorkflowIdValidate, _, _>(workflows::validate)
        }
        Id::PostapiWorkflowsWorkflowIdPublish => {
            gated::<ops::PostapiWorkflowsWorkflowIdPublish, _, _>(workflows::publish)
        }
        Id::GetapiWorkflowsWorkflowIdVersions => {
            gated::<ops::GetapiWorkflowsWorkflowIdVersions, _, _>(workflows::versions)
        }
        Id::PutapiWorkflowsWorkflowIdStar => {
            gated::<ops::PutapiWorkflowsWorkflowIdStar, _, _>(workflows::star)
        }
        Id::DeleteapiWorkflowsWorkflowIdStar => {
            gated::<ops::DeleteapiWorkflowsWorkflowIdStar, _, _>(workflows::unstar)
        }
        Id::GetapiWorkflowsBpmnConformance => {
            gated::<ops::GetapiWorkflowsBpmnConformance, _, _>(conformance::bpmn)
        }
        Id::GetapiWorkflowsBpmnProfilesCommonExecutable => {
            gated::<ops::GetapiWorkflowsBpmnProfilesCommonExecutable, _, _>(conformance::common_executable)
        }
        Id::GetapiWorkflowsBpmnConformanceReport => {
            gated::<ops::GetapiWorkflowsBpmnConformanceReport, _, _>(conformance::bpmn_report)
        }
        Id::GetapiWorkflowsDmnConformance => {
            gated::<ops::GetapiWorkflowsDmnConformance, _, _>(conformance::dmn)
        }
        Id::GetapiWorkflowsDmnConformanceReport => {
            gated::<ops::GetapiWorkflowsDmnConformanceReport, _, _>(conformance::dmn_report)
        }
        Id::PostapiWorkflowsTransformPreview => {
            gated::<ops::PostapiWorkflowsTransformPreview, _, _>(transform::preview)
        }
        Id::GetapiWorkflowsWorkflowIdExportBpel => {
            gated::<ops::GetapiWorkflowsWorkflowIdExportBpel, _, _>(transform::export_bpel)
        }
        Id::GetapiWorkflowsWorkflowIdExportBpmn => {
            gated::<ops::GetapiWorkflowsWorkflowIdExportBpmn, _, _>(transform::export_bpmn)
        }
        Id::GetapiWorkflowsWorkflowIdDmnLogic => {
            gated::<ops::GetapiWorkflowsWorkflowIdDmnLogic, _, _>(decisions::logic)
        }
        Id::PutapiWorkflowsWorkflowIdDmnLogic => {
            gated::<ops::PutapiWorkflowsWorkflowIdDmnLogic, _, _>(decisions::save_logic)
        }
        Id::GetapiWorkflowsWorkflowIdExportDmn => {
            gated::<ops::GetapiWorkflowsWorkflowIdExportDmn, _, _>(transform::export_dmn)
        }
        Id::GetapiWorkflowsWorkflowIdImportSource => {
            gated::<ops::GetapiWorkflowsWorkflowIdImportSource, _, _>(transform::import_source)
        }

        Id::GetapiWorkflowsWorkflowIdRuns => gated::<ops::GetapiWorkflowsWorkflowIdRuns, _, _>(runs::list),
        Id::PostapiWorkflowsWorkflowIdRuns => gated::<ops::PostapiWorkflowsWorkflowIdRuns, _, _>(runs::start),
        Id::GetapiWorkflowsWorkflowIdRunsRunId => {
            gated::<ops::GetapiWorkflowsWorkflowIdRunsRunId, _, _>(runs::get)
        }
        Id::DeleteapiWorkflowsWorkflowIdRunsRunId => {
            gated::<ops::DeleteapiWorkflowsWorkflowIdRunsRunId, _, _>(runs::cancel)
        }
        Id::PostapiWorkflowsWorkflowIdRunsRunIdDecision => {
            gated::<ops::PostapiWorkflowsWorkflowIdRunsRunIdDecision, _, _>(runs::decide)
        }
        Id::GetapiWorkflowsWorkflowIdRunsRunIdEvents => {
            gated::<ops::GetapiWorkflowsWorkflowIdRunsRunIdEvents, _, _>(runs::events)
        }
        Id::GetapiWorkflowsWorkflowIdRunsRunIdEventsStream => {
            gated::<ops::GetapiWorkflowsWorkflowIdRunsRunIdEventsStream, _, _>(stream::stream)
        }
        Id::PostapiWorkflowsWorkflowIdRunsRunIdHumanTasksNodeIdComplete => {
            gated::<ops::PostapiWorkflowsWorkflowIdRunsRunIdHumanTasksNodeIdComplete, _, _>(runs::complete)
        }
        Id::GetapiHumanTasks => gated::<ops::GetapiHumanTasks, _, _>(runs::tasks),
        Id::PostapiHumanTasksTaskIdAssign => gated::<ops::PostapiHumanTasksTaskIdAssign, _, _>(runs::assign),
        Id::PostapiCaseEvents => gated::<ops::PostapiCaseEvents, _, _>(runs::case_event),
        Id::GetapiCaseEventsEventId => gated::<ops::GetapiCaseEventsEventId, _, _>(runs::case_event_status),
        Id::PostapiSignals => gated::<ops::PostapiSignals, _, _>(runs::signal),

        Id::PostapiSetup => public::<ops::PostapiSetup, _, _>(sessions::set_up),
        Id::PostapiAuthSignIn => public::<ops::PostapiAuthSignIn, _, _>(sessions::sign_in),
        Id::PostapiAuthSignOut => session::<ops::PostapiAuthSignOut, _, _>(sessions::sign_out),
        Id::GetapiAuthSession => session::<ops::GetapiAuthSession, _, _>(sessions::current),
        Id::GetapiAuthSessions => session::<ops::GetapiAuthSessions, _, _>(sessions::list),
        Id::DeleteapiAuthSessionsSessionId => {
            session::<ops::DeleteapiAuthSessionsSessionId, _, _>(sessions::end)
        }
        Id::PutapiAuthPassword => session::<ops::PutapiAuthPassword, _, _>(sessions::change_password),
        Id::GetapiAuthTokens => session::<ops::GetapiAuthTokens, _, _>(sessions::tokens),
        Id::PostapiAuthTokens => session::<ops::PostapiAuthTokens, _, _>(sessions::create_token),
        Id::DeleteapiAuthTokensTokenId => {
            session::<ops::DeleteapiAuthTokensTokenId, _, _>(sessions::delete_token)
        }

        Id::GetapiLicence => gated::<ops::GetapiLicence, _, _>(licence::get),
        Id::PutapiLicence => gated::<ops::PutapiLicence, _, _>(licence::install),
        Id::PostapiLicenceValidate => gated::<ops::PostapiLicenceValidate, _, _>(licence::validate),
        Id::GetapiLicenceRequest => gated::<ops::GetapiLicenceRequest, _, _>(licence::request),
        Id::PostapiLicenceTrial => gated::<ops::PostapiLicenceTrial, _, _>(licence::start_trial),

        Id::GetapiOrganizations => gated::<ops::GetapiOrganizations, _, _>(directory::list),
        Id::PostapiOrganizations => gated::<ops::PostapiOrganizations, _, _>(directory::create),
        Id::GetapiOrganizationsOrganizationId => {
            gated::<ops::GetapiOrganizationsOrganizationId, _, _>(directory::get)
        }
        Id::PatchapiOrganizationsOrganizationId => {
            gated::<ops::PatchapiOrganizationsOrganizationId, _, _>(directory::patch)
        }
        Id::DeleteapiOrganizationsOrganizationId => {
            gated::<ops::DeleteapiOrganizationsOrganizationId, _, _>(directory::delete)
        }
        Id::GetapiUsers => gated::<ops::GetapiUsers, _, _>(accounts::list),
        Id::PostapiUsers => gated::<ops::PostapiUsers, _, _>(accounts::create),
        Id::GetapiUsersUserId => gated::<ops::GetapiUsersUserId, _, _>(accounts::get),
        Id::PatchapiUsersUserId => gated::<ops::PatchapiUsersUserId, _, _>(accounts::patch),
        Id::DeleteapiUsersUserId => gated::<ops::DeleteapiUsersUserId, _, _>(accounts::delete),
        Id::GetapiMembers => gated::<ops::GetapiMembers, _, _>(accounts::members),
        Id::PutapiMembersUserId => gated::<ops::PutapiMembersUserId, _, _>(accounts::set_member),
        Id::DeleteapiMembersUserId => gated::<ops::DeleteapiMembersUserId, _, _>(accounts::remove_member),
        Id::GetapiRoles => gated::<ops::GetapiRoles, _, _>(roles::list),
        Id::PostapiRoles => gated::<ops::PostapiRoles, _, _>(roles::create),
        Id::GetapiRolesRoleId => gated::<ops::GetapiRolesRoleId, _, _>(roles::get),
        Id::PatchapiRolesRoleId => gated::<ops::PatchapiRolesRoleId, _, _>(roles::patch),
        Id::DeleteapiRolesRoleId => gated::<ops::DeleteapiRolesRoleId, _, _>(roles::delete),
        Id::GetapiGrants => gated::<ops::GetapiGrants, _, _>(roles::grants),
        Id::PostapiGrants => gated::<ops::PostapiGrants, _, _>(roles::create_grant),
        Id::GetapiGrantsGrantId => gated::<ops::GetapiGrantsGrantId, _, _>(roles::get_grant),
        Id::DeleteapiGrantsGrantId => gated::<ops::DeleteapiGrantsGrantId, _, _>(roles::delete_grant),
        Id::GetapiAuditEvents => gated::<ops::GetapiAuditEvents, _, _>(directory::audit_events),
    }
}
