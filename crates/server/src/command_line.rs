//! Callers on the command line of the machine itself, over its socket: the operator, in the name of an account or of the
//! installation.

use actix_web::HttpRequest;
use heddle_api::ErrorCode;
use heddle_api::operations::OperationSpec;
use heddle_identity::Authenticated;
use heddle_identity::ports::Credential;
use heddle_identity::records::{User, UserKind, UserState};
use heddle_installation::error::StartError;
use heddle_installation::own_context;
use heddle_kernel::{Revision, SessionId, TenantId, UserId};
use heddle_policy::{OwnReason, Principal, RequestFacts, SessionKind};

use crate::acting::{Acting, Which};
use crate::app::App;
use crate::failure::Failure;

/// Header that names the account, by its e-mail address, in whose name a call over the socket is made.
pub const ACCOUNT_HEADER: &str = "x-heddle-as";
/// Header that names the organisation of such a call by its slug, where the account belongs to several.
pub const ORGANIZATION_HEADER: &str = "x-heddle-organization";

/// Mark of a connection over the socket; its other end was looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalPeer;

/// Words of a call over the socket: in whose name, and where.
#[derive(Debug, Clone, Default)]
pub(crate) struct LocalCall {
    account: Option<String>,
    organization: Option<String>,
}

impl LocalCall {
    /// Words of a request; none for one that came another way, whatever its headers say.
    ///
    /// # Errors
    /// 400 for a header that is no text.
    pub(crate) fn of(request: &HttpRequest) -> Result<Option<Self>, Failure> {
        if request.conn_data::<LocalPeer>().is_none() {
            return Ok(None);
        }
        let text = |name: &'static str| {
            let Some(value) = request.headers().get(name) else { return Ok(None) };
            let wrong = || Failure::at(name, "wrongType", "The header is no text.");
            // Addresses may have letters outside of ASCII, which headers carry as bytes.
            std::str::from_utf8(value.as_bytes()).map(|text| Some(text.to_owned())).or(Err(wrong()))
        };
        Ok(Some(Self { account: text(ACCOUNT_HEADER)?, organization: text(ORGANIZATION_HEADER)? }))
    }
}

/// Caller over the socket. Only what concerns the installation as a whole, its licence, is done in nobody's name.
///
/// # Errors
/// 401 when an account is needed and none is named; 404 for an account or organisation that is not there; 400 when the
/// organisation has to be named; 403 for an account that is switched off.
pub(crate) async fn caller(
    app: &App,
    call: &LocalCall,
    spec: &OperationSpec,
    tenant: Option<TenantId>,
    facts: &RequestFacts,
) -> Result<Authenticated, Failure> {
    let Some(email) = call.account.as_deref() else {
        if spec.remediation {
            return Ok(installation(facts));
        }
        let message = "The account is needed in whose name it is done: --as EMAIL.";
        return Err(Failure::because(ErrorCode::AuthenticationRequired, "accountNeeded", message));
    };
    let which = match (tenant, call.organization.as_deref()) {
        (Some(id), _) => Which::Id(id),
        (None, Some(slug)) => Which::Slug(slug),
        (None, None) => Which::Only,
    };
    let acting = Acting::find(app, email, which).await.map_err(unknown)?;
    let found = app.identity.of_command_line(acting.user(), acting.tenant(), facts.now).await?;
    found.ok_or_else(|| {
        let message = format!("The account `{email}` is switched off.");
        Failure::because(ErrorCode::PermissionRequired, "accountDisabled", message)
    })
}

fn unknown(error: StartError) -> Failure {
    match error {
        StartError::NotFound(message) => Failure::because(ErrorCode::NotFound, "unknownAccount", message),
        StartError::Refused(message) => Failure::at("organization", "ambiguous", message),
        StartError::Store(cause) => cause.into(),
        StartError::DataDir(_)
        | StartError::Database(_)
        | StartError::Migration(_)
        | StartError::WrongKey
        | StartError::KeyringMissing(_)
        | StartError::Keyring(_)
        | StartError::WrongKeyring(_)
        | StartError::Egress(_)
        | StartError::Vectors(_)
        | StartError::SignIn(_)
        | StartError::Nodes { .. }
        | StartError::Listen { .. }
        | StartError::Threads(_)
        | StartError::Insecure(_)
        | StartError::Tls(_)
        | StartError::Backup(_)
        | StartError::Elsewhere(_)
        | StartError::Internal(_) => Failure::internal(error.to_string()),
    }
}

/// The installation itself, which is in no organisation and has all rights there.
fn installation(facts: &RequestFacts) -> Authenticated {
    let (nobody, nowhere) = (UserId(uuid::Uuid::nil()), TenantId(uuid::Uuid::nil()));
    let context = own_context(OwnReason("a command of the operator"), facts.now, nowhere, nobody);
    let session = SessionId(uuid::Uuid::nil());
    let principal = Principal {
        session: SessionKind::CommandLine(session),
        display: "command line".to_owned(),
        ..context.principal().clone()
    };
    let user = User {
        id: nobody,
        home: nowhere,
        kind: UserKind::Person,
        email: principal.email.clone(),
        display_name: principal.display.clone(),
        password_hash: None,
        state: UserState::Active,
        password_changed_at: None,
        totp_enrolled_at: None,
        revision: Revision::FIRST,
        created_at: facts.now,
        updated_at: facts.now,
    };
    Authenticated {
        user,
        credential: Credential::CommandLine(session),
        principal,
        snapshot: context.snapshot().clone(),
    }
}
