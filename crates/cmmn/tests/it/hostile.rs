//! Documents that must be refused, or read in spite of what they hold.

use heddle_cmmn::model::CaseDefinition;
use heddle_cmmn::xml::{self, MAX_BYTES, MODEL_NS};

/// Reason, line and column.
type Refusal = (&'static str, u32, u32);

fn document(body: &str) -> String {
    format!("<definitions xmlns=\"{MODEL_NS}\" targetNamespace=\"urn:x\">\n{body}</definitions>")
}

fn reason(bytes: &[u8]) -> Refusal {
    let error = xml::read(bytes).expect_err("the document must be refused");
    assert!(!error.message.is_empty());
    (error.reason, error.line, error.column)
}

#[test]
fn what_is_no_cmmn_is_refused_with_a_reason() {
    let external = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE d [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\n{}",
        document("<case id=\"c\" name=\"&x;\"/>")
    );
    let bpmn = "\n <definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"/>";
    let rows: Vec<(&str, Vec<u8>, Refusal)> = vec![
        ("an external entity", external.into_bytes(), ("dtdForbidden", 2, 1)),
        ("nothing", Vec::new(), ("empty", 1, 1)),
        ("a zip", b"PK\x03\x04\x14\x00".to_vec(), ("zipArchive", 1, 1)),
        ("text", b"not xml".to_vec(), ("malformed", 1, 1)),
        ("other XML", b"<html/>".to_vec(), ("notCmmn", 1, 1)),
        ("another standard", bpmn.as_bytes().to_vec(), ("notCmmn", 2, 2)),
        (
            "a root of CMMN that is none",
            format!("<case xmlns=\"{MODEL_NS}\"/>").into_bytes(),
            ("notCmmn", 1, 1),
        ),
        ("another prefix", document("<x:y/>").into_bytes(), ("unboundPrefix", 2, 1)),
        ("an attribute twice", document("<case id=\"a\" id=\"b\"/>").into_bytes(), ("malformed", 2, 14)),
        ("a wrong end tag", document("<case>\n</cas>").into_bytes(), ("malformed", 3, 1)),
        ("too much", vec![b' '; MAX_BYTES + 1], ("tooLarge", 1, 1)),
    ];
    for (what, bytes, expected) in rows {
        assert_eq!(reason(&bytes), expected, "{what}");
    }
}

#[test]
fn nesting_is_limited() {
    let stages = |levels: usize| {
        let open: String = (0..levels).map(|level| format!("<stage id=\"s{level}\">")).collect();
        let close = "</stage>".repeat(levels);
        document(&format!("<case id=\"c\"><casePlanModel id=\"p\">{open}{close}</casePlanModel></case>"))
    };
    let items = |levels: usize| {
        let open = "<caseFileItem><children>".repeat(levels);
        let close = "</children></caseFileItem>".repeat(levels);
        document(&format!("<case id=\"c\"><caseFileModel>{open}{close}</caseFileModel></case>"))
    };
    assert_eq!(reason(stages(10_000).as_bytes()).0, "tooDeep");
    assert_eq!(reason(stages(25).as_bytes()).0, "nestingTooDeep");
    assert_eq!(reason(items(40).as_bytes()).0, "nestingTooDeep");
    for deepest in [stages(24), items(20)] {
        let imported = xml::read(deepest.as_bytes()).unwrap();
        let text = serde_json::to_string(&imported.definition).unwrap();
        let again: CaseDefinition = serde_json::from_str(&text).unwrap();
        assert_eq!(again, imported.definition);
    }
}

#[test]
fn values_of_a_wrong_type_are_told_and_kept() {
    let source = document(
        "<case id=\"c\"><casePlanModel id=\"p\" autoComplete=\"maybe\"><humanTask id=\"t\" isBlocking=\"1\"/>\
         </casePlanModel></case>",
    );
    let imported = xml::read(source.as_bytes()).unwrap();
    let told: Vec<_> =
        imported.diagnostics.iter().map(|own| (own.code.as_str(), own.element_id.as_deref())).collect();
    assert_eq!(told, [("invalidValue", Some("p"))]);
    let plan = imported.definition.cases.as_ref().unwrap()[0].case_plan_model.as_deref().unwrap();
    assert_eq!(plan.auto_complete, None);
    assert_eq!(plan.definitions.as_ref().unwrap()[0].is_blocking, Some(true));
    let written = xml::write(&imported.definition).unwrap().xml;
    assert!(written.contains("autoComplete=\"maybe\"") && written.contains("isBlocking=\"1\""), "{written}");
}

#[test]
fn definitions_written_by_hand_are_escaped_and_told() {
    let definition: CaseDefinition = serde_json::from_str(
        r#"{"kind": "case", "cases": [{"id": "a\"&<", "casePlanModel": {"id": "p",
            "items": [{"id": "i", "definitionRef": "t", "configuration": {"note": "<&>"},
                "entryCriteria": [{"id": "e", "sentryRef": "s"}]}],
            "sentries": [{"id": "s", "ifPart": {"condition": {"body": "a < b"}}}],
            "definitions": [{"id": "t", "type": "strange", "authorizedRoleRefs": ["x\""]},
                {"id": "u", "type": "userEventListener", "authorizedRoleRefs": ["x\"&"]}]}}]}"#,
    )
    .unwrap();
    let written = xml::write(&definition).unwrap();
    let codes: Vec<&str> = written.diagnostics.iter().map(|own| own.code.as_str()).collect();
    assert_eq!(codes, ["unknownDefinition"]);
    let again = xml::read(written.xml.as_bytes())
        .unwrap_or_else(|error| panic!("{error}\n{}", written.xml))
        .definition;
    let case = &again.cases.as_ref().unwrap()[0];
    assert_eq!(case.id.as_deref(), Some("a\"&<"));
    assert_eq!(again.kind.as_deref(), Some("case"));
    let plan = case.case_plan_model.as_deref().unwrap();
    assert_eq!(plan.items, definition.cases.as_ref().unwrap()[0].case_plan_model.as_ref().unwrap().items);
    let roles = plan.definitions.as_ref().unwrap()[1].authorized_role_refs.as_deref();
    assert_eq!(roles, Some(["x\"&".to_owned()].as_slice()));
}

#[test]
fn an_unknown_member_is_refused() {
    let error = serde_json::from_str::<CaseDefinition>(r#"{"cases": [{"casePlan": {}}]}"#).unwrap_err();
    assert!(error.to_string().contains("casePlan"), "{error}");
}

#[test]
fn broken_fragments_are_refused() {
    let definition: CaseDefinition =
        serde_json::from_str(r#"{"cases": [{"id": "c", "extensionXml": ["<v:x"]}]}"#).unwrap();
    let error = xml::write(&definition).unwrap_err().to_string();
    assert!(error.contains("extensionElements"), "{error}");
    let definition: CaseDefinition = serde_json::from_str(r#"{"fragments": ["<heddle:residue"]}"#).unwrap();
    assert!(xml::write(&definition).unwrap_err().to_string().contains("fragments"));
}
