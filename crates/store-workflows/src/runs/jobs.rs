//! Reads of jobs.

use async_trait::async_trait;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{JobId, Page, PageRequest, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{At, Id, page, read};
use heddle_usecase::StoreError;
use heddle_workflows::ports::{
    Candidates, FreeJobs, JobFilter, JobPlace, JobReach, JobStore, TakenJob, WantedType,
};
use heddle_workflows::records::{Job, KnownJob};

use super::SqlRunStore;
use crate::jobs::{WINDOW, free, last_seen, list};
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
        let few = match list::Wanted::side(filter) {
            Some(side) => self.few_due(tenant, filter, side, At(now)).await?,
            None => None,
        };
        let wanted = list::Wanted { tenant, filter, reach: &reach, now: At(now), from, few };
        let statement = wanted.statement(page::surplus(page));
        let found: Vec<Job> = read!(self.db(), |conn| {
            let rows: Vec<JobDbRow> = statement.load(conn).await?;
            rows.into_iter().map(JobDbRow::record).collect()
        })?;
        Ok(Page::from_surplus(found, page.limit, |job| job.id))
    }

    async fn free_jobs(&self, tenant: TenantId, wanted: &Candidates) -> Result<FreeJobs, StoreError> {
        if wanted.types.is_empty() {
            return Ok(FreeJobs::default());
        }
        let tenant = Id::from(tenant);
        let (statement, last) = (free(tenant, wanted), last_seen(tenant, wanted));
        let most = wanted.most as usize;
        read!(self.db(), |conn| {
            // The end of the look is found before the look: a job that is taken in between makes the look reach farther than
            // its end, which passes over none.
            let ends: Vec<(i64, At, Id)> = last.load(conn).await?;
            let rows: Vec<JobDbRow> = statement.load(conn).await?;
            let mut found = FreeJobs { looked_at: rows.len(), ..FreeJobs::default() };
            if rows.len() >= most {
                found.behind = rows.last().map(place_of);
            } else {
                found.looked_at = usize::try_from(WINDOW).unwrap_or(usize::MAX);
                found.behind = ends.into_iter().next().map(|(priority, place, job)| JobPlace {
                    priority,
                    place: place.into(),
                    job: job.into(),
                });
            }
            let ids: Vec<Id> = rows.iter().map(|row| row.run_id).collect();
            let revisions: Vec<(Id, i64)> = runs::table
                .filter(runs::organization_id.eq(tenant))
                .filter(runs::id.eq_any(ids))
                .select((runs::id, runs::revision))
                .load(conn)
                .await?;
            let revision = |run: Id| revisions.iter().find(|(own, _)| *own == run).map_or(0, |(_, own)| *own);
            // A row that does not read keeps nobody from those behind it.
            for row in rows {
                let (id, run_revision) = (row.id, revision(row.run_id));
                match row.record() {
                    Ok(job) => found.jobs.push(TakenJob { job, run_revision }),
                    Err(error) => tracing::error!(%error, job = ?id, "a job does not read"),
                }
            }
            Ok(found)
        })
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
    /// Jobs on a side of now, where they are few.
    async fn few_due(
        &self,
        tenant: TenantId,
        filter: &JobFilter,
        side: list::Due,
        now: At,
    ) -> Result<Option<Vec<Id>>, StoreError> {
        let all = list::types(tenant);
        read!(self.db(), |conn| {
            let types: Vec<String> = match &filter.job_type {
                Some(name) => vec![name.clone()],
                None => {
                    let found: Vec<(String,)> = all.load(conn).await?;
                    found.into_iter().map(|(name,)| name).collect()
                }
            };
            let mut few: Vec<Id> = Vec::new();
            for types in types.chunks(list::TYPES) {
                let statement = list::due(tenant, types, side, now);
                let found: Vec<(Id,)> = statement.load(conn).await?;
                few.extend(found.into_iter().map(|(id,)| id));
                if few.len() > list::FEW {
                    return Ok(None);
                }
            }
            Ok(Some(few))
        })
    }
}

fn place_of(row: &JobDbRow) -> JobPlace {
    JobPlace { priority: row.priority, place: row.place.into(), job: row.id.into() }
}
