//! Organisations, users, members, roles and grants.

mod grants;
mod members;
mod organizations;
mod owners;
mod roles;
mod users;

use async_trait::async_trait;
use heddle_identity::ports::{
    Capped, Change, DirectoryStore, GrantFilter, NewOrganization, NewUser, Tombstone, UserFilter,
};
use heddle_identity::records::{GrantRow, Member, Membership, Organization, Role, User};
use heddle_kernel::{GrantId, Page, PageRequest, Revision, RoleId, TenantId, UserId};
use heddle_policy::Reach;
use heddle_policy::unit::Unit;
use heddle_store::{StoreError, read};

use crate::IdentityStore;
use crate::common::is_buried;

pub(crate) use members::set_bindings;
pub(crate) use organizations::insert_rows as insert_organization_rows;
pub(crate) use users::insert_row as insert_user_row;

/// A page without rows.
fn nothing<T>() -> Page<T> {
    Page { items: Vec::new(), next: None }
}

#[async_trait]
impl DirectoryStore for IdentityStore {
    async fn was_deleted(&self, tenant: TenantId, what: Tombstone) -> Result<bool, StoreError> {
        let (kind, id) = what.parts();
        read!(&self.db, |conn| is_buried(conn, (tenant, kind, id)).await)
    }

    async fn organizations(
        &self,
        user: UserId,
        reach: &Reach,
        page: &PageRequest,
    ) -> Result<Page<Organization>, StoreError> {
        organizations::list(self, user, reach, page).await
    }

    async fn organization(&self, user: UserId, id: TenantId) -> Result<Organization, StoreError> {
        organizations::get(self, user, id).await
    }

    async fn insert_organization(
        &self,
        new: &NewOrganization,
        limit: Option<u64>,
        unit: &Unit,
    ) -> Result<Capped, StoreError> {
        organizations::insert(self, new, limit, unit).await
    }

    async fn update_organization(
        &self,
        organization: &Organization,
        expected: Revision,
        unit: &Unit,
    ) -> Result<(), StoreError> {
        organizations::update(self, organization, expected, unit).await
    }

    async fn delete_organization(
        &self,
        id: TenantId,
        expected: Revision,
        unit: &Unit,
    ) -> Result<Change, StoreError> {
        organizations::delete(self, id, expected, unit).await
    }

    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        reach: &Reach,
        page: &PageRequest,
    ) -> Result<Page<User>, StoreError> {
        users::list(self, tenant, (filter, reach), page).await
    }

    async fn user(&self, tenant: TenantId, id: UserId) -> Result<User, StoreError> {
        users::get(self, tenant, id).await
    }

    async fn insert_user(
        &self,
        new: &NewUser,
        limit: Option<u64>,
        unit: &Unit,
    ) -> Result<Capped, StoreError> {
        users::insert(self, new, limit, unit).await
    }

    async fn update_user(&self, user: &User, expected: Revision, unit: &Unit) -> Result<Change, StoreError> {
        users::update(self, user, expected, unit).await
    }

    async fn delete_user(
        &self,
        home: TenantId,
        id: UserId,
        expected: Revision,
        unit: &Unit,
    ) -> Result<Change, StoreError> {
        users::delete(self, (home, id), expected, unit).await
    }

    async fn members(
        &self,
        tenant: TenantId,
        reach: &Reach,
        page: &PageRequest,
    ) -> Result<Page<Member>, StoreError> {
        members::list(self, tenant, reach, page).await
    }

    async fn member(&self, tenant: TenantId, user: UserId) -> Result<Member, StoreError> {
        members::get(self, tenant, user).await
    }

    async fn set_member(
        &self,
        membership: &Membership,
        expected: Option<Revision>,
        unit: &Unit,
    ) -> Result<Change, StoreError> {
        members::set(self, membership, expected, unit).await
    }

    async fn remove_member(
        &self,
        tenant: TenantId,
        user: UserId,
        expected: Revision,
        unit: &Unit,
    ) -> Result<Change, StoreError> {
        members::remove(self, (tenant, user), expected, unit).await
    }

    async fn roles(
        &self,
        tenant: TenantId,
        reach: &Reach,
        page: &PageRequest,
    ) -> Result<Page<Role>, StoreError> {
        roles::list(self, tenant, reach, page).await
    }

    async fn all_roles(&self, tenant: TenantId) -> Result<Vec<Role>, StoreError> {
        roles::all(self, tenant).await
    }

    async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Role, StoreError> {
        roles::get(self, tenant, id).await
    }

    async fn insert_role(&self, role: &Role, unit: &Unit) -> Result<(), StoreError> {
        roles::insert(self, role, unit).await
    }

    async fn update_role(&self, role: &Role, expected: Revision, unit: &Unit) -> Result<(), StoreError> {
        roles::update(self, role, expected, unit).await
    }

    async fn delete_role(
        &self,
        tenant: TenantId,
        id: RoleId,
        expected: Revision,
        unit: &Unit,
    ) -> Result<Change, StoreError> {
        roles::delete(self, (tenant, id), expected, unit).await
    }

    async fn grants(
        &self,
        tenant: TenantId,
        filter: &GrantFilter,
        reach: &Reach,
        page: &PageRequest,
    ) -> Result<Page<GrantRow>, StoreError> {
        grants::list(self, tenant, (filter, reach), page).await
    }

    async fn grant(&self, tenant: TenantId, id: GrantId) -> Result<GrantRow, StoreError> {
        grants::get(self, tenant, id).await
    }

    async fn insert_grant(&self, grant: &GrantRow, unit: &Unit) -> Result<(), StoreError> {
        grants::insert(self, grant, unit).await
    }

    async fn delete_grant(&self, tenant: TenantId, id: GrantId, unit: &Unit) -> Result<(), StoreError> {
        grants::delete(self, tenant, id, unit).await
    }
}
