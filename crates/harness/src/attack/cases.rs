//! Attacks by cases: sentries and repetition without end, large files, planning, and cases of others.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use anyhow::{Context as _, Result};
use heddle_harness_kit::http::Answer;
use heddle_harness_kit::prepare;
use serde_json::{Value, json};

use super::Attack;
use super::judge::Judge;
use super::person::{Person, data, id};
use super::place::Place;
use super::scene::Scene;

/// Statuses of a start that is done, refused for what it asks, or put off.
const STARTED: &[u16] = &[201, 400, 409, 429, 503];
/// Statuses of a refusal that does not tell whether the thing is there.
const CLOSED: &[u16] = &[403, 404];
/// Items that are planned into one case.
const PLANNED: usize = 300;
/// Size of a file item that is refused as a body, and of one that is not.
const LARGE: usize = 16 * 1024 * 1024;
const PIECE: usize = 700 * 1024;
/// Pieces of which a case file would become larger than any may be.
const PIECES: usize = 64;

/// Two milestones that follow from each other, for ever.
const LOOP: &str = r#"
    <casePlanModel id="plan">
      <planItem id="A" definitionRef="human"/>
      <planItem id="M" definitionRef="milestone">
        <itemControl><repetitionRule/></itemControl>
        <entryCriterion id="m1" sentryRef="s1"/><entryCriterion id="m2" sentryRef="s3"/>
      </planItem>
      <planItem id="N" definitionRef="milestone">
        <itemControl><repetitionRule/></itemControl><entryCriterion id="n1" sentryRef="s2"/>
      </planItem>
      <sentry id="s1"><planItemOnPart id="p1" sourceRef="A"><standardEvent>start</standardEvent></planItemOnPart></sentry>
      <sentry id="s2"><planItemOnPart id="p2" sourceRef="M"><standardEvent>occur</standardEvent></planItemOnPart></sentry>
      <sentry id="s3"><planItemOnPart id="p3" sourceRef="N"><standardEvent>occur</standardEvent></planItemOnPart></sentry>
      <humanTask id="human"/>
      <milestone id="milestone"/>
    </casePlanModel>"#;

/// A task that nobody waits for and that begins again whenever it ends.
const REPEATING: &str = r#"
    <casePlanModel id="plan">
      <planItem id="A" definitionRef="human"/>
      <planItem id="T" definitionRef="task"><itemControl><repetitionRule/></itemControl></planItem>
      <humanTask id="human"/>
      <task id="task" isBlocking="false"/>
    </casePlanModel>"#;

/// A human task, a case file item, and a discretionary item that may be planned again and again.
const OPEN: &str = r#"
    <caseFileModel>
      <caseFileItem id="note" name="note" multiplicity="ZeroOrOne"/>
      <caseFileItem id="notes" name="notes" multiplicity="ZeroOrMore"/>
    </caseFileModel>
    <casePlanModel id="plan">
      <planItem id="work" definitionRef="human"/>
      <planningTable id="table">
        <discretionaryItem id="more" definitionRef="human"><itemControl><repetitionRule/></itemControl></discretionaryItem>
      </planningTable>
      <humanTask id="human"/>
    </casePlanModel>"#;

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "case-sentry-loop",
        finding: "held",
        does: "starts a case whose sentries follow from each other for ever",
        after: "it is refused or has an incident, and the server answers",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(endless(scene, judge, "loop", LOOP)),
    },
    Attack {
        name: "case-repetition",
        finding: "held",
        does: "starts a case with a task that begins again whenever it ends, at once",
        after: "it is refused or has an incident, and the server answers",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(endless(scene, judge, "repeating", REPEATING)),
    },
    Attack {
        name: "case-file-large",
        finding: "held",
        does: "puts 16 MiB into a case file, at once and in pieces",
        after: "a body that large is 413, the pieces end at a limit, and the case can be read",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(large_file(scene, judge)),
    },
    Attack {
        name: "case-planning",
        finding: "held",
        does: "plans a discretionary item thousands of times",
        after: "each is planned or refused by a limit, and the case can be read and ended",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(planning(scene, judge)),
    },
    Attack {
        name: "case-denied",
        finding: "held",
        does: "reads and works on the one case that is denied, and on one of a denied case type",
        after: "403 everywhere, no list shows it, and another case stays open",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(denied(scene, judge)),
    },
    Attack {
        name: "case-as-run",
        finding: "held",
        does: "asks for a case as if it were a run, and for its type as if it were a workflow",
        after: "403 or 404 everywhere, and nothing changes",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(as_run(scene, judge)),
    },
    Attack {
        name: "case-of-another",
        finding: "held",
        does: "asks for a case from another organisation",
        after: "403 or 404 everywhere, and nothing changes",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(of_another(scene, judge)),
    },
    Attack {
        name: "hook-guessed",
        finding: "held",
        does: "calls hooks whose tokens it guesses",
        after: "404 in one shape, whatever the token",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(guessed(scene, judge)),
    },
];

/// Imports and publishes a case type; its id and the last answer.
async fn publish(scene: &Scene, word: &str, content: &str) -> Result<(String, Answer)> {
    let case = scene.name(word);
    let content = prepare::case_document(&case, content);
    let body = json!({"fileName": format!("{case}.cmmn"), "content": content, "slug": case});
    let imported = scene.owner.post("/api/case-types/import/cmmn", &body).await?;
    if imported.status != 201 {
        return Ok((String::new(), imported));
    }
    let made = data(imported)?;
    let case_type = prepare::imported_id(&made).context("an imported case type has an id")?.to_owned();
    let published = scene.owner.post(&format!("/api/case-types/{case_type}/publish"), &json!({})).await?;
    Ok((case_type, published))
}

/// A published case type with an open case; both ids.
async fn open(scene: &Scene) -> Result<(String, String)> {
    let (case_type, published) = publish(scene, "open", OPEN).await?;
    data(published)?;
    let case = case_of(scene, &case_type).await?;
    Ok((case_type, case))
}

async fn case_of(scene: &Scene, case_type: &str) -> Result<String> {
    id(scene.owner.post("/api/cases", &json!({"caseTypeId": case_type})).await?)
}

async fn endless(scene: &Scene, judge: &mut Judge, word: &str, content: &str) -> Result<()> {
    let (case_type, published) = publish(scene, word, content).await?;
    judge.status("publishing", published.status, &[200, 201, 400]);
    if published.status == 400 {
        return Ok(());
    }
    let started = scene.owner.post("/api/cases", &json!({"caseTypeId": case_type})).await?;
    judge.status("the start", started.status, STARTED);
    if started.status == 201 {
        let case = started.json()["data"].take();
        judge.must(
            !case["incidents"].as_array().is_none_or(Vec::is_empty),
            format_args!("the case is {} without an incident", case["state"]),
        );
        ended(scene, judge, case["id"].as_str().unwrap_or_default()).await?;
    }
    Ok(())
}

/// A case can be read and terminated.
async fn ended(scene: &Scene, judge: &mut Judge, case: &str) -> Result<()> {
    let path = format!("/api/cases/{case}");
    judge.status("reading the case", scene.owner.get(&path).await?.status, &[200]);
    let terminated = scene.owner.post(&format!("{path}/terminate"), &json!({})).await?;
    judge.status("terminating the case", terminated.status, &[200]);
    Ok(())
}

async fn large_file(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (case_type, case) = open(scene).await?;
    let large = "x".repeat(LARGE);
    let file = format!("/api/cases/{case}/file");
    let put = scene.owner.put(&format!("{file}/note"), &json!({ "value": large })).await?;
    judge.status("16 MiB at once", put.status, &[400, 413]);
    let body = json!({"caseTypeId": case_type, "file": {"note": large}});
    judge.status("a start with 16 MiB", scene.owner.post("/api/cases", &body).await?.status, &[400, 413]);
    let piece = json!({"transition": "create", "value": "x".repeat(PIECE)});
    let mut refused = 0;
    for _ in 0..PIECES {
        let put = scene.owner.put(&format!("{file}/notes"), &piece).await?;
        judge.status("a piece", put.status, &[200, 400, 409, 413]);
        refused += usize::from(put.status != 200);
    }
    judge.must(refused > 0, format_args!("a case file takes {PIECES} pieces of {PIECE} bytes"));
    ended(scene, judge, &case).await
}

async fn planning(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (_, case) = open(scene).await?;
    let path = format!("/api/cases/{case}/plan-items/more/plan");
    let mut planned = 0;
    for _ in 0..PLANNED {
        let answer = scene.owner.post(&path, &json!({})).await?;
        judge.status("planning once more", answer.status, &[200, 400, 409, 429]);
        if answer.status != 200 {
            break;
        }
        planned += 1;
    }
    judge.must(planned > 0, "the item is not planned at all");
    ended(scene, judge, &case).await
}

async fn denied(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (case_type, case) = open(scene).await?;
    let other = case_of(scene, &case_type).await?;
    let now = data(scene.owner.get(&format!("/api/cases/{case}")).await?)?;
    let task = now["humanTasks"][0]["id"].as_str().context("no open task")?.to_owned();
    for (kind, on, other_is_open) in [("case", &case, true), ("case-type", &case_type, false)] {
        let user = scene.user(&["owner"]).await?;
        scene.deny(&user, kind, on).await?;
        for (what, status) in reached(&user, &case, &task).await? {
            judge.status(format_args!("{what} with a deny on the {kind}"), status, &[403]);
        }
        for list in ["/api/cases?limit=200", "/api/human-tasks?limit=200"] {
            let listed = user.get(list).await?.text();
            judge.must(!listed.contains(&case), format_args!("{list} shows a case whose {kind} is denied"));
        }
        let seen = user.get(&format!("/api/cases/{other}")).await?.status;
        let wanted: &[u16] = if other_is_open { &[200] } else { &[403] };
        judge.status(format_args!("another case with a deny on the {kind}"), seen, wanted);
    }
    ended(scene, judge, &case).await
}

/// Everything that can be asked of a case, with the statuses of the answers.
async fn reached(user: &Person, case: &str, task: &str) -> Result<Vec<(&'static str, u16)>> {
    let path = format!("/api/cases/{case}");
    let nothing = json!({});
    let complete = format!("/api/human-tasks/{task}/complete");
    Ok(vec![
        ("reading it", user.get(&path).await?.status),
        ("its history", user.get(&format!("{path}/events")).await?.status),
        ("suspending it", user.post(&format!("{path}/suspend"), &nothing).await?.status),
        ("its item", user.post(&format!("{path}/plan-items/work/terminate"), &nothing).await?.status),
        ("planning in it", user.post(&format!("{path}/plan-items/more/plan"), &nothing).await?.status),
        ("its file", user.put(&format!("{path}/file/note"), &json!({"value": 1})).await?.status),
        ("its task", user.post(&complete, &nothing).await?.status),
    ])
}

async fn as_run(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (case_type, case) = open(scene).await?;
    let workflow = scene.publish(&super::models::task()).await?;
    let owner = &scene.owner;
    for base in [format!("/api/workflows/{case_type}"), format!("/api/workflows/{workflow}")] {
        let run = format!("{base}/runs/{case}");
        for path in [run.clone(), format!("{run}/events")] {
            judge.status(&path, owner.get(&path).await?.status, CLOSED);
        }
        judge.status("its cancellation", owner.delete(&run).await?.status, CLOSED);
        let decided = owner.post(&format!("{run}/decision"), &json!({"decision": "suspend"})).await?;
        judge.status("a decision on it", decided.status, CLOSED);
        let completed = owner.post(&format!("{run}/human-tasks/work/complete"), &json!({})).await?;
        judge.status("its task by the node", completed.status, CLOSED);
    }
    let base = format!("/api/workflows/{case_type}");
    judge.status("the type as a workflow", owner.get(&base).await?.status, CLOSED);
    judge.status("its deletion as a workflow", owner.delete(&base).await?.status, CLOSED);
    judge.status("a run of it", owner.post(&format!("{base}/runs"), &json!({})).await?.status, CLOSED);
    for list in ["/api/runs?limit=200", "/api/workflows?limit=200"] {
        let listed = owner.get(list).await?.text();
        judge.must(!listed.contains(&case) && !listed.contains(&case_type), format_args!("{list} shows it"));
    }
    let run = scene.run(&workflow).await?;
    judge.status("a run as a case", owner.get(&format!("/api/cases/{run}")).await?.status, CLOSED);
    let now = data(owner.get(&format!("/api/cases/{case}")).await?)?;
    judge.must(now["state"] == "active", format_args!("the case is {}", now["state"]));
    ended(scene, judge, &case).await
}

async fn of_another(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (case_type, case) = open(scene).await?;
    let now = data(scene.owner.get(&format!("/api/cases/{case}")).await?)?;
    let task = now["humanTasks"][0]["id"].as_str().context("no open task")?.to_owned();
    for (what, status) in reached(&scene.elsewhere, &case, &task).await? {
        judge.status(format_args!("{what} from another organisation"), status, CLOSED);
    }
    let type_path = format!("/api/case-types/{case_type}");
    judge.status("its type", scene.elsewhere.get(&type_path).await?.status, CLOSED);
    let body = json!({"caseTypeId": case_type});
    let started = scene.elsewhere.post("/api/cases", &body).await?;
    judge.status("a case of its type", started.status, &[400, 403, 404]);
    let after = data(scene.owner.get(&format!("/api/cases/{case}")).await?)?;
    judge.must(after["revision"] == now["revision"], "the case has changed");
    ended(scene, judge, &case).await
}

async fn guessed(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let mut shapes: Vec<Value> = Vec::new();
    for token in ["a", "00000000000000000000000000000000", "z".repeat(43).as_str(), "%00", "..%2f..%2fcases"]
    {
        let answer = scene.stranger.post(&format!("/api/hooks/{token}"), &json!({"a": 1})).await?;
        judge.status(format_args!("the hook `{token}`"), answer.status, &[400, 404, 429]);
        if answer.status == 404 {
            shapes.push(answer.json()["error"]["code"].take());
        }
    }
    shapes.dedup();
    judge.must(shapes.len() <= 1, format_args!("unknown hooks are told apart: {shapes:?}"));
    Ok(())
}
