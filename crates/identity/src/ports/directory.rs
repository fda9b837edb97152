//! Organisations, users, members, roles and grants.

use async_trait::async_trait;
use heddle_kernel::{GrantId, GroupId, Page, PageRequest, Revision, RoleId, TenantId, Timestamp, UserId};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;

use super::access::TenantAccess;
use crate::records::{
    GrantPrincipal, GrantRow, Group, Member, Membership, Organization, Role, User, UserKind, UserState,
};

/// Outcome of a change that may leave nobody in charge, or something without its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Change written.
    Done,
    /// Refusal: an organisation would have no active member with the owner role and without an end.
    LastOwner,
    /// Refusal: these depend on it; never empty.
    InUse(Vec<Dependents>),
}

/// Resources of one type that depend on another, counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependents {
    /// The type of resource.
    pub kind: &'static str,
    /// Number of dependents of this type.
    pub count: u64,
}

/// Outcome of an addition that a licence may limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitOutcome {
    /// Addition written.
    Done,
    /// Refusal: the licence allows no more.
    LimitReached {
        /// Number in use already.
        used: u64,
    },
}

/// An organisation to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrganization {
    /// The organisation.
    pub organization: Organization,
    /// System roles of the organisation.
    pub roles: Vec<Role>,
    /// Membership of the first owner.
    pub owner: Membership,
}

/// An account to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUser {
    /// The account.
    pub user: User,
    /// Membership in the home organisation.
    pub membership: Membership,
}

/// Filter for accounts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserFilter {
    /// A part of the e-mail address or the name, in any case.
    pub q: Option<String>,
    /// The state.
    pub state: Option<UserState>,
    /// The kind.
    pub kind: Option<UserKind>,
}

/// Filter for members.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemberFilter {
    /// A part of the e-mail address or the name, in any case.
    pub q: Option<String>,
    /// The group.
    pub group: Option<GroupId>,
}

/// A change of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupChange {
    /// The group as it shall be.
    pub group: Group,
    /// Members who come into it; who is in it already stays.
    pub added: Vec<UserId>,
    /// Members who leave it; who is not in it stays out.
    pub removed: Vec<UserId>,
}

/// Filter for grants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrantFilter {
    /// Principal to whom they apply.
    pub principal: Option<GrantPrincipal>,
    /// The type.
    pub resource: Option<String>,
    /// The selector.
    pub selector: Option<String>,
}

/// Resource that was there and was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tombstone {
    /// An organisation; kind `organization`.
    Organization(TenantId),
    /// A user; kind `user`.
    User(UserId),
    /// A member; kind `member`.
    Member(UserId),
    /// A group; kind `group`.
    Group(GroupId),
    /// A role; kind `role`.
    Role(RoleId),
    /// A grant; kind `grant`.
    Grant(GrantId),
}

impl Tombstone {
    /// Kind and id, as they are kept.
    #[must_use]
    pub const fn parts(self) -> (&'static str, uuid::Uuid) {
        match self {
            Self::Organization(id) => ("organization", id.0),
            Self::User(id) => ("user", id.0),
            Self::Member(id) => ("member", id.0),
            Self::Group(id) => ("group", id.0),
            Self::Role(id) => ("role", id.0),
            Self::Grant(id) => ("grant", id.0),
        }
    }
}

/// Whether a role that an organisation made for itself, or a group, has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameTaken {
    /// None has it.
    No,
    /// A role has it.
    ByOwnRole,
    /// A group has it: human tasks name either.
    ByGroup,
}

/// Keeps organisations, users, members, roles and grants. Every deletion leaves a tombstone in the organisation
/// (that of an organisation in itself), and an addition with the same key removes it. A change behind which no owner
/// has the power ([`crate::hold_of`]) that one had before is not written: `LockOut`.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait DirectoryStore: Send + Sync {
    /// Whether such a thing was in the organisation and was deleted.
    async fn was_deleted(&self, tenant: TenantId, what: Tombstone) -> Result<bool, StoreError>;

    /// Whether this user has deleted such an organisation.
    async fn has_deleted_organization(&self, by: UserId, id: TenantId) -> Result<bool, StoreError>;

    /// The organisations to which a user belongs, within reach, by creation; with `q` those whose slug or name has it, in
    /// any case.
    async fn organizations<'a>(
        &self,
        user: UserId,
        q: Option<&'a str>,
        access: &AccessFilter<resource::Organization>,
        page: &PageRequest,
    ) -> Result<Page<Organization>, StoreError>;

    /// An organisation to which a user belongs; `NotFound` for all others.
    async fn organization(&self, user: UserId, id: TenantId) -> Result<Organization, StoreError>;

    /// Adds an organisation with its system roles and its owner, unless `limit` are there.
    /// `Duplicate` for a slug that is taken.
    async fn insert_organization(
        &self,
        new: &NewOrganization,
        limit: Option<u64>,
        journal: &Journal,
    ) -> Result<LimitOutcome, StoreError>;

    /// Writes slug, display name, revision and times.
    async fn update_organization(
        &self,
        organization: &Organization,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Deletes an organisation with its memberships, roles, grants and API tokens. `InUse` while it is the home of
    /// any account (so the last organisation stays) or any area keeps something of it.
    async fn delete_organization(
        &self,
        id: TenantId,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError>;

    /// The accounts that are at home or members in an organisation, within reach, by creation.
    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        access: &AccessFilter<resource::User>,
        page: &PageRequest,
    ) -> Result<Page<User>, StoreError>;

    /// An account that is at home or a member in an organisation.
    async fn user(&self, tenant: TenantId, id: UserId) -> Result<User, StoreError>;

    /// Adds an account with its membership at home, unless the installation has `limit` accounts.
    /// `Duplicate` for an e-mail address that is taken anywhere in the installation.
    async fn insert_user(
        &self,
        new: &NewUser,
        limit: Option<u64>,
        journal: &Journal,
    ) -> Result<LimitOutcome, StoreError>;

    /// Writes an account. When it is switched off or its password hash changes, its sessions end; when it is
    /// switched off, its API tokens are deleted, and `LastOwner` is said of any organisation. The authorization
    /// revision of every organisation to which it belongs grows.
    async fn update_user(
        &self,
        user: &User,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError>;

    /// Names of the providers at which the person of an account is known, each as often as they are linked.
    async fn providers_of(&self, user: UserId) -> Result<Vec<String>, StoreError>;

    /// Writes an account's new revision and takes its links to a provider, the marks of the roles that its groups gave, and
    /// the sessions that were opened by it. `NotFound` when there is no such link.
    async fn unlink_provider(
        &self,
        user: &User,
        provider: &str,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Deletes an account of this home organisation with its memberships, sessions, tokens and grants.
    /// `LastOwner` is said of any organisation.
    async fn delete_user(
        &self,
        home: TenantId,
        id: UserId,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError>;

    /// The members of an organisation within reach, by the start of the membership.
    async fn members(
        &self,
        tenant: TenantId,
        filter: &MemberFilter,
        access: &AccessFilter<resource::Member>,
        page: &PageRequest,
    ) -> Result<Page<Member>, StoreError>;

    /// A member of an organisation.
    async fn member(&self, tenant: TenantId, user: UserId) -> Result<Member, StoreError>;

    /// Adds (`expected` is none) or replaces a membership. `NotFound` for an unknown user, role or group, `Duplicate` for
    /// an addition of one that is there, `LastOwner` for a replacement that leaves no owner.
    async fn set_member(
        &self,
        membership: &Membership,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Change, StoreError>;

    /// Removes a membership and the user's API tokens and own grants of the organisation.
    async fn remove_member(
        &self,
        tenant: TenantId,
        user: UserId,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError>;

    /// The groups of an organisation within reach, by name; with `q` those whose name or description has it, in any case.
    async fn groups<'a>(
        &self,
        tenant: TenantId,
        q: Option<&'a str>,
        access: &AccessFilter<resource::Group>,
        page: &PageRequest,
    ) -> Result<Page<Group>, StoreError>;

    /// The groups of an organisation that have one of these ids or names, by name.
    async fn groups_named(&self, tenant: TenantId, named: &[String]) -> Result<Vec<Group>, StoreError>;

    /// Id and name of every group of an organisation, by name.
    async fn all_groups(&self, tenant: TenantId) -> Result<Vec<(GroupId, String)>, StoreError>;

    /// A group of an organisation.
    async fn group(&self, tenant: TenantId, id: GroupId) -> Result<Group, StoreError>;

    /// Everything that any member of a group has: all their roles, by whatever they have them, and all grants and denies
    /// that apply to one of them, those to everyone included. The membership is none.
    async fn standing_of_group(
        &self,
        tenant: TenantId,
        id: GroupId,
        now: Timestamp,
    ) -> Result<TenantAccess, StoreError>;

    /// Adds a group with its roles and members, whose revisions grow. `Duplicate` for a name that a group or a role has;
    /// `NotFound` for an unknown role, or for somebody who is no member of the organisation.
    async fn insert_group(&self, new: &GroupChange, journal: &Journal) -> Result<(), StoreError>;

    /// Writes a group with its roles; those who come and go have their revisions grow. Errors as of
    /// [`Self::insert_group`].
    async fn update_group(
        &self,
        change: &GroupChange,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// Deletes a group and the grants to it; `InUse` while it has members.
    async fn delete_group(
        &self,
        tenant: TenantId,
        id: GroupId,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError>;

    /// The roles of an organisation within reach, by name; with `q` those whose name or description has it, in any case.
    async fn roles<'a>(
        &self,
        tenant: TenantId,
        q: Option<&'a str>,
        access: &AccessFilter<resource::Role>,
        page: &PageRequest,
    ) -> Result<Page<Role>, StoreError>;

    /// Every role of an organisation, by name.
    async fn all_roles(&self, tenant: TenantId) -> Result<Vec<Role>, StoreError>;

    /// The organisations that have no system role of this name, and whether a role of their own has the name.
    async fn lacking_role(&self, name: &str) -> Result<Vec<(TenantId, NameTaken)>, StoreError>;

    /// A role of an organisation.
    async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Role, StoreError>;

    /// Adds a role. `Duplicate` for a name that a role or a group has.
    async fn insert_role(&self, role: &Role, journal: &Journal) -> Result<(), StoreError>;

    /// Writes a role. `Duplicate` for a name that a role or a group has.
    async fn update_role(&self, role: &Role, expected: Revision, journal: &Journal)
    -> Result<(), StoreError>;

    /// Deletes a role and the grants to it; `InUse` while members or groups have it.
    async fn delete_role(
        &self,
        tenant: TenantId,
        id: RoleId,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError>;

    /// The grants of an organisation within reach, newest first.
    async fn grants(
        &self,
        tenant: TenantId,
        filter: &GrantFilter,
        access: &AccessFilter<resource::Grant>,
        page: &PageRequest,
    ) -> Result<Page<GrantRow>, StoreError>;

    /// The grants and denies of an organisation to any of these roles; ended ones as well.
    async fn role_grants(&self, tenant: TenantId, roles: &[RoleId]) -> Result<Vec<GrantRow>, StoreError>;

    /// The grants and denies of an organisation to any of these groups; ended ones as well.
    async fn group_grants(&self, tenant: TenantId, groups: &[GroupId]) -> Result<Vec<GrantRow>, StoreError>;

    /// The grants of the installation that are about one thing: those behind the last one that is known, in the order
    /// of their organisations and ids, `limit` at most.
    async fn grants_about_one(
        &self,
        after: Option<(TenantId, GrantId)>,
        limit: u32,
    ) -> Result<Vec<GrantRow>, StoreError>;

    /// The roles of the installation that organisations made for themselves.
    async fn own_roles(&self) -> Result<Vec<Role>, StoreError>;

    /// Writes the selector of a grant in its one spelling. `Stale` when it is no longer `before`.
    async fn respell_grant(
        &self,
        grant: &GrantRow,
        before: &str,
        journal: &Journal,
    ) -> Result<(), StoreError>;

    /// A grant of an organisation.
    async fn grant(&self, tenant: TenantId, id: GrantId) -> Result<GrantRow, StoreError>;

    /// Adds a grant. `NotFound` when its user is not a member, or its group or role is not there.
    async fn insert_grant(&self, grant: &GrantRow, journal: &Journal) -> Result<(), StoreError>;

    /// Deletes a grant.
    async fn delete_grant(&self, tenant: TenantId, id: GrantId, journal: &Journal) -> Result<(), StoreError>;
}
