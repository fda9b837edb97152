//! Words of vendors become settings, come out again, and are told.

use crate::model::{CaseDefinition, PlanItemDefinition};
use crate::xml::{self, Imported};
use serde_json::{Value, json};

fn read(body: &str) -> Imported {
    let source = format!(
        "<definitions xmlns=\"{}\" xmlns:flowable=\"http://flowable.org/cmmn\" \
         xmlns:camunda=\"http://camunda.org/schema/1.0/cmmn\" xmlns:v=\"urn:v\" targetNamespace=\"urn:t\">\
         <case id=\"c\"><casePlanModel id=\"m\">{body}</casePlanModel></case></definitions>",
        xml::MODEL_NS
    );
    xml::read(source.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

fn plan(definition: &CaseDefinition) -> &PlanItemDefinition {
    definition.cases.as_ref().unwrap()[0].case_plan_model.as_deref().unwrap()
}

/// The settings of the one definition in the plan model.
fn settings(element: &str) -> Value {
    let imported = read(element);
    let definition = &plan(&imported.definition).definitions.as_ref().unwrap()[0];
    definition.configuration.clone().map_or(Value::Null, Value::Object)
}

#[test]
fn words_become_settings() {
    let rows = [
        (
            "<humanTask id=\"t\" flowable:assignee=\"${who}\" flowable:candidateGroups=\"a, b\" flowable:priority=\"70\" \
             flowable:dueDate=\"=x\"/>",
            json!({"assignee": "${who}", "candidateGroups": ["a", "b"], "priority": 70, "dueDate": "=\"=x\""}),
        ),
        (
            "<processTask id=\"t\" camunda:processBinding=\"version\" camunda:processVersion=\"3\"><extensionElements>\
             <camunda:in source=\"a\" target=\"b\"/><camunda:in businessKey=\"#{caseExecution.caseBusinessKey}\"/>\
             <camunda:out variables=\"all\"/></extensionElements></processTask>",
            json!({"versionPolicy": "pinned", "version": "3", "inputs": [{"name": "b", "value": "=a"}],
                "inheritBusinessKey": true, "propagateAllOutputs": true}),
        ),
        (
            "<task id=\"t\" flowable:type=\"script\" flowable:scriptFormat=\"juel\" flowable:resultVariable=\"r\">\
             <extensionElements><flowable:field name=\"script\"><flowable:string>${a}</flowable:string></flowable:field>\
             </extensionElements></task>",
            json!({"scriptFormat": "juel", "resultVariable": "r", "script": "${a}"}),
        ),
        (
            "<task id=\"t\" flowable:type=\"http\"><extensionElements><flowable:field name=\"requestMethod\" \
             stringValue=\"GET\"/></extensionElements></task>",
            json!({"jobType": "task:http", "headers": {"requestMethod": "GET"}}),
        ),
        ("<task id=\"t\" flowable:type=\"java\" flowable:class=\"a.B\"/>", json!({"jobType": "java:a.B"})),
        (
            "<eventListener id=\"t\" flowable:eventType=\"signal\" flowable:signalRef=\"s\" \
             flowable:availableCondition=\"${x}\"/>",
            json!({"listenerType": "signal", "signalName": "s", "availableCondition": "${x}"}),
        ),
        (
            "<eventListener id=\"t\" flowable:eventType=\"reactivate\"><extensionElements>\
             <flowable:defaultReactivationRule ignoreCondition=\"true\"/></extensionElements></eventListener>",
            json!({"listenerType": "reactivate", "reactivation": {"ignoreCondition": "true"}}),
        ),
        (
            "<eventListener id=\"t\"><extensionElements><flowable:eventType>paid</flowable:eventType>\
             <flowable:eventCorrelationParameter name=\"k\" value=\"${order}\"/></extensionElements></eventListener>",
            json!({"eventType": "paid", "correlationKey": "${order}"}),
        ),
        (
            "<milestone id=\"t\" flowable:milestoneVariable=\"done\"><extensionElements>\
             <flowable:planItemLifecycleListener sourceState=\"available\" class=\"a.L\"/></extensionElements></milestone>",
            json!({"milestoneVariable": "done", "listeners": [{"from": "available", "jobType": "java:a.L"}]}),
        ),
        (
            "<milestone id=\"t\"><extensionElements><flowable:planItemLifecycleListener targetState=\"completed\" \
             expression=\"${x}\" onTransaction=\"committed\"/></extensionElements></milestone>",
            json!({"listeners": [{"to": "completed", "source": "${x}", "onTransaction": "committed"}]}),
        ),
    ];
    for (element, expected) in rows {
        assert_eq!(settings(element), expected, "{element}");
    }
}

#[test]
fn words_of_controls_criteria_and_sentries_become_settings() {
    let imported = read(
        "<planItem id=\"i\" definitionRef=\"t\"><itemControl><extensionElements>\
         <flowable:parentCompletionRule type=\"ignore\"/><flowable:completionNeutralRule/>\
         <flowable:reactivationRule activateCondition=\"${x}\" ignoreCondition=\"true\"/></extensionElements>\
         <repetitionRule flowable:maxInstanceCount=\"unlimited\" flowable:collectionVariable=\"all\" \
         flowable:elementVariable=\"one\"/></itemControl>\
         <exitCriterion id=\"x\" sentryRef=\"s\" flowable:exitEventType=\"forceComplete\"/></planItem>\
         <sentry id=\"s\" flowable:triggerMode=\"onEvent\"><extensionElements><camunda:variableOnPart \
         variableName=\"v\"><camunda:variableEvent>create</camunda:variableEvent></camunda:variableOnPart>\
         </extensionElements></sentry><task id=\"t\"/>",
    );
    let plan = plan(&imported.definition);
    let item = &plan.items.as_ref().unwrap()[0];
    let control = item.item_control.as_ref().unwrap();
    let of = |own: &Option<serde_json::Map<String, Value>>| own.clone().map_or(Value::Null, Value::Object);
    assert_eq!(
        of(&control.configuration),
        json!({"parentCompletion": "ignore", "completionNeutral": true,
            "reactivation": {"activateCondition": "${x}", "ignoreCondition": "true"}})
    );
    let rule = control.repetition_rule.as_ref().unwrap();
    assert_eq!(
        of(&rule.configuration),
        json!({"maxInstanceCount": "unlimited", "collection": "=all", "elementVariable": "one"})
    );
    let exit = &item.exit_criteria.as_ref().unwrap()[0];
    assert_eq!(of(&exit.configuration), json!({"exitEventType": "forceComplete"}));
    let sentry = &plan.sentries.as_ref().unwrap()[0];
    assert_eq!(
        of(&sentry.configuration),
        json!({"triggerMode": "onEvent", "variableOnParts": [{"variableName": "v", "variableEvents": ["create"]}]})
    );
    let written = xml::write(&imported.definition).unwrap().xml;
    assert!(!written.contains("heddle:data"), "{written}");
}

#[test]
fn settings_that_were_edited_count_and_come_back() {
    let mut definition = read("<humanTask id=\"t\" flowable:assignee=\"ada\"/>").definition;
    let plan = definition.cases.as_mut().unwrap()[0].case_plan_model.as_deref_mut().unwrap();
    let task = &mut plan.definitions.as_mut().unwrap()[0];
    task.configuration = json!({"assignee": "bob"}).as_object().cloned();
    let written = xml::write(&definition).unwrap().xml;
    assert!(written.contains("flowable:assignee=\"ada\"") && written.contains("heddle:data"), "{written}");
    let again = xml::read(written.as_bytes()).unwrap().definition;
    assert_eq!(again, definition);
}

#[test]
fn every_word_is_told_with_its_outcome() {
    let imported = read(
        "<humanTask id=\"t\" flowable:assignee=\"ada\" flowable:category=\"c\" flowable:priority=\"high\" \
         flowable:taskIdVariableName=\"x\" flowable:strange=\"y\" v:own=\"z\"><extensionElements><v:more/>\
         </extensionElements></humanTask><fancyTask id=\"f\"/>",
    );
    let told: Vec<(&str, &str, &str)> = imported
        .items
        .iter()
        .map(|item| {
            (
                item.element_id.as_deref().unwrap_or_default(),
                item.source_kind.as_deref().unwrap_or_default(),
                item.outcome.as_deref().unwrap_or_default(),
            )
        })
        .collect();
    for expected in [
        ("t", "flowable:assignee", "mapped"),
        ("t", "flowable:category", "preserved"),
        ("t", "flowable:priority", "unsupported"),
        ("t", "flowable:taskIdVariableName", "unsupported"),
        ("t", "flowable:strange", "preserved"),
        ("t", "v:own", "preserved"),
        ("t", "v:more", "preserved"),
        ("f", "cmmn:fancyTask", "unsupported"),
    ] {
        assert_eq!(told.iter().filter(|own| **own == expected).count(), 1, "{expected:?} in {told:?}");
    }
    assert_eq!(told.len(), 8, "{told:?}");
    assert_eq!(
        imported.diagnostics.iter().map(|own| own.code.as_str()).collect::<Vec<_>>(),
        ["unknownElement"]
    );
    let refused: Vec<_> = super::unsupported(&imported.definition)
        .into_iter()
        .map(|found| (found.code, found.element_id.unwrap_or_default()))
        .collect();
    let expected = [("unsupportedExtension", "t"), ("unsupportedExtension", "t"), ("unknownElement", "f")];
    assert_eq!(refused, expected.map(|(code, id)| (code.to_owned(), id.to_owned())));
    assert_eq!(super::unsupported(&CaseDefinition::default()), []);
    // A setting takes the place of a word that fails; a word without a setting stays what it is.
    let mut edited = imported.definition;
    let plan = edited.cases.as_mut().unwrap()[0].case_plan_model.as_deref_mut().unwrap();
    plan.definitions.as_mut().unwrap()[0].configuration = json!({"priority": 80}).as_object().cloned();
    let left = super::unsupported(&edited);
    assert_eq!(left.iter().filter(|found| found.code == "unsupportedExtension").count(), 1, "{left:?}");
    assert!(left.iter().any(|found| found.message.contains("taskIdVariableName")), "{left:?}");
}
