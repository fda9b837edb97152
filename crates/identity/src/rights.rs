//! Limits of delegation: nobody gives away, takes or lifts more than they have themselves.

use heddle_kernel::UserId;
use heddle_policy::{Effect, PrivilegeEscalation, RequestContext, ResourceRule, RoleRules, system_roles};

use crate::ports::Tombstone;
use crate::records::{GrantRow, Role};
use crate::{Identity, UseCaseError, access};
use heddle_usecase::Problem;

/// Refusal of somebody who wants more than they have.
pub(crate) fn exceeds(excess: &PrivilegeEscalation) -> UseCaseError {
    let problem = Problem::new("exceedsOwnRights", "Nobody can give, take or lift more than he has himself.");
    UseCaseError::Forbidden(problem.with("missing", excess.to_string()))
}

/// The rule of a grant.
pub(crate) fn rule_of(grant: &GrantRow) -> RoleRules {
    let rule = ResourceRule {
        resource: grant.resource.clone(),
        actions: vec![grant.action.clone()],
        selector: grant.selector.clone(),
        effect: grant.effect,
    };
    RoleRules { resources: vec![rule], ..RoleRules::default() }
}

/// The caller has all that a role gives.
pub(crate) fn covers_role(context: &RequestContext, role: &Role) -> Result<(), UseCaseError> {
    context.covers(&access::rules_of(role)).map_err(|excess| exceeds(&excess))
}

/// No deny of these rules holds the caller back.
pub(crate) fn lifts(context: &RequestContext, rules: &RoleRules) -> Result<(), UseCaseError> {
    context.snapshot().covers_denies(rules).map_err(|excess| exceeds(&excess))
}

/// The caller has all that an owner has.
pub(crate) fn covers_owner(context: &RequestContext) -> Result<(), UseCaseError> {
    let owner =
        system_roles::find(system_roles::OWNER).map(system_roles::SystemRole::rules).unwrap_or_default();
    context.covers(&owner).map_err(|excess| exceeds(&excess))
}

impl Identity {
    /// Checks that the caller has all that another user has in the organisation: only then may they change
    /// that user's account or membership, for else they could take it over. Everybody is their own equal.
    pub(crate) async fn outranks(&self, context: &RequestContext, user: UserId) -> Result<(), UseCaseError> {
        if user == context.user_id() {
            return Ok(());
        }
        let Some((_, standing)) = self.ports.access.standing(context.tenant(), user).await? else {
            return Ok(());
        };
        // Counted as if in use: an account that is switched off, or a membership that has ended, can come back.
        for role in &standing.roles {
            covers_role(context, role)?;
        }
        for grant in standing.grants.iter().filter(|grant| grant.effect == Effect::Allow) {
            context.covers(&rule_of(grant)).map_err(|excess| exceeds(&excess))?;
        }
        Ok(())
    }

    /// Answer to the deletion of something that is not there: fine, if it was deleted before.
    pub(crate) async fn gone(&self, context: &RequestContext, what: Tombstone) -> Result<(), UseCaseError> {
        match self.ports.directory.was_deleted(context.tenant(), what).await? {
            true => Ok(()),
            false => Err(UseCaseError::NotFound),
        }
    }
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
