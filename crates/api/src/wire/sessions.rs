//! Set-up, sign-in, sessions, passwords and API tokens.

use heddle_kernel::{SessionId, Timestamp, TokenId};
use serde::Serialize;
use utoipa::ToSchema;

use super::directory::{Organization, User};
use super::envelope::Instant;
use super::licence::LicenceState;
use crate::contract::{json_bodies, path_params};

words! {
    /// Proof of a sign-in beside the password.
    enum SecondFactor {
        /// Code of an authenticator.
        Totp = "totp",
        /// One of the recovery codes.
        RecoveryCode = "recoveryCode",
    }
}

path_params! {
    /// Path of a session.
    SessionPath { session_id "sessionId": SessionId }

    /// Path of a provider of sign-ins.
    ProviderPath { provider "provider": String }

    /// Path of an API token.
    TokenPath { token_id "tokenId": TokenId }
}

request! {
    /// The set-up of an installation.
    #[schema(examples(json!({"token": "the-token-printed-at-the-first-start",
        "organization": {"slug": "acme", "displayName": "Acme"},
        "administrator": {"email": "admin@example.com", "displayName": "Admin", "password": "correct horse battery"}})))]
    struct SetUp {
        /// The one-time token that was printed at the first start.
        #[schema(min_length = 1, max_length = 200)]
        token: String,
        /// The first organisation.
        organization: SetUpOrganization,
        /// Administrator: the first user, who owns the organisation.
        administrator: SetUpAdministrator,
    }

    /// The first organisation.
    struct SetUpOrganization {
        /// Unique name.
        #[schema(min_length = 1, max_length = 100, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
        slug: String,
        /// Display name.
        #[schema(min_length = 1, max_length = 200)]
        display_name: String,
    }

    /// The first user.
    struct SetUpAdministrator {
        /// E-mail address; what the user signs in with.
        #[schema(min_length = 3, max_length = 254, pattern = "^[^@\\s]+@[^@\\s]+$")]
        email: String,
        /// Display name.
        #[schema(min_length = 1, max_length = 200)]
        display_name: String,
        /// Password.
        #[schema(min_length = 12, max_length = 1024)]
        password: String,
    }

    /// A sign-in: by e-mail address and password, or, as the second call of an account with a second factor, by the ticket
    /// of the first call and a code.
    #[schema(examples(json!({"email": "admin@example.com", "password": "correct horse battery"})))]
    struct SignIn {
        /// E-mail address.
        #[schema(nullable = false, min_length = 1, max_length = 254)]
        email: Option<String>,
        /// Password.
        #[schema(nullable = false, min_length = 1, max_length = 1024)]
        password: Option<String>,
        /// The organisation to select; the first one when absent. Of the first call alone.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        organization_id: Option<String>,
        /// Ticket that the first call answered with.
        #[schema(nullable = false, min_length = 1, max_length = 400)]
        ticket: Option<String>,
        /// Code of the authenticator, or a recovery code; spaces and hyphens in it do not count.
        #[schema(nullable = false, min_length = 1, max_length = 64)]
        code: Option<String>,
    }

    /// The enrolment of a second factor: without a code it begins, with one it is confirmed.
    #[schema(examples(json!({"password": "correct horse battery"})))]
    struct EnrolTotp {
        /// The present password, for beginning; absent of an account without one.
        #[schema(nullable = false, min_length = 1, max_length = 1024)]
        password: Option<String>,
        /// Code that the authenticator shows, for confirming.
        #[schema(nullable = false, min_length = 1, max_length = 64)]
        code: Option<String>,
    }

    /// Proof of whoever removes the second factor: one of the two.
    #[schema(examples(json!({"password": "correct horse battery"})))]
    struct RemoveTotp {
        /// The present password.
        #[schema(nullable = false, min_length = 1, max_length = 1024)]
        password: Option<String>,
        /// Code of the authenticator, or a recovery code.
        #[schema(nullable = false, min_length = 1, max_length = 64)]
        code: Option<String>,
    }

    /// The beginning of a sign-in by a provider.
    struct StartOidcQuery {
        /// Path of this service to which the browser is led in the end; `/` when absent.
        #[schema(min_length = 1, max_length = 1000)]
        return_to: Option<String>,
    }

    /// Parameters that a provider gives the browser to bring. Members that are not known are ignored (RFC 6749, 4.1.2).
    struct FinishOidcQuery {
        /// The text that this service gave the provider.
        #[schema(min_length = 1, max_length = 512)]
        state: Option<String>,
        /// The code for which the provider gives its tokens.
        #[schema(min_length = 1, max_length = 4096)]
        code: Option<String>,
        /// The provider's issuer (RFC 9207).
        #[schema(min_length = 1, max_length = 2048)]
        iss: Option<String>,
        /// The provider's reason not to sign the person in.
        #[schema(min_length = 1, max_length = 200)]
        error: Option<String>,
    }

    /// A new password; it ends all other sessions.
    #[schema(examples(json!({"currentPassword": "correct horse battery", "newPassword": "staple battery horse"})))]
    struct ChangePassword {
        /// The present one.
        #[schema(min_length = 1, max_length = 1024)]
        current_password: String,
        /// The new one.
        #[schema(min_length = 12, max_length = 1024)]
        new_password: String,
    }

    /// A new API token.
    #[schema(examples(json!({"name": "nightly import"})))]
    struct CreateApiToken {
        /// The service account for which it is made, by whoever may change the account; the caller when absent.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        user_id: Option<String>,
        /// Name of the token, which tells people its purpose.
        #[schema(min_length = 1, max_length = 200)]
        name: String,
        /// Until when it is valid; without an end when absent.
        #[schema(value_type = Option<Instant>, nullable = false)]
        expires_at: Option<Timestamp>,
        /// The organisation it is narrowed to; all of the user's when absent. That of a service account is narrowed to the
        /// selected one.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        organization_id: Option<String>,
        /// The permissions it is narrowed to; all of the user's when absent.
        #[schema(nullable = false, min_items = 1, max_items = 100)]
        permissions: Option<Vec<String>>,
    }

    /// Which tokens.
    struct TokenListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Those of this service account; the own ones when absent.
        #[schema(min_length = 1, max_length = 200)]
        user_id: Option<String>,
    }

    /// Owner of a token.
    struct TokenQuery {
        /// The service account whose token it is; the caller when absent.
        #[schema(min_length = 1, max_length = 200)]
        user_id: Option<String>,
    }
}

response! {
    /// Outcome of a set-up: the organisation and its owner.
    struct SetUpResult {
        /// The first organisation.
        organization: Organization,
        /// Owner of the organisation.
        user: User,
    }

    /// A session.
    struct Session {
        /// Stable identifier.
        id: String,
        /// Method of the user's sign-in: `password`, or `oidc:` and the name of the provider.
        auth_method: String,
        /// The address it was made from.
        #[schema(required = true)]
        ip: Option<String>,
        /// The program it was made with.
        #[schema(required = true)]
        user_agent: Option<String>,
        /// Proof of the sign-in beside that; null for an account without a second factor.
        #[schema(required = true)]
        second_factor: Option<SecondFactor>,
        /// Whether it is the one that asks.
        current: bool,
        /// Instant of the sign-in.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// Instant of the last use, to the minute.
        #[schema(value_type = Instant)]
        last_seen_at: Timestamp,
        /// Instant at which it ends at the latest.
        #[schema(value_type = Instant)]
        expires_at: Timestamp,
    }

    /// A fresh session.
    struct SignedIn {
        /// The token: as a bearer token, or in the cookie that comes with this answer. It is shown this once.
        token: String,
        /// The session.
        session: Session,
        /// The user.
        user: User,
        /// The selected organisation; null when the user is a member of none.
        #[schema(required = true)]
        organization_id: Option<String>,
        /// The organisations that the user is a member of.
        organizations: Vec<Membership>,
    }

    /// First half of a sign-in: the password is right, and a code of the second factor is needed.
    struct CodeRequired {
        /// Ticket for the second call. By itself it opens nothing.
        ticket: String,
        /// Instant at which the ticket ends.
        #[schema(value_type = Instant)]
        expires_at: Timestamp,
    }

    /// State of an enrolment.
    struct TotpEnrolment {
        /// Whether the second factor is confirmed and counts from now on.
        confirmed: bool,
        /// Secret in base 32, shown this once; null once it is confirmed.
        #[schema(required = true)]
        secret: Option<String>,
        /// Address of the secret, which authenticators read as a QR code; null once it is confirmed.
        #[schema(required = true)]
        otpauth_uri: Option<String>,
        /// Recovery codes, shown this once, each of which counts once in the place of a code; null until it is confirmed.
        #[schema(required = true)]
        recovery_codes: Option<Vec<String>>,
    }

    /// An organisation that a user is a member of.
    struct Membership {
        /// The organisation.
        id: String,
        /// Slug: the organisation's unique name.
        slug: String,
        /// Display name of the organisation.
        display_name: String,
        /// The names of the user's roles in it.
        roles: Vec<String>,
    }

    /// User who is signed in, with the selected organisation and the rights in it.
    struct SessionView {
        /// The session; null with an API token.
        #[schema(required = true)]
        session: Option<Session>,
        /// The API token; null with a session.
        #[schema(required = true)]
        token_id: Option<String>,
        /// The user.
        user: User,
        /// The selected organisation; null when there is none.
        #[schema(required = true)]
        organization_id: Option<String>,
        /// The organisations that the user is a member of.
        organizations: Vec<Membership>,
        /// The permissions in the selected organisation, sorted.
        permissions: Vec<String>,
        /// State of the licence.
        licence_state: LicenceState,
        /// Warning about the licence, as the header `x-licence-warning` has it; null while it is active.
        #[schema(required = true)]
        licence_warning: Option<String>,
    }

    /// An API token without its secret.
    struct ApiToken {
        /// Stable identifier.
        id: String,
        /// Name of the token, which tells people its purpose.
        name: String,
        /// The last characters of its secret.
        hint: String,
        /// Whether it ends in the checksum that scanners for leaked secrets know; one that does not is of before, and is
        /// best replaced.
        checksum: bool,
        /// The organisation it is narrowed to.
        #[schema(required = true)]
        organization_id: Option<String>,
        /// The permissions it is narrowed to.
        #[schema(required = true)]
        permissions: Option<Vec<String>>,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// Until when it is valid; null for one without an end.
        #[schema(required = true, value_type = Option<Instant>)]
        expires_at: Option<Timestamp>,
        /// Instant of the last use, to the minute; null for a token that was never used.
        #[schema(required = true, value_type = Option<Instant>)]
        last_used_at: Option<Timestamp>,
    }

    /// A fresh API token.
    struct CreatedApiToken {
        /// The secret, shown this once.
        token: String,
        /// The token's record.
        record: ApiToken,
    }
}

/// Answer to a sign-in: a session, or what the second call needs.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum SignInResult {
    /// A session.
    SignedIn(Box<SignedIn>),
    /// A code is needed.
    CodeRequired(CodeRequired),
}

json_bodies!(SetUp, SignIn, ChangePassword, EnrolTotp, RemoveTotp, CreateApiToken);
