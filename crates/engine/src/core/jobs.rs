//! Jobs for external workers: their type, attempts and failures.

use super::{Core, StepFault, expression};
use crate::LocalId;
use crate::event::{EventKind, JobCreated, JobKind};
use crate::state::JobState;
use heddle_feel::size_of_json;
use heddle_kernel::shortened;
use heddle_settings::service::is_own_type;
use heddle_settings::{JobTask, Setting};
use serde_json::Value;

/// Attempts of a job of which the model does not say how many it has.
const ATTEMPTS: u32 = 3;
/// The longest type of a job, in bytes: rules about jobs name them by it.
const TYPE_MAX: usize = 200;
/// The longest wait for the next attempt, in milliseconds: a year.
const LONGEST_WAIT: u64 = 366 * 86_400_000;

/// Failure of a worker at a job.
pub(crate) struct Failure {
    pub message: String,
    pub details: Option<String>,
    pub retries: Option<u32>,
    pub retry_after_ms: Option<u64>,
    /// Notes of the attempt for the next one; absent leaves those of before.
    pub notes: Option<Value>,
}

impl Core<'_> {
    /// Data of a job that is to be opened.
    pub(crate) fn planned_job(
        &self,
        kind: JobKind,
        task: &JobTask,
        scope: LocalId,
    ) -> Result<JobCreated, StepFault> {
        let job_type = self.text(Some(&task.job_type), scope)?.unwrap_or_default();
        let named = !job_type.is_empty() && job_type.trim() == job_type && job_type.len() <= TYPE_MAX;
        if !named || job_type.chars().any(char::is_control) {
            let found = shortened(&job_type).into_owned();
            return Err(expression(format!(
                "the job type `{found}` is no name of 1 to {TYPE_MAX} bytes without control characters and \
                 without spaces around it"
            )));
        }
        // What settings name is refused when it is published.
        if matches!(task.job_type, Setting::Expression(_)) && is_own_type(&job_type) {
            return Err(expression(format!("the job type `{job_type}` is one of the service's own jobs")));
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
        let mut headers = task.headers.clone();
        for (name, setting) in task.arguments.iter().flatten() {
            headers.insert(name.to_string(), self.setting(setting, scope)?);
        }
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

    /// Gives a planned job its number: what was opened before it has counted since.
    pub(crate) fn number_job(&self, created: &mut JobCreated) {
        created.number = self.next_id();
        created.job_id = created.number.job(self.cx.run_id);
    }

    /// The event of a failed attempt; with the reason of an incident where none is left.
    pub(crate) fn failed_job(
        &self,
        own: &JobState,
        failure: Failure,
        back_off: &[u64],
    ) -> (EventKind, Option<String>) {
        let Failure { message, details, retries, retry_after_ms, notes } = failure;
        let retries = retries.unwrap_or(own.retries.saturating_sub(1));
        let wait = retry_after_ms.unwrap_or_else(|| {
            let place = own.attempt.saturating_sub(1) as usize;
            back_off.get(place).or(back_off.last()).copied().unwrap_or(0)
        });
        let wait = i64::try_from(wait.min(LONGEST_WAIT)).unwrap_or(0);
        let not_before = (retries > 0 && wait > 0).then(|| self.now.plus_millis(wait));
        let said = if message.trim().is_empty() { "the worker gave no reason".to_owned() } else { message };
        let reason = format!("the job `{}` failed: {said}", own.job_type);
        let failed =
            EventKind::JobFailed { job_id: own.id, message: said, details, retries, not_before, notes };
        (failed, (retries == 0).then_some(reason))
    }

    /// Attempts of a job that is opened anew, by what the model says. It was read when the job came; what it says now may be
    /// no number any more.
    pub(crate) fn attempts(&self, said: Option<&Setting>, scope: LocalId) -> u32 {
        let number = said.and_then(|setting| self.whole("retries", setting, scope).ok());
        let retries = number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number >= 1);
        retries.unwrap_or(ATTEMPTS)
    }
}
