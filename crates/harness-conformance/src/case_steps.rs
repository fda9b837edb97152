//! The steps of a case of CMMN as calls of public operations.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use heddle_harness_kit::client::{Answer, Client, Method, encode};
use serde_json::{Map, Value, json};

use super::case_language::{CASE, CaseStep, FileChange, Planned};
use super::cases::{Stage, Verdict};
use super::judge;
use super::language::{Manner, Start, Step};
use super::steps;

/// States in which an instance of an item has ended.
const ENDED: [&str; 2] = ["completed", "terminated"];

/// Takes one step of a case; none when the word means the same for runs.
pub(super) async fn take(stage: &mut Stage<'_>, step: &Step, manner: &Manner) -> Result<Option<Verdict>> {
    Ok(Some(match step {
        Step::Case(step) => about(stage, step, manner).await?,
        Step::Complete(item, values) => {
            act(stage, manner, async |stage: &mut Stage<'_>, client: &Client| {
                complete(stage, client, item, values).await
            })
            .await?
        }
        Step::Message { name, payload, .. } => message(stage, name, payload, manner).await?,
        Step::State(expected) => {
            stage
                .until(async |stage: &mut Stage<'_>| {
                    let found = main(stage).await?["state"].as_str().unwrap_or_default().to_owned();
                    Ok(equal(&format!("state of `{CASE}`"), expected, &found))
                })
                .await?
        }
        Step::Tasks(expected) => {
            stage
                .until(async |stage: &mut Stage<'_>| {
                    let mut found = steps::open_nodes(stage).await?;
                    let own = open_tasks(stage).await?;
                    found.extend(own.iter().filter_map(|task| task["nodeId"].as_str().map(str::to_owned)));
                    Ok(judge::multiset(expected, &found))
                })
                .await?
        }
        Step::Instances(expected) => {
            stage
                .until(async |stage: &mut Stage<'_>| {
                    let mut found = steps::process_counts(stage).await?;
                    for case in of_deployment(stage).await? {
                        *found.entry(member(&case, "definitionId")).or_default() += 1;
                    }
                    Ok(steps::instances(expected, &found))
                })
                .await?
        }
        Step::Claim(_)
        | Step::CompleteAll(_)
        | Step::CompleteAnyOrder(_)
        | Step::Job { .. }
        | Step::Signal(..)
        | Step::Trigger(_)
        | Step::Start(_)
        | Step::Advance(_) => return Ok(None),
    }))
}

/// Starts a case; a refusal is an answer.
pub(super) async fn start(stage: &mut Stage<'_>, case: &str, start: &Start) -> Result<Verdict> {
    let Some(case_type) = stage.deployment.with_case(case) else {
        return Ok(Err(format!("the imported definitions have no case `{case}`")));
    };
    let body = json!({
        "caseTypeId": case_type, "definitionId": case, "correlationKey": stage.key,
        "file": start.file, "input": start.variables,
    });
    let answer = stage.scene.client().post("/api/cases", &body).await?;
    if !answer.ok() {
        return Ok(Err(answer.refusal()));
    }
    let id = answer.data()?["id"].as_str().context("a started case has an id")?.to_owned();
    stage.cases.push(id);
    Ok(Ok(()))
}

/// Takes one step that only cases know.
async fn about(stage: &mut Stage<'_>, step: &CaseStep, manner: &Manner) -> Result<Verdict> {
    match step {
        CaseStep::Transition { transition, item } if item == CASE => {
            change_case(stage, transition, manner).await
        }
        CaseStep::CompleteCase => change_case(stage, "complete", manner).await,
        CaseStep::Transition { transition, item } => {
            act(stage, manner, async |stage: &mut Stage<'_>, client: &Client| {
                transit(stage, client, item, transition).await
            })
            .await
        }
        CaseStep::Plan(planned) => {
            act(stage, manner, async |stage: &mut Stage<'_>, client: &Client| {
                plan(stage, client, planned).await
            })
            .await
        }
        CaseStep::File(change) => {
            act(stage, manner, async |stage: &mut Stage<'_>, client: &Client| {
                change_file(stage, client, change).await
            })
            .await
        }
        CaseStep::Items(expected) => {
            stage.until(async |stage: &mut Stage<'_>| Ok(live(expected, &main(stage).await?))).await
        }
        CaseStep::Count(expected) => {
            stage.until(async |stage: &mut Stage<'_>| Ok(count(expected, &main(stage).await?))).await
        }
        CaseStep::Ended(expected) => {
            stage.until(async |stage: &mut Stage<'_>| Ok(ended(expected, &history(stage).await?))).await
        }
        CaseStep::Milestones(expected) => {
            stage
                .until(async |stage: &mut Stage<'_>| {
                    Ok(judge::multiset(expected, &milestones(&history(stage).await?)))
                })
                .await
        }
        CaseStep::Planning(expected) => {
            stage.until(async |stage: &mut Stage<'_>| Ok(planning(expected, &main(stage).await?))).await
        }
        CaseStep::CaseFile(expected) => {
            stage
                .until(async |stage: &mut Stage<'_>| {
                    Ok(judge::output(expected, main(stage).await?.get("file")))
                })
                .await
        }
        CaseStep::Incident(code) => {
            stage
                .until(async |stage: &mut Stage<'_>| Ok(incident(code.as_deref(), &main(stage).await?)))
                .await
        }
    }
}

/// Acts as whoever the step names. What must be refused is tried once, when nothing moves any more; a server that breaks
/// has refused nothing.
async fn act(
    stage: &mut Stage<'_>,
    manner: &Manner,
    mut deed: impl AsyncFnMut(&mut Stage<'_>, &Client) -> Result<Answer>,
) -> Result<Verdict> {
    stage.settle().await?;
    let person = stage.scene.person(manner.role.as_deref()).await?;
    let client = person.as_ref();
    if !manner.refused {
        return stage
            .until(async |stage: &mut Stage<'_>| {
                let answer = deed(stage, client).await?;
                Ok(if answer.ok() { Ok(()) } else { Err(answer.refusal()) })
            })
            .await;
    }
    let before = main(stage).await?["revision"].take();
    let answer = deed(stage, client).await?;
    let after = main(stage).await?["revision"].take();
    Ok(match answer.status {
        400..=499 if before == after => Ok(()),
        400..=499 => Err(format!("was refused, but the case changed: {}", answer.refusal())),
        status if answer.ok() => Err(format!("was not refused: {status}")),
        _ => Err(format!("broke the server: {}", answer.refusal())),
    })
}

/// The case that the step is about: the one that was started first.
async fn main(stage: &Stage<'_>) -> Result<Value> {
    let id = stage.cases.first().context("no case was started")?;
    stage.scene.client().get(&format!("/api/cases/{id}")).await?.data()
}

/// Every case of the deployment, also those that others called.
async fn of_deployment(stage: &Stage<'_>) -> Result<Vec<Value>> {
    let client = stage.scene.client();
    let mut found = Vec::new();
    for case_type in &stage.deployment.case_types {
        for case in client.all(&format!("/api/cases?caseTypeId={}", case_type.id)).await? {
            found.push(client.get(&format!("/api/cases/{}", member(&case, "id"))).await?.data()?);
        }
    }
    Ok(found)
}

/// The open human tasks of active cases.
async fn open_tasks(stage: &Stage<'_>) -> Result<Vec<Value>> {
    let cases = of_deployment(stage).await?;
    let active = cases.iter().filter(|case| case["state"] == "active");
    let tasks = active.flat_map(|case| list(&case["humanTasks"]));
    Ok(tasks.filter(|task| task["state"].as_str().is_none_or(|state| state == "open")).cloned().collect())
}

async fn history(stage: &Stage<'_>) -> Result<Vec<Value>> {
    let id = stage.cases.first().context("no case was started")?;
    stage.scene.client().all(&format!("/api/cases/{id}/events")).await
}

async fn change_case(stage: &mut Stage<'_>, transition: &str, manner: &Manner) -> Result<Verdict> {
    act(stage, manner, async |stage: &mut Stage<'_>, client: &Client| {
        let id = stage.cases.first().context("no case was started")?;
        client.post(&format!("/api/cases/{id}/{transition}"), &json!({})).await
    })
    .await
}

/// Completes the work of an item: its human task, one of what the case called, or the item itself.
async fn complete(
    stage: &Stage<'_>,
    client: &Client,
    item: &str,
    values: &Map<String, Value>,
) -> Result<Answer> {
    let own = of_deployment(stage).await?;
    let tasks = own.iter().flat_map(|case| list(&case["humanTasks"]));
    let mut open = tasks.filter(|task| task["state"].as_str().is_none_or(|state| state == "open"));
    if let Some(task) = open.find(|task| task["nodeId"].as_str() == Some(item)) {
        let path = format!("/api/human-tasks/{}/complete", member(task, "id"));
        return client.post(&path, &json!({ "values": values })).await;
    }
    match steps::complete_of_run(stage, item, values).await? {
        Some(answer) => Ok(answer),
        None => transit(stage, client, item, "complete").await,
    }
}

/// Asks for a transition of the first instance that can make it, else of the item whatever its state.
async fn transit(stage: &Stage<'_>, client: &Client, item: &str, transition: &str) -> Result<Answer> {
    let case = main(stage).await?;
    let instances: Vec<&Value> =
        list(&case["planItems"]).iter().filter(|own| own["planItemId"].as_str() == Some(item)).collect();
    let able = instances.iter().find(|own| list(&own["options"]).iter().any(|option| option == transition));
    let live = || instances.iter().find(|own| !is_ended(own));
    let id = able.or_else(live).map_or_else(|| item.to_owned(), |own| member(own, "id"));
    let path = format!("/api/cases/{}/plan-items/{}/{transition}", member(&case, "id"), encode(&id));
    client.post(&path, &json!({})).await
}

async fn plan(stage: &Stage<'_>, client: &Client, planned: &Planned) -> Result<Answer> {
    let case = main(stage).await?;
    let path = format!("/api/cases/{}/plan-items/{}/plan", member(&case, "id"), encode(&planned.item));
    let body = match (hosts(&case, &planned.place).pop_first(), planned.place.as_str()) {
        (Some(host), _) => json!({ "host": host }),
        // Nothing can be planned into the case: it has no other host to name.
        (None, CASE) => json!({}),
        (None, place) => json!({ "host": place }),
    };
    client.post(&path, &body).await
}

/// Changes the case file. A child is added by its creation and removed by its deletion.
async fn change_file(stage: &Stage<'_>, client: &Client, change: &FileChange) -> Result<Answer> {
    let id = stage.cases.first().context("no case was started")?;
    let (item, body) = match (change.event.as_str(), &change.child, &change.reference) {
        ("addChild", Some(child), None) => (child, json!({"transition": "create", "value": change.value})),
        ("removeChild", Some(child), None) => {
            (child, json!({"transition": "delete", "value": null, "at": [0]}))
        }
        ("addReference" | "removeReference", None, Some(reference)) => {
            (&change.item, json!({"transition": change.event, "value": reference}))
        }
        (event, None, None) => (&change.item, json!({"transition": event, "value": change.value})),
        _ => anyhow::bail!("not as agreed: {change:?}"),
    };
    client.call(Method::PUT, &format!("/api/cases/{id}/file/{}", encode(item)), Some(&body)).await
}

/// A message to the case; that nobody listens is its refusal.
async fn message(
    stage: &mut Stage<'_>,
    name: &str,
    payload: &Map<String, Value>,
    manner: &Manner,
) -> Result<Verdict> {
    stage.settle().await?;
    let answer = steps::send_message(stage, name, payload).await?;
    let reached = !list(&answer.body["data"]["caseIds"]).is_empty() || !steps::run_ids(&answer).is_empty();
    Ok(match (answer.ok(), reached == manner.refused) {
        (true, false) => Ok(()),
        (true, true) if manner.refused => Err(format!("`{name}` was received, but nobody should listen")),
        (true, true) => Err(format!("nobody listens for `{name}`")),
        (false, _) => Err(answer.refusal()),
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn member(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn is_ended(instance: &Value) -> bool {
    instance["state"].as_str().is_some_and(|state| ENDED.contains(&state))
}

/// Instances that are meant by the language's name of a place to plan into: those of an item that have not ended, or the case
/// itself, which is the host that is no item.
fn hosts(case: &Value, place: &str) -> BTreeSet<String> {
    let items = list(&case["planItems"]);
    if place == CASE {
        let known: BTreeSet<&str> = items.iter().filter_map(|own| own["id"].as_str()).collect();
        let all = list(&case["planning"]).iter().filter_map(|own| own["hostId"].as_str());
        return all.filter(|host| !known.contains(host)).map(str::to_owned).collect();
    }
    let own = items.iter().filter(|own| !is_ended(own) && own["planItemId"].as_str() == Some(place));
    own.map(|own| member(own, "id")).collect()
}

fn equal<T: PartialEq + std::fmt::Debug + ?Sized>(what: &str, expected: &T, found: &T) -> Verdict {
    if expected == found { Ok(()) } else { Err(format!("{what}: expected {expected:?}, found {found:?}")) }
}

/// States of the instances of an item that a filter lets through, sorted.
fn states(case: &Value, item: &str, wanted: impl Fn(&Value) -> bool) -> Vec<String> {
    let own = list(&case["planItems"]).iter().filter(|own| own["planItemId"].as_str() == Some(item));
    let mut states: Vec<String> = own.filter(|own| wanted(own)).map(|own| member(own, "state")).collect();
    states.sort();
    states
}

fn live(expected: &BTreeMap<String, Vec<String>>, case: &Value) -> Verdict {
    for (item, expected) in expected {
        let mut found = states(case, item, |own| !is_ended(own));
        if found.is_empty() {
            found.push("gone".to_owned());
        }
        let mut expected = expected.clone();
        expected.sort();
        equal(item, &expected, &found)?;
    }
    Ok(())
}

fn count(expected: &BTreeMap<String, BTreeMap<String, usize>>, case: &Value) -> Verdict {
    for (item, counts) in expected {
        for (state, expected) in counts {
            let found = states(case, item, |own| own["state"].as_str() == Some(state)).len();
            equal(&format!("instances of {item} that are {state}"), expected, &found)?;
        }
    }
    Ok(())
}

/// The transitions of a history that end an instance, in order.
fn ends(history: &[Value]) -> impl Iterator<Item = &Value> {
    let moved = history.iter().filter(|event| event["type"] == "item.transitioned");
    moved.filter(|event| event["data"]["to"].as_str().is_some_and(|to| ENDED.contains(&to)))
}

fn ended(expected: &BTreeMap<String, Vec<String>>, history: &[Value]) -> Verdict {
    for (item, expected) in expected {
        let own = ends(history).filter(|event| event["nodeId"].as_str() == Some(item));
        let found: Vec<String> = own.map(|event| member(&event["data"], "to")).collect();
        equal(&format!("ends of {item}"), expected, &found)?;
    }
    Ok(())
}

/// The milestones that occurred.
fn milestones(history: &[Value]) -> Vec<String> {
    let created = history.iter().filter(|event| event["type"] == "item.created");
    let milestones: BTreeSet<&str> = created
        .filter(|event| event["data"]["type"] == "milestone")
        .filter_map(|event| event["nodeId"].as_str())
        .collect();
    let occurred = ends(history).filter(|event| event["data"]["event"] == "occur");
    let own = occurred.filter_map(|event| event["nodeId"].as_str());
    own.filter(|id| milestones.contains(id)).map(str::to_owned).collect()
}

fn planning(expected: &BTreeMap<String, Vec<String>>, case: &Value) -> Verdict {
    for (expected_place, expected) in expected {
        let hosts = hosts(case, expected_place);
        let told = list(&case["planning"]).iter().filter(|own| own["applicable"] == true);
        let own = told.filter(|own| hosts.contains(&member(own, "hostId")));
        let mut found: Vec<String> = own.map(|own| member(own, "planItemId")).collect();
        found.sort();
        let mut expected = expected.clone();
        expected.sort();
        equal(&format!("planning in {expected_place}"), &expected, &found)?;
    }
    Ok(())
}

fn incident(expected: Option<&str>, case: &Value) -> Verdict {
    let codes: Vec<String> = list(&case["incidents"]).iter().map(|own| member(own, "code")).collect();
    match expected {
        None if codes.is_empty() => Err("there is no incident".to_owned()),
        Some(code) if !codes.iter().any(|own| own == code) => {
            Err(format!("expected the incident {code}, found {codes:?}"))
        }
        None | Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn case() -> Value {
        json!({
            "planItems": [
                {"id": "2", "planItemId": "A", "type": "humanTask", "state": "completed"},
                {"id": "3", "planItemId": "A", "type": "humanTask", "state": "available"},
                {"id": "4", "planItemId": "A", "type": "humanTask", "state": "active"},
                {"id": "5", "planItemId": "B", "type": "humanTask", "state": "terminated"},
            ],
            "planning": [
                {"planItemId": "E", "hostId": "1", "applicable": true}, {"planItemId": "D", "hostId": "1", "applicable": true},
                {"planItemId": "F", "hostId": "4", "applicable": true}, {"planItemId": "G", "hostId": "1", "applicable": false}],
            "incidents": [{"code": "SENTRY_LOOP"}],
        })
    }

    #[test]
    fn live_instances_are_compared_and_ended_ones_are_gone() {
        for (items, holds) in [
            (json!({"A": ["available", "active"], "B": ["gone"]}), true),
            (json!({"A": ["active"]}), false),
            (json!({"B": ["terminated"]}), false),
            (json!({"nowhere": ["gone"]}), true),
        ] {
            assert_eq!(live(&expected(items.clone()), &case()).is_ok(), holds, "{items}");
        }
        assert!(count(&expected(json!({"A": {"active": 1, "failed": 0}})), &case()).is_ok());
        assert!(count(&expected(json!({"A": {"active": 2}})), &case()).is_err());
    }

    #[test]
    fn what_can_be_planned_is_told_by_its_place() {
        assert!(planning(&expected(json!({"case": ["D", "E"], "A": ["F"], "B": []})), &case()).is_ok());
        assert!(planning(&expected(json!({"case": ["D"]})), &case()).is_err());
    }

    #[test]
    fn incidents_are_found_by_code_or_at_all() {
        assert!(incident(None, &case()).is_ok() && incident(Some("SENTRY_LOOP"), &case()).is_ok());
        assert!(incident(Some("LIMIT"), &case()).is_err() && incident(None, &json!({})).is_err());
    }

    #[test]
    fn ends_and_milestones_are_read_from_the_history() {
        let moved = |id: &str, to: &str, event: &str| json!({"type": "item.transitioned", "nodeId": id, "data": {"to": to, "event": event}});
        let created =
            |id: &str, kind: &str| json!({"type": "item.created", "nodeId": id, "data": {"type": kind}});
        let history = [
            created("M", "milestone"),
            created("U", "userEventListener"),
            moved("M", "completed", "occur"),
            moved("U", "completed", "occur"),
            moved("A", "active", "start"),
            moved("A", "completed", "complete"),
            moved("A", "terminated", "exit"),
        ];
        assert_eq!(milestones(&history), ["M"]);
        assert!(ended(&expected(json!({"A": ["completed", "terminated"], "B": []})), &history).is_ok());
        assert!(ended(&expected(json!({"A": ["completed"]})), &history).is_err());
    }
}
