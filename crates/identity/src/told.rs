//! Members by which audit events tell changes. Names and addresses of people are compared and not shown; passwords and
//! tokens are told by the instant of their change.

use heddle_usecase::{AuditView, Audited, canonical_sha256};
use serde::Serialize;

use crate::api_tokens::CreatedToken;
use crate::licensing::LicenceReport;
use crate::records::{ApiToken, GrantRow, Membership, Organization, Role, User};

impl Audited for User {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("state", self.state)
            .hidden("email", &self.email)
            .hidden("displayName", &self.display_name)
            .shown("passwordChangedAt", self.password_changed_at)
            .shown("revision", self.revision)
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
        AuditView::default()
            .shown("roles", roles)
            .shown("expiresAt", self.expires_at)
            .shown("revision", self.revision)
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

impl Audited for CreatedToken {
    fn view(&self) -> AuditView {
        self.record.view()
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
