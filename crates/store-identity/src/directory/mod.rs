//! Organisations, users, members, groups, roles and grants.

mod federation;
mod grants;
mod groups;
mod members;
mod organizations;
mod owners;
mod roles;
mod selectors;
mod users;

use async_trait::async_trait;
use heddle_identity::ports::{
    Change, DirectoryStore, GrantFilter, GroupChange, LimitOutcome, MemberFilter, NameTaken, NewOrganization,
    NewUser, TenantAccess, Tombstone, UserFilter,
};
use heddle_identity::records::{
    GrantRow, Group, Member, Membership, Organization, PrincipalKind, Role, User,
};
use heddle_kernel::{GrantId, GroupId, Page, PageRequest, Revision, RoleId, TenantId, Timestamp, UserId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::audit::INSTALLATION;
use heddle_store::{Id, StoreError, read, tombstone};
use heddle_usecase::Journal;

use crate::IdentityStore;

pub(crate) use members::set_bindings;
pub(crate) use organizations::insert_rows as insert_organization_rows;
pub(crate) use users::insert_row as insert_user_row;

#[async_trait]
impl DirectoryStore for IdentityStore {
    async fn was_deleted(&self, tenant: TenantId, what: Tombstone) -> Result<bool, StoreError> {
        read!(&self.db, |conn| tombstone::exists(conn, crate::tombstones::of(tenant, what)).await)
    }

    async fn has_deleted_organization(&self, by: UserId, id: TenantId) -> Result<bool, StoreError> {
        let kind = crate::tombstones::organization_of(by);
        read!(&self.db, |conn| {
            tombstone::exists(conn, tombstone::Tombstone::of(INSTALLATION, &kind, id)).await
        })
    }

    async fn organizations<'a>(
        &self,
        user: UserId,
        q: Option<&'a str>,
        access: &AccessFilter<resource::Organization>,
        page: &PageRequest,
    ) -> Result<Page<Organization>, StoreError> {
        organizations::list(self, user, q, access, page).await
    }

    async fn organization(&self, user: UserId, id: TenantId) -> Result<Organization, StoreError> {
        organizations::get(self, user, id).await
    }

    async fn insert_organization(
        &self,
        new: &NewOrganization,
        limit: Option<u64>,
        journal: &Journal,
    ) -> Result<LimitOutcome, StoreError> {
        organizations::insert(self, new, limit, journal).await
    }

    async fn update_organization(
        &self,
        organization: &Organization,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        organizations::update(self, organization, expected, journal).await
    }

    async fn delete_organization(
        &self,
        id: TenantId,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError> {
        organizations::delete(self, id, expected, journal).await
    }

    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        access: &AccessFilter<resource::User>,
        page: &PageRequest,
    ) -> Result<Page<User>, StoreError> {
        users::list(self, tenant, filter, access, page).await
    }

    async fn user(&self, tenant: TenantId, id: UserId) -> Result<User, StoreError> {
        users::get(self, tenant, id).await
    }

    async fn insert_user(
        &self,
        new: &NewUser,
        limit: Option<u64>,
        journal: &Journal,
    ) -> Result<LimitOutcome, StoreError> {
        users::insert(self, new, limit, journal).await
    }

    async fn update_user(
        &self,
        user: &User,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError> {
        users::update(self, user, expected, journal).await
    }

    async fn providers_of(&self, user: UserId) -> Result<Vec<String>, StoreError> {
        users::providers_of(self, user).await
    }

    async fn unlink_provider(
        &self,
        user: &User,
        provider: &str,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        users::unlink(self, user, provider, expected, journal).await
    }

    async fn delete_user(
        &self,
        home: TenantId,
        id: UserId,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError> {
        users::delete(self, home, id, expected, journal).await
    }

    async fn members(
        &self,
        tenant: TenantId,
        filter: &MemberFilter,
        access: &AccessFilter<resource::Member>,
        page: &PageRequest,
    ) -> Result<Page<Member>, StoreError> {
        members::list(self, tenant, filter, access, page).await
    }

    async fn member(&self, tenant: TenantId, user: UserId) -> Result<Member, StoreError> {
        members::get(self, tenant, user).await
    }

    async fn set_member(
        &self,
        membership: &Membership,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Change, StoreError> {
        members::set(self, membership, expected, journal).await
    }

    async fn remove_member(
        &self,
        tenant: TenantId,
        user: UserId,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError> {
        members::remove(self, tenant, user, expected, journal).await
    }

    async fn groups<'a>(
        &self,
        tenant: TenantId,
        q: Option<&'a str>,
        access: &AccessFilter<resource::Group>,
        page: &PageRequest,
    ) -> Result<Page<Group>, StoreError> {
        groups::list(self, tenant, q, access, page).await
    }

    async fn groups_named(&self, tenant: TenantId, named: &[String]) -> Result<Vec<Group>, StoreError> {
        groups::named(self, tenant, named).await
    }

    async fn all_groups(&self, tenant: TenantId) -> Result<Vec<(GroupId, String)>, StoreError> {
        groups::all(self, tenant).await
    }

    async fn group(&self, tenant: TenantId, id: GroupId) -> Result<Group, StoreError> {
        groups::get(self, tenant, id).await
    }

    async fn standing_of_group(
        &self,
        tenant: TenantId,
        id: GroupId,
        now: Timestamp,
    ) -> Result<TenantAccess, StoreError> {
        groups::standing(self, tenant, id, now).await
    }

    async fn insert_group(&self, new: &GroupChange, journal: &Journal) -> Result<(), StoreError> {
        groups::insert(self, new, journal).await
    }

    async fn update_group(
        &self,
        change: &GroupChange,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        groups::update(self, change, expected, journal).await
    }

    async fn delete_group(
        &self,
        tenant: TenantId,
        id: GroupId,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError> {
        groups::delete(self, tenant, id, expected, journal).await
    }

    async fn roles<'a>(
        &self,
        tenant: TenantId,
        q: Option<&'a str>,
        access: &AccessFilter<resource::Role>,
        page: &PageRequest,
    ) -> Result<Page<Role>, StoreError> {
        roles::list(self, tenant, q, access, page).await
    }

    async fn all_roles(&self, tenant: TenantId) -> Result<Vec<Role>, StoreError> {
        roles::all(self, tenant).await
    }

    async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Role, StoreError> {
        roles::get(self, tenant, id).await
    }

    async fn insert_role(&self, role: &Role, journal: &Journal) -> Result<(), StoreError> {
        roles::insert(self, role, journal).await
    }

    async fn update_role(
        &self,
        role: &Role,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        roles::update(self, role, expected, journal).await
    }

    async fn delete_role(
        &self,
        tenant: TenantId,
        id: RoleId,
        expected: Revision,
        journal: &Journal,
    ) -> Result<Change, StoreError> {
        roles::delete(self, tenant, id, expected, journal).await
    }

    async fn grants(
        &self,
        tenant: TenantId,
        filter: &GrantFilter,
        access: &AccessFilter<resource::Grant>,
        page: &PageRequest,
    ) -> Result<Page<GrantRow>, StoreError> {
        grants::list(self, tenant, filter, access, page).await
    }

    async fn role_grants(&self, tenant: TenantId, roles: &[RoleId]) -> Result<Vec<GrantRow>, StoreError> {
        let ids = roles.iter().copied().map(Id::from).collect();
        grants::to_any(self, tenant, PrincipalKind::Role, ids).await
    }

    async fn group_grants(&self, tenant: TenantId, groups: &[GroupId]) -> Result<Vec<GrantRow>, StoreError> {
        let ids = groups.iter().copied().map(Id::from).collect();
        grants::to_any(self, tenant, PrincipalKind::Group, ids).await
    }

    async fn grants_about_one(
        &self,
        after: Option<(TenantId, GrantId)>,
        limit: u32,
    ) -> Result<Vec<GrantRow>, StoreError> {
        selectors::grants_about_one(self, after, limit).await
    }

    async fn lacking_role(&self, name: &str) -> Result<Vec<(TenantId, NameTaken)>, StoreError> {
        roles::lacking(self, name).await
    }

    async fn own_roles(&self) -> Result<Vec<Role>, StoreError> {
        selectors::own_roles(self).await
    }

    async fn respell_grant(
        &self,
        grant: &GrantRow,
        before: &str,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        selectors::respell_grant(self, grant, before, journal).await
    }

    async fn grant(&self, tenant: TenantId, id: GrantId) -> Result<GrantRow, StoreError> {
        grants::get(self, tenant, id).await
    }

    async fn insert_grant(&self, grant: &GrantRow, journal: &Journal) -> Result<(), StoreError> {
        grants::insert(self, grant, journal).await
    }

    async fn delete_grant(&self, tenant: TenantId, id: GrantId, journal: &Journal) -> Result<(), StoreError> {
        grants::delete(self, tenant, id, journal).await
    }
}
