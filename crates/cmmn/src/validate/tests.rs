use super::validate;
use crate::finding::{Diagnostic, Severity};
use crate::model::CaseDefinition;
use serde_json::{Value, json};

fn findings(model: Value) -> Vec<Diagnostic> {
    let definition: CaseDefinition =
        serde_json::from_value(json!({"cases": [{"id": "c", "casePlanModel": model}]})).unwrap();
    validate(&definition)
}

/// A case plan model with items of definitions that are there once each: `t` a human task, `m` a milestone, `u` a listener.
fn model(items: Value, sentries: Value) -> Value {
    json!({
        "id": "p", "type": "casePlanModel", "items": items, "sentries": sentries,
        "definitions": [
            {"id": "t", "type": "humanTask"}, {"id": "m", "type": "milestone"}, {"id": "u", "type": "userEventListener"}
        ]
    })
}

fn on(id: &str, source: &str, event: &str) -> Value {
    json!({"id": id, "onParts": [{"type": "planItemOnPart", "sourceRef": source, "standardEvent": event}]})
}

fn tells(found: &[Diagnostic], severity: Severity, code: &str, element: &str) {
    let told = found.iter().any(|own| {
        own.severity == severity && own.code == code && own.element_id.as_deref() == Some(element)
    });
    assert!(told, "{code} of {element}: {found:#?}");
    for own in found {
        assert!(own.clause.is_some() && own.path.is_some() && own.remedy.is_some(), "{own:?}");
    }
}

#[test]
fn a_sound_case_has_no_findings() {
    let found = findings(model(
        json!([
            {"id": "a", "definitionRef": "t"},
            {"id": "b", "definitionRef": "m", "entryCriteria": [{"id": "k", "sentryRef": "y"}]},
            {"id": "e", "definitionRef": "u"}
        ]),
        json!([on("y", "a", "complete")]),
    ));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_listener_for_the_reactivation_without_rules_says_what_it_brings_back() {
    let case = |configuration: Value| {
        findings(json!({
            "id": "p", "type": "casePlanModel", "items": [{"id": "e", "definitionRef": "u"}, {"id": "a", "definitionRef": "t"}],
            "definitions": [
                {"id": "t", "type": "humanTask"},
                {"id": "u", "type": "eventListener", "configuration": configuration}
            ]
        }))
    };
    let unruled = case(json!({"listenerType": "reactivate"}));
    tells(&unruled, Severity::Info, "reactivationUnruled", "e");
    let ruled = case(json!({"listenerType": "reactivate", "reactivation": {"defaultCondition": "again"}}));
    assert!(ruled.iter().all(|own| own.code != "reactivationUnruled"), "{ruled:#?}");
    // Its condition reads a variable, as those of items do.
    tells(&ruled, Severity::Info, "unknownVariable", "c");
}

#[test]
fn ids_are_there_once() {
    let found = findings(model(
        json!([{"id": "a", "definitionRef": "t"}, {"id": "a", "definitionRef": "m"}]),
        json!([]),
    ));
    tells(&found, Severity::Error, "duplicateId", "a");
    let path = found.iter().find(|own| own.code == "duplicateId").unwrap().path.as_deref();
    assert_eq!(path, Some("cases[0].casePlanModel.items[1]"));
}

#[test]
fn items_that_wait_for_each_other_never_begin() {
    let found = findings(model(
        json!([
            {"id": "a", "definitionRef": "t", "entryCriteria": [{"id": "ka", "sentryRef": "ya"}]},
            {"id": "b", "definitionRef": "t", "entryCriteria": [{"id": "kb", "sentryRef": "yb"}],
             "itemControl": {"requiredRule": {}}}
        ]),
        json!([on("ya", "b", "complete"), on("yb", "a", "complete")]),
    ));
    tells(&found, Severity::Warning, "unreachableItem", "a");
    tells(&found, Severity::Warning, "requiredNeverEnabled", "b");
    tells(&found, Severity::Warning, "stageNeverEnds", "p");
}

#[test]
fn sources_move_as_their_kind_does() {
    for (source, event, is_wrong) in [
        ("a", "occur", true),
        ("a", "complete", false),
        ("a", "close", true),
        ("b", "complete", true),
        ("b", "occur", false),
        ("e", "start", true),
        ("e", "occur", false),
    ] {
        let found = findings(model(
            json!([
                {"id": "a", "definitionRef": "t"}, {"id": "b", "definitionRef": "m"}, {"id": "e", "definitionRef": "u"},
                {"id": "x", "definitionRef": "t", "exitCriteria": [{"id": "k", "sentryRef": "y"}]}
            ]),
            json!([on("y", source, event)]),
        ));
        assert_eq!(!found.is_empty(), is_wrong, "{source} {event}: {found:#?}");
        if is_wrong {
            tells(&found, Severity::Error, "impossibleTransition", "x");
        }
    }
    // A task that always starts by itself is never enabled.
    let found = findings(model(
        json!([
            {"id": "a", "definitionRef": "t"},
            {"id": "x", "definitionRef": "t", "entryCriteria": [{"id": "k", "sentryRef": "y"}]}
        ]),
        json!([on("y", "a", "enable")]),
    ));
    tells(&found, Severity::Warning, "unreachableItem", "x");
}

#[test]
fn a_condition_that_never_holds_is_told() {
    let found = findings(model(
        json!([{"id": "a", "definitionRef": "t", "entryCriteria": [{"id": "k", "sentryRef": "y"}]}]),
        json!([{"id": "y", "ifPart": {"condition": {"body": "${1 == 2}"}}}]),
    ));
    tells(&found, Severity::Warning, "sentryNeverMet", "a");
    tells(&found, Severity::Warning, "unreachableItem", "a");
}

#[test]
fn what_comes_again_at_once_is_refused_and_what_comes_again_for_ever_is_told() {
    let again = json!({"repetitionRule": {}});
    let found = findings(model(json!([{"id": "a", "definitionRef": "m", "itemControl": again}]), json!([])));
    tells(&found, Severity::Error, "endlessRepetition", "a");
    let found = findings(model(json!([{"id": "a", "definitionRef": "t", "itemControl": again}]), json!([])));
    tells(&found, Severity::Warning, "stageNeverEnds", "p");
    let found = findings(model(json!([{"id": "a", "definitionRef": "u", "itemControl": again}]), json!([])));
    assert!(found.is_empty(), "a listener may hear again and again: {found:#?}");
}

#[test]
fn things_stand_where_they_belong() {
    let found = findings(json!({
        "id": "p", "type": "casePlanModel",
        "items": [{"id": "a", "definitionRef": "t"}, {"id": "s1", "definitionRef": "s"}],
        "planningTable": {"id": "pt"},
        "definitions": [{
            "id": "s", "type": "stage", "definitions": [{"id": "t", "type": "humanTask"}],
            "items": [{"id": "b", "definitionRef": "t", "exitCriteria": [{"id": "k", "sentryRef": "y"}]}]
        }],
        "sentries": [on("y", "a", "complete")]
    }));
    tells(&found, Severity::Warning, "definitionPlace", "a");
    tells(&found, Severity::Warning, "sentryPlace", "k");
    tells(&found, Severity::Info, "planningUnused", "pt");
    let found = findings(model(
        json!([{"id": "a", "definitionRef": "t"}, {"id": "e", "definitionRef": "u", "entryCriteria": [{"id": "k", "sentryRef": "y"}]}]),
        json!([on("y", "a", "complete")]),
    ));
    tells(&found, Severity::Error, "entryOfListener", "e");
}

#[test]
fn roles_variables_files_and_artifacts_are_looked_at() {
    let definition: CaseDefinition = serde_json::from_value(json!({
        "artifacts": [{"id": "n", "type": "association", "sourceRef": "a", "targetRef": "none"}],
        "primaryCaseId": "other",
        "cases": [{
            "id": "c", "roles": [{"id": "r", "name": "Boss"}],
            "inputs": [{"id": "in", "name": "known"}],
            "caseFile": {"items": [{"id": "f1", "targetRefs": ["f2"]}, {"id": "f2", "targetRefs": ["f1"]}]},
            "casePlanModel": model(
                json!([{"id": "a", "definitionRef": "t", "itemControl": {
                    "requiredRule": {"condition": {"body": "known and unknown"}}}}]),
                json!([])
            )
        }]
    }))
    .unwrap();
    let found = validate(&definition);
    tells(&found, Severity::Info, "roleUnused", "r");
    tells(&found, Severity::Warning, "fileCycle", "f1");
    tells(&found, Severity::Error, "danglingReference", "n");
    let variables: Vec<_> = found.iter().filter(|own| own.code == "unknownVariable").collect();
    assert_eq!(variables.len(), 1);
    assert!(variables[0].message.contains("`unknown`") && variables[0].severity == Severity::Info);
    assert!(found.iter().any(|own| own.path.as_deref() == Some("primaryCaseId")));
}

#[test]
fn words_of_vendors_that_ask_for_what_is_not_done_are_refused() {
    let source = |word: &str| {
        format!(
            "<definitions xmlns=\"{}\" xmlns:flowable=\"http://flowable.org/cmmn\"><case id=\"c\">\
             <casePlanModel id=\"p\"><planItem id=\"a\" definitionRef=\"t\"/><humanTask id=\"t\" {word}/>\
             </casePlanModel></case></definitions>",
            crate::xml::MODEL_NS
        )
    };
    let found = |word: &str| validate(&crate::xml::read(source(word).as_bytes()).unwrap().definition);
    tells(&found("flowable:taskIdVariableName=\"x\""), Severity::Error, "unsupportedExtension", "t");
    let refused = found("flowable:taskIdVariableName=\"x\"");
    assert_eq!(refused[0].path.as_deref(), Some("cases[0].casePlanModel.definitions[0]"));
    let mapped = found("flowable:assignee=\"${who}\" flowable:category=\"c\"");
    assert!(!mapped.iter().any(Diagnostic::is_error), "{mapped:#?}");
}
