//! Limits of delegation: nobody gives away, takes or lifts more than they have themselves.

use heddle_kernel::{GroupId, RoleId, TenantId, Timestamp, UserId};
use heddle_policy::{
    Effect, PrivilegeEscalation, RequestContext, ResourceRule, RoleRules, Snapshot, system_roles,
};

use crate::ports::{TenantAccess, Tombstone};
use crate::records::{GrantPrincipal, GrantRow, Group, Role, RoleEnds, User};
use crate::{Identity, UseCaseError, access};
use heddle_usecase::{Journal, Problem, RightsSeen};

/// Refusal of somebody who wants more than they have.
pub(crate) fn exceeds(excess: &PrivilegeEscalation) -> UseCaseError {
    let problem = Problem::new("exceedsOwnRights", "Nobody can give, take or lift more than he has himself.");
    UseCaseError::Forbidden(problem.with("missing", excess.to_string()))
}

/// The rule of a grant.
pub(crate) fn rule_of(grant: &GrantRow) -> RoleRules {
    RoleRules { resources: vec![resource_rule(grant)], ..RoleRules::default() }
}

fn resource_rule(grant: &GrantRow) -> ResourceRule {
    ResourceRule {
        resource: grant.resource.clone(),
        actions: vec![grant.action.clone()],
        selector: grant.selector.clone(),
        effect: grant.effect,
    }
}

/// Something that is given, with until when; none for good.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) rules: RoleRules,
    pub(crate) until: Option<Timestamp>,
}

impl Given {
    /// Rights that are given for good.
    pub(crate) const fn for_good(rules: RoleRules) -> Self {
        Self { rules, until: None }
    }
}

/// Whether a first end comes later than a second one; none comes last.
pub(crate) fn is_later(one: Option<Timestamp>, other: Option<Timestamp>) -> bool {
    match (one, other) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(one), Some(other)) => one > other,
    }
}

/// The sooner one of two ends; none comes last.
fn sooner(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    if is_later(one, other) { other } else { one.or(other) }
}

/// Time for which somebody has what they have by a change; none for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// Whoever can act as the account has it until then, and as long as the membership lasts that there is.
    Account(Option<Timestamp>),
    /// The membership lasts until then, whatever its end is at present.
    Membership(Option<Timestamp>),
}

/// Roles with their ends, as somebody has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bindings {
    pub(crate) roles: Vec<RoleId>,
    pub(crate) ends: RoleEnds,
}

impl Bindings {
    /// End of a role that is among them; none for one that is not.
    fn end(&self, role: RoleId) -> Option<Option<Timestamp>> {
        self.roles.contains(&role).then(|| self.ends.get(&role).copied())
    }

    /// Roles that these give beyond others: those that are not among the others, or end there sooner.
    pub(crate) fn beyond(&self, others: &Self) -> Vec<RoleId> {
        let more = |role: &&RoleId| match (self.end(**role), others.end(**role)) {
            (Some(end), Some(other)) => is_later(end, other),
            (Some(_), None) => true,
            (None, _) => false,
        };
        self.roles.iter().filter(more).copied().collect()
    }
}

/// The rules of a role with what the living ones among these grants give to it and take from it.
fn with_grants(role: &Role, grants: &[GrantRow], now: Timestamp) -> RoleRules {
    let mut rules = access::rules_of(role);
    let to_role = |grant: &&GrantRow| grant.principal == GrantPrincipal::Role(role.id) && grant.lives(now);
    rules.resources.extend(grants.iter().filter(to_role).map(resource_rule));
    rules
}

/// The rights of the caller's organisation that a check of this request looks at: those that the gate saw.
pub(crate) fn seen_here(context: &RequestContext) -> RightsSeen {
    match context.own_reason() {
        // What the installation does by itself rests on nobody's rights.
        Some(_) => RightsSeen::default(),
        None => RightsSeen { of: vec![(context.tenant(), context.snapshot().revision())], everywhere: false },
    }
}

/// The journal of a change that is written only while these rights are the present ones.
pub(crate) fn resting(journal: Journal, rights: RightsSeen) -> Journal {
    Journal { rights, ..journal }
}

/// The caller has all that these rules give.
pub(crate) fn covers(context: &RequestContext, rules: &RoleRules) -> Result<(), UseCaseError> {
    context.covers(rules).map_err(|excess| exceeds(&excess))
}

/// No deny of these rules holds the caller back.
pub(crate) fn lifts(context: &RequestContext, rules: &RoleRules) -> Result<(), UseCaseError> {
    context.snapshot().covers_denies(rules).map_err(|excess| exceeds(&excess))
}

/// Rights of an owner.
fn owner_rules() -> RoleRules {
    system_roles::find(system_roles::OWNER).map(system_roles::SystemRole::rules).unwrap_or_default()
}

/// The caller has all that an owner has.
pub(crate) fn covers_owner(context: &RequestContext) -> Result<(), UseCaseError> {
    covers(context, &owner_rules())
}

/// Rights that must be held to undo whatever was done to the rights of an organisation.
const KEYS: system_roles::SystemRole = system_roles::SystemRole {
    name: "",
    permissions: "grants.manage licence.manage members.manage roles.manage",
    resource_actions: "grant / create,delete / *; member / update,delete / *; \
                       role / create,update,delete / *; licence / install / *",
    description: "",
};

/// Power to undo what was done to the rights of an organisation; the greater comes later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// Nothing for sure: something is missing of what members, roles, grants and licence are changed by.
    Nothing,
    /// Changes of members, roles, grants and licence, but something is denied to them of which they lift no deny.
    Keys,
    /// Those and every deny: nothing is denied to them, to their groups, or to and by their roles.
    All,
}

/// Power of an owner to undo what was done to the rights of an organisation. What is denied to everyone counts where it takes
/// the means; else it is lifted by owners, although it holds them as well.
#[must_use]
pub fn hold_of(user: &User, tenant: TenantId, standing: &TenantAccess, now: Timestamp) -> Hold {
    let rights = access::rights_of(user, tenant, standing, now);
    if rights.has(&KEYS.rules()).is_err() {
        return Hold::Nothing;
    }
    // Whoever is kept from something lifts no deny of it.
    if rights.covers(&owner_rules()).is_err() { Hold::Keys } else { Hold::All }
}

/// Standing of who is nobody in an organisation.
const fn nothing() -> TenantAccess {
    TenantAccess {
        membership: None,
        roles: Vec::new(),
        role_ends: RoleEnds::new(),
        groups: Vec::new(),
        grants: Vec::new(),
        revision: 0,
    }
}

/// Whether a caller with these rights has all that a user has, or all that the members of a group have. Counted as if in
/// use: an account that is switched off, or a membership that has ended, can come back. What has ended itself comes back
/// only by being given again.
fn outranked_by(
    caller: &Snapshot,
    standing: &TenantAccess,
    now: Timestamp,
) -> Result<(), PrivilegeEscalation> {
    let roles = standing.roles.iter().filter(|role| standing.has(role, now));
    roles.map(access::rules_of).try_for_each(|rules| caller.covers(&rules))?;
    let allows = |grant: &&GrantRow| grant.effect == Effect::Allow && standing.applies(grant, now);
    let living = standing.grants.iter().filter(allows);
    living.map(rule_of).try_for_each(|rules| caller.covers(&rules))
}

impl Identity {
    /// The rules of roles, each with what is granted and denied to it at present: whoever gives or takes a role
    /// gives and takes that as well.
    pub(crate) async fn whole_rules(
        &self,
        context: &RequestContext,
        roles: &[Role],
    ) -> Result<Vec<RoleRules>, UseCaseError> {
        if roles.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = roles.iter().map(|role| role.id).collect();
        let grants = self.ports.directory.role_grants(context.tenant(), &ids).await?;
        Ok(roles.iter().map(|role| with_grants(role, &grants, context.now())).collect())
    }

    /// Checks that the caller has all that roles give, by their own rules and by grants to them.
    pub(crate) async fn covers_roles(
        &self,
        context: &RequestContext,
        roles: &[Role],
    ) -> Result<(), UseCaseError> {
        self.whole_rules(context, roles).await?.iter().try_for_each(|rules| covers(context, rules))
    }

    /// Checks that no deny of roles holds the caller back, neither one of their own rules nor one to them.
    pub(crate) async fn lifts_roles(
        &self,
        context: &RequestContext,
        roles: &[Role],
    ) -> Result<(), UseCaseError> {
        self.whole_rules(context, roles).await?.iter().try_for_each(|rules| lifts(context, rules))
    }

    /// Rights that each of these groups gives: the living ones of its roles, each with what is granted and denied to it, and
    /// what is granted and denied to the group.
    pub(crate) async fn given_by(
        &self,
        context: &RequestContext,
        groups: &[Group],
    ) -> Result<Vec<Given>, UseCaseError> {
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        let now = context.now();
        let living: Vec<_> =
            groups.iter().flat_map(|group| &group.roles).filter(|role| role.lives(now)).collect();
        let mut roles = match living.is_empty() {
            true => Vec::new(),
            false => self.ports.directory.all_roles(context.tenant()).await?,
        };
        roles.retain(|role| living.iter().any(|given| given.id == role.id));
        let rules = self.whole_rules(context, &roles).await?;
        let mut all = Vec::new();
        for (role, rules) in roles.iter().zip(rules) {
            let ends = living.iter().filter(|given| given.id == role.id).map(|given| given.expires_at);
            all.extend(ends.map(|until| Given { rules: rules.clone(), until }));
        }
        let ids: Vec<GroupId> = groups.iter().map(|group| group.id).collect();
        let grants = self.ports.directory.group_grants(context.tenant(), &ids).await?;
        let grants = grants.iter().filter(|grant| grant.lives(now));
        all.extend(grants.map(|grant| Given { rules: rule_of(grant), until: grant.expires_at }));
        Ok(all)
    }

    /// Checks that the caller has all that groups give, and for as long: to members whose membership ends at an instant at the
    /// latest, or never.
    pub(crate) async fn gives_groups(
        &self,
        context: &RequestContext,
        groups: &[Group],
        member_until: Option<Timestamp>,
    ) -> Result<(), UseCaseError> {
        let mut given = self.given_by(context, groups).await?;
        for one in &mut given {
            one.until = sooner(one.until, member_until);
        }
        self.gives(context, &given).await
    }

    /// Checks that the caller has all that roles give until their ends, or until a membership ends with which they are given.
    pub(crate) async fn gives_roles(
        &self,
        context: &RequestContext,
        roles: &[Role],
        ends: &RoleEnds,
        member_until: Option<Timestamp>,
    ) -> Result<(), UseCaseError> {
        let rules = self.whole_rules(context, roles).await?;
        let until = |role: &Role| sooner(ends.get(&role.id).copied(), member_until);
        let given = roles.iter().zip(rules).map(|(role, rules)| Given { rules, until: until(role) });
        self.gives(context, &given.collect::<Vec<_>>()).await
    }

    /// Checks that the caller has what they give, and has it for as long.
    pub(crate) async fn gives(&self, context: &RequestContext, given: &[Given]) -> Result<(), UseCaseError> {
        given.iter().try_for_each(|one| covers(context, &one.rules))?;
        self.holds_as_long(context, given).await
    }

    /// Checks that no deny of groups holds the caller back, neither one of their roles nor one to them.
    pub(crate) async fn lifts_groups(
        &self,
        context: &RequestContext,
        groups: &[Group],
    ) -> Result<(), UseCaseError> {
        self.given_by(context, groups).await?.iter().try_for_each(|one| lifts(context, &one.rules))
    }

    /// Checks that the caller will have for as long what they give: else they would only have to give it to themselves, or
    /// to an account of theirs, to have it for good. All that they have ends with their membership, where that has an end.
    async fn holds_as_long(&self, context: &RequestContext, given: &[Given]) -> Result<(), UseCaseError> {
        // Nothing of what they have ends.
        if given.is_empty() || context.own_reason().is_some() || context.snapshot().valid_until().is_none() {
            return Ok(());
        }
        let refused = || {
            let message = "Nobody gives a right for longer than they have it: an end, of the grant, the role, the \
                           membership or the token, that comes no later than their own is needed.";
            UseCaseError::forbidden("outlastsOwnRights", message)
        };
        let own = self.ports.access.standing(context.tenant(), context.user_id()).await?;
        let (user, standing) = own.ok_or_else(refused)?;
        for one in given {
            let last = one
                .until
                .map_or(Timestamp::MAX, |end| Timestamp::from_micros(end.micros().saturating_sub(1)));
            let then = access::rights_of(&user, context.tenant(), &standing, last.max(context.now()));
            if then.covers(&one.rules).is_err() {
                return Err(refused());
            }
        }
        Ok(())
    }

    /// Checks that the caller will have for as long what another user has here: whoever can act as the account has what it
    /// has, and whoever lengthens a membership gives what the member has for longer.
    pub(crate) async fn lasts_as(
        &self,
        context: &RequestContext,
        user: UserId,
        lasting: Lasting,
    ) -> Result<(), UseCaseError> {
        if user == context.user_id() || context.snapshot().valid_until().is_none() {
            return Ok(());
        }
        let Some((_, standing)) = self.ports.access.standing(context.tenant(), user).await? else {
            return Ok(());
        };
        let until = match lasting {
            Lasting::Account(until) => {
                sooner(until, standing.membership.as_ref().and_then(|membership| membership.expires_at))
            }
            Lasting::Membership(until) => until,
        };
        let now = context.now();
        let role_end = |id: &RoleId| standing.role_ends.get(id).copied();
        let roles = standing.roles.iter().filter(|role| standing.has(role, now));
        let mut has: Vec<Given> = roles
            .map(|role| Given { rules: access::rules_of(role), until: sooner(until, role_end(&role.id)) })
            .collect();
        let allows = |grant: &&GrantRow| grant.effect == Effect::Allow && standing.applies(grant, now);
        has.extend(standing.grants.iter().filter(allows).map(|grant| {
            let by_role = match &grant.principal {
                GrantPrincipal::Role(id) => role_end(id),
                GrantPrincipal::User(_) | GrantPrincipal::Group(_) | GrantPrincipal::Everyone => None,
            };
            Given { rules: rule_of(grant), until: sooner(until, sooner(grant.expires_at, by_role)) }
        }));
        self.gives(context, &has).await
    }

    /// Checks that the caller has all that any member of a group has: only then may they change what all of them have.
    pub(crate) async fn outranks_members(
        &self,
        context: &RequestContext,
        group: GroupId,
    ) -> Result<(), UseCaseError> {
        let now = context.now();
        let all = self.ports.directory.standing_of_group(context.tenant(), group, now).await?;
        outranked_by(context.snapshot(), &all, now).map_err(|excess| exceeds(&excess))
    }

    /// Checks that the caller has all that another user has in the organisation: only then may they change
    /// that user's account or membership, for else they could take it over. Everybody is their own equal, but for
    /// an API token that was made to be less.
    pub(crate) async fn outranks(&self, context: &RequestContext, user: UserId) -> Result<(), UseCaseError> {
        if user == context.user_id() {
            return in_full(context);
        }
        let Some((_, standing)) = self.ports.access.standing(context.tenant(), user).await? else {
            return Ok(());
        };
        outranked_by(context.snapshot(), &standing, context.now()).map_err(|excess| exceeds(&excess))
    }

    /// Checks that the caller has all that a user has in every other organisation to which the account belongs:
    /// whoever sets a password, or an address, can act as the account wherever it is somebody. The rights that were looked
    /// at for it are those that the change rests on.
    pub(crate) async fn outranks_elsewhere(
        &self,
        context: &RequestContext,
        user: UserId,
    ) -> Result<RightsSeen, UseCaseError> {
        let mut seen = seen_here(context);
        if user == context.user_id() || context.own_reason().is_some() {
            return Ok(seen);
        }
        seen.everywhere = true;
        for tenant in self.ports.access.tenants_of(user).await? {
            if tenant == context.tenant() {
                continue;
            }
            let Some((account, theirs)) = self.ports.access.standing(tenant, user).await? else { continue };
            seen.of.push((tenant, theirs.revision));
            let own = self.own_rights_in(context, tenant).await?;
            let own = own.unwrap_or_else(|| access::rights_of(&account, tenant, &nothing(), context.now()));
            if outranked_by(&own, &theirs, context.now()).is_err() {
                let message = "The account has rights in another organisation that the caller does not have \
                               there. Who manages members there can take them first.";
                return Err(UseCaseError::forbidden("outrankedElsewhere", message));
            }
        }
        Ok(seen)
    }

    /// The caller's rights in another organisation; none for a credential that is nothing there.
    async fn own_rights_in(
        &self,
        context: &RequestContext,
        tenant: TenantId,
    ) -> Result<Option<Snapshot>, UseCaseError> {
        if context.snapshot().is_limited() {
            return Ok(None);
        }
        let own = self.ports.access.standing(tenant, context.user_id()).await?;
        Ok(own.map(|(user, own)| access::rights_of(&user, tenant, &own, context.now())))
    }

    /// Checks that no deny of a user's own holds the caller back: who removes the user, or the account, lifts them.
    pub(crate) async fn lifts_own_denies(
        &self,
        context: &RequestContext,
        user: UserId,
    ) -> Result<(), UseCaseError> {
        let Some((_, standing)) = self.ports.access.standing(context.tenant(), user).await? else {
            return Ok(());
        };
        let own =
            |grant: &&GrantRow| grant.principal == GrantPrincipal::User(user) && grant.lives(context.now());
        standing.grants.iter().filter(own).map(rule_of).try_for_each(|rules| lifts(context, &rules))
    }

    /// Answer to the deletion of something that is not there: fine, if it was deleted before.
    pub(crate) async fn gone(&self, context: &RequestContext, what: Tombstone) -> Result<(), UseCaseError> {
        match self.ports.directory.was_deleted(context.tenant(), what).await? {
            true => Ok(()),
            false => Err(UseCaseError::NotFound),
        }
    }
}

/// Whether the caller has a role, or is in a group, at present.
pub(crate) fn is_in(context: &RequestContext, id: uuid::Uuid) -> bool {
    let id = id.hyphenated().to_string();
    context.principal().groups.contains(&id)
}

/// An API token that is narrowed, or bound to one organisation, is not for what concerns the account as a whole.
pub(crate) fn in_full(context: &RequestContext) -> Result<(), UseCaseError> {
    if context.snapshot().is_limited() {
        let message = "A narrowed API token changes neither the account nor the roles of its owner.";
        return Err(UseCaseError::forbidden("limitedToken", message));
    }
    Ok(())
}

/// Result of a guarded change, as a use case's answer.
pub(crate) fn changed(change: crate::ports::Change) -> Result<(), UseCaseError> {
    use crate::ports::Change;
    match change {
        Change::Done => Ok(()),
        Change::LastOwner => Err(UseCaseError::conflict(
            "lastOwner",
            "An organisation keeps at least one owner who can sign in.",
        )),
        Change::InUse(dependents) => {
            let by: Vec<_> = dependents.iter().map(|one| format!("{} {}", one.count, one.kind)).collect();
            let used_by: Vec<_> = dependents
                .iter()
                .map(|one| serde_json::json!({ "type": one.kind, "count": one.count }))
                .collect();
            let problem = Problem::new("inUse", format!("It is used by {}.", by.join(" and ")));
            Err(UseCaseError::Conflict(vec![problem.with("usedBy", serde_json::Value::Array(used_by))]))
        }
    }
}

/// Result of an addition that the licence limits, as a use case's answer.
pub(crate) fn capped(
    capped: crate::ports::LimitOutcome,
    limit: &'static str,
    licensed: Option<u64>,
) -> Result<(), UseCaseError> {
    use crate::ports::LimitOutcome;
    match capped {
        LimitOutcome::Done => Ok(()),
        LimitOutcome::LimitReached { used } => {
            Err(UseCaseError::LimitReached { limit, licensed: licensed.unwrap_or(used), used })
        }
    }
}
