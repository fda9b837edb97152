//! Members: who belongs to the organisation with which roles and groups.

use heddle_kernel::{GroupId, Page, PageRequest, Patch, Revision, RoleId, Timestamp, UserId};
use heddle_policy::capability::{MemberDelete, MemberList, MemberUpdate};
use heddle_policy::{Authorized, AuthorizedList, RequestContext};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;

use crate::ports::{MemberFilter, Tombstone};
use crate::records::{Group, Member, Membership, Role, RoleEnds};
use crate::rights::{Bindings, Lasting, changed, is_later, resting, seen_here};
use crate::{Identity, JournalFor, UseCaseError, validate};
use heddle_usecase::check_revision;
use heddle_usecase::{Problem, Problems};

/// End of a role that somebody is given, or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleExpiry {
    /// Role of which it is the end: id or name.
    pub role: String,
    /// The end; none: the role is for good.
    pub expires_at: Option<Timestamp>,
}

/// A membership as it shall be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetMember {
    /// All roles: ids or names.
    pub roles: Vec<String>,
    /// Ends of some of these roles. A role that is not named keeps the end that it has; a new one is for good.
    pub role_expiries: Vec<RoleExpiry>,
    /// All groups: ids or names; kept as they are when absent.
    pub groups: Option<Vec<String>>,
    /// End of the membership; kept as it is when absent.
    pub expires_at: Patch<Timestamp>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

impl Identity {
    /// The members of the organisation.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn members(
        &self,
        authorized: &AuthorizedList<MemberList>,
        context: &RequestContext,
        filter: &MemberFilter,
        page: &PageRequest,
    ) -> Result<Page<Member>, UseCaseError> {
        Ok(self.ports.directory.members(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// Roles by id or name, sorted by id, without repeats.
    pub(crate) async fn named_roles(
        &self,
        context: &RequestContext,
        named: &[String],
    ) -> Result<Vec<Role>, UseCaseError> {
        let all = self.ports.directory.all_roles(context.tenant()).await?;
        let mut problems = Vec::new();
        let mut found: Vec<Role> = Vec::new();
        for (at, name) in named.iter().enumerate() {
            match all.iter().find(|role| role.name == *name || role.id.to_string() == *name) {
                Some(role) => found.push(role.clone()),
                None => {
                    let message = format!("There is no role `{name}`; there are {}.", names(&all));
                    problems.push(Problem::at(format!("roles[{at}]"), "notFound", message));
                }
            }
        }
        if !problems.is_empty() {
            return Err(UseCaseError::Invalid(problems));
        }
        found.sort_by_key(|role| role.id);
        found.dedup_by_key(|role| role.id);
        Ok(found)
    }

    /// Groups by id or name, without repeats.
    pub(crate) async fn named_groups(
        &self,
        context: &RequestContext,
        named: &[String],
    ) -> Result<Vec<Group>, UseCaseError> {
        let found = self.ports.directory.groups_named(context.tenant(), named).await?;
        let mut problems = Problems::default();
        for (at, name) in named.iter().enumerate() {
            if !found.iter().any(|group| group.name == *name || group.id.to_string() == *name) {
                problems.add(&format!("groups[{at}]"), "notFound", format!("There is no group `{name}`."));
            }
        }
        problems.finish()?;
        Ok(found)
    }

    /// Adds a member or replaces their roles and groups. Nobody gives or takes roles of who has more than they, and
    /// nobody gives a role or a group that has more than they, counting what is granted to it. Nobody lengthens their own
    /// membership, or gives something for longer than they have it.
    ///
    /// # Errors
    /// `NotFound` for the user; `Invalid`; `Conflict` (`lastOwner`, `revisionMismatch`); `Forbidden`
    /// (`exceedsOwnRights`, `outlastsOwnRights`, `ownMembership`, `limitedToken`).
    pub async fn set_member(
        &self,
        authorized: &Authorized<MemberUpdate>,
        context: &RequestContext,
        wanted: SetMember,
        record: &JournalFor<'_, Member>,
    ) -> Result<Member, UseCaseError> {
        let user = authorized.id();
        let mut problems = Problems::default();
        if let Patch::Value(end) = &wanted.expires_at {
            validate::future(&mut problems, "expiresAt", Some(*end), context.now());
        }
        problems.finish()?;
        let roles = self.named_roles(context, &wanted.roles).await?;
        let present = match self.ports.directory.member(context.tenant(), user).await {
            Ok(member) => Some(member),
            Err(StoreError::NotFound) => None,
            Err(error) => return Err(error.into()),
        };
        let holdings = self.holdings(context, present.as_ref(), &wanted, roles).await?;
        let until = wanted.expires_at.clone().apply_to(end_of(present.as_ref()));
        self.may_set(context, user, present.as_ref(), &holdings, until).await?;
        if user == context.user_id() {
            not_longer(end_of(present.as_ref()), &wanted.expires_at)?;
        }
        let before = present.as_ref().map(|member| member.membership.clone());
        let expected = before.as_ref().map(|membership| membership.revision);
        match expected {
            Some(expected) => check_revision(wanted.revision, expected)?,
            None if wanted.revision.is_some() => {
                let message = "The user is no member yet: there is no revision.";
                let problem = Problem::at("revision", "revisionMismatch", message);
                return Err(UseCaseError::Conflict(vec![problem.with("currentRevision", 0)]));
            }
            None => {}
        }
        let member = self.member_to_be(context, user, present, holdings, wanted.expires_at).await?;
        let journal = resting(record(&member), seen_here(context));
        let journal = journal.changing(before.as_ref(), Some(&member.membership));
        changed(self.ports.directory.set_member(&member.membership, expected, &journal).await?)?;
        Ok(member)
    }

    /// Roles with their ends and groups as a member shall have them.
    async fn holdings(
        &self,
        context: &RequestContext,
        present: Option<&Member>,
        wanted: &SetMember,
        roles: Vec<Role>,
    ) -> Result<Holdings, UseCaseError> {
        let before = present.map(|member| member.membership.role_ends.clone()).unwrap_or_default();
        let ends = ends_of(&roles, &wanted.role_expiries, &before, context.now())?;
        let kept = || present.map(|member| member.groups.clone()).unwrap_or_default();
        let groups = match &wanted.groups {
            None => kept(),
            Some(named) => {
                let found = self.named_groups(context, named).await?;
                found.into_iter().map(|group| (group.id, group.name)).collect()
            }
        };
        Ok(Holdings { roles, ends, groups })
    }

    /// Checks that the caller may set what a member holds, with a membership until an instant or for good.
    async fn may_set(
        &self,
        context: &RequestContext,
        user: UserId,
        present: Option<&Member>,
        wanted: &Holdings,
        until: Option<Timestamp>,
    ) -> Result<(), UseCaseError> {
        self.outranks(context, user).await?;
        if present.is_some() && is_later(until, end_of(present)) {
            self.lasts_as(context, user, Lasting::Membership(until)).await?;
        }
        let had = present.map(|member| &member.membership);
        let had_roles = had.map_or_else(Bindings::default, |membership| Bindings {
            roles: membership.roles.clone(),
            ends: membership.role_ends.clone(),
        });
        let bindings = wanted.bindings();
        let gained = bindings.beyond(&had_roles);
        let given: Vec<Role> =
            wanted.roles.iter().filter(|role| gained.contains(&role.id)).cloned().collect();
        self.gives_roles(context, &given, &wanted.ends, until).await?;
        let lost = had_roles.beyond(&bindings);
        if !lost.is_empty() {
            let mut roles = self.ports.directory.all_roles(context.tenant()).await?;
            roles.retain(|role| lost.contains(&role.id));
            self.lifts_roles(context, &roles).await?;
        }
        let had_groups: &[GroupId] = had.map_or(&[], |membership| &membership.groups);
        let groups: Vec<GroupId> = wanted.groups.iter().map(|(id, _)| *id).collect();
        let joined = self.groups_of_ids(context, &without(&groups, had_groups)).await?;
        self.gives_groups(context, &joined, until).await?;
        let left = self.groups_of_ids(context, &without(had_groups, &groups)).await?;
        self.lifts_groups(context, &left).await
    }

    /// Groups by their ids.
    async fn groups_of_ids(
        &self,
        context: &RequestContext,
        ids: &[GroupId],
    ) -> Result<Vec<Group>, UseCaseError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let named: Vec<String> = ids.iter().map(ToString::to_string).collect();
        Ok(self.ports.directory.groups_named(context.tenant(), &named).await?)
    }

    async fn member_to_be(
        &self,
        context: &RequestContext,
        user: UserId,
        present: Option<Member>,
        holdings: Holdings,
        expires_at: Patch<Timestamp>,
    ) -> Result<Member, UseCaseError> {
        let now = context.now();
        let Holdings { roles, ends, groups } = holdings;
        let named = roles.iter().map(|role| (role.id, role.name.clone())).collect();
        let ids = roles.iter().map(|role| role.id).collect();
        let mut group_ids: Vec<GroupId> = groups.iter().map(|(id, _)| *id).collect();
        group_ids.sort_unstable();
        if let Some(member) = present {
            let before = member.membership;
            let membership = Membership {
                roles: ids,
                role_ends: ends,
                groups: group_ids,
                expires_at: expires_at.apply_to(before.expires_at),
                revision: before.revision.next(),
                updated_at: now,
                ..before
            };
            return Ok(Member { membership, roles: named, groups, ..member });
        }
        let account = self.ports.sessions.user(user).await?.ok_or(UseCaseError::NotFound)?;
        let membership = Membership {
            tenant: context.tenant(),
            user_id: user,
            roles: ids,
            role_ends: ends,
            groups: group_ids,
            expires_at: expires_at.apply_to(None),
            revision: Revision::FIRST,
            created_at: now,
            updated_at: now,
        };
        Ok(Member {
            membership,
            email: account.email,
            display_name: account.display_name,
            state: account.state,
            roles: named,
            groups,
        })
    }

    /// Removes a member. Their own denies go with them, so nobody removes somebody to whom a deny is that holds
    /// themselves back.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`lastOwner`, `lockOut`, `revisionMismatch`); `Forbidden` (`exceedsOwnRights`,
    /// `limitedToken`).
    pub async fn remove_member(
        &self,
        authorized: &Authorized<MemberDelete>,
        context: &RequestContext,
        revision: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let user = authorized.id();
        let member = match self.ports.directory.member(context.tenant(), user).await {
            Ok(member) => member,
            Err(StoreError::NotFound) => return self.gone(context, Tombstone::Member(user)).await,
            Err(error) => return Err(error.into()),
        };
        check_revision(revision, member.membership.revision)?;
        self.outranks(context, user).await?;
        let mut roles = self.ports.directory.all_roles(context.tenant()).await?;
        roles.retain(|role| member.membership.roles.contains(&role.id));
        self.lifts_roles(context, &roles).await?;
        let groups = self.groups_of_ids(context, &member.membership.groups).await?;
        self.lifts_groups(context, &groups).await?;
        self.lifts_own_denies(context, user).await?;
        let (seen, journal) = (member.membership.revision, resting(journal.clone(), seen_here(context)));
        let journal = journal.changing(Some(&member.membership), None);
        changed(self.ports.directory.remove_member(context.tenant(), user, seen, &journal).await?)
    }
}

/// Roles with their ends and groups as a member shall have them.
struct Holdings {
    roles: Vec<Role>,
    ends: RoleEnds,
    groups: Vec<(GroupId, String)>,
}

impl Holdings {
    fn bindings(&self) -> Bindings {
        Bindings { roles: self.roles.iter().map(|role| role.id).collect(), ends: self.ends.clone() }
    }
}

/// Those of the first that are not among the second.
fn without(one: &[GroupId], other: &[GroupId]) -> Vec<GroupId> {
    one.iter().filter(|id| !other.contains(id)).copied().collect()
}

/// Ends of roles: those that are asked for, and for all others the ends that they had.
///
/// # Errors
/// `Invalid` for an end that has passed, and for one of a role that is not among them.
pub(crate) fn ends_of(
    roles: &[Role],
    wanted: &[RoleExpiry],
    before: &RoleEnds,
    now: Timestamp,
) -> Result<RoleEnds, UseCaseError> {
    let kept = roles.iter().filter_map(|role| before.get(&role.id).map(|end| (role.id, *end)));
    let mut ends: RoleEnds = kept.collect();
    let (mut problems, mut seen) = (Problems::default(), Vec::<RoleId>::new());
    for (at, one) in wanted.iter().enumerate() {
        let field = |member: &str| format!("roleExpiries[{at}].{member}");
        validate::future(&mut problems, &field("expiresAt"), one.expires_at, now);
        match roles.iter().find(|role| role.name == one.role || role.id.to_string() == one.role) {
            None => problems.add(&field("role"), "notFound", "The role is not among `roles`."),
            Some(role) if seen.contains(&role.id) => {
                problems.add(&field("role"), "repeated", "The role has two ends.");
            }
            Some(role) => {
                seen.push(role.id);
                match one.expires_at {
                    Some(end) => ends.insert(role.id, end),
                    None => ends.remove(&role.id),
                };
            }
        }
    }
    problems.finish()?;
    Ok(ends)
}

/// End of a membership; none for one without an end, and where there is none.
fn end_of(member: Option<&Member>) -> Option<Timestamp> {
    member.and_then(|member| member.membership.expires_at)
}

/// Nobody lengthens their own membership: whoever gave it said until when.
fn not_longer(before: Option<Timestamp>, wanted: &Patch<Timestamp>) -> Result<(), UseCaseError> {
    let Some(end) = before else { return Ok(()) };
    if wanted.clone().apply_to(before).is_some_and(|wanted| wanted <= end) {
        return Ok(());
    }
    Err(UseCaseError::forbidden("ownMembership", "Nobody lengthens their own membership."))
}

/// Names of roles, the first ones of many.
fn names(roles: &[Role]) -> String {
    const SHOWN: usize = 20;
    let mut shown: Vec<_> = roles.iter().map(|role| format!("`{}`", role.name)).collect();
    shown.sort();
    let more = shown.len().saturating_sub(SHOWN);
    shown.truncate(SHOWN);
    let tail = if more == 0 { String::new() } else { format!(" and {more} more") };
    shown.join(", ") + &tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{START, reason, system_role};

    fn expiry(role: &str, end: Option<i64>) -> RoleExpiry {
        RoleExpiry { role: role.to_owned(), expires_at: end.map(|seconds| START.plus_seconds(seconds)) }
    }

    #[test]
    fn an_end_that_is_not_named_stays_and_one_that_makes_no_sense_is_refused() {
        let (viewer, worker) = (system_role("viewer"), system_role("worker"));
        let roles = [viewer.clone(), worker.clone()];
        let before = RoleEnds::from([(viewer.id, START), (system_role("owner").id, START)]);
        let ends = |wanted: &[RoleExpiry]| ends_of(&roles, wanted, &before, START);
        assert_eq!(ends(&[]).unwrap(), RoleEnds::from([(viewer.id, START)]), "of roles that are there");
        let both = ends(&[expiry("viewer", None), expiry(&worker.id.to_string(), Some(60))]).unwrap();
        assert_eq!(both, RoleEnds::from([(worker.id, START.plus_seconds(60))]));
        let refused = [
            (vec![expiry("viewer", Some(0))], "outOfRange"),
            (vec![expiry("owner", Some(60))], "notFound"),
            (vec![expiry("viewer", None), expiry(&viewer.id.to_string(), Some(60))], "repeated"),
        ];
        for (wanted, why) in refused {
            assert_eq!(reason(&ends(&wanted).unwrap_err()), why);
        }
    }

    #[test]
    fn a_role_that_lasts_longer_is_given_anew() {
        let (viewer, worker) = (system_role("viewer").id, system_role("worker").id);
        let until = |end: Option<i64>| Bindings {
            roles: vec![viewer],
            ends: end.map(|seconds| (viewer, START.plus_seconds(seconds))).into_iter().collect(),
        };
        let cases = [
            (until(None), until(None), false),
            (until(Some(60)), until(None), false),
            (until(None), until(Some(60)), true),
            (until(Some(61)), until(Some(60)), true),
            (until(Some(60)), until(Some(60)), false),
            (until(Some(60)), Bindings::default(), true),
            (until(Some(60)), Bindings { roles: vec![worker], ..Bindings::default() }, true),
        ];
        for (now, before, more) in cases {
            assert_eq!(now.beyond(&before) == [viewer], more, "{now:?} after {before:?}");
        }
    }
}
