//! Set-up, sign-in, sessions, passwords and API tokens.

use heddle_api::operations::{Operation, ops};
use heddle_api::{ErrorCode, wire};
use heddle_faces::literals::second_factor;
use heddle_identity::MARK_SECONDS;
use heddle_identity::records::{ApiToken, OwnOrganization, Session};
use heddle_identity::{
    CodeRequired, CreatedToken, NewApiToken, RemovalProof, SetUpRequest, SignIn, SignInAnswer, SignInCode,
    SignedIn,
};
use heddle_kernel::{SessionId, TenantId, UserId};
use heddle_policy::licence::LicenceState;
use heddle_policy::{RequestContext, SessionKind};
use heddle_usecase::{Journal, UseCaseError};
use serde_json::json;

use super::accounts::user;
use super::directory::organization;
use crate::app::App;
use crate::audit::{self, About, Asked};
use crate::call::{PublicCall, SessionCall, page, remembered};
use crate::credentials::{COOKIE, DEVICE_COOKIE};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// POST /api/setup
pub(crate) async fn set_up(call: PublicCall<ops::SetUpInstallation>) -> HandlerResult {
    let body = call.body;
    let wanted = SetUpRequest {
        slug: body.organization.slug,
        display_name: body.organization.display_name,
        email: body.administrator.email,
        owner_name: body.administrator.display_name,
        password: body.administrator.password,
    };
    let made = call.app.identity.set_up(&body.token, &wanted, &call.facts).await?;
    let data = wire::sessions::SetUpResult {
        organization: organization(&made.organization),
        user: user(&made.user),
    };
    Ok(Response::data(201, data)?.with("location", format!("/api/organizations/{}", made.organization.id)))
}

/// POST /api/auth/sign-in
pub(crate) async fn sign_in(call: PublicCall<ops::SignIn>) -> HandlerResult {
    match way(&call.body)? {
        Way::Password { email, password } => by_password(call, email, password).await,
        Way::Code { ticket, code } => by_code(call, ticket, code).await,
    }
}

/// Way of a sign-in.
enum Way {
    Password { email: String, password: String },
    Code { ticket: String, code: String },
}

/// Way that a body asks for: one of the two, and nothing of the other.
fn way(body: &wire::sessions::SignIn) -> Result<Way, Failure> {
    let needed = |member: &Option<String>, name: &str| {
        let message = format!("The member `{name}` is required.");
        member.clone().ok_or_else(|| Failure::at(name, "required", message))
    };
    if body.ticket.is_none() && body.code.is_none() {
        let (email, password) = (needed(&body.email, "email")?, needed(&body.password, "password")?);
        return Ok(Way::Password { email, password });
    }
    let others =
        [("email", &body.email), ("password", &body.password), ("organizationId", &body.organization_id)];
    if let Some((name, _)) = others.into_iter().find(|(_, member)| member.is_some()) {
        let message = format!("`{name}` belongs to the first call, and the ticket stands for it.");
        return Err(Failure::at(name, "notAllowed", message));
    }
    Ok(Way::Code { ticket: needed(&body.ticket, "ticket")?, code: needed(&body.code, "code")? })
}

/// A refused organisation of a sign-in. Whoever names one that they do not belong to is told nothing else than with a
/// wrong password.
fn not_told(call: &PublicCall<ops::SignIn>, error: UseCaseError) -> UseCaseError {
    match error {
        UseCaseError::Forbidden(problem) => {
            let asked = Asked { spec: ops::SignIn::ID.spec(), facts: &call.facts, caller: None, path: &[] };
            asked.refused(&call.app, &UseCaseError::Forbidden(problem).into());
            UseCaseError::Unauthenticated
        }
        other => other,
    }
}

async fn by_password(call: PublicCall<ops::SignIn>, email: String, password: String) -> HandlerResult {
    let wanted = SignIn {
        email,
        password,
        organization: tenant(call.body.organization_id.as_deref())?,
        user_agent: call.meta.user_agent.clone(),
        presented: call.meta.token.clone(),
        device: call.meta.device.clone(),
    };
    let answer = call.app.identity.sign_in(&wanted, &call.facts).await;
    match answer.map_err(|error| not_told(&call, error))? {
        SignInAnswer::SignedIn(signed_in) => opened(&call.app, &signed_in),
        SignInAnswer::CodeRequired(CodeRequired { ticket, expires_at }) => {
            let needed = wire::sessions::CodeRequired { ticket, expires_at };
            Response::data(200, wire::sessions::SignInResult::CodeRequired(needed))
        }
    }
}

async fn by_code(call: PublicCall<ops::SignIn>, ticket: String, code: String) -> HandlerResult {
    let sent = SignInCode {
        ticket,
        code,
        user_agent: call.meta.user_agent.clone(),
        presented: call.meta.token.clone(),
        device: call.meta.device.clone(),
    };
    let signed_in = call.app.identity.sign_in_with_code(&sent, &call.facts).await;
    match signed_in.map_err(|error| not_told(&call, error)) {
        Ok(signed_in) => opened(&call.app, &signed_in),
        Err(UseCaseError::Unauthenticated) => {
            let message = "The code is another or was used before, or the ticket has ended. With a new code it can be \
                           tried again; with a ticket that has ended the password is needed again.";
            Err(Failure::because(ErrorCode::AuthenticationRequired, "codeRefused", message))
        }
        Err(error) => Err(error.into()),
    }
}

/// Answer with a fresh session, and its cookies.
fn opened(app: &App, signed_in: &SignedIn) -> HandlerResult {
    let token = signed_in.token.expose().to_owned();
    let seconds = i64::from(app.config.session_hours) * 3600;
    let cookie = format!("{COOKIE}={token}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={seconds}");
    let device = format!(
        "{DEVICE_COOKIE}={}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={MARK_SECONDS}",
        signed_in.device
    );
    let data = wire::sessions::SignedIn {
        token,
        session: session(&signed_in.session, Some(signed_in.session.id)),
        user: user(&signed_in.user),
        organization_id: Some(signed_in.session.tenant.to_string()),
        organizations: signed_in.organizations.iter().map(membership).collect(),
    };
    let data = wire::sessions::SignInResult::SignedIn(Box::new(data));
    Ok(Response::data(200, data)?.with("set-cookie", cookie).with("set-cookie", device))
}

/// POST /api/auth/sign-out
pub(crate) async fn sign_out(call: SessionCall<ops::SignOut>) -> HandlerResult {
    let context = call.caller.context(call.facts.clone());
    let id = call.caller.session_id().map(|id| id.to_string()).unwrap_or_default();
    call.app.identity.sign_out(&context, &journal(&call, &context, &id)).await?;
    let gone = format!("{COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0");
    Ok(Response::none().with("set-cookie", gone))
}

/// GET /api/auth/session
pub(crate) async fn current(call: SessionCall<ops::GetSession>) -> HandlerResult {
    let context = call.caller.context(call.facts);
    let info = call.app.identity.session_info(&context).await?;
    let sessions = call.app.identity.sessions(&context).await?;
    let own = call.caller.session_id();
    let present = sessions.iter().find(|session| Some(session.id) == own);
    let token_id = match context.principal().session {
        SessionKind::ApiToken(id) | SessionKind::ServiceToken(id) => Some(id.to_string()),
        SessionKind::Session(_) | SessionKind::CommandLine(_) => None,
    };
    Response::data(
        200,
        wire::sessions::SessionView {
            session: present.map(|found| session(found, own)),
            token_id,
            user: user(&info.user),
            organization_id: call.caller.tenant().map(|tenant| tenant.to_string()),
            organizations: info.organizations.iter().map(membership).collect(),
            permissions: info.permissions.into_iter().map(|one| one.as_str().to_owned()).collect(),
            licence_state: licence_state(call.app.identity.licence_state().state),
            licence_warning: call.app.identity.licence_warning(),
        },
    )
}

/// GET /api/auth/sessions
pub(crate) async fn list(call: SessionCall<ops::ListSessions>) -> HandlerResult {
    let context = call.caller.context(call.facts);
    let own = call.caller.session_id();
    let items = call.app.identity.sessions(&context).await?;
    let limit = u32::try_from(items.len()).unwrap_or(u32::MAX).max(1);
    Response::list(heddle_kernel::Page { items, next: None }, limit, |found| session(&found, own))
}

/// DELETE /api/auth/sessions/{sessionId}
pub(crate) async fn end(call: SessionCall<ops::EndSession>) -> HandlerResult {
    let context = call.caller.context(call.facts.clone());
    let id = call.path.session_id;
    call.app.identity.end_session(&context, id, &journal(&call, &context, &id.to_string())).await?;
    Ok(Response::none())
}

/// PUT /api/auth/password
pub(crate) async fn change_password(call: SessionCall<ops::ChangePassword>) -> HandlerResult {
    let context = call.caller.context(call.facts.clone());
    let journal = journal(&call, &context, &context.user_id().to_string());
    let body = &call.body;
    let identity = &call.app.identity;
    identity.change_password(&context, &body.current_password, &body.new_password, &journal).await?;
    Ok(Response::none())
}

/// POST /api/auth/totp
pub(crate) async fn enrol_totp(call: SessionCall<ops::EnrolTotp>) -> HandlerResult {
    let context = call.caller.context(call.facts.clone());
    let key = call.meta.idempotency.as_ref();
    // Kept is that it was done, and never the secret or the codes that the answer holds.
    let kept = Response::none().with("location", "/api/auth/totp".to_owned());
    let idempotency = key.and_then(|key| remembered(ops::EnrolTotp::ID.spec(), &context, key, kept));
    let identity = &call.app.identity;
    let (password, code) = (call.body.password.as_deref(), call.body.code.as_deref());
    let Some(code) = code else {
        // What is not confirmed changes nothing, and is no event.
        let journal = Journal { idempotency, ..Journal::default() };
        let begun = identity.begin_totp(&context, password, &journal).await?;
        return Response::data(
            200,
            wire::sessions::TotpEnrolment {
                confirmed: false,
                secret: Some(begun.secret),
                otpauth_uri: Some(begun.uri),
                recovery_codes: None,
            },
        );
    };
    if password.is_some() {
        let message = "The password begins an enrolment, and a code confirms it.";
        return Err(Failure::at("password", "contradiction", message));
    }
    let journal = Journal { idempotency, ..journal(&call, &context, &context.user_id().to_string()) };
    let codes = identity.confirm_totp(&context, code, &journal).await?;
    Response::data(
        200,
        wire::sessions::TotpEnrolment {
            confirmed: true,
            secret: None,
            otpauth_uri: None,
            recovery_codes: Some(codes),
        },
    )
}

/// DELETE /api/auth/totp
pub(crate) async fn remove_totp(call: SessionCall<ops::RemoveTotp>) -> HandlerResult {
    let context = call.caller.context(call.facts.clone());
    let journal = journal(&call, &context, &context.user_id().to_string());
    let proof = RemovalProof { password: call.body.password.as_deref(), code: call.body.code.as_deref() };
    call.app.identity.remove_totp(&context, proof, &journal).await?;
    Ok(Response::none())
}

/// GET /api/auth/tokens
pub(crate) async fn tokens(call: SessionCall<ops::ListApiTokens>) -> HandlerResult {
    let context = call.caller.context(call.facts);
    let of = account(call.query.user_id.as_deref())?;
    let page = page(call.query.limit, call.query.cursor);
    let found = call.app.identity.tokens(&context, of, &page).await?;
    Response::list(found, page.limit, |token| api_token(&token))
}

/// POST /api/auth/tokens
pub(crate) async fn create_token(call: SessionCall<ops::CreateApiToken>) -> HandlerResult {
    let context = call.caller.context(call.facts.clone());
    let body = &call.body;
    let new = NewApiToken {
        user: account(body.user_id.as_deref())?,
        name: body.name.clone(),
        expires_at: body.expires_at,
        organization: tenant(body.organization_id.as_deref())?,
        permissions: body.permissions.clone(),
    };
    let place = |created: &CreatedToken| format!("/api/auth/tokens/{}", created.record.id);
    let record = |created: &CreatedToken| {
        let token = &created.record;
        let details = json!({
            "name": token.name, "expiresAt": token.expires_at, "permissions": call.body.permissions,
            "organizationId": token.tenant.map(|tenant| tenant.to_string()),
        });
        let about = About::from(&token.id.to_string()).with(details);
        let about = match token.user_id == context.user_id() {
            true => about,
            false => about.and("user", token.user_id),
        };
        let journal = journal(&call, &context, about);
        // Kept is where the token is, and never the secret that the answer holds.
        let kept = Response::none().with("location", place(created));
        let key = call.meta.idempotency.as_ref();
        let idempotency = key.and_then(|key| remembered(ops::CreateApiToken::ID.spec(), &context, key, kept));
        Journal { idempotency, ..journal }
    };
    let created = call.app.identity.create_token(&context, new, &record).await?;
    let location = place(&created);
    let data = wire::sessions::CreatedApiToken {
        token: created.token.expose().to_owned(),
        record: api_token(&created.record),
    };
    Ok(Response::data(201, data)?.with("location", location))
}

/// DELETE /api/auth/tokens/{tokenId}
pub(crate) async fn delete_token(call: SessionCall<ops::DeleteApiToken>) -> HandlerResult {
    let context = call.caller.context(call.facts.clone());
    let id = call.path.token_id;
    let of = account(call.query.user_id.as_deref())?;
    let journal = journal(&call, &context, &id.to_string());
    call.app.identity.delete_token(&context, of, id, &journal).await?;
    Ok(Response::none())
}

fn journal<O: Operation>(
    call: &SessionCall<O>,
    context: &RequestContext,
    about: impl Into<About>,
) -> Journal {
    Journal { audit: audit::done(&call.app, O::ID.spec(), context, about.into()), ..Journal::default() }
}

fn account(text: Option<&str>) -> Result<Option<UserId>, Failure> {
    match text.map(str::parse::<UserId>) {
        None => Ok(None),
        Some(Ok(id)) => Ok(Some(id)),
        Some(Err(_)) => Err(Failure::at("userId", "wrongType", "The id of a service account is needed.")),
    }
}

fn tenant(text: Option<&str>) -> Result<Option<TenantId>, Failure> {
    match text.map(str::parse) {
        None => Ok(None),
        Some(Ok(id)) => Ok(Some(id)),
        Some(Err(_)) => {
            Err(Failure::at("organizationId", "wrongType", "The id of an organisation is needed."))
        }
    }
}

fn session(session: &Session, own: Option<SessionId>) -> wire::sessions::Session {
    wire::sessions::Session {
        id: session.id.to_string(),
        auth_method: session
            .provider
            .as_ref()
            .map_or_else(|| "password".to_owned(), |provider| format!("oidc:{provider}")),
        second_factor: session.second_factor.map(second_factor),
        ip: session.client_ip.clone(),
        user_agent: session.user_agent.clone(),
        current: Some(session.id) == own,
        created_at: session.created_at,
        last_seen_at: session.last_seen_at,
        expires_at: session.expires_at,
    }
}

fn membership(own: &OwnOrganization) -> wire::sessions::Membership {
    wire::sessions::Membership {
        id: own.organization.id.to_string(),
        slug: own.organization.slug.clone(),
        display_name: own.organization.display_name.clone(),
        roles: own.roles.clone(),
    }
}

fn api_token(token: &ApiToken) -> wire::sessions::ApiToken {
    wire::sessions::ApiToken {
        id: token.id.to_string(),
        name: token.name.clone(),
        hint: token.hint.clone(),
        checksum: token.checksum,
        organization_id: token.tenant.map(|tenant| tenant.to_string()),
        permissions: token.permissions.clone(),
        created_at: token.created_at,
        expires_at: token.expires_at,
        last_used_at: token.last_used_at,
    }
}

/// The licence's state in the words of the API.
pub(super) const fn licence_state(state: LicenceState) -> wire::licence::LicenceState {
    match state {
        LicenceState::Trial { .. } => wire::licence::LicenceState::Trial,
        LicenceState::Active { .. } => wire::licence::LicenceState::Active,
        LicenceState::Expiring { .. } => wire::licence::LicenceState::Expiring,
        LicenceState::Grace { .. } => wire::licence::LicenceState::Grace,
        LicenceState::Restricted { .. } => wire::licence::LicenceState::Restricted,
    }
}
