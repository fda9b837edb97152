//! Fetching: topics with their own locks, variables and filters over one activation of jobs.

use std::collections::BTreeSet;
use std::time::Duration;

use heddle_api::operations::ops;
use heddle_api::wire::camunda7::{FetchTasks, FetchTopic, LockedTask, TaskSortOrder};
use heddle_api::{ApiError, Detail};
use heddle_faces::typed_values as values;
use heddle_kernel::Timestamp;
use heddle_workflows::ports::{Narrowed, ProcessVersion};
use heddle_workflows::records::Job;
use heddle_workflows::runs::{ActivateJobs, ActivatedJob, JobCondition, MAX_JOBS, MAX_TYPES, MAX_WAIT_MS};
use serde_json::Value;
use tokio::time::Instant;

use super::name_of;
use crate::call::Call;
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

type Fetching = Call<ops::FetchExternalTasks>;

/// POST /engine-rest/external-task/fetchAndLock
pub(crate) async fn fetch(call: Fetching) -> HandlerResult {
    let topics = call.body.topics.as_deref().unwrap_or_default();
    possible(&call.body, topics)?;
    let wanted = Wanted {
        worker: name_of(&call.body.worker_id)?,
        // Fewer than are asked for may come; the worker asks again.
        most: usize::try_from(call.body.max_tasks).unwrap_or_default().min(MAX_JOBS as usize),
        until: Instant::now() + millis(call.body.async_response_timeout.unwrap_or_default()),
        topics,
    };
    let jobs = match wanted.most == 0 || topics.is_empty() {
        true => Vec::new(),
        false => claimed(&call, &wanted).await?,
    };
    let shown = |claimed: &Claimed| Some(shown(claimed, wanted.topic(&claimed.taken)?));
    let tasks: Vec<LockedTask> = jobs.iter().filter_map(shown).collect();
    Response::json(200, &tasks)
}

/// A job with the end of its lock.
struct Claimed {
    taken: ActivatedJob,
    until: Timestamp,
}

/// Tasks that are asked for.
struct Wanted<'a> {
    worker: String,
    most: usize,
    /// End of the wait.
    until: Instant,
    topics: &'a [FetchTopic],
}

impl Wanted<'_> {
    fn topic(&self, taken: &ActivatedJob) -> Option<&FetchTopic> {
        self.topics.iter().find(|topic| topic.topic_name == taken.job.job_type)
    }

    fn activation(&self, lock_ms: u64) -> ActivateJobs {
        let wait = self.until.saturating_duration_since(Instant::now());
        ActivateJobs {
            types: self.topics.iter().map(|topic| topic.topic_name.clone()).collect(),
            worker: self.worker.clone(),
            max_jobs: u32::try_from(self.most).unwrap_or(MAX_JOBS),
            lock_ms,
            // A longer wait ends with an empty answer, upon which the worker asks again.
            wait_ms: u64::try_from(wait.as_millis()).unwrap_or(MAX_WAIT_MS).min(MAX_WAIT_MS),
            variables: self.variables(),
            conditions: self
                .topics
                .iter()
                .map(|topic| (topic.topic_name.clone(), condition(topic)))
                .collect(),
        }
    }

    /// Variables that all topics together need; none where one of them wants all.
    fn variables(&self) -> Option<Vec<String>> {
        let mut names = BTreeSet::new();
        for topic in self.topics {
            names.extend(topic.variables.as_ref()?.iter().cloned());
        }
        Some(names.into_iter().collect())
    }
}

/// Refuses what can't be carried out, rather than leaving it out.
fn possible(body: &FetchTasks, topics: &[FetchTopic]) -> Result<(), Failure> {
    let mut problems = Vec::new();
    for (at, sorting) in body.sorting.iter().flatten().enumerate() {
        if sorting.sort_order == Some(TaskSortOrder::Descending) {
            let message = "Tasks come the oldest first within their priority; another order is not offered.";
            problems.push(Detail::at(format!("sorting[{at}].sortOrder"), "notSupported", message));
        }
    }
    if topics.len() > MAX_TYPES {
        problems.push(Detail::at("topics", "tooLong", format!("The list has more than {MAX_TYPES} items.")));
    }
    let mut names = BTreeSet::new();
    for (at, topic) in topics.iter().enumerate() {
        if !names.insert(topic.topic_name.as_str()) {
            let message = "The topic stands twice.";
            problems.push(Detail::at(format!("topics[{at}].topicName"), "notUnique", message));
        }
        if topic.local_variables == Some(true) {
            let message =
                "Variables of the task's own scope can't be told from those around it; leave it out.";
            problems.push(Detail::at(format!("topics[{at}].localVariables"), "notSupported", message));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(ApiError::invalid(problems).into()) }
}

/// The filters of a topic.
fn condition(topic: &FetchTopic) -> JobCondition {
    let keys = both(topic.process_definition_key.as_ref(), topic.process_definition_key_in.as_ref());
    let ids = both(topic.process_definition_id.as_ref(), topic.process_definition_id_in.as_ref());
    // What is no name of a version names none.
    let versions = ids.map(|ids| ids.iter().filter_map(|id| version_of(id)).collect());
    JobCondition {
        narrowed: Narrowed { business_key: topic.business_key.clone(), processes: keys, versions },
        variables: topic.process_variables.clone().unwrap_or_default().into_iter().collect(),
    }
}

/// The texts that are both the one and in the list, where either is given.
fn both(one: Option<&String>, list: Option<&Vec<String>>) -> Option<Vec<String>> {
    match (one, list) {
        (None, None) => None,
        (Some(one), None) => Some(vec![one.clone()]),
        (None, Some(list)) => Some(list.clone()),
        (Some(one), Some(list)) => Some(list.iter().filter(|own| *own == one).take(1).cloned().collect()),
    }
}

/// Version that a name in the form of [`definition_id`] means.
fn version_of(id: &str) -> Option<ProcessVersion> {
    let mut parts = id.rsplitn(3, ':');
    let (workflow, version) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(ProcessVersion { process_id: parts.next()?.to_owned(), version, workflow })
}

/// Jobs of the topics: one activation, under the longest of the locks.
async fn claimed(call: &Fetching, wanted: &Wanted<'_>) -> Result<Vec<Claimed>, Failure> {
    let lock = wanted.topics.iter().map(lock_of).max().unwrap_or_default();
    let jobs = activate(call, wanted.activation(lock)).await?;
    settled(call, wanted, jobs, lock).await
}

async fn activate(call: &Fetching, asked: ActivateJobs) -> Result<Vec<ActivatedJob>, Failure> {
    Ok(call.app.runs.activate_jobs(&call.authorized, &asked).await?)
}

/// Gives jobs back. One that fails keeps none of the others; the first failure is told.
async fn give_back(call: &Fetching, jobs: &[ActivatedJob]) -> Result<(), Failure> {
    let mut failed = None;
    for job in jobs {
        if let Err(error) = call.app.runs.relock_job(&call.authorized, job, None).await {
            failed = failed.or_else(|| Some(Failure::from(error)));
        }
    }
    failed.map_or(Ok(()), Err)
}

/// The jobs, each under the lock of its topic; one that was lost meanwhile is left out. Where one fails, all are given
/// back.
async fn settled(
    call: &Fetching,
    wanted: &Wanted<'_>,
    jobs: Vec<ActivatedJob>,
    lock: u64,
) -> Result<Vec<Claimed>, Failure> {
    let (mut own, mut failed) = (Vec::with_capacity(jobs.len()), None);
    for taken in jobs {
        let Some(topic) = wanted.topic(&taken) else { continue };
        let until = match lock_of(topic) == lock {
            true => taken.job.locked_until(),
            false => match call.app.runs.relock_job(&call.authorized, &taken, Some(lock_of(topic))).await {
                Ok(until) => until,
                Err(error) => {
                    failed = failed.or_else(|| Some(Failure::from(error)));
                    taken.job.locked_until()
                }
            },
        };
        own.extend(until.map(|until| Claimed { taken, until }));
    }
    let Some(failure) = failed else { return Ok(own) };
    // Nobody hears of them.
    let unheard: Vec<ActivatedJob> = own.into_iter().map(|one| one.taken).collect();
    Err(give_back(call, &unheard).await.err().unwrap_or(failure))
}

fn lock_of(topic: &FetchTopic) -> u64 {
    u64::try_from(topic.lock_duration).unwrap_or_default()
}

fn millis(count: i64) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or_default())
}

/// Name of a version of a process, in the form of Camunda's own.
fn definition_id(job: &Job) -> String {
    format!("{}:{}:{}", job.process_id, job.version, job.workflow)
}

fn shown(claimed: &Claimed, topic: &FetchTopic) -> LockedTask {
    let Claimed { taken, until } = claimed;
    let job = &taken.job;
    let names = topic.variables.as_ref();
    let asked = |name: &String| names.is_none_or(|names| names.contains(name));
    let variables = taken.variables.iter().filter(|(name, _)| asked(name));
    let headers = job.headers.iter().filter(|_| topic.include_extension_properties == Some(true));
    LockedTask {
        id: job.id.to_string(),
        activity_id: job.node_id.clone(),
        activity_instance_id: job.node_instance_id.clone(),
        execution_id: job.node_instance_id.clone(),
        process_instance_id: job.run.to_string(),
        process_definition_id: definition_id(job),
        process_definition_key: job.process_id.clone(),
        process_definition_version_tag: None,
        tenant_id: None,
        // Workers count down from a number of their own as long as nothing has failed.
        retries: (job.attempt > 1).then(|| i64::from(job.retries)),
        suspended: false,
        worker_id: job.worker.clone().unwrap_or_default(),
        lock_expiration_time: values::instant(*until),
        create_time: values::instant(job.created_at),
        topic_name: job.job_type.clone(),
        priority: job.priority,
        error_message: None,
        error_details: None,
        business_key: taken.business_key.clone(),
        variables: variables.map(|(name, value)| (name.clone(), values::write(value))).collect(),
        extension_properties: headers.map(|(name, value)| (name.clone(), text(value))).collect(),
    }
}

/// A header as a text.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
