//! Members by which audit events tell changes. Names and addresses of people are compared and not shown; passwords and
//! tokens are told by the instant of their change.

use std::collections::BTreeMap;

use heddle_kernel::{Revision, Timestamp};
use heddle_usecase::{AuditView, Audited, canonical_sha256};
use serde::Serialize;

use crate::licensing::LicenceReport;
use crate::records::{
    ApiToken, ExternalIdentity, GrantRow, Group, GroupRole, Membership, Organization, Role, User,
};

impl Audited for User {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("state", self.state)
            .hidden("email", &self.email)
            .hidden("displayName", &self.display_name)
            .shown("passwordChangedAt", self.password_changed_at)
            .shown("kind", self.kind)
            .hidden("secondFactor", self.totp_enrolled_at)
            .shown("revision", self.revision)
    }
}

/// Second factor of an account, with the recovery codes that stand in for its codes: as far as a change of it is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToldFactor<'a> {
    /// Instant of the enrolment.
    pub(crate) enrolled_at: Option<Timestamp>,
    /// The account's revision.
    pub(crate) revision: Revision,
    /// SHA-256 of the recovery codes that come or go, as far as they are known.
    pub(crate) recovery_codes: &'a [String],
}

impl Audited for ToldFactor<'_> {
    fn view(&self) -> AuditView {
        AuditView::default()
            .hidden("secondFactor", self.enrolled_at)
            .hidden("recoveryCodes", self.recovery_codes)
            .shown("revision", self.revision)
    }
}

/// Recovery code that a sign-in used up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UsedRecoveryCode<'a>(pub(crate) &'a str);

impl Audited for UsedRecoveryCode<'_> {
    fn view(&self) -> AuditView {
        AuditView::default().hidden("recoveryCode", self.0)
    }
}

impl Audited for Organization {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("slug", &self.slug)
            .shown("displayName", &self.display_name)
            .shown("revision", self.revision)
    }
}

impl Audited for Membership {
    fn view(&self) -> AuditView {
        let mut roles: Vec<String> = self.roles.iter().map(ToString::to_string).collect();
        roles.sort_unstable();
        let mut groups: Vec<String> = self.groups.iter().map(ToString::to_string).collect();
        groups.sort_unstable();
        // An end of a role that is not among them ends nothing.
        let ends = self.role_ends.iter().filter(|(role, _)| self.roles.contains(role));
        let ends: BTreeMap<String, Timestamp> = ends.map(|(role, end)| (role.to_string(), *end)).collect();
        AuditView::default()
            .shown("roles", roles)
            .shown("roleEnds", ends)
            .shown("groups", groups)
            .shown("expiresAt", self.expires_at)
            .shown("revision", self.revision)
    }
}

impl Audited for Group {
    fn view(&self) -> AuditView {
        let mut roles: Vec<String> = self.roles.iter().map(|role| role.id.to_string()).collect();
        roles.sort_unstable();
        let end = |role: &GroupRole| role.expires_at.map(|end| (role.id.to_string(), end));
        let ends: BTreeMap<String, Timestamp> = self.roles.iter().filter_map(end).collect();
        AuditView::default()
            .shown("name", &self.name)
            .shown("description", &self.description)
            .shown("roles", roles)
            .shown("roleEnds", ends)
            .shown("revision", self.revision)
    }
}

impl Audited for ExternalIdentity {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("provider", &self.provider)
            .shown("issuer", &self.issuer)
            .shown("subject", &self.subject)
    }
}

impl Audited for Role {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("name", &self.name)
            .shown("description", &self.description)
            .shown("permissions", self.rules.permissions.words())
            .shown("deniedPermissions", &self.rules.denied_permissions)
            .shown("grantsHash", digest(&self.rules.resources))
            .shown("revision", self.revision)
    }
}

impl Audited for GrantRow {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("principal", self.principal.kind())
            .shown("principalId", self.principal.id())
            .shown("resourceType", &self.resource)
            .shown("action", &self.action)
            .shown("resourceId", &self.selector)
            .shown("effect", self.effect.as_str())
            .shown("reason", &self.reason)
            .shown("expiresAt", self.expires_at)
    }
}

impl Audited for ApiToken {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("name", &self.name)
            .shown("organizationId", self.tenant)
            .shown("permissions", &self.permissions)
            .shown("expiresAt", self.expires_at)
    }
}

impl Audited for LicenceReport {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("state", self.licence.state.as_str())
            .shown("trialAvailable", self.trial_available)
            .shown("revision", self.revision)
    }
}

/// Digest of what may be long.
fn digest(value: &impl Serialize) -> String {
    canonical_sha256(&serde_json::to_value(value).unwrap_or_default())
}
