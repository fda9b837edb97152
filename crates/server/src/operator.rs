//! Operations of the command line on a composed service. Whoever may read the data directory and its key may
//! do all of it, so nobody is asked to sign in; every change is audited as the system's.

mod backup;
mod beginning;
mod decisions;
mod doctor;
mod remedies;
mod summary;

pub use backup::{Copied, back_up, restore};
pub use beginning::Beginning;
pub use decisions::decision_findings;
pub use doctor::{Check, Finding, checks};
pub use remedies::{
    LetterView, archive_workflow, cancel_run, dead_letters, drop_dead_letter, retry_dead_letter,
};
pub use summary::{Summary, summary};

use heddle_bpmn::diagnostic::Diagnostic;
use heddle_identity::licensing::{Install, LicenceReport};
use heddle_identity::records::User;
use heddle_identity::token::Token;
use heddle_identity::{NewAccount, SetUpRequest};
use heddle_kernel::{Clock as _, PageRequest, TenantId, Timestamp, WorkflowId};
use heddle_policy::capability::{LicenceInstall, LicenceRead, UserCreate, WorkflowExport, WorkflowList};
use heddle_policy::{DenialError, RequestContext};
use heddle_usecase::Journal;
use heddle_workflows::definitions::VersionChoice;
use heddle_workflows::ports::WorkflowFilter;
use serde::Serialize;

use crate::acting::{Acting, journal};
use crate::app::App;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::error::StartError;
use crate::stores;

/// A user to create.
#[derive(Clone)]
pub struct NewUser {
    /// The e-mail address.
    pub email: String,
    /// The name shown.
    pub display_name: String,
    /// The role's name.
    pub role: String,
    /// The password; a random one without it.
    pub password: Option<String>,
}

impl std::fmt::Debug for NewUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewUser").field("email", &self.email).finish_non_exhaustive()
    }
}

/// A user as it was created.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatedUser {
    /// Id of the user.
    pub id: String,
    /// The e-mail address.
    pub email: String,
    /// The organisation's slug.
    pub organization: String,
    /// The role's name.
    pub role: String,
    /// The password, if it was made here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

impl std::fmt::Debug for CreatedUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatedUser").field("email", &self.email).finish_non_exhaustive()
    }
}

/// Creates an account with a role.
///
/// # Errors
/// `Refused` with what is wrong with the values.
pub async fn create_user(app: &App, acting: &Acting, new: NewUser) -> Result<CreatedUser, StartError> {
    let context = acting.context(app);
    let (password, made) = password(new.password)?;
    let account = NewAccount {
        email: new.email,
        display_name: new.display_name,
        password: Some(password),
        roles: vec![new.role.clone()],
    };
    let authorized = context.snapshot().authorize_kind::<UserCreate>().map_err(denied)?;
    let record = |user: &User| journal(app, &context, "user.created", "user", user.id.to_string());
    let user = app.identity.create_user(&authorized, &context, account, &record).await?;
    let organization = acting.slug.clone();
    Ok(CreatedUser {
        id: user.id.to_string(),
        email: user.email,
        organization,
        role: new.role,
        password: made,
    })
}

/// Forgets the failed sign-ins of an account; in how many buckets they were counted.
///
/// # Errors
/// `NotFound` for the account; `Store`.
pub async fn unlock_user(app: &App, email: &str) -> Result<u64, StartError> {
    app.identity.unlock(email).await.map_err(|error| match error {
        heddle_usecase::UseCaseError::NotFound => {
            StartError::NotFound(format!("there is no account `{}`", email.trim()))
        }
        other => other.into(),
    })
}

/// Sets the installation up: its first organisation with its owner.
///
/// # Errors
/// `Refused` when it was set up before, or with what is wrong with the values.
pub async fn set_up(app: &App, organization: &str, new: NewUser) -> Result<CreatedUser, StartError> {
    if new.role != heddle_policy::system_roles::OWNER {
        return Err(StartError::Refused(
            "the installation is not set up: its first user has the role `owner` (--role owner)".to_owned(),
        ));
    }
    let (password, made) = password(new.password)?;
    let wanted = SetUpRequest {
        slug: organization.to_owned(),
        display_name: organization.to_owned(),
        email: new.email,
        owner_name: new.display_name,
        password,
    };
    let Some((founded, _)) = app.identity.set_up_locally(wanted, false).await? else {
        return Err(StartError::Refused("the installation was set up before".to_owned()));
    };
    Ok(CreatedUser {
        id: founded.user.id.to_string(),
        email: founded.user.email,
        organization: founded.organization.slug,
        role: new.role,
        password: made,
    })
}

/// The password to set, and once more to be shown if it was made here.
fn password(given: Option<String>) -> Result<(String, Option<String>), StartError> {
    if let Some(given) = given {
        return Ok((given, None));
    }
    let token = Token::random("")?;
    // 144 random bits.
    let made = token.expose().get(..24).unwrap_or_default().to_owned();
    Ok((made.clone(), Some(made)))
}

/// The licence, as far as the command line shows it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LicenceView {
    /// `trial`, `active`, `expiring`, `grace` or `restricted`.
    pub state: &'static str,
    /// Reason of the restriction; none while there is none.
    pub reason: Option<String>,
    /// The licence's id.
    pub licence_id: Option<String>,
    /// The customer.
    pub customer: Option<String>,
    /// Instant at which it ends.
    pub expires_at: Option<Timestamp>,
    /// Entitlements that it allows.
    pub entitlements: Vec<String>,
    /// Present and highest numbers of organisations and users.
    pub limits: Vec<LimitView>,
    /// The installation's id.
    pub installation_id: String,
    /// Whether the trial can still be started.
    pub trial_available: bool,
}

/// A number that a licence may limit.
#[derive(Debug, Clone, Serialize)]
pub struct LimitView {
    /// Of what.
    pub name: &'static str,
    /// Present number.
    pub used: u64,
    /// Highest number; none means any number.
    pub licensed: Option<u64>,
}

/// The licence and its state.
///
/// # Errors
/// `Store`.
pub async fn licence_view(app: &App) -> Result<LicenceView, StartError> {
    let context = Acting::installation(TenantId(uuid::Uuid::nil())).context(app);
    let authorized = context.snapshot().authorize_kind::<LicenceRead>().map_err(denied)?;
    Ok(shown(&app.identity.licence(&authorized, &context).await?))
}

/// Starts the installation's own trial; once.
///
/// # Errors
/// `Refused` when it was started before or a licence is installed; `Store`.
pub async fn start_trial(app: &App) -> Result<LicenceView, StartError> {
    let context = Acting::installation(TenantId(uuid::Uuid::nil())).context(app);
    let authorized = context.snapshot().authorize_kind::<LicenceInstall>().map_err(denied)?;
    let record = licence_record(app, &context, "licence.trial_started");
    Ok(shown(&app.identity.start_trial(&authorized, &context, &record).await?))
}

/// Installs a vendor's licence.
///
/// # Errors
/// `Refused` with what is wrong with it; `Store`.
pub async fn install_licence(app: &App, text: String, force: bool) -> Result<LicenceView, StartError> {
    let context = Acting::installation(TenantId(uuid::Uuid::nil())).context(app);
    let authorized = context.snapshot().authorize_kind::<LicenceInstall>().map_err(denied)?;
    let record = licence_record(app, &context, "licence.installed");
    let install = Install { text, force, revision: None };
    Ok(shown(&app.identity.install_licence(&authorized, &context, &install, &record).await?))
}

/// A licence belongs to the installation, so its events belong to no organisation.
fn licence_record<'a>(
    app: &'a App,
    context: &'a RequestContext,
    action: &'a str,
) -> impl Fn(&LicenceReport) -> Journal + Send + Sync + 'a {
    move |report| {
        let mut journal = journal(app, context, action, "licence", report.installation_id.clone());
        if let Some(entry) = &mut journal.audit {
            entry.tenant = None;
        }
        journal
    }
}

fn shown(report: &LicenceReport) -> LicenceView {
    let licence = &report.licence;
    let claims = licence.claims.as_deref();
    let limit = |name, used| LimitView { name, used, licensed: licence.limit(name) };
    LicenceView {
        state: licence.state.as_str(),
        reason: licence.restriction().map(str::to_owned),
        licence_id: claims.map(|claims| claims.jti.clone()),
        customer: claims.map(|claims| claims.sub.clone()),
        expires_at: claims.map(|claims| claims.exp),
        entitlements: claims.map_or_else(Vec::new, |claims| {
            let enabled = claims.entitlements.iter().filter(|(_, enabled)| **enabled);
            enabled.map(|(name, _)| name.clone()).collect()
        }),
        limits: vec![limit("organizations", report.usage.organizations), limit("users", report.usage.users)],
        installation_id: report.installation_id.clone(),
        trial_available: report.trial_available,
    }
}

/// A workflow by its id or slug.
///
/// # Errors
/// `NotFound`, `Store`.
pub async fn find_workflow(app: &App, acting: &Acting, name: &str) -> Result<WorkflowId, StartError> {
    let context = acting.context(app);
    let authorized = context.snapshot().authorize_list::<WorkflowList>().map_err(denied)?;
    let id = name.parse::<uuid::Uuid>().ok();
    // The filter looks for a part of the text; only the whole slug counts.
    let q = if id.is_some() { None } else { Some(name.to_owned()) };
    let filter = WorkflowFilter { q, ..WorkflowFilter::default() };
    let mut page = PageRequest { limit: 200, cursor: None };
    loop {
        let found = app.definitions.list(&authorized, &context, &filter, &page).await?;
        let fits = |one: &heddle_workflows::records::Workflow| Some(one.id.0) == id || one.slug == name;
        if let Some(view) = found.items.iter().find(|view| fits(&view.workflow)) {
            return Ok(view.workflow.id);
        }
        page.cursor = found.next;
        if page.cursor.is_none() {
            return Err(StartError::NotFound(format!("there is no workflow `{name}`")));
        }
    }
}

/// A workflow's BPMN.
#[derive(Debug)]
pub struct Exported {
    /// The workflow's slug.
    pub slug: String,
    /// The XML.
    pub content: String,
    /// Findings of the writer, about what could not be written as it was.
    pub diagnostics: Vec<Diagnostic>,
}

/// Writes a workflow as BPMN. `version` is `draft`, `published` or a number.
///
/// # Errors
/// `NotFound`, `Refused` for another version word, `Store`.
pub async fn export(
    app: &App,
    acting: &Acting,
    workflow: &str,
    version: &str,
) -> Result<Exported, StartError> {
    let choice = match version {
        "draft" => VersionChoice::Draft,
        "published" => VersionChoice::Published,
        text => {
            let Ok(number) = text.parse() else {
                let message = format!("`{text}` is no version; say `draft`, `published` or a number");
                return Err(StartError::Refused(message));
            };
            VersionChoice::Number(number)
        }
    };
    let id = find_workflow(app, acting, workflow).await?;
    let context = acting.context(app);
    let authorized = context.snapshot().authorize_one::<WorkflowExport>(id, ()).map_err(denied)?;
    let exported =
        app.definitions.export_bpmn(&authorized, &context, choice).await.map_err(|error| match error {
            heddle_usecase::UseCaseError::NotFound => {
                StartError::NotFound(format!("`{workflow}` has nothing to export in the version `{version}`"))
            }
            other => other.into(),
        })?;
    let slug = exported.workflow.slug;
    Ok(Exported { slug, content: exported.content, diagnostics: exported.diagnostics })
}

/// Brings the database up to date; the names of what was applied.
///
/// # Errors
/// `DataDir`, `Database`, `Migration`.
pub async fn migrate(config: &Config) -> Result<Vec<&'static str>, StartError> {
    // Of several processes that share a database one migrates and the others wait; a file has one process.
    let data = match config.database_url {
        Some(_) => DataDir::beside(&config.data_dir)?,
        None => DataDir::open(&config.data_dir)?,
    };
    let db = stores::open(config, &data.database()).await?;
    Ok(db.migrate(&stores::migrations(), heddle_runtime::ServerClock::default().now()).await?)
}

fn denied(denial: DenialError) -> StartError {
    StartError::Internal(denial.reason.code().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_made_only_when_none_is_given() {
        assert_eq!(password(Some("given".to_owned())).unwrap(), ("given".to_owned(), None));
        let (one, shown) = password(None).unwrap();
        let (other, _) = password(None).unwrap();
        assert!(one.len() == 24 && shown.as_ref() == Some(&one) && one != other);
    }
}
