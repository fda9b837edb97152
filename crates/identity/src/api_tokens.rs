//! API tokens: a user's own, and those of service accounts, which whoever manages the account makes.

use heddle_kernel::{MAX_LIMIT, Page, PageRequest, TenantId, Timestamp, TokenId, UserId};
use heddle_policy::capability::{UserRead, UserUpdate};
use heddle_policy::{RequestContext, SessionKind};
use heddle_usecase::{AuditView, Audited, Journal, Problems, StoreError};

use crate::records::{ApiToken, User, UserKind, UserState};
use crate::rights::{Lasting, resting, seen_here};
use crate::sessions::own_session;
use crate::token::{API_TOKEN_PREFIX, Token};
use crate::{Identity, JournalFor, UseCaseError, validate};

/// An API token to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApiToken {
    /// The service account for which it is made; none: the caller.
    pub user: Option<UserId>,
    /// Name of the token: 1 to 100 characters, unique among the user's tokens.
    pub name: String,
    /// Instant of expiry; none: never.
    pub expires_at: Option<Timestamp>,
    /// The only organisation in which it acts; none: any to which the user belongs.
    pub organization: Option<TenantId>,
    /// The permissions to which it is narrowed; none: all of the user's.
    pub permissions: Option<Vec<String>>,
}

/// A created API token.
#[derive(Debug, Clone)]
pub struct CreatedToken {
    /// The token in the clear; it is shown this once.
    pub token: Token,
    /// Stored record of the token.
    pub record: ApiToken,
}

impl Audited for CreatedToken {
    fn view(&self) -> AuditView {
        self.record.view()
    }
}

impl Identity {
    /// The own API tokens, newest first, or those of a service account. A token that is narrowed, or bound to one
    /// organisation, sees of the own ones itself alone.
    ///
    /// # Errors
    /// `Invalid` for an unknown account; `Forbidden` (`managesNoService`); `Unavailable`.
    pub async fn tokens(
        &self,
        context: &RequestContext,
        of: Option<UserId>,
        page: &PageRequest,
    ) -> Result<Page<ApiToken>, UseCaseError> {
        if let Some(id) = of.filter(|id| *id != context.user_id()) {
            if context.snapshot().authorize_one::<UserRead>(id, ()).is_err() {
                return Err(manages_none());
            }
            let service = self.service(context, id).await?;
            return Ok(self.ports.sessions.tokens(service.id, page).await?);
        }
        if let (SessionKind::ApiToken(own) | SessionKind::ServiceToken(own), true) =
            (context.principal().session, context.snapshot().is_limited())
        {
            let items = self.own_token(context, own).await?.into_iter().collect();
            return Ok(Page { items, next: None });
        }
        Ok(self.ports.sessions.tokens(context.user_id(), page).await?)
    }

    /// The token that the caller came with.
    async fn own_token(
        &self,
        context: &RequestContext,
        own: TokenId,
    ) -> Result<Option<ApiToken>, UseCaseError> {
        let mut page = PageRequest { limit: MAX_LIMIT, cursor: None };
        loop {
            let part = self.ports.sessions.tokens(context.user_id(), &page).await?;
            let found = part.items.into_iter().find(|token| token.id == own);
            if found.is_some() || part.next.is_none() {
                return Ok(found);
            }
            page.cursor = part.next;
        }
    }

    /// A service account at home in the organisation.
    async fn service(&self, context: &RequestContext, id: UserId) -> Result<User, UseCaseError> {
        let unknown =
            || UseCaseError::invalid("userId", "notFound", "There is no such service account here.");
        match self.ports.directory.user(context.tenant(), id).await {
            Ok(user) if user.kind == UserKind::Service && user.home == context.tenant() => Ok(user),
            // People make their own tokens, and other organisations those of their services.
            Ok(_) | Err(StoreError::NotFound) => Err(unknown()),
            Err(error) => Err(error.into()),
        }
    }

    /// A service account that the caller manages: they may change it, and have all that it has.
    async fn managed_service(&self, context: &RequestContext, id: UserId) -> Result<User, UseCaseError> {
        if context.snapshot().authorize_one::<UserUpdate>(id, ()).is_err() {
            return Err(manages_none());
        }
        let user = self.service(context, id).await?;
        self.outranks(context, id).await?;
        Ok(user)
    }

    /// Creates an API token, for the caller or for a service account that they manage. That of a service account acts in
    /// the selected organisation alone.
    ///
    /// # Errors
    /// `Invalid`; `Conflict` (`notUnique`) for a name given before, (`switchedOff`) for a service account that is;
    /// `Forbidden` (`sessionRequired`, `notAMember`, `managesNoService`, `exceedsOwnRights`, `outlastsOwnRights`).
    pub async fn create_token(
        &self,
        context: &RequestContext,
        new: NewApiToken,
        record: &JournalFor<'_, CreatedToken>,
    ) -> Result<CreatedToken, UseCaseError> {
        own_session(context)?;
        let mut problems = Problems::default();
        heddle_usecase::name(&mut problems, "name", &new.name, 100);
        validate::future(&mut problems, "expiresAt", new.expires_at, context.now());
        if let Some(names) = &new.permissions {
            validate::permissions(&mut problems, "permissions", names);
        }
        problems.finish()?;
        let service = new.user.filter(|id| *id != context.user_id());
        if let Some(id) = service {
            return self.create_service_token(context, id, new, record).await;
        }
        if let Some(wanted) = new.organization {
            let own = self.ports.sessions.organizations_of(context.user_id(), context.now()).await?;
            if !own.iter().any(|own| own.organization.id == wanted) {
                let message = "The user is not a member of the organisation.";
                return Err(UseCaseError::forbidden("notAMember", message));
            }
        }
        let created = self.new_token(context, context.user_id(), new)?;
        let journal = record(&created).changing(None, Some(&created));
        self.insert_token(&created, &journal).await?;
        Ok(created)
    }

    /// Writes a new token; of one account each has a name of its own.
    async fn insert_token(&self, created: &CreatedToken, journal: &Journal) -> Result<(), UseCaseError> {
        match self.ports.sessions.insert_token(&created.record, journal).await {
            Err(StoreError::Duplicate(columns)) if columns.contains("name") => {
                let message = format!("The account has an API token `{}` already.", created.record.name);
                Err(UseCaseError::not_unique("name", message))
            }
            other => Ok(other?),
        }
    }

    async fn create_service_token(
        &self,
        context: &RequestContext,
        id: UserId,
        new: NewApiToken,
        record: &JournalFor<'_, CreatedToken>,
    ) -> Result<CreatedToken, UseCaseError> {
        let service = self.managed_service(context, id).await?;
        self.lasts_as(context, service.id, Lasting::Account(new.expires_at)).await?;
        if service.state != UserState::Active {
            return Err(UseCaseError::conflict("switchedOff", "The service account is switched off."));
        }
        if new.organization.is_some_and(|wanted| wanted != context.tenant()) {
            let message = "A token of a service account acts in the selected organisation alone.";
            return Err(UseCaseError::invalid("organizationId", "notAllowed", message));
        }
        let new = NewApiToken { organization: Some(context.tenant()), ..new };
        let created = self.new_token(context, service.id, new)?;
        // What the account has, and that it is in use, is still so when the token is written.
        let journal = resting(record(&created).changing(None, Some(&created)), seen_here(context));
        self.insert_token(&created, &journal).await?;
        Ok(created)
    }

    fn new_token(
        &self,
        context: &RequestContext,
        user: UserId,
        new: NewApiToken,
    ) -> Result<CreatedToken, UseCaseError> {
        let token = Token::random(API_TOKEN_PREFIX)?;
        let record = ApiToken {
            id: TokenId(self.new_id(context.now())),
            user_id: user,
            tenant: new.organization,
            name: new.name,
            token_sha256: token.sha256(),
            hint: token.hint(),
            permissions: new.permissions,
            checksum: true,
            created_at: context.now(),
            last_used_at: None,
            expires_at: new.expires_at,
        };
        Ok(CreatedToken { token, record })
    }

    /// Deletes an API token, an own one or one of a service account that the caller manages; it is refused from the next
    /// request on.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for an unknown account; `Forbidden` (`sessionRequired`, `managesNoService`,
    /// `exceedsOwnRights`).
    pub async fn delete_token(
        &self,
        context: &RequestContext,
        of: Option<UserId>,
        id: TokenId,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        own_session(context)?;
        let owner = match of.filter(|user| *user != context.user_id()) {
            None => context.user_id(),
            Some(user) => self.managed_service(context, user).await?.id,
        };
        let journal = journal.deleting(self.ports.sessions.token(owner, id).await)?;
        Ok(self.ports.sessions.delete_token(owner, id, &journal).await?)
    }
}

fn manages_none() -> UseCaseError {
    let message = "Tokens of a service account are for whoever may change the account.";
    UseCaseError::forbidden("managesNoService", message)
}
