//! Remedies of an installation whose background work harms it: archive, cancel, and what to do with dead letters. None of
//! them needs the background.

use heddle_kernel::{EventId, PageRequest, RunId, WorkflowId};
use heddle_policy::capability::{
    DeadLetterDelete, DeadLetterList, DeadLetterRetry, RunCancel, WorkflowUpdate,
};
use heddle_workflows::definitions::WorkflowPatch;
use heddle_workflows::ports::LetterFilter;
use heddle_workflows::records::{DeadLetter, Run, WorkKind, WorkflowView};
use serde::Serialize;

use super::{denied, find_workflow};
use crate::acting::{Acting, journal};
use crate::app::App;
use crate::error::StartError;

/// A dead letter as the command line shows it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LetterView {
    /// Id of the letter.
    pub id: String,
    /// Kind of the work.
    pub kind: &'static str,
    /// Reason for which it was set aside.
    pub reason: &'static str,
    /// The last error in words.
    pub message: String,
    /// Attempts that failed.
    pub attempts: u32,
    /// Attempts that ended the process.
    pub crashes: u32,
    /// Workflow that it belongs to, where there is one.
    pub workflow_id: Option<String>,
    /// Run that it belongs to, where there is one.
    pub run_id: Option<String>,
    /// Instant at which it was set aside.
    pub created_at: String,
}

impl LetterView {
    fn of(letter: &DeadLetter) -> Self {
        Self {
            id: letter.id.to_string(),
            kind: letter.work.kind().as_str(),
            reason: letter.reason.as_str(),
            message: letter.message.clone(),
            attempts: letter.tries.attempts,
            crashes: letter.tries.crashes,
            workflow_id: letter.workflow.map(|id| id.to_string()),
            run_id: letter.run.map(|id| id.to_string()),
            created_at: letter.created_at.to_string(),
        }
    }
}

/// Archives a workflow, by its slug or id: nothing starts it any more.
///
/// # Errors
/// `NotFound`, `Store`.
pub async fn archive_workflow(app: &App, acting: &Acting, workflow: &str) -> Result<WorkflowId, StartError> {
    let id = find_workflow(app, acting, workflow).await?;
    let context = acting.context(app);
    let authorized = context.snapshot().authorize_one::<WorkflowUpdate>(id, ()).map_err(denied)?;
    let patch = WorkflowPatch { archived: Some(true), ..WorkflowPatch::default() };
    let record = |_: &WorkflowView| journal(app, &context, "workflow.updated", "workflow", id.to_string());
    app.definitions.patch(&authorized, &context, patch, &record).await?;
    Ok(id)
}

/// Cancels a run.
///
/// # Errors
/// `NotFound`, `Refused` for a text that is no id, `Store`.
pub async fn cancel_run(app: &App, acting: &Acting, run: &str) -> Result<&'static str, StartError> {
    let id: RunId = run.parse().or(Err(StartError::Refused(format!("`{run}` is no run's id"))))?;
    let context = acting.context(app);
    let key = app.runs.key_of(context.tenant(), id).await?;
    let authorized = context.snapshot().authorize_key::<RunCancel>(key).map_err(denied)?;
    let record = |run: &Run| journal(app, &context, "workflow.run_cancelled", "run", run.id.to_string());
    let reason = Some("a command of the operator".to_owned());
    Ok(app.runs.cancel(&authorized, &context, None, reason, &record).await?.state.as_str())
}

/// The dead letters of an organisation, the newest first; at most `limit`.
///
/// # Errors
/// `Refused` for an unknown kind, `Store`.
pub async fn dead_letters(
    app: &App,
    acting: &Acting,
    kind: Option<&str>,
    limit: u32,
) -> Result<Vec<LetterView>, StartError> {
    let known = |text: &str| {
        let kinds: Vec<_> = WorkKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let message = || format!("`{text}` is no kind; there are {}", kinds.join(", "));
        WorkKind::parse(text).ok_or_else(|| StartError::Refused(message()))
    };
    let filter = LetterFilter { kind: kind.map(known).transpose()?, ..LetterFilter::default() };
    let context = acting.context(app);
    let authorized = context.snapshot().authorize_list::<DeadLetterList>().map_err(denied)?;
    let mut page = PageRequest { limit: limit.clamp(1, heddle_kernel::MAX_LIMIT), cursor: None };
    let mut shown = Vec::new();
    loop {
        let found = app.runs.dead_letters(&authorized, &context, &filter, &page).await?;
        shown.extend(found.items.iter().map(LetterView::of));
        page.cursor = found.next;
        if page.cursor.is_none() || shown.len() >= limit as usize {
            shown.truncate(limit as usize);
            return Ok(shown);
        }
    }
}

/// Puts the work of a dead letter back; the next server with a background does it.
///
/// # Errors
/// `NotFound`, `Refused` when there is no place for it any more, `Store`.
pub async fn retry_dead_letter(app: &App, acting: &Acting, letter: &str) -> Result<LetterView, StartError> {
    let context = acting.context(app);
    let key = app.runs.dead_letter_key(context.tenant(), letter_id(letter)?).await?;
    let authorized = context.snapshot().authorize_key::<DeadLetterRetry>(key).map_err(denied)?;
    let record = |letter: &DeadLetter| {
        journal(app, &context, "dead_letter.retried", "dead-letter", letter.id.to_string())
    };
    let letter = app.runs.retry_dead_letter(&authorized, &context, &record).await?;
    Ok(LetterView::of(&letter))
}

/// Drops a dead letter.
///
/// # Errors
/// `NotFound`, `Store`.
pub async fn drop_dead_letter(app: &App, acting: &Acting, letter: &str) -> Result<(), StartError> {
    let context = acting.context(app);
    let key = app.runs.dead_letter_key(context.tenant(), letter_id(letter)?).await?;
    let unit = journal(app, &context, "dead_letter.dropped", "dead-letter", key.id().to_string());
    let authorized = context.snapshot().authorize_key::<DeadLetterDelete>(key).map_err(denied)?;
    Ok(app.runs.drop_dead_letter(&authorized, &unit).await?)
}

fn letter_id(text: &str) -> Result<EventId, StartError> {
    text.parse().or(Err(StartError::Refused(format!("`{text}` is no dead letter's id"))))
}
