//! Hooks: their administration, and the calls that come in at them.

use heddle_api::operations::{Operation as _, ops};
use heddle_api::{ApiError, Detail, ErrorCode, wire};
use heddle_connections::ports::HookFilter;
use heddle_connections::records::SecretState;
use heddle_connections::secret::Secret;
use heddle_connections::{
    Hook, HookCall, HookEvent, HookMapping, HookPatch, HookRefusal, HookSignature, Hooked, NewHook,
    NewSignature, SignatureFault,
};
use heddle_egress::Url;
use heddle_faces::literals::{signature_scheme, signature_scheme_of};
use heddle_identity::Authenticated;
use heddle_identity::token::{HOOK_PREFIX, Token};
use heddle_kernel::Patch;
use heddle_policy::capability::CaseEventCreate;
use heddle_policy::licence::Entitlement;
use heddle_usecase::{Actor, AuditEntry, Journal};
use heddle_workflows::records::InboxEvent;
use heddle_workflows::runs::CaseEvent;
use serde_json::json;

use crate::app::App;
use crate::audit::{self, About};
use crate::call::{Call, PublicCall, page};
use crate::failure::Failure;
use crate::gate;
use crate::reply::{HandlerResult, Response};

/// Seconds after which a sender may come back.
const RETRY_SECONDS: u64 = 5;

/// GET /api/incoming-hooks
pub(crate) async fn list(call: Call<ops::ListHooks>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = HookFilter { q: query.q };
    let found = call.app.hooks.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |hook| shown(&hook, None))
}

/// POST /api/incoming-hooks
pub(crate) async fn create(call: Call<ops::CreateHook>) -> HandlerResult {
    let (body, token) = (&call.body, Token::random(HOOK_PREFIX)?);
    let new = NewHook {
        name: body.name.clone(),
        token_sha256: token.sha256(),
        event_type: body.event_type.clone(),
        mapping: HookMapping {
            correlation_key: body.correlation_key.clone(),
            idempotency_key: body.idempotency_key.clone(),
            payload: body.payload.clone(),
            when: body.when.clone(),
        },
        signature: body.signature.as_ref().map(signature_of),
        requests_per_second: body.requests_per_second,
        max_bytes: body.max_bytes,
    };
    let answer = |made: &Hook, token: Option<&Token>| {
        let location = format!("/api/incoming-hooks/{}", made.id);
        Ok(Response::data(201, shown(made, token))?.with("location", location).tagged(made.revision))
    };
    let record = |made: &Hook| {
        let details = json!({ "eventType": made.event_type });
        // What is kept for a repeat has no secret.
        call.journal_with(&made.id.to_string(), details, || answer(made, None))
    };
    let made = call.app.hooks.create(&call.authorized, &call.context, new, &record).await?;
    answer(&made, Some(&token))
}

/// GET /api/incoming-hooks/{hookId}
pub(crate) async fn get(call: Call<ops::GetHook>) -> HandlerResult {
    let found = call.app.hooks.get(&call.authorized, &call.context).await?;
    Ok(Response::data(200, shown(&found, None))?.tagged(found.revision))
}

/// PATCH /api/incoming-hooks/{hookId}
pub(crate) async fn patch(call: Call<ops::UpdateHook>) -> HandlerResult {
    let body = &call.body;
    let patch = HookPatch {
        name: body.name.clone(),
        event_type: body.event_type.clone(),
        correlation_key: body.correlation_key.clone(),
        idempotency_key: body.idempotency_key.clone(),
        payload: body.payload.clone(),
        when: body.when.clone(),
        signature: match &body.signature {
            Patch::Absent => Patch::Absent,
            Patch::Null => Patch::Null,
            Patch::Value(sent) => Patch::Value(signature_of(sent)),
        },
        requests_per_second: body.requests_per_second,
        max_bytes: body.max_bytes,
        owner: super::id_of(body.owner.as_deref(), "owner")?,
        revision: call.seen(body.revision)?,
    };
    let answer = |made: &Hook| Ok(Response::data(200, shown(made, None))?.tagged(made.revision));
    let record = |made: &Hook| {
        let details = json!({ "eventType": made.event_type });
        call.journal_with(&made.id.to_string(), details, || answer(made))
    };
    let made = call.app.hooks.update(&call.authorized, &call.context, patch, &record).await?;
    answer(&made)
}

/// DELETE /api/incoming-hooks/{hookId}
pub(crate) async fn delete(call: Call<ops::DeleteHook>) -> HandlerResult {
    let journal = call.audited(&call.authorized.id().to_string());
    call.app.hooks.delete(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    Ok(Response::none())
}

/// POST /api/hooks/{token}
pub(crate) async fn receive(call: PublicCall<ops::ReceiveHook>) -> HandlerResult {
    is_open(&call.app)?;
    let query = parameters(&call.raw_query);
    let sent = HookCall {
        token: &call.path.token,
        headers: &call.headers,
        query: &query,
        body: &call.body.0,
        now: call.facts.now,
    };
    match call.app.hooks.take(sent).await.map_err(refused)? {
        Hooked::Ignored => receipt(wire::hooks::HookOutcome::Ignored, None),
        Hooked::Event(event) => take(&call, event).await,
    }
}

/// Takes the event that a call became, in the name of whoever has the hook, and with the rights that they have now. Who has
/// them no more takes nothing in: the sender comes again, in case somebody gives them back.
async fn take(call: &PublicCall<ops::ReceiveHook>, event: HookEvent) -> HandlerResult {
    let (app, spec, hook) = (&call.app, ops::ReceiveHook::ID.spec(), event.hook);
    let maker = app.identity.of_maker(event.owner, event.tenant, call.facts.now).await?;
    let may = |maker: Authenticated| {
        let authorized = maker.snapshot.authorize_kind::<CaseEventCreate>().ok()?;
        Some((maker.context(call.facts.clone()), authorized))
    };
    let Some((context, authorized)) = maker.and_then(may) else {
        tracing::warn!(organization = %event.tenant, %hook, "whoever has the hook may send no events any more");
        return Err(not_taken());
    };
    let sent = CaseEvent {
        correlation_key: event.correlation_key,
        event_type: event.event_type,
        idempotency_key: event.idempotency_key,
        payload: event.payload,
    };
    let record = |received: &InboxEvent| {
        let about = About::from(&received.id.to_string()).and("hook", hook);
        let about = about.with(json!({ "eventType": received.event_type }));
        let audit = audit::done(app, spec, &context, about);
        let audit = audit.map(|entry| AuditEntry { actor: Actor::system("hook"), ..entry });
        Journal { audit, ..Journal::default() }
    };
    let received = app.runs.receive(&authorized, &context, sent, &record).await?;
    let answered = receipt(wire::hooks::HookOutcome::Accepted, Some(&received.event))?;
    Ok(if received.replayed { answered.with("idempotent-replayed", "true") } else { answered })
}

fn receipt(state: wire::hooks::HookOutcome, event: Option<&InboxEvent>) -> HandlerResult {
    Response::data(202, wire::hooks::HookReceipt { state, event_id: event.map(|event| event.id.to_string()) })
}

/// Whether calls are taken at all: a sender that is told to come back loses nothing while the installation is restricted.
fn is_open(app: &App) -> Result<(), Failure> {
    let role = heddle_policy::licence::ServiceRole::Workflow.as_str();
    let entitled = app.identity.licence_state().allows(Entitlement::Workflow.as_str());
    if gate::unrestricted(app).is_ok() && entitled && app.config.roles.iter().any(|own| own == role) {
        return Ok(());
    }
    Err(not_taken())
}

fn not_taken() -> Failure {
    let message = "No calls are taken for now; come back later.";
    let detail = Detail::new("notTaken", message).with("retryAfterSeconds", RETRY_SECONDS);
    let error = ApiError::because(ErrorCode::DependencyUnavailable, detail);
    Failure { retry_after: Some(RETRY_SECONDS), ..error.into() }
}

/// Parameters of a query, decoded; one that does not read as such is what it is.
fn parameters(raw: &str) -> Vec<(String, String)> {
    let address = Url::parse(&format!("http://hook/?{raw}"));
    let pairs = |address: Url| {
        address.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
    };
    address.map(pairs).unwrap_or_default()
}

/// Refusal of a call. What no hook has, and what is no token, are told alike.
fn refused(refusal: HookRefusal) -> Failure {
    match refusal {
        HookRefusal::Unknown => Failure::not_found(),
        HookRefusal::TooMany { per_second } => {
            let message = format!("The hook takes {per_second} calls a second.");
            let detail = Detail::new("rateLimited", message)
                .with("perSecond", per_second)
                .with("retryAfterSeconds", 1);
            let error = ApiError::because(ErrorCode::RateLimited, detail);
            Failure { retry_after: Some(1), ..error.into() }
        }
        HookRefusal::TooLarge { most } => {
            let detail = Detail::new("tooLarge", format!("The hook takes bodies of {most} bytes."));
            ApiError::because(ErrorCode::PayloadTooLarge, detail.with("limit", most)).into()
        }
        HookRefusal::Signature(fault) => {
            let reason = match fault {
                SignatureFault::Missing => "signatureMissing",
                SignatureFault::Stale => "signatureStale",
                SignatureFault::Wrong => "signatureWrong",
            };
            Failure::at("signature", reason, fault.to_string())
        }
        HookRefusal::Unfit(problem) => {
            let field = problem.field.clone().unwrap_or_default();
            Failure::at(&field, problem.reason, problem.message)
        }
        HookRefusal::Other(error) => error.into(),
    }
}

fn signature_of(sent: &wire::hooks::SetHookSignature) -> NewSignature {
    NewSignature {
        scheme: signature_scheme_of(sent.scheme),
        tolerance_seconds: sent.tolerance_seconds,
        secret: sent.secret.as_ref().map(|text| Secret::new(text.expose())),
        previous_secret: match &sent.previous_secret {
            Patch::Absent => Patch::Absent,
            Patch::Null => Patch::Null,
            Patch::Value(text) => Patch::Value(Secret::new(text.expose())),
        },
    }
}

fn shown(hook: &Hook, token: Option<&Token>) -> wire::hooks::Hook {
    let settings = &hook.settings;
    wire::hooks::Hook {
        id: hook.id.to_string(),
        name: hook.name.clone(),
        event_type: hook.event_type.clone(),
        correlation_key: settings.mapping.correlation_key.clone(),
        idempotency_key: settings.mapping.idempotency_key.clone(),
        payload: settings.mapping.payload.clone(),
        when: settings.mapping.when.clone(),
        signature: settings.signature.as_ref().map(signature),
        requests_per_second: settings.requests_per_second,
        max_bytes: settings.max_bytes,
        token: token.map(|token| token.expose().to_owned()),
        path: token.map(|token| format!("/api/hooks/{}", token.expose())),
        owner: hook.owner().to_string(),
        revision: hook.revision.0,
        created_at: hook.created_at,
        created_by: hook.created_by.to_string(),
        updated_at: hook.updated_at,
        updated_by: hook.updated_by.to_string(),
    }
}

fn signature(of: &HookSignature) -> wire::hooks::HookSignature {
    wire::hooks::HookSignature {
        scheme: signature_scheme(of.scheme),
        tolerance_seconds: of.tolerance_seconds,
        secret: secret(Some(&of.secret)),
        previous_secret: secret(of.previous_secret.as_ref()),
    }
}

fn secret(state: Option<&SecretState>) -> wire::connections::SecretState {
    wire::connections::SecretState {
        configured: state.is_some(),
        updated_at: state.map(|state| state.updated_at),
        hint: state.and_then(|state| state.hint.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded_whatever_it_is() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(parameters("a=1&b=%C3%A4+x&a=2"), [pair("a", "1"), pair("b", "ä x"), pair("a", "2")]);
        assert!(parameters("").is_empty());
        assert_eq!(parameters("x"), [pair("x", "")]);
    }
}
