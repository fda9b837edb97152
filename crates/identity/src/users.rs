//! Accounts. Each has a home organisation; only there it is changed and deleted.

use heddle_kernel::{Page, PageRequest, Revision, UserId};
use heddle_policy::capability::{UserCreate, UserDelete, UserList, UserRead, UserUpdate};
use heddle_policy::licence::Limit;
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, RequestContext, SessionKind};
use heddle_usecase::{Journal, RightsSeen};

use crate::ports::{NewUser, Tombstone, UserFilter};
use crate::records::{Membership, RoleEnds, User, UserKind, UserState};
use crate::rights::{Lasting, capped, changed, resting, seen_here};
use crate::{Identity, JournalFor, UseCaseError, password, validate};
use heddle_usecase::check_revision;
use heddle_usecase::{Problems, StoreError};

/// An account to create.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct NewAccount {
    /// Kind of the account; a person when none is named.
    pub kind: Option<UserKind>,
    /// The e-mail address, unique in the installation.
    pub email: String,
    /// The name: 1 to 200 characters.
    pub display_name: String,
    /// The password; without one there is no sign-in until one is set. A service account has none.
    pub password: Option<String>,
    /// Roles in the account's home organisation: ids or names.
    pub roles: Vec<String>,
}

impl std::fmt::Debug for NewAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewAccount").field("roles", &self.roles).finish_non_exhaustive()
    }
}

/// Changes to an account.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct PatchUser {
    /// A new e-mail address.
    pub email: Option<String>,
    /// A new name.
    pub display_name: Option<String>,
    /// A new password; the account's sessions end.
    pub password: Option<String>,
    /// New state: in use or switched off.
    pub state: Option<UserState>,
    /// Whether it has a second factor: `false` takes it away, and the account's sessions end; only the account itself
    /// enrols one.
    pub second_factor: Option<bool>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

impl std::fmt::Debug for PatchUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PatchUser").field("state", &self.state).finish_non_exhaustive()
    }
}

fn weak_password(problems: &mut Problems, password: Option<&str>, context: &[&str]) {
    if let Some(problem) = password.and_then(|text| password::problem("password", text, context)) {
        problems.add("password", problem.reason, problem.message);
    }
}

/// A service account acts by its API tokens and never signs in.
fn no_password(problems: &mut Problems, kind: UserKind, password: Option<&str>) {
    if kind == UserKind::Service && password.is_some() {
        let message = "A service account has no password: it acts by API tokens.";
        problems.add("password", "notAllowed", message);
    }
}

impl Identity {
    /// The accounts that are at home or members in the organisation.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn users(
        &self,
        authorized: &AuthorizedList<UserList>,
        context: &RequestContext,
        filter: &UserFilter,
        page: &PageRequest,
    ) -> Result<Page<User>, UseCaseError> {
        Ok(self.ports.directory.users(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// Account of this id.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn user(
        &self,
        authorized: &Authorized<UserRead>,
        context: &RequestContext,
    ) -> Result<User, UseCaseError> {
        let id = authorized.id();
        Ok(self.ports.directory.user(context.tenant(), id).await?)
    }

    /// Creates an account at home in the organisation, with its membership there.
    ///
    /// # Errors
    /// `Invalid`; `Conflict` (`notUnique`) for the e-mail address; `LimitReached`; `Forbidden` (`exceedsOwnRights`,
    /// `outlastsOwnRights`); `Busy`.
    pub async fn create_user(
        &self,
        _: &AuthorizedKind<UserCreate>,
        context: &RequestContext,
        new: NewAccount,
        record: &JournalFor<'_, User>,
    ) -> Result<User, UseCaseError> {
        let email = validate::email_form(&new.email);
        let mut problems = Problems::default();
        validate::email(&mut problems, "email", &email);
        heddle_usecase::name(&mut problems, "displayName", &new.display_name, 200);
        weak_password(&mut problems, new.password.as_deref(), &[&email, &new.display_name]);
        let kind = new.kind.unwrap_or(UserKind::Person);
        no_password(&mut problems, kind, new.password.as_deref());
        problems.finish()?;
        let roles = self.named_roles(context, &new.roles).await?;
        self.gives_roles(context, &roles, &RoleEnds::new(), None).await?;
        let password_hash = match &new.password {
            Some(text) => Some(self.passwords.hash(self.passwords.turn().await?, text).await?),
            None => None,
        };
        let now = context.now();
        let user = User {
            id: UserId(self.new_id(now)),
            home: context.tenant(),
            kind,
            email,
            display_name: new.display_name,
            password_changed_at: password_hash.as_ref().map(|_| now),
            password_hash,
            totp_enrolled_at: None,
            state: UserState::Active,
            revision: Revision::FIRST,
            created_at: now,
            updated_at: now,
        };
        let membership = Membership {
            tenant: context.tenant(),
            user_id: user.id,
            roles: roles.iter().map(|role| role.id).collect(),
            role_ends: RoleEnds::new(),
            groups: Vec::new(),
            expires_at: None,
            revision: Revision::FIRST,
            created_at: now,
            updated_at: now,
        };
        let account = NewUser { user: user.clone(), membership };
        let limit = self.limit(Limit::Users);
        let rights = if roles.is_empty() { RightsSeen::default() } else { seen_here(context) };
        let journal = resting(record(&user), rights).changing(None, Some(&user));
        let made = self.ports.directory.insert_user(&account, limit, &journal).await;
        capped(made.map_err(|error| taken(error, &user.email))?, Limit::Users.as_str(), limit)?;
        Ok(user)
    }

    /// An account that this organisation may change, because it is at home here and has no more rights than the
    /// caller.
    pub(crate) async fn changeable(
        &self,
        context: &RequestContext,
        id: UserId,
    ) -> Result<User, UseCaseError> {
        let user = self.ports.directory.user(context.tenant(), id).await?;
        if user.home != context.tenant() {
            let message = "The account is at home in another organisation, which alone may change it.";
            return Err(UseCaseError::forbidden("foreignAccount", message));
        }
        self.outranks(context, id).await?;
        Ok(user)
    }

    /// Changes an account. Whoever sets what the account signs in with, or switches it on or off, has all that it has
    /// in every organisation; whoever sets what it signs in with has it here for as long.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`; `Conflict` (`revisionMismatch`, `notUnique`, `lastOwner`, `lockOut`, `ownAccount`);
    /// `Forbidden` (`foreignAccount`, `exceedsOwnRights`, `outlastsOwnRights`, `outrankedElsewhere`, `limitedToken`,
    /// `ownPassword`, `ownSecondFactor`); `Busy`.
    pub async fn update_user(
        &self,
        authorized: &Authorized<UserUpdate>,
        context: &RequestContext,
        patch: PatchUser,
        record: &JournalFor<'_, User>,
    ) -> Result<User, UseCaseError> {
        let id = authorized.id();
        let mut user = self.changeable(context, id).await?;
        let seen = user.revision;
        check_revision(patch.revision, seen)?;
        let email = patch.email.as_deref().map(validate::email_form).filter(|email| *email != user.email);
        let loses_factor = patch.second_factor == Some(false) && user.totp_enrolled_at.is_some();
        let signs_in_otherwise = patch.password.is_some() || email.is_some() || loses_factor;
        if signs_in_otherwise {
            self.lasts_as(context, id, Lasting::Account(None)).await?;
        }
        let rights = match signs_in_otherwise || patch.state.is_some() {
            true => self.outranks_elsewhere(context, id).await?,
            false => seen_here(context),
        };
        let before = user.clone();
        let mut problems = Problems::default();
        // What stays as it was is not held against the rules of today: an account with such a name is switched off, too.
        if let Some(email) = email {
            validate::email(&mut problems, "email", &email);
            user.email = email;
        }
        if let Some(name) = patch.display_name {
            heddle_usecase::name(&mut problems, "displayName", &name, 200);
            user.display_name = name;
        }
        weak_password(&mut problems, patch.password.as_deref(), &[&user.email, &user.display_name]);
        no_password(&mut problems, user.kind, patch.password.as_deref());
        if patch.second_factor == Some(true) && user.totp_enrolled_at.is_none() {
            problems.add(
                "secondFactor",
                "notAllowed",
                "Only the account itself enrols one: POST /api/auth/totp.",
            );
        }
        problems.finish()?;
        if id == context.user_id() {
            // On the command line nobody is in person who they say: who lost the only password gets in again so.
            let by_command = matches!(context.principal().session, SessionKind::CommandLine(_));
            not_oneself(patch.password.is_some() && !by_command, patch.state)?;
            not_own_factor(loses_factor && !by_command)?;
        }
        if let Some(text) = &patch.password {
            user.password_hash = Some(self.passwords.hash(self.passwords.turn().await?, text).await?);
            user.password_changed_at = Some(context.now());
        }
        if loses_factor {
            user.totp_enrolled_at = None;
        }
        user.state = patch.state.unwrap_or(user.state);
        if user == before {
            // Nothing to write; an audit event of a change that was none would mislead.
            return Ok(user);
        }
        user.revision = seen.next();
        user.updated_at = context.now();
        let journal = resting(record(&user), rights).changing(Some(&before), Some(&user));
        let done = self.ports.directory.update_user(&user, seen, &journal).await;
        changed(done.map_err(|error| taken(error, &user.email))?)?;
        Ok(user)
    }

    /// Deletes an account.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`lastOwner`, `lockOut`, `ownAccount`, `revisionMismatch`); `Forbidden`
    /// (`foreignAccount`, `exceedsOwnRights`, `outrankedElsewhere`).
    pub async fn delete_user(
        &self,
        authorized: &Authorized<UserDelete>,
        context: &RequestContext,
        revision: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let id = authorized.id();
        let user = match self.changeable(context, id).await {
            Ok(user) => user,
            Err(UseCaseError::NotFound) => return self.gone(context, Tombstone::User(id)).await,
            Err(error) => return Err(error),
        };
        check_revision(revision, user.revision)?;
        if id == context.user_id() {
            return Err(UseCaseError::conflict("ownAccount", "Nobody deletes his own account."));
        }
        let rights = self.outranks_elsewhere(context, id).await?;
        self.lifts_own_denies(context, id).await?;
        let journal = resting(journal.clone(), rights).changing(Some(&user), None);
        changed(self.ports.directory.delete_user(user.home, id, user.revision, &journal).await?)
    }
}

/// The store's error, with the address that another account has.
fn taken(error: StoreError, email: &str) -> UseCaseError {
    match error {
        StoreError::Duplicate(what) if what.contains("email") => {
            UseCaseError::not_unique("email", format!("There is an account `{email}` already."))
        }
        other => other.into(),
    }
}

fn not_own_factor(loses: bool) -> Result<(), UseCaseError> {
    if loses {
        let message = "The own second factor is removed with a code or the password: DELETE /api/auth/totp.";
        return Err(UseCaseError::forbidden("ownSecondFactor", message));
    }
    Ok(())
}

fn not_oneself(sets_password: bool, state: Option<UserState>) -> Result<(), UseCaseError> {
    if sets_password {
        let message = "The own password is changed with the present one: PUT /api/auth/password.";
        return Err(UseCaseError::forbidden("ownPassword", message));
    }
    if state == Some(UserState::Disabled) {
        return Err(UseCaseError::conflict("ownAccount", "Nobody switches his own account off."));
    }
    Ok(())
}
