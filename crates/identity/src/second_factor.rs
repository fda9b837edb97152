//! The second factor of an account: enrolment, removal, and the sign-in with a code.

use heddle_policy::{RequestContext, RequestFacts, SessionKind};
use heddle_usecase::{Journal, StoreError};

use crate::ports::{Attempt, Enrolment, Factor, FactorPlace, FactorProof, Removal};
use crate::records::{User, UserState};
use crate::sessions::own_session;
use crate::sign_in::{Proven, SignedIn, Wanted, throttled};
use crate::throttle::Bucket;
use crate::told::ToldFactor;
use crate::totp::{self, TypedCode};
use crate::{Identity, UseCaseError, device, password, ticket, token, tries};

/// Seconds in which a new secret has to be confirmed.
const CONFIRM_SECONDS: i64 = 10 * 60;
/// Seconds after a sign-in during which an account without a password may change its second factor.
const FRESH_SECONDS: i64 = 10 * 60;
/// Factors that are wrapped anew at once.
const BATCH: u32 = 200;

/// Secret of a second factor that is not confirmed yet, shown this once.
#[derive(Clone, PartialEq, Eq)]
pub struct NewFactor {
    /// Secret in base 32.
    pub secret: String,
    /// Address of the secret, for a QR code.
    pub uri: String,
}

impl std::fmt::Debug for NewFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewFactor(..)")
    }
}

/// Sign-in by a ticket and a code, as it was sent.
#[derive(Clone, Default)]
pub struct SignInCode {
    /// Ticket that the right password gave.
    pub ticket: String,
    /// One-time code or recovery code.
    pub code: String,
    /// `User-Agent`.
    pub user_agent: Option<String>,
    /// The token of a session that came with it; that session ends.
    pub presented: Option<String>,
    /// The mark of a device on which an account was signed in before.
    pub device: Option<String>,
}

impl std::fmt::Debug for SignInCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignInCode(..)")
    }
}

/// Proof of whoever removes a second factor: one of the two.
#[derive(Clone, Copy, Default)]
pub struct RemovalProof<'a> {
    /// The present password.
    pub password: Option<&'a str>,
    /// A one-time code or a recovery code.
    pub code: Option<&'a str>,
}

impl std::fmt::Debug for RemovalProof<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RemovalProof(..)")
    }
}

/// Report of a rotation of the keys that secrets of second factors are sealed under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RewrappedFactors {
    /// Secrets that are under the current key now and were not.
    pub rewrapped: u64,
    /// Secrets that did not open; they stay as they are.
    pub unreadable: u64,
}

const fn place(user: &User) -> FactorPlace {
    FactorPlace { home: user.home, user: user.id }
}

fn wrong_code() -> UseCaseError {
    UseCaseError::invalid("code", "wrong", "The code is another, or was used before.")
}

fn enrolled() -> UseCaseError {
    let message = "The account has a second factor. It is removed first: DELETE /api/auth/totp.";
    UseCaseError::conflict("alreadyEnrolled", message)
}

impl Identity {
    /// Begins the enrolment of a second factor: makes a secret, which a code has to confirm within ten minutes. It takes
    /// the present password; of an account without one, a session that was opened within ten minutes.
    ///
    /// # Errors
    /// `Invalid` for a wrong password; `Throttled`, `Busy`; `Forbidden` (`sessionRequired`, `signInAgain`); `Conflict`
    /// (`alreadyEnrolled`).
    pub async fn begin_totp(
        &self,
        context: &RequestContext,
        present: Option<&str>,
        journal: &Journal,
    ) -> Result<NewFactor, UseCaseError> {
        own_session(context)?;
        let user = self.own_account(context).await?;
        if user.totp_enrolled_at.is_some() {
            return Err(enrolled());
        }
        self.proves_themselves(context, &user, present).await?;
        let secret = zeroize::Zeroizing::new(token::random_bytes::<{ totp::SECRET_BYTES }>()?);
        let factor = Factor {
            user: user.id,
            sealed: self.ports.sealer.seal(place(&user), secret.as_slice())?,
            last_step: -1,
            begun_at: context.now(),
            confirmed_at: None,
        };
        match self.ports.factors.begin(&factor, journal).await {
            Err(StoreError::Stale) => return Err(enrolled()),
            other => other?,
        }
        let uri = totp::otpauth_uri(secret.as_slice(), &user.email);
        Ok(NewFactor { secret: totp::secret_text(secret.as_slice()), uri })
    }

    /// Confirms the second factor by a code; the recovery codes, which are shown this once. The account's other sessions
    /// end.
    ///
    /// # Errors
    /// `Invalid` for a wrong code; `Throttled`; `Forbidden` (`sessionRequired`); `Conflict` (`alreadyEnrolled`,
    /// `notBegun`, or when the account was changed in the meantime).
    pub async fn confirm_totp(
        &self,
        context: &RequestContext,
        code: &str,
        journal: &Journal,
    ) -> Result<Vec<String>, UseCaseError> {
        let session = own_session(context)?;
        let user = self.own_account(context).await?;
        if user.totp_enrolled_at.is_some() {
            return Err(enrolled());
        }
        let lives = |factor: &Factor| {
            factor.confirmed_at.is_none() && context.now() < factor.begun_at.plus_seconds(CONFIRM_SECONDS)
        };
        let Some(pending) = self.ports.factors.factor(user.id).await?.filter(lives) else {
            let message = "No secret of the last ten minutes waits for a code: begin again without one.";
            return Err(UseCaseError::conflict("notBegun", message));
        };
        let tries = [tries::of_code(user.id, None)];
        self.counted(&tries, context).await?;
        let Some(TypedCode::Digits(digits)) = TypedCode::read(code) else { return Err(wrong_code()) };
        let secret = self.ports.sealer.open(place(&user), &pending.sealed)?;
        let step = totp::matching_step(&secret, &digits, pending.last_step, context.now())?;
        let step = step.ok_or_else(wrong_code)?;
        let codes = totp::new_recovery_codes()?;
        let enrolment = Enrolment {
            pending,
            step,
            recovery_codes: codes.iter().map(|code| kept_recovery_code(&user, code)).collect(),
            expected: user.revision,
            keep: session,
            at: context.now(),
        };
        let none = ToldFactor { enrolled_at: None, revision: user.revision, recovery_codes: &[] };
        let made = ToldFactor {
            enrolled_at: Some(enrolment.at),
            revision: user.revision.next(),
            recovery_codes: &enrolment.recovery_codes,
        };
        let journal = journal.clone().changing(Some(&none), Some(&made));
        self.ports.factors.confirm(&enrolment, &journal).await?;
        self.ports.sessions.forgive(&tries).await?;
        Ok(codes)
    }

    /// Removes the own second factor. The account's other sessions end.
    ///
    /// # Errors
    /// `Invalid` for a wrong code or password, for none or both; `NotFound` for an account that never had one; `Throttled`,
    /// `Busy`; `Forbidden` (`sessionRequired`); `Conflict` when the account was changed in the meantime.
    pub async fn remove_totp(
        &self,
        context: &RequestContext,
        proof: RemovalProof<'_>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let session = own_session(context)?;
        let user = self.own_account(context).await?;
        if user.totp_enrolled_at.is_none() {
            // Done again it is done.
            return match self.ports.factors.was_removed(user.id).await? {
                true => Ok(()),
                false => Err(UseCaseError::NotFound),
            };
        }
        let given = match (proof.password, proof.code) {
            (Some(present), None) => {
                self.fits_password(context, &user, present).await?;
                None
            }
            (None, Some(code)) => {
                self.counted(&[tries::of_code(user.id, None)], context).await?;
                Some(self.code_proof(&user, code, context.now()).await?.ok_or_else(wrong_code)?)
            }
            (None, None) => {
                return Err(UseCaseError::invalid("code", "required", "A code or the password is needed."));
            }
            (Some(_), Some(_)) => {
                return Err(UseCaseError::invalid(
                    "code",
                    "contradiction",
                    "A code or the password, not both.",
                ));
            }
        };
        let (user_id, expected, at) = (user.id, user.revision, context.now());
        let by_code = given.is_some();
        let removal = Removal { user: user_id, proof: given, expected, keep: session, at };
        let had = ToldFactor { enrolled_at: user.totp_enrolled_at, revision: expected, recovery_codes: &[] };
        let left = ToldFactor { enrolled_at: None, revision: expected.next(), recovery_codes: &[] };
        let journal = journal.clone().changing(Some(&had), Some(&left));
        match self.ports.factors.remove(&removal, &journal).await {
            Err(StoreError::NotFound) if by_code => return Err(wrong_code()),
            other => other?,
        }
        if by_code {
            self.ports.sessions.forgive(&[tries::of_code(user_id, None)]).await?;
        }
        Ok(())
    }

    /// Opens a session by the ticket that a right password gave, and a code.
    ///
    /// # Errors
    /// `Unauthenticated` for a ticket that has ended or is none, and for a code that does not fit or was used;
    /// `Throttled` after too many codes; `Busy`; `Forbidden` (`notAMember`); `Unavailable`.
    pub async fn sign_in_with_code(
        &self,
        sent: &SignInCode,
        request: &RequestFacts,
    ) -> Result<SignedIn, UseCaseError> {
        let Some(ticket) = ticket::read(&self.tools.key, &sent.ticket, request.now) else {
            return Err(self.refuse_code(None, request).await);
        };
        let user = self.ports.sessions.user(ticket.user).await?;
        let about = |user: &User| {
            user.state == UserState::Active && user.totp_enrolled_at.is_some() && ticket.is_about(user)
        };
        let Some(user) = user.filter(about) else { return Err(self.refuse_code(None, request).await) };
        let account = tries::account_key(&user.email);
        let known = device::known(&self.tools.key, &account, sent.device.as_deref(), request.now);
        let bucket = tries::of_code(user.id, known.as_deref());
        let counted = self.ports.sessions.attempt(std::slice::from_ref(&bucket), request.now).await?;
        if let Attempt::Refused { next_at } = counted {
            return Err(throttled(next_at, request.now));
        }
        let Some(proof) = self.code_proof(&user, &sent.code, request.now).await? else {
            return Err(self.refuse_code(Some(&user), request).await);
        };
        // A success clears the count of the codes and that of the password before it.
        let before = tries::of_sign_in(&account, request.client_ip.as_deref(), known.as_deref());
        let proven = Proven {
            account,
            forgotten: before.own.into_iter().chain([bucket]).collect(),
            forgiven: Vec::new(),
            rehash: None,
            factor: Some(proof),
        };
        let wanted = Wanted {
            organization: ticket.organization,
            user_agent: sent.user_agent.as_deref(),
            presented: sent.presented.as_deref(),
        };
        self.open(user, proven, wanted, request).await
    }

    /// Wraps the secrets of second factors that are under another key anew, batch by batch; interrupted, it is simply
    /// called again. One that does not open is told to the log and stays.
    ///
    /// # Errors
    /// `Unavailable`; what was written before stays.
    pub async fn rewrap_factors(&self) -> Result<RewrappedFactors, UseCaseError> {
        let current = self.ports.sealer.current_key();
        let mut report = RewrappedFactors::default();
        let mut after = None;
        loop {
            let rows = self.ports.factors.sealed_under_others(&current, after, BATCH).await?;
            let Some(last) = rows.last().map(|row| row.place.user) else { return Ok(report) };
            for row in rows {
                match self.ports.sealer.rewrap(row.place, &row.sealed) {
                    Ok(Some(sealed)) => {
                        let user = row.place.user;
                        let written = self.ports.factors.rewrapped(user, &row.sealed, &sealed).await?;
                        report.rewrapped += u64::from(written);
                    }
                    Ok(None) => {}
                    Err(error) => {
                        report.unreadable += 1;
                        tracing::error!(
                            user = %row.place.user, %error,
                            "the secret of a second factor does not open and stays as it is"
                        );
                    }
                }
            }
            after = Some(last);
        }
    }

    /// Proof of a code that fits an account; none for one that does not. That it was not used before is found out when
    /// it is used.
    async fn code_proof(
        &self,
        user: &User,
        code: &str,
        now: heddle_kernel::Timestamp,
    ) -> Result<Option<FactorProof>, UseCaseError> {
        match TypedCode::read(code) {
            None => Ok(None),
            Some(TypedCode::Recovery(text)) => {
                Ok(Some(FactorProof::RecoveryCode { sha256: totp::recovery_sha256(user.id, &text) }))
            }
            Some(TypedCode::Digits(digits)) => {
                let factor = self.ports.factors.factor(user.id).await?;
                let Some(factor) = factor.filter(|factor| factor.confirmed_at.is_some()) else {
                    return Ok(None);
                };
                let secret = self.ports.sealer.open(place(user), &factor.sealed)?;
                let step = totp::matching_step(&secret, &digits, factor.last_step, now)?;
                Ok(step.map(|step| FactorProof::Code { step }))
            }
        }
    }

    /// Counts a try within a session before it is looked at.
    async fn counted(&self, tries: &[Bucket], context: &RequestContext) -> Result<(), UseCaseError> {
        match self.ports.sessions.attempt(tries, context.now()).await? {
            Attempt::Allowed => Ok(()),
            Attempt::Refused { next_at } => Err(throttled(next_at, context.now())),
        }
    }

    /// Checks that whoever holds the session is its owner: by the present password, or, where there is none, by the age of
    /// the session.
    async fn proves_themselves(
        &self,
        context: &RequestContext,
        user: &User,
        present: Option<&str>,
    ) -> Result<(), UseCaseError> {
        match (present, &user.password_hash) {
            (Some(present), Some(_)) => self.fits_password(context, user, present).await,
            (None, Some(_)) => {
                Err(UseCaseError::invalid("password", "required", "The present password is needed."))
            }
            (Some(_), None) => {
                Err(UseCaseError::invalid("password", "notAllowed", "The account has no password."))
            }
            (None, None) => self.is_fresh(context).await,
        }
    }

    async fn is_fresh(&self, context: &RequestContext) -> Result<(), UseCaseError> {
        let SessionKind::Session(id) = context.principal().session else { return Ok(()) };
        let session = self.ports.sessions.session(id).await?;
        if session.is_some_and(|(own, _)| context.now() < own.created_at.plus_seconds(FRESH_SECONDS)) {
            return Ok(());
        }
        let message = "This takes a sign-in of the last ten minutes: sign in again.";
        Err(UseCaseError::forbidden("signInAgain", message))
    }

    async fn fits_password(
        &self,
        context: &RequestContext,
        user: &User,
        present: &str,
    ) -> Result<(), UseCaseError> {
        let turn = self.passwords.turn().await?;
        // Whoever found an open session shall not guess the password through it.
        let tries = [tries::of_password(user.id)];
        self.counted(&tries, context).await?;
        let fits = present.len() <= password::MAX_LENGTH
            && self.passwords.verify(turn, present, user.password_hash.as_deref()).await?;
        if !fits {
            return Err(UseCaseError::invalid("password", "wrong", "The present password is another."));
        }
        Ok(self.ports.sessions.forgive(&tries).await?)
    }
}

/// SHA-256 under which a shown recovery code is kept.
fn kept_recovery_code(user: &User, shown: &str) -> String {
    let bare: String = shown.chars().filter(|letter| *letter != '-').collect();
    totp::recovery_sha256(user.id, &bare.to_ascii_uppercase())
}
