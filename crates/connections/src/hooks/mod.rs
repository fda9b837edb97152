//! Hooks: list, read, create, change, delete; and what becomes of a call that comes in at one. A token in the address names
//! the hook; only its digest is kept.

mod mapping;
mod pace;
mod signature;

pub use signature::SignatureFault;

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_kernel::{
    ConnectionId, HookId, IdSource, Page, PageRequest, Patch, Revision, TenantId, Timestamp, UserId,
};
use heddle_policy::capability::{CaseEventCreate, HookCreate, HookDelete, HookList, HookRead, HookUpdate};
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, RequestContext};
use heddle_usecase::{Journal, StoreError, check_revision, sha256_hex};
use serde_json::Value;

use self::mapping::{Mapped, Parts};
use self::pace::Pace;
use self::signature::SignedCall;
use crate::manage::name_taken;
use crate::ports::{Deleted, HookFilter, HookStore, HookWrite, Sealer, StoredHook};
use crate::records::{Hook, HookMapping, HookSettings, HookSignature, SecretState, SignatureScheme};
use crate::secret::{SealedSecret, Secret, SecretPlace};
use crate::types::signing_key;
use crate::{JournalFor, Problem, Problems, UseCaseError};

/// The most hooks of an organisation.
const MOST: u64 = 1_000;
/// The longest type of events, in characters.
const EVENT_TYPE: usize = 200;
/// The longest secret, in bytes.
const SECRET: usize = 8_192;
/// Seconds by which the time of a signature may differ from now, unless a hook says otherwise.
const DEFAULT_TOLERANCE: u32 = 300;
/// The most seconds by which it may.
const MOST_TOLERANCE: u32 = 3_600;
/// Calls of a hook a second, unless it says otherwise.
const DEFAULT_PACE: u32 = 50;
/// The most calls of a hook a second.
const MOST_PACE: u32 = 10_000;
/// The most bytes of a body, unless a hook says otherwise.
const DEFAULT_BYTES: u32 = 256 * 1024;
/// The most bytes that a hook may let a body have.
const MOST_BYTES: u32 = 1024 * 1024;
/// Names of the secrets of a signature.
const FIELDS: [&str; 2] = ["secret", "previousSecret"];

/// A signature as a caller asks for it.
#[derive(Debug, Clone)]
pub struct NewSignature {
    /// Manner of the signature.
    pub scheme: SignatureScheme,
    /// Seconds by which its time may differ from now.
    pub tolerance_seconds: Option<u32>,
    /// The secret; absent keeps the one that is there.
    pub secret: Option<Secret>,
    /// The secret of before; absent keeps the one that is there, null takes it away.
    pub previous_secret: Patch<Secret>,
}

/// A hook to create.
#[derive(Debug, Clone)]
pub struct NewHook {
    /// Name: 1 to 200 characters, unique in the organisation.
    pub name: String,
    /// Digest of the token that stands in its address.
    pub token_sha256: String,
    /// Type of the events that its calls become: 1 to 200 characters.
    pub event_type: String,
    /// Expressions by which a call becomes an event.
    pub mapping: HookMapping,
    /// Signature that calls must have.
    pub signature: Option<NewSignature>,
    /// Calls a second.
    pub requests_per_second: Option<u32>,
    /// The most bytes of a body.
    pub max_bytes: Option<u32>,
}

/// A change of a hook; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct HookPatch {
    /// A new name.
    pub name: Option<String>,
    /// Another type of events.
    pub event_type: Option<String>,
    /// Another correlation key.
    pub correlation_key: Option<String>,
    /// Another idempotency key; null is the sender's own.
    pub idempotency_key: Patch<String>,
    /// Another payload; null is the body.
    pub payload: Patch<String>,
    /// Another condition; null is always.
    pub when: Patch<String>,
    /// Another signature; null takes every call that knows the address.
    pub signature: Patch<NewSignature>,
    /// Calls a second.
    pub requests_per_second: Option<u32>,
    /// The most bytes of a body.
    pub max_bytes: Option<u32>,
    /// Whoever takes the hook over: the caller, and nobody else.
    pub owner: Option<UserId>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

/// A call that comes in at a hook.
#[derive(Debug, Clone, Copy)]
pub struct HookCall<'a> {
    /// Token in the address.
    pub token: &'a str,
    /// Headers, by their names in small letters, in the order of the call.
    pub headers: &'a [(String, String)],
    /// Parameters of the query, decoded.
    pub query: &'a [(String, String)],
    /// The body as it came.
    pub body: &'a [u8],
    /// Instant of the call.
    pub now: Timestamp,
}

/// Event that a call became.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    /// The hook.
    pub hook: HookId,
    /// Organisation of the hook.
    pub tenant: TenantId,
    /// User in whose name it is taken in: who made the hook, or took it over.
    pub owner: UserId,
    /// Type of the event.
    pub event_type: String,
    /// Correlation key of the event.
    pub correlation_key: String,
    /// Idempotency key of the event: of this hook alone.
    pub idempotency_key: String,
    /// Payload of the event.
    pub payload: Value,
}

/// Outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Hooked {
    /// The call became an event.
    Event(HookEvent),
    /// The hook's condition does not hold: nothing becomes of it.
    Ignored,
}

/// Reason for which a call is not taken.
#[derive(Debug, thiserror::Error)]
pub enum HookRefusal {
    /// No hook has the token.
    #[error("there is no such hook")]
    Unknown,
    /// Too many calls of the hook come.
    #[error("the hook takes {per_second} calls a second")]
    TooMany {
        /// The pace of the hook.
        per_second: u32,
    },
    /// The body is too long.
    #[error("the hook takes bodies of {most} bytes")]
    TooLarge {
        /// The most bytes.
        most: u32,
    },
    /// The signature.
    #[error(transparent)]
    Signature(#[from] SignatureFault),
    /// The call gives no event.
    #[error("the call does not fit the hook's expressions")]
    Unfit(Problem),
    /// Anything else.
    #[error(transparent)]
    Other(#[from] UseCaseError),
}

impl From<StoreError> for HookRefusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::Unknown,
            other => Self::Other(other.into()),
        }
    }
}

/// The use cases of hooks.
pub struct Hooks {
    store: Arc<dyn HookStore>,
    sealer: Arc<dyn Sealer>,
    ids: Arc<dyn IdSource>,
    pace: Pace,
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

impl Hooks {
    /// Builds the use cases on their ports.
    #[must_use]
    pub fn new(store: Arc<dyn HookStore>, sealer: Arc<dyn Sealer>, ids: Arc<dyn IdSource>) -> Self {
        Self { store, sealer, ids, pace: Pace::default() }
    }

    /// A page of the hooks that the caller may read, by name.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<HookList>,
        context: &RequestContext,
        filter: &HookFilter,
        page: &PageRequest,
    ) -> Result<Page<Hook>, UseCaseError> {
        Ok(self.store.list(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// A hook.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn get(
        &self,
        authorized: &Authorized<HookRead>,
        context: &RequestContext,
    ) -> Result<Hook, UseCaseError> {
        Ok(self.store.get(context.tenant(), authorized.id()).await?)
    }

    /// Creates a hook. Who makes one gives whoever knows its address the right to send events, and has it themselves.
    ///
    /// # Errors
    /// `Invalid` with every member that breaks a rule; `Forbidden` (`exceedsOwnRights`); `Conflict` (`notUnique`,
    /// `quotaExceeded`); `Unavailable`.
    pub async fn create(
        &self,
        _: &AuthorizedKind<HookCreate>,
        context: &RequestContext,
        new: NewHook,
        record: &JournalFor<'_, Hook>,
    ) -> Result<Hook, UseCaseError> {
        may_send(context)?;
        let now = context.now();
        let mut hook = Hook {
            tenant: context.tenant(),
            id: HookId(self.ids.next(now)),
            name: new.name,
            token_sha256: new.token_sha256,
            event_type: new.event_type,
            settings: HookSettings {
                mapping: new.mapping,
                signature: None,
                requests_per_second: new.requests_per_second.unwrap_or(DEFAULT_PACE),
                max_bytes: new.max_bytes.unwrap_or(DEFAULT_BYTES),
                owner: None,
            },
            revision: Revision::FIRST,
            created_at: now,
            created_by: context.user_id(),
            updated_at: now,
            updated_by: context.user_id(),
        };
        let asked = new.signature.map_or(Patch::Absent, Patch::Value);
        let sealed = self.signed(&mut hook, asked, now)?;
        let journal = record(&hook).changing(None, Some(&hook));
        let write = HookWrite { hook: &hook, sealed: &sealed };
        let written = self.store.insert(write, MOST, &journal).await;
        written.map_err(|error| name_taken(error, "hook", &hook.name))?;
        Ok(hook)
    }

    /// Changes what the patch names.
    ///
    /// # Errors
    /// `NotFound`; as [`Self::create`], also for an owner who is not the caller; `Conflict` (`revisionMismatch`).
    pub async fn update(
        &self,
        authorized: &Authorized<HookUpdate>,
        context: &RequestContext,
        patch: HookPatch,
        record: &JournalFor<'_, Hook>,
    ) -> Result<Hook, UseCaseError> {
        may_send(context)?;
        if patch.owner.is_some_and(|owner| owner != context.user_id()) {
            // Events come in with its owner's rights, and nobody lends those of another.
            let message = "A hook is handed to nobody but whoever takes it over.";
            return Err(UseCaseError::Forbidden(Problem::at("owner", "exceedsOwnRights", message)));
        }
        let before = self.store.get(context.tenant(), authorized.id()).await?;
        check_revision(patch.revision, before.revision)?;
        let mut hook = before.clone();
        let asked = apply(&mut hook, patch);
        let sealed = self.signed(&mut hook, asked, context.now())?;
        if hook == before && sealed.is_empty() {
            return Ok(before);
        }
        hook.revision = before.revision.next();
        hook.updated_at = context.now();
        hook.updated_by = context.user_id();
        let journal = record(&hook).changing(Some(&before), Some(&hook));
        let write = HookWrite { hook: &hook, sealed: &sealed };
        let written = self.store.update(write, before.revision, &journal).await;
        written.map_err(|error| name_taken(error, "hook", &hook.name))?;
        Ok(hook)
    }

    /// Deletes a hook; its address is nobody's from then on.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`revisionMismatch`); `Unavailable`.
    pub async fn delete(
        &self,
        authorized: &Authorized<HookDelete>,
        context: &RequestContext,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let id = authorized.id();
        let journal = journal.deleting(self.store.get(context.tenant(), id).await)?;
        match self.store.delete(context.tenant(), id, expected, &journal).await {
            Err(StoreError::Stale) => {
                let present = self.store.get(context.tenant(), id).await?;
                check_revision(expected, present.revision)?;
                Err(StoreError::Stale.into())
            }
            Err(error) => Err(error.into()),
            Ok(Deleted::Now | Deleted::Before | Deleted::InUse(_)) => Ok(()),
        }
    }

    /// Takes a call that comes in: finds its hook, checks pace, length and signature, and makes an event of it.
    ///
    /// # Errors
    /// [`HookRefusal`].
    pub async fn take(&self, call: HookCall<'_>) -> Result<Hooked, HookRefusal> {
        let stored = self.store.by_token(&sha256_hex(call.token.as_bytes())).await?;
        let (hook, settings) = (&stored.hook, &stored.hook.settings);
        if !self.pace.take(hook.id, settings.requests_per_second, call.now) {
            return Err(HookRefusal::TooMany { per_second: settings.requests_per_second });
        }
        if call.body.len() > settings.max_bytes as usize {
            return Err(HookRefusal::TooLarge { most: settings.max_bytes });
        }
        let signed = SignedCall { headers: call.headers, body: call.body, now: call.now };
        if let Some(signature) = &settings.signature {
            let secrets = self.secrets(&stored)?;
            signed.verify(signature.scheme, signature.tolerance_seconds, &secrets)?;
        }
        let body = json(call.body).map_err(HookRefusal::Unfit)?;
        let scheme = settings.signature.as_ref().map(|signature| signature.scheme);
        let parts = Parts { call: signed, scheme, body, query: call.query };
        let Some(mapped) = settings.mapping.apply(parts).map_err(HookRefusal::Unfit)? else {
            return Ok(Hooked::Ignored);
        };
        Ok(Hooked::Event(event_of(hook, mapped)))
    }

    /// Secrets of a hook in the clear. One that does not open is a fault of ours, never a signature that fits.
    fn secrets(&self, stored: &StoredHook) -> Result<Vec<Secret>, UseCaseError> {
        let mut secrets = Vec::with_capacity(stored.sealed.len());
        for (field, sealed) in &stored.sealed {
            let opened = self.sealer.open(&place(&stored.hook, field), sealed);
            secrets.push(opened.map_err(|error| {
                UseCaseError::Internal(format!(
                    "the secret `{field}` of the hook {}: {error}",
                    stored.hook.id
                ))
            })?);
        }
        Ok(secrets)
    }

    /// Checks a hook as it shall be, with the signature that is asked for, and seals the secrets that were sent.
    fn signed(
        &self,
        hook: &mut Hook,
        asked: Patch<NewSignature>,
        now: Timestamp,
    ) -> Result<BTreeMap<String, Option<SealedSecret>>, UseCaseError> {
        let mut problems = Problems::default();
        check(&mut problems, hook);
        let secrets = match asked {
            Patch::Absent => BTreeMap::new(),
            Patch::Null => match hook.settings.signature.take() {
                Some(_) => FIELDS.iter().map(|field| ((*field).to_owned(), None)).collect(),
                None => BTreeMap::new(),
            },
            Patch::Value(asked) => set_signature(&mut problems, hook, asked, now),
        };
        problems.finish()?;
        let mut sealed = BTreeMap::new();
        for (field, secret) in secrets {
            let form = secret.map(|secret| self.sealer.seal(&place(hook, &field), &secret)).transpose();
            let form = form.map_err(|error| UseCaseError::Internal(error.to_string()))?;
            sealed.insert(field, form);
        }
        Ok(sealed)
    }
}

/// Place of a secret of a hook: ids are unique over all kinds of records.
fn place(hook: &Hook, field: &str) -> SecretPlace {
    SecretPlace { tenant: hook.tenant, connection: ConnectionId(hook.id.0), field: field.to_owned() }
}

/// Checks that the caller may send events: nobody gives away a right that they do not have.
fn may_send(context: &RequestContext) -> Result<(), UseCaseError> {
    match context.snapshot().authorize_kind::<CaseEventCreate>() {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = "A hook takes case events, which the caller may not send.";
            Err(UseCaseError::Forbidden(Problem::at("eventType", "exceedsOwnRights", message)))
        }
    }
}

/// Lays a patch over a hook; the signature that it asks for is left.
fn apply(hook: &mut Hook, patch: HookPatch) -> Patch<NewSignature> {
    let settings = &mut hook.settings;
    let set = |member: &mut Option<String>, patch: Patch<String>| match patch {
        Patch::Absent => {}
        Patch::Null => *member = None,
        Patch::Value(text) => *member = Some(text),
    };
    set(&mut settings.mapping.idempotency_key, patch.idempotency_key);
    set(&mut settings.mapping.payload, patch.payload);
    set(&mut settings.mapping.when, patch.when);
    if let Some(text) = patch.correlation_key {
        settings.mapping.correlation_key = text;
    }
    settings.requests_per_second = patch.requests_per_second.unwrap_or(settings.requests_per_second);
    settings.max_bytes = patch.max_bytes.unwrap_or(settings.max_bytes);
    if let Some(owner) = patch.owner {
        settings.owner = Some(owner).filter(|owner| *owner != hook.created_by);
    }
    if let Some(name) = patch.name {
        hook.name = name;
    }
    if let Some(event_type) = patch.event_type {
        hook.event_type = event_type;
    }
    patch.signature
}

fn check(problems: &mut Problems, hook: &Hook) {
    heddle_usecase::name(problems, "name", &hook.name, 200);
    heddle_usecase::name(problems, "eventType", &hook.event_type, EVENT_TYPE);
    mapping::check(problems, &hook.settings.mapping);
    let bounds = [
        ("requestsPerSecond", hook.settings.requests_per_second, MOST_PACE),
        ("maxBytes", hook.settings.max_bytes, MOST_BYTES),
    ];
    for (field, value, most) in bounds {
        if !(1..=most).contains(&value) {
            problems.add(field, "outOfRange", format!("A number from 1 to {most} is needed."));
        }
    }
}

/// Sets the signature that is asked for; the secrets to seal, and those to take away.
fn set_signature(
    problems: &mut Problems,
    hook: &mut Hook,
    asked: NewSignature,
    now: Timestamp,
) -> BTreeMap<String, Option<Secret>> {
    let before = hook.settings.signature.take();
    let mut secrets = BTreeMap::new();
    let stated = |secret: &Secret| SecretState { updated_at: now, hint: secret.hint() };
    let sent = [("signature.secret", asked.secret.as_ref())];
    let previous = match &asked.previous_secret {
        Patch::Value(secret) => Some(secret),
        Patch::Absent | Patch::Null => None,
    };
    for (field, secret) in sent.into_iter().chain([("signature.previousSecret", previous)]) {
        if let Some(secret) = secret {
            check_secret(problems, field, asked.scheme, secret);
        }
    }
    let scheme_changed = before.as_ref().is_some_and(|before| before.scheme != asked.scheme);
    let kept = before.as_ref().filter(|_| !scheme_changed);
    let state = match (&asked.secret, kept) {
        (Some(secret), _) => {
            secrets.insert(FIELDS[0].to_owned(), Some(secret.clone()));
            stated(secret)
        }
        (None, Some(before)) => before.secret.clone(),
        (None, None) => {
            let message = "A signature of another manner needs its secret.";
            problems.push(Problem::at("signature.secret", "required", message));
            SecretState { updated_at: now, hint: None }
        }
    };
    let previous_state =
        match (&asked.previous_secret, kept.and_then(|before| before.previous_secret.clone())) {
            (Patch::Value(secret), _) => {
                secrets.insert(FIELDS[1].to_owned(), Some(secret.clone()));
                Some(stated(secret))
            }
            (Patch::Absent, Some(state)) => Some(state),
            (Patch::Absent | Patch::Null, _) => {
                if before.as_ref().is_some_and(|before| before.previous_secret.is_some()) {
                    secrets.insert(FIELDS[1].to_owned(), None);
                }
                None
            }
        };
    let before_tolerance = before.as_ref().map(|before| before.tolerance_seconds);
    let tolerance = asked.tolerance_seconds.or(before_tolerance).unwrap_or(DEFAULT_TOLERANCE);
    if !(1..=MOST_TOLERANCE).contains(&tolerance) {
        let message = format!("A number from 1 to {MOST_TOLERANCE} is needed.");
        problems.push(Problem::at("signature.toleranceSeconds", "outOfRange", message));
    }
    hook.settings.signature = Some(HookSignature {
        scheme: asked.scheme,
        tolerance_seconds: tolerance,
        secret: state,
        previous_secret: previous_state,
    });
    secrets
}

fn check_secret(problems: &mut Problems, field: &str, scheme: SignatureScheme, secret: &Secret) {
    let text = secret.expose();
    if text.is_empty() || text.len() > SECRET || text.chars().any(char::is_control) {
        let message = format!("A text of 1 to {SECRET} bytes without control characters is needed.");
        problems.add(field, "wrongFormat", message);
    } else if scheme == SignatureScheme::StandardWebhooks && signing_key(text).is_none() {
        let message = "`whsec_` and 24 to 64 random bytes in base64 are needed.";
        problems.add(field, "wrongFormat", message);
    }
}

/// The body as JSON; an empty one is null.
fn json(body: &[u8]) -> Result<Value, Problem> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    serde_json::from_slice(body).map_err(|error| Problem::at("body", "notJson", error.to_string()))
}

fn event_of(hook: &Hook, mapped: Mapped) -> HookEvent {
    let Mapped { correlation_key, idempotency_key, payload } = mapped;
    HookEvent {
        hook: hook.id,
        tenant: hook.tenant,
        owner: hook.owner(),
        event_type: hook.event_type.clone(),
        correlation_key,
        // What one sender calls its messages is not what another one does.
        idempotency_key: format!("hook:{}:{}", hook.id, sha256_hex(idempotency_key.as_bytes())),
        payload,
    }
}
