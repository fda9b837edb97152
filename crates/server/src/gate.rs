//! The gate: what every operation's row demands, checked in one place and one order. Request id, body limit,
//! authentication 401, licence 423, tenant and membership 403, entitlement 402, service role 503, permission and
//! resource action 403, decoding 400; only then the handler runs. A caller without the right gets the same answer
//! whether the thing exists or not.

use heddle_api::operations::decode_body;
use heddle_api::operations::{
    BodyMedia, Method, Operation, OperationId, OperationSpec, OutputKind, Security, Selector,
};
use heddle_api::{ApiError, Detail, ErrorCode};
use heddle_identity::Authenticated;
use heddle_kernel::{Revision, TenantId};
use heddle_policy::licence::Restriction;
use heddle_policy::{DenialError, RequestContext, RequestFacts};
use heddle_usecase::hex;
use heddle_workflows::ports::FeedMark;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::accept::Accept;
use crate::app::App;
use crate::audit::Asked;
use crate::call::{FirstAnswer, IdempotencyKey, Meta};
use crate::failure::Failure;
use crate::incoming::{Headers, Incoming, parameter};

/// Outcome of the gate's part that needs no body.
#[expect(clippy::large_enum_variant, reason = "it is taken apart where it is given")]
pub(crate) enum Entered {
    /// The call goes on, with its caller, if the operation asks for one.
    Caller(Option<Authenticated>),
    /// End of the call: the same caller has done it before.
    DoneBefore,
}

/// The part of the gate that needs no body: who calls, and whether the installation, the licence and this node let the
/// operation through.
pub(crate) async fn enter(
    app: &App,
    spec: &OperationSpec,
    facts: &RequestFacts,
    headers: &Headers,
    path: &[(String, String)],
) -> Result<Entered, Failure> {
    if spec.security == Security::Public {
        return Ok(Entered::Caller(None));
    }
    let asked = Asked { spec, facts, caller: None, path };
    let refused = |failure: &Failure| asked.refused(app, failure);
    let tenant = tenant(spec, headers, path).inspect_err(refused)?;
    let known = crate::credentials::authenticate(app, headers, spec, tenant, facts).await;
    let caller = known.inspect_err(refused)?;
    if licensed(app, spec).is_ok() && done_before(app, spec, &caller).await? {
        return Ok(Entered::DoneBefore);
    }
    // Whoever reads the data directory has what is in it anyway: there one's own definitions, runs and files are read
    // whatever the licence says.
    let by_licence = !(headers.local.is_some() && spec.method == Method::Get);
    let checked = if by_licence { licensed(app, spec) } else { Ok(()) };
    let checked = checked.and_then(|()| member(spec, &caller));
    let checked = checked.and_then(|()| if by_licence { entitled(app, spec) } else { Ok(()) });
    let checked = checked.and_then(|()| on_this_node(app, spec));
    checked.inspect_err(|failure| Asked { caller: Some(&caller), ..asked }.refused(app, failure))?;
    Ok(Entered::Caller(Some(caller)))
}

/// Whether the caller deletes an organisation that they have deleted already. They belong to it no more, so nothing
/// else can tell.
async fn done_before(app: &App, spec: &OperationSpec, caller: &Authenticated) -> Result<bool, Failure> {
    if spec.id != OperationId::DeleteOrganization || caller.is_member() {
        return Ok(false);
    }
    Ok(app.identity.has_deleted_organization(caller.user.id, caller.snapshot.tenant()).await?)
}

/// The organisation that a request names. An organisation's own operations work in that organisation.
fn tenant(
    spec: &OperationSpec,
    headers: &Headers,
    path: &[(String, String)],
) -> Result<Option<TenantId>, Failure> {
    if let Selector::Tenant(name) = spec.selector() {
        let id = parameter(path, name).and_then(|id| id.parse().ok());
        return id.map(Some).ok_or_else(Failure::not_found);
    }
    match &headers.organization {
        None => Ok(None),
        Some(text) if spec.security == Security::Session => Ok(text.parse().ok()),
        // An organisation that can't exist is one that the caller is no member of.
        Some(text) => text.parse().map(Some).or(Err(Failure::because(
            ErrorCode::PermissionRequired,
            "notAMember",
            "The caller is not a member of the organisation.",
        ))),
    }
}

fn licensed(app: &App, spec: &OperationSpec) -> Result<(), Failure> {
    // Who is signed in may always learn that he is, and end it.
    let open = spec.remediation
        || spec.takes_access
        || (spec.security == Security::Session && !spec.errors.contains(&423));
    if open { Ok(()) } else { unrestricted(app) }
}

/// Refusal of what waits for a licence.
///
/// # Errors
/// 423 while the installation is restricted.
pub(crate) fn unrestricted(app: &App) -> Result<(), Failure> {
    let Some(reason) = app.identity.licence_state().restriction() else { return Ok(()) };
    // What has had a licence or its trial keeps it: only where there is none is the trial a way out.
    let detail = Detail::restricted(reason, reason == Restriction::Missing.as_str());
    Err(ApiError::because(ErrorCode::LicenceRemediationRequired, detail).into())
}

fn member(spec: &OperationSpec, caller: &Authenticated) -> Result<(), Failure> {
    if spec.security == Security::Session || caller.is_member() {
        return Ok(());
    }
    // Whoever asks for another organisation's own record learns nothing of it.
    if matches!(spec.selector(), Selector::Tenant(_)) {
        return Err(Failure::not_found());
    }
    let message = "The caller is not a member of the organisation.";
    Err(Failure::because(ErrorCode::PermissionRequired, "notAMember", message))
}

fn entitled(app: &App, spec: &OperationSpec) -> Result<(), Failure> {
    let Some(entitlement) = spec.entitlement else { return Ok(()) };
    let entitlement = entitlement.as_str();
    if app.identity.licence_state().allows(entitlement) {
        return Ok(());
    }
    let message = format!("The licence does not include `{entitlement}`.");
    let detail = Detail::new("notEntitled", message).with("entitlement", entitlement);
    Err(ApiError::because(ErrorCode::FeatureNotLicensed, detail).into())
}

fn on_this_node(app: &App, spec: &OperationSpec) -> Result<(), Failure> {
    let Some(role) = spec.service_role else { return Ok(()) };
    let role = role.as_str();
    if app.config.roles.iter().any(|own| own == role) {
        return Ok(());
    }
    let message = format!("This node does not have the service role `{role}`.");
    let detail = Detail::new("roleNotOnNode", message).with("serviceRole", role);
    Err(ApiError::because(ErrorCode::DependencyUnavailable, detail).into())
}

pub(crate) fn denied(spec: &OperationSpec, denial: &DenialError) -> Failure {
    let message = "The caller lacks the permission or the resource action.";
    let mut detail = Detail::new("denied", message).with("decision", denial.reason.code());
    detail = detail.with("permissions", json!(spec.permissions()));
    if let Some(on) = spec.resource_action {
        detail = detail.with("resourceAction", on.to_string());
    }
    ApiError::because(ErrorCode::PermissionRequired, detail).into()
}

pub(crate) fn body<O: Operation>(spec: &OperationSpec, incoming: &Incoming) -> Result<O::Body, Failure> {
    if spec.body == BodyMedia::None {
        nothing_sent(&incoming.body)?;
        return Ok(decode_body::<O>(heddle_api::contract::MediaType::Json, b"{}")?);
    }
    let content_type = incoming.headers.content_type.as_deref();
    let Some(media) = spec.body.accepts(content_type) else {
        let message = format!("The operation takes {}.", spec.body.media_types().join(" or "));
        let code = ErrorCode::UnsupportedMediaType;
        return Err(Failure::because(code, "unsupportedMediaType", message));
    };
    Ok(decode_body::<O>(media, &incoming.body)?)
}

/// Some clients send an empty object where there is nothing to say; anything else would be lost.
fn nothing_sent(body: &[u8]) -> Result<(), Failure> {
    let said: Vec<u8> = body.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if said.is_empty() || said == b"{}" {
        return Ok(());
    }
    let detail = Detail::at("body", "notAllowed", "The operation takes no body.");
    Err(ApiError::because(ErrorCode::UnsupportedMediaType, detail).into())
}

pub(crate) fn meta(spec: &OperationSpec, incoming: &Incoming) -> Result<Meta, Failure> {
    let headers = &incoming.headers;
    let if_match = match (&headers.if_match, spec.if_match) {
        // Where nothing else can be wrong with a request, a tag that is none is one that no revision has.
        (Some(text), true) if !spec.errors.contains(&400) => revision(text).unwrap_or(Some(NEVER)),
        (Some(text), true) => revision(text)?,
        (Some(text), false) if spec.method != Method::Get && text.trim() != "*" => {
            let message = "The operation is about nothing that has a revision.";
            return Err(Failure::at("If-Match", "notAllowed", message));
        }
        _ => None,
    };
    let accept = Accept::read(headers.accept.as_deref());
    let offers = crate::accept::offers(spec);
    let media = accept.best(&offers);
    if media.is_none() && !offers.is_empty() {
        return Err(not_acceptable(&offers));
    }
    let streams = spec.output == OutputKind::EventStream;
    let last = headers.last_event_id.as_deref().filter(|_| streams);
    let of_all = spec.id == OperationId::StreamEvents;
    let last_event_id = last.filter(|_| !of_all).map(event_id).transpose()?;
    let last_position = last.filter(|_| of_all).map(position).transpose()?;
    Ok(Meta {
        if_match,
        idempotency: None,
        first: None,
        accept,
        media,
        last_event_id,
        last_position,
        user_agent: headers.user_agent.clone(),
        host: headers.presented.host.clone(),
        token: headers.presented.token().map(str::to_owned),
        device: headers.device.clone(),
        sign_in: headers.sign_in.clone(),
    })
}

/// No representation that the caller takes.
pub(crate) fn not_acceptable(offers: &[&str]) -> Failure {
    let message = format!("The operation gives {}.", offers.join(" or "));
    let detail = Detail::at("Accept", "notAcceptable", message).with("mediaTypes", json!(offers));
    ApiError::because(ErrorCode::NotAcceptable, detail).into()
}

/// The sequence number of an event, as a stream gave it as its id.
fn event_id(text: &str) -> Result<u64, Failure> {
    let digits = !text.is_empty() && text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| {
        Failure::at("Last-Event-ID", "wrongType", "The id of an event of the stream is needed.")
    })
}

/// The place of an event in the stream over all runs, as that gave it as its id.
fn position(text: &str) -> Result<FeedMark, Failure> {
    let wrong = |_| Failure::at("Last-Event-ID", "wrongType", "The id of an event of the stream is needed.");
    text.parse().map_err(wrong)
}

/// Revision that no resource has: a weak tag never matches (RFC 9110, 13.1.1).
const NEVER: Revision = Revision(-1);

/// `"7"` or `7`; `*` sets no condition. Of several tags at most one can be that of a revision.
fn revision(text: &str) -> Result<Option<Revision>, Failure> {
    let wrong = |message: &str| Failure::at("If-Match", "wrongType", message);
    let mut found: Option<Revision> = None;
    for tag in text.split(',').map(str::trim) {
        if tag == "*" {
            return Ok(None);
        }
        let weak = tag.strip_prefix("W/");
        let bare = weak.unwrap_or(tag);
        let bare = bare.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(bare);
        let digits = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
        let Some(number) = bare.parse().ok().filter(|_| digits) else {
            return Err(wrong("The entity tag of a revision is needed, such as \"3\"."));
        };
        let revision = if weak.is_some() { NEVER } else { Revision(number) };
        found = match found {
            None | Some(NEVER) => Some(revision),
            Some(known) if revision == NEVER || revision == known => Some(known),
            Some(_) => return Err(wrong("One entity tag is needed: a change is made to one revision.")),
        };
    }
    Ok(found)
}

/// The first answer under the call's idempotency key, if there was one.
pub(crate) async fn replay(
    app: &App,
    spec: &OperationSpec,
    context: &RequestContext,
    incoming: &Incoming,
    meta: &mut Meta,
) -> Result<Option<FirstAnswer>, Failure> {
    let (Some(key), true) = (&incoming.headers.idempotency_key, spec.accepts_idempotency_key()) else {
        return Ok(None);
    };
    if !(1..=200).contains(&key.chars().count()) || key.chars().any(char::is_control) {
        let code = match spec.errors.contains(&400) {
            true => ErrorCode::InvalidRequestBody,
            false => ErrorCode::StateConflict,
        };
        let detail = Detail::at("Idempotency-Key", "outOfRange", "1 to 200 characters are needed.");
        return Err(ApiError::because(code, detail).into());
    }
    let keys = keys_of(app, context, key)?;
    let [own, _] = keys.clone();
    let hash = app.identity.call_code(context.user_id(), &call_parts(incoming))?;
    let known = app.identity.idempotent(context.tenant(), spec.operation_id, &keys, context.now()).await?;
    meta.idempotency = Some(IdempotencyKey { key: own.clone(), call_code: hash.clone() });
    let Some(record) = known else { return Ok(None) };
    let first = if record.key == own { hash } else { plain_hash(incoming) };
    match record.body_sha256 == first {
        true if spec.answers_with_secret() => {
            let message = "It was made by the first call, whose answer held the secret; it is not kept.";
            let detail = Detail::at("Idempotency-Key", "secretShownOnce", message)
                .with("location", record.location.unwrap_or_default());
            Err(ApiError::because(ErrorCode::StateConflict, detail).into())
        }
        true => Ok(Some(record.into())),
        false => {
            let message = "The key was used for another call.";
            let detail = Detail::at("Idempotency-Key", "idempotencyKeyReused", message);
            Err(ApiError::because(ErrorCode::StateConflict, detail).into())
        }
    }
}

/// Whether there is an answer under the call's idempotency key already, be it to the same call or not.
pub(crate) async fn is_known(
    app: &App,
    spec: &OperationSpec,
    context: &RequestContext,
    incoming: &Incoming,
) -> Result<bool, Failure> {
    let (Some(key), true) = (&incoming.headers.idempotency_key, spec.accepts_idempotency_key()) else {
        return Ok(false);
    };
    let keys = keys_of(app, context, key)?;
    let known = app.identity.idempotent(context.tenant(), spec.operation_id, &keys, context.now()).await?;
    Ok(known.is_some())
}

/// Keys under which an answer may be kept.
fn keys_of(app: &App, context: &RequestContext, key: &str) -> Result<[String; 2], Failure> {
    // A key is its caller's: another user's call under the same key is another call.
    let own = app.identity.call_code(context.user_id(), &[b"key", key.as_bytes()])?;
    // Answers of before keys were their callers' are kept under the key itself, with a plain hash, for a day.
    Ok([own, key.to_owned()])
}

fn call_parts(incoming: &Incoming) -> [&[u8]; 3] {
    let body = incoming.identity.as_ref().unwrap_or(&incoming.body);
    [incoming.raw_path.as_bytes(), incoming.query.as_bytes(), body]
}

/// The hash of a call as earlier programs kept it.
fn plain_hash(incoming: &Incoming) -> String {
    let mut digest = Sha256::new();
    for part in call_parts(incoming) {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    hex(&digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_tag_is_one_revision_or_none() {
        let cases = [
            ("\"7\"", Some(Some(7))),
            (" 7 ", Some(Some(7))),
            ("*", Some(None)),
            ("\"7\", *", Some(None)),
            ("W/\"7\"", Some(Some(-1))),
            ("W/\"7\", \"8\"", Some(Some(8))),
            ("\"8\", W/\"7\", \"8\"", Some(Some(8))),
            ("\"7\", \"8\"", None),
            ("", None),
            ("\"-7\"", None),
            ("\"seven\"", None),
            ("\"99999999999999999999\"", None),
        ];
        for (text, wanted) in cases {
            let found = revision(text).ok().map(|one| one.map(|revision| revision.0));
            assert_eq!(found, wanted, "{text}");
        }
    }

    #[test]
    fn an_event_is_named_by_its_number() {
        assert_eq!(event_id("12").ok(), Some(12));
        for wrong in ["", "-1", "+1", "1.0", "abc", "1234567890123456789"] {
            assert!(event_id(wrong).is_err(), "{wrong}");
        }
    }
}
