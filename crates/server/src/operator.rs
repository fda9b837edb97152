//! Operations of the command line that are no call of the API: a look at everything, migrations, and what a first start
//! shows.

mod audit;
mod backup;
mod beginning;
mod decisions;
mod doctor;
mod summary;

pub use audit::{Kept, VerifiedTrail, verify_copy, verify_export};
pub use backup::{Copied, KeyFiles, back_up, restore};
pub use beginning::Beginning;
pub use decisions::decision_findings;
pub use doctor::{Check, Finding, checks};
pub use summary::{Summary, summary};

use heddle_identity::token::Token;
use heddle_kernel::{Clock as _, PageRequest, WorkflowId};
use heddle_policy::DenialError;
use heddle_policy::capability::{self, WorkflowList};
use heddle_workflows::ports::WorkflowFilter;

use crate::acting::Acting;
use crate::app::App;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::error::StartError;
use crate::stores;

/// A random password of 144 bits, to be shown once.
///
/// # Errors
/// `Internal` when the system gives no random bytes.
pub fn random_password() -> Result<String, StartError> {
    Ok(Token::random("")?.expose().get(..24).unwrap_or_default().to_owned())
}

/// The names of the keys whose licences this program accepts.
#[must_use]
pub fn vendor_keys() -> Vec<String> {
    heddle_identity::licence::vendor_key_names()
}

/// The permissions of which operations that do an action to things of a type need one; none where no operation does it.
#[must_use]
pub fn needed_permissions(resource: &str, action: &str) -> Vec<&'static str> {
    let such = capability::ALL.iter();
    let such = such.filter(|one| one.resource.as_str() == resource && one.action.as_str() == action);
    let mut names: Vec<&'static str> =
        such.flat_map(|one| one.permissions).map(|name| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
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
        if let Some(view) = found.items.iter().find(|view| fits(&view.definition)) {
            return Ok(view.definition.id);
        }
        page.cursor = found.next;
        if page.cursor.is_none() {
            return Err(StartError::NotFound(format!("there is no workflow `{name}`")));
        }
    }
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
    fn the_permissions_of_an_action_are_those_of_its_operations() {
        assert_eq!(needed_permissions("workflow", "delete"), ["workflows.manage"]);
        assert_eq!(needed_permissions("workflow", "read"), ["workflows.manage", "workflows.view"]);
        assert!(needed_permissions("workflow", "fly").is_empty());
    }

    #[test]
    fn a_password_is_long_and_another_each_time() {
        let (one, other) = (random_password().unwrap(), random_password().unwrap());
        assert!(one.len() == 24 && one != other);
    }
}
