//! Queries and paths.

use heddle_api::contract::PathParams;
use heddle_api::operations::decode_path;
use heddle_api::operations::{OperationId, OutputKind, ops};
use heddle_api::wire::runs::RunPath;
use heddle_api::wire::tasks::HumanTaskNodePath;
use heddle_api::{ErrorCode, Operation};
use heddle_kernel::{MAX_LIMIT, WorkflowId};
use serde_json::Value;

use crate::support::{QUERIES, ReadQuery, one, query_parameters, told};

#[test]
fn every_row_with_parameters_is_tried() {
    let known: Vec<_> = QUERIES.iter().map(|(id, _)| *id).collect();
    for id in OperationId::ALL {
        let has = !query_parameters(id.spec()).is_empty();
        assert_eq!(known.contains(id), has, "{id:?}");
    }
}

/// Tries each parameter of each row.
fn each_parameter(mut try_one: impl FnMut(OperationId, ReadQuery, &str, &Value)) {
    for (id, read) in QUERIES {
        for parameter in query_parameters(id.spec()) {
            try_one(*id, *read, parameter["name"].as_str().unwrap(), &parameter["schema"]);
        }
    }
}

/// A value that a parameter's schema allows.
fn sample(name: &str, schema: &Value) -> String {
    let words = schema["enum"].as_array().or_else(|| schema["items"]["enum"].as_array());
    match (words, schema["type"].as_str(), schema["format"].as_str()) {
        (Some(words), ..) => words[0].as_str().unwrap().to_owned(),
        (_, Some("integer"), _) => "1".to_owned(),
        (_, Some("boolean"), _) => "true".to_owned(),
        (.., Some("date-time")) => "2030-01-01T00:00:00Z".to_owned(),
        _ if name == "version" => "draft".to_owned(),
        _ if schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("{4}-")) => {
            "2030-01-01".to_owned()
        }
        _ if name == "waitingLongerThan" => "PT1H".to_owned(),
        _ => "x".to_owned(),
    }
}

fn is_required(id: OperationId, name: &str) -> bool {
    query_parameters(id.spec())
        .iter()
        .any(|parameter| parameter["name"] == name && parameter["required"] == true)
}

#[test]
fn a_parameter_is_taken_once_and_by_its_name() {
    let mut tried = 0;
    each_parameter(|id, read, name, schema| {
        let document = crate::support::document_of(id.spec());
        let mut schema = crate::support::resolved(document, schema).clone();
        schema["items"] = crate::support::resolved(document, &schema["items"]).clone();
        let schema = &schema;
        // The members of a group are parameters of their own.
        let member = format!("{name}.sample");
        let name = if schema["type"] == "object" { member.as_str() } else { name };
        let value = sample(name, schema);
        assert_eq!(told(read(&format!("{name}={value}"))), [], "{id:?} {name}={value}");
        assert_eq!(
            told(read(&format!("{name}={value}&{name}={value}"))),
            one(name, "duplicateKey"),
            "{id:?}"
        );
        let other = format!("{}={value}", name.to_uppercase());
        // A client of OAuth must ignore parameters of an answer that it does not know (RFC 6749, 4.1.2).
        let unknown = one(&name.to_uppercase(), "unknownField");
        let mut wanted = if id == OperationId::FinishOidcSignIn { Vec::new() } else { unknown };
        if is_required(id, name) {
            wanted.extend(one(name, "required"));
        }
        assert_eq!(told(read(&other)), wanted, "{id:?}");
        let broken = format!("{name}=%FF");
        assert_eq!(told(read(&broken)), one(name, "malformed"), "{id:?}");
        tried += 1;
    });
    assert!(tried > 60, "{tried}");
}

#[test]
fn a_parameter_of_another_type_or_beyond_its_range_is_named() {
    each_parameter(|id, read, name, schema| {
        let refused = |value: &str, reasons: &[&str]| {
            let found = told(read(&format!("{name}={value}")));
            let [(field, reason)] = &found[..] else { panic!("{id:?} {name}={value}: {found:?}") };
            assert!(
                field.starts_with(name) && reasons.contains(&reason.as_str()),
                "{id:?} {name}={value}: {found:?}"
            );
        };
        match schema["type"].as_str() {
            Some("integer") => {
                for wrong in ["", "one", "1.0", "%2B1", "%201", "0x1", "1e2"] {
                    refused(wrong, &["wrongType"]);
                }
                refused("-1", &["outOfRange"]);
                refused("99999999999999999999", &["wrongType", "outOfRange"]);
            }
            Some("boolean") => {
                for wrong in ["", "1", "yes", "True", "TRUE"] {
                    refused(wrong, &["wrongType"]);
                }
            }
            Some("string") => {
                if schema["minLength"].as_u64().is_some_and(|least| least > 0) {
                    refused("", &["tooShort"]);
                }
                if let Some(most) = schema["maxLength"].as_u64() {
                    refused(&"x".repeat(usize::try_from(most).unwrap() + 1), &["tooLong"]);
                }
                if schema["format"] == "date-time" {
                    refused("2030-01-01", &["format"]);
                }
            }
            _ => {}
        }
    });
}

#[test]
fn every_list_that_pages_does_so_alike() {
    let mut paged = 0;
    for (id, read) in QUERIES {
        // Options page their connections beside the types, which come whole.
        let lists = matches!(id.spec().output, OutputKind::List | OutputKind::ListOrLines)
            || *id == OperationId::GetConnectionOptions;
        // A part of the trail is bounded by its records, which are many, and goes on behind a number.
        if *id == OperationId::VerifyAuditEvents {
            continue;
        }
        let names: Vec<_> =
            query_parameters(id.spec()).iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!((names.contains(&"limit"), names.contains(&"cursor")), (lists, lists), "{id:?}");
        if !lists {
            continue;
        }
        paged += 1;
        let limit = query_parameters(id.spec()).into_iter().find(|one| one["name"] == "limit").unwrap();
        assert_eq!(limit["schema"]["default"], 50, "{id:?}");
        for (value, good) in [("1", true), ("200", true), ("0", false), ("201", false)] {
            assert_eq!(read(&format!("limit={value}")).is_ok(), good, "{id:?} {value}");
        }
        assert_eq!(MAX_LIMIT, 200);
        assert_eq!(told(read("cursor=")), one("cursor", "tooShort"), "{id:?}");
        assert!(read(&format!("cursor={}", "A".repeat(1024))).is_ok(), "{id:?}");
    }
    assert!(paged >= 10, "{paged}");
}

#[test]
fn texts_of_a_query_are_decoded_as_forms_write_them() {
    let q = |raw: &str| {
        heddle_api::operations::decode_query::<ops::ListWorkflows>(raw).map(|query| query.q.unwrap())
    };
    let cases = [
        ("q=a+b", "a b"),
        ("q=a%20b", "a b"),
        ("q=a%2Bb", "a+b"),
        ("q=%C3%A4", "ä"),
        ("q=a=b", "a=b"),
        ("%71=x", "x"),
        ("q=%26", "&"),
    ];
    for (raw, expected) in cases {
        assert_eq!(q(raw).unwrap(), expected, "{raw}");
    }
    assert!(
        heddle_api::operations::decode_query::<ops::ListWorkflows>("&&limit=1&").is_ok(),
        "empty pairs say nothing"
    );
}

#[test]
fn members_of_a_group_are_read_by_their_names() {
    let read = |raw: &str| {
        heddle_api::operations::decode_query::<ops::ListVectorFiles>(raw).map(|query| query.metadata)
    };
    let found = read("metadata.year=2024&metadata.a%2Eb=x+y").unwrap().unwrap();
    let members: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(members, [("a.b", "x y"), ("year", "2024")]);
    assert_eq!(read("limit=1").unwrap(), None);
    let twice = "metadata.year=1&metadata.year=2";
    assert_eq!(told(read(twice).map(drop)), one("metadata.year", "duplicateKey"));
    assert_eq!(told(read("metadata=1").map(drop)), one("metadata", "wrongType"));
    assert_eq!(told(read("other.year=1").map(drop)), one("other.year", "unknownField"));
}

#[test]
fn a_version_is_a_number_or_one_of_two_words() {
    let version = |text: &str| {
        told(heddle_api::operations::decode_query::<ops::ExportBpmn>(&format!("version={text}")).map(|_| ()))
    };
    for good in ["draft", "published", "1", "999999999"] {
        assert_eq!(version(good), [], "{good}");
    }
    for bad in ["", "0", "-1", "01", "Draft", "latest", "1.0", "9999999999"] {
        assert_eq!(version(bad), one("version", "pattern"), "{bad}");
    }
}

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

fn names_nothing<O: Operation>(id: &str) -> bool {
    matches!(decode_path::<O>(|_| Some(id)), Err(error) if error.code == ErrorCode::NotFound && error.details.is_empty())
}

#[test]
fn an_id_of_a_path_has_one_spelling_and_another_names_nothing() {
    let others = [
        "01890A5D-AC96-774B-BCCE-B302099A8057",
        "01890a5dac96774bbcceb302099a8057",
        "{01890a5d-ac96-774b-bcce-b302099a8057}",
        "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057",
        " 01890a5d-ac96-774b-bcce-b302099a8057",
        "*",
        "",
        "..",
    ];
    for other in others {
        assert!(names_nothing::<ops::GetWorkflow>(other), "{other}");
        assert!(names_nothing::<ops::GetRun>(other), "{other}");
        assert!(names_nothing::<ops::GetOrganization>(other), "{other}");
        assert!(names_nothing::<ops::GetUser>(other), "{other}");
        assert!(names_nothing::<ops::GetRole>(other), "{other}");
        assert!(names_nothing::<ops::GetGrant>(other), "{other}");
        assert!(names_nothing::<ops::EndSession>(other), "{other}");
        assert!(names_nothing::<ops::DeleteApiToken>(other), "{other}");
        assert!(names_nothing::<ops::AssignHumanTask>(other), "{other}");
        assert!(names_nothing::<ops::GetCaseEvent>(other), "{other}");
    }
    assert!(!names_nothing::<ops::GetWorkflow>(ID));
}

#[test]
fn each_parameter_of_a_path_is_read_by_its_name() {
    let other = "01890a5d-ac96-774b-bcce-000000000001";
    let path: RunPath =
        decode_path::<ops::GetRun>(|name| Some(if name == "runId" { other } else { ID })).unwrap();
    assert_eq!(
        (path.workflow_id, path.run_id.to_string()),
        (ID.parse::<WorkflowId>().unwrap(), other.to_owned())
    );
    assert_eq!(RunPath::NAMES, ["workflowId", "runId"]);
    assert!(decode_path::<ops::GetRun>(|name| (name == "runId").then_some(ID)).is_err(), "one is missing");
    let node: HumanTaskNodePath =
        decode_path::<ops::CompleteHumanTask>(|name| Some(if name == "nodeId" { "Prüfen 1" } else { ID }))
            .unwrap();
    assert_eq!(node.node_id, "Prüfen 1", "an element's id is any text");
    for id in OperationId::ALL {
        let spec = id.spec();
        let named: Vec<_> = spec.path_parameters().collect();
        let mut distinct = named.clone();
        distinct.dedup();
        assert_eq!(named, distinct, "{id:?}");
        assert!(spec.selector().within().iter().all(|one| named.contains(one)), "{id:?}");
        assert!(spec.selector().parameter().is_none_or(|one| named.contains(&one)), "{id:?}");
    }
}
