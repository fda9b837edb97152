//! Jobs of which a worker may have, or wants, only a part: by their run, process or business key, and by the variables that
//! their nodes see, which are in the states of the runs. Jobs are looked at in their order, without a lock, and those that
//! fit are taken then: whatever fits, the writer is asked for the jobs that were found and for no others.

use std::sync::Arc;
use std::time::Duration;

use heddle_kernel::{JobId, RunId, TenantId};
use heddle_usecase::canonical_sha256;
use serde_json::json;

use super::super::Runs;
use super::activate::Search;
use super::lines::Interest;
use crate::UseCaseError;
use crate::ports::{Candidates, JobPlace, TakenJob, WantedType};
use crate::records::Run;

/// Jobs that are read at a time.
const PAGE: u32 = 100;
/// The most jobs that one look goes through; the next one goes on behind them.
const LOOKED_AT: usize = 2_000;
/// Jobs beyond those that are asked for: other workers may be faster with the first.
const SPARE: u32 = 32;
/// The most searches whose place is remembered.
const CAPACITY: u64 = 1_000;
/// Time for which the place of a search is remembered.
const REMEMBERED: Duration = Duration::from_secs(600);

/// Places at which searches were cut off, so that what stands far behind has its turn, too.
pub(crate) struct Sifting(moka::sync::Cache<(TenantId, Interest), JobPlace>);

impl Default for Sifting {
    fn default() -> Self {
        Self(moka::sync::Cache::builder().max_capacity(CAPACITY).time_to_live(REMEMBERED).build())
    }
}

/// Outcome of a look through jobs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sifted {
    /// Jobs that fit: as many as are asked for, and some beyond where that costs nothing.
    pub fitting: Vec<JobId>,
    /// Whether nothing fits among those that were looked at, and there are others.
    pub is_cut: bool,
}

/// The run that was read last.
type LastRun = Option<(RunId, Option<Arc<Run>>)>;

impl Search<'_> {
    /// Whether it is for a part of the jobs of its types.
    pub(super) fn is_partial(&self) -> bool {
        !self.denied.is_empty()
            || self.denied_kind.is_some()
            || !self.types.iter().all(WantedType::is_whole)
            || self.sieve().is_some()
    }

    /// Name of the condition on variables; none where there is none.
    pub(super) fn sieve(&self) -> Option<String> {
        let conditions = self.types.iter().filter_map(|one| {
            let own = self.ask.conditions.get(&one.name).filter(|own| !own.variables.is_empty())?;
            Some((one.name.clone(), own.variables.clone()))
        });
        let conditions: Vec<_> = conditions.collect();
        (!conditions.is_empty()).then(|| canonical_sha256(&json!(conditions)))
    }
}

impl Runs {
    /// Looks through the jobs of the types for those that may be had and fulfil their types' conditions.
    pub(super) async fn sift(&self, search: &Search<'_>) -> Result<Sifted, UseCaseError> {
        let interest = Interest {
            types: search.types.clone(),
            denied: search.denied.clone(),
            denied_kind: search.denied_kind,
            condition: search.sieve(),
        };
        let has_sieve = interest.condition.is_some();
        let enough = if has_sieve { search.ask.max_jobs } else { search.ask.max_jobs + SPARE };
        let place = (search.tenant, interest);
        let begun = self.sifting.0.get(&place);
        let mut wanted = Candidates {
            types: search.types.clone(),
            denied: search.denied.clone(),
            denied_kind: search.denied_kind,
            behind: begun,
            most: if has_sieve { PAGE } else { enough },
        };
        let (mut fitting, mut looked, mut last): (Vec<JobId>, usize, LastRun) = (Vec::new(), 0, None);
        loop {
            let page = self.ports.jobs.free_jobs(search.tenant, &wanted).await?;
            for one in &page.jobs {
                if self.fits(search, one, &mut last).await? {
                    fitting.push(one.job.id);
                }
                if fitting.len() >= enough as usize {
                    self.sifting.0.invalidate(&place);
                    return Ok(Sifted { fitting, is_cut: false });
                }
            }
            looked += page.looked_at;
            let Some(behind) = page.behind else {
                self.sifting.0.invalidate(&place);
                let is_cut = begun.is_some() && fitting.is_empty();
                return Ok(Sifted { fitting, is_cut });
            };
            wanted.behind = Some(behind);
            if looked >= LOOKED_AT {
                self.sifting.0.insert(place, behind);
                let is_cut = fitting.is_empty();
                return Ok(Sifted { fitting, is_cut });
            }
        }
    }

    /// Whether a job fulfils the condition of its type. One whose run is gone or does not read keeps nobody from the
    /// others.
    async fn fits(
        &self,
        search: &Search<'_>,
        one: &TakenJob,
        last: &mut LastRun,
    ) -> Result<bool, UseCaseError> {
        let job = &one.job;
        let Some(condition) = search.ask.conditions.get(&job.job_type) else { return Ok(true) };
        if condition.variables.is_empty() {
            return Ok(true);
        }
        if last.as_ref().is_none_or(|(run, _)| *run != job.run) {
            let run = match self.run_of_job(job, one.run_revision).await {
                Ok(run) => run.map(Arc::new),
                Err(error @ UseCaseError::Unavailable(_)) => return Err(error),
                Err(error) => {
                    tracing::error!(%error, run = %job.run, job = %job.id, "the run of a job does not read");
                    None
                }
            };
            *last = Some((job.run, run));
        }
        let Some((_, Some(run))) = last else { return Ok(false) };
        let seen = run.snapshot.job_variables(job.id);
        Ok(seen.is_some_and(|seen| {
            condition.variables.iter().all(|(name, value)| seen.get(name) == Some(value))
        }))
    }
}
