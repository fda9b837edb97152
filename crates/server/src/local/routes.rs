//! Calls that there are over the socket alone, for what needs no account because there is none yet, or because the
//! account can't get in: how it stands, set-up, and forgetting failed sign-ins.

use std::future::Future;
use std::sync::Arc;

use actix_web::web::{self, Bytes, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use heddle_api::ErrorCode;
use heddle_connections::ports::Sealer as _;
use heddle_connections::rotation::{Forgetting, KeyError};
use heddle_identity::SetUpRequest;
use heddle_installation::keyring::RotationError;
use heddle_seal::SealError;
use heddle_usecase::{Problem, UseCaseError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::app::App;
use crate::failure::Failure;
use crate::http;
use crate::reply::{HandlerResult, Response};

const INSTALLATION: &str = "/local/installation";
const SET_UP: &str = "/local/set-up";
const UNLOCK: &str = "/local/unlock";
const ROTATE: &str = "/local/keys/rotate";
const KEYS: &str = "/local/keys";
const FORGET: &str = "/local/keys/forget";
/// Number of secrets that the refusal to forget a key names in its sentence.
const NAMED: usize = 3;

/// An installation to set up.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SetUp {
    organization: String,
    email: String,
    display_name: String,
    password: String,
}

/// An account whose failed sign-ins are forgotten.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unlock {
    email: String,
}

/// A rotation of the keys that secrets are sealed with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rotate {
    /// Whether one that was broken off goes on, without a new key.
    #[serde(rename = "continue")]
    resume: bool,
}

/// A key that is forgotten.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forget {
    key: String,
}

/// Puts the calls on their paths.
pub(super) fn configure(config: &mut ServiceConfig, app: &Arc<App>) {
    let state = bound(app, INSTALLATION, |app, _| async move {
        let set_up = app.identity.is_set_up().await?;
        Response::data(200, json!({ "version": env!("CARGO_PKG_VERSION"), "setUp": set_up }))
    });
    let set_up = bound(app, SET_UP, |app, body| async move { set_up(&app, read(&body)?).await });
    let unlock = bound(app, UNLOCK, |app, body| async move {
        let Unlock { email } = read(&body)?;
        let forgotten = app.identity.unlock(&email).await.map_err(|error| match error {
            heddle_usecase::UseCaseError::NotFound => {
                let message = format!("There is no account `{}`.", email.trim());
                Failure::because(ErrorCode::NotFound, "unknownAccount", message)
            }
            other => other.into(),
        })?;
        Response::data(200, json!({ "email": email, "forgotten": forgotten }))
    });
    let rotate = bound(app, ROTATE, |app, body| async move { rotate(&app, &read(&body)?).await });
    let keys = bound(app, KEYS, |app, _| async move {
        app.keyring.refresh();
        let keys = app.keys.list().await?;
        let told = keys.into_iter().map(|one| {
            json!({
                "id": one.key, "onRing": one.is_on_ring, "current": one.is_current, "secrets": one.secrets,
            })
        });
        Response::data(200, json!({ "keys": told.collect::<Vec<_>>() }))
    });
    let forget = bound(app, FORGET, |app, body| async move { forget(&app, read(&body)?).await });
    config.route(INSTALLATION, web::get().to(state));
    config.route(SET_UP, web::post().to(set_up));
    config.route(UNLOCK, web::post().to(unlock));
    config.route(ROTATE, web::post().to(rotate));
    config.route(KEYS, web::get().to(keys));
    config.route(FORGET, web::post().to(forget));
}

/// Puts a new key on the ring and wraps every secret's own key with it, while others read and write: a secret opens with
/// the key that it names.
async fn rotate(app: &App, wanted: &Rotate) -> HandlerResult {
    // The file may have a newer key, of another node or by hand: what is wrapped goes under that.
    app.keyring.refresh();
    if !wanted.resume {
        app.keyring
            .add_current()
            .map_err(|error| Failure::because(ErrorCode::StateConflict, "noNewKey", error.to_string()))?;
    }
    app.keys.verify(app.now()).await.map_err(|error| match error {
        KeyError::Store(cause) => cause.into(),
        KeyError::Wrong { .. }
        | KeyError::Missing { .. }
        | KeyError::Another { .. }
        | KeyError::Forgotten { .. } => {
            Failure::because(ErrorCode::StateConflict, "wrongKeyring", error.to_string())
        }
    })?;
    let done = app.keys.rotate().await?;
    for one in &done.told {
        tracing::error!(
            organization = %one.place.tenant, connection = %one.place.connection, field = one.place.field,
            reason = %one.reason, "a secret does not open and stays as it is"
        );
    }
    let factors = app.identity.rewrap_factors().await?;
    let (providers, closed) = app.models.rewrap_keys(&app.keyring).await?;
    let wrapped = done.rewrapped + factors.rewrapped + providers;
    let unreadable = done.unreadable + factors.unreadable + closed;
    let key = app.keyring.current_key();
    tracing::info!(key, wrapped, unreadable, "the keys of secrets were wrapped anew");
    Response::data(200, json!({ "key": key, "wrapped": wrapped, "unreadable": unreadable }))
}

/// Takes an old key from the ring when nothing is sealed under it: in the database first, so that nobody seals anything
/// under it in between. Broken off in the middle it is simply asked for again.
async fn forget(app: &App, wanted: Forget) -> HandlerResult {
    let Forget { key } = wanted;
    app.keyring.refresh();
    app.keyring.may_forget(&key).map_err(|error| not_forgotten(&key, &error))?;
    match app.keys.forget(&key, app.now()).await? {
        Forgetting::Done => {}
        Forgetting::InUse { secrets, told } => {
            let places: Vec<_> = told
                .iter()
                .map(|place| {
                    json!({
                        "organizationId": place.tenant.to_string(),
                        "connectionId": place.connection.to_string(),
                        "field": place.field,
                    })
                })
                .collect();
            let named = told.iter().take(NAMED).map(|place| {
                format!(
                    "`{}` of the connection {} (organisation {})",
                    place.field, place.connection, place.tenant
                )
            });
            // Second factors are counted, and not named.
            let named: Vec<_> = named.collect();
            let such = if named.is_empty() {
                "of second factors".to_owned()
            } else {
                format!("such as {}", named.join(", "))
            };
            let message = format!(
                "The key `{key}` stays: {secrets} secrets are sealed under it, {such}. `heddle key rotate --continue` \
                 wraps them with the current key; what does not open must be set anew or deleted."
            );
            let problem = Problem::at("key", "inUse", message).with("secrets", places);
            return Err(UseCaseError::Conflict(vec![problem]).into());
        }
    }
    app.keyring.forget(&key).map_err(|error| not_forgotten(&key, &error))?;
    tracing::info!(key, "a key was taken from the keyring");
    Response::data(200, json!({ "key": key, "current": app.keyring.current_key() }))
}

/// Refusal of a key that can't be taken from the ring.
fn not_forgotten(key: &str, error: &RotationError) -> Failure {
    match error {
        RotationError::Keyring(SealError::UnknownKey(_)) => {
            let message =
                format!("The keyring has no key `{key}`; `heddle key list` names those that it has.");
            Failure::because(ErrorCode::NotFound, "unknownKey", message)
        }
        RotationError::Keyring(SealError::IsCurrent(_)) => {
            let message =
                format!("The key `{key}` is the current one: `heddle key rotate` makes another one current.");
            Failure::because(ErrorCode::StateConflict, "currentKey", message)
        }
        RotationError::Given
        | RotationError::Fixed
        | RotationError::Keyring(_)
        | RotationError::Missing(_) => {
            Failure::because(ErrorCode::StateConflict, "keyStays", error.to_string())
        }
    }
}

async fn set_up(app: &App, wanted: SetUp) -> HandlerResult {
    let slug = wanted.organization;
    let wanted = SetUpRequest {
        display_name: slug.clone(),
        slug,
        email: wanted.email,
        owner_name: wanted.display_name,
        password: wanted.password,
    };
    let Some((made, _)) = app.identity.set_up_locally(wanted, false).await? else {
        let message = "The installation was set up before.";
        return Err(Failure::because(ErrorCode::StateConflict, "alreadySetUp", message));
    };
    let data = json!({
        "id": made.user.id.to_string(),
        "email": made.user.email,
        "organization": made.organization.slug,
    });
    Response::data(201, data)
}

fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::at("body", "wrongType", error.to_string()))
}

/// Type of a call's answer on its way.
type Answering = std::pin::Pin<Box<dyn Future<Output = HttpResponse>>>;

/// A call as actix takes it.
fn bound<F, R>(
    app: &Arc<App>,
    route: &'static str,
    answer: F,
) -> impl Fn(HttpRequest, Bytes) -> Answering + Clone + use<F, R>
where
    F: Fn(Arc<App>, Bytes) -> R + Copy + 'static,
    R: Future<Output = HandlerResult> + 'static,
{
    let app = Arc::clone(app);
    move |request: HttpRequest, body: Bytes| -> Answering {
        let app = Arc::clone(&app);
        Box::pin(async move { http::answer(&app, &request, route, answer(Arc::clone(&app), body)).await })
    }
}
