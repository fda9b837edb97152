//! Requests as the use cases get them.

use heddle_api::contract::MediaType;
use heddle_api::operations::ops;
use heddle_api::operations::{decode_body, decode_query};
use heddle_api::wire::decisions::DecisionLogicBody;
use heddle_api::wire::runs::{Decision, RunEventType, RunInclude, RunState, WaitFor};
use heddle_api::wire::tasks::TaskState;
use heddle_api::wire::workflows::WorkflowSort;
use heddle_kernel::Patch;
use serde_json::{Value, json};

#[test]
fn a_start_is_read_with_all_its_members() {
    let sent = json!({ "input": { "days": 3 }, "version": 2, "processId": "p", "businessKey": "b",
        "correlationKey": "c", "startNodeId": "s", "wait": "completion", "timeoutMs": 60000 });
    let start = decode_body::<ops::StartRun>(MediaType::Json, sent.to_string().as_bytes()).unwrap();
    assert_eq!(Value::Object(start.input.unwrap()), json!({ "days": 3 }));
    assert_eq!(
        (start.version, start.timeout_ms, start.wait),
        (Some(2), Some(60_000), Some(WaitFor::Completion))
    );
    let texts = [start.process_id, start.business_key, start.correlation_key, start.start_node_id];
    assert_eq!(texts.map(Option::unwrap), ["p", "b", "c", "s"]);
    let empty = decode_body::<ops::StartRun>(MediaType::Json, b"").unwrap();
    assert_eq!((empty.input, empty.version, empty.wait), (None, None, None));
}

#[test]
fn a_decision_is_read_with_all_its_members() {
    let sent = json!({ "decision": "move", "nodeId": "n", "nodeInstanceId": "i", "incidentId": "x", "feedback": "",
        "variables": { "a": null }, "target": "t" });
    let decision = decode_body::<ops::DecideRun>(MediaType::Json, sent.to_string().as_bytes()).unwrap();
    assert_eq!((decision.decision, decision.feedback.as_deref()), (Decision::Move, Some("")));
    let texts = [decision.node_id, decision.node_instance_id, decision.incident_id, decision.target];
    assert_eq!(texts.map(Option::unwrap), ["n", "i", "x", "t"]);
    assert_eq!(
        Value::Object(decision.variables.unwrap()),
        json!({ "a": null }),
        "null is a value of a variable"
    );
}

#[test]
fn a_definition_is_kept_member_for_member_beside_its_typed_view() {
    let definition = json!({ "edges": [], "nodes": [{ "type": "task", "id": "b", "bpmn": null,
        "configuration": { "z": 1.50, "a": { "deep": [null, {}] } } }], "schemaVersion": null });
    let sent = json!({ "definition": definition, "revision": 4 });
    let saved = decode_body::<ops::SaveDraft>(MediaType::Json, sent.to_string().as_bytes()).unwrap();
    let Patch::Value(kept) = saved.definition else { panic!("no definition") };
    assert_eq!((kept.json.clone(), saved.revision), (definition, Some(4)));
    let members: Vec<_> = kept.json.as_object().unwrap().keys().map(String::as_str).collect();
    assert!(members.contains(&"schemaVersion"), "null stays where it was sent: {members:?}");
    assert_eq!(kept.typed.nodes.unwrap()[0].id.as_deref(), Some("b"));
}

#[test]
fn lists_are_asked_for_by_name() {
    let runs = decode_query::<ops::ListRuns>("state=waiting&hasIncident=false&version=3&nodeId=n&correlationKey=c&waitingLongerThan=P1DT1S&limit=7&cursor=abc").unwrap();
    assert_eq!(
        (runs.state, runs.has_incident, runs.version),
        (Some(RunState::Waiting), Some(false), Some(3))
    );
    assert_eq!(
        (runs.limit, runs.waiting_longer_than.map(|longer| longer.millis())),
        (Some(7), Some(86_401_000))
    );
    assert_eq!(
        (runs.node_id.as_deref(), runs.correlation_key.as_deref(), runs.cursor.as_deref()),
        (Some("n"), Some("c"), Some("abc"))
    );
    let tasks =
        decode_query::<ops::ListHumanTasks>("assignee=me&state=completed&due=2030-01-01T00:00:00%2B02:00")
            .unwrap();
    assert_eq!((tasks.assignee.as_deref(), tasks.state), (Some("me"), Some(TaskState::Completed)));
    assert_eq!(tasks.due.unwrap().to_string(), "2029-12-31T22:00:00.000Z");
    for (word, sort) in [
        ("createdAt", WorkflowSort::CreatedAt),
        ("-updatedAt", WorkflowSort::UpdatedAtDescending),
        ("-displayName", WorkflowSort::DisplayNameDescending),
    ] {
        assert_eq!(decode_query::<ops::ListWorkflows>(&format!("sort={word}")).unwrap().sort, Some(sort));
    }
    let events = decode_query::<ops::ListRunEvents>("after=0&types=run.started,task.created").unwrap();
    assert_eq!(
        (events.after, events.types.unwrap()),
        (Some(0), vec![RunEventType::RunStarted, RunEventType::TaskCreated])
    );
    let one = decode_query::<ops::GetRun>("include=children").unwrap();
    assert_eq!(one.include, Some(vec![RunInclude::Children]));
    let cancel = decode_query::<ops::CancelRun>("reason=&purge=true").unwrap();
    assert_eq!((cancel.reason.as_deref(), cancel.purge, cancel.compensate), (Some(""), Some(true), None));
}

#[test]
fn whether_a_structure_was_given_beside_a_document_is_told() {
    let given = |sent: Value| {
        let body =
            decode_body::<ops::SaveDecisionLogic>(MediaType::Json, sent.to_string().as_bytes()).unwrap();
        let DecisionLogicBody::Json(request) = body else { panic!("not JSON") };
        let (model, given) = request.model();
        (given, model.source_xml.is_some())
    };
    let cases = [
        (json!({}), (false, false)),
        (json!({ "revision": 3 }), (false, false)),
        (json!({ "sourceXml": "<a/>" }), (false, true)),
        // An empty list says that there shall be none.
        (json!({ "decisions": [] }), (true, false)),
        (json!({ "sourceXml": "<a/>", "imports": [] }), (true, true)),
        (json!({ "sourceXml": "<a/>", "name": "n" }), (true, true)),
        (json!({ "organizationUnits": [] }), (true, false)),
    ];
    for (sent, expected) in cases {
        assert_eq!(given(sent.clone()), expected, "{sent}");
    }
}
