//! Account of a person whom a provider proved.

use heddle_kernel::{Revision, TenantId, UserId};
use heddle_policy::licence::Limit;
use heddle_policy::{Permission, RequestFacts};
use heddle_usecase::{Problems, RightsSeen};

use super::rules::ProviderRules;
use super::{Federation, FederationError, ProvenPerson, refused};
use crate::ports::ProviderAccount;
use crate::records::{User, UserKind, UserState};
use crate::{UseCaseError, access, validate};

/// Permissions by which an account counts as one of an administrator: whoever has it can give themselves the rest.
const OF_ADMINISTRATORS: [Permission; 5] = [
    Permission::MembersManage,
    Permission::RolesManage,
    Permission::GrantsManage,
    Permission::OrganizationsManage,
    Permission::LicenceManage,
];

/// The longest name of an account, in characters.
const LONGEST_NAME: usize = 200;

/// An account, and how the person came to it.
pub(super) struct Found {
    pub(super) user: User,
    pub(super) account: ProviderAccount,
}

impl Federation {
    /// The account of a person. `home` is where a new one would be at home: the first organisation in which their groups
    /// give a role; `places` are all organisations of the provider's rules.
    pub(super) async fn account(
        &self,
        rules: &ProviderRules,
        person: &ProvenPerson,
        home: Option<TenantId>,
        places: &[TenantId],
        request: &RequestFacts,
    ) -> Result<Found, FederationError> {
        if let Some(id) = self.store.linked_user(&person.identity).await? {
            let user = self.identity.ports.sessions.user(id).await?.ok_or(UseCaseError::Busy)?;
            in_use(&user)?;
            let account = ProviderAccount::Known { seen: user.revision };
            return Ok(Found { user, account });
        }
        if !rules.create_users && !rules.link_accounts {
            return Err(unknown());
        }
        let Some(email) = person.verified_email.as_deref().map(validate::email_form) else {
            let message = "The provider tells no e-mail address that it verified.";
            return Err(refused("emailNotVerified", message));
        };
        let mut problems = Problems::default();
        validate::email(&mut problems, "email", &email);
        if problems.finish().is_err() || !rules.takes_address(&email) {
            let message = "Addresses of this domain are not taken from this provider.";
            return Err(refused("emailDomain", message));
        }
        match self.identity.ports.sessions.user_by_email(&email).await? {
            Some(user) => self.linkable(rules, user, places, request).await,
            None => self.made(rules, person, email, home, request),
        }
    }

    /// An account that is there, if it may be linked by its address alone.
    async fn linkable(
        &self,
        rules: &ProviderRules,
        user: User,
        places: &[TenantId],
        request: &RequestFacts,
    ) -> Result<Found, FederationError> {
        if !rules.link_accounts {
            let message = "There is an account with this address already, and the provider may not open it.";
            return Err(refused("accountExists", message));
        }
        in_use(&user)?;
        if user.totp_enrolled_at.is_some() && rules.required_methods.is_empty() {
            let message = "The account has a second factor, and the provider is asked for none: an address alone does \
                           not stand in for it.";
            return Err(refused("secondFactorEnrolled", message));
        }
        // An address is given to somebody else some day; the id of a person at a provider never is.
        let linked = self.store.identities_of(user.id).await?;
        if linked.iter().any(|one| one.provider == rules.name) {
            let message = "The account with this address belongs to another person of this provider.";
            return Err(refused("accountLinked", message));
        }
        let tenants = self.identity.ports.access.tenants_of(user.id).await?;
        let elsewhere = |tenant: &TenantId| !places.contains(tenant);
        if elsewhere(&user.home) || tenants.iter().any(elsewhere) {
            let message = "The account belongs to an organisation that this provider is not for.";
            return Err(refused("accountElsewhere", message));
        }
        let mut rights = RightsSeen { of: Vec::new(), everywhere: true };
        for tenant in home_and(user.home, &tenants) {
            let standing = self.identity.ports.access.standing(tenant, user.id).await?;
            let Some((account, mut standing)) = standing else { continue };
            rights.of.push((tenant, standing.revision));
            // A membership that has ended can come back.
            if let Some(membership) = &mut standing.membership {
                membership.expires_at = None;
            }
            let own = access::rights_of(&account, tenant, &standing, request.now);
            if !rules.link_administrators && OF_ADMINISTRATORS.iter().any(|one| own.holds(*one)) {
                let message =
                    "The account manages an organisation: such accounts are not linked by their address.";
                return Err(refused("accountOfAdministrator", message));
            }
        }
        let account = ProviderAccount::Linked { seen: user.revision, rights };
        Ok(Found { user, account })
    }

    /// A new account.
    fn made(
        &self,
        rules: &ProviderRules,
        person: &ProvenPerson,
        email: String,
        home: Option<TenantId>,
        request: &RequestFacts,
    ) -> Result<Found, FederationError> {
        if !rules.create_users {
            return Err(unknown());
        }
        let Some(home) = home else {
            let message = "None of the person's groups gives a role here.";
            return Err(refused("noRole", message));
        };
        let now = request.now;
        let shown = |name: &String| !heddle_usecase::has_hidden(name) && !name.trim().is_empty();
        let name = person.name.as_ref().filter(|name| shown(name));
        let display_name = name.unwrap_or(&email).chars().take(LONGEST_NAME).collect();
        let user = User {
            id: UserId(self.identity.new_id(now)),
            home,
            email,
            display_name,
            password_hash: None,
            kind: UserKind::Person,
            totp_enrolled_at: None,
            state: UserState::Active,
            password_changed_at: None,
            revision: Revision::FIRST,
            created_at: now,
            updated_at: now,
        };
        let limit = self.identity.limit(Limit::Users);
        let account = ProviderAccount::Made { user: Box::new(user.clone()), limit };
        Ok(Found { user, account })
    }
}

/// Home and the organisations with a membership, each once.
fn home_and(home: TenantId, tenants: &[TenantId]) -> Vec<TenantId> {
    let mut all = tenants.to_vec();
    all.push(home);
    all.sort_unstable();
    all.dedup();
    all
}

fn in_use(user: &User) -> Result<(), FederationError> {
    match user.kind {
        UserKind::Person => {}
        UserKind::Service => {
            return Err(refused("serviceAccount", "The account is a service's, and nobody signs in to it."));
        }
    }
    match user.state {
        UserState::Active => Ok(()),
        UserState::Disabled => Err(refused("accountDisabled", "The account is switched off.")),
    }
}

fn unknown() -> FederationError {
    refused("unknownPerson", "There is no account for this person of the provider.")
}
