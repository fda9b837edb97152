//! The DMN Technology Compatibility Kit through the whole service: each model becomes a workflow with a process per
//! decision, is published, and each case is a run of a business rule task.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use heddle_dmn::tck::{self, Invocable, ResultNode, TestCase, TestFile};
use heddle_dmn::{Model, compile, xml};
use serde_json::{Value, json};

use super::dmn_tck::{is_test, models, neighbours};
use super::report::{self, Outcome, Report};
use super::scene::Scene;
use heddle_harness_kit::server::Backend;
use heddle_harness_kit::workspace;

/// A file of cases with its place.
struct Suite {
    path: PathBuf,
    relative: String,
    file: TestFile,
}

/// Runs a sample of the kit's models, spread evenly over all of them; every one when the sample is as large.
pub(crate) async fn judge(folders: &[PathBuf], sample: usize, backend: Backend) -> Result<Report> {
    let mut all = Vec::new();
    for folder in folders {
        for path in workspace::files(folder)?.into_iter().filter(|path| is_test(path)) {
            let relative = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            if let Ok(file) = tck::read(&bytes) {
                all.push(Suite { path, relative, file });
            }
        }
    }
    let count = sample.clamp(1, all.len().max(1));
    let mut report = Report { suite: "dmn-tck-http", backend: Some(backend.name()), cases: Vec::new() };
    let mut scene = Scene::start(backend).await?;
    for number in 0..count {
        if let Some(suite) = all.get(number * all.len() / count) {
            through(&mut scene, suite, number, &mut report).await?;
        }
    }
    scene.end().await?;
    Ok(report)
}

async fn through(scene: &mut Scene, suite: &Suite, number: usize, report: &mut Report) -> Result<()> {
    let model = compile(&models(&suite.path, &suite.file.model_name)?).model;
    let published = match publish(scene, suite, &model, number).await {
        Ok(published) => published,
        Err(error) => {
            scene.refresh().await?;
            Err(format!("{error:#}"))
        }
    };
    for (place, case) in suite.file.cases.iter().enumerate() {
        let began = Instant::now();
        let outcome = match &published {
            Err(reason) if reason.contains("externalFunction") => {
                Outcome::Skipped { reason: format!("{}: {reason}", case.id) }
            }
            Err(reason) => Outcome::Failed { reason: format!("{}: {reason}", case.id) },
            Ok(_) if case.kind == Invocable::Bkm => Outcome::Skipped {
                reason: format!("{}: a business rule task calls no business knowledge model", case.id),
            },
            Ok(workflow) => decide(scene, suite, workflow, &model, case).await?,
        };
        report.cases.push(report::Result {
            model: suite.relative.clone(),
            case: place + 1,
            outcome,
            milliseconds: began.elapsed().as_millis(),
        });
    }
    Ok(())
}

/// Name of the decision or service that a case calls.
fn called<'c>(case: &'c TestCase, result: &'c ResultNode) -> &'c str {
    case.invocable.as_deref().filter(|_| case.kind == Invocable::Service).unwrap_or(&result.name)
}

/// The names that the cases call, each once.
fn names(file: &TestFile) -> Vec<&str> {
    let cases = file.cases.iter().filter(|case| case.kind != Invocable::Bkm);
    let mut names: Vec<&str> =
        cases.flat_map(|case| case.results.iter().map(|result| called(case, result))).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The ids of decisions and services by name: a name may be the id of another decision.
fn ids(source: &str) -> HashMap<String, String> {
    let Ok(read) = xml::read(source.as_bytes()) else { return HashMap::new() };
    let decisions = read.model.decisions.into_iter().map(|own| (own.name, own.id));
    let services = read.model.decision_services.into_iter().map(|own| (own.name, own.id));
    services.chain(decisions).filter_map(|(name, id)| Some((name?, id?))).collect()
}

/// The settings that make dates, times and durations of the texts that come as JSON: `types` of the run's input says
/// which function does.
fn conversions(suite: &Suite, model: &Model) -> Vec<Value> {
    let cases = suite.file.cases.iter();
    let mut names: Vec<&str> =
        cases.flat_map(|case| tck::temporal_inputs(case, model)).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let conversion = |name: &str| {
        let kind = format!("get value(types, \"{name}\")");
        let functions = ["date", "time", "date and time", "duration"];
        let choice: String =
            functions.iter().map(|own| format!("if {kind} = \"{own}\" then {own}(`{name}`) else ")).collect();
        json!({"name": name, "value": format!("={choice}`{name}`")})
    };
    names.into_iter().map(conversion).collect()
}

/// The model's definition: a process for each name that the cases call.
fn definition(suite: &Suite, model: &Model) -> Result<Value> {
    let read = |path: &Path| {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok::<_, anyhow::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let folder = suite.path.parent().context("a test stands in a folder")?;
    let imported: Result<Vec<Value>> = neighbours(folder, &suite.file.model_name)?
        .iter()
        .map(|path| Ok(json!({"fileName": path.file_name().map(|name| name.to_string_lossy()), "sourceXml": read(path)?})))
        .collect();
    let source = read(&folder.join(&suite.file.model_name))?;
    let ids = ids(&source);
    let conversions = conversions(suite, model);
    let process = |(number, name): (usize, &&str)| {
        let name = ids.get(*name).map_or(*name, String::as_str);
        json!({"id": format!("p{number}"), "executable": true,
            "nodes": [{"id": format!("s{number}"), "type": "startEvent"},
                {"id": format!("d{number}"), "type": "businessRuleTask",
                 "configuration": {"kind": "dmn", "decisionRef": name, "resultVariable": "the result", "inputs": conversions}},
                {"id": format!("e{number}"), "type": "endEvent"}],
            "edges": [{"id": format!("a{number}"), "source": format!("s{number}"), "target": format!("d{number}")},
                {"id": format!("b{number}"), "source": format!("d{number}"), "target": format!("e{number}")}]})
    };
    let processes: Vec<Value> = names(&suite.file).iter().enumerate().map(process).collect();
    Ok(
        json!({"bpmn": {"processes": processes}, "dmn": {"fileName": suite.file.model_name, "sourceXml": source,
        "importedDocuments": imported?}}),
    )
}

async fn publish(
    scene: &Scene,
    suite: &Suite,
    model: &Model,
    number: usize,
) -> Result<Result<String, String>> {
    let body = json!({"slug": format!("tck-{number}"), "displayName": suite.relative, "description": "",
        "definition": definition(suite, model)?});
    let created = scene.client().post("/api/workflows", &body).await?;
    if !created.ok() {
        return Ok(Err(format!("create {}", created.refusal())));
    }
    let id = created.data()?["id"].as_str().context("a created workflow has an id")?.to_owned();
    let published = scene.client().post(&format!("/api/workflows/{id}/publish"), &json!({})).await?;
    Ok(if published.ok() { Ok(id) } else { Err(format!("publish {}", published.refusal())) })
}

async fn decide(
    scene: &Scene,
    suite: &Suite,
    workflow: &str,
    model: &Model,
    case: &TestCase,
) -> Result<Outcome> {
    let names = names(&suite.file);
    for result in &case.results {
        let name = called(case, result);
        let place = names.iter().position(|known| *known == name).unwrap_or_default();
        let mut input = tck::inputs(case, model);
        let types: HashMap<_, _> = tck::temporal_inputs(case, model).into_iter().collect();
        input["types"] = json!(types);
        let body = json!({"processId": format!("p{place}"), "input": input});
        let started = scene.client().post(&format!("/api/workflows/{workflow}/runs"), &body).await?;
        let failed = |reason: String| Ok(Outcome::Failed { reason: format!("{}: {reason}", case.id) });
        if !started.ok() {
            return failed(format!("run {}", started.refusal()));
        }
        let run = started.data()?;
        let whole = &run["output"]["the result"];
        // A service with several outputs gives a context of them.
        let output = match (case.kind, whole.get(&result.name)) {
            (Invocable::Service, Some(own)) if !tck::matches_json(whole, result) => own,
            _ => whole,
        };
        if !tck::matches_json(output, result) {
            let state = run["state"].as_str().unwrap_or_default();
            let Some(_) = run["hasIncident"].as_bool().filter(|incident| *incident && result.error) else {
                return failed(format!(
                    "{}: {} was expected, not {output} (run {state})",
                    result.name, result.expected
                ));
            };
        }
    }
    Ok(Outcome::Passed)
}
