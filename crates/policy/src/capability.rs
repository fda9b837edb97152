//! Capabilities as types: a use case asks for a proof of one of these, so that a handler bound to another
//! operation's proof does not compile.

use crate::facts::Effect;
use crate::implied::is_about;
use crate::permission::{Action, Permission, ResourceType};
use crate::resource::{self, Resource};

/// Right that a caller needs: one of the permissions, and the action on the resource.
pub trait Capability: Send + Sync + 'static {
    /// The kind of thing.
    type On: Resource;
    /// The marker's name.
    const NAME: &'static str;
    /// Of these the caller needs one; none are needed when it is empty.
    const PERMISSIONS: &'static [Permission];
    /// Action on the resource.
    const ACTION: Action;
}

/// Capability that asks for whatever of the kind the caller may read, and not for one thing.
pub trait Lists: Capability {}

/// A capability as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Described {
    /// The marker's name.
    pub name: &'static str,
    /// Of these the caller needs one.
    pub permissions: &'static [Permission],
    /// The kind of thing.
    pub resource: ResourceType,
    /// Action on the resource.
    pub action: Action,
    /// Whether it asks for whatever of the type the caller may read.
    pub lists: bool,
}

macro_rules! capabilities {
    ($($name:ident: [$($permission:ident)*] $resource:ident / $action:ident $($list:ident)?;)+) => {
        $(
            #[doc = concat!("`", stringify!($resource), " / ", stringify!($action), "`.")]
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub enum $name {}

            impl Capability for $name {
                type On = resource::$resource;
                const NAME: &'static str = stringify!($name);
                const PERMISSIONS: &'static [Permission] = &[$(Permission::$permission),*];
                const ACTION: Action = Action::$action;
            }

            capabilities!(@lists $name $($list)?);
        )+

        /// Every capability.
        pub const ALL: &[Described] = &[$(Described {
            name: $name::NAME,
            permissions: $name::PERMISSIONS,
            resource: <$name as Capability>::On::TYPE,
            action: $name::ACTION,
            lists: capabilities!(@is_list $($list)?),
        }),+];
    };
    (@lists $name:ident) => {};
    (@lists $name:ident lists) => { impl Lists for $name {} };
    (@is_list) => { false };
    (@is_list lists) => { true };
}

capabilities! {
    WorkflowList: [WorkflowsView WorkflowsManage] Workflow / List lists;
    WorkflowCreate: [WorkflowsManage] Workflow / Create;
    WorkflowRead: [WorkflowsView WorkflowsManage] Workflow / Read;
    WorkflowUpdate: [WorkflowsManage] Workflow / Update;
    WorkflowDelete: [WorkflowsManage] Workflow / Delete;
    WorkflowPublish: [WorkflowsManage] Workflow / Publish;
    WorkflowExport: [WorkflowsView WorkflowsManage] Workflow / Export;
    WorkflowStar: [WorkflowsView WorkflowsManage] Workflow / Star;
    WorkflowValidate: [WorkflowsView WorkflowsManage] Workflow / Validate;
    WorkflowTransform: [WorkflowsView WorkflowsManage] Workflow / Transform;
    WorkflowRun: [WorkflowsRun WorkflowsManage] Workflow / Run;
    RunList: [RunsView WorkflowsRun WorkflowsManage] Run / List lists;
    RunRead: [RunsView WorkflowsRun WorkflowsManage] Run / Read;
    RunCancel: [RunsOperate WorkflowsManage] Run / Cancel;
    RunDecide: [TasksWork RunsOperate WorkflowsManage] Run / Decide;
    RunCompleteTask: [TasksWork] Run / CompleteTask;
    HumanTaskList: [TasksWork RunsView] Run / Read lists;
    HumanTaskRead: [TasksWork RunsView] Run / Read;
    HumanTaskAssign: [TasksWork] Run / CompleteTask;
    JobList: [JobsWork RunsOperate] Job / List lists;
    JobActivate: [JobsWork] Job / Activate;
    JobComplete: [JobsWork] Job / Complete;
    TopologyRead: [JobsWork WorkflowsRun WorkflowsManage] Job / List lists;
    DeadLetterList: [RunsOperate] DeadLetter / List lists;
    DeadLetterRetry: [RunsOperate] DeadLetter / Retry;
    DeadLetterDelete: [RunsOperate] DeadLetter / Delete;
    CaseTypeList: [CaseTypesView CaseTypesManage] CaseType / List lists;
    CaseTypeCreate: [CaseTypesManage] CaseType / Create;
    CaseTypeImport: [CaseTypesManage] CaseType / Import;
    CaseTypeRead: [CaseTypesView CaseTypesManage] CaseType / Read;
    CaseTypeUpdate: [CaseTypesManage] CaseType / Update;
    CaseTypeDelete: [CaseTypesManage] CaseType / Delete;
    CaseTypePublish: [CaseTypesManage] CaseType / Publish;
    CaseTypeExport: [CaseTypesView CaseTypesManage] CaseType / Export;
    CaseTypeValidate: [CaseTypesView CaseTypesManage] CaseType / Validate;
    CaseList: [CasesView] Case / List lists;
    CaseCreate: [CasesWork] Case / Create;
    CaseRead: [CasesView] Case / Read;
    CaseUpdate: [CasesWork] Case / Update;
    CaseCompleteTask: [TasksWork] Case / CompleteTask;
    CaseTaskList: [TasksWork CasesView] Case / Read lists;
    CaseTaskRead: [TasksWork CasesView] Case / Read;
    CaseTaskAssign: [TasksWork] Case / CompleteTask;
    HookList: [ConnectionsView ConnectionsManage] Hook / List lists;
    HookCreate: [ConnectionsManage] Hook / Create;
    HookRead: [ConnectionsView ConnectionsManage] Hook / Read;
    HookUpdate: [ConnectionsManage] Hook / Update;
    HookDelete: [ConnectionsManage] Hook / Delete;
    CaseEventCreate: [CasesWork] Case / Create;
    SignalCreate: [CasesWork] Case / Create;
    CaseEventRead: [CasesWork CasesView] Case / Read;
    ConnectionList: [ConnectionsView ConnectionsManage] Connection / List lists;
    ConnectionCreate: [ConnectionsManage] Connection / Create;
    ConnectionRead: [ConnectionsView ConnectionsManage] Connection / Read;
    ConnectionUpdate: [ConnectionsManage] Connection / Update;
    ConnectionDelete: [ConnectionsManage] Connection / Delete;
    ConnectionTest: [ConnectionsManage ConnectionsTest] Connection / Test;
    WebhookList: [ConnectionsView ConnectionsManage] Webhook / List lists;
    WebhookCreate: [ConnectionsManage] Webhook / Create;
    WebhookRead: [ConnectionsView ConnectionsManage] Webhook / Read;
    WebhookUpdate: [ConnectionsManage] Webhook / Update;
    WebhookDelete: [ConnectionsManage] Webhook / Delete;
    WebhookTest: [ConnectionsManage] Webhook / Update;
    VectorDatabaseList: [VectorsView VectorsManage] VectorDatabase / List lists;
    VectorDatabaseCreate: [VectorsManage] VectorDatabase / Create;
    VectorDatabaseUpdate: [VectorsManage] VectorDatabase / Update;
    VectorDatabaseDelete: [VectorsManage] VectorDatabase / Delete;
    VectorDatabaseQuery: [VectorsQuery] VectorDatabase / Query;
    DocumentList: [DocumentsView DocumentsManage] Document / List lists;
    UploadPolicyRead: [DocumentsView DocumentsCreate DocumentsManage] Document / List lists;
    DocumentCreate: [DocumentsCreate DocumentsManage] Document / Create;
    DocumentUpdate: [DocumentsUpdate DocumentsManage] Document / Update;
    DocumentDelete: [DocumentDelete DocumentsDelete DocumentsManage] Document / Delete;
    IngestionJobList: [DocumentsView DocumentsManage] IngestionJob / List lists;
    IngestionJobRead: [DocumentsView DocumentsManage] IngestionJob / Read;
    IngestionJobCancel: [DocumentsManage] IngestionJob / Cancel;
    ModelProviderList: [ModelsView ModelsManage] ModelProvider / List lists;
    ModelConnectionList: [ModelsView ModelsManage] ModelConnection / List lists;
    ModelConnectionCreate: [ModelsManage] ModelConnection / Create;
    ModelConnectionRead: [ModelsView ModelsManage] ModelConnection / Read;
    ModelConnectionUpdate: [ModelsManage] ModelConnection / Update;
    ModelConnectionDelete: [ModelsManage] ModelConnection / Delete;
    ModelConnectionTest: [ModelsManage] ModelConnection / Test;
    ModelConnectionDiscover: [ModelsManage] ModelConnection / Discover;
    ModelConnectionImport: [ModelsManage] ModelConnection / Import;
    DeploymentList: [ModelsView ModelsManage] Deployment / List lists;
    DeploymentCreate: [ModelsManage] Deployment / Create;
    DeploymentRead: [ModelsView ModelsManage] Deployment / Read;
    DeploymentUpdate: [ModelsManage] Deployment / Update;
    DeploymentDelete: [ModelsManage] Deployment / Delete;
    DeploymentSync: [ModelsManage] Deployment / Sync;
    DeploymentChat: [ModelsUse] Deployment / Chat;
    DeploymentEmbed: [ModelsUse] Deployment / Embed;
    ModelList: [ModelsView ModelsManage ModelsUse] Model / List lists;
    LicenceRead: [LicenceView LicenceManage] Licence / Read;
    LicenceInspect: [LicenceManage] Licence / Read;
    LicenceInstall: [LicenceManage] Licence / Install;
    OrganizationList: [OrganizationsView OrganizationsManage] Organization / List lists;
    OrganizationCreate: [OrganizationsManage] Organization / Create;
    OrganizationRead: [OrganizationsView OrganizationsManage] Organization / Read;
    OrganizationUpdate: [OrganizationsManage] Organization / Update;
    OrganizationDelete: [OrganizationsManage] Organization / Delete;
    UserList: [MembersView MembersManage] User / List lists;
    UserCreate: [MembersManage] User / Create;
    UserRead: [MembersView MembersManage] User / Read;
    UserUpdate: [MembersManage] User / Update;
    UserDelete: [MembersManage] User / Delete;
    MemberList: [MembersView MembersManage] Member / List lists;
    MemberUpdate: [MembersManage] Member / Update;
    MemberDelete: [MembersManage] Member / Delete;
    GroupList: [MembersView MembersManage] Group / List lists;
    GroupCreate: [MembersManage] Group / Create;
    GroupRead: [MembersView MembersManage] Group / Read;
    GroupUpdate: [MembersManage] Group / Update;
    GroupDelete: [MembersManage] Group / Delete;
    RoleList: [RolesView RolesManage] Role / List lists;
    RoleCreate: [RolesManage] Role / Create;
    RoleRead: [RolesView RolesManage] Role / Read;
    RoleUpdate: [RolesManage] Role / Update;
    RoleDelete: [RolesManage] Role / Delete;
    GrantList: [GrantsView GrantsManage] Grant / List lists;
    GrantCreate: [GrantsManage] Grant / Create;
    GrantRead: [GrantsView GrantsManage] Grant / Read;
    GrantDelete: [GrantsManage] Grant / Delete;
    AuditList: [AuditView] AuditEvent / List lists;
    InstallationAuditList: [LicenceManage] AuditEvent / List lists;
    AccessCheck: [AuthorizationCheck] Authorization / Check;
    AccessEvaluate: [AuthorizationCheck AuthorizationInspect] Authorization / Check;
    AccessView: [AuthorizationView] Authorization / View;
}

/// Actions that no operation asks for on its own and whose denial is heard nevertheless: a query does not look in a document
/// that is denied to queries.
const HEARD_DENIALS: &[(ResourceType, Action)] = &[(ResourceType::Document, Action::Query)];

/// The actions by which a rule about things of a type says something: those that something asks for on such things and,
/// of a deny, on what stands within them.
pub fn actions(effect: Effect, resource: ResourceType) -> impl Iterator<Item = Action> {
    let holds_for = move |other: ResourceType| {
        other == resource || (effect == Effect::Deny && other.places().any(|place| place == resource))
    };
    let is_asked_for = move |named: Action| {
        ALL.iter().any(|one| holds_for(one.resource) && is_about(effect, one.resource, named, one.action))
    };
    let is_heard = move |named: Action| {
        effect == Effect::Deny && HEARD_DENIALS.iter().any(|(on, action)| *action == named && holds_for(*on))
    };
    Action::ALL.iter().copied().filter(move |named| is_asked_for(*named) || is_heard(*named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_names_actions_that_are_asked_for_on_its_things() {
        let has = |effect, kind, action| actions(effect, kind).any(|one| one == action);
        for (effect, kind, action, says) in [
            (Effect::Allow, ResourceType::Workflow, Action::Publish, true),
            (Effect::Allow, ResourceType::Workflow, Action::Chat, false),
            // Runs and jobs stand within workflows: a denial reaches them, a right does not.
            (Effect::Deny, ResourceType::Workflow, Action::CompleteTask, true),
            (Effect::Deny, ResourceType::CaseType, Action::Activate, true),
            (Effect::Allow, ResourceType::Workflow, Action::CompleteTask, false),
            // What is listed is read.
            (Effect::Allow, ResourceType::Document, Action::Read, true),
            (Effect::Deny, ResourceType::Document, Action::Query, true),
            (Effect::Allow, ResourceType::Document, Action::Query, false),
            (Effect::Deny, ResourceType::Deployment, Action::Query, false),
        ] {
            assert_eq!(has(effect, kind, action), says, "{effect:?} {kind} / {action}");
        }
    }
}
