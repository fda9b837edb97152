//! Work of a job as its header tells it, and how it ends.

use std::time::Duration;

use heddle_guardrails::{Hit, Policy, SchemaCheck};
use heddle_kernel::Timestamp;
use heddle_settings::inside::{HEADER, InsideKind, MOST_REPAIRS, REPAIRS};
use serde_json::{Map, Value};

use crate::evaluate::Evaluator;
use crate::fault::WorkFault;
use crate::notes::{Notes, Reviewed};
use crate::ports::{Caller, FaultKind, ModelCalls};
use crate::{CallFault, PROTECTION_VIOLATION, REVIEW, UNFIT, prompts};

/// Most bytes that a model is told of what was wrong with its answer.
const MOST_TOLD: usize = 4 << 10;
/// Seconds that a call has where the settings say nothing.
const USUAL_SECONDS: u64 = 120;

/// A tool of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The inner activity.
    pub element: String,
    /// Name that the model calls.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
    /// Human task that approves each call; none where none does.
    pub approval: Option<String>,
}

/// Step that follows a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Next {
    /// The next of the attempts that the job has.
    #[default]
    Attempt,
    /// An attempt at once that is none of those: the answer is to be repaired.
    Repair,
    /// Nothing: no further attempt makes sense before somebody has looked.
    Nothing,
}

/// Failure of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setback {
    /// A sentence without prompt and answer.
    pub message: String,
    /// Time until the next attempt; none for what the model says.
    pub after: Option<Duration>,
    /// Step that follows.
    pub next: Next,
    /// Notes for the next attempt; none leaves those of before.
    pub notes: Option<Notes>,
}

/// End of work.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// Completion with variables.
    Completed {
        /// Variables that the job gives.
        variables: Map<String, Value>,
        /// Findings of protection.
        hits: Vec<Hit>,
    },
    /// Failure of the attempt.
    Failed {
        /// The failure.
        setback: Setback,
        /// Findings of protection.
        hits: Vec<Hit>,
    },
    /// End with a BPMN error.
    Error {
        /// Code of the error.
        code: &'static str,
        /// A sentence without prompt and answer.
        message: String,
        /// Findings of protection.
        hits: Vec<Hit>,
    },
}

impl Ending {
    /// A completion with the members of an object.
    pub(crate) fn completed(variables: Value, hits: Vec<Hit>) -> Self {
        let variables = match variables {
            Value::Object(members) => members,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        Self::Completed { variables, hits }
    }

    /// An end that no further attempt changes.
    pub(crate) fn hopeless(message: impl Into<String>, hits: Vec<Hit>) -> Self {
        let setback = Setback { message: message.into(), next: Next::Nothing, ..Setback::default() };
        Self::Failed { setback, hits }
    }

    /// An answer that no model can be told to better: the next attempt asks again.
    pub(crate) fn broken(message: &str, hits: Vec<Hit>) -> Self {
        Self::Failed { setback: Setback { message: message.to_owned(), ..Setback::default() }, hits }
    }

    /// Keeps the result that waits for a review.
    pub(crate) fn keep(&mut self, result: Reviewed) {
        if let Self::Failed { setback: Setback { notes: Some(notes), .. }, .. } = self {
            notes.result = Some(result);
        }
    }

    /// The failure of a call.
    pub(crate) fn of_call(fault: CallFault, hits: Vec<Hit>) -> Self {
        let next = match fault.kind {
            FaultKind::Refused | FaultKind::Denied | FaultKind::Missing => Next::Nothing,
            FaultKind::Limited | FaultKind::Unavailable => Next::Attempt,
        };
        let setback = Setback { message: fault.message, after: fault.after, next, notes: None };
        Self::Failed { setback, hits }
    }

    /// The end by protection, with the checks by name.
    pub(crate) fn violation(hits: Vec<Hit>) -> Self {
        let names: Vec<&str> = hits.iter().map(|hit| hit.check_id.as_str()).collect();
        let message = format!("Protection ended the node: {}.", names.join(", "));
        Self::Error { code: PROTECTION_VIOLATION, message, hits }
    }
}

/// Work of a job.
pub struct Work<'w> {
    /// Kind of it.
    pub kind: InsideKind,
    /// Person on whose behalf it is done.
    pub caller: Caller,
    /// Settings as the model says them.
    pub settings: Map<String, Value>,
    /// Tools of an agent.
    pub tools: Vec<Tool>,
    /// Protection of the definition.
    pub policy: Policy,
    /// Variables that the node sees.
    pub variables: Map<String, Value>,
    /// Outputs and outcomes of the run's nodes, by their ids.
    pub outputs: Value,
    /// The present time.
    pub now: Timestamp,
    /// Notes of the attempt before this one.
    pub notes: Notes,
    /// Models.
    pub models: &'w dyn ModelCalls,
    /// JSON Schemas.
    pub schemas: &'w (dyn SchemaCheck + Sync),
}

impl std::fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("kind", &self.kind).field("caller", &self.caller).finish_non_exhaustive()
    }
}

impl Work<'_> {
    /// Reads what the headers of a job say into work that has the rest of its members.
    ///
    /// # Errors
    /// What does not read: the job is not one of this version of the service.
    pub fn read(self, headers: &Map<String, Value>) -> Result<Self, WorkFault> {
        let told = || WorkFault("The job's header does not read.".to_owned());
        let header = headers.get(HEADER).and_then(Value::as_object).ok_or_else(told)?;
        let settings = header.get("settings").and_then(Value::as_object).cloned().unwrap_or_default();
        let tools = header.get("tools").and_then(Value::as_array);
        let tools = tools.into_iter().flatten().map(tool).collect::<Option<Vec<_>>>().ok_or_else(told)?;
        let policy = match header.get("protection") {
            None => Policy::default(),
            Some(own) => {
                let preset = own.get("preset").and_then(Value::as_str);
                let checks = own.get("customChecks").and_then(Value::as_array);
                let texts = checks.into_iter().flatten().map(|own| own.as_str().map(str::to_owned));
                let texts: Vec<String> = texts.collect::<Option<_>>().ok_or_else(told)?;
                // Protection that does not read protects nobody: the work is not done.
                Policy::read(preset, &texts)
                    .map_err(|_faults| WorkFault("The protection does not read.".to_owned()))?
            }
        };
        Ok(Self { settings, tools, policy, ..self })
    }

    /// Does the work.
    pub async fn perform(&self) -> Ending {
        if let Some(ending) = self.reviewed() {
            return ending;
        }
        let done = match self.kind {
            InsideKind::Chat => self.chat().await,
            InsideKind::Extract => self.extract().await,
            InsideKind::Classify => self.classify().await,
            InsideKind::Rerank => self.rerank().await,
            InsideKind::Moderate => self.moderate().await,
            InsideKind::Embed => self.embed().await,
            InsideKind::Guardrail => self.guardrail().await,
            InsideKind::Agent => self.turn().await,
            InsideKind::Protection => self.protect().await,
        };
        done.unwrap_or_else(|fault| Ending::hopeless(fault.0, Vec::new()))
    }

    /// Time that a call may take.
    pub(crate) fn time(&self) -> Result<Duration, WorkFault> {
        let seconds = self.evaluator().whole("timeoutSeconds", 1, 86_400)?;
        // The time of an agent is that of all its turns.
        let seconds = seconds.filter(|_| self.kind != InsideKind::Agent);
        Ok(Duration::from_secs(seconds.unwrap_or(USUAL_SECONDS)))
    }

    pub(crate) const fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { settings: &self.settings, variables: &self.variables, now: self.instant() }
    }

    /// The instant for which settings are evaluated: what somebody let pass is made the same again.
    pub(crate) const fn instant(&self) -> Timestamp {
        match self.notes.reviewed_at {
            Some(at) => Timestamp::from_micros(at),
            None => self.now,
        }
    }

    /// A wait for somebody's decision on what has this digest.
    pub(crate) fn review(&self, digest: String, hits: Vec<Hit>) -> Ending {
        let told: Vec<String> = hits.iter().map(|hit| format!("{}: {}", hit.check_id, hit.message)).collect();
        let setback = Setback {
            message: format!("{REVIEW}{}", told.join(" ")),
            next: Next::Nothing,
            notes: Some(self.notes.with_review(digest, self.instant())),
            ..Setback::default()
        };
        Ending::Failed { setback, hits }
    }

    /// Attempts at repairing an answer.
    pub(crate) fn repairs(&self) -> Result<u64, WorkFault> {
        Ok(self.evaluator().whole("repairAttempts", 0, MOST_REPAIRS)?.unwrap_or(REPAIRS))
    }

    /// An answer that does not fit: the model is told so, as often as it may try to repair it.
    pub(crate) fn unfit(&self, message: &str, hits: Vec<Hit>) -> Result<Ending, WorkFault> {
        let goes_on = self.notes.repairs < self.repairs()?;
        let mut notes = self.notes.clone();
        // Who has it tried again has it repaired again.
        notes.repairs = if goes_on { notes.repairs + 1 } else { 0 };
        notes.unfit_answers += 1;
        let mut told = message.to_owned();
        prompts::cut(&mut told, MOST_TOLD);
        notes.unfit = Some(told);
        let setback = Setback {
            message: format!("{UNFIT}{message}"),
            after: goes_on.then_some(Duration::ZERO),
            next: if goes_on { Next::Repair } else { Next::Nothing },
            notes: Some(notes),
        };
        Ok(Ending::Failed { setback, hits })
    }
}

fn tool(value: &Value) -> Option<Tool> {
    let text = |member: &str| value.get(member).and_then(Value::as_str).map(str::to_owned);
    Some(Tool {
        element: text("element")?,
        name: text("name")?,
        description: text("description")?,
        parameters: value.get("parameters")?.clone(),
        approval: text("approval"),
    })
}
