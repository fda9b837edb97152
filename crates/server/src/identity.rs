//! The first start of an installation, and the upkeep of identity.

use std::sync::Arc;
use std::time::Duration;

use heddle_identity::licensing::Provided;
use heddle_identity::records::NODE_SECONDS;
use heddle_identity::{FirstLicence, Identity, SetUpRequest};
use heddle_installation::error::StartError;
use heddle_installation::node;
use heddle_kernel::{TenantId, UserId};
use heddle_usecase::UseCaseError;
use tokio::sync::watch;
use uuid::Uuid;

pub(crate) use heddle_installation::identity::open;

use crate::app::App;

/// Results of the first start of an installation, to be shown once.
#[derive(Debug, Clone, Default)]
pub struct FirstStart {
    /// The demo organisation.
    pub organization: Option<TenantId>,
    /// The demo administrator's account.
    pub founder: Option<UserId>,
    /// Address and password of that administrator.
    pub administrator: Option<(String, String)>,
    /// The one-time set-up token, while set-up is open.
    pub setup_token: Option<String>,
}

/// The demo's organisation.
const DEMO_SLUG: &str = "demo";
/// The demo's administrator.
pub(crate) const DEMO_EMAIL: &str = "admin@demo.local";
/// Time between two looks at the licence.
const TICK: Duration = Duration::from_secs(60);

/// Looks at the installation: its key, its licence, and whether it was set up.
///
/// # Errors
/// `WrongKey`; what the use cases met.
pub(crate) async fn first_start(app: &App) -> Result<FirstStart, StartError> {
    let begin = if app.config.demo { FirstLicence::Trial } else { FirstLicence::None };
    let started = match app.identity.start(begin).await {
        Err(UseCaseError::Conflict(problems))
            if problems.iter().any(|problem| problem.reason == "wrongKey") =>
        {
            return Err(StartError::WrongKey);
        }
        other => other?,
    };
    if !app.config.demo {
        let setup_token = started.setup_token.map(|token| token.expose().to_owned());
        return Ok(FirstStart { setup_token, ..FirstStart::default() });
    }
    let wanted = SetUpRequest {
        slug: DEMO_SLUG.to_owned(),
        display_name: "Demo".to_owned(),
        email: DEMO_EMAIL.to_owned(),
        owner_name: "Administrator".to_owned(),
        password: String::new(),
    };
    match app.identity.set_up_locally(wanted, true).await? {
        // Somebody set the installation up before: the demo leaves it alone.
        None => Ok(FirstStart::default()),
        Some((made, password)) => Ok(FirstStart {
            organization: Some(made.organization.id),
            founder: Some(made.user.id),
            administrator: Some((made.user.email, password)),
            setup_token: None,
        }),
    }
}

/// Installs the licence of the file that the configuration names. One that can't be taken stops no server: whoever puts it
/// right needs one that runs.
pub(crate) async fn provided(app: &App) {
    let Some(path) = &app.config.licence_file else { return };
    let file = path.display();
    let text = match tokio::fs::read_to_string(path).await {
        Ok(text) => text,
        Err(error) => {
            tracing::error!(%file, %error, "the licence file can't be read");
            return;
        }
    };
    match app.identity.install_provided(&text).await {
        Ok(Provided::Installed(state)) => {
            tracing::info!(%file, state = state.as_str(), "the licence of the file was installed");
        }
        Ok(Provided::Present) => {}
        Ok(Provided::Older) => {
            tracing::info!(%file, "the licence of the file was issued before the one that is installed");
        }
        Err(error) => {
            tracing::error!(%file, error = error.in_words(), "the licence of the file is not taken")
        }
    }
}

/// Gives the organisations the system roles that came after them, and names those that can't have one.
///
/// # Errors
/// What the use case met.
pub(crate) async fn add_system_roles(app: &App) -> Result<(), StartError> {
    for (organization, role) in app.identity.add_system_roles().await? {
        tracing::warn!(
            %organization, role,
            "the organisation has a role of its own, or a group, with the name of a system role: give that another name, \
             and the next start adds the system role"
        );
    }
    Ok(())
}

/// Takes this server in among those that run on the database.
///
/// # Errors
/// `Nodes` when as many others run as the licence allows; what the use case met.
pub(crate) async fn join(app: &App) -> Result<Uuid, StartError> {
    let node = node::id(&app.config.data_dir);
    match app.identity.join(node).await {
        Ok(()) => Ok(node),
        Err(UseCaseError::LimitReached { licensed, used, .. }) => {
            Err(StartError::Nodes { licensed, used, gone_after: NODE_SECONDS })
        }
        Err(error) => Err(error.into()),
    }
}

/// Looks at the licence and sweeps what has ended, until the server stops.
pub(crate) async fn keep(identity: Arc<Identity>, node: Option<Uuid>, mut stop: watch::Receiver<bool>) {
    let mut rounds: u32 = 0;
    loop {
        tokio::select! {
            () = tokio::time::sleep(TICK) => {}
            _ = stop.wait_for(|stopped| *stopped) => return,
        }
        if let Err(error) = identity.tick().await {
            tracing::warn!(error = %error, "the licence could not be looked at");
        }
        if let Some(node) = node
            && let Err(error) = identity.stay(node).await
        {
            tracing::warn!(error = %error, "the database was not told that this server runs");
        }
        rounds += 1;
        if rounds.is_multiple_of(10)
            && let Err(error) = identity.sweep().await
        {
            tracing::warn!(error = %error, "sweeping sessions failed");
        }
    }
}
