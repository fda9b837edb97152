//! The port of jobs in memory.

use async_trait::async_trait;
use heddle_kernel::{JobId, Page, PageRequest, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::StoreError;

use super::memory::{Memory, Tables};
use crate::ports::{JobChange, JobFilter, JobStore, LockChange, TakenJob, Transaction, WantedType};
use crate::records::{Job, JobState, KnownJob};

impl Tables {
    pub(crate) fn job_fits(&self, change: &JobChange) -> bool {
        let held = |id: JobId, epoch: i64| self.jobs.iter().any(|job| job.id == id && job.epoch == epoch);
        match change {
            JobChange::End(ending) => held(ending.id, ending.epoch),
            JobChange::Stand { job, epoch: Some(epoch), .. } => held(*job, *epoch),
            JobChange::Stand { epoch: None, .. } | JobChange::Open(_) | JobChange::Withdraw(_) => true,
        }
    }

    pub(crate) fn lock_fits(&self, change: &LockChange) -> bool {
        self.jobs.iter().any(|job| {
            let until = job.locked_until().is_some_and(|until| until > change.now);
            job.id == change.job && job.epoch == change.epoch && until
        })
    }

    pub(crate) fn write_job(&mut self, change: &JobChange) {
        match change {
            JobChange::Open(job) => self.jobs.push((**job).clone()),
            JobChange::Stand { job, stand, message, .. } => {
                for row in self.jobs.iter_mut().filter(|row| row.id == *job) {
                    (row.state, row.retries) = (stand.state, stand.retries);
                    (row.attempt, row.due_at) = (stand.attempt, stand.due_at);
                    row.epoch += 1;
                    row.worker = None;
                    row.message = message.clone().or_else(|| row.message.take());
                }
            }
            JobChange::End(ending) => {
                self.jobs.retain(|job| job.id != ending.id);
                self.endings.push((**ending).clone());
            }
            JobChange::Withdraw(ending) => {
                self.jobs.retain(|job| job.id != ending.id);
                self.endings.push((**ending).clone());
            }
        }
    }

    /// Takes jobs and changes locks as a unit says.
    pub(crate) fn lock_jobs(&mut self, unit: &Transaction) {
        for change in &unit.locks {
            for job in self.jobs.iter_mut().filter(|job| job.id == change.job) {
                job.due_at = change.until;
                if change.until.is_none() {
                    (job.state, job.worker) = (JobState::Ready, None);
                    job.epoch += 1;
                }
            }
        }
        let Some(wanted) = &unit.activation else { return };
        let mut taken = Vec::new();
        self.jobs.sort_by_key(|job| (-job.priority, job.place, job.id));
        for job in &mut self.jobs {
            let fits = |one: &WantedType| {
                let places = [job.run.0, job.workflow.0];
                let within = one.within.as_ref();
                one.name == job.job_type
                    && within.is_none_or(|ids| places.iter().any(|place| ids.contains(place)))
                    && !places.iter().any(|place| wanted.denied.contains(place))
            };
            let free = Some(job.tenant) == unit.tenant && job.state_at(wanted.now) == JobState::Ready;
            if taken.len() < wanted.most as usize && free && wanted.types.iter().any(fits) {
                (job.state, job.due_at) = (JobState::Locked, Some(wanted.until));
                job.epoch += 1;
                job.worker = Some(wanted.worker.clone());
                let run_revision = self.runs.get(&job.run).map_or(0, |run| run.revision.0);
                taken.push(TakenJob { job: job.clone(), run_revision });
            }
        }
        wanted.taken.put(taken);
    }

    fn known_job(&self, found: impl Fn(&Job) -> bool, id: Option<JobId>) -> Result<KnownJob, StoreError> {
        if let Some(job) = self.jobs.iter().find(|job| found(job)) {
            return Ok(KnownJob::Open(Box::new(job.clone())));
        }
        let ending = self.endings.iter().find(|ending| Some(ending.id) == id);
        ending.map(|ending| KnownJob::Ended(Box::new(ending.clone()))).ok_or(StoreError::NotFound)
    }
}

#[async_trait]
impl JobStore for Memory {
    async fn job(&self, tenant: TenantId, job: JobId) -> Result<KnownJob, StoreError> {
        self.0.lock().known_job(|one| one.tenant == tenant && one.id == job, Some(job))
    }

    async fn job_by_number(&self, tenant: TenantId, number: i64) -> Result<KnownJob, StoreError> {
        self.0.lock().known_job(|one| one.tenant == tenant && one.number() == number, None)
    }

    async fn jobs(
        &self,
        tenant: TenantId,
        _: &JobFilter,
        access: &AccessFilter<resource::Job>,
        _: Timestamp,
        page: &PageRequest,
    ) -> Result<Page<Job>, StoreError> {
        let tables = self.0.lock();
        let shown = tables.jobs.iter().filter(|job| job.tenant == tenant && access.permits(&job.key()));
        Ok(Page::from_surplus(shown.cloned().collect(), page.limit, |job: &Job| job.id))
    }

    async fn next_due_job(
        &self,
        tenant: TenantId,
        types: &[WantedType],
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let tables = self.0.lock();
        let wanted = |job: &&Job| job.tenant == tenant && types.iter().any(|one| one.name == job.job_type);
        let due = tables.jobs.iter().filter(wanted).filter_map(|job| job.due_at);
        Ok(due.filter(|due| *due > now).min())
    }
}
