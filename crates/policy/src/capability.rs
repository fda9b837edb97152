//! What an operation needs, as types: a use case asks for a [`crate::Authorized`] of one of these, so that a handler bound
//! to another operation's grant does not compile.

/// What a caller must be allowed: one of the permissions, and the action on the resource.
pub trait Capability: Send + Sync + 'static {
    /// The marker's name.
    const NAME: &'static str;
    /// Of these the caller needs one; none are needed when it is empty.
    const PERMISSIONS: &'static [&'static str];
    /// The kind of thing.
    const RESOURCE: &'static str;
    /// What is done to it.
    const ACTION: &'static str;
    /// Whether it asks for whatever of the type the caller may read, and not for one thing.
    const LISTS: bool;
}

/// A capability as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Described {
    /// The marker's name.
    pub name: &'static str,
    /// Of these the caller needs one.
    pub permissions: &'static [&'static str],
    /// The kind of thing.
    pub resource: &'static str,
    /// What is done to it.
    pub action: &'static str,
    /// Whether it asks for whatever of the type the caller may read.
    pub lists: bool,
}

macro_rules! capabilities {
    ($($name:ident: [$($permission:literal),*] $resource:literal / $action:literal $($list:ident)?;)+) => {
        $(
            #[doc = concat!("To ", $action, " a thing of type `", $resource, "`.")]
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub struct $name;

            impl Capability for $name {
                const NAME: &'static str = stringify!($name);
                const PERMISSIONS: &'static [&'static str] = &[$($permission),*];
                const RESOURCE: &'static str = $resource;
                const ACTION: &'static str = $action;
                const LISTS: bool = matches!($action.as_bytes(), b"list") $(|| stringify!($list).len() > 0)?;
            }
        )+

        /// Every capability.
        pub const ALL: &[Described] = &[$(Described {
            name: $name::NAME,
            permissions: $name::PERMISSIONS,
            resource: $name::RESOURCE,
            action: $name::ACTION,
            lists: $name::LISTS,
        }),+];
    };
}

/// For operations that need a signed-in caller and nothing else: own sessions, own password, own tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionOnly;

impl Capability for SessionOnly {
    const NAME: &'static str = "SessionOnly";
    const PERMISSIONS: &'static [&'static str] = &[];
    const RESOURCE: &'static str = "session";
    const ACTION: &'static str = "-";
    const LISTS: bool = false;
}

capabilities! {
    WorkflowList: ["workflows.view", "workflows.manage"] "workflow" / "list";
    WorkflowCreate: ["workflows.manage"] "workflow" / "create";
    WorkflowRead: ["workflows.view", "workflows.manage"] "workflow" / "read";
    WorkflowUpdate: ["workflows.manage"] "workflow" / "update";
    WorkflowDelete: ["workflows.manage"] "workflow" / "delete";
    WorkflowPublish: ["workflows.manage"] "workflow" / "publish";
    WorkflowExport: ["workflows.view", "workflows.manage"] "workflow" / "export";
    WorkflowStar: ["workflows.view", "workflows.manage"] "workflow" / "star";
    WorkflowValidate: ["workflows.view", "workflows.manage"] "workflow" / "validate";
    WorkflowTransform: ["workflows.view", "workflows.manage"] "workflow" / "transform";
    WorkflowRun: ["workflows.run", "workflows.manage"] "workflow" / "run";
    RunList: ["runs.view", "workflows.run", "workflows.manage"] "run" / "list";
    RunRead: ["runs.view", "workflows.run", "workflows.manage"] "run" / "read";
    RunCancel: ["runs.operate", "workflows.manage"] "run" / "cancel";
    RunDecide: ["tasks.work", "runs.operate", "workflows.manage"] "run" / "decide";
    RunCompleteTask: ["tasks.work"] "run" / "complete-task";
    HumanTaskList: ["tasks.work", "runs.view"] "run" / "read" lists;
    HumanTaskAssign: ["tasks.work"] "run" / "complete-task";
    CaseEventCreate: ["cases.work"] "case" / "create";
    SignalCreate: ["cases.work"] "case" / "create";
    CaseEventRead: ["cases.work", "cases.view"] "case" / "read";
    LicenceRead: ["licence.view", "licence.manage"] "licence" / "read";
    LicenceInspect: ["licence.manage"] "licence" / "read";
    LicenceInstall: ["licence.manage"] "licence" / "install";
    OrganizationList: ["organizations.view", "organizations.manage"] "organization" / "list";
    OrganizationCreate: ["organizations.manage"] "organization" / "create";
    OrganizationRead: ["organizations.view", "organizations.manage"] "organization" / "read";
    OrganizationUpdate: ["organizations.manage"] "organization" / "update";
    OrganizationDelete: ["organizations.manage"] "organization" / "delete";
    UserList: ["members.view", "members.manage"] "user" / "list";
    UserCreate: ["members.manage"] "user" / "create";
    UserRead: ["members.view", "members.manage"] "user" / "read";
    UserUpdate: ["members.manage"] "user" / "update";
    UserDelete: ["members.manage"] "user" / "delete";
    MemberList: ["members.view", "members.manage"] "member" / "list";
    MemberUpdate: ["members.manage"] "member" / "update";
    MemberDelete: ["members.manage"] "member" / "delete";
    RoleList: ["roles.view", "roles.manage"] "role" / "list";
    RoleCreate: ["roles.manage"] "role" / "create";
    RoleRead: ["roles.view", "roles.manage"] "role" / "read";
    RoleUpdate: ["roles.manage"] "role" / "update";
    RoleDelete: ["roles.manage"] "role" / "delete";
    GrantList: ["grants.view", "grants.manage"] "grant" / "list";
    GrantCreate: ["grants.manage"] "grant" / "create";
    GrantRead: ["grants.view", "grants.manage"] "grant" / "read";
    GrantDelete: ["grants.manage"] "grant" / "delete";
    AuditList: ["audit.view"] "audit-event" / "list";
}
