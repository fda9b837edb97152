//! Jobs for external workers. Who holds one is no matter of the run: it knows that a job is open, how many attempts it
//! has left, and from when on the next one may begin.

use super::error::Thrown;
use super::leave::Completion;
use super::{At, Machine, StepFault};
pub(super) use crate::core::jobs::Failure;
use crate::event::{EventKind, IncidentCode, JobCreated, JobKind, Phase, ProtectionViolated, Resolution};
use crate::state::{JobState, Life, Stage};
use crate::{Command, LocalId, Rejection};
use heddle_bpmn_graph::{JobTask, ListenerPlace, ListenerWork, NodeIx, Throw, Work};
use heddle_kernel::JobId;
use heddle_settings::JobEnd;
use serde_json::{Map, Value};
use std::sync::Arc;

impl Machine<'_> {
    /// Opens the job that is the work of a node, once what its boundary events wait for is open.
    pub(super) fn open_work(&mut self, ix: NodeIx, id: LocalId, task: &JobTask) -> Result<(), StepFault> {
        let created = self.planned_job(JobKind::Task, task, self.inner(id)?)?;
        let waits = self.boundary(ix, id)?;
        self.open(waits, id);
        self.create_job(id, created)
    }

    /// Opens a job for a node instance.
    pub(super) fn open_job(&mut self, id: LocalId, kind: JobKind, task: &JobTask) -> Result<(), StepFault> {
        let created = self.planned_job(kind, task, self.inner(id)?)?;
        self.create_job(id, created)
    }

    fn create_job(&mut self, id: LocalId, mut created: JobCreated) -> Result<(), StepFault> {
        // What was opened before it has counted since.
        self.number_job(&mut created);
        let (_, at) = self.at(id)?;
        self.emit(at, EventKind::JobCreated(Box::new(created)));
        Ok(())
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
            JobKind::Task => match &node.work {
                Work::Job(task) | Work::Throw(Throw::Job(task)) | Work::End(Throw::Job(task)) => {
                    Some(Arc::clone(task))
                }
                other => other.agent().cloned(),
            },
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
            JobKind::Task if self.graph.node(ix).work.agent().is_some() => {
                self.agent_turn(ix, own.owner, values)
            }
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

    /// Notes what protection found at a job, and does what becomes of the job.
    pub(super) fn guarded(
        &mut self,
        job: JobId,
        hits: Vec<ProtectionViolated>,
        then: Command,
    ) -> Result<(), Rejection> {
        let owner = self.state.job(job).map(|own| own.owner).ok_or(Rejection::UnknownJob(job))?;
        let (_, at) = self.at(owner)?;
        for hit in hits {
            self.violations.push(format!("{}: {}", hit.check_id, hit.message).into());
            self.emit(at, EventKind::ProtectionViolated(Box::new(hit)));
        }
        self.execute(then)
    }

    /// Ends an attempt: the next one comes behind a wait, or an incident says that there is none.
    pub(super) fn fail_job(&mut self, job: JobId, failure: Failure) -> Result<(), Rejection> {
        let (own, ix, at) = self.ready_job(job)?;
        let steps = self.task_of(ix, &own).map(|task| task.back_off.clone()).unwrap_or_default();
        let (failed, reason) = self.failed_job(&own, failure, &steps);
        self.emit(at, failed);
        if let Some(reason) = reason {
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
        let mut reason = format!("the error `{code}` of the job `{}` is not caught", own.job_type);
        if let Some(message) = message {
            reason.push_str(": ");
            reason.push_str(&heddle_kernel::shortened(message));
        }
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
            notes: None,
        };
        self.emit(at, failed);
        self.raise(at, IncidentCode::UnhandledError, &reason, Phase::Enter);
        Ok(())
    }

    /// Ends a job of the service. While the run is suspended that is kept: nobody is asked for it again.
    pub(super) fn end_job(&mut self, job: JobId, end: JobEnd) -> Result<(), Rejection> {
        if self.state.life != Life::Suspended {
            return self.execute(Command::ending(job, end));
        }
        let (_, _, at) = self.ready_job(job)?;
        self.emit(at, EventKind::JobKept { job_id: job, end });
        Ok(())
    }

    /// Ends the jobs whose ends were kept while the run was suspended.
    pub(super) fn take_up_ends(&mut self) -> Result<(), Rejection> {
        let kept = self.state.jobs.iter().filter(|own| own.kept.is_some());
        for job in kept.map(|own| own.id).collect::<Vec<_>>() {
            // It may have gone with what came of another one.
            let end = self.state.job(job).and_then(|own| own.kept.as_deref().cloned());
            if let Some(end) = end {
                self.execute(Command::ending(job, end))?;
            }
        }
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
        let retries = self.attempts(said.as_ref(), scope);
        self.emit(at, EventKind::JobRetriesSet { job_id: own.id, retries });
        Ok(true)
    }
}
