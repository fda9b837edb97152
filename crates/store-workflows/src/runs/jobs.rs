//! Reads of jobs.

use async_trait::async_trait;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{JobId, Page, PageRequest, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{At, Id, page, read};
use heddle_usecase::StoreError;
use heddle_workflows::ports::{Candidates, JobFilter, JobPlace, JobReach, JobStore, TakenJob, WantedType};
use heddle_workflows::records::{Job, KnownJob};

use super::SqlRunStore;
use crate::jobs::{free, list};
use crate::schema::{EndingDbRow, JobDbRow, job_endings, jobs, runs};

#[async_trait]
impl JobStore for SqlRunStore {
    async fn job(&self, tenant: TenantId, job: JobId) -> Result<KnownJob, StoreError> {
        let (tenant, job) = (Id::from(tenant), Id::from(job));
        read!(self.db(), |conn| {
            let open: Option<JobDbRow> =
                jobs::table.find((tenant, job)).select(JobDbRow::as_select()).first(conn).await.optional()?;
            if let Some(open) = open {
                return Ok(KnownJob::Open(Box::new(open.record()?)));
            }
            let ended: EndingDbRow =
                job_endings::table.find((tenant, job)).select(EndingDbRow::as_select()).first(conn).await?;
            Ok(KnownJob::Ended(Box::new(ended.record())))
        })
    }

    async fn job_by_number(&self, tenant: TenantId, number: i64) -> Result<KnownJob, StoreError> {
        read!(self.db(), |conn| {
            let open: Vec<JobDbRow> = jobs::table
                .filter(jobs::organization_id.eq(Id::from(tenant)))
                .filter(jobs::number.eq(number))
                .select(JobDbRow::as_select())
                .limit(2)
                .load(conn)
                .await?;
            let count = open.len();
            match open.into_iter().next() {
                Some(job) if count == 1 => return Ok(KnownJob::Open(Box::new(job.record()?))),
                Some(_) => return Err(StoreError::NotFound.into()),
                None => {}
            }
            let ended: EndingDbRow = job_endings::table
                .filter(job_endings::organization_id.eq(Id::from(tenant)))
                .filter(job_endings::number.eq(number))
                .select(EndingDbRow::as_select())
                .first(conn)
                .await?;
            Ok(KnownJob::Ended(Box::new(ended.record())))
        })
    }

    async fn jobs(
        &self,
        tenant: TenantId,
        filter: &JobFilter,
        access: &AccessFilter<resource::Job>,
        now: Timestamp,
        page: &PageRequest,
    ) -> Result<Page<Job>, StoreError> {
        let from: Option<JobId> = page::position(page)?;
        if access.is_empty() {
            return Ok(page::empty());
        }
        let reach = JobReach::of(access);
        let wanted = list::Wanted { tenant, filter, reach: &reach, now: At(now), from };
        let statement = wanted.statement(page::surplus(page));
        let found: Vec<Job> = read!(self.db(), |conn| {
            let rows: Vec<JobDbRow> = statement.load(conn).await?;
            rows.into_iter().map(JobDbRow::record).collect()
        })?;
        Ok(Page::from_surplus(found, page.limit, |job| job.id))
    }

    async fn free_jobs(&self, tenant: TenantId, wanted: &Candidates) -> Result<Vec<TakenJob>, StoreError> {
        if wanted.types.is_empty() {
            return Ok(Vec::new());
        }
        let tenant = Id::from(tenant);
        let most = wanted.most as usize;
        let mut wanted = wanted.clone();
        let mut found: Vec<TakenJob> = Vec::new();
        // A row that does not read keeps nobody from those behind it.
        loop {
            let (page, behind) = self.free_page(tenant, &wanted).await?;
            found.extend(page);
            match behind {
                Some(behind) if found.len() < most => wanted.behind = Some(behind),
                Some(_) | None => return Ok(found),
            }
        }
    }

    async fn next_due_job(
        &self,
        tenant: TenantId,
        types: &[WantedType],
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let names: Vec<&str> = types.iter().map(|one| one.name.as_str()).collect();
        read!(self.db(), |conn| {
            let mut next: Option<At> = None;
            for name in names {
                let due: Option<Option<At>> = jobs::table
                    .filter(jobs::organization_id.eq(Id::from(tenant)))
                    .filter(jobs::job_type.eq(name))
                    .filter(jobs::due_at.gt(At(now)))
                    .order(jobs::due_at)
                    .select(jobs::due_at)
                    .first(conn)
                    .await
                    .optional()?;
                next = [next, due.flatten()].into_iter().flatten().min();
            }
            Ok(next.map(Timestamp::from))
        })
    }
}

impl SqlRunStore {
    /// A page of the jobs that may be had, and the place behind which there may be others.
    async fn free_page(
        &self,
        tenant: Id,
        wanted: &Candidates,
    ) -> Result<(Vec<TakenJob>, Option<JobPlace>), StoreError> {
        let statement = free(tenant, wanted);
        read!(self.db(), |conn| {
            let rows: Vec<JobDbRow> = statement.load(conn).await?;
            let last = rows.last().filter(|_| rows.len() >= wanted.most as usize);
            let behind = last.map(|row| JobPlace {
                priority: row.priority,
                place: row.place.into(),
                job: row.id.into(),
            });
            let ids: Vec<Id> = rows.iter().map(|row| row.run_id).collect();
            let revisions: Vec<(Id, i64)> = runs::table
                .filter(runs::organization_id.eq(tenant))
                .filter(runs::id.eq_any(ids))
                .select((runs::id, runs::revision))
                .load(conn)
                .await?;
            let revision = |run: Id| revisions.iter().find(|(own, _)| *own == run).map_or(0, |(_, own)| *own);
            let mut taken = Vec::with_capacity(rows.len());
            for row in rows {
                let (id, run_revision) = (row.id, revision(row.run_id));
                match row.record() {
                    Ok(job) => taken.push(TakenJob { job, run_revision }),
                    Err(error) => tracing::error!(%error, job = ?id, "a job does not read"),
                }
            }
            Ok((taken, behind))
        })
    }
}
