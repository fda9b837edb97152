//! Requests and responses as types.
//!
//! Requests refuse unknown members and carry their rules in the schema, which is also what they are checked
//! against. In responses a member that may be absent is left out, one that may be null is always there.

#[macro_use]
mod shape;
mod access;
mod audit;
mod case_events;
mod common;
mod conformance;
mod decisions;
mod definition;
mod health;
mod licence;
mod organizations;
mod runs;
mod sessions;
mod tasks;
mod transform;
mod workflows;

pub use access::{
    CreateGrant, CreateRole, Effect, Grant, GrantListQuery, GrantPath, PatchRole, Principal, PrincipalKind,
    Role, RoleGrant, RolePath,
};
pub use audit::{AuditActor, AuditActorKind, AuditEvent, AuditListQuery, AuditOutcome};
pub use case_events::{
    CaseEventPath, CaseEventRecord, CaseEventResult, CaseEventState, CaseEventStatus, CreateCaseEvent,
    SendSignal, SignalRecord, SignalResult,
};
pub use common::{AnyJson, Data, Instant, JsonObject, List, PageInfo, PageQuery, SearchQuery};
pub use conformance::{
    BpmnConformance, CaseCounts, CaseResult, CaseStatus, ClaimedElement, CommonExecutableProfile,
    ConformanceReport, DmnConformance, ElementTests, ReportFormat, ReportQuery, SuiteResult,
};
pub use decisions::{DecisionLogic, DecisionLogicBody, ImportedDecisions, SaveDecisionLogic};
pub use definition::{
    BpelFormat, BpelQuery, Definition, Diagnostic, DmnFormat, DmnQuery, ExportedDocument, VersionQuery,
};
pub use health::{AdvanceClock, ClockReading, Health, HealthCheck, HealthStatus};
pub use licence::{
    InstallLicence, Licence, LicenceEntitlement, LicenceLimit, LicenceRequest, LicenceState,
    LicenceValidation,
};
pub use organizations::{
    CreateOrganization, CreateUser, Member, NamedRef, Organization, OrganizationPath, PatchOrganization,
    PatchUser, SetMember, User, UserListQuery, UserPath, UserState,
};
pub use runs::{
    ActiveNode, CancelRunQuery, DecideRun, Decision, Incident, Run, RunChild, RunError, RunEvent,
    RunEventsQuery, RunInclude, RunListQuery, RunPath, RunQuery, RunState, RunStreamQuery, RunTrigger,
    RunUsage, StartRun, TriggerKind, WaitFor, WaitingFor, WaitingKind,
};
pub use sessions::{
    ApiToken, ChangePassword, CreateApiToken, CreatedApiToken, Membership, Session, SessionPath, SessionView,
    SetUp, SetUpAdministrator, SetUpOrganization, SetUpResult, SignIn, SignedIn, TokenPath,
};
pub use tasks::{
    AssignTask, CompleteTask, CompletedTask, HumanTask, HumanTaskListQuery, HumanTaskNodePath, TaskPath,
    TaskState,
};
pub use transform::{
    SourceFormat, TransformBody, TransformPreview, TransformRequest, TransformSource, TransformTarget,
};
pub use workflows::{
    CreateWorkflow, PatchWorkflow, Profile, PublishWorkflow, RunCounts, SaveDraft, SavedDraft, Star,
    ValidateWorkflow, Validation, VersionState, Workflow, WorkflowListQuery, WorkflowPath, WorkflowSort,
    WorkflowState, WorkflowVersion,
};
