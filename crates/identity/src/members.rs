//! Members: who belongs to the organisation with which roles.

use heddle_kernel::{Page, PageRequest, Patch, Revision, RoleId, Timestamp, UserId};
use heddle_policy::capability::{MemberDelete, MemberList, MemberUpdate};
use heddle_policy::{Authorized, AuthorizedList, RequestContext};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;

use crate::ports::Tombstone;
use crate::records::{Member, Membership, Role};
use crate::rights::{changed, resting, seen_here};
use crate::{Identity, JournalFor, UseCaseError, validate};
use heddle_usecase::check_revision;
use heddle_usecase::{Problem, Problems};

/// A membership as it shall be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetMember {
    /// All roles: ids or names.
    pub roles: Vec<String>,
    /// End of the membership; kept as it is when absent.
    pub expires_at: Patch<Timestamp>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

impl Identity {
    /// The members of the organisation; with `q` those whose e-mail address or name has it.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn members(
        &self,
        authorized: &AuthorizedList<MemberList>,
        context: &RequestContext,
        q: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<Member>, UseCaseError> {
        Ok(self.ports.directory.members(context.tenant(), q, authorized.filter(), page).await?)
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

    /// Adds a member or replaces their roles. Nobody gives or takes roles of who has more than they, and
    /// nobody gives a role that has more than they, counting what is granted to it. Nobody lengthens their own
    /// membership.
    ///
    /// # Errors
    /// `NotFound` for the user; `Invalid`; `Conflict` (`lastOwner`, `revisionMismatch`); `Forbidden`
    /// (`exceedsOwnRights`, `ownMembership`, `limitedToken`).
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
        self.may_set(context, user, present.as_ref(), &roles).await?;
        if user == context.user_id() {
            not_longer(present.as_ref().and_then(|member| member.membership.expires_at), &wanted.expires_at)?;
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
        let member = self.member_to_be(context, user, present, &roles, wanted.expires_at).await?;
        let journal = resting(record(&member), seen_here(context));
        let journal = journal.changing(before.as_ref(), Some(&member.membership));
        changed(self.ports.directory.set_member(&member.membership, expected, &journal).await?)?;
        Ok(member)
    }

    async fn may_set(
        &self,
        context: &RequestContext,
        user: UserId,
        present: Option<&Member>,
        roles: &[Role],
    ) -> Result<(), UseCaseError> {
        self.outranks(context, user).await?;
        let had: &[RoleId] = present.map_or(&[], |member| &member.membership.roles);
        let given: Vec<Role> = roles.iter().filter(|role| !had.contains(&role.id)).cloned().collect();
        self.covers_roles(context, &given).await?;
        let lost = |id: &RoleId| had.contains(id) && !roles.iter().any(|role| role.id == *id);
        if !had.iter().any(lost) {
            return Ok(());
        }
        let mut lost_roles = self.ports.directory.all_roles(context.tenant()).await?;
        lost_roles.retain(|role| lost(&role.id));
        self.lifts_roles(context, &lost_roles).await
    }

    async fn member_to_be(
        &self,
        context: &RequestContext,
        user: UserId,
        present: Option<Member>,
        roles: &[Role],
        expires_at: Patch<Timestamp>,
    ) -> Result<Member, UseCaseError> {
        let now = context.now();
        let named = roles.iter().map(|role| (role.id, role.name.clone())).collect();
        let ids = roles.iter().map(|role| role.id).collect();
        if let Some(member) = present {
            let before = member.membership;
            let membership = Membership {
                roles: ids,
                expires_at: expires_at.apply_to(before.expires_at),
                revision: before.revision.next(),
                updated_at: now,
                ..before
            };
            return Ok(Member { membership, roles: named, ..member });
        }
        let account = self.ports.sessions.user(user).await?.ok_or(UseCaseError::NotFound)?;
        let membership = Membership {
            tenant: context.tenant(),
            user_id: user,
            roles: ids,
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
        self.lifts_own_denies(context, user).await?;
        let (seen, journal) = (member.membership.revision, resting(journal.clone(), seen_here(context)));
        let journal = journal.changing(Some(&member.membership), None);
        changed(self.ports.directory.remove_member(context.tenant(), user, seen, &journal).await?)
    }
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
