//! Groups of members: what a group has, all its members have. Groups hold no groups.

use heddle_kernel::{GroupId, Page, PageRequest, Patch, Revision, UserId};
use heddle_policy::capability::{GroupCreate, GroupDelete, GroupList, GroupRead, GroupUpdate};
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, RequestContext, system_roles};
use heddle_usecase::{Journal, Problems, StoreError, check_revision};

use crate::members::{RoleExpiry, ends_of};
use crate::ports::{GroupChange, Tombstone};
use crate::records::{Group, GroupRole, Role, RoleEnds};
use crate::rights::{Bindings, changed, in_full, is_in, resting, seen_here};
use crate::{Identity, JournalFor, UseCaseError, validate};

/// Most members that one change lets come or go.
const MOST_AT_ONCE: usize = 200;

/// A group to create.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewGroup {
    /// Name of the group: 1 to 100 characters, unique among the groups and roles of the organisation.
    pub name: String,
    /// Purpose of the group: at most 1,000 characters.
    pub description: Option<String>,
    /// Roles that its members have by it: ids or names.
    pub roles: Vec<String>,
    /// Ends of some of these roles; the others are for good.
    pub role_expiries: Vec<RoleExpiry>,
    /// Members of the organisation who are in it.
    pub members: Vec<UserId>,
}

/// Changes to a group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchGroup {
    /// A new name.
    pub name: Option<String>,
    /// Another description.
    pub description: Patch<String>,
    /// All roles: ids or names; kept as they are when absent.
    pub roles: Option<Vec<String>>,
    /// Ends of some of its roles. A role that is not named keeps the end that it has; a new one is for good.
    pub role_expiries: Vec<RoleExpiry>,
    /// Members of the organisation who come into it.
    pub added: Vec<UserId>,
    /// Members who leave it.
    pub removed: Vec<UserId>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

fn check(name: &str, description: Option<&str>) -> Result<(), UseCaseError> {
    let mut problems = Problems::default();
    heddle_usecase::name(&mut problems, "name", name, 100);
    heddle_usecase::text(&mut problems, "description", description, 1000);
    if uuid::Uuid::try_parse(name.trim()).is_ok() {
        // A human task may name a role or a group by its id.
        problems.add("name", "notAllowed", "A name, not an id.");
    }
    problems.finish()?;
    if system_roles::find(name).is_some() {
        return Err(UseCaseError::not_unique("name", format!("A system role has the name `{name}`.")));
    }
    Ok(())
}

/// The users, each once.
fn each_once(field: &str, users: Vec<UserId>) -> Result<Vec<UserId>, UseCaseError> {
    if users.len() > MOST_AT_ONCE {
        return Err(UseCaseError::invalid(field, "tooMany", format!("At most {MOST_AT_ONCE}.")));
    }
    let mut users = users;
    users.sort_unstable();
    users.dedup();
    Ok(users)
}

fn bindings_of(roles: &[GroupRole]) -> Bindings {
    Bindings { roles: roles.iter().map(|role| role.id).collect(), ends: ends_in(roles) }
}

fn ends_in(roles: &[GroupRole]) -> RoleEnds {
    roles.iter().filter_map(|role| role.expires_at.map(|end| (role.id, end))).collect()
}

/// Roles with their ends, by name.
fn group_roles(roles: Vec<Role>, ends: &RoleEnds) -> Vec<GroupRole> {
    let with_end =
        |role: Role| GroupRole { expires_at: ends.get(&role.id).copied(), id: role.id, name: role.name };
    let mut roles: Vec<GroupRole> = roles.into_iter().map(with_end).collect();
    roles.sort_by(|one, other| one.name.cmp(&other.name));
    roles
}

/// The store's error of a change of a group, in which a role or a member is gone meanwhile, or the name is taken.
fn written(result: Result<(), StoreError>, field: &str, group: &Group) -> Result<(), UseCaseError> {
    match result {
        Err(StoreError::NotFound) => {
            Err(UseCaseError::invalid(field, "notFound", "A role or a member is no longer there."))
        }
        other => other.map_err(|error| validate::name_taken(error, &group.name)),
    }
}

impl Identity {
    /// The groups of the organisation; with `q` those whose name or description has it.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn groups(
        &self,
        authorized: &AuthorizedList<GroupList>,
        context: &RequestContext,
        q: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<Group>, UseCaseError> {
        Ok(self.ports.directory.groups(context.tenant(), q, authorized.filter(), page).await?)
    }

    /// A group.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn group(
        &self,
        authorized: &Authorized<GroupRead>,
        context: &RequestContext,
    ) -> Result<Group, UseCaseError> {
        Ok(self.ports.directory.group(context.tenant(), authorized.id()).await?)
    }

    /// Creates a group. Nobody gives it a role that has more than they, and nobody puts somebody into it who has more.
    ///
    /// # Errors
    /// `Invalid`; `Conflict` (`notUnique`, `lockOut`); `Forbidden` (`exceedsOwnRights`, `outlastsOwnRights`, `limitedToken`).
    pub async fn create_group(
        &self,
        _: &AuthorizedKind<GroupCreate>,
        context: &RequestContext,
        new: NewGroup,
        record: &JournalFor<'_, Group>,
    ) -> Result<Group, UseCaseError> {
        check(&new.name, new.description.as_deref())?;
        let members = each_once("members", new.members)?;
        let roles = self.named_roles(context, &new.roles).await?;
        let ends = ends_of(&roles, &new.role_expiries, &RoleEnds::new(), context.now())?;
        self.gives_roles(context, &roles, &ends, None).await?;
        let group = Group {
            tenant: context.tenant(),
            id: GroupId(self.new_id(context.now())),
            name: new.name,
            description: new.description,
            roles: group_roles(roles, &ends),
            revision: Revision::FIRST,
            created_at: context.now(),
            updated_at: context.now(),
        };
        self.may_come(context, "members", &group, &members).await?;
        let journal = resting(record(&group), seen_here(context)).changing(None, Some(&group));
        let change = GroupChange { group: group.clone(), added: members, removed: Vec::new() };
        written(self.ports.directory.insert_group(&change, &journal).await, "members", &group)?;
        Ok(group)
    }

    /// Checks that the caller may let these come into a group: they have no more than the caller, and the group gives no
    /// more than the caller has.
    async fn may_come(
        &self,
        context: &RequestContext,
        field: &str,
        group: &Group,
        users: &[UserId],
    ) -> Result<(), UseCaseError> {
        if users.is_empty() {
            return Ok(());
        }
        let mut problems = Problems::default();
        // Whoever belongs to the organisation longest has longest what the group gives.
        let mut ends = Vec::new();
        for user in users {
            match self.ports.directory.member(context.tenant(), *user).await {
                Ok(member) => ends.push(member.membership.expires_at),
                Err(StoreError::NotFound) => {
                    problems.add(field, "notFound", format!("There is no member `{user}`."));
                }
                Err(error) => return Err(error.into()),
            }
        }
        problems.finish()?;
        for user in users {
            self.outranks(context, *user).await?;
        }
        let last = if ends.contains(&None) { None } else { ends.into_iter().flatten().max() };
        self.gives_groups(context, std::slice::from_ref(group), last).await
    }

    /// Changes a group: its roles, and who is in it. Nobody gives or takes what they do not have, changes what somebody
    /// has who has more, lifts a deny that holds themselves back, or gives something for longer than they have it.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`; `Conflict` (`notUnique`, `lockOut`, `revisionMismatch`); `Forbidden` (`exceedsOwnRights`,
    /// `outlastsOwnRights`, `limitedToken`).
    pub async fn update_group(
        &self,
        authorized: &Authorized<GroupUpdate>,
        context: &RequestContext,
        patch: PatchGroup,
        record: &JournalFor<'_, Group>,
    ) -> Result<Group, UseCaseError> {
        let before = self.ports.directory.group(context.tenant(), authorized.id()).await?;
        check_revision(patch.revision, before.revision)?;
        let (added, removed) =
            (each_once("addMembers", patch.added)?, each_once("removeMembers", patch.removed)?);
        if removed.iter().any(|user| added.contains(user)) {
            let message = "Somebody comes and leaves at once.";
            return Err(UseCaseError::invalid("removeMembers", "notAllowed", message));
        }
        let mut group = before.clone();
        group.name = patch.name.unwrap_or(group.name);
        group.description = patch.description.apply_to(group.description);
        // What stays as it was is not held against the rules of today.
        if group.name != before.name || group.description != before.description {
            check(&group.name, group.description.as_deref())?;
        }
        if patch.roles.is_some() || !patch.role_expiries.is_empty() {
            let kept = || before.roles.iter().map(|role| role.id.to_string()).collect();
            let roles = self.named_roles(context, &patch.roles.unwrap_or_else(kept)).await?;
            let ends = ends_of(&roles, &patch.role_expiries, &ends_in(&before.roles), context.now())?;
            group.roles = group_roles(roles, &ends);
        }
        self.may_give(context, &before, &group).await?;
        self.may_leave(context, &before, &removed).await?;
        self.may_come(context, "addMembers", &group, &added).await?;
        if group == before && added.is_empty() && removed.is_empty() {
            return Ok(group);
        }
        group.revision = before.revision.next();
        group.updated_at = context.now();
        let journal = resting(record(&group), seen_here(context)).changing(Some(&before), Some(&group));
        let change = GroupChange { group: group.clone(), added, removed };
        let done = self.ports.directory.update_group(&change, before.revision, &journal).await;
        match done {
            // The group itself is gone, or somebody whom it shall get.
            Err(StoreError::NotFound) if change.added.is_empty() => Err(UseCaseError::NotFound),
            other => written(other, "addMembers", &group).map(|()| group),
        }
    }

    /// Checks that the caller may change the roles of a group from one state to another.
    async fn may_give(
        &self,
        context: &RequestContext,
        before: &Group,
        group: &Group,
    ) -> Result<(), UseCaseError> {
        let (had, has) = (bindings_of(&before.roles), bindings_of(&group.roles));
        let (gained, lost) = (has.beyond(&had), had.beyond(&has));
        if gained.is_empty() && lost.is_empty() {
            return Ok(());
        }
        self.outranks_members(context, group.id).await?;
        let all = self.ports.directory.all_roles(context.tenant()).await?;
        let (given, taken): (Vec<Role>, Vec<Role>) = (
            all.iter().filter(|role| gained.contains(&role.id)).cloned().collect(),
            all.into_iter().filter(|role| lost.contains(&role.id)).collect(),
        );
        self.gives_roles(context, &given, &has.ends, None).await?;
        self.covers_roles(context, &taken).await?;
        self.lifts_roles(context, &taken).await?;
        if is_in(context, group.id.0) { in_full(context) } else { Ok(()) }
    }

    /// Checks that the caller may let these leave a group: they have no more than the caller, and nothing that the group
    /// is denied holds the caller back.
    async fn may_leave(
        &self,
        context: &RequestContext,
        group: &Group,
        users: &[UserId],
    ) -> Result<(), UseCaseError> {
        for user in users {
            self.outranks(context, *user).await?;
        }
        match users.is_empty() {
            true => Ok(()),
            false => self.lifts_groups(context, std::slice::from_ref(group)).await,
        }
    }

    /// Deletes a group without members; the roles that it gives and the grants to it go with it.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`inUse`, `revisionMismatch`); `Forbidden` (`exceedsOwnRights`).
    pub async fn delete_group(
        &self,
        authorized: &Authorized<GroupDelete>,
        context: &RequestContext,
        revision: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let id = authorized.id();
        let group = match self.ports.directory.group(context.tenant(), id).await {
            Ok(group) => group,
            Err(StoreError::NotFound) => return self.gone(context, Tombstone::Group(id)).await,
            Err(error) => return Err(error.into()),
        };
        check_revision(revision, group.revision)?;
        self.lifts_groups(context, std::slice::from_ref(&group)).await?;
        let journal = resting(journal.clone(), seen_here(context)).changing(Some(&group), None);
        changed(self.ports.directory.delete_group(context.tenant(), id, group.revision, &journal).await?)
    }
}
