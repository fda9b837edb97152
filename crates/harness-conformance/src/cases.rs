//! One case from its deployment to its verdict.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use heddle_kernel::Timestamp;
use serde_json::{Value, json};

use super::case_steps;
use super::deployment::{Deployment, Refused};
use super::judge::{self, Observed};
use super::language::{Case, Manner, Model, Start, Step};
use super::report::Outcome;
use super::scene::{self, Scene};
use super::steps;

/// Longest wait for something in the background before it counts as not happening.
const PATIENCE: Duration = Duration::from_millis(1_500);
const PAUSE: Duration = Duration::from_millis(25);
/// The furthest that timers are followed.
const HORIZON: Duration = Duration::from_secs(30 * 24 * 3600);

/// A case under way.
pub(crate) struct Stage<'a> {
    /// Server, client and clock.
    pub scene: &'a mut Scene,
    /// The case's workflows.
    pub deployment: Deployment,
    /// Correlation key of everything this case starts or sends.
    pub key: String,
    /// Runs that the case started itself, in order.
    pub started: Vec<String>,
    /// Cases of CMMN that it started itself, in order.
    pub cases: Vec<String>,
    /// Messages sent, for their idempotency keys.
    pub sent: u32,
}

/// A step or an expectation that does not hold.
pub(crate) type Verdict = std::result::Result<(), String>;

/// Runs one case. An error is a broken run of the case, not a judgement.
pub(crate) async fn run(scene: &mut Scene, folder: &Path, model: &Model, case: &Case) -> Result<Outcome> {
    let key = fresh_key();
    let case = &keyed(case, &key);
    let deployment = Deployment::default();
    let mut stage = Stage { scene, deployment, key, started: Vec::new(), cases: Vec::new(), sent: 0 };
    let Stage { scene, deployment, key, .. } = &mut stage;
    let made = deployment.make(scene.client(), folder, model, key).await;
    let outcome = match made {
        Ok(Ok(())) => stage.play(case).await.map(|verdict| match verdict {
            Ok(()) => Outcome::Passed,
            Err(reason) => Outcome::Failed { reason },
        }),
        Ok(Err(Refused(reason))) => Ok(refused(model, case, reason)),
        Err(error) => Err(error),
    };
    let removed = stage.deployment.remove(stage.scene.client()).await;
    let outcome = outcome?;
    removed.context("the case cannot be cleared away")?;
    Ok(outcome)
}

/// The case with its own correlation key wherever it says `{key}`.
fn keyed(case: &Case, key: &str) -> Case {
    let mut case = case.clone();
    if let Some(start) = &mut case.start {
        start.variables.values_mut().for_each(|value| put_key(value, key));
    }
    case.steps.iter_mut().for_each(|step| put_key(step, key));
    case
}

fn put_key(value: &mut Value, key: &str) {
    match value {
        Value::String(text) if text == "{key}" => key.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| put_key(item, key)),
        Value::Object(members) => members.values_mut().for_each(|member| put_key(member, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A model that is refused fails its cases, unless an error is what is expected or the suite lets it be skipped.
fn refused(model: &Model, case: &Case, reason: String) -> Outcome {
    let wanted = case
        .expect
        .as_ref()
        .is_some_and(|expect| expect.state == "error" && judge::completed(expect, &BTreeMap::new()).is_ok());
    if wanted || case.expect_start_error.is_some() {
        return Outcome::Passed;
    }
    if model.note.as_ref().is_some_and(|note| note.contains("count as skipped")) {
        return Outcome::Skipped { reason };
    }
    Outcome::Failed { reason }
}

fn fresh_key() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!(
        "case-{:x}-{}",
        heddle_harness_kit::random::seed() & 0xFFFF_FFFF,
        NUMBER.fetch_add(1, Ordering::Relaxed)
    )
}

impl Stage<'_> {
    async fn play(&mut self, case: &Case) -> Result<Verdict> {
        let refusal = match &case.start {
            Some(start) => self.start(start).await?.err(),
            None => None,
        };
        if case.expect_start_error.is_some() {
            let failed = refusal.is_some() || self.observe().await?.iter().any(Observed::troubled);
            return Ok(if failed { Ok(()) } else { Err("the start was not refused".to_owned()) });
        }
        let expects_error = case.expect.as_ref().is_some_and(|expect| expect.state == "error");
        if let (Some(refusal), false) = (&refusal, expects_error) {
            return Ok(Err(refusal.clone()));
        }
        for (number, step) in case.steps.iter().enumerate() {
            let step_read = Step::read(step)?;
            if let Err(reason) = steps::take(self, &step_read, &Manner::read(step)).await? {
                return Ok(Err(format!("step {} {step}: {reason}", number + 1)));
            }
        }
        let moved = case.steps.iter().any(|step| step.get("advance").is_some());
        self.settle().await?;
        // A case of CMMN is judged by its steps alone.
        if !self.cases.is_empty() && case.expect.is_none() {
            return Ok(Ok(()));
        }
        if !moved {
            self.drain_timers().await?;
        }
        let Some(expect) = &case.expect else { return Ok(Ok(())) };
        self.until(async |stage: &mut Self| {
            let runs = stage.observe().await?;
            let started = stage.own(&runs);
            if let Err(reason) = judge::state(&expect.state, &started, refusal.as_deref()) {
                return Ok(Err(reason));
            }
            let told = judge::completed(expect, &stage.completions(&runs).await?);
            let (Ok(()), Some(first)) = (&told, started.first()) else { return Ok(told) };
            if let Err(reason) = judge::output(&expect.output, first.run.get("output")) {
                return Ok(Err(reason));
            }
            Ok(judge::history(&expect.history, &stage.completed_nodes(first).await?))
        })
        .await
    }

    /// Starts an instance; a refusal is an answer.
    pub(crate) async fn start(&mut self, start: &Start) -> Result<Verdict> {
        if let Some(message) = &start.message {
            let answer = steps::send_message(self, message, &start.variables).await?;
            let ids = steps::run_ids(&answer);
            if !answer.ok() || ids.is_empty() {
                return Ok(Err(if answer.ok() {
                    format!("no start event for `{message}`")
                } else {
                    answer.refusal()
                }));
            }
            self.started.extend(ids);
            return Ok(Ok(()));
        }
        if let Some(case) = &start.case {
            return case_steps::start(self, case, start).await;
        }
        let process = start.process.as_deref().context("a start names a process, a case or a message")?;
        let Some(workflow) = self.deployment.with_process(process) else {
            return Ok(Err(format!("the imported definition has no process `{process}`")));
        };
        let body = json!({"processId": process, "input": start.variables, "correlationKey": self.key});
        let answer = self.scene.client().post(&format!("/api/workflows/{}/runs", workflow.id), &body).await?;
        if !answer.ok() {
            return Ok(Err(answer.refusal()));
        }
        let id = answer.data()?["id"].as_str().context("a started run has an id")?.to_owned();
        self.started.push(id);
        Ok(Ok(()))
    }

    /// Every run of the deployment as it stands now.
    pub(crate) async fn observe(&self) -> Result<Vec<Observed>> {
        let client = self.scene.client();
        let mut found = Vec::new();
        for (index, workflow) in self.deployment.workflows.iter().enumerate() {
            for run in client.all(&format!("/api/workflows/{}/runs", workflow.id)).await? {
                let id = run["id"].as_str().context("a run has an id")?;
                let run = client.get(&format!("/api/workflows/{}/runs/{id}", workflow.id)).await?.data()?;
                found.push(Observed { workflow: index, run });
            }
        }
        Ok(found)
    }

    /// The runs that the case started itself; without a start of its own, all of them.
    pub(crate) fn own<'runs>(&self, runs: &'runs [Observed]) -> Vec<&'runs Observed> {
        let all = self.started.is_empty();
        runs.iter().filter(|run| all || self.started.iter().any(|id| id == run.id())).collect()
    }

    /// The events of one run.
    pub(crate) async fn events(&self, run: &Observed) -> Result<Vec<Value>> {
        let workflow = &self.deployment.workflows[run.workflow];
        self.scene.client().all(&format!("/api/workflows/{}/runs/{}/events", workflow.id, run.id())).await
    }

    /// Ids of the nodes that completed in a run, in order.
    async fn completed_nodes(&self, run: &Observed) -> Result<Vec<String>> {
        let events = self.events(run).await?;
        let completed = events.iter().filter(|event| event["type"].as_str() == Some("node.completed"));
        Ok(completed.filter_map(|event| event["nodeId"].as_str().map(str::to_owned)).collect())
    }

    async fn completions(&self, runs: &[Observed]) -> Result<BTreeMap<String, u64>> {
        let mut counted = BTreeMap::new();
        for run in runs {
            let names = &self.deployment.workflows[run.workflow].names;
            judge::count(&self.events(run).await?, names, &mut counted);
        }
        Ok(counted)
    }

    /// Waits until no run can move by itself.
    pub(crate) async fn settle(&mut self) -> Result<()> {
        let held = self.until(async |stage: &mut Self| {
            let runs = stage.observe().await?;
            let moving = runs
                .iter()
                .any(|run| ["queued", "running"].contains(&run.state()) || run.waits_for_an_end_among(&runs));
            Ok(if moving { Err(String::new()) } else { Ok(()) })
        });
        held.await.map(|_| ())
    }

    /// Tries a check until it holds or patience runs out; gives the last verdict.
    pub(crate) async fn until(
        &mut self,
        mut check: impl AsyncFnMut(&mut Self) -> Result<Verdict>,
    ) -> Result<Verdict> {
        let began = Instant::now();
        loop {
            let verdict = check(self).await?;
            if verdict.is_ok() || began.elapsed() > PATIENCE {
                return Ok(verdict);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Moves the clock to each due time in turn until nothing is due within thirty days.
    async fn drain_timers(&mut self) -> Result<()> {
        let first = self.scene.now().await?;
        let mut now = first;
        while let Some(due) = self.next_due(now).await? {
            if due.duration_since(first) > HORIZON {
                break;
            }
            now = self.scene.advance(&scene::iso(due.duration_since(now))).await?;
            self.settle().await?;
        }
        Ok(())
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>> {
        let mut due = Vec::new();
        for run in self.observe().await?.iter().filter(|run| run.active()) {
            due.extend(open_timers(&self.events(run).await?));
            due.extend(
                run.waiting_for("timer").filter_map(|node| scene::instant(&node["waitingFor"]["dueAt"])),
            );
        }
        Ok(due.into_iter().filter(|due| *due > now).min())
    }
}

/// Due times of the timers that were scheduled and neither fired nor were cancelled.
fn open_timers(events: &[Value]) -> Vec<Timestamp> {
    let id = |event: &Value| event["data"].get("timerId").map(Value::to_string);
    let ended: BTreeSet<String> = events
        .iter()
        .filter(|event| matches!(event["type"].as_str(), Some("timer.fired" | "timer.cancelled")))
        .filter_map(id)
        .collect();
    events
        .iter()
        .filter(|event| event["type"].as_str() == Some("timer.scheduled"))
        .filter(|event| id(event).is_none_or(|id| !ended.contains(&id)))
        .filter_map(|event| scene::instant(&event["data"]["dueAt"]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_timers_are_those_without_an_end() {
        let due = "2026-01-01T00:00:05.000Z";
        let timer = |kind: &str, id: &str| json!({"type": kind, "data": {"timerId": id, "dueAt": due}});
        let events = [
            timer("timer.scheduled", "1"),
            timer("timer.scheduled", "2"),
            timer("timer.scheduled", "3"),
            timer("timer.fired", "1"),
            timer("timer.cancelled", "2"),
        ];
        assert_eq!(open_timers(&events), [due.parse::<Timestamp>().unwrap()]);
    }

    #[test]
    fn a_refused_model_passes_only_where_an_error_is_expected() {
        let model = |note: Value, case: Value| -> Model {
            serde_json::from_value(json!({"id": "m", "files": [], "note": note, "cases": [case]})).unwrap()
        };
        let error = json!({"expect": {"state": "error", "completed_by_name": {}}});
        let done = json!({"expect": {"state": "completed", "completed_by_name": {}}});
        let reason = || "refused: x".to_owned();
        let of = |model: Model| refused(&model, &model.cases[0], reason());
        assert_eq!(of(model(Value::Null, error)), Outcome::Passed);
        assert_eq!(of(model(Value::Null, done.clone())), Outcome::Failed { reason: reason() });
        assert_eq!(
            of(model(json!("may be refused - count as skipped then"), done)),
            Outcome::Skipped { reason: reason() }
        );
        assert_eq!(of(model(Value::Null, json!({"expect_start_error": true}))), Outcome::Passed);
    }
}
