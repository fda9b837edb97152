//! Validating: always an answer, and what it says depends on the profile.

use heddle_kernel::WorkflowId;
use heddle_policy::capability::WorkflowValidate;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::definitions::{ValidationProfile, ValidationReport};
use crate::records::Draft;
use crate::tests::support::{World, caller, chain, event, model, on_workflow, review, uuid};

const PROFILES: [ValidationProfile; 5] = [
    ValidationProfile::Structural,
    ValidationProfile::Bpel,
    ValidationProfile::Executable,
    ValidationProfile::Full,
    ValidationProfile::CommonExecutable,
];

async fn validate(
    world: &World,
    id: WorkflowId,
    definition: Option<&Value>,
    profile: ValidationProfile,
) -> Result<ValidationReport, UseCaseError> {
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowValidate>(&context, id);
    let definition = definition.map(|document| serde_json::from_value(document.clone()).unwrap());
    world.definitions.validate(&may, &context, definition, profile).await
}

/// A start, these nodes and an end, without messages and signals.
fn bare(nodes: &[(&str, &str, Value)]) -> Value {
    let mut definition = chain(nodes);
    definition.as_object_mut().unwrap().remove("bpmn");
    definition
}

/// A split of two ways that a join of all ways never sees together: it deadlocks.
fn deadlocked() -> Value {
    let condition = json!({ "left": "amount", "operator": "gte", "value": "7" });
    let mut definition = model(
        &[
            ("s", "startEvent", json!({})),
            ("x", "exclusiveGateway", json!({})),
            ("a", "task", json!({})),
            ("b", "task", json!({})),
            ("j", "parallelGateway", json!({})),
            ("e", "endEvent", json!({})),
        ],
        &[("s", "x"), ("x", "a"), ("x", "b"), ("a", "j"), ("b", "j"), ("j", "e")],
    );
    definition["edges"][1]["condition"] = condition;
    definition["nodes"][1]["bpmn"] = json!({ "defaultFlow": "x-b" });
    definition
}

#[tokio::test]
async fn a_sound_definition_is_valid_by_every_profile_that_is_about_it() {
    let world = World::new();
    let id = world.draft("w", &bare(&[])).await;
    for profile in PROFILES {
        let report = validate(&world, id, None, profile).await.unwrap();
        assert!(report.valid && report.executable, "{profile:?}: {:?}", report.diagnostics);
        let analysed = !matches!(profile, ValidationProfile::Structural | ValidationProfile::Bpel);
        assert_eq!(report.soundness.is_some(), analysed, "{profile:?}");
    }
}

#[tokio::test]
async fn each_profile_finds_its_own() {
    let no_engine = bare(&[("a", "scriptTask", json!({ "bpmn": { "activity": { "script": "x = 1" } } }))]);
    let mut no_bpel = bare(&[("c", "intermediateCatchEvent", event("signal sig"))]);
    no_bpel["bpmn"] = json!({ "signals": [{ "id": "sig", "name": "stock" }] });
    let not_common = bare(&[("r", "manualTask", json!({}))]);
    let broken = {
        let mut definition = bare(&[]);
        definition["edges"][0]["target"] = json!("nowhere");
        definition
    };
    use ValidationProfile::{Bpel, CommonExecutable, Executable, Full};
    // Which of the five call it invalid.
    let cases: [(&str, &Value, &[ValidationProfile]); 4] = [
        ("no named language", &no_engine, &[Executable, Full, CommonExecutable]),
        ("no mapping", &no_bpel, &[Bpel, CommonExecutable]),
        ("outside of the sub-class", &not_common, &[CommonExecutable]),
        ("a flow to nowhere", &broken, &PROFILES),
    ];
    let world = World::new();
    let id = world.draft("w", &review()).await;
    for (name, definition, expected) in cases {
        for profile in PROFILES {
            let report = validate(&world, id, Some(definition), profile).await.unwrap();
            let valid = !expected.contains(&profile);
            assert_eq!(report.valid, valid, "{name} by {profile:?}: {:?}", report.diagnostics);
        }
    }
}

#[tokio::test]
async fn a_deadlock_is_told_with_where_it_is() {
    let world = World::new();
    let id = world.draft("w", &deadlocked()).await;
    let report = validate(&world, id, None, ValidationProfile::Executable).await.unwrap();
    let soundness = serde_json::to_value(report.soundness.unwrap()).unwrap();
    let deadlocks = soundness["deadlocks"].as_array().unwrap();
    assert!(deadlocks.iter().any(|one| one.to_string().contains("\"j\"")), "{soundness}");
    for member in ["lackOfSynchronization", "unreachable", "unboundedCycles"] {
        assert!(soundness[member].is_array(), "{member} of {soundness}");
    }
    let structural = validate(&world, id, None, ValidationProfile::Structural).await.unwrap();
    assert!(structural.valid, "{:?}", structural.diagnostics);
}

#[tokio::test]
async fn a_given_definition_is_judged_in_the_drafts_place_and_kept_nowhere() {
    let world = World::new();
    let id = world.draft("w", &chain(&[])).await;
    let mut broken = review();
    broken["edges"][0]["target"] = json!("nowhere");
    let report = validate(&world, id, Some(&broken), ValidationProfile::Full).await.unwrap();
    assert!(!report.valid && !report.executable);
    assert_eq!(world.memory.workflow(id).draft, Draft::Value(chain(&[])));
    assert!(validate(&world, id, None, ValidationProfile::Full).await.unwrap().valid);
}

#[tokio::test]
async fn a_draft_without_a_definition_is_told_and_an_unknown_workflow_is_not_found() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    world.memory.0.lock().workflows.get_mut(&id).unwrap().draft = Draft::Null;
    let report = validate(&world, id, None, ValidationProfile::Full).await.unwrap();
    assert!(!report.valid && !report.executable && report.soundness.is_none());
    assert_eq!(report.diagnostics[0].code, "definitionMissing");
    let gone = validate(&world, WorkflowId(uuid(99)), None, ValidationProfile::Full).await;
    assert!(matches!(gone, Err(UseCaseError::NotFound)), "{gone:?}");
}

#[tokio::test]
async fn a_call_is_told_of_while_it_means_no_published_workflow_or_several() {
    let world = World::new();
    let told = async |called: &str| {
        let calling = bare(&[("call", "callActivity", json!({ "configuration": { "ref": called } }))]);
        let id = world.draft(&format!("w-{}", uuid::Uuid::new_v4()), &calling).await;
        let report = validate(&world, id, None, ValidationProfile::Executable).await.unwrap();
        assert!(report.executable, "{:?}", report.diagnostics);
        let of_calls = report.diagnostics.into_iter().filter(|found| found.code == "calledElsewhere");
        of_calls.map(|found| (found.element_id.unwrap_or_default(), found.message)).collect::<Vec<_>>()
    };
    let process = || {
        let inner = bare(&[]);
        json!({ "bpmn": { "processes": [{ "id": "ship", "nodes": inner["nodes"], "edges": inner["edges"] }] } })
    };
    for name in ["ship", "shipping", &WorkflowId(uuid(77)).to_string()] {
        let found = told(name).await;
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert_eq!(found[0].0, "call");
        assert!(found[0].1.contains(name) && found[0].1.contains("published"), "{found:?}");
    }
    // A draft is not there for a call.
    world.draft("shipping", &process()).await;
    assert_eq!(told("shipping").await.len(), 1);
    let one = world.published("shipping-1", &process()).await;
    for name in ["ship", "shipping-1", &one.to_string()] {
        assert_eq!(told(name).await, [], "{name}");
    }
    world.published("shipping-2", &process()).await;
    let found = told("ship").await;
    assert!(found[0].1.starts_with("2 published definitions have a process or case `ship`"), "{found:?}");
    assert_eq!(told("shipping-2").await, []);
    // What is computed is known when it is reached.
    assert_eq!(told("=name").await, []);
    // A process that its own published version has, and the draft has no more.
    let calling = json!({ "configuration": { "ref": "own" } });
    let mut own = process();
    own["bpmn"]["processes"][0]["id"] = json!("own");
    let itself = world.published("itself", &own).await;
    let draft = bare(&[("call", "callActivity", calling)]);
    let report = validate(&world, itself, Some(&draft), ValidationProfile::Executable).await.unwrap();
    assert!(
        report.diagnostics.iter().any(|found| found.code == "calledElsewhere"),
        "{:?}",
        report.diagnostics
    );
    assert_eq!(told("own").await, []);
    // By its slug it is there as soon as it is published.
    let by_slug = bare(&[("call", "callActivity", json!({ "configuration": { "ref": "first" } }))]);
    let first = world.draft("first", &by_slug).await;
    let report = validate(&world, first, None, ValidationProfile::Executable).await.unwrap();
    assert!(
        report.diagnostics.iter().all(|found| found.code != "calledElsewhere"),
        "{:?}",
        report.diagnostics
    );
}

#[tokio::test]
async fn a_default_that_is_never_filled_in_is_told() {
    let world = World::new();
    let form = json!({ "properties": { "days": { "type": "integer", "default": "1,5" }, "half": { "default": 1 } } });
    let asks = bare(&[("ask", "userTask", json!({ "configuration": { "form": form } }))]);
    let id = world.draft("w", &asks).await;
    let report = validate(&world, id, None, ValidationProfile::Executable).await.unwrap();
    assert!(report.executable);
    let told: Vec<_> = report.diagnostics.iter().filter(|found| found.code == "unfitDefault").collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].message.contains("`days`"), "{told:?}");
    let place = "nodes[1].configuration.form.properties.days.default";
    assert_eq!(told[0].path.as_deref(), Some(place));
}
