//! Members with rules of their own: three values, instants, choices, and the places of what is wrong deep within.

use heddle_api::Operation;
use heddle_api::contract::{MediaType, RequestBody};
use heddle_api::decode::{MAX_DEPTH, MAX_DETAILS, Problems};
use heddle_api::operations::decode_body;
use heddle_api::operations::ops;
use heddle_kernel::Patch;
use serde_json::{Value, json};

use crate::support::{one, told};

fn read<O: Operation>(body: &Value) -> Result<O::Body, Problems> {
    decode_body::<O>(MediaType::Json, body.to_string().as_bytes())
}

fn wrong<O: Operation>(body: Value) -> Vec<(String, String)> {
    told(read::<O>(&body).map(|_| ()))
}

/// A body without the member, with null, and with a value.
fn thrice(body: &Value, name: &str, value: Value) -> [Value; 3] {
    let with = |value: Value| {
        let mut body = body.clone();
        body[name] = value;
        body
    };
    [body.clone(), with(Value::Null), with(value)]
}

/// Reads the three forms of a member.
fn forms<O: Operation, T>(body: &Value, (name, value): (&str, Value), of: impl Fn(O::Body) -> T) -> Vec<T> {
    thrice(body, name, value).iter().map(|body| of(read::<O>(body).unwrap())).collect()
}

#[test]
fn absent_null_and_value_are_three_things() {
    let workflow = json!({ "slug": "a", "displayName": "A", "description": "" });
    let text = |text: &str| Patch::Value(text.to_owned());
    assert_eq!(
        forms::<ops::CreateWorkflow, _>(&workflow, ("folderId", json!("f")), |body| body.folder_id),
        [Patch::Absent, Patch::Null, text("f")]
    );
    assert_eq!(
        forms::<ops::UpdateWorkflow, _>(&json!({}), ("folderId", json!("f")), |body| body.folder_id),
        [Patch::Absent, Patch::Null, text("f")]
    );
    let definitions = forms::<ops::CreateWorkflow, _>(
        &workflow,
        ("definition", json!({ "nodes": null })),
        |body| match body.definition {
            Patch::Absent => "absent".to_owned(),
            Patch::Null => "null".to_owned(),
            Patch::Value(definition) => definition.json.to_string(),
        },
    );
    assert_eq!(definitions, ["absent", "null", "{\"nodes\":null}"]);
    let until = "2030-01-01T00:00:00Z";
    let instant = || Patch::Value(until.parse().unwrap());
    let grant = json!({ "principal": { "kind": "everyone" }, "resourceType": "workflow", "action": "read",
        "resourceId": "*", "effect": "allow" });
    assert_eq!(
        forms::<ops::CreateGrant, _>(&grant, ("expiresAt", json!(until)), |body| body.expires_at),
        [Patch::Absent, Patch::Null, instant()]
    );
    assert_eq!(
        forms::<ops::SetMember, _>(&json!({ "roles": [] }), ("expiresAt", json!(until)), |body| body
            .expires_at),
        [Patch::Absent, Patch::Null, instant()]
    );
}

#[test]
fn a_member_that_may_be_null_may_still_be_needed() {
    assert_eq!(wrong::<ops::SaveDraft>(json!({})), one("definition", "required"));
    assert_eq!(read::<ops::SaveDraft>(&json!({ "definition": null })).unwrap().definition, Patch::Null);
    assert_eq!(wrong::<ops::AssignHumanTask>(json!({})), one("assignee", "required"));
    let released = read::<ops::AssignHumanTask>(&json!({ "assignee": null })).unwrap();
    assert_eq!(released.assignee, Patch::Null);
    let claimed = read::<ops::AssignHumanTask>(&json!({ "assignee": "me" })).unwrap();
    assert_eq!(claimed.assignee, Patch::Value("me".to_owned()));
}

#[test]
fn an_integer_keeps_to_its_range_and_to_the_form_of_json() {
    let revision = |text: &str| {
        let body = format!("{{\"revision\":{text}}}");
        let read = decode_body::<ops::UpdateWorkflow>(MediaType::Json, body.as_bytes());
        read.map(|body| body.revision).map_err(|problems| told(Err(problems)))
    };
    assert_eq!(revision("1"), Ok(Some(1)));
    assert_eq!(revision("9223372036854775807"), Ok(Some(i64::MAX)));
    let refused = [
        ("0", "outOfRange"),
        ("-1", "outOfRange"),
        ("9223372036854775808", "outOfRange"),
        ("18446744073709551616", "outOfRange"),
        ("1.5", "wrongType"),
        ("\"1\"", "wrongType"),
        ("true", "wrongType"),
    ];
    for (text, reason) in refused {
        assert_eq!(revision(text), Err(one("revision", reason)), "{text}");
    }
    for text in ["1e999", "01", "+1", "1.", ".5", "0x1", "Infinity"] {
        assert_eq!(revision(text), Err(one("", "malformed")), "{text}");
    }
}

#[test]
fn an_instant_has_a_date_a_time_and_an_offset() {
    let token = |at: Value| wrong::<ops::CreateApiToken>(json!({ "name": "n", "expiresAt": at }));
    for good in ["2030-01-01T00:00:00Z", "2030-01-01T00:00:00.123456Z", "2030-01-01T02:00:00+02:00"] {
        assert_eq!(token(json!(good)), [], "{good}");
    }
    for bad in [
        "",
        "2030-01-01",
        "2030-01-01T00:00:00",
        "2030-02-30T00:00:00Z",
        "2030-01-01T25:00:00Z",
        "1893456000",
    ] {
        assert_eq!(token(json!(bad)), one("expiresAt", "format"), "{bad}");
    }
    assert_eq!(token(json!(1_893_456_000)), one("expiresAt", "wrongType"));
    assert_eq!(token(Value::Null), one("expiresAt", "wrongType"));
}

#[test]
fn a_choice_takes_its_words_alone() {
    let grant = |effect: &str, kind: &str| {
        wrong::<ops::CreateGrant>(
            json!({ "principal": { "kind": kind, "id": "x" }, "resourceType": "workflow",
            "action": "read", "resourceId": "*", "effect": effect }),
        )
    };
    for kind in ["user", "group", "role", "everyone"] {
        assert_eq!(grant("deny", kind), [], "{kind}");
    }
    assert_eq!(grant("Allow", "user"), one("effect", "notAllowed"));
    assert_eq!(grant("allow", "team"), one("principal.kind", "notAllowed"));
    let run = |wait: &str| wrong::<ops::StartRun>(json!({ "wait": wait }));
    for word in ["none", "firstWait", "completion"] {
        assert_eq!(run(word), [], "{word}");
    }
    assert_eq!(run("forever"), one("wait", "notAllowed"));
    for profile in ["structural", "commonExecutable", "full", "bpel"] {
        assert_eq!(wrong::<ops::ValidateWorkflow>(json!({ "profile": profile })), [], "{profile}");
    }
    assert_eq!(wrong::<ops::ValidateWorkflow>(json!({ "profile": "strict" })), one("profile", "notAllowed"));
    let decisions = ["approve", "reject", "revise", "retry", "skip", "continue", "resume", "suspend", "move"];
    for word in decisions {
        assert_eq!(wrong::<ops::DecideRun>(json!({ "decision": word })), [], "{word}");
    }
}

#[test]
fn what_is_wrong_deep_within_is_told_with_its_path() {
    let role = |grants: Value| wrong::<ops::CreateRole>(json!({ "name": "r", "grants": grants }));
    let good = || json!({ "resourceType": "run", "action": "read", "resourceId": "*", "effect": "allow" });
    let mut odd = good();
    odd["odd"] = json!(1);
    assert_eq!(role(json!([good(), odd])), one("grants[1].odd", "unknownField"));
    assert_eq!(role(json!([{}])).len(), 4, "each missing member of an item");
    assert_eq!(role(json!([good(), 5])), one("grants[1]", "wrongType"));
    let node = |node: Value| {
        wrong::<ops::SaveDraft>(json!({ "definition": { "nodes": [{ "id": "a", "type": "task" }, node] } }))
    };
    let cases = [
        (json!({ "id": 1 }), "definition.nodes[1].id", "wrongType"),
        (
            json!({ "bpmn": { "eventDefinitions": [{ "timeDuration": 5 }] } }),
            "definition.nodes[1].bpmn.eventDefinitions[0].timeDuration",
            "wrongType",
        ),
        (
            json!({ "bpmn": { "isInterrupting": "yes" } }),
            "definition.nodes[1].bpmn.isInterrupting",
            "wrongType",
        ),
        (json!({ "odd name": 1 }), "definition.nodes[1][\"odd name\"]", "unknownField"),
        (json!({ "": 1 }), "definition.nodes[1][\"\"]", "unknownField"),
    ];
    for (sent, field, reason) in cases {
        assert_eq!(node(sent.clone()), one(field, reason), "{sent}");
    }
    let setup = json!({ "token": "t", "organization": { "slug": "Not", "displayName": "" },
        "administrator": { "email": "nobody", "displayName": "A", "password": "short" } });
    let found = wrong::<ops::SetUpInstallation>(setup);
    let fields: Vec<_> = found.iter().map(|(field, reason)| format!("{field} {reason}")).collect();
    assert_eq!(
        fields,
        [
            "administrator.email pattern",
            "administrator.password tooShort",
            "organization.displayName tooShort",
            "organization.slug pattern"
        ]
    );
}

#[test]
fn slugs_and_addresses_follow_their_patterns() {
    let organization =
        |slug: &str| wrong::<ops::CreateOrganization>(json!({ "slug": slug, "displayName": "A" }));
    for good in ["a", "a-b", "2026-q1", &"x".repeat(100)] {
        assert_eq!(organization(good), [], "{good}");
    }
    for bad in ["-", "a-", "-a", "a--b", "A", "a_b", "ä", "a b", "a\n"] {
        assert_eq!(organization(bad), one("slug", "pattern"), "{bad:?}");
    }
    let user = |email: &str| wrong::<ops::CreateUser>(json!({ "email": email, "displayName": "A" }));
    assert_eq!(user("ada@example.com"), []);
    for bad in ["ada", "@example.com", "ada@", "a da@example.com", "ada@exa mple.com", "a@b@c"] {
        assert_eq!(user(bad), one("email", "pattern"), "{bad}");
    }
    let clock = |advance: &str| wrong::<ops::AdvanceTestClock>(json!({ "advance": advance }));
    for good in ["PT1M", "P1D", "P1DT2H3M4.5S", "PT0S"] {
        assert_eq!(clock(good), [], "{good}");
    }
    for bad in ["", "P", "PT", "1M", "P1M", "-PT1M", "PT1.5M"] {
        assert_eq!(clock(bad), one("advance", "pattern"), "{bad}");
    }
}

#[test]
fn a_body_that_would_cost_too_much_is_refused_before_it_does() {
    let deep = |levels: usize| {
        let value = (0..levels).fold(json!(1), |inner, _| json!([inner]));
        wrong::<ops::SubmitCaseEvent>(
            json!({ "correlationKey": "c", "eventType": "t", "idempotencyKey": "i", "payload": value }),
        )
    };
    assert_eq!(deep(MAX_DEPTH - 1), []);
    assert_eq!(deep(MAX_DEPTH)[0].1, "tooDeep");
    let nul = json!({ "correlationKey": "c\u{0}", "eventType": "t", "idempotencyKey": "i", "payload": { "a\u{0}": "\u{0}" } });
    let found: Vec<_> = wrong::<ops::SubmitCaseEvent>(nul).into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(found, ["notAllowed"; 3], "U+0000 can be stored nowhere");
    let many: serde_json::Map<String, Value> = (0..1_000).map(|n| (format!("odd{n}"), json!(n))).collect();
    assert_eq!(wrong::<ops::UpdateWorkflow>(Value::Object(many)).len(), MAX_DETAILS);
}

#[test]
fn payloads_may_be_any_json_and_are_kept_as_they_are() {
    let event = |payload: Value| {
        let body =
            json!({ "correlationKey": "c", "eventType": "t", "idempotencyKey": "i", "payload": payload });
        read::<ops::SubmitCaseEvent>(&body).unwrap().payload
    };
    let payloads = [
        json!(null),
        json!(false),
        json!(0),
        json!(-1.5e-7),
        json!(u64::MAX),
        json!(""),
        json!("ä\u{1F600}\n"),
        json!([]),
        json!({ "a": { "a": [{}] }, "": 1 }),
    ];
    for payload in payloads {
        assert_eq!(event(payload.clone()), payload);
    }
    let body = json!({ "name": "s", "idempotencyKey": "i" });
    assert_eq!(read::<ops::SendSignal>(&body).unwrap().payload, Value::Null, "null when absent");
    let bare = json!({ "correlationKey": "c", "eventType": "t", "idempotencyKey": "i" });
    assert_eq!(wrong::<ops::SubmitCaseEvent>(bare), one("payload", "required"));
}

#[test]
fn a_file_comes_as_json_or_as_itself() {
    use heddle_api::wire::decisions::DecisionLogicBody;
    use heddle_api::wire::transform::TransformBody;
    let bytes = b"\xff\xfe<\0a\0/\0>\0";
    assert_eq!(TransformBody::read(MediaType::Xml, bytes).unwrap(), TransformBody::Xml(bytes.to_vec()));
    assert_eq!(
        DecisionLogicBody::read(MediaType::Xml, bytes).unwrap(),
        DecisionLogicBody::Xml(bytes.to_vec())
    );
    let sent = json!({ "source": { "format": "dmn", "contentBase64": "PGEvPg==" }, "target": "definition" });
    assert!(matches!(read::<ops::PreviewTransform>(&sent).unwrap(), TransformBody::Json(_)));
    assert_eq!(
        wrong::<ops::PreviewTransform>(json!({ "source": { "format": "pdf" } })),
        one("source.format", "notAllowed")
    );
    let text = decode_body::<ops::InstallLicence>(MediaType::Text, "---\"\\\n".as_bytes()).unwrap();
    assert_eq!((text.licence.as_str(), text.force), ("---\"\\\n", None), "the text is taken as it is");
    let long = "x".repeat(65_537);
    let found = told(decode_body::<ops::InstallLicence>(MediaType::Text, long.as_bytes()).map(|_| ()));
    assert_eq!(found, one("licence", "tooLong"), "one set of rules for both forms");
}
