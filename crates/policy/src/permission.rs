//! Permissions, kinds of resources and actions: stable words, each known to the code that asks for it.

use heddle_kernel::DefinitionKind;

use crate::words::words;

words! {
    /// Permission that a role gives; an operation names those of which its caller needs one.
    Permission {
        AuditView "audit.view",
        AuthorizationCheck "authorization.check",
        AuthorizationInspect "authorization.inspect",
        AuthorizationView "authorization.view",
        CaseTypesManage "case-types.manage",
        CaseTypesView "case-types.view",
        CasesView "cases.view",
        CasesWork "cases.work",
        ConnectionsManage "connections.manage",
        ConnectionsTest "connections.test",
        ConnectionsView "connections.view",
        DocumentDelete "document.delete",
        DocumentsCreate "documents.create",
        DocumentsDelete "documents.delete",
        DocumentsManage "documents.manage",
        DocumentsUpdate "documents.update",
        DocumentsView "documents.view",
        GrantsManage "grants.manage",
        GrantsView "grants.view",
        JobsWork "jobs.work",
        LicenceManage "licence.manage",
        LicenceView "licence.view",
        MembersManage "members.manage",
        MembersView "members.view",
        MetricsView "metrics.view",
        ModelsManage "models.manage",
        ModelsUse "models.use",
        ModelsView "models.view",
        OrganizationsManage "organizations.manage",
        OrganizationsView "organizations.view",
        RolesManage "roles.manage",
        RolesView "roles.view",
        RunsOperate "runs.operate",
        RunsView "runs.view",
        TasksWork "tasks.work",
        VectorsManage "vectors.manage",
        VectorsQuery "vectors.query",
        VectorsView "vectors.view",
        WorkflowsManage "workflows.manage",
        WorkflowsRun "workflows.run",
        WorkflowsView "workflows.view",
    }

    /// Kind of thing that a rule can be about.
    ResourceType {
        ApiToken "api-token",
        AuditEvent "audit-event",
        Authorization "authorization",
        Case "case",
        CaseType "case-type",
        Connection "connection",
        DeadLetter "dead-letter",
        Deployment "deployment",
        Document "document",
        Grant "grant",
        Group "group",
        Hook "hook",
        IngestionJob "ingestion-job",
        Job "job",
        Licence "licence",
        Member "member",
        Model "model",
        ModelConnection "model-connection",
        ModelProvider "model-provider",
        Organization "organization",
        Role "role",
        Run "run",
        Session "session",
        User "user",
        VectorDatabase "vector-database",
        Webhook "webhook",
        Workflow "workflow",
    }

    /// Action on a resource.
    Action {
        Activate "activate",
        Cancel "cancel",
        Chat "chat",
        Check "check",
        Complete "complete",
        CompleteTask "complete-task",
        Create "create",
        Decide "decide",
        Delete "delete",
        Discover "discover",
        Embed "embed",
        End "end",
        Export "export",
        Import "import",
        Install "install",
        List "list",
        Publish "publish",
        Query "query",
        Read "read",
        Retry "retry",
        Run "run",
        Star "star",
        Sync "sync",
        Test "test",
        Transform "transform",
        Update "update",
        Validate "validate",
        View "view",
    }
}

/// Types that have no `read`: their `list` is decided by the action `list` as well.
pub const WITHOUT_READ: &[ResourceType] = &[
    ResourceType::AuditEvent,
    ResourceType::DeadLetter,
    ResourceType::Document,
    ResourceType::Job,
    ResourceType::Member,
    ResourceType::Model,
    ResourceType::ModelProvider,
    ResourceType::VectorDatabase,
];

impl ResourceType {
    /// The type to which things of this type belong: a deny on that holds for every one of these that belongs to it, and for
    /// what belongs to them.
    #[must_use]
    pub const fn parent(self) -> Option<Self> {
        match self {
            Self::Case => Some(Self::CaseType),
            Self::Run => Some(Self::Workflow),
            Self::Document | Self::IngestionJob => Some(Self::VectorDatabase),
            Self::DeadLetter | Self::Job => Some(Self::Run),
            Self::ApiToken
            | Self::AuditEvent
            | Self::Authorization
            | Self::CaseType
            | Self::Connection
            | Self::Deployment
            | Self::Grant
            | Self::Group
            | Self::Hook
            | Self::Licence
            | Self::Member
            | Self::Model
            | Self::ModelConnection
            | Self::ModelProvider
            | Self::Organization
            | Self::Role
            | Self::Session
            | Self::User
            | Self::VectorDatabase
            | Self::Webhook
            | Self::Workflow => None,
        }
    }

    /// The type to which things of this type belong where they belong to a case, and not to [`Self::parent`].
    const fn parent_in_cases(self) -> Option<Self> {
        if matches!(self, Self::DeadLetter | Self::Job) { Some(Self::Case) } else { None }
    }

    /// The types to which things of this type belong, the nearest first.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), |parent| parent.parent())
    }

    /// The types within whose things those of this type stand that belong to a case, the nearest first, where others stand
    /// within [`Self::ancestors`]; none where all stand within the same.
    fn ancestors_in_cases(self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent_in_cases(), |parent| parent.parent())
    }

    /// Whether things of this type belong to runs and workflows, or to cases and case types.
    pub(crate) const fn is_in_either(self) -> bool {
        self.parent_in_cases().is_some()
    }

    /// The types within whose things one of this type may stand.
    pub fn places(self) -> impl Iterator<Item = Self> {
        self.ancestors().chain(self.ancestors_in_cases())
    }

    /// Kind of definition to which runs and workflows belong, and cases and case types: what stands within things of the
    /// one stands within none of the other.
    #[must_use]
    pub const fn definition_kind(self) -> Option<DefinitionKind> {
        if matches!(self, Self::Run | Self::Workflow) {
            return Some(DefinitionKind::Workflow);
        }
        if matches!(self, Self::Case | Self::CaseType) { Some(DefinitionKind::Case) } else { None }
    }

    /// Whether a rule may select things of this type also by the id of what they stand within: jobs are known by their
    /// type, of which many runs have some.
    #[must_use]
    pub const fn is_selected_by_place(self) -> bool {
        matches!(self, Self::Job)
    }

    /// Whether things of this type may be the caller's own, so that a rule may select them by that.
    #[must_use]
    pub const fn has_own(self) -> bool {
        matches!(self, Self::Run)
    }

    /// Whether things of this type are known by names that people give, and not by ids that are made here.
    #[must_use]
    pub const fn is_named(self) -> bool {
        match self {
            Self::Authorization | Self::Job | Self::Licence | Self::ModelProvider | Self::VectorDatabase => {
                true
            }
            Self::ApiToken
            | Self::AuditEvent
            | Self::Case
            | Self::CaseType
            | Self::Connection
            | Self::DeadLetter
            | Self::Deployment
            | Self::Document
            | Self::Grant
            | Self::Group
            | Self::Hook
            | Self::IngestionJob
            | Self::Member
            | Self::Model
            | Self::ModelConnection
            | Self::Organization
            | Self::Role
            | Self::Run
            | Self::Session
            | Self::User
            | Self::Webhook
            | Self::Workflow => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sorted<T>(all: &[T], word: impl Fn(&T) -> &'static str) -> bool {
        all.windows(2).all(|pair| word(&pair[0]) < word(&pair[1]))
    }

    #[test]
    fn the_registries_are_sorted_and_without_repeats() {
        assert!(is_sorted(Permission::ALL, |one| one.as_str()));
        assert!(is_sorted(ResourceType::ALL, |one| one.as_str()));
        assert!(is_sorted(Action::ALL, |one| one.as_str()));
        assert!(is_sorted(WITHOUT_READ, |one| one.as_str()));
    }

    #[test]
    fn a_word_and_its_variant_stand_for_each_other() {
        assert!(Permission::ALL.iter().all(|one| Permission::parse(one.as_str()) == Some(*one)));
        assert!(ResourceType::ALL.iter().all(|one| ResourceType::parse(one.as_str()) == Some(*one)));
        assert!(Action::ALL.iter().all(|one| Action::parse(one.as_str()) == Some(*one)));
        assert_eq!(ResourceType::parse("Run"), None);
    }
}
