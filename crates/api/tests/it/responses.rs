//! Answers as they are written: their members, and that the documents allow them.

use heddle_api::openapi::{contract_json, platform_json};
use heddle_api::wire;
use heddle_api::wire::envelope::{Data, List};
use heddle_api::wire::runs::{Run, RunState, RunTrigger, RunUsage, TriggerKind};
use heddle_api::wire::tasks::{HumanTask, TaskState};
use heddle_api::wire::workflows::{RunCounts, VersionState, Workflow, WorkflowState, WorkflowVersion};
use heddle_kernel::{Cursor, Page, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp::from_micros(1_750_000_000_123_456);

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Holds a value against the schema of a document.
fn hold(document: &Value, name: &str, value: &Value) {
    let schema =
        json!({ "$ref": format!("#/components/schemas/{name}"), "components": document["components"] });
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<_> = validator.iter_errors(value).map(|one| one.to_string()).collect();
    assert!(wrong.is_empty(), "{name} {value}: {wrong:?}");
    // A schema that allows everything would hold nothing.
    assert!(!validator.is_valid(&json!({})), "{name} allows an empty object");
}

fn workflow() -> Workflow {
    Workflow {
        id: "w".to_owned(),
        slug: "leave".to_owned(),
        display_name: "Leave".to_owned(),
        description: String::new(),
        folder_id: None,
        state: WorkflowState::Draft,
        starred: false,
        revision: 1,
        draft_revision: 1,
        published_version: None,
        has_unpublished_changes: false,
        definition: None,
        run_counts: RunCounts { active: 0, incidents: 0, completed: 0, failed: 0, cancelled: 0 },
        created_at: NOW,
        created_by: "u".to_owned(),
        updated_at: NOW,
        updated_by: "u".to_owned(),
    }
}

fn task() -> HumanTask {
    HumanTask {
        id: "t".to_owned(),
        run_id: Some("r".to_owned()),
        workflow_id: Some("w".to_owned()),
        case_id: None,
        case_type_id: None,
        node_id: "review".to_owned(),
        node_instance_id: "n1".to_owned(),
        name: "Review".to_owned(),
        state: TaskState::Open,
        assignee: None,
        candidate_users: Vec::new(),
        candidate_groups: vec!["buyers".to_owned()],
        due_at: None,
        follow_up_at: None,
        priority: 50,
        form: Value::Null,
        outcomes: Vec::new(),
        created_at: NOW,
        ended_at: None,
        completed_by: None,
    }
}

fn run() -> Run {
    let trigger = RunTrigger { kind: TriggerKind::Manual, name: None, node_id: None, event_id: None };
    Run {
        id: "r".to_owned(),
        workflow_id: "w".to_owned(),
        version: 1,
        process_id: "main".to_owned(),
        state: RunState::Waiting,
        has_incident: false,
        revision: 1,
        business_key: None,
        correlation_key: None,
        parent_run_id: None,
        root_run_id: "r".to_owned(),
        case_id: None,
        trigger,
        input: Some(json!({})),
        output: Some(Value::Null),
        variables: None,
        error: None,
        active_nodes: Vec::new(),
        incidents: Vec::new(),
        human_tasks: vec![task()],
        children: None,
        usage: RunUsage { events: 6 },
        created_at: NOW,
        created_by: None,
        started_at: Some(NOW),
        updated_at: NOW,
        ended_at: None,
    }
}

#[test]
fn answers_as_they_are_written() {
    let version = WorkflowVersion {
        number: 1,
        hash: "ab".to_owned(),
        published_at: NOW,
        published_by: "u".to_owned(),
        change_note: None,
        state: VersionState::Active,
        diagnostics: None,
    };
    insta::assert_json_snapshot!(json!({ "workflow": workflow(), "run": run(), "version": version }));
}

#[test]
fn the_documents_allow_what_is_answered() {
    let contract = contract_json();
    let foldered = Workflow {
        folder_id: Some(Some("f".to_owned())),
        definition: Some(json!({ "nodes": [] }).into()),
        published_version: Some(2),
        ..workflow()
    };
    for answer in [
        workflow(),
        Workflow { folder_id: Some(None), definition: Some(Value::Null.into()), ..workflow() },
        foldered,
    ] {
        hold(contract, "Workflow", &written(&answer));
    }
    let ended = Run {
        state: RunState::Completed,
        output: Some(json!({ "a": 1 })),
        variables: Some(serde_json::Map::new()),
        children: Some(Vec::new()),
        ended_at: Some(NOW),
        ..run()
    };
    let row = Run { input: None, output: None, ..run() };
    for answer in [run(), ended, row] {
        hold(contract, "Run", &written(&answer));
    }
    hold(contract, "HumanTask", &written(&task()));
    hold(platform_json(), "HumanTask", &written(&task()));
}

#[test]
fn absent_and_null_stay_apart_in_answers() {
    let told = |workflow: Workflow| {
        let value = written(&workflow);
        (value.get("folderId").cloned(), value.get("definition").cloned())
    };
    assert_eq!(told(workflow()), (None, None), "what was not sent is not there");
    let null = Workflow { folder_id: Some(None), definition: Some(Value::Null.into()), ..workflow() };
    assert_eq!(told(null), (Some(Value::Null), Some(Value::Null)));
    let value = written(&run());
    for always in
        ["businessKey", "correlationKey", "parentRunId", "caseId", "error", "endedAt", "createdBy", "output"]
    {
        assert_eq!(value.get(always), Some(&Value::Null), "{always} is there when it is null");
    }
    for on_request in ["variables", "children"] {
        assert_eq!(value.get(on_request), None, "{on_request}");
    }
}

#[test]
fn instants_are_written_in_utc_with_milliseconds() {
    let value = written(&run());
    for member in ["createdAt", "startedAt", "updatedAt"] {
        assert_eq!(value[member], "2025-06-15T15:06:40.123Z", "{member}");
    }
}

#[test]
fn envelopes_hold_one_thing_or_a_page_of_them() {
    assert_eq!(written(&Data::of(7)), json!({ "data": 7 }));
    let next = Cursor::after(&("name", 3));
    let page = Page { items: vec![1, 2], next: Some(next.clone()) };
    let list = written(&List::of(page, 2, |item| item * 10));
    assert_eq!(list, json!({ "data": [10, 20], "page": { "nextCursor": next.as_str(), "limit": 2 } }));
    let last = written(&List::of(Page { items: Vec::<i32>::new(), next: None }, 50, |item| item));
    assert_eq!(
        last,
        json!({ "data": [], "page": { "nextCursor": null, "limit": 50 } }),
        "the end is told by null"
    );
    let again = Cursor::from_text(next.as_str().to_owned()).key::<(String, i32)>().unwrap();
    assert_eq!(again, ("name".to_owned(), 3));
    assert!(
        next.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)),
        "it fits a query"
    );
}

macro_rules! words {
    ($($of:ty: $words:expr;)+) => {$({
        let told: Vec<&str> = <$of>::ALL.iter().map(|one| one.as_str()).collect();
        assert_eq!(told, $words, stringify!($of));
        for one in <$of>::ALL {
            assert_eq!(<$of>::parse(one.as_str()), Some(*one));
            assert_eq!(written(one), one.as_str(), "written and parsed by one word");
            assert_eq!(<$of>::parse(&one.as_str().to_uppercase()), None);
        }
    })+};
}

#[test]
fn the_words_are_those_of_the_design() {
    words! {
        wire::workflows::WorkflowState: ["draft", "published", "archived"];
        wire::workflows::VersionState: ["active", "superseded"];
        wire::workflows::Profile: ["structural", "commonExecutable", "full", "bpel"];
        wire::runs::RunState: ["queued", "running", "waiting", "completed", "failed", "cancelled", "suspended"];
        wire::runs::WaitFor: ["none", "firstWait", "completion"];
        wire::runs::Decision: ["approve", "reject", "revise", "retry", "skip", "continue", "resume", "suspend", "move"];
        wire::runs::RunInclude: ["variables", "children"];
        wire::tasks::TaskState: ["open", "completed", "cancelled"];
        wire::transform::SourceFormat: ["bpmn", "dmn", "json"];
        wire::transform::TransformTarget: ["definition", "bpmn", "dmn", "bpel"];
        wire::access::Effect: ["allow", "deny"];
        wire::access::HoldState: ["active", "expired"];
        wire::directory::UserKind: ["person", "service"];
        wire::access::PrincipalKind: ["user", "group", "role", "everyone"];
        wire::conformance::ReportFormat: ["json", "html"];
    }
}
