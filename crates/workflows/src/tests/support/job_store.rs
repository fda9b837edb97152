//! The port of jobs in memory.

use async_trait::async_trait;
use heddle_kernel::{JobId, Page, PageRequest, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::StoreError;
use uuid::Uuid;

use super::memory::{Memory, Tables};
use crate::ports::{
    Candidates, FreeJobs, JobChange, JobFilter, JobPlace, JobStore, LockChange, Taken, TakenJob, Transaction,
    WantedType,
};
use crate::records::{Job, JobState, KnownJob};

/// Whether a worker that asks for these types may have a job.
fn fits(
    job: &Job,
    types: &[WantedType],
    denied: &[Uuid],
    denied_kind: Option<heddle_kernel::DefinitionKind>,
) -> bool {
    if denied_kind == Some(job.instance_kind) {
        return false;
    }
    let places = [job.run.0, job.workflow.0];
    let of = |one: &WantedType| {
        let within = one.within.as_ref();
        let processes = one.narrowed.processes.as_ref();
        one.name == job.job_type
            && within.is_none_or(|ids| places.iter().any(|place| ids.contains(place)))
            && processes.is_none_or(|ids| ids.contains(&job.process_id))
    };
    !places.iter().any(|place| denied.contains(place)) && types.iter().any(of)
}

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
            JobChange::Stand { job, stand, message, epoch, stays, .. } => {
                for row in self.jobs.iter_mut().filter(|row| row.id == *job) {
                    let stays = *stays || matches!(stand.state, JobState::Ready | JobState::Delayed);
                    if stays && epoch.is_none() && row.state == JobState::Locked {
                        (row.retries, row.attempt, row.lapses) = (stand.retries, stand.attempt, 0);
                        continue;
                    }
                    (row.state, row.retries) = (stand.state, stand.retries);
                    (row.attempt, row.due_at) = (stand.attempt, stand.due_at);
                    row.epoch += 1;
                    row.lapses = 0;
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
                    (job.state, job.worker, job.lapses) = (JobState::Ready, None, 0);
                    job.epoch += 1;
                }
            }
        }
        let Some(wanted) = &unit.activation else { return };
        let mut taken = Taken::default();
        for job in self.jobs.iter_mut().filter(|job| Some(job.tenant) == unit.tenant) {
            let is_over = job.due_at.is_some_and(|due| due <= wanted.now);
            if is_over && wanted.types.iter().any(|one| one.name == job.job_type) {
                job.lapses += u32::from(job.state == JobState::Locked);
                (job.state, job.due_at) = (JobState::Ready, None);
                *taken.ran_out.entry(job.job_type.clone()).or_default() += 1;
            }
        }
        self.jobs.sort_by_key(|job| (-job.priority, job.place, job.id));
        for job in &mut self.jobs {
            let is_free = Some(job.tenant) == unit.tenant
                && job.state == JobState::Ready
                && wanted.only.as_ref().is_none_or(|only| only.contains(&job.id));
            if taken.jobs.len() < wanted.most as usize
                && is_free
                && fits(job, &wanted.types, &wanted.denied, wanted.denied_kind)
            {
                (job.state, job.due_at) = (JobState::Locked, Some(wanted.until));
                job.epoch += 1;
                job.worker = Some(wanted.worker.clone());
                let run_revision = self.runs.get(&job.run).map_or(0, |run| run.revision.0);
                taken.jobs.push(TakenJob { job: job.clone(), run_revision });
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

    async fn free_jobs(&self, tenant: TenantId, wanted: &Candidates) -> Result<FreeJobs, StoreError> {
        let tables = self.0.lock();
        let order = |job: &Job| (-job.priority, job.place, job.id);
        let behind = wanted.behind.map(|place| (-place.priority, place.place, place.job));
        let mut found: Vec<Job> = tables.jobs.clone();
        found.retain(|job| {
            let is_free = job.tenant == tenant && job.state == JobState::Ready;
            is_free
                && fits(job, &wanted.types, &wanted.denied, wanted.denied_kind)
                && behind.is_none_or(|behind| order(job) > behind)
        });
        found.sort_by_key(order);
        found.truncate(wanted.most as usize);
        let revision = |job: &Job| tables.runs.get(&job.run).map_or(0, |run| run.revision.0);
        let place = |job: &Job| JobPlace { priority: job.priority, place: job.place, job: job.id };
        let behind = found.last().filter(|_| found.len() >= wanted.most as usize).map(place);
        let looked_at = found.len();
        let jobs = found.into_iter().map(|job| TakenJob { run_revision: revision(&job), job }).collect();
        Ok(FreeJobs { jobs, looked_at, behind })
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
