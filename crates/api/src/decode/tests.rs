use serde_json::json;

use super::*;
use crate::contract::MediaType;
use crate::operations::{decode_body, decode_path, decode_query, ops};
use crate::wire::definition::Definition;
use crate::wire::runs::RunInclude;
use crate::wire::transform::TransformBody;
use crate::wire::workflows::{CreateWorkflow, WorkflowSort, WorkflowState};
use heddle_kernel::Patch;

fn found(problems: &Problems) -> Vec<(&str, &str)> {
    problems.0.iter().map(|detail| (detail.field.as_deref().unwrap_or(""), detail.reason.as_str())).collect()
}

fn create(body: &str) -> Result<CreateWorkflow, Problems> {
    decode_body::<ops::CreateWorkflow>(MediaType::Json, body.as_bytes())
}

fn with_definition(definition: &Value) -> String {
    json!({"slug": "a", "displayName": "A", "description": "", "definition": definition}).to_string()
}

#[test]
fn the_definition_is_absent_null_or_kept_as_sent() {
    let absent = create(r#"{"slug":"a","displayName":"A","description":""}"#).unwrap();
    assert_eq!(absent.definition, Patch::Absent);
    assert_eq!(absent.folder_id, Patch::Absent);
    let null = create(&with_definition(&Value::Null)).unwrap();
    assert_eq!(null.definition, Patch::Null);
    let sent = json!({"nodes": [{"id": "n", "type": "task", "bpmn": null}], "schemaVersion": 1});
    let value = create(&with_definition(&sent)).unwrap();
    let Patch::Value(Definition { json, typed }) = value.definition else { unreachable!() };
    assert_eq!(json, sent);
    assert_eq!(typed.schema_version, Some(1));
    assert_eq!(typed.nodes.unwrap()[0].bpmn, None);
}

#[test]
fn every_problem_of_a_body_is_told_with_its_place() {
    let body = json!({
        "slug": "Not A Slug", "displayName": "", "extra": 1, "folderId": 7,
        "definition": {
            "schemaVersion": "one",
            "nodes": [{"id": "a"}, {"id": "b", "bpmn": {"eventDefinitions": [{"timeDuration": 5, "odd": 1}]}}],
            "edges": {},
        },
    });
    let problems = create(&body.to_string()).unwrap_err();
    let mut told = found(&problems);
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("definition.edges", "wrongType"),
            ("definition.nodes[1].bpmn.eventDefinitions[0].odd", "unknownField"),
            ("definition.nodes[1].bpmn.eventDefinitions[0].timeDuration", "wrongType"),
            ("definition.schemaVersion", "wrongType"),
            ("description", "required"),
            ("displayName", "tooShort"),
            ("extra", "unknownField"),
            ("folderId", "wrongType"),
            ("slug", "pattern"),
        ]
    );
    assert!(problems.0.iter().all(|detail| detail.message.ends_with('.')));
}

#[test]
fn rules_have_reasons() {
    let long = "x".repeat(201);
    let cases = [
        (json!({"slug": "a", "displayName": long, "description": ""}), ("displayName", "tooLong")),
        (
            json!({"slug": "a", "displayName": "ä".repeat(200), "description": null}),
            ("description", "wrongType"),
        ),
        (json!({"slug": "a-", "displayName": "A", "description": ""}), ("slug", "pattern")),
        (json!({"slug": "a", "displayName": "A", "description": "", "id": "x"}), ("id", "unknownField")),
        (json!([]), ("", "wrongType")),
        (json!("text"), ("", "wrongType")),
        (Value::Null, ("", "wrongType")),
    ];
    for (body, expected) in cases {
        let problems = create(&body.to_string()).unwrap_err();
        assert_eq!(found(&problems), [expected], "{body}");
    }
    let decide = |body: Value| {
        let text = body.to_string();
        decode_body::<ops::DecideRun>(MediaType::Json, text.as_bytes())
    };
    assert_eq!(found(&decide(json!({"decision": "perhaps"})).unwrap_err()), [("decision", "notAllowed")]);
    assert!(decide(json!({"decision": "approve", "variables": {"a": [1]}})).is_ok());
    let start = |body: Value| {
        let text = body.to_string();
        decode_body::<ops::StartRun>(MediaType::Json, text.as_bytes())
    };
    assert_eq!(found(&start(json!({"timeoutMs": 60_001})).unwrap_err()), [("timeoutMs", "outOfRange")]);
    assert_eq!(
        found(&start(json!({"version": 4_294_967_296_u64})).unwrap_err()),
        [("version", "outOfRange")]
    );
    assert_eq!(found(&start(json!({"input": null})).unwrap_err()), [("input", "wrongType")]);
    assert_eq!(found(&start(json!({"wait": "none", "input": []})).unwrap_err()), [("input", "wrongType")]);
}

#[test]
fn hostile_bodies_are_refused() {
    let deep =
        format!(r#"{{"slug":"a","displayName":"A","description":"","definition":{}"#, "[".repeat(100_000));
    let cases: [(&str, &str, &str); 6] = [
        (r#"{"slug":"a","slug":"b","displayName":"A","description":""}"#, "slug", "duplicateKey"),
        (r#"{"slug":"a","displayName":"A\u0000","description":""}"#, "displayName", "notAllowed"),
        ("", "", "malformed"),
        ("<definitions/>", "", "malformed"),
        (r#"{"slug":"a","displayName":"\ud800","description":""}"#, "", "malformed"),
        (&deep, "", "tooDeep"),
    ];
    for (body, field, reason) in cases {
        let problems = create(body).unwrap_err();
        let first = &problems.0[0];
        assert_eq!(first.reason, reason, "{}", body.chars().take(60).collect::<String>());
        if reason != "tooDeep" {
            assert_eq!(first.field.as_deref().unwrap_or(""), field);
        }
    }
    // As many nested sub-processes as the depth allows, with an unknown member at the bottom.
    let mut nested = json!({"odd": 1});
    for _ in 0..10 {
        nested = json!({"nodes": [{"bpmn": {"subProcess": nested}}]});
    }
    let problems = create(&with_definition(&nested)).unwrap_err();
    assert_eq!(problems.0.len(), 1);
    assert!(problems.0[0].field.as_deref().unwrap().ends_with(".subProcess.odd"), "{problems:?}");
    let flood: Value = (0..10_000).map(|n| json!({"odd": n})).collect();
    assert_eq!(create(&with_definition(&json!({"nodes": flood}))).unwrap_err().0.len(), MAX_DETAILS);
}

#[test]
fn a_patch_keeps_absent_and_null_apart() {
    let patch = |body: &str| decode_body::<ops::UpdateWorkflow>(MediaType::Json, body.as_bytes());
    assert_eq!(patch("{}").unwrap().folder_id, Patch::Absent);
    assert_eq!(patch(r#"{"folderId":null}"#).unwrap().folder_id, Patch::Null);
    assert_eq!(patch(r#"{"folderId":"f"}"#).unwrap().folder_id, Patch::Value("f".to_owned()));
    let problems = patch(r#"{"displayName":null,"state":"published","folderId":""}"#).unwrap_err();
    let mut told = found(&problems);
    told.sort_unstable();
    assert_eq!(told, [("displayName", "wrongType"), ("folderId", "tooShort"), ("state", "unknownField")]);
}

#[test]
fn an_instant_must_be_one() {
    let token = |at: &str| {
        let body = json!({"name": "n", "expiresAt": at}).to_string();
        decode_body::<ops::CreateApiToken>(MediaType::Json, body.as_bytes())
    };
    assert!(token("2030-01-01T00:00:00Z").unwrap().expires_at.is_some());
    for wrong in ["2030-01-01", "tomorrow", "2030-13-01T00:00:00Z"] {
        assert_eq!(found(&token(wrong).unwrap_err()), [("expiresAt", "format")], "{wrong}");
    }
}

#[test]
fn an_optional_body_may_be_absent_a_needed_one_not() {
    assert!(decode_body::<ops::StartRun>(MediaType::Json, b"").is_ok());
    let problems = create("").unwrap_err();
    assert_eq!(found(&problems), [("", "malformed")]);
}

#[test]
fn bodies_of_other_media_types() {
    let xml = decode_body::<ops::PreviewTransform>(MediaType::Xml, b"<a/>").unwrap();
    assert_eq!(xml, TransformBody::Xml(b"<a/>".to_vec()));
    let text = decode_body::<ops::InstallLicence>(MediaType::Text, b"-----BEGIN").unwrap();
    assert_eq!(text.licence, "-----BEGIN");
    let problems = decode_body::<ops::InstallLicence>(MediaType::Text, b"").unwrap_err();
    assert_eq!(found(&problems), [("licence", "tooShort")]);
}

#[test]
fn queries_are_typed_and_closed() {
    type List = ops::ListWorkflows;
    let query =
        decode_query::<List>("limit=10&state=draft&starred=true&q=a+b%20%C3%A4&sort=-createdAt").unwrap();
    assert_eq!(query.limit, Some(10));
    assert_eq!(query.state, Some(WorkflowState::Draft));
    assert_eq!(query.starred, Some(true));
    assert_eq!(query.q.as_deref(), Some("a b ä"));
    assert_eq!(query.sort, Some(WorkflowSort::CreatedAtDescending));
    assert_eq!(decode_query::<List>("").unwrap().limit, None);
    let cases = [
        ("limit=0", "limit", "outOfRange"),
        ("limit=201", "limit", "outOfRange"),
        ("limit=ten", "limit", "wrongType"),
        ("limit=%2B1", "limit", "wrongType"),
        ("limit=1&limit=2", "limit", "duplicateKey"),
        ("state=odd", "state", "notAllowed"),
        ("starred=1", "starred", "wrongType"),
        ("page=1", "page", "unknownField"),
        ("q=%FF", "q", "malformed"),
        ("q=%00", "q", "malformed"),
        ("q=", "q", "tooShort"),
        ("cursor=", "cursor", "tooShort"),
    ];
    for (raw, field, reason) in cases {
        assert_eq!(found(&decode_query::<List>(raw).unwrap_err()), [(field, reason)], "{raw}");
    }
    let include = decode_query::<ops::GetRun>("include=variables,children").unwrap();
    assert_eq!(include.include, Some(vec![RunInclude::Variables, RunInclude::Children]));
    let odd = decode_query::<ops::GetRun>("include=variables,odd").unwrap_err();
    assert_eq!(found(&odd), [("include[1]", "notAllowed")]);
    type Runs = ops::ListRuns;
    assert!(decode_query::<Runs>("waitingLongerThan=P1DT2H").is_ok());
    for wrong in ["P", "PT", "1h", "P1M", "-PT1H"] {
        assert!(decode_query::<Runs>(&format!("waitingLongerThan={wrong}")).is_err(), "{wrong}");
    }
}

#[test]
fn an_operation_without_a_400_ignores_unknown_parameters() {
    assert!(decode_query::<ops::GetLiveness>("probe=1").is_ok());
    assert!(decode_query::<ops::GetWorkflow>("probe=1").is_err());
}

#[test]
fn what_is_no_id_names_nothing() {
    let read = |id: &'static str| decode_path::<ops::GetWorkflow>(move |_| Some(id));
    assert!(read("01890a5d-ac96-774b-bcce-b302099a8057").is_ok());
    for wrong in ["", "x", "01890A5D-AC96-774B-BCCE-B302099A8057x", "../etc"] {
        assert_eq!(read(wrong).unwrap_err().code, crate::ErrorCode::NotFound, "{wrong}");
    }
    assert!(decode_path::<ops::GetWorkflow>(|_| None).is_err());
}

#[test]
fn boxed_expressions_are_judged_by_their_kind_and_in_little_time() {
    use crate::wire::decisions::SaveDecisionLogic;
    let save = |expression: &str| {
        let text = format!(r#"{{"decisions": [{{"id": "d", "expression": {expression}}}]}}"#);
        super::from_json::<SaveDecisionLogic>(text.as_bytes())
    };
    let place = |expression: &str| {
        let problems = save(expression).unwrap_err();
        let detail = &problems.0[0];
        format!("{} {}", detail.field.clone().unwrap_or_default(), detail.reason)
    };
    assert!(save(r#"{"type": "list", "items": [{"type": "literalExpression", "text": "1"}]}"#).is_ok());
    let at = |more: &str, reason: &str| format!("decisions[0].expression{more} {reason}");
    assert_eq!(place(r#"{"type": "sum"}"#), at(".type", "notAllowed"));
    assert_eq!(place(r#"{"text": "1"}"#), at(".type", "required"));
    let wrong = r#"{"type": "list", "items": [{"type": "literalExpression", "texts": "1"}]}"#;
    assert_eq!(place(wrong), at(".items[0].texts", "unknownField"));
    assert_eq!(
        place(r#"{"type": "conditional", "if": {"type": "list", "items": 1}}"#),
        at(".if.items", "wrongType")
    );
    // `in` is a member of four kinds: a judge that tried them all would not end.
    for (kind, bottom) in
        [("for", r#"{"type": "context"}"#), ("every", r#"{"type": "context", "items": []}"#)]
    {
        let deep =
            format!(r#"{}{bottom}{}"#, format!(r#"{{"type": "{kind}", "in": "#).repeat(58), "}".repeat(58));
        assert_eq!(save(&deep).is_ok(), kind == "for");
    }
}

#[test]
fn a_whole_number_with_a_point_is_an_integer_where_one_is_asked_for() {
    let read = |body: &str| decode_body::<ops::StartRun>(MediaType::Json, body.as_bytes());
    let start = read(r#"{"version":2.0,"timeoutMs":1e3,"input":{"n":1.0,"m":[2.0]}}"#).unwrap();
    assert_eq!((start.version, start.timeout_ms), (Some(2), Some(1000)));
    let input = Value::Object(start.input.unwrap());
    assert_eq!((input["n"].to_string(), input["m"][0].to_string()), ("1.0".to_owned(), "2.0".to_owned()));
    assert_eq!(found(&read(r#"{"version":2.5}"#).unwrap_err()), [("version", "wrongType")]);
    let definition = json!({"schemaVersion": 1.0, "nodes": [{"id": "n", "configuration": {"retries": 3.0}}]});
    let created = create(&with_definition(&definition)).unwrap();
    let Patch::Value(Definition { json, typed }) = created.definition else { unreachable!() };
    assert_eq!(typed.schema_version, Some(1));
    assert_eq!(json["nodes"][0]["configuration"]["retries"].to_string(), "3.0", "what is free stays as sent");
}

#[test]
fn a_parameter_of_an_operation_without_any_is_named() {
    let refused = decode_query::<ops::CreateWorkflow>("foo=1").unwrap_err();
    assert_eq!(found(&refused), [("foo", "unknownField")]);
}
