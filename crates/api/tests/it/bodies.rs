//! Every row's body against the rules that its document states: each broken one is told with its member and reason.

use heddle_api::operations::{BodyMedia, OperationId};
use serde_json::{Value, json};

use crate::support::{BODIES, ReadBody, body_schema, document_of, example, one, resolved, told};

#[test]
fn every_row_with_a_body_is_tried() {
    let known: Vec<_> = BODIES.iter().map(|(id, _)| *id).collect();
    for id in OperationId::ALL {
        // What a service outside sends to a hook has no rules of ours.
        let has_rules = id.spec().body != BodyMedia::None && *id != OperationId::ReceiveHook;
        assert_eq!(known.contains(id), has_rules, "{id:?}");
    }
}

fn send(read: ReadBody, body: &Value) -> Vec<(String, String)> {
    told(read(body.to_string().as_bytes()))
}

/// Tries each member of each body's schema.
fn each_member(mut try_one: impl FnMut(OperationId, ReadBody, &str, &Value)) {
    for (id, read) in BODIES {
        let members = body_schema(id.spec())["properties"].as_object().unwrap();
        for (name, schema) in members {
            try_one(*id, *read, name, schema);
        }
    }
}

/// The example of a row with one member as given.
fn with(id: OperationId, name: &str, value: Value) -> Value {
    let mut body = example(id.spec());
    body[name] = value;
    body
}

fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn every_example_is_taken() {
    for (id, read) in BODIES {
        assert_eq!(send(*read, &example(id.spec())), [], "{id:?}");
    }
}

#[test]
fn a_needed_member_that_is_missing_is_named() {
    let mut tried = 0;
    for (id, read) in BODIES {
        let required = body_schema(id.spec())["required"].as_array().cloned().unwrap_or_default();
        for name in required.iter().filter_map(Value::as_str) {
            let mut body = example(id.spec());
            body.as_object_mut().unwrap().remove(name).unwrap();
            assert_eq!(send(*read, &body), one(name, "required"), "{id:?}");
            tried += 1;
        }
        let mut all: Vec<_> = required.iter().filter_map(Value::as_str).collect();
        all.sort_unstable();
        let empty: Vec<_> = send(*read, &json!({})).into_iter().map(|(field, _)| field).collect();
        assert_eq!(empty, all, "{id:?} tells all that is missing at once");
    }
    assert!(tried > 25, "{tried}");
}

#[test]
fn an_unknown_member_is_named_whatever_its_value() {
    // What a model is asked goes to its provider with members that only that one knows.
    for (id, read) in BODIES.iter().filter(|(id, _)| !id.infers()) {
        for value in [Value::Null, json!(1), json!({ "deep": [1] })] {
            assert_eq!(send(*read, &with(*id, "odd", value)), one("odd", "unknownField"), "{id:?}");
        }
        // What the service sets itself can't be set.
        for name in ["id", "createdAt", "updatedBy"] {
            let schema = body_schema(id.spec());
            if schema["properties"].get(name).is_none() {
                assert_eq!(send(*read, &with(*id, name, json!("x"))), one(name, "unknownField"), "{id:?}");
            }
        }
    }
}

#[test]
fn what_a_model_is_asked_passes_with_members_that_nobody_knows_here() {
    for (id, read) in BODIES.iter().filter(|(id, _)| id.infers()) {
        for value in [Value::Null, json!(1), json!({ "deep": [1] })] {
            assert_eq!(send(*read, &with(*id, "odd", value)), [], "{id:?}");
        }
    }
}

#[test]
fn a_member_that_stands_twice_is_named() {
    for (id, read) in BODIES {
        let body = example(id.spec());
        let Some((name, value)) = body.as_object().unwrap().iter().next() else { continue };
        let text = body.to_string();
        let twice = format!("{{\"{name}\":{value},{}", &text[1..]);
        assert_eq!(told(read(twice.as_bytes())), one(name, "duplicateKey"), "{id:?}");
    }
}

#[test]
fn a_value_of_another_type_is_named() {
    let mut tried = 0;
    each_member(|id, read, name, schema| {
        let types = types(schema);
        let wrong = match types.first() {
            Some(&"string") => json!(7),
            Some(&("integer" | "number")) => json!("7"),
            Some(&"boolean") => json!("true"),
            Some(&"array") => json!({ "0": 1 }),
            Some(&"object") if types.len() <= 2 => json!([1]),
            _ => return,
        };
        assert_eq!(send(read, &with(id, name, wrong)), one(name, "wrongType"), "{id:?}");
        tried += 1;
    });
    assert!(tried > 80, "{tried}");
}

#[test]
fn null_is_taken_only_where_it_says_something() {
    let mut refused = 0;
    each_member(|id, read, name, schema| {
        let schema = resolved(document_of(id.spec()), schema);
        let in_choice = |choices: &Value| {
            choices.as_array().is_some_and(|choices| choices.iter().any(|one| one["type"] == "null"))
        };
        let nullable = types(schema).contains(&"null") || in_choice(&schema["oneOf"]);
        let found = send(read, &with(id, name, Value::Null));
        if nullable {
            assert_eq!(found, [], "{id:?} {name}");
        } else {
            let told = |(field, reason): &(String, String)| {
                field == name && ["wrongType", "notAllowed"].contains(&reason.as_str())
            };
            assert!(!found.is_empty() && found.iter().all(told), "{id:?} {name}: {found:?}");
            refused += 1;
        }
    });
    assert!(refused > 60, "{refused}");
}

#[test]
fn a_text_keeps_to_its_length() {
    let mut tried = 0;
    each_member(|id, read, name, schema| {
        let first =
            |found: Vec<(String, String)>| found.into_iter().map(|(_, reason)| reason).collect::<Vec<_>>();
        if let Some(most) = schema["maxLength"].as_u64() {
            // Characters are counted, not bytes.
            let long = "ä".repeat(usize::try_from(most).unwrap() + 1);
            let found = send(read, &with(id, name, json!(long)));
            assert!(found.iter().all(|(field, _)| field == name), "{id:?}: {found:?}");
            assert!(first(found).contains(&"tooLong".to_owned()), "{id:?} {name}");
            tried += 1;
        }
        if let Some(least) = schema["minLength"].as_u64().filter(|least| *least > 0) {
            let short = "x".repeat(usize::try_from(least).unwrap() - 1);
            assert!(
                first(send(read, &with(id, name, json!(short)))).contains(&"tooShort".to_owned()),
                "{id:?} {name}"
            );
            tried += 1;
        }
    });
    assert!(tried > 60, "{tried}");
}

#[test]
fn a_number_keeps_to_its_range_and_a_list_to_its_length() {
    let mut tried = 0;
    each_member(|id, read, name, schema| {
        let mut refused = |value: Value, reason: &str| {
            assert_eq!(send(read, &with(id, name, value.clone())), one(name, reason), "{id:?} {value}");
            tried += 1;
        };
        if types(schema).contains(&"integer") {
            let (least, most) = (schema["minimum"].as_i64().unwrap(), &schema["maximum"]);
            if let Some(least) = least.checked_sub(1) {
                refused(json!(least), "outOfRange");
            }
            if let Some(most) = most.as_i64().and_then(|most| most.checked_add(1)) {
                refused(json!(most), "outOfRange");
            }
            refused(json!(u64::MAX), "outOfRange");
            refused(json!(1.5), "wrongType");
        }
        if let Some(most) = schema["maxItems"].as_u64() {
            let long = vec![schema_sample(&schema["items"], id); usize::try_from(most).unwrap() + 1];
            refused(json!(long), "tooLong");
        }
        if schema["minItems"].as_u64().is_some_and(|least| least > 0) {
            refused(json!([]), "tooShort");
        }
    });
    assert!(tried > 20, "{tried}");
}

/// Something that the schema of a list's item allows.
fn schema_sample(schema: &Value, id: OperationId) -> Value {
    let schema = resolved(document_of(id.spec()), schema);
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    if types(schema).contains(&"string") {
        return json!("x");
    }
    if types(schema).contains(&"integer") {
        return json!(0);
    }
    // Every member of a question of a batch may come from the batch.
    if matches!(id, OperationId::CheckAccess | OperationId::EvaluateAccesses) {
        return json!({});
    }
    if matches!(id, OperationId::CreateGroup | OperationId::UpdateGroup | OperationId::SetMember) {
        return json!({ "role": "x", "expiresAt": null });
    }
    // What a model is asked has messages and tools of any members.
    if id.infers() && types(schema).contains(&"object") {
        return json!({});
    }
    if id == OperationId::ImportModels {
        return json!({ "model": "m" });
    }
    if id == OperationId::UploadVectorFiles {
        return json!({ "name": "x.txt", "text": "x" });
    }
    assert!(matches!(id, OperationId::CreateRole | OperationId::UpdateRole), "{id:?}: {schema}");
    json!({ "resourceType": "workflow", "action": "read", "resourceId": "*", "effect": "allow" })
}

#[test]
fn what_is_no_json_or_no_object_is_told_as_such() {
    let malformed: [&[u8]; 6] = [b"{", b"[1,]", b"{'a':1}", b"{} {}", b"\xff", b"<xml/>"];
    for (id, read) in BODIES {
        for text in malformed {
            let problems = read(text).unwrap_err();
            assert_eq!(problems.0[0].reason, "malformed", "{id:?} {text:?}");
            assert!(problems.0[0].extra["line"].is_u64() && problems.0[0].extra["column"].is_u64());
        }
        for other in [json!([]), json!("text"), json!(1), json!(true), Value::Null] {
            assert_eq!(send(*read, &other), one("", "wrongType"), "{id:?} {other}");
        }
        assert_eq!(read(b"").is_ok(), id.spec().body.is_optional(), "{id:?} without a body");
    }
}
