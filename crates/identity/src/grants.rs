//! Grants and denies on resources.

use heddle_kernel::{GrantId, Page, PageRequest, Timestamp};
use heddle_policy::capability::{GrantCreate, GrantDelete, GrantList, GrantRead};
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, Effect, RequestContext};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;

use crate::ports::{GrantFilter, Tombstone};
use crate::records::{GrantPrincipal, GrantRow};
use crate::rights::{Given, covers, covers_owner, is_in, lifts, resting, rule_of, seen_here};
use crate::{Identity, JournalFor, UseCaseError, validate};
use heddle_usecase::Problems;

/// A grant to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// Principal to whom it applies.
    pub principal: GrantPrincipal,
    /// The type, or `*`.
    pub resource: String,
    /// The action, or `*`.
    pub action: String,
    /// One id, or `*`.
    pub selector: String,
    /// Gives or takes.
    pub effect: Effect,
    /// Instant of expiry; none: never.
    pub expires_at: Option<Timestamp>,
    /// Reason for the grant: at most 1,000 characters.
    pub reason: Option<String>,
}

impl Identity {
    /// The grants of the organisation.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn grants(
        &self,
        authorized: &AuthorizedList<GrantList>,
        context: &RequestContext,
        filter: &GrantFilter,
        page: &PageRequest,
    ) -> Result<Page<GrantRow>, UseCaseError> {
        Ok(self.ports.directory.grants(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// A grant.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn grant(
        &self,
        authorized: &Authorized<GrantRead>,
        context: &RequestContext,
    ) -> Result<GrantRow, UseCaseError> {
        let id = authorized.id();
        Ok(self.ports.directory.grant(context.tenant(), id).await?)
    }

    /// Creates a grant or a deny. Nobody gives more than they have, or for longer, and nobody takes from who has more than
    /// they. A deny leaves an owner whom it does not hold back, so that it can be lifted; one to everyone is lifted by owners.
    ///
    /// # Errors
    /// `Invalid`; `Forbidden` (`exceedsOwnRights`, `outlastsOwnRights`); `Conflict` (`lockOut`).
    pub async fn create_grant(
        &self,
        _: &AuthorizedKind<GrantCreate>,
        context: &RequestContext,
        new: NewGrant,
        record: &JournalFor<'_, GrantRow>,
    ) -> Result<GrantRow, UseCaseError> {
        let row = GrantRow {
            tenant: context.tenant(),
            id: GrantId(self.new_id(context.now())),
            principal: new.principal,
            resource: new.resource,
            action: new.action,
            selector: new.selector,
            effect: new.effect,
            reason: new.reason,
            expires_at: new.expires_at,
            created_at: context.now(),
            created_by: context.user_id(),
        };
        check(&row, context.now())?;
        match row.effect {
            Effect::Allow => {
                let given = Given { rules: rule_of(&row), until: row.expires_at };
                self.gives(context, &[given]).await?;
            }
            Effect::Deny => self.may_deny(context, &row).await?,
        }
        let journal = resting(record(&row), seen_here(context)).changing(None, Some(&row));
        match self.ports.directory.insert_grant(&row, &journal).await {
            Err(StoreError::NotFound) => Err(UseCaseError::invalid(
                "principal.id",
                "notFound",
                "There is no such member, group or role.",
            )),
            other => other.map(|()| row).map_err(UseCaseError::from),
        }
    }

    async fn may_deny(&self, context: &RequestContext, row: &GrantRow) -> Result<(), UseCaseError> {
        let owners_too = match row.principal {
            GrantPrincipal::User(user) => {
                self.outranks(context, user).await?;
                user == context.user_id()
            }
            GrantPrincipal::Group(id) => {
                self.outranks_members(context, id).await?;
                is_in(context, id.0)
            }
            GrantPrincipal::Role(id) => match self.ports.directory.role(context.tenant(), id).await {
                Ok(role) => {
                    self.covers_roles(context, std::slice::from_ref(&role)).await?;
                    if role.system && role.name == heddle_policy::system_roles::OWNER {
                        let message = "It would hold every owner back, and nobody is left who could lift it \
                                       again. What is denied to everyone is lifted by owners.";
                        return Err(UseCaseError::conflict("lockOut", message));
                    }
                    false
                }
                Err(StoreError::NotFound) => false,
                Err(error) => return Err(error.into()),
            },
            GrantPrincipal::Everyone => {
                covers_owner(context)?;
                true
            }
        };
        if owners_too && locks_out(row) {
            let message = "Nobody could lift the deny again.";
            return Err(UseCaseError::conflict("lockOut", message));
        }
        Ok(())
    }

    /// Deletes a grant. Nobody takes what they do not have, or lifts a deny that holds themselves back, but that what is denied
    /// to everyone is lifted by who has all that an owner has.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` (`exceedsOwnRights`).
    pub async fn delete_grant(
        &self,
        authorized: &Authorized<GrantDelete>,
        context: &RequestContext,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let id = authorized.id();
        let row = match self.ports.directory.grant(context.tenant(), id).await {
            Ok(row) => row,
            Err(StoreError::NotFound) => return self.gone(context, Tombstone::Grant(id)).await,
            Err(error) => return Err(error.into()),
        };
        // An ended one gives and takes nothing any more.
        if row.lives(context.now()) {
            covers(context, &rule_of(&row))?;
            lifts(context, &rule_of(&row))?;
            // Whoever could deny it to everyone lifts it again; that it holds them as well is no obstacle.
            if row.effect == Effect::Deny && row.principal == GrantPrincipal::Everyone {
                covers_owner(context)?;
            }
        }
        let journal = resting(journal.clone(), seen_here(context)).changing(Some(&row), None);
        Ok(self.ports.directory.delete_grant(context.tenant(), id, &journal).await?)
    }
}

fn check(row: &GrantRow, now: Timestamp) -> Result<(), UseCaseError> {
    let mut problems = Problems::default();
    for rule in &rule_of(row).resources {
        validate::rule(&mut problems, "", rule);
    }
    heddle_usecase::text(&mut problems, "reason", row.reason.as_deref(), 1000);
    validate::future(&mut problems, "expiresAt", row.expires_at, now);
    problems.finish()
}

/// Whether a deny takes the deletion of grants.
fn locks_out(row: &GrantRow) -> bool {
    let any = |text: &str, one: &str| text == "*" || text == one;
    any(&row.resource, "grant") && any(&row.action, "delete")
}
