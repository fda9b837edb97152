//! The first start, and set-up by a one-time token or as a demonstration.

use heddle_kernel::{Revision, TenantId, UserId};
use heddle_policy::RequestFacts;
use heddle_policy::licence::Licence;
use heddle_policy::system_roles::{OWNER, SYSTEM_ROLES};
use heddle_usecase::StoreError;
use heddle_usecase::{Journal, Outcome};
use serde_json::json;
use subtle::ConstantTimeEq as _;

use crate::audit::{Event, system};
use crate::licensing::with_trial;
use crate::ports::{NewOrganization, NewUser, SetUp};
use crate::records::{
    InstallationState, Membership, Organization, Role, RoleEnds, User, UserKind, UserState,
};
use crate::token::{SETUP_PREFIX, Token};
use crate::{Identity, UseCaseError, password, token, validate};
use heddle_usecase::{Problem, Problems};

/// Seconds for which a set-up token holds.
pub(crate) const SETUP_SECONDS: i64 = 60 * 60;

/// Licence that the very first start puts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstLicence {
    /// Nothing: the installation is restricted until a licence is installed or its trial is started.
    None,
    /// The trial that the installation signs for itself.
    Trial,
}

/// Result of a start of the service.
#[derive(Debug, Clone)]
pub struct Started {
    /// The set-up token while set-up is open; each start makes a new one.
    pub setup_token: Option<Token>,
    /// The licence in force.
    pub licence: Licence,
}

/// The first organisation and its owner.
#[derive(Clone, PartialEq, Eq)]
pub struct SetUpRequest {
    /// The organisation's slug.
    pub slug: String,
    /// The organisation's name.
    pub display_name: String,
    /// The owner's e-mail address.
    pub email: String,
    /// The owner's name.
    pub owner_name: String,
    /// The owner's password.
    pub password: String,
}

impl std::fmt::Debug for SetUpRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetUpRequest").field("slug", &self.slug).finish_non_exhaustive()
    }
}

/// The first organisation and its owner, as they were made.
#[derive(Debug, Clone)]
pub struct Administrator {
    /// The organisation.
    pub organization: Organization,
    /// The owner.
    pub user: User,
}

impl Identity {
    /// Reads the installation's row; at the very first start writes it, for the demonstration with a trial that the
    /// installation signs for itself. While there is no user, a new set-up token is made.
    ///
    /// # Errors
    /// `Conflict` (`wrongKey`) when the database belongs to another installation key, (`installationGone`) when it has
    /// users but no row of the installation; `Unavailable`.
    pub async fn start(&self, begin: FirstLicence) -> Result<Started, UseCaseError> {
        let now = self.tools.clock.now();
        let state = match self.ports.installation.load().await? {
            Some(state) => state,
            None => self.first_row(begin).await?,
        };
        if state.installation_id != self.tools.key.installation_id() {
            let message = "The database belongs to another installation key; put the right key file back.";
            return Err(UseCaseError::conflict("wrongKey", message));
        }
        let mut setup_token = None;
        let mut state = state;
        if state.set_up_at.is_none() {
            let token = Token::random(SETUP_PREFIX)?;
            let revision = state.revision;
            // The token stands outside the seal, so a row with a wrong seal keeps it.
            state = InstallationState {
                setup_token_sha256: Some(token.sha256()),
                setup_expires_at: Some(now.plus_seconds(SETUP_SECONDS)),
                revision: revision.next(),
                ..state
            };
            self.ports.installation.update(&state, revision, &Journal::default()).await?;
            setup_token = Some(token);
        }
        self.licences.set(state, false);
        let licence = self.licence_state();
        self.licences.tell(licence.state);
        Ok(Started { setup_token, licence })
    }

    async fn first_row(&self, begin: FirstLicence) -> Result<InstallationState, UseCaseError> {
        // Whoever removes the row removes the proof of when the trial began: no new one is made beside users.
        if self.ports.installation.usage().await?.users > 0 {
            let message =
                "The database has users but no installation: put a backup of the whole database back.";
            return Err(UseCaseError::conflict("installationGone", message));
        }
        let request = self.own_request();
        let bare = InstallationState {
            installation_id: self.tools.key.installation_id(),
            setup_token_sha256: None,
            setup_expires_at: None,
            set_up_at: None,
            licence: None,
            licence_installed_at: None,
            trial_started_at: None,
            revoked: Vec::new(),
            high_water_mark: request.now,
            seal: String::new(),
            revision: Revision::FIRST,
            created_at: request.now,
        };
        let (state, journal) = match begin {
            FirstLicence::None => (bare, Journal::default()),
            FirstLicence::Trial => {
                let event = Event {
                    tenant: None,
                    actor: system(),
                    action: "licence.trial_started",
                    resource: ("licence", None),
                    outcome: Outcome::Succeeded,
                    details: json!({ "selfIssued": true }),
                };
                (with_trial(bare, &self.tools.key, request.now)?, self.journal(&request, event))
            }
        };
        let state = self.tools.key.sealed(state)?;
        match self.ports.installation.insert(&state, &journal).await {
            Ok(()) => Ok(state),
            Err(StoreError::Duplicate(_)) => {
                let other = self.ports.installation.load().await?;
                other.ok_or_else(|| UseCaseError::Internal("the installation's row is gone".to_owned()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the installation up with the one-time token.
    ///
    /// # Errors
    /// `Invalid` for a wrong or ended token or unfit members; `Conflict` (`alreadySetUp`); `Busy`; `Unavailable`.
    pub async fn set_up(
        &self,
        token: &str,
        wanted: &SetUpRequest,
        request: &RequestFacts,
    ) -> Result<Administrator, UseCaseError> {
        let state = self.row_to_set_up().await?;
        let given = token::read_setup(token).unwrap_or_default();
        let kept = state.setup_token_sha256.clone().unwrap_or_default();
        let fits: bool = given.as_bytes().ct_eq(kept.as_bytes()).into();
        if kept.is_empty() || !fits || state.setup_expires_at.is_none_or(|end| request.now >= end) {
            let message = "The set-up token is wrong or has ended; a restart of the server makes a new one.";
            return Err(UseCaseError::invalid("token", "invalidToken", message));
        }
        self.found(state, wanted, request).await
    }

    /// Sets the installation up without a token, for whoever starts it: with the owner's password, or with a random
    /// one. None when it was set up before.
    ///
    /// # Errors
    /// `Invalid`, `Busy`, `Unavailable`.
    pub async fn set_up_locally(
        &self,
        wanted: SetUpRequest,
        random_password: bool,
    ) -> Result<Option<(Administrator, String)>, UseCaseError> {
        let state = match self.row_to_set_up().await {
            Ok(state) => state,
            Err(UseCaseError::Conflict(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let password = if random_password { self::random_password()? } else { wanted.password };
        let wanted = SetUpRequest { password: password.clone(), ..wanted };
        let made = self.found(state, &wanted, &self.own_request()).await?;
        Ok(Some((made, password)))
    }

    /// Whether the installation was set up.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn is_set_up(&self) -> Result<bool, UseCaseError> {
        Ok(self.ports.installation.load().await?.is_some_and(|state| state.set_up_at.is_some()))
    }

    async fn row_to_set_up(&self) -> Result<InstallationState, UseCaseError> {
        let state = self.ports.installation.load().await?;
        let state =
            state.ok_or_else(|| UseCaseError::Internal("the installation was not started".to_owned()))?;
        if state.set_up_at.is_some() { Err(already_set_up()) } else { Ok(state) }
    }

    async fn found(
        &self,
        state: InstallationState,
        wanted: &SetUpRequest,
        request: &RequestFacts,
    ) -> Result<Administrator, UseCaseError> {
        check(wanted)?;
        let now = request.now;
        let hash = self.passwords.hash(self.passwords.turn().await?, &wanted.password).await?;
        let organization = Organization {
            id: TenantId(self.new_id(now)),
            slug: wanted.slug.clone(),
            display_name: wanted.display_name.clone(),
            revision: Revision::FIRST,
            created_at: now,
            updated_at: now,
        };
        let user = User {
            id: UserId(self.new_id(now)),
            home: organization.id,
            kind: UserKind::Person,
            email: validate::email_form(&wanted.email),
            display_name: wanted.owner_name.clone(),
            password_hash: Some(hash),
            state: UserState::Active,
            password_changed_at: Some(now),
            totp_enrolled_at: None,
            revision: Revision::FIRST,
            created_at: now,
            updated_at: now,
        };
        let founding = self.founding(organization.clone(), user.id);
        let expected = state.revision;
        let sealed = self.tools.key.is_sealed(&state);
        let next = InstallationState {
            setup_token_sha256: None,
            setup_expires_at: None,
            set_up_at: Some(now),
            revision: expected.next(),
            ..state
        };
        // A row with a wrong seal is not made right by set-up; a licence cures it.
        let next = if sealed { self.tools.key.sealed(next)? } else { next };
        let set_up = SetUp {
            user: NewUser { user: user.clone(), membership: founding.owner.clone() },
            organization: founding,
            state: next.clone(),
            expected,
        };
        let event = Event {
            tenant: Some(organization.id),
            actor: system(),
            action: "installation.set_up",
            resource: ("organization", Some(organization.id.to_string())),
            outcome: Outcome::Succeeded,
            details: json!({ "userId": user.id.to_string() }),
        };
        match self.ports.installation.set_up(&set_up, &self.journal(request, event)).await {
            Ok(()) => {}
            Err(StoreError::Stale | StoreError::Duplicate(_)) => return Err(already_set_up()),
            Err(error) => return Err(error.into()),
        }
        self.licences.set(next, false);
        Ok(Administrator { organization, user })
    }

    /// A new organisation with its system roles and its owner.
    pub(crate) fn founding(&self, organization: Organization, owner: UserId) -> NewOrganization {
        let (tenant, now) = (organization.id, organization.created_at);
        let roles: Vec<Role> =
            SYSTEM_ROLES.iter().map(|known| self.system_role(known, tenant, now)).collect();
        let owner = Membership {
            tenant,
            user_id: owner,
            roles: roles.iter().filter(|role| role.name == OWNER).map(|role| role.id).collect(),
            role_ends: RoleEnds::new(),
            groups: Vec::new(),
            expires_at: None,
            revision: Revision::FIRST,
            created_at: now,
            updated_at: now,
        };
        NewOrganization { organization, roles, owner }
    }
}

fn already_set_up() -> UseCaseError {
    UseCaseError::conflict("alreadySetUp", "The installation was set up before.")
}

fn check(wanted: &SetUpRequest) -> Result<(), UseCaseError> {
    let mut problems = Problems::default();
    heddle_usecase::slug(&mut problems, "organization.slug", &wanted.slug);
    heddle_usecase::name(&mut problems, "organization.displayName", &wanted.display_name, 200);
    validate::email(&mut problems, "administrator.email", &validate::email_form(&wanted.email));
    heddle_usecase::name(&mut problems, "administrator.displayName", &wanted.owner_name, 200);
    let context = [wanted.email.as_str(), &wanted.owner_name, &wanted.slug, &wanted.display_name];
    if let Some(Problem { reason, message, .. }) =
        password::problem("administrator.password", &wanted.password, &context)
    {
        problems.add("administrator.password", reason, message);
    }
    problems.finish()
}

/// A password that nobody has to think of: 24 characters, 120 random bits, without look-alikes.
fn random_password() -> Result<String, UseCaseError> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let bytes = token::random_bytes::<24>()?;
    let letters =
        bytes.iter().filter_map(|byte| LETTERS.get(usize::from(byte & 31))).copied().map(char::from);
    let text: String = letters.collect();
    let groups: Vec<&str> = [0, 6, 12, 18].iter().filter_map(|at| text.get(*at..at + 6)).collect();
    Ok(groups.join("-"))
}
