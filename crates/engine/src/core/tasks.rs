//! Human tasks: their people, dates and outcomes.

use super::{Core, StepFault, expression};
use crate::event::TaskCreated;
use crate::{LocalId, Rejection};
use heddle_kernel::TaskId;
use heddle_settings::{ScheduleFault, Setting, TimerDefinition, UserTask};
use std::sync::Arc;

/// Node or item of a human task.
pub(crate) struct Named<'n> {
    /// Id of it.
    pub id: &'n str,
    /// Name that the task gets.
    pub name: Option<Arc<str>>,
}

/// The incident of a timer that gives no time.
pub(crate) fn timer_fault(fault: ScheduleFault, before: &str) -> StepFault {
    match fault {
        ScheduleFault::Timer(error) => expression(format!("{before}{error}")),
        ScheduleFault::Limit(limit) => {
            super::budgets::reached(limit, |limit| expression(format!("{before}{limit}")))
        }
    }
}

impl Core<'_> {
    /// Data of the human task of an instance, whose settings are evaluated in a scope.
    pub(crate) fn planned_task(
        &self,
        named: Named<'_>,
        task: &UserTask,
        id: LocalId,
        scope: LocalId,
    ) -> Result<TaskCreated, StepFault> {
        let mut reasons = Vec::new();
        let assignee = self.name("assignee", task.assignee.as_ref(), scope, &mut reasons)?;
        let candidate_users =
            self.names("candidateUsers", task.candidate_users.as_ref(), scope, &mut reasons)?;
        let candidate_groups =
            self.names("candidateGroups", task.candidate_groups.as_ref(), scope, &mut reasons)?;
        // A restriction that names nobody is none that everybody meets: only a model that names nobody is for all.
        if !reasons.is_empty()
            && assignee.is_none()
            && candidate_users.is_empty()
            && candidate_groups.is_empty()
        {
            let node = named.id;
            let message = format!("nobody may do the task `{node}`: {}", reasons.join("; "));
            return Err(expression(message));
        }
        let instant = |setting: Option<&Arc<TimerDefinition>>, place: &'static str| {
            let Some(own) = setting else { return Ok(None) };
            match own.schedule_on(self.now, &self.variables(scope), &self.steps) {
                Ok(schedule) => Ok(Some(schedule.due_at)),
                Err(fault) => Err(timer_fault(fault, place)),
            }
        };
        let due_at = instant(task.due.as_ref(), "dueDate: ")?;
        let follow_up_at = instant(task.follow_up.as_ref(), "followUpDate: ")?;
        Ok(TaskCreated {
            task_id: id.task(self.cx.run_id),
            name: named.name,
            assignee,
            candidate_users,
            candidate_groups,
            due_at,
            follow_up_at,
            priority: match &task.priority {
                None => None,
                Some(priority) => Some(self.priority(priority, scope)?),
            },
            form: task.form.clone(),
            outcomes: task.outcomes.clone(),
            outcome_values: task.outcome_values.clone(),
            reasons,
        })
    }

    fn priority(&self, setting: &Setting, scope: LocalId) -> Result<u8, StepFault> {
        let value = self.setting(setting, scope)?;
        let number = value.as_f64().filter(|number| (0.0..=100.0).contains(number) && number.fract() == 0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is a whole number up to 100"
        )]
        number
            .map(|number| number as u8)
            .ok_or_else(|| expression(format!("priority: {value} is not a whole number from 0 to 100")))
    }

    /// Checks that an open human task may end with an outcome.
    pub(crate) fn admit_outcome(&self, task_id: TaskId, outcome: Option<&str>) -> Result<(), Rejection> {
        let allowed = self.state.task(task_id).map(|task| &task.outcomes);
        let allowed = allowed.map(Vec::as_slice).unwrap_or_default();
        if allowed.is_empty() || allowed.iter().any(|own| outcome == Some(own)) {
            return Ok(());
        }
        let allowed = allowed.iter().map(|own| own.to_string()).collect();
        Err(Rejection::UnknownOutcome { allowed })
    }
}
