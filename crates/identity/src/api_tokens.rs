//! A user's own API tokens.

use heddle_kernel::{MAX_LIMIT, Page, PageRequest, TenantId, Timestamp, TokenId};
use heddle_policy::{RequestContext, SessionKind};
use heddle_usecase::Journal;

use crate::records::ApiToken;
use crate::sessions::own_session;
use crate::token::{API_TOKEN_PREFIX, Token};
use crate::{Identity, JournalFor, UseCaseError, validate};
use heddle_usecase::Problems;

/// An API token to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApiToken {
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

impl Identity {
    /// The own API tokens, newest first. A token that is narrowed, or bound to one organisation, sees itself alone.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn tokens(
        &self,
        context: &RequestContext,
        page: &PageRequest,
    ) -> Result<Page<ApiToken>, UseCaseError> {
        if let (SessionKind::ApiToken(own), true) =
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

    /// Creates an API token.
    ///
    /// # Errors
    /// `Invalid`; `Conflict` (`notUnique`) for a name given before; `Forbidden` (`sessionRequired`, `notAMember`).
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
        if let Some(wanted) = new.organization {
            let own = self.ports.sessions.organizations_of(context.user_id(), context.now()).await?;
            if !own.iter().any(|own| own.organization.id == wanted) {
                let message = "The user is not a member of the organisation.";
                return Err(UseCaseError::forbidden("notAMember", message));
            }
        }
        let token = Token::random(API_TOKEN_PREFIX)?;
        let kept = ApiToken {
            id: TokenId(self.new_id(context.now())),
            user_id: context.user_id(),
            tenant: new.organization,
            name: new.name,
            token_sha256: token.sha256(),
            hint: token.hint(),
            permissions: new.permissions,
            created_at: context.now(),
            last_used_at: None,
            expires_at: new.expires_at,
        };
        let created = CreatedToken { token, record: kept };
        let journal = record(&created).changing(None, Some(&created));
        self.ports.sessions.insert_token(&created.record, &journal).await?;
        Ok(created)
    }

    /// Deletes an own API token; it is refused from the next request on.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` (`sessionRequired`).
    pub async fn delete_token(
        &self,
        context: &RequestContext,
        id: TokenId,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        own_session(context)?;
        Ok(self.ports.sessions.delete_token(context.user_id(), id, journal).await?)
    }
}
