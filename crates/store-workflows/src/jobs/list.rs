//! The text of the list of open jobs: by an index that begins with what the list is narrowed to.
//!
//! A job that is locked or delayed is so until an instant, and the list is in the order of ids: no index serves both. Where
//! few jobs are on the wanted side of now, whatever waits on the other, those are found by their due times and are all that
//! is looked at. Where they are many, a walk in the order of the list meets them soon.

use diesel::sql_types::Text;
use heddle_kernel::{JobId, TenantId};
use heddle_policy::RuleId;
use heddle_store::{At, DbUuid, Id};
use heddle_workflows::ports::{JobFilter, JobReach};
use heddle_workflows::records::JobState;
use uuid::Uuid;

use super::COLUMNS;
use crate::schema::jobs;
use crate::statement::Statement;

/// Most jobs that are few.
pub(crate) const FEW: usize = 1_000;
/// Most types whose jobs one statement looks for.
pub(crate) const TYPES: usize = 48;

/// Side of now on which the due times of wanted jobs lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Locks and delays that ran out.
    Over,
    /// Those that last.
    Lasting,
}

impl Due {
    const fn compared(self) -> &'static str {
        match self {
            Self::Over => "due_at <= ",
            Self::Lasting => "due_at > ",
        }
    }

    /// The same, said such that no index by due times is taken, by which all would be sorted.
    const fn checked(self) -> &'static str {
        match self {
            Self::Over => "coalesce(due_at, due_at) <= ",
            Self::Lasting => "coalesce(due_at, due_at) > ",
        }
    }
}

/// The statement that finds the types that have locked or delayed jobs, each by one look into the index.
pub(crate) fn types(tenant: TenantId) -> Statement<(Text,)> {
    let mut out = Statement::new(true);
    let first = "SELECT min(job_type) FROM jobs WHERE due_at IS NOT NULL AND organization_id = ";
    out.words("WITH RECURSIVE types(name) AS (").words(first).id(tenant);
    out.words(" UNION ALL SELECT (").words(first).id(tenant);
    out.words(" AND job_type > types.name) FROM types WHERE types.name IS NOT NULL)");
    out.words(" SELECT name FROM types WHERE name IS NOT NULL");
    out
}

/// The statement that finds the first jobs of some types on a side of now.
pub(crate) fn due(tenant: TenantId, types: &[String], side: Due, now: At) -> Statement<(DbUuid,)> {
    let most = i64::try_from(FEW + 1).unwrap_or(i64::MAX);
    let mut out = Statement::new(false);
    out.words("SELECT id FROM (");
    for (place, name) in types.iter().enumerate() {
        out.words(if place == 0 { "SELECT * FROM (" } else { " UNION ALL SELECT * FROM (" });
        out.words("SELECT id FROM jobs WHERE organization_id = ").id(tenant);
        out.words(" AND job_type = ").text(name).words(" AND ").words(side.compared()).at(now);
        out.words(" ORDER BY due_at LIMIT ").number(most).words(&format!(") AS s{place}"));
    }
    out.words(") AS found LIMIT ").number(most);
    out
}

/// A page that is asked for.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub tenant: TenantId,
    pub filter: &'a JobFilter,
    pub reach: &'a JobReach,
    pub now: At,
    /// The job behind which it begins.
    pub from: Option<JobId>,
    /// Jobs on the wanted side of now, where they are few.
    pub few: Option<Vec<Id>>,
}

/// Stream of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    /// Jobs of the filter, in whichever state.
    Every,
    /// Jobs in a state, whatever their due time.
    In(JobState),
    /// Jobs in a state on a side of now.
    At(JobState, Due),
    /// Of the few, those in a state on a side of now.
    Few(JobState, Due),
}

impl Wanted<'_> {
    /// Side of now on which wanted jobs lie; none where the due time says nothing, or where few are looked at anyway.
    pub(crate) fn side(filter: &JobFilter) -> Option<Due> {
        if filter.run.is_some() {
            return None;
        }
        match (filter.state, &filter.worker) {
            (Some(JobState::Failed | JobState::Suspended), _) => None,
            (Some(JobState::Locked | JobState::Delayed), _) | (_, Some(_)) => Some(Due::Lasting),
            (Some(JobState::Ready), None) => Some(Due::Over),
            (None, None) => None,
        }
    }

    /// The statement that finds the page.
    pub(crate) fn statement(&self, limit: i64) -> Statement<jobs::SqlType> {
        let mut out = Statement::new(false);
        let streams = self.streams();
        if let [only] = streams.as_slice() {
            self.stream(&mut out, *only, limit);
            return out;
        }
        out.words(&format!("SELECT {COLUMNS} FROM ("));
        for (place, stream) in streams.iter().enumerate() {
            out.words(if place == 0 { "SELECT * FROM (" } else { " UNION ALL SELECT * FROM (" });
            self.stream(&mut out, *stream, limit);
            out.words(&format!(") AS s{place}"));
        }
        out.words(") AS found ORDER BY id LIMIT ").number(limit);
        out
    }

    /// Streams that together hold the list. What ran out is ready, whether or not that is written.
    fn streams(&self) -> Vec<Stream> {
        let on = |state, side| match &self.few {
            Some(_) => Stream::Few(state, side),
            None => Stream::At(state, side),
        };
        match (self.filter.state, &self.filter.worker) {
            (None, None) => vec![Stream::Every],
            // A worker holds what is locked.
            (None | Some(JobState::Locked), _) => vec![on(JobState::Locked, Due::Lasting)],
            (Some(JobState::Delayed), _) => vec![on(JobState::Delayed, Due::Lasting)],
            (Some(state @ (JobState::Failed | JobState::Suspended)), _) => vec![Stream::In(state)],
            (Some(JobState::Ready), _) => {
                let over = [JobState::Locked, JobState::Delayed].map(|state| on(state, Due::Over));
                let is_none = self.few.as_ref().is_some_and(Vec::is_empty);
                let over = over.into_iter().filter(|_| !is_none);
                [Stream::In(JobState::Ready)].into_iter().chain(over).collect()
            }
        }
    }

    /// The first of one stream.
    fn stream(&self, out: &mut Statement<jobs::SqlType>, stream: Stream, limit: i64) {
        out.words(&format!("SELECT {COLUMNS} FROM jobs WHERE organization_id = ")).id(self.tenant);
        let JobFilter { job_type, state: _, run, workflow, worker } = self.filter;
        let from = self.from.map(Id::from);
        if let Some(run) = run {
            out.words(" AND run_id = ").id(*run);
        }
        if let Some(workflow) = workflow {
            out.words(" AND workflow_id = ").id(*workflow);
        }
        if let Some(name) = job_type {
            out.words(" AND job_type = ").text(name);
        }
        if let Some(worker) = worker {
            out.words(" AND worker = ").text(worker);
            out.words(" AND state || '' = 'locked' AND ").words(Due::Lasting.checked()).at(self.now);
        }
        match stream {
            Stream::Every => {}
            Stream::In(state) => {
                out.words(self.in_state(state)).text(state.as_str());
            }
            Stream::At(state, side) => {
                out.words(self.in_state(state)).text(state.as_str());
                out.words(" AND ").words(side.checked()).at(self.now);
            }
            // They are found by their ids: the state is said such that no index of it is taken, along which all jobs in the
            // state would be gone through.
            Stream::Few(state, side) => {
                out.words(" AND state || '' = ").text(state.as_str());
                out.words(" AND ").words(side.checked()).at(self.now);
                let behind =
                    self.few.iter().flatten().copied().filter(|id| from.is_none_or(|from| *id > from));
                let few: Vec<Id> = behind.collect();
                if few.is_empty() {
                    out.words(" AND FALSE");
                } else {
                    out.among("id IN", &few);
                }
            }
        }
        self.within_reach(out);
        if let (Some(from), Stream::Every | Stream::In(_) | Stream::At(..)) = (from, stream) {
            out.words(" AND id > ").id(from);
        }
        out.words(" ORDER BY id LIMIT ").number(limit);
    }

    /// The words before a state: it is said such that no index of it is taken where another is narrower. A run has few jobs
    /// and a worker few locks, and the usual job is ready.
    const fn in_state(&self, state: JobState) -> &'static str {
        let JobFilter { job_type, state: _, run, workflow, worker } = self.filter;
        let is_usual = match state {
            JobState::Ready => true,
            JobState::Locked | JobState::Delayed | JobState::Failed | JobState::Suspended => false,
        };
        let is_narrower =
            run.is_some() || worker.is_some() || (is_usual && (job_type.is_some() || workflow.is_some()));
        if is_narrower { " AND state || '' = " } else { " AND state = " }
    }

    /// The condition on what the reader may see.
    fn within_reach(&self, out: &mut Statement<jobs::SqlType>) {
        let names = |ids: &[RuleId]| -> Vec<String> { ids.iter().map(ToString::to_string).collect() };
        let ids = |ids: &[Uuid]| -> Vec<Id> { ids.iter().copied().map(Id).collect() };
        let reach = self.reach;
        if !reach.all {
            out.words(" AND (");
            out.named("job_type", &names(&reach.types));
            if !reach.within.is_empty() {
                let within = ids(&reach.within);
                out.words(" OR run_id IN (").ids(&within);
                out.words(") OR workflow_id IN (").ids(&within).words(")");
            }
            out.words(")");
        }
        if !reach.denied_types.is_empty() {
            out.words(" AND NOT ");
            out.named("job_type", &names(&reach.denied_types));
        }
        if !reach.denied_within.is_empty() {
            let denied = ids(&reach.denied_within);
            out.among("run_id NOT IN", &denied);
            out.among("workflow_id NOT IN", &denied);
        }
        if let Some(kind) = reach.denied_kind {
            out.words(" AND instance_kind <> ").text(kind.as_str());
        }
    }
}
