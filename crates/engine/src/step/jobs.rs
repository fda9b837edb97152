//! Jobs for external workers. Who holds one is no matter of the run: it knows that a job is open, how many attempts it
//! has left, and from when on the next one may begin.

use super::error::Thrown;
use super::leave::Completion;
use super::{At, Machine, StepFault, expression};
use crate::event::{EventKind, IncidentCode, JobCreated, JobKind, Phase, Resolution};
use crate::state::{JobState, Stage};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{JobTask, ListenerPlace, ListenerWork, NodeIx, Setting, Throw, Work};
use heddle_feel::size_of_json;
use heddle_kernel::{JobId, shortened};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Attempts of a job of which the model does not say how many it has.
const ATTEMPTS: u32 = 3;
/// The longest type of a job, in bytes: rules about jobs name them by it.
const TYPE_MAX: usize = 200;
/// The longest wait for the next attempt, in milliseconds: a year.
const LONGEST_WAIT: u64 = 366 * 86_400_000;

/// Failure of a worker at a job.
pub(super) struct Failure {
    pub message: String,
    pub details: Option<String>,
    pub retries: Option<u32>,
    pub retry_after_ms: Option<u64>,
}

impl Machine<'_> {
    /// Opens the job that is the work of a node, once what its boundary events wait for is open.
    pub(super) fn open_work(&mut self, ix: NodeIx, id: LocalId, task: &JobTask) -> Result<(), StepFault> {
        let created = self.job(id, JobKind::Task, task)?;
        let waits = self.boundary(ix, id)?;
        self.open(waits, id);
        self.create_job(id, created)
    }

    /// Opens a job for a node instance.
    pub(super) fn open_job(&mut self, id: LocalId, kind: JobKind, task: &JobTask) -> Result<(), StepFault> {
        let created = self.job(id, kind, task)?;
        self.create_job(id, created)
    }

    fn create_job(&mut self, id: LocalId, mut created: JobCreated) -> Result<(), StepFault> {
        // What was opened before it has counted since.
        created.number = self.next_id();
        created.job_id = created.number.job(self.cx.run_id);
        let (_, at) = self.at(id)?;
        self.emit(at, EventKind::JobCreated(Box::new(created)));
        Ok(())
    }

    /// Data of a job that is to be opened.
    pub(super) fn job(&self, id: LocalId, kind: JobKind, task: &JobTask) -> Result<JobCreated, StepFault> {
        let scope = self.inner(id)?;
        let job_type = self.text(Some(&task.job_type), scope)?.unwrap_or_default();
        let named = !job_type.is_empty() && job_type.trim() == job_type && job_type.len() <= TYPE_MAX;
        if !named || job_type.chars().any(char::is_control) {
            let found = shortened(&job_type).into_owned();
            return Err(expression(format!(
                "the job type `{found}` is no name of 1 to {TYPE_MAX} bytes without control characters and \
                 without spaces around it"
            )));
        }
        let retries = match &task.retries {
            None => ATTEMPTS,
            Some(setting) => {
                let number = self.whole("retries", setting, scope)?;
                let least = u32::try_from(number).ok().filter(|number| *number >= 1);
                least.ok_or_else(|| expression(format!("retries: {number} is no number from 1 on")))?
            }
        };
        let priority = match &task.priority {
            None => None,
            Some(setting) => Some(self.whole("priority", setting, scope)?),
        };
        let headers = task.headers.clone();
        let bytes: u64 = headers.values().map(size_of_json).sum();
        self.admit_told(bytes + job_type.len() as u64)?;
        let number = self.next_id();
        let job_id = number.job(self.cx.run_id);
        Ok(JobCreated { job_id, kind, job_type: job_type.into(), retries, priority, headers, number })
    }

    /// A whole number that a setting gives; vendors write numbers as texts, too.
    fn whole(&self, member: &str, setting: &Setting, scope: LocalId) -> Result<i64, StepFault> {
        let value = self.setting(setting, scope)?;
        #[expect(clippy::cast_possible_truncation, reason = "it is a whole number of at most 53 bits")]
        let number = match &value {
            Value::Number(number) => number.as_i64().or_else(|| {
                let float = number.as_f64()?;
                (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64)
            }),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        number.ok_or_else(|| {
            let found = shortened(&value.to_string()).into_owned();
            expression(format!("{member}: {found} is not a whole number"))
        })
    }

    /// An open job that has an attempt left, with its place.
    fn ready_job(&self, job: JobId) -> Result<(JobState, NodeIx, At), Rejection> {
        let own = self.state.job(job).filter(|own| own.retries > 0).cloned();
        let own = own.ok_or(Rejection::UnknownJob(job))?;
        let (ix, at) = self.at(own.owner)?;
        Ok((own, ix, at))
    }

    /// Settings of the model for a job.
    fn task_of(&self, ix: NodeIx, own: &JobState) -> Option<Arc<JobTask>> {
        let node = self.graph.node(ix);
        let listener = |place: ListenerPlace, at: u32| {
            let listeners = node.listeners.as_ref()?;
            match &listeners.at(place).nth(at as usize)?.work {
                ListenerWork::Job(task) => Some(Arc::clone(task)),
                ListenerWork::Script { .. } => None,
            }
        };
        match own.kind {
            JobKind::Task => {
                let (Work::Job(task) | Work::Throw(Throw::Job(task)) | Work::End(Throw::Job(task))) =
                    &node.work
                else {
                    return None;
                };
                Some(Arc::clone(task))
            }
            JobKind::StartListener | JobKind::EndListener | JobKind::TaskListener => {
                match self.state.instance(own.owner)?.stage {
                    Stage::StartListener(at) => listener(ListenerPlace::Start, at),
                    Stage::EndListener(at) => listener(ListenerPlace::End, at),
                    Stage::Before
                    | Stage::Work
                    | Stage::After
                    | Stage::Depart
                    | Stage::Delay(..)
                    | Stage::Review(_) => None,
                }
            }
        }
    }

    pub(super) fn complete_job(
        &mut self,
        job: JobId,
        variables: Map<String, Value>,
    ) -> Result<(), Rejection> {
        let (own, ix, at) = self.ready_job(job)?;
        let task = self.task_of(ix, &own);
        self.emit(at, EventKind::JobCompleted { job_id: job, variables: variables.clone() });
        let values = match task.and_then(|task| task.result_variable.clone()) {
            Some(name) => Map::from_iter([(name.to_string(), Value::Object(variables))]),
            None => variables,
        };
        match own.kind {
            JobKind::Task => {
                self.give(own.owner, values)?;
                self.leave_with(own.owner, Completion::default())
            }
            JobKind::StartListener | JobKind::EndListener | JobKind::TaskListener => {
                // What a listener behind the work gives is for what comes after the node.
                let scope = match own.kind {
                    JobKind::EndListener => self.instance(own.owner)?.scope,
                    JobKind::Task | JobKind::StartListener | JobKind::TaskListener => {
                        self.inner(own.owner)?
                    }
                };
                self.set_values(scope, values);
                self.listener_done(own.owner)
            }
        }
    }

    /// Ends an attempt: the next one comes behind a wait, or an incident says that there is none.
    pub(super) fn fail_job(&mut self, job: JobId, failure: Failure) -> Result<(), Rejection> {
        let (own, ix, at) = self.ready_job(job)?;
        let Failure { message, details, retries, retry_after_ms } = failure;
        let retries = retries.unwrap_or(own.retries - 1);
        let wait = retry_after_ms.unwrap_or_else(|| {
            let steps = self.task_of(ix, &own).map(|task| task.back_off.clone()).unwrap_or_default();
            let place = own.attempt.saturating_sub(1) as usize;
            steps.get(place).or(steps.last()).copied().unwrap_or(0)
        });
        let wait = i64::try_from(wait.min(LONGEST_WAIT)).unwrap_or(0);
        let not_before = (retries > 0 && wait > 0).then(|| self.now.plus_millis(wait));
        let said = if message.trim().is_empty() { "the worker gave no reason".to_owned() } else { message };
        let reason = format!("the job `{}` failed: {said}", own.job_type);
        let failed = EventKind::JobFailed { job_id: job, message: said, details, retries, not_before };
        self.emit(at, failed);
        if retries == 0 {
            self.raise(at, IncidentCode::JobFailed, &reason, Phase::Enter);
        }
        Ok(())
    }

    /// Ends a job with an error. One that nothing catches leaves the job without an attempt, behind an incident.
    pub(super) fn throw_job_error(&mut self, job: JobId, thrown: Thrown) -> Result<(), Rejection> {
        let (own, _, at) = self.ready_job(job)?;
        let Thrown { code, message, values } = &thrown;
        let told = EventKind::JobErrorThrown {
            job_id: job,
            code: code.to_string(),
            message: message.clone(),
            variables: values.clone(),
        };
        let reason = format!("the error `{code}` of the job `{}` is not caught", own.job_type);
        self.emit(at, told);
        if self.error_at(own.owner, thrown)? {
            return Ok(());
        }
        let failed = EventKind::JobFailed {
            job_id: job,
            message: reason.clone(),
            details: None,
            retries: 0,
            not_before: None,
        };
        self.emit(at, failed);
        self.raise(at, IncidentCode::UnhandledError, &reason, Phase::Enter);
        Ok(())
    }

    /// Gives a job another number of attempts: some settle the incident that it had none, none raises it.
    pub(super) fn set_job_retries(&mut self, job: JobId, retries: u32) -> Result<(), Rejection> {
        let own = self.state.job(job).cloned().ok_or(Rejection::UnknownJob(job))?;
        let (_, at) = self.at(own.owner)?;
        if retries > 0 {
            let stopped = self.state.incidents.iter().find(|one| {
                one.instance == Some(own.owner)
                    && matches!(one.code, IncidentCode::JobFailed | IncidentCode::UnhandledError)
            });
            if let Some(incident_id) = stopped.filter(|_| own.retries == 0).map(|one| one.id) {
                let (resolution, by) = (Resolution::Retry, self.actor());
                self.emit(at, EventKind::IncidentResolved { incident_id, resolution, by });
            }
        }
        if retries != own.retries {
            self.emit(at, EventKind::JobRetriesSet { job_id: job, retries });
        }
        if retries == 0 && own.retries > 0 {
            let reason = format!("the job `{}` was left without attempts", own.job_type);
            self.raise(at, IncidentCode::JobFailed, &reason, Phase::Enter);
        }
        Ok(())
    }

    /// Opens the job of a node instance anew behind its incident, with as many attempts as the model says; answers whether
    /// there is one.
    pub(super) fn reopen_job(&mut self, id: LocalId) -> Result<bool, Rejection> {
        // Jobs of task listeners may stand beside one that has no attempt left.
        let mut jobs = self.state.jobs.iter();
        let Some(own) = jobs.find(|own| own.owner == id && own.retries == 0).cloned() else {
            return Ok(false);
        };
        let (ix, at) = self.at(id)?;
        let scope = self.inner(id)?;
        let said = self.task_of(ix, &own).and_then(|task| task.retries.clone());
        // It was read when the job came; what it says now may be no number any more.
        let number = said.and_then(|setting| self.whole("retries", &setting, scope).ok());
        let retries = number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number >= 1);
        self.emit(at, EventKind::JobRetriesSet { job_id: own.id, retries: retries.unwrap_or(ATTEMPTS) });
        Ok(true)
    }
}
