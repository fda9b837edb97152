//! The rows, and how they become records.

use crate::schema::{api_tokens, grants, installation, members, organizations, roles, sessions, users};
use diesel::{AsChangeset, Insertable, Queryable, Selectable};
use heddle_identity::records::{
    ApiToken, GrantPrincipal, GrantRow, InstallationState, Membership, Organization, Role, Session, User,
    UserState,
};
use heddle_kernel::{Revision, RoleId};
use heddle_policy::Effect;
use heddle_store::{At, Error, Id, document};
use uuid::Uuid;

fn unknown(what: &str, word: &str) -> Error {
    Error::Document(format!("`{word}` is no {what}"))
}

#[derive(Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = organizations)]
pub(crate) struct OrganizationRow {
    pub(crate) id: Id,
    pub(crate) slug: String,
    pub(crate) display_name: String,
    pub(crate) revision: i64,
    pub(crate) created_at: At,
    pub(crate) updated_at: At,
}

impl From<&Organization> for OrganizationRow {
    fn from(record: &Organization) -> Self {
        Self {
            id: record.id.into(),
            slug: record.slug.clone(),
            display_name: record.display_name.clone(),
            revision: record.revision.0,
            created_at: record.created_at.into(),
            updated_at: record.updated_at.into(),
        }
    }
}

impl From<OrganizationRow> for Organization {
    fn from(row: OrganizationRow) -> Self {
        Self {
            id: row.id.into(),
            slug: row.slug,
            display_name: row.display_name,
            revision: Revision(row.revision),
            created_at: row.created_at.into(),
            updated_at: row.updated_at.into(),
        }
    }
}

#[derive(Debug, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = users, treat_none_as_null = true)]
pub(crate) struct UserRow {
    pub(crate) id: Id,
    pub(crate) home_id: Id,
    pub(crate) email: String,
    pub(crate) display_name: String,
    pub(crate) password_hash: Option<String>,
    pub(crate) state: String,
    pub(crate) password_changed_at: Option<At>,
    pub(crate) revision: i64,
    pub(crate) created_at: At,
    pub(crate) updated_at: At,
    pub(crate) search: String,
}

impl From<&User> for UserRow {
    fn from(record: &User) -> Self {
        Self {
            id: record.id.into(),
            home_id: record.home.into(),
            email: record.email.clone(),
            display_name: record.display_name.clone(),
            password_hash: record.password_hash.clone(),
            state: record.state.as_str().to_owned(),
            password_changed_at: record.password_changed_at.map(At),
            revision: record.revision.0,
            created_at: record.created_at.into(),
            updated_at: record.updated_at.into(),
            search: format!("{} {}", record.email, record.display_name).to_lowercase(),
        }
    }
}

impl TryFrom<UserRow> for User {
    type Error = Error;

    fn try_from(row: UserRow) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            home: row.home_id.into(),
            email: row.email,
            display_name: row.display_name,
            password_hash: row.password_hash,
            state: user_state(&row.state)?,
            password_changed_at: row.password_changed_at.map(Into::into),
            revision: Revision(row.revision),
            created_at: row.created_at.into(),
            updated_at: row.updated_at.into(),
        })
    }
}

pub(crate) fn user_state(word: &str) -> Result<UserState, Error> {
    UserState::from_word(word).ok_or_else(|| unknown("state of an account", word))
}

#[derive(Debug, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = members, treat_none_as_null = true)]
pub(crate) struct MemberRow {
    pub(crate) organization_id: Id,
    pub(crate) user_id: Id,
    pub(crate) expires_at: Option<At>,
    pub(crate) revision: i64,
    pub(crate) created_at: At,
    pub(crate) updated_at: At,
}

impl From<&Membership> for MemberRow {
    fn from(record: &Membership) -> Self {
        Self {
            organization_id: record.tenant.into(),
            user_id: record.user_id.into(),
            expires_at: record.expires_at.map(At),
            revision: record.revision.0,
            created_at: record.created_at.into(),
            updated_at: record.updated_at.into(),
        }
    }
}

impl MemberRow {
    pub(crate) fn with_roles(self, mut roles: Vec<RoleId>) -> Membership {
        roles.sort_unstable();
        Membership {
            tenant: self.organization_id.into(),
            user_id: self.user_id.into(),
            roles,
            expires_at: self.expires_at.map(Into::into),
            revision: Revision(self.revision),
            created_at: self.created_at.into(),
            updated_at: self.updated_at.into(),
        }
    }
}

#[derive(Debug, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = roles, treat_none_as_null = true)]
pub(crate) struct RoleRow {
    pub(crate) organization_id: Id,
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) system: bool,
    pub(crate) rules: Vec<u8>,
    pub(crate) revision: i64,
    pub(crate) created_at: At,
    pub(crate) updated_at: At,
}

impl TryFrom<&Role> for RoleRow {
    type Error = Error;

    fn try_from(record: &Role) -> Result<Self, Error> {
        Ok(Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            name: record.name.clone(),
            description: record.description.clone(),
            system: record.system,
            rules: document::encode(&record.rules)?,
            revision: record.revision.0,
            created_at: record.created_at.into(),
            updated_at: record.updated_at.into(),
        })
    }
}

impl TryFrom<RoleRow> for Role {
    type Error = Error;

    fn try_from(row: RoleRow) -> Result<Self, Error> {
        Ok(Self {
            tenant: row.organization_id.into(),
            id: row.id.into(),
            name: row.name,
            description: row.description,
            system: row.system,
            rules: document::decode(&row.rules)?,
            revision: Revision(row.revision),
            created_at: row.created_at.into(),
            updated_at: row.updated_at.into(),
        })
    }
}

#[derive(Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = grants)]
pub(crate) struct GrantDbRow {
    pub(crate) organization_id: Id,
    pub(crate) id: Id,
    pub(crate) principal_kind: String,
    pub(crate) principal_id: Option<Id>,
    pub(crate) resource: String,
    pub(crate) action: String,
    pub(crate) selector: String,
    pub(crate) effect: String,
    pub(crate) reason: Option<String>,
    pub(crate) expires_at: Option<At>,
    pub(crate) created_at: At,
    pub(crate) created_by: Id,
}

impl From<&GrantRow> for GrantDbRow {
    fn from(record: &GrantRow) -> Self {
        Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            principal_kind: record.principal.kind().to_owned(),
            principal_id: record.principal.id().map(Id),
            resource: record.resource.clone(),
            action: record.action.clone(),
            selector: record.selector.clone(),
            effect: record.effect.as_str().to_owned(),
            reason: record.reason.clone(),
            expires_at: record.expires_at.map(At),
            created_at: record.created_at.into(),
            created_by: record.created_by.into(),
        }
    }
}

impl TryFrom<GrantDbRow> for GrantRow {
    type Error = Error;

    fn try_from(row: GrantDbRow) -> Result<Self, Error> {
        let id = row.principal_id.map(Uuid::from);
        Ok(Self {
            tenant: row.organization_id.into(),
            id: row.id.into(),
            principal: GrantPrincipal::from_parts(&row.principal_kind, id)
                .ok_or_else(|| unknown("principal", &row.principal_kind))?,
            resource: row.resource,
            action: row.action,
            selector: row.selector,
            effect: Effect::from_word(&row.effect).ok_or_else(|| unknown("effect", &row.effect))?,
            reason: row.reason,
            expires_at: row.expires_at.map(Into::into),
            created_at: row.created_at.into(),
            created_by: row.created_by.into(),
        })
    }
}

#[derive(Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = sessions)]
pub(crate) struct SessionRow {
    pub(crate) id: Id,
    pub(crate) user_id: Id,
    pub(crate) organization_id: Id,
    pub(crate) token_sha256: String,
    pub(crate) created_at: At,
    pub(crate) last_seen_at: At,
    pub(crate) expires_at: At,
    pub(crate) client_ip: Option<String>,
    pub(crate) user_agent: Option<String>,
}

impl From<&Session> for SessionRow {
    fn from(record: &Session) -> Self {
        Self {
            id: record.id.into(),
            user_id: record.user_id.into(),
            organization_id: record.tenant.into(),
            token_sha256: record.token_sha256.clone(),
            created_at: record.created_at.into(),
            last_seen_at: record.last_seen_at.into(),
            expires_at: record.expires_at.into(),
            client_ip: record.client_ip.clone(),
            user_agent: record.user_agent.clone(),
        }
    }
}

impl From<SessionRow> for Session {
    fn from(row: SessionRow) -> Self {
        Self {
            id: row.id.into(),
            user_id: row.user_id.into(),
            tenant: row.organization_id.into(),
            token_sha256: row.token_sha256,
            created_at: row.created_at.into(),
            last_seen_at: row.last_seen_at.into(),
            expires_at: row.expires_at.into(),
            client_ip: row.client_ip,
            user_agent: row.user_agent,
        }
    }
}

#[derive(Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = api_tokens)]
pub(crate) struct TokenRow {
    pub(crate) id: Id,
    pub(crate) user_id: Id,
    pub(crate) organization_id: Option<Id>,
    pub(crate) name: String,
    pub(crate) token_sha256: String,
    pub(crate) hint: String,
    pub(crate) permissions: Option<Vec<u8>>,
    pub(crate) created_at: At,
    pub(crate) last_used_at: Option<At>,
    pub(crate) expires_at: Option<At>,
}

impl TryFrom<&ApiToken> for TokenRow {
    type Error = Error;

    fn try_from(record: &ApiToken) -> Result<Self, Error> {
        Ok(Self {
            organization_id: record.tenant.map(Id::from),
            id: record.id.into(),
            user_id: record.user_id.into(),
            name: record.name.clone(),
            token_sha256: record.token_sha256.clone(),
            hint: record.hint.clone(),
            permissions: record.permissions.as_ref().map(document::encode).transpose()?,
            created_at: record.created_at.into(),
            last_used_at: record.last_used_at.map(At),
            expires_at: record.expires_at.map(At),
        })
    }
}

impl TryFrom<TokenRow> for ApiToken {
    type Error = Error;

    fn try_from(row: TokenRow) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            user_id: row.user_id.into(),
            tenant: row.organization_id.map(Into::into),
            name: row.name,
            token_sha256: row.token_sha256,
            hint: row.hint,
            permissions: row.permissions.as_deref().map(document::decode).transpose()?,
            created_at: row.created_at.into(),
            last_used_at: row.last_used_at.map(Into::into),
            expires_at: row.expires_at.map(Into::into),
        })
    }
}

/// The installation's row has this key: there is but one.
pub(crate) const ONE: i32 = 1;

#[derive(Debug, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = installation, treat_none_as_null = true)]
pub(crate) struct InstallationRow {
    pub(crate) one: i32,
    pub(crate) installation_id: String,
    pub(crate) setup_token_sha256: Option<String>,
    pub(crate) setup_expires_at: Option<At>,
    pub(crate) set_up_at: Option<At>,
    pub(crate) licence: Option<String>,
    pub(crate) licence_installed_at: Option<At>,
    pub(crate) trial_started_at: Option<At>,
    pub(crate) revoked: Vec<u8>,
    pub(crate) high_water_mark: At,
    pub(crate) seal: String,
    pub(crate) revision: i64,
    pub(crate) created_at: At,
}

impl TryFrom<&InstallationState> for InstallationRow {
    type Error = Error;

    fn try_from(record: &InstallationState) -> Result<Self, Error> {
        Ok(Self {
            one: ONE,
            installation_id: record.installation_id.clone(),
            setup_token_sha256: record.setup_token_sha256.clone(),
            setup_expires_at: record.setup_expires_at.map(At),
            set_up_at: record.set_up_at.map(At),
            licence: record.licence.clone(),
            licence_installed_at: record.licence_installed_at.map(At),
            trial_started_at: record.trial_started_at.map(At),
            revoked: document::encode(&record.revoked)?,
            high_water_mark: record.high_water_mark.into(),
            seal: record.seal.clone(),
            revision: record.revision.0,
            created_at: record.created_at.into(),
        })
    }
}

impl TryFrom<InstallationRow> for InstallationState {
    type Error = Error;

    fn try_from(row: InstallationRow) -> Result<Self, Error> {
        Ok(Self {
            installation_id: row.installation_id,
            setup_token_sha256: row.setup_token_sha256,
            setup_expires_at: row.setup_expires_at.map(Into::into),
            set_up_at: row.set_up_at.map(Into::into),
            licence: row.licence,
            licence_installed_at: row.licence_installed_at.map(Into::into),
            trial_started_at: row.trial_started_at.map(Into::into),
            revoked: document::decode(&row.revoked)?,
            high_water_mark: row.high_water_mark.into(),
            seal: row.seal,
            revision: Revision(row.revision),
            created_at: row.created_at.into(),
        })
    }
}
