//! Stored selectors of grants and of roles' rules: those of before there was one spelling are read once, when the
//! service starts, and what can't be read is named.

use async_trait::async_trait;
use heddle_kernel::{GrantId, Revision, RoleId, TenantId};
use heddle_policy::{ResourceRule, ResourceType, RoleRules, StoredSelector};
use heddle_usecase::{Journal, Outcome, StoreError};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::audit::{Event, system};
use crate::ports::DirectoryStore;
use crate::records::{GrantRow, Role};
use crate::{Identity, UseCaseError};

/// Most grants that are read at once.
const PART: u32 = 500;

/// Finds a thing by the slug that somebody wrote where its id is needed: for the areas that keep such things.
#[async_trait]
pub trait FindBySlug: Send + Sync {
    /// The id of the thing of this kind and slug in an organisation, if there is one.
    async fn find(
        &self,
        tenant: TenantId,
        kind: ResourceType,
        slug: &str,
    ) -> Result<Option<Uuid>, UseCaseError>;
}

/// Place of a rule that can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulePlace {
    /// A grant.
    Grant(GrantId),
    /// A rule of a role.
    Role(RoleId),
}

/// Rule whose selector is no id of its type: as an allow it gives nothing, as a deny it takes all of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The organisation.
    pub tenant: TenantId,
    /// Place of the rule.
    pub place: RulePlace,
    /// The type.
    pub resource: String,
    /// The selector as it is stored.
    pub selector: String,
}

impl Unreadable {
    fn of(tenant: TenantId, place: RulePlace, rule: &ResourceRule) -> Self {
        Self { tenant, place, resource: rule.resource.clone(), selector: rule.selector.clone() }
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place {
            RulePlace::Grant(id) => write!(f, "grant {id}")?,
            RulePlace::Role(id) => write!(f, "a rule of role {id}")?,
        }
        write!(
            f,
            " of organisation {}: {:?} is no id of type `{}`",
            self.tenant, self.selector, self.resource
        )
    }
}

fn is_unreadable(rule: &ResourceRule) -> bool {
    let kind = ResourceType::parse(&rule.resource);
    StoredSelector::read(kind, &rule.selector) == StoredSelector::Unreadable
}

/// The stored rules whose selectors can't be read.
///
/// # Errors
/// `Unavailable`.
pub async fn unreadable_rules(store: &dyn DirectoryStore) -> Result<Vec<Unreadable>, UseCaseError> {
    let mut found = Vec::new();
    for grant in grants_about_one(store).await?.iter().filter(|grant| grant.is_unreadable()) {
        found.push(Unreadable {
            tenant: grant.tenant,
            place: RulePlace::Grant(grant.id),
            resource: grant.resource.clone(),
            selector: grant.selector.clone(),
        });
    }
    for role in store.own_roles().await? {
        let rules = role.rules.resources.iter().filter(|rule| is_unreadable(rule));
        found.extend(rules.map(|rule| Unreadable::of(role.tenant, RulePlace::Role(role.id), rule)));
    }
    Ok(found)
}

async fn grants_about_one(store: &dyn DirectoryStore) -> Result<Vec<GrantRow>, UseCaseError> {
    let mut all = Vec::new();
    loop {
        let last = all.last().map(|grant: &GrantRow| (grant.tenant, grant.id));
        let part = store.grants_about_one(last, PART).await?;
        let is_last = part.len() < PART as usize;
        all.extend(part);
        if is_last {
            return Ok(all);
        }
    }
}

impl Identity {
    /// Reads the selectors that were stored in another spelling than the one of their ids, or as the slug of the thing,
    /// and writes their ids; returns those that stay because nobody can read them. Repeated, it changes nothing.
    ///
    /// # Errors
    /// `Unavailable`; what the finder met.
    pub async fn read_stored_selectors(
        &self,
        finder: &dyn FindBySlug,
    ) -> Result<Vec<Unreadable>, UseCaseError> {
        for grant in
            grants_about_one(&*self.ports.directory).await?.into_iter().filter(GrantRow::is_unreadable)
        {
            if let Some(id) = spelled(finder, grant.tenant, &grant.resource, &grant.selector).await? {
                self.respell_grant(grant, id).await?;
            }
        }
        for role in self.ports.directory.own_roles().await? {
            if role.rules.resources.iter().any(is_unreadable) {
                self.respell_role(finder, role).await?;
            }
        }
        unreadable_rules(&*self.ports.directory).await
    }

    async fn respell_grant(&self, grant: GrantRow, selector: String) -> Result<(), UseCaseError> {
        let before = grant.selector.clone();
        let details = json!({ "resourceType": grant.resource, "before": before, "resourceId": selector });
        let journal = self.respelled(grant.tenant, RulePlace::Grant(grant.id), details);
        let written =
            self.ports.directory.respell_grant(&GrantRow { selector, ..grant }, &before, &journal).await;
        unless_changed(written)
    }

    async fn respell_role(&self, finder: &dyn FindBySlug, role: Role) -> Result<(), UseCaseError> {
        let mut resources = role.rules.resources.clone();
        let mut changes = Vec::new();
        for rule in resources.iter_mut().filter(|rule| is_unreadable(rule)) {
            if let Some(id) = spelled(finder, role.tenant, &rule.resource, &rule.selector).await? {
                changes.push(
                    json!({ "resourceType": rule.resource, "before": rule.selector, "resourceId": id }),
                );
                rule.selector = id;
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        let expected: Revision = role.revision;
        let place = RulePlace::Role(role.id);
        let journal = self.respelled(role.tenant, place, json!({ "rules": changes }));
        let role = Role {
            rules: RoleRules { resources, ..role.rules },
            revision: expected.next(),
            updated_at: self.tools.clock.now(),
            ..role
        };
        unless_changed(self.ports.directory.update_role(&role, expected, &journal).await)
    }

    fn respelled(&self, tenant: TenantId, place: RulePlace, details: Value) -> Journal {
        let (action, kind, id) = match place {
            RulePlace::Grant(id) => ("grant.selector_read", "grant", id.to_string()),
            RulePlace::Role(id) => ("role.selector_read", "role", id.to_string()),
        };
        let event = Event {
            tenant: Some(tenant),
            actor: system(),
            action,
            resource: (kind, Some(id)),
            outcome: Outcome::Succeeded,
            details,
        };
        self.journal(&self.own_request(), event)
    }
}

/// The canonical text of a selector; none when it is no id in any spelling, nor a slug of a thing of its type.
async fn spelled(
    finder: &dyn FindBySlug,
    tenant: TenantId,
    resource: &str,
    selector: &str,
) -> Result<Option<String>, UseCaseError> {
    let kind = ResourceType::parse(resource);
    if let Some(text) = StoredSelector::respelled(kind, selector) {
        return Ok(Some(text));
    }
    let Some(kind) = kind else { return Ok(None) };
    Ok(finder.find(tenant, kind, selector.trim()).await?.map(|id| id.hyphenated().to_string()))
}

/// Another node was faster, or a change would lock everybody out: what is stored stays, and is named.
fn unless_changed(written: Result<(), StoreError>) -> Result<(), UseCaseError> {
    match written {
        Ok(()) | Err(StoreError::Stale | StoreError::NotFound | StoreError::LockOut) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
