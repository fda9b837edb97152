//! Audit events of operations: what was done to which thing, and what was refused to whom.

use std::borrow::Cow;

use heddle_api::ErrorCode;
use heddle_api::operations::{Area, OperationId, OperationSpec, Security, Selector};
use heddle_identity::Authenticated;
use heddle_kernel::{EventId, IdSource as _};
use heddle_policy::{RequestContext, RequestFacts};
use heddle_usecase::{Actor, AuditEntry, Outcome, Target};
use serde_json::{Value, json};

use crate::app::App;
use crate::failure::Failure;
use crate::incoming::parameter;

/// The longest text of a path that is kept as what was asked for, in characters.
const ASKED: usize = 100;
/// Reasons of 400 that refuse a proof of who somebody is: what set-up, a change of the password and a hook ask for.
const WRONG_PROOFS: [&str; 4] = ["invalidToken", "wrong", "signatureWrong", "signatureStale"];

/// Things that an event is about, and what is told of them.
#[derive(Debug, Default)]
pub(crate) struct About {
    id: Option<String>,
    target: Option<Target>,
    details: Option<Value>,
}

impl About {
    /// An event about no single thing of the operation's kind.
    #[must_use]
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// The same with what was made by it, or whom it concerns.
    #[must_use]
    pub(crate) fn and(mut self, kind: &str, id: impl ToString) -> Self {
        self.target = Some(Target { kind: kind.to_owned(), id: id.to_string() });
        self
    }

    /// The same with details: never a secret.
    #[must_use]
    pub(crate) fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

impl From<&str> for About {
    fn from(id: &str) -> Self {
        Self { id: Some(id.to_owned()), ..Self::default() }
    }
}

impl From<&String> for About {
    fn from(id: &String) -> Self {
        Self::from(id.as_str())
    }
}

/// Type of the things that an operation's events are about: its row's, or that which its event is named after.
fn kind(spec: &OperationSpec) -> Cow<'static, str> {
    if let Some(on) = spec.resource_action {
        return Cow::Borrowed(on.resource.as_str());
    }
    let named = spec.audit_event.and_then(|event| event.split_once('.')).map(|(kind, _)| kind);
    Cow::Owned(named.unwrap_or("session").replace('_', "-"))
}

/// The event of a success of an operation, if its row has one.
pub(crate) fn done(
    app: &App,
    spec: &OperationSpec,
    context: &RequestContext,
    about: About,
) -> Option<AuditEntry> {
    Some(AuditEntry {
        id: EventId(app.ids.next(context.now())),
        // The installation itself, on the command line, is in no organisation.
        tenant: Some(context.tenant()).filter(|tenant| !tenant.0.is_nil()),
        at: context.now(),
        actor: Actor::of(context.principal()),
        action: spec.audit_event?.to_owned(),
        resource_type: kind(spec).into_owned(),
        resource_id: about.id,
        target: about.target,
        outcome: Outcome::Succeeded,
        request_id: context.request_id().as_str().to_owned(),
        client_ip: context.client_ip().map(str::to_owned),
        details: about.details.unwrap_or_else(|| json!({})),
    })
}

/// A call that may be refused.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The operation's row.
    pub spec: &'a OperationSpec,
    /// The request.
    pub facts: &'a RequestFacts,
    /// The caller, when they are known.
    pub caller: Option<&'a Authenticated>,
    /// The path's parameters.
    pub path: &'a [(String, String)],
}

impl Asked<'_> {
    /// Writes a failure from behind the gate to the audit log, if it refuses the caller something.
    pub(crate) fn failed(self, app: &App, failure: &Failure) {
        // The use case has written it, with the account.
        let written =
            self.spec.id == OperationId::SignIn && failure.error.code == ErrorCode::AuthenticationRequired;
        if is_refusal(self.spec, failure) && !written {
            self.refused(app, failure);
        }
    }

    /// Writes a refusal to the audit log.
    pub(crate) fn refused(self, app: &App, failure: &Failure) {
        let code = failure.error.code;
        if matches!(code, ErrorCode::InternalError | ErrorCode::DependencyUnavailable) {
            return;
        }
        let reason = failure.error.details.first().map(|detail| detail.reason.clone());
        let mut details =
            json!({ "operation": self.spec.operation_id, "code": code.as_str(), "reason": reason });
        let caller = self.caller;
        let outsider = caller.filter(|caller| !caller.is_member());
        if let (Some(outsider), Some(members)) = (outsider, details.as_object_mut()) {
            members.insert("organizationId".to_owned(), json!(outsider.snapshot.tenant().to_string()));
        }
        let signs_in = matches!(self.spec.id, OperationId::SignIn | OperationId::FinishOidcSignIn);
        app.denials.push(AuditEntry {
            id: EventId(app.ids.next(self.facts.now)),
            tenant: caller.and_then(Authenticated::tenant),
            at: self.facts.now,
            actor: caller.map_or_else(Actor::anonymous, |caller| Actor::of(&caller.principal)),
            action: if signs_in { "session.refused" } else { "access.denied" }.to_owned(),
            resource_type: kind(self.spec).into_owned(),
            resource_id: self.spec.selector().parameter().and_then(|name| self.asked(name)),
            target: self.target(),
            outcome: Outcome::Denied,
            request_id: self.facts.request_id.as_str().to_owned(),
            client_ip: self.facts.client_ip.clone(),
            details,
        });
    }

    /// Text of a parameter of the path, cut to what an id can be.
    fn asked(self, name: &str) -> Option<String> {
        let text = parameter(self.path, name)?;
        Some(text.chars().filter(|letter| !letter.is_control()).take(ASKED).collect())
    }

    /// Target that the path names, where the thing that decides is known only when that is loaded.
    fn target(self) -> Option<Target> {
        let Selector::Loaded(_) = self.spec.selector() else { return None };
        let name = self.spec.path_parameters().next()?;
        let kind = match name {
            "taskId" => "human-task",
            "jobId" if self.spec.area == Area::VectorDatabases => "ingestion-job",
            // As clients of other products name them.
            "id" | "jobKey" => "job",
            other => other.trim_end_matches("Id"),
        };
        Some(Target { kind: kind.to_owned(), id: self.asked(name)? })
    }
}

/// Whether a failure from behind the gate refuses the caller something, rather than telling what is wrong with the call.
fn is_refusal(spec: &OperationSpec, failure: &Failure) -> bool {
    match failure.error.code {
        ErrorCode::AuthenticationRequired
        | ErrorCode::FeatureNotLicensed
        | ErrorCode::PermissionRequired
        | ErrorCode::LicenceRemediationRequired => true,
        // Who tries passwords is slowed down; any other rate, that of a hook too, is no matter of rights.
        ErrorCode::RateLimited => {
            !matches!(spec.security, Security::Permissions(_)) && spec.id != OperationId::ReceiveHook
        }
        ErrorCode::InvalidRequestBody => {
            let proves = matches!(
                spec.id,
                OperationId::SetUpInstallation
                    | OperationId::ChangePassword
                    | OperationId::EnrolTotp
                    | OperationId::RemoveTotp
                    | OperationId::ReceiveHook
            );
            let wrong = |reason: &str| WRONG_PROOFS.contains(&reason);
            proves && failure.error.details.iter().any(|detail| wrong(&detail.reason))
        }
        ErrorCode::NotFound
        | ErrorCode::MethodNotAllowed
        | ErrorCode::NotAcceptable
        | ErrorCode::StateConflict
        | ErrorCode::PayloadTooLarge
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::InternalError
        | ErrorCode::DependencyUnavailable => false,
    }
}
