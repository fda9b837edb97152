//! Activation: a worker takes jobs, and waits for the first where there are none.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use heddle_kernel::{DefinitionKind, JobId, RunId, TenantId, Timestamp};
use heddle_policy::AuthorizedSome;
use heddle_policy::capability::JobActivate;
use heddle_settings::service::is_own_type;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::super::Runs;
use super::lines::{Duty, Interest, Standing, Told};
use crate::ports::{
    Activation, JobReach, LockChange, Narrowed, Taken, TakenJob, TakenJobs, Transaction, WantedType,
};
use crate::records::{JOB_TYPE_MAX, Job, Run};
use crate::{Problem, UseCaseError};

/// Most jobs of one activation.
pub const MAX_JOBS: u32 = 256;
/// Jobs of an activation that does not say how many it wants.
pub const DEFAULT_JOBS: u32 = 1;
/// Most types of one activation.
pub const MAX_TYPES: usize = 64;
/// The longest lock, in milliseconds: a day.
pub const MAX_LOCK_MS: u64 = 86_400_000;
/// Lock of an activation that does not say how long it wants it, in milliseconds.
pub const DEFAULT_LOCK_MS: u64 = 300_000;
/// The longest wait for the first job, in milliseconds.
pub const MAX_WAIT_MS: u64 = 60_000;
/// Most characters of a worker's name.
const WORKER_MAX: usize = 200;
/// Most names of variables that an activation asks for.
const MAX_NAMES: usize = 1_000;
/// Most bytes of variables and headers in one answer; a single job is in it whatever its size.
const MAX_BYTES: u64 = 8 << 20;
/// Runs that are kept while jobs are handed out.
const KEPT_RUNS: usize = 4;
/// Rest between two looks at locks and delays that run out.
const REST: Duration = Duration::from_millis(200);

/// Request for jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActivateJobs {
    /// Types of the jobs; one that there is no job of gives nothing.
    pub types: Vec<String>,
    /// Name of the worker, for people.
    pub worker: String,
    /// The most jobs, from 1 to [`MAX_JOBS`].
    pub max_jobs: u32,
    /// Time for which they are held, in milliseconds, from 1 to [`MAX_LOCK_MS`].
    pub lock_ms: u64,
    /// The longest wait for the first job, in milliseconds, up to [`MAX_WAIT_MS`].
    pub wait_ms: u64,
    /// Names of the variables that are wanted; all when absent.
    pub variables: Option<Vec<String>>,
    /// Conditions on the jobs of a type; a type without one has none.
    pub conditions: BTreeMap<String, JobCondition>,
}

/// Condition that jobs of a type fulfil.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobCondition {
    /// Part of the jobs that is asked for.
    pub narrowed: Narrowed,
    /// Values that variables have that the job's node sees.
    pub variables: Map<String, Value>,
}

/// A job that a worker holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivatedJob {
    /// The job, with its holder, its epoch and the end of its lock.
    pub job: Job,
    /// Variables that its node sees.
    pub variables: Map<String, Value>,
    /// Key by which messages find the run.
    pub correlation_key: Option<String>,
    /// The caller's own name for the run.
    pub business_key: Option<String>,
    /// The run from which the first call went out; the run itself where no other called it.
    pub root: RunId,
}

impl ActivateJobs {
    fn check(&self) -> Result<(), UseCaseError> {
        let mut problems = Vec::new();
        let mut wrong = |field: &str, reason: &'static str, message: String| {
            problems.push(Problem::at(field, reason, message));
        };
        if self.types.is_empty() || self.types.len() > MAX_TYPES {
            wrong("types", "outOfRange", format!("From 1 to {MAX_TYPES} types are needed."));
        }
        if self.types.iter().any(|name| name.is_empty() || name.len() > JOB_TYPE_MAX) {
            wrong("types", "outOfRange", format!("A type has from 1 to {JOB_TYPE_MAX} bytes."));
        }
        if self.types.iter().any(|name| is_own_type(name)) {
            wrong("types", "notAllowed", "The service does the jobs of this type itself.".to_owned());
        }
        let letters = self.worker.chars().count();
        if !(1..=WORKER_MAX).contains(&letters) || self.worker.chars().any(char::is_control) {
            wrong("worker", "outOfRange", format!("From 1 to {WORKER_MAX} characters are needed."));
        }
        if !(1..=MAX_JOBS).contains(&self.max_jobs) {
            wrong("maxJobs", "outOfRange", format!("From 1 to {MAX_JOBS} jobs may be asked for."));
        }
        if !(1..=MAX_LOCK_MS).contains(&self.lock_ms) {
            wrong("lockMs", "outOfRange", format!("From 1 to {MAX_LOCK_MS} milliseconds are needed."));
        }
        if self.wait_ms > MAX_WAIT_MS {
            wrong("waitMs", "outOfRange", format!("At most {MAX_WAIT_MS} milliseconds."));
        }
        if self.variables.as_ref().is_some_and(|names| names.len() > MAX_NAMES) {
            wrong("variables", "outOfRange", format!("At most {MAX_NAMES} names."));
        }
        if problems.is_empty() { Ok(()) } else { Err(UseCaseError::Invalid(problems)) }
    }
}

/// Jobs that are looked for on behalf of a worker.
pub(super) struct Search<'a> {
    pub tenant: TenantId,
    pub types: Vec<WantedType>,
    pub denied: Vec<uuid::Uuid>,
    pub denied_kind: Option<DefinitionKind>,
    pub ask: &'a ActivateJobs,
}

/// Outcome of a look for jobs.
#[derive(Default)]
struct Found {
    jobs: Vec<ActivatedJob>,
    /// Types of the jobs that were taken, also of those that are not handed out.
    types: BTreeSet<String>,
    /// Whether there may be more than there was room for.
    full: bool,
    /// Whether the next look may find more without any news.
    again: bool,
}

/// A worker in line.
struct InLine<'l> {
    standing: Standing<'l>,
    deadline: Instant,
}

impl<'a> Search<'a> {
    fn new(authorized: &AuthorizedSome<JobActivate>, ask: &'a ActivateJobs) -> Self {
        let reach = JobReach::of(authorized.filter());
        let mut names = ask.types.clone();
        names.sort_unstable();
        names.dedup();
        let wanted = |name: &String| {
            let narrowed = ask.conditions.get(name).map(|own| own.narrowed.clone()).unwrap_or_default();
            Some(WantedType { narrowed, ..reach.wanted(name)? })
        };
        let types = names.iter().filter_map(wanted).collect();
        let (denied, denied_kind) = (reach.denied_within, reach.denied_kind);
        Self { tenant: authorized.tenant(), types, denied, denied_kind, ask }
    }

    fn interest(&self) -> Interest {
        Interest {
            types: self.types.clone(),
            denied: self.denied.clone(),
            denied_kind: self.denied_kind,
            condition: self.sieve(),
        }
    }

    /// Takes so many of the jobs, or of these alone.
    pub(super) fn activation(&self, now: Timestamp, only: Option<Vec<JobId>>) -> Activation {
        let lock = i64::try_from(self.ask.lock_ms).unwrap_or(i64::MAX);
        Activation {
            types: self.types.clone(),
            denied: self.denied.clone(),
            denied_kind: self.denied_kind,
            worker: self.ask.worker.clone(),
            only,
            most: self.ask.max_jobs,
            now,
            until: now.plus_millis(lock),
            taken: TakenJobs::default(),
        }
    }
}

/// The most looks of one request that follow each other at once: behind them it waits for news as all others do, and
/// the next request goes on behind what was looked at.
const MOST_PASSES: u32 = 4;

impl Runs {
    /// Takes jobs for a worker: the oldest first within a priority, no run before the others. While there is none it
    /// waits for the first, as long as was asked for, and is woken by the commit that opens one.
    ///
    /// # Errors
    /// `Invalid` for what is out of range; `Unavailable`.
    pub async fn activate_jobs(
        &self,
        authorized: &AuthorizedSome<JobActivate>,
        ask: &ActivateJobs,
    ) -> Result<Vec<ActivatedJob>, UseCaseError> {
        ask.check()?;
        let begun = Instant::now();
        let search = Search::new(authorized, ask);
        // In line first, then a look: what is committed in between is told.
        let standing = match ask.wait_ms > 0 {
            true => self.lines.stand(search.tenant, search.interest()),
            false => None,
        };
        let deadline = begun + Duration::from_millis(ask.wait_ms);
        let place = standing.map(|standing| InLine { standing, deadline });
        let mut passes = 0;
        // Whoever stands in line when the installation is restricted goes with nothing, though a step that ends then may
        // open a job: it stays for the cure.
        while self.permit.may_work() {
            let now = self.ports.clock.now();
            let found = self.search_jobs(&search, now).await?;
            if let Some(place) = &place {
                place.standing.looked(&found.types, found.full);
            }
            if !found.jobs.is_empty() {
                return Ok(found.jobs);
            }
            if found.again && passes < MOST_PASSES && (ask.wait_ms == 0 || Instant::now() < deadline) {
                passes += 1;
                continue;
            }
            let Some(place) = &place else { return Ok(Vec::new()) };
            if !self.wait_in_line(&search, place, now).await? {
                return Ok(Vec::new());
            }
        }
        Ok(Vec::new())
    }

    /// Waits until it is time for another look; false when it is time to go. The last look was at `looked`.
    async fn wait_in_line(
        &self,
        search: &Search<'_>,
        place: &InLine<'_>,
        looked: Timestamp,
    ) -> Result<bool, UseCaseError> {
        let InLine { standing, deadline } = place;
        let poll = self.job_poll.map(|poll| Instant::now() + poll);
        let mut timed: Option<(Timestamp, Instant)> = None;
        loop {
            let (mut until, mut keeps) = (*deadline, false);
            match standing.duty() {
                Duty::Look => return Ok(true),
                Duty::Measure => {
                    // What ran out since the look is among it.
                    let due = self.ports.jobs.next_due_job(search.tenant, &search.types, looked).await?;
                    standing.measured(due);
                    continue;
                }
                Duty::Keep(due) => {
                    keeps = true;
                    if let Some(due) = due {
                        // Not put off by being told again.
                        let known = timed.map(|(_, at)| at);
                        let at = match timed {
                            Some((of, at)) if of == due => at,
                            Some(_) | None => {
                                [known, Some(self.at(due))].into_iter().flatten().min().unwrap_or(until)
                            }
                        };
                        timed = Some((due, at));
                        until = until.min(at);
                    }
                    until = poll.map_or(until, |poll| until.min(poll));
                }
                Duty::Rest => {}
            }
            match standing.wait(until).await {
                Told::Opened => return Ok(true),
                Told::Changed => {}
                Told::Over if Instant::now() >= *deadline => return Ok(false),
                Told::Over if keeps => standing.owe(),
                Told::Over => {}
                Told::Closed => return Ok(false),
            }
        }
    }

    /// An instant of the clock, from now on; not at once, so that what runs out again and again costs little.
    fn at(&self, due: Timestamp) -> Instant {
        let rest = due.duration_since(self.ports.clock.now()) + Duration::from_millis(1);
        Instant::now() + rest.max(REST)
    }

    /// Takes what there is.
    async fn search_jobs(&self, search: &Search<'_>, now: Timestamp) -> Result<Found, UseCaseError> {
        if search.types.is_empty() {
            return Ok(Found::default());
        }
        let is_sifted = search.is_partial();
        let mut only = None;
        if is_sifted {
            self.take_jobs(search, search.activation(now, Some(Vec::new()))).await?;
            let sifted = self.sift(search).await?;
            if sifted.fitting.is_empty() {
                return Ok(Found { again: sifted.is_cut && search.ask.wait_ms > 0, ..Found::default() });
            }
            only = Some(sifted.fitting);
        }
        let taken = self.take_jobs(search, search.activation(now, only)).await?;
        let types = taken.iter().map(|one| one.job.job_type.clone()).collect();
        let full = taken.len() >= search.ask.max_jobs as usize;
        let (taken, lapsed): (Vec<_>, Vec<_>) =
            taken.into_iter().partition(|one| one.job.lapses < self.most_lapses);
        let any_lapsed = !lapsed.is_empty();
        for one in &lapsed {
            self.set_job_aside(&one.job).await;
        }
        // Of jobs that fit, some may have been taken by others meanwhile.
        let again = any_lapsed || (is_sifted && taken.is_empty());
        Ok(Found { jobs: self.handed_out(search, taken).await?, types, full, again })
    }

    /// Commits an activation, and tells others of the jobs that ran out and are still there.
    async fn take_jobs(
        &self,
        search: &Search<'_>,
        activation: Activation,
    ) -> Result<Vec<TakenJob>, UseCaseError> {
        let place = activation.taken.clone();
        let unit = Transaction {
            tenant: Some(search.tenant),
            activation: Some(activation),
            ..Transaction::default()
        };
        self.commit(unit).await?;
        let Taken { jobs, ran_out } = place.take();
        for (job_type, count) in ran_out {
            let own = jobs.iter().filter(|one| one.job.job_type == job_type).count();
            self.lines.opened(search.tenant, &job_type, count.saturating_sub(own));
        }
        Ok(jobs)
    }

    /// Jobs with what their nodes see. One that was withdrawn in the meantime is left out, as is one whose run does not
    /// read, until its lock runs out; those for which the answer has no room are given back.
    async fn handed_out(
        &self,
        search: &Search<'_>,
        taken: Vec<TakenJob>,
    ) -> Result<Vec<ActivatedJob>, UseCaseError> {
        let mut runs: HashMap<_, Option<Arc<Run>>> = HashMap::new();
        let (mut given, mut back) = (Vec::with_capacity(taken.len()), Vec::new());
        let (mut room, mut failed) = (MAX_BYTES, None);
        for TakenJob { job, run_revision } in taken {
            if !back.is_empty() {
                back.push(job);
                continue;
            }
            if let Some(until) = job.locked_until() {
                self.lines.due(search.tenant, &job.job_type, until);
            }
            let run = match runs.get(&job.run) {
                Some(known) => known.clone(),
                None => match self.run_of_job(&job, run_revision).await {
                    Ok(found) => {
                        if runs.len() >= KEPT_RUNS {
                            runs.clear();
                        }
                        let found = found.map(Arc::new);
                        runs.insert(job.run, found.clone());
                        found
                    }
                    Err(error) if matches!(error, UseCaseError::Unavailable(_)) => {
                        failed = Some(error);
                        back.push(job);
                        continue;
                    }
                    Err(error) => {
                        tracing::error!(%error, run = %job.run, job = %job.id, "the run of a job does not read");
                        continue;
                    }
                },
            };
            let seen = run.as_ref().and_then(|run| Some((run, run.snapshot.job_variables(job.id)?)));
            let Some((run, mut variables)) = seen else { continue };
            if let Some(names) = &search.ask.variables {
                variables.retain(|name, _| names.contains(name));
            }
            let variables = Value::Object(variables);
            let headers = Value::Object(job.headers.clone());
            let bytes = heddle_feel::size_of_json(&variables) + heddle_feel::size_of_json(&headers);
            let Value::Object(variables) = variables else { continue };
            if bytes > room && !given.is_empty() {
                back.push(job);
                continue;
            }
            room = room.saturating_sub(bytes);
            let (correlation_key, business_key) = (run.correlation_key.clone(), run.business_key.clone());
            let root = run.root();
            given.push(ActivatedJob { job, variables, correlation_key, business_key, root });
        }
        if failed.is_some() {
            back.extend(given.drain(..).map(|one: ActivatedJob| one.job));
        }
        self.give_back(search.tenant, back).await;
        failed.map_or(Ok(given), Err)
    }

    /// The run of a job as it was when the job was taken, or later; none when it is gone.
    pub(super) async fn run_of_job(&self, job: &Job, revision: i64) -> Result<Option<Run>, UseCaseError> {
        if let Some(run) = self.recent.look(job.run, revision) {
            return Ok(Some(run));
        }
        match self.ports.runs.load(job.tenant, job.instance_kind, job.run).await {
            Ok(run) => Ok(Some(run)),
            Err(heddle_usecase::StoreError::NotFound) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives jobs back that were taken and are not handed out. One that can't be is there again when its lock runs out.
    async fn give_back(&self, tenant: TenantId, jobs: Vec<Job>) {
        let now = self.ports.clock.now();
        for job in jobs {
            let change = LockChange { job: job.id, epoch: job.epoch, now, until: None };
            let unit = Transaction { tenant: Some(tenant), locks: vec![change], ..Transaction::default() };
            match self.commit(unit).await {
                // Withdrawn in the meantime, or taken by another one since.
                Ok(()) | Err(heddle_usecase::StoreError::Stale) => {}
                Err(error) => {
                    tracing::error!(%error, job = %job.id, "a job is not given back");
                    continue;
                }
            }
            self.lines.opened(tenant, &job.job_type, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_named() {
        let fine = ActivateJobs {
            types: vec!["ship".to_owned()],
            worker: "w".to_owned(),
            max_jobs: 1,
            lock_ms: 1,
            ..ActivateJobs::default()
        };
        assert!(fine.check().is_ok());
        let wrong = [
            ("types", ActivateJobs { types: vec![], ..fine.clone() }),
            ("types", ActivateJobs { types: vec![String::new()], ..fine.clone() }),
            ("worker", ActivateJobs { worker: String::new(), ..fine.clone() }),
            ("maxJobs", ActivateJobs { max_jobs: 0, ..fine.clone() }),
            ("maxJobs", ActivateJobs { max_jobs: MAX_JOBS + 1, ..fine.clone() }),
            ("lockMs", ActivateJobs { lock_ms: 0, ..fine.clone() }),
            ("lockMs", ActivateJobs { lock_ms: MAX_LOCK_MS + 1, ..fine.clone() }),
            ("waitMs", ActivateJobs { wait_ms: MAX_WAIT_MS + 1, ..fine.clone() }),
        ];
        for (field, ask) in wrong {
            let Err(UseCaseError::Invalid(problems)) = ask.check() else { panic!("{field} passes") };
            assert_eq!(problems[0].field.as_deref(), Some(field), "{problems:?}");
        }
    }
}
