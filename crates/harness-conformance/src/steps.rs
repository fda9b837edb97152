//! The steps of a case as calls of public operations.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::case_steps;
use super::cases::{Stage, Verdict};
use super::judge;
use super::language::{JobEnd, Manner, Step};
use heddle_harness_kit::client::{Answer, encode};

/// An open human task.
struct Task {
    workflow: usize,
    run: String,
    node: String,
    task: Option<String>,
}

/// Takes one step.
pub(crate) async fn take(stage: &mut Stage<'_>, step: &Step, manner: &Manner) -> Result<Verdict> {
    if !stage.cases.is_empty()
        && let Some(verdict) = case_steps::take(stage, step, manner).await?
    {
        return Ok(verdict);
    }
    match step {
        Step::Case(_) => Ok(Err("no case was started".to_owned())),
        Step::Tasks(expected) => {
            stage
                .until(async |stage: &mut Stage<'_>| Ok(judge::multiset(expected, &open_nodes(stage).await?)))
                .await
        }
        Step::Claim(node) => claim(stage, node).await,
        Step::Complete(node, values) => complete_one(stage, node, values).await,
        Step::CompleteAll(node) => complete_all(stage, node).await,
        Step::CompleteAnyOrder(nodes) => complete_any_order(stage, nodes).await,
        Step::Message { name, element: Some(element), refused, .. } => {
            let verdict = decide(stage, element).await?;
            Ok(if *refused { refusal_of(verdict, name) } else { verdict })
        }
        Step::Message { name, element: None, refused, payload } => {
            message(stage, name, *refused, payload).await
        }
        Step::Job { job_type, end, variables } => {
            stage.until(async |stage: &mut Stage<'_>| one_job(stage, job_type, end, variables).await).await
        }
        Step::Signal(name, payload) => {
            stage.settle().await?;
            stage.sent += 1;
            let key = format!("{}-signal-{}", stage.key, stage.sent);
            let body = json!({"name": name, "payload": payload, "idempotencyKey": key});
            let answer = stage.scene.client().post("/api/signals", &body).await?;
            Ok(if answer.ok() { Ok(()) } else { Err(answer.refusal()) })
        }
        Step::Trigger(node) => decide(stage, node).await,
        Step::Start(start) => {
            stage.settle().await?;
            stage.start(start).await
        }
        Step::Advance(duration) => {
            stage.settle().await?;
            stage.scene.advance(duration).await?;
            stage.settle().await?;
            Ok(Ok(()))
        }
        Step::State(expected) => {
            stage
                .until(async |stage: &mut Stage<'_>| {
                    let runs = stage.observe().await?;
                    // The case's instance is the one started first; later ones only act on it.
                    let own = stage.own(&runs);
                    let first = stage.started.first();
                    let main: Vec<_> =
                        own.into_iter().filter(|run| first.is_none_or(|id| id == run.id())).collect();
                    Ok(judge::state(expected, &main, None))
                })
                .await
        }
        Step::Instances(expected) => {
            stage
                .until(async |stage: &mut Stage<'_>| Ok(instances(expected, &process_counts(stage).await?)))
                .await
        }
    }
}

async fn open_tasks(stage: &Stage<'_>) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for run in stage.observe().await?.iter().filter(|run| run.active()) {
        for node in run.waiting_for("humanTask") {
            tasks.push(Task {
                workflow: run.workflow,
                run: run.id().to_owned(),
                node: node["nodeId"].as_str().context("an active node has a nodeId")?.to_owned(),
                task: node["waitingFor"]["taskId"].as_str().map(str::to_owned),
            });
        }
    }
    Ok(tasks)
}

/// The nodes of the open human tasks of runs.
pub(super) async fn open_nodes(stage: &Stage<'_>) -> Result<Vec<String>> {
    Ok(open_tasks(stage).await?.into_iter().map(|task| task.node).collect())
}

/// Completes an open human task of a run; none when no run has one at the node.
pub(super) async fn complete_of_run(
    stage: &Stage<'_>,
    node: &str,
    values: &Map<String, Value>,
) -> Result<Option<Answer>> {
    match open_tasks(stage).await?.iter().find(|task| task.node == node) {
        Some(task) => ask_completion(stage, task, values).await.map(Some),
        None => Ok(None),
    }
}

async fn complete(stage: &Stage<'_>, task: &Task, values: &Map<String, Value>) -> Result<Verdict> {
    let answer = ask_completion(stage, task, values).await?;
    Ok(if answer.ok() { Ok(()) } else { Err(answer.refusal()) })
}

async fn ask_completion(stage: &Stage<'_>, task: &Task, values: &Map<String, Value>) -> Result<Answer> {
    let workflow = &stage.deployment.workflows[task.workflow].id;
    let path =
        format!("/api/workflows/{workflow}/runs/{}/human-tasks/{}/complete", task.run, encode(&task.node));
    let mut body = json!({});
    if !values.is_empty() {
        body["values"] = Value::Object(values.clone());
    }
    if let Some(id) = &task.task {
        body["taskId"] = json!(id);
    }
    stage.scene.client().post(&path, &body).await
}

async fn claim(stage: &mut Stage<'_>, node: &str) -> Result<Verdict> {
    stage
        .until(async |stage: &mut Stage<'_>| {
            let tasks = open_tasks(stage).await?;
            let Some(task) = tasks.iter().find(|task| task.node == node) else {
                return Ok(Err(format!("no open task `{node}`")));
            };
            let task = task.task.as_deref().context("an open task has an id")?;
            let path = format!("/api/human-tasks/{task}/assign");
            let answer = stage.scene.client().post(&path, &json!({"assignee": "me"})).await?;
            Ok(if answer.ok() { Ok(()) } else { Err(answer.refusal()) })
        })
        .await
}

async fn complete_one(stage: &mut Stage<'_>, node: &str, values: &Map<String, Value>) -> Result<Verdict> {
    stage
        .until(async |stage: &mut Stage<'_>| {
            match open_tasks(stage).await?.iter().find(|task| task.node == node) {
                Some(task) => complete(stage, task, values).await,
                None => Ok(Err(format!("no open task `{node}`"))),
            }
        })
        .await
}

async fn complete_all(stage: &mut Stage<'_>, node: &str) -> Result<Verdict> {
    stage.settle().await?;
    let tasks = open_tasks(stage).await?;
    let mut any = false;
    for task in tasks.iter().filter(|task| task.node == node) {
        any = true;
        if let Err(reason) = complete(stage, task, &Map::new()).await? {
            return Ok(Err(reason));
        }
    }
    Ok(if any { Ok(()) } else { Err(format!("no open task `{node}`")) })
}

async fn complete_any_order(stage: &mut Stage<'_>, nodes: &[String]) -> Result<Verdict> {
    let mut left = nodes.to_vec();
    while !left.is_empty() {
        let verdict = stage
            .until(async |stage: &mut Stage<'_>| {
                let tasks = open_tasks(stage).await?;
                let Some(task) = tasks.iter().find(|task| left.contains(&task.node)) else {
                    return Ok(Err(format!("none of {left:?} is open")));
                };
                let verdict = complete(stage, task, &Map::new()).await?;
                if verdict.is_ok()
                    && let Some(at) = left.iter().position(|node| *node == task.node)
                {
                    left.remove(at);
                }
                Ok(verdict)
            })
            .await?;
        if verdict.is_err() {
            return Ok(verdict);
        }
    }
    Ok(Ok(()))
}

/// Sends a message with the case's correlation key.
pub(crate) async fn send_message(
    stage: &mut Stage<'_>,
    name: &str,
    payload: &Map<String, Value>,
) -> Result<Answer> {
    stage.sent += 1;
    let body = json!({
        "correlationKey": stage.key,
        "eventType": name,
        "idempotencyKey": format!("{}-message-{}", stage.key, stage.sent),
        "payload": payload,
    });
    stage.scene.client().post("/api/case-events", &body).await
}

/// The runs that an event reached.
pub(crate) fn run_ids(answer: &Answer) -> Vec<String> {
    let ids = answer.body["data"]["workflowRunIds"].as_array().map(Vec::as_slice).unwrap_or_default();
    ids.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect()
}

/// An event that nobody listens for is accepted and kept: that it reached no run is its refusal.
async fn message(
    stage: &mut Stage<'_>,
    name: &str,
    refused: bool,
    payload: &Map<String, Value>,
) -> Result<Verdict> {
    stage.settle().await?;
    let answer = send_message(stage, name, payload).await?;
    let verdict = if !answer.ok() {
        Err(answer.refusal())
    } else if run_ids(&answer).is_empty() {
        Err(format!("no run listens for `{name}`"))
    } else {
        Ok(())
    };
    Ok(if refused { refusal_of(verdict, name) } else { verdict })
}

fn refusal_of(verdict: Verdict, name: &str) -> Verdict {
    if verdict.is_err() {
        Ok(())
    } else {
        Err(format!("`{name}` was received, but nobody should listen for it"))
    }
}

/// Takes one job as a worker does, and ends it.
async fn one_job(
    stage: &Stage<'_>,
    job_type: &str,
    end: &JobEnd,
    variables: &Map<String, Value>,
) -> Result<Verdict> {
    let client = stage.scene.client();
    let wanted = json!({"types": [job_type], "worker": "conformance", "maxJobs": 1, "lockMs": 60_000});
    let taken = client.post("/api/jobs/activate", &wanted).await?;
    if !taken.ok() {
        return Ok(Err(taken.refusal()));
    }
    let jobs = taken.data()?;
    let Some(job) = jobs.as_array().and_then(|jobs| jobs.first()) else {
        return Ok(Err(format!("there is no job of the type `{job_type}`")));
    };
    let id = job["id"].as_str().context("a job has an id")?;
    let epoch = &job["epoch"];
    let (word, body) = match end {
        JobEnd::Completed => ("complete", json!({"epoch": epoch, "variables": variables})),
        JobEnd::Failed(message) => ("fail", json!({"epoch": epoch, "message": message, "retryAfterMs": 0})),
        JobEnd::Error(code) => ("error", json!({"epoch": epoch, "code": code, "variables": variables})),
    };
    let answer = client.post(&format!("/api/jobs/{id}/{word}"), &body).await?;
    Ok(if answer.ok() { Ok(()) } else { Err(answer.refusal()) })
}

/// Continues whatever waits at a node.
async fn decide(stage: &mut Stage<'_>, node: &str) -> Result<Verdict> {
    stage
        .until(async |stage: &mut Stage<'_>| {
            for run in stage.observe().await?.iter().filter(|run| run.active()) {
                let nodes = run.run["activeNodes"].as_array().map(Vec::as_slice).unwrap_or_default();
                if !nodes.iter().any(|active| active["nodeId"].as_str() == Some(node)) {
                    continue;
                }
                let workflow = &stage.deployment.workflows[run.workflow].id;
                let path = format!("/api/workflows/{workflow}/runs/{}/decision", run.id());
                let body = json!({"decision": "continue", "nodeId": node});
                let answer = stage.scene.client().post(&path, &body).await?;
                return Ok(if answer.ok() { Ok(()) } else { Err(answer.refusal()) });
            }
            Ok(Err(format!("nothing waits at `{node}`")))
        })
        .await
}

/// Instances of each process that were ever started.
pub(super) async fn process_counts(stage: &Stage<'_>) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    for run in stage.observe().await? {
        let mut process = run.run["processId"].as_str().map(str::to_owned);
        if process.is_none() {
            let events = stage.events(&run).await?;
            let began = events.iter().find(|event| event["type"].as_str() == Some("run.started"));
            process = began.and_then(|event| event["data"]["processId"].as_str().map(str::to_owned));
        }
        if process.is_none()
            && let [only] = stage.deployment.workflows[run.workflow].processes.as_slice()
        {
            process = Some(only.clone());
        }
        *counts.entry(process.unwrap_or_default()).or_default() += 1;
    }
    Ok(counts)
}

/// Judges numbers of instances, of the ids that are named.
pub(super) fn instances(expected: &BTreeMap<String, u64>, found: &BTreeMap<String, u64>) -> Verdict {
    for (process, count) in expected {
        let seen = found.get(process).copied().unwrap_or_default();
        if seen != *count {
            return Err(format!("expected {count} instance(s) of `{process}`, found {seen}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_compared_for_the_processes_named() {
        let found = [("p".to_owned(), 2), ("q".to_owned(), 1)].into();
        assert!(instances(&[("p".to_owned(), 2)].into(), &found).is_ok());
        assert!(instances(&[("p".to_owned(), 1)].into(), &found).is_err());
        assert!(instances(&[("none".to_owned(), 0)].into(), &found).is_ok());
    }

    #[test]
    fn a_refusal_that_was_wanted_is_good_and_its_absence_is_not() {
        assert!(refusal_of(Err("no".to_owned()), "m").is_ok());
        assert!(refusal_of(Ok(()), "m").is_err());
    }

    #[test]
    fn reached_runs_are_read_from_the_answer() {
        let answer = |data: Value| Answer { status: 202, body: json!({ "data": data }) };
        assert_eq!(run_ids(&answer(json!({"workflowRunIds": ["a", "b"]}))), ["a", "b"]);
        assert!(run_ids(&answer(json!({}))).is_empty());
    }
}
