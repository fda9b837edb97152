//! Work of stages and tasks: what begins it, what ends it, and what its failure is.

use super::{CaseMachine, Todo};
use crate::core::StepFault;
use crate::core::compute::{Computed, Scopes, json_of};
use crate::core::jobs::Failure;
use crate::core::tasks::Named;
use crate::event::{EventKind, IncidentCode, ItemState, JobKind, Phase, ProtectionViolated, Resolution};
use crate::state::{IncidentState, JobState};
use crate::{Command, LocalId, Rejection};
use heddle_cmmn::plan::{Item, ItemEvent, Work};
use heddle_feel::{Context, size_of_json};
use heddle_kernel::{DefinitionKind, JobId, RunId, TaskId, shortened};
use heddle_settings::{CallTask, JobTask, Setting, UserTask};
use serde_json::{Map, Value};
use std::sync::Arc;

impl CaseMachine<'_> {
    /// Begins the work of an active instance; one that cannot begin has failed.
    pub(super) fn work(&mut self, id: LocalId) -> Result<(), Rejection> {
        if self.state.item(id).is_none_or(|own| own.state != ItemState::Active) {
            return Ok(());
        }
        if self.halted {
            self.todo.push_back(Todo::TakeUp(id));
            return Ok(());
        }
        match self.try_work(id) {
            Ok(()) => Ok(()),
            Err(fault) => self.failed(id, fault, Phase::Enter),
        }
    }

    /// The work of an instance failed: it stays, behind an incident.
    pub(super) fn failed(&mut self, id: LocalId, fault: StepFault, phase: Phase) -> Result<(), Rejection> {
        let (code, message) = match fault {
            StepFault::Rejected(rejection) => return Err(rejection),
            StepFault::Incident(code, message) => (code, message),
        };
        let is_active = self.state.item(id).is_some_and(|own| own.state == ItemState::Active);
        // What a budget stops has not failed: it goes on when that is settled.
        if is_active && code != IncidentCode::Limit && id != LocalId::ROOT {
            self.transit(id, ItemEvent::Fault, None)?;
        }
        self.raise(id, code, &message, phase, None);
        Ok(())
    }

    fn try_work(&mut self, id: LocalId) -> Result<(), StepFault> {
        let (_, item) = self.item_of(id)?;
        if let Work::Stage { .. } = &item.work {
            self.take_inputs(id, item)?;
            return Ok(self.open_stage(id, item)?);
        }
        self.take_inputs(id, item)?;
        let scope = self.inner(id);
        match &item.work {
            // Nobody is asked where nobody waits for an answer.
            Work::Human { .. } if !item.extra.blocking => self.finish_work(id, Map::new(), true),
            Work::Human { task, performer } => self.open_task(id, item, task, performer.as_ref()),
            Work::Process { call } | Work::Case { call } => self.open_call(id, item, call),
            Work::Decision { decision } => {
                let computed = self.decide(decision, id, scope)?;
                self.computed(id, computed)
            }
            Work::Script { script } => {
                if let Some(error) = &script.throws {
                    let message =
                        format!("the script throws the error `{}`, which nothing catches", error.code);
                    return Err(StepFault::Incident(IncidentCode::UnhandledError, message));
                }
                let computed = self.compute(script, id, scope)?;
                self.computed(id, computed)
            }
            Work::Job { job } => {
                let mut created = self.planned_job(JobKind::Task, job, scope)?;
                self.number_job(&mut created);
                let spot = self.spot(id);
                self.emit(spot, EventKind::JobCreated(Box::new(created)));
                Ok(())
            }
            // Somebody says when it is done.
            Work::Task if item.extra.blocking => Ok(()),
            Work::Task => self.finish_work(id, Map::new(), true),
            // These occur and have no work.
            Work::Stage { .. }
            | Work::Milestone { .. }
            | Work::Timer { .. }
            | Work::UserEvent { .. }
            | Work::Message { .. }
            | Work::Signal { .. }
            | Work::Variable { .. }
            | Work::Reactivation { .. } => Ok(()),
        }
    }

    /// Creates what is in a stage from the first.
    pub(super) fn open_stage(&mut self, id: LocalId, item: &Item) -> Result<(), Rejection> {
        for &child in &item.children {
            self.come(child, id)?;
        }
        self.touched.push(id);
        Ok(())
    }

    /// Gives a task its own variables: parameters, mappings, and values of case file items.
    fn take_inputs(&mut self, id: LocalId, item: &Item) -> Result<(), StepFault> {
        let extra = &item.extra;
        let mappings = &extra.mappings;
        if mappings.inputs.is_empty() && mappings.outputs.is_empty() && extra.bound_inputs.is_empty() {
            return Ok(());
        }
        let scope = self.inner(id);
        // The mappings read what is bound to case file items.
        let bound = extra.bound_inputs.iter();
        let value = |ix: u32| self.file_value(ix).cloned().unwrap_or_default();
        let bound: Map<String, Value> = bound.map(|(ix, name)| (name.to_string(), value(*ix))).collect();
        self.open_scope(id);
        self.admit_own(id, &bound)?;
        let spot = self.scope_spot(id);
        if !bound.is_empty() {
            self.emit(spot.clone(), EventKind::VariablesSet { values: bound });
        }
        let scope = if extra.bound_inputs.is_empty() { scope } else { id };
        let own = self.inputs(&mappings.inputs, scope, &mut Vec::new())?;
        let values = json_of(&own);
        self.admit_own(id, &values)?;
        if !values.is_empty() {
            self.emit(spot, EventKind::VariablesSet { values });
        }
        Ok(())
    }

    fn open_task(
        &mut self,
        id: LocalId,
        item: &Item,
        task: &UserTask,
        performer: Option<&Arc<str>>,
    ) -> Result<(), StepFault> {
        let named = Named { id: &item.id, name: item.name.clone() };
        let scope = self.inner(id);
        let created = match performer.filter(|_| task.is_open()) {
            None => self.planned_task(named, task, id, scope)?,
            Some(role) => {
                let task = self.performed(task, role);
                self.planned_task(named, &task, id, scope)?
            }
        };
        self.admit_told(created.form.as_ref().map_or(0, |form| size_of_json(form)))?;
        let spot = self.spot(id);
        self.emit(spot, EventKind::TaskCreated(Box::new(created)));
        Ok(())
    }

    /// A task for those who fill a role: the users of whom the case knows it, else the group of its name.
    fn performed(&self, task: &UserTask, role: &Arc<str>) -> UserTask {
        let mut task = task.clone();
        let people = self.state.case.as_deref().and_then(|case| case.people.get(role));
        match people.filter(|people| !people.is_empty()) {
            Some(people) => {
                let people = people.iter().map(|user| Value::from(user.as_str())).collect();
                task.candidate_users = Some(Setting::Literal(Value::Array(people)));
            }
            None => {
                let own = self.plan.roles.iter().find(|own| own.id == *role);
                let name = own.map_or(role, |own| &own.name);
                task.candidate_groups = Some(Setting::Literal(Value::Array(vec![Value::from(&**name)])));
            }
        }
        task
    }

    fn open_call(&mut self, id: LocalId, item: &Item, call: &CallTask) -> Result<(), StepFault> {
        let scope = self.inner(id);
        let mut called = self.planned_call(id, call, scope)?;
        if let Work::Case { .. } = &item.work {
            called.kind = DefinitionKind::Case;
        }
        self.number(&mut called);
        let run_id = called.run_id;
        let spot = self.spot(id);
        self.emit(spot, EventKind::RunCalled(Box::new(called)));
        if item.extra.blocking {
            return Ok(());
        }
        let spot = self.spot(id);
        self.emit(spot, EventKind::CallDetached { run_id });
        self.finish_work(id, Map::new(), false)
    }

    fn computed(&mut self, id: LocalId, computed: Computed) -> Result<(), StepFault> {
        let spot = self.spot(id);
        self.emit(spot, computed.event);
        self.finish_work(id, computed.values?, true)
    }

    /// Completes an instance with what its work gave; one that cannot leave it behind has failed.
    pub(super) fn finish(
        &mut self,
        id: LocalId,
        values: Map<String, Value>,
        merges: bool,
    ) -> Result<(), Rejection> {
        match self.finish_work(id, values, merges) {
            Ok(()) => Ok(()),
            Err(fault) => self.failed(id, fault, Phase::Leave),
        }
    }

    /// Leaves behind what work gave: by parameters that are bound to case file items, by mappings, or, where it `merges`,
    /// all of it as variables; and completes.
    fn finish_work(
        &mut self,
        id: LocalId,
        mut values: Map<String, Value>,
        merges: bool,
    ) -> Result<(), StepFault> {
        let (_, item) = self.item_of(id)?;
        let outputs = &item.extra.mappings.outputs;
        if outputs.is_empty() {
            for (name, file) in &item.extra.bound_outputs {
                if let Some(value) = values.remove(&**name) {
                    self.write_file(*file, value)?;
                }
            }
            if merges {
                let scope = self.inner(id);
                self.leave_behind(scope, values, false)?;
            }
        } else {
            self.open_with(id, values);
            let around = self.state.owner(id).map_or(LocalId::ROOT, |own| own.scope);
            let scopes = Scopes { inner: self.inner(id), around };
            let mut mapped = self.mapped(outputs, Map::new(), &Context::new(), scopes, &mut Vec::new())?;
            for (name, file) in &item.extra.bound_outputs {
                let value = mapped.remove(&**name);
                let given = value.or_else(|| self.state.scope(id)?.variables.get(&**name).cloned());
                if let Some(value) = given {
                    self.write_file(*file, value)?;
                }
            }
            self.leave_behind(around, mapped, false)?;
        }
        Ok(self.transit(id, ItemEvent::Complete, None)?)
    }

    /// The instance behind a human task, which must be active.
    fn task_owner(&self, task_id: TaskId) -> Result<LocalId, Rejection> {
        let id = self.state.task(task_id).ok_or(Rejection::UnknownTask(task_id))?.owner;
        self.is_at_work(id).map(|()| id)
    }

    /// Checks that nothing suspends an instance.
    fn is_at_work(&self, id: LocalId) -> Result<(), Rejection> {
        let own = self.item(id)?;
        let is_suspended = own.state == ItemState::Suspended;
        if is_suspended { Err(Rejection::ItemSuspended(own.item.to_string())) } else { Ok(()) }
    }

    pub(super) fn complete_task(
        &mut self,
        task_id: TaskId,
        outcome: Option<String>,
        values: Map<String, Value>,
        comment: Option<String>,
    ) -> Result<(), Rejection> {
        let id = self.task_owner(task_id)?;
        self.admit_outcome(task_id, outcome.as_deref())?;
        let (spot, by) = (self.spot(id), self.actor());
        self.emit(spot, EventKind::TaskCompleted { task_id, outcome, values, comment, by });
        self.leave(id)
    }

    pub(super) fn assign_task(&mut self, task_id: TaskId, assignee: Option<String>) -> Result<(), Rejection> {
        let id = self.task_owner(task_id)?;
        let (spot, by) = (self.spot(id), self.actor());
        self.emit(spot, EventKind::TaskAssigned { task_id, assignee, by });
        Ok(())
    }

    fn job_task(&self, id: LocalId) -> Option<Arc<JobTask>> {
        let (_, item) = self.item_of(id).ok()?;
        match &item.work {
            Work::Job { job } => Some(Arc::clone(job)),
            _ => None,
        }
    }

    /// An open job that has an attempt left.
    fn ready_job(&self, job: JobId) -> Result<JobState, Rejection> {
        let own = self.state.job(job).filter(|own| own.retries > 0).cloned();
        own.ok_or(Rejection::UnknownJob(job))
    }

    /// Whether an instance is suspended: what ends its work meanwhile is kept, and taken up when it goes on.
    fn is_idle(&self, id: LocalId) -> bool {
        self.state.item(id).is_some_and(|own| own.state == ItemState::Suspended)
    }

    /// Leaves behind what the work of an instance gave; one that is suspended does so when it goes on.
    fn ended(&mut self, id: LocalId) -> Result<(), Rejection> {
        if self.is_idle(id) { Ok(()) } else { self.leave(id) }
    }

    /// Completes an instance with what its work gave.
    fn leave(&mut self, id: LocalId) -> Result<(), Rejection> {
        let given = self.case()?.given(id).map(|own| own.values.clone()).unwrap_or_default();
        let (_, item) = self.item_of(id)?;
        let (values, merges) = match &item.work {
            Work::Process { call } | Work::Case { call } => (given, call.all_out),
            Work::Job { job } => match &job.result_variable {
                Some(name) => (Map::from_iter([(name.to_string(), Value::Object(given))]), true),
                None => (given, true),
            },
            _ => (given, true),
        };
        self.finish(id, values, merges)
    }

    /// Whether an instance that is resumed has something to take up: the end of its work, or its beginning.
    pub(super) fn has_to_go_on(&self, id: LocalId, item: &Item) -> bool {
        let waits_for_nobody = matches!(
            item.work,
            Work::Human { .. }
                | Work::Process { .. }
                | Work::Case { .. }
                | Work::Decision { .. }
                | Work::Job { .. }
                | Work::Script { .. }
        ) && !self.has_open_work(id);
        waits_for_nobody || self.case().is_ok_and(|case| case.given(id).is_some())
    }

    /// Whether the human task, the job or the called run of an instance is open.
    fn has_open_work(&self, id: LocalId) -> bool {
        self.state.task_of(id).is_some()
            || self.state.job_of(id).is_some()
            || self.state.call_of(id).is_some()
    }

    /// An instance goes on: its work ended while it was suspended, or has yet to begin.
    pub(super) fn take_up(&mut self, id: LocalId) -> Result<(), Rejection> {
        let is_active = self.state.item(id).is_some_and(|own| own.state == ItemState::Active);
        let mut open = self.state.incidents.iter();
        let waits = open.any(|own| own.instance == Some(id) && own.phase != Phase::Tokens);
        if !is_active || waits {
            return Ok(());
        }
        match self.case()?.given(id).map(|own| own.failure.clone()) {
            None => self.begin_again(id),
            Some(None) => self.leave(id),
            Some(Some((code, message))) => self.failed(id, StepFault::Incident(code, message), Phase::Enter),
        }
    }

    pub(super) fn complete_job(
        &mut self,
        job: JobId,
        variables: Map<String, Value>,
    ) -> Result<(), Rejection> {
        let own = self.ready_job(job)?;
        let spot = self.spot(own.owner);
        self.emit(spot, EventKind::JobCompleted { job_id: job, variables });
        self.ended(own.owner)
    }

    /// Notes what protection found at a job, and does what becomes of the job.
    pub(super) fn guarded(
        &mut self,
        job: JobId,
        hits: Vec<ProtectionViolated>,
        then: Command,
    ) -> Result<(), Rejection> {
        let owner = self.state.job(job).map(|own| own.owner).ok_or(Rejection::UnknownJob(job))?;
        for hit in hits {
            let spot = self.spot(owner);
            self.emit(spot, EventKind::ProtectionViolated(Box::new(hit)));
        }
        self.execute(then)
    }

    pub(super) fn fail_job(&mut self, job: JobId, failure: Failure) -> Result<(), Rejection> {
        let own = self.ready_job(job)?;
        let steps = self.job_task(own.owner).map(|task| task.back_off.clone()).unwrap_or_default();
        let (failed, reason) = self.failed_job(&own, failure, &steps);
        let spot = self.spot(own.owner);
        self.emit(spot, failed);
        match reason.filter(|_| !self.is_idle(own.owner)) {
            Some(reason) => {
                self.failed(own.owner, StepFault::Incident(IncidentCode::JobFailed, reason), Phase::Enter)
            }
            None => Ok(()),
        }
    }

    /// A case has nothing that catches the error of a job: its task fails.
    pub(super) fn throw_job_error(
        &mut self,
        job: JobId,
        code: String,
        message: Option<String>,
        variables: Map<String, Value>,
    ) -> Result<(), Rejection> {
        let own = self.ready_job(job)?;
        let mut reason = format!("the error `{code}` of the job `{}` is not caught", own.job_type);
        if let Some(message) = &message {
            reason.push_str(": ");
            reason.push_str(&heddle_kernel::shortened(message));
        }
        let spot = self.spot(own.owner);
        self.emit(spot.clone(), EventKind::JobErrorThrown { job_id: job, code, message, variables });
        let message = reason.clone();
        let failed = EventKind::JobFailed {
            job_id: job,
            message,
            details: None,
            retries: 0,
            not_before: None,
            notes: None,
        };
        self.emit(spot, failed);
        if self.is_idle(own.owner) {
            return Ok(());
        }
        self.failed(own.owner, StepFault::Incident(IncidentCode::UnhandledError, reason), Phase::Enter)
    }

    pub(super) fn set_job_retries(&mut self, job: JobId, retries: u32) -> Result<(), Rejection> {
        let own = self.state.job(job).cloned().ok_or(Rejection::UnknownJob(job))?;
        let id = own.owner;
        if retries > 0 && own.retries == 0 && self.item(id)?.state == ItemState::Failed {
            self.reactivate(id)?;
        }
        if retries != own.retries {
            let spot = self.spot(id);
            self.emit(spot, EventKind::JobRetriesSet { job_id: job, retries });
        }
        if retries == 0 && own.retries > 0 {
            let reason = format!("the job `{}` was left without attempts", own.job_type);
            return self.failed(id, StepFault::Incident(IncidentCode::JobFailed, reason), Phase::Enter);
        }
        Ok(())
    }

    /// The instance that waits for a called run.
    fn caller_of(&self, run: RunId) -> Result<LocalId, Rejection> {
        let call = self.state.calls.iter().find(|call| call.run == run);
        Ok(call.ok_or(Rejection::UnknownCall(run))?.owner)
    }

    pub(super) fn complete_call(&mut self, run: RunId, output: Map<String, Value>) -> Result<(), Rejection> {
        let id = self.caller_of(run)?;
        let spot = self.spot(id);
        self.emit(spot, EventKind::CallCompleted { run_id: run, output });
        self.ended(id)
    }

    pub(super) fn fail_call(
        &mut self,
        run: RunId,
        code: Option<String>,
        message: &str,
    ) -> Result<(), Rejection> {
        let id = self.caller_of(run)?;
        let message = shortened(message).into_owned();
        let spot = self.spot(id);
        self.emit(spot, EventKind::CallFailed { run_id: run, code, message: message.clone() });
        if self.is_idle(id) {
            return Ok(());
        }
        self.failed(id, StepFault::Incident(IncidentCode::CallFailed, message), Phase::Enter)
    }

    /// An escalation of a called run: nothing in a case catches it, and the run goes on.
    pub(super) fn escalate_call(
        &mut self,
        run: RunId,
        code: &str,
        values: Map<String, Value>,
    ) -> Result<(), Rejection> {
        let id = self.caller_of(run)?;
        let spot = self.spot(id);
        self.emit(spot, EventKind::EscalationThrown { code: code.into(), values, caught: false });
        Ok(())
    }

    /// Makes a failed instance active again: its incidents are settled by that.
    fn reactivate(&mut self, id: LocalId) -> Result<Option<IncidentState>, Rejection> {
        let own = self.state.incidents.iter().filter(|own| own.instance == Some(id));
        let own: Vec<IncidentState> = own.cloned().collect();
        for incident in &own {
            let (spot, by) = (self.spot(id), self.actor());
            let (incident_id, resolution) = (incident.id, Resolution::Retry);
            self.emit(spot, EventKind::IncidentResolved { incident_id, resolution, by });
        }
        self.transit(id, ItemEvent::Reactivate, None)?;
        Ok(own.into_iter().next_back())
    }

    /// Tries the work of a failed instance again.
    pub(super) fn work_again(&mut self, id: LocalId) -> Result<(), Rejection> {
        let incident = self.reactivate(id)?;
        let (_, item) = self.item_of(id)?;
        if matches!(item.work, Work::Stage { .. }) {
            // What is in it has its own failures.
            self.touched.push(id);
            return Ok(());
        }
        if incident.is_some_and(|own| own.phase == Phase::Leave) {
            return self.leave(id);
        }
        self.begin_again(id)
    }

    /// Goes on with the work of an active instance: what is open of it stays, and what is not begins.
    fn begin_again(&mut self, id: LocalId) -> Result<(), Rejection> {
        if let Some(job) = self.state.job_of(id).filter(|job| job.retries == 0).map(|job| job.id) {
            let scope = self.inner(id);
            let said = self.job_task(id).and_then(|task| task.retries.clone());
            let retries = self.attempts(said.as_ref(), scope);
            let spot = self.spot(id);
            self.emit(spot, EventKind::JobRetriesSet { job_id: job, retries });
            return Ok(());
        }
        // What somebody said has failed goes on with the work that is open.
        if self.has_open_work(id) { Ok(()) } else { self.work(id) }
    }

    /// Decides an incident by another attempt.
    pub(super) fn retry(
        &mut self,
        incident: LocalId,
        variables: Map<String, Value>,
    ) -> Result<(), Rejection> {
        let own = self.incident(incident)?;
        self.set_values(own.scope, variables);
        let Some(id) = own.instance else { return self.resolve(&own, Resolution::Retry) };
        let state = self.item(id)?.state;
        if own.phase != Phase::Tokens && state == ItemState::Failed {
            return self.work_again(id);
        }
        // Nothing of what is suspended is tried until it goes on.
        if own.phase != Phase::Tokens {
            self.is_at_work(id)?;
        }
        self.resolve(&own, Resolution::Retry)?;
        match (own.phase, state) {
            (Phase::Enter, ItemState::Available) => {
                let (ix, item) = self.item_of(id)?;
                if self.is_listener(item) { self.listen(id, ix) } else { self.entry_met(id, None) }
            }
            (Phase::Enter, ItemState::Active) if self.item(id)?.parent.is_some() => self.begin_again(id),
            (Phase::Leave, ItemState::Active) if matches!(self.item_of(id)?.1.work, Work::Stage { .. }) => {
                self.touched.push(id);
                Ok(())
            }
            (Phase::Leave, ItemState::Active) => self.leave(id),
            _ => Ok(()),
        }
    }

    /// Goes on as if the work of an instance were done.
    pub(super) fn skip(&mut self, id: LocalId, output: Map<String, Value>) -> Result<(), Rejection> {
        let (_, item) = self.item_of(id)?;
        let state = self.item(id)?.state;
        let is_task = !matches!(item.work, Work::Stage { .. });
        match state {
            ItemState::Failed if is_task => drop(self.reactivate(id)?),
            ItemState::Active if is_task => {}
            _ => return Err(Rejection::NotWaiting(id)),
        }
        let scope = self.inner(id);
        self.set_values(scope, output);
        self.transit(id, ItemEvent::Complete, None)
    }

    pub(super) fn incident(&self, id: LocalId) -> Result<IncidentState, Rejection> {
        let mut all = self.state.incidents.iter();
        all.find(|own| own.id == id).cloned().ok_or(Rejection::UnknownIncident(id))
    }

    fn resolve(&mut self, own: &IncidentState, resolution: Resolution) -> Result<(), Rejection> {
        let spot = own.instance.map_or_else(crate::core::Spot::default, |id| self.spot(id));
        let by = self.actor();
        self.emit(spot, EventKind::IncidentResolved { incident_id: own.id, resolution, by });
        Ok(())
    }
}
