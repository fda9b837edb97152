//! Conversions of rows to and from records.

use heddle_identity::ports::{Factor, SealedFactor};
use heddle_identity::records::{
    ApiToken, ExternalIdentity, GrantPrincipal, GrantRow, Group, GroupRole, InstallationState, MappedRole,
    Membership, Organization, Role, RoleEnds, Session, Throttle, User,
};
use heddle_kernel::{GroupId, Revision, RoleId};
use heddle_store::{At, Error, Id, document};
use uuid::Uuid;

use crate::schema::{
    ExternalIdentityRow, FactorRow, GrantDbRow, GroupRow, InstallationRow, MappedRoleRow, MemberRow,
    OrganizationRow, RoleRow, SessionRow, ThrottleRow, TokenRow, UserRow,
};
use crate::words::{EffectWord, PrincipalKindWord, SecondFactorWord, UserKindWord, UserStateWord};

impl From<&Organization> for OrganizationRow {
    fn from(record: &Organization) -> Self {
        Self {
            id: record.id.into(),
            slug: record.slug.clone(),
            display_name: record.display_name.clone(),
            revision: record.revision.0,
            created_at: record.created_at.into(),
            updated_at: record.updated_at.into(),
            search: format!("{} {}", record.slug, record.display_name).to_lowercase(),
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

impl From<&User> for UserRow {
    fn from(record: &User) -> Self {
        Self {
            id: record.id.into(),
            home_id: record.home.into(),
            kind: UserKindWord(record.kind),
            email: record.email.clone(),
            display_name: record.display_name.clone(),
            password_hash: record.password_hash.clone(),
            state: UserStateWord(record.state),
            password_changed_at: record.password_changed_at.map(At),
            revision: record.revision.0,
            created_at: record.created_at.into(),
            updated_at: record.updated_at.into(),
            search: format!("{} {}", record.email, record.display_name).to_lowercase(),
            totp_enrolled_at: record.totp_enrolled_at.map(At),
        }
    }
}

impl From<UserRow> for User {
    fn from(row: UserRow) -> Self {
        Self {
            id: row.id.into(),
            home: row.home_id.into(),
            kind: row.kind.0,
            email: row.email,
            display_name: row.display_name,
            password_hash: row.password_hash,
            state: row.state.0,
            password_changed_at: row.password_changed_at.map(Into::into),
            totp_enrolled_at: row.totp_enrolled_at.map(Into::into),
            revision: Revision(row.revision),
            created_at: row.created_at.into(),
            updated_at: row.updated_at.into(),
        }
    }
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
    /// The membership with its roles and their ends, and with its groups.
    pub(crate) fn with(
        self,
        mut roles: Vec<RoleId>,
        role_ends: RoleEnds,
        mut groups: Vec<GroupId>,
    ) -> Membership {
        roles.sort_unstable();
        groups.sort_unstable();
        Membership {
            tenant: self.organization_id.into(),
            user_id: self.user_id.into(),
            roles,
            role_ends,
            groups,
            expires_at: self.expires_at.map(Into::into),
            revision: Revision(self.revision),
            created_at: self.created_at.into(),
            updated_at: self.updated_at.into(),
        }
    }
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
            search: format!("{} {}", record.name, record.description.as_deref().unwrap_or_default())
                .to_lowercase(),
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

impl From<&Group> for GroupRow {
    fn from(record: &Group) -> Self {
        Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            name: record.name.clone(),
            description: record.description.clone(),
            revision: record.revision.0,
            created_at: record.created_at.into(),
            updated_at: record.updated_at.into(),
            search: format!("{} {}", record.name, record.description.as_deref().unwrap_or_default())
                .to_lowercase(),
        }
    }
}

impl GroupRow {
    pub(crate) fn with_roles(self, roles: Vec<GroupRole>) -> Group {
        Group {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            name: self.name,
            description: self.description,
            roles,
            revision: Revision(self.revision),
            created_at: self.created_at.into(),
            updated_at: self.updated_at.into(),
        }
    }
}

impl From<&GrantRow> for GrantDbRow {
    fn from(record: &GrantRow) -> Self {
        Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            principal_kind: PrincipalKindWord(record.principal.kind()),
            principal_id: record.principal.id().map(Id),
            resource: record.resource.clone(),
            action: record.action.clone(),
            selector: record.selector.clone(),
            effect: EffectWord(record.effect),
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
            principal: GrantPrincipal::from_parts(row.principal_kind.0, id).ok_or_else(|| {
                Error::Document(format!("a grant to `{}` whose id does not fit", row.principal_kind.0))
            })?,
            resource: row.resource,
            action: row.action,
            selector: row.selector,
            effect: row.effect.0,
            reason: row.reason,
            expires_at: row.expires_at.map(Into::into),
            created_at: row.created_at.into(),
            created_by: row.created_by.into(),
        })
    }
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
            second_factor: record.second_factor.map(SecondFactorWord),
            provider: record.provider.clone(),
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
            second_factor: row.second_factor.map(|word| word.0),
            provider: row.provider,
        }
    }
}

impl ExternalIdentityRow {
    pub(crate) fn of(record: &ExternalIdentity, user: Id, created_at: At) -> Self {
        let ExternalIdentity { provider, issuer, subject } = record.clone();
        Self { provider, issuer, subject, user_id: user, created_at }
    }
}

impl From<ExternalIdentityRow> for ExternalIdentity {
    fn from(row: ExternalIdentityRow) -> Self {
        Self { provider: row.provider, issuer: row.issuer, subject: row.subject }
    }
}

impl From<MappedRoleRow> for MappedRole {
    fn from(row: MappedRoleRow) -> Self {
        Self { tenant: row.organization_id.into(), role: row.role_id.into(), provider: row.provider }
    }
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
            checksum: record.checksum,
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
            checksum: row.checksum,
            created_at: row.created_at.into(),
            last_used_at: row.last_used_at.map(Into::into),
            expires_at: row.expires_at.map(Into::into),
        })
    }
}

impl From<&Factor> for FactorRow {
    fn from(record: &Factor) -> Self {
        Self {
            user_id: record.user.into(),
            key_id: record.sealed.key.clone(),
            sealed: record.sealed.text.clone(),
            last_step: record.last_step,
            begun_at: record.begun_at.into(),
            confirmed_at: record.confirmed_at.map(At),
        }
    }
}

impl From<FactorRow> for Factor {
    fn from(row: FactorRow) -> Self {
        Self {
            user: row.user_id.into(),
            sealed: SealedFactor { key: row.key_id, text: row.sealed },
            last_step: row.last_step,
            begun_at: row.begun_at.into(),
            confirmed_at: row.confirmed_at.map(Into::into),
        }
    }
}

impl ThrottleRow {
    pub(crate) fn of(account_key: &str, record: Throttle) -> Self {
        Self {
            account_key: account_key.to_owned(),
            failures: i64::from(record.failures),
            last_at: record.last_at.into(),
            next_at: record.next_at.into(),
        }
    }
}

impl From<ThrottleRow> for Throttle {
    fn from(row: ThrottleRow) -> Self {
        Self {
            failures: u32::try_from(row.failures).unwrap_or(u32::MAX),
            last_at: row.last_at.into(),
            next_at: row.next_at.into(),
        }
    }
}

/// The installation's row has this key: there is but one.
pub(crate) const ONE: i32 = 1;

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
