//! Roles that an organisation makes for itself. The system roles are everybody's and nobody changes them.

use heddle_kernel::{Page, PageRequest, Patch, Revision, RoleId};
use heddle_policy::capability::{RoleCreate, RoleDelete, RoleList, RoleRead, RoleUpdate};
use heddle_policy::{
    Authorized, AuthorizedKind, AuthorizedList, Effect, PermissionSet, RequestContext, ResourceRule,
    RoleRules, system_roles,
};
use heddle_usecase::Journal;

use crate::ports::Tombstone;
use crate::records::Role;
use crate::rights::{Given, changed, covers, covers_owner, lifts, resting, seen_here};
use crate::{Identity, JournalFor, UseCaseError, validate};
use heddle_usecase::Problems;
use heddle_usecase::check_revision;

/// A role to create.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewRole {
    /// Name of the role: 1 to 100 characters, unique in the organisation.
    pub name: String,
    /// Purpose of the role: at most 1,000 characters.
    pub description: Option<String>,
    /// Permissions that it gives and takes.
    pub rules: RoleRules,
}

/// Changes to a role.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchRole {
    /// A new name.
    pub name: Option<String>,
    /// Another description.
    pub description: Patch<String>,
    /// Other permissions.
    pub permissions: Option<PermissionSet>,
    /// Other permissions that it takes.
    pub denied_permissions: Option<Vec<String>>,
    /// Other rules about resources.
    pub resources: Option<Vec<ResourceRule>>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

fn check(name: &str, description: Option<&str>, rules: &RoleRules) -> Result<(), UseCaseError> {
    let mut problems = Problems::default();
    heddle_usecase::name(&mut problems, "name", name, 100);
    heddle_usecase::text(&mut problems, "description", description, 1000);
    validate::permission_set(&mut problems, "permissions", &rules.permissions);
    validate::permissions(&mut problems, "deniedPermissions", &rules.denied_permissions);
    for (at, rule) in rules.resources.iter().enumerate() {
        validate::rule(&mut problems, &format!("grants[{at}]"), rule);
    }
    if rules.resources.len() > 500 {
        problems.add("grants", "tooMany", "At most 500.");
    }
    problems.finish()?;
    if system_roles::find(name).is_some() {
        return Err(UseCaseError::not_unique("name", format!("A system role has the name `{name}`.")));
    }
    Ok(())
}

fn system_role() -> UseCaseError {
    UseCaseError::conflict("systemRole", "System roles are not changed; make a role of your own.")
}

/// Rules that give beyond others.
fn beyond(rules: &RoleRules, others: &RoleRules) -> RoleRules {
    let names = rules.permissions.names().map(heddle_policy::Permission::as_str);
    let more: Vec<&str> = names.filter(|name| !others.permissions.contains(name)).collect();
    let resources = rules.resources.iter().filter(|rule| !others.resources.contains(rule));
    RoleRules {
        permissions: PermissionSet::of(&more),
        denied_permissions: Vec::new(),
        resources: resources.cloned().collect(),
    }
}

/// Whether the rules take anything.
fn takes(rules: &RoleRules) -> bool {
    !rules.denied_permissions.is_empty() || rules.resources.iter().any(|rule| rule.effect == Effect::Deny)
}

impl Identity {
    /// The roles of the organisation; with `q` those whose name or description has it.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn roles(
        &self,
        authorized: &AuthorizedList<RoleList>,
        context: &RequestContext,
        q: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<Role>, UseCaseError> {
        Ok(self.ports.directory.roles(context.tenant(), q, authorized.filter(), page).await?)
    }

    /// A role.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn role(
        &self,
        authorized: &Authorized<RoleRead>,
        context: &RequestContext,
    ) -> Result<Role, UseCaseError> {
        let id = authorized.id();
        Ok(self.ports.directory.role(context.tenant(), id).await?)
    }

    /// Creates a role.
    ///
    /// # Errors
    /// `Invalid`; `Conflict` (`notUnique`); `Forbidden` (`exceedsOwnRights`).
    pub async fn create_role(
        &self,
        _: &AuthorizedKind<RoleCreate>,
        context: &RequestContext,
        new: NewRole,
        record: &JournalFor<'_, Role>,
    ) -> Result<Role, UseCaseError> {
        check(&new.name, new.description.as_deref(), &new.rules)?;
        covers(context, &new.rules)?;
        let role = Role {
            tenant: context.tenant(),
            id: RoleId(self.new_id(context.now())),
            name: new.name,
            description: new.description,
            system: false,
            rules: new.rules,
            revision: Revision::FIRST,
            created_at: context.now(),
            updated_at: context.now(),
        };
        let journal = record(&role).changing(None, Some(&role));
        let done = self.ports.directory.insert_role(&role, &journal).await;
        done.map_err(|error| validate::name_taken(error, &role.name))?;
        Ok(role)
    }

    /// Changes a role. Nobody takes from it what they do not have, or lifts a deny that holds themselves back, or gives
    /// it something that they have for a time only.
    /// Whoever makes a role take more must be as strong as an owner, for owners may have the role.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`; `Conflict` (`systemRole`, `notUnique`, `lockOut`, `revisionMismatch`); `Forbidden`
    /// (`exceedsOwnRights`).
    pub async fn update_role(
        &self,
        authorized: &Authorized<RoleUpdate>,
        context: &RequestContext,
        patch: PatchRole,
        record: &JournalFor<'_, Role>,
    ) -> Result<Role, UseCaseError> {
        let id = authorized.id();
        let mut role = self.ports.directory.role(context.tenant(), id).await?;
        if role.system {
            return Err(system_role());
        }
        let (seen, before, whole) = (role.revision, role.rules.clone(), role.clone());
        check_revision(patch.revision, seen)?;
        role.name = patch.name.unwrap_or(role.name);
        role.description = patch.description.apply_to(role.description);
        role.rules = RoleRules {
            permissions: patch.permissions.unwrap_or(role.rules.permissions),
            denied_permissions: patch.denied_permissions.unwrap_or(role.rules.denied_permissions),
            resources: patch.resources.unwrap_or(role.rules.resources),
        };
        check(&role.name, role.description.as_deref(), &role.rules)?;
        covers(context, &role.rules)?;
        if role.rules != before {
            // Who has the role loses what it gave.
            covers(context, &before)?;
            lifts(context, &before)?;
            if takes(&role.rules) {
                covers_owner(context)?;
            }
            self.gives(context, &[Given::for_good(beyond(&role.rules, &before))]).await?;
        }
        if role == whole {
            return Ok(role);
        }
        role.revision = seen.next();
        role.updated_at = context.now();
        let journal = resting(record(&role), seen_here(context)).changing(Some(&whole), Some(&role));
        let done = self.ports.directory.update_role(&role, seen, &journal).await;
        done.map_err(|error| validate::name_taken(error, &role.name))?;
        Ok(role)
    }

    /// Deletes a role that no member and no group has.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`systemRole`, `inUse`, `revisionMismatch`); `Forbidden` (`exceedsOwnRights`).
    pub async fn delete_role(
        &self,
        authorized: &Authorized<RoleDelete>,
        context: &RequestContext,
        revision: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let id = authorized.id();
        let role = match self.ports.directory.role(context.tenant(), id).await {
            Ok(role) => role,
            Err(heddle_usecase::StoreError::NotFound) => {
                return self.gone(context, Tombstone::Role(id)).await;
            }
            Err(error) => return Err(error.into()),
        };
        if role.system {
            return Err(system_role());
        }
        check_revision(revision, role.revision)?;
        self.lifts_roles(context, std::slice::from_ref(&role)).await?;
        let journal = resting(journal.clone(), seen_here(context)).changing(Some(&role), None);
        changed(self.ports.directory.delete_role(context.tenant(), id, role.revision, &journal).await?)
    }
}
