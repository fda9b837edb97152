use super::parts::PARTS;
use super::table::{VENDORS, WORDS};
use super::*;
use crate::xml::names::Ns;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The words of a document that the table does not know at their places.
fn unknown(source: &str) -> BTreeSet<String> {
    let Ok(tree) = tree::parse(source, &[]) else { return BTreeSet::new() };
    let mut found = BTreeSet::new();
    let mut open: Vec<(El, &str, Option<u8>)> = vec![(0, "", None)];
    while let Some((el, parent, around)) = open.pop() {
        let element = tree.part(el);
        let vendor = vendor_of(tree.uri(element.ns));
        if let Some(vendor) = vendor {
            let known = match around {
                Some(_) => has_part(vendor, parent, element.local(), false),
                None => find(vendor, Kind::Element, element.local(), parent).is_some(),
            };
            if !known {
                found.insert(format!("{} in {parent}", element.name));
            }
        }
        for attribute in tree.attributes(el) {
            let known = match (vendor_of(tree.uri(attribute.ns)), vendor) {
                (Some(own), None) => find(own, Kind::Attribute, attribute.local(), element.local()).is_some(),
                (None, Some(vendor)) if attribute.ns == Ns::NONE => {
                    has_part(vendor, element.local(), attribute.local(), true)
                }
                (Some(own), Some(_)) => has_part(own, element.local(), attribute.local(), true),
                _ => true,
            };
            if !known {
                found.insert(format!("{} at {}", attribute.name, element.local()));
            }
        }
        let owner = if element.local() == "extensionElements" { parent } else { element.local() };
        open.extend(tree.parts_of(el).map(|child| (child, owner, vendor)));
    }
    found
}

fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "bpmn" || extension == "xml") {
            found.push(path);
        }
    }
}

#[test]
fn every_vendors_word_of_the_suites_is_in_the_table() {
    let given = std::env::var_os("HEDDLE_SUITES").map(PathBuf::from);
    let suites =
        given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites"));
    if !suites.is_dir() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "the suites' folder is missing");
        return;
    }
    let (mut files, mut lacking) = (Vec::new(), BTreeSet::new());
    models(&suites.join("bpmn"), &mut files);
    for path in &files {
        let source = crate::xml::decode::decode(&std::fs::read(path).unwrap(), crate::xml::MAX_BYTES)
            .unwrap_or_default()
            .into_owned();
        lacking.extend(unknown(&source));
    }
    assert!(files.len() > 300, "{} models", files.len());
    // Where people put words that no schema has there; a preview tells of them as misplaced.
    let misplaced = [
        "camunda:assignee at serviceTask",
        "camunda:historyTimeToLive at definitions",
        "camunda:variableEvent at conditionalEventDefinition",
    ];
    for word in misplaced {
        assert!(lacking.remove(word), "{word} is known now, or no model has it");
    }
    assert!(lacking.is_empty(), "{lacking:#?}");
}

#[test]
fn every_word_of_the_published_schemas_is_in_the_table() {
    // Attributes of BPMN elements (`element@attribute`) and elements within extension elements, by vendor.
    let camunda = "definitions@diagramRelationId userTask@async task@asyncBefore exclusiveGateway@asyncAfter \
        task@exclusive process@jobPriority task@jobPriority signalEventDefinition@async \
        errorEventDefinition@errorCodeVariable errorEventDefinition@errorMessageVariable error@errorMessage \
        startEvent@formHandlerClass userTask@formKey userTask@formRef userTask@formRefBinding startEvent@formRefVersion \
        collaboration@modelerTemplate process@modelerTemplateVersion startEvent@initiator scriptTask@resultVariable \
        scriptTask@resource process@candidateStarterGroups process@candidateStarterUsers process@versionTag \
        process@historyTimeToLive process@isStartableInTasklist escalationEventDefinition@escalationCodeVariable \
        conditionExpression@resource userTask@assignee userTask@candidateUsers userTask@candidateGroups \
        userTask@dueDate userTask@followUpDate userTask@priority callActivity@calledElementBinding \
        callActivity@calledElementVersion callActivity@calledElementVersionTag callActivity@calledElementTenantId \
        callActivity@caseRef callActivity@caseBinding callActivity@caseVersion callActivity@caseTenantId \
        callActivity@variableMappingClass callActivity@variableMappingDelegateExpression serviceTask@expression \
        sendTask@class messageEventDefinition@delegateExpression serviceTask@resultVariable \
        businessRuleTask@decisionRef businessRuleTask@decisionRefBinding businessRuleTask@decisionRefVersion \
        businessRuleTask@mapDecisionResult businessRuleTask@decisionRefTenantId serviceTask@type sendTask@topic \
        process@taskPriority serviceTask@taskPriority multiInstanceLoopCharacteristics@collection \
        multiInstanceLoopCharacteristics@elementVariable multiInstanceLoopCharacteristics@asyncBefore \
        conditionalEventDefinition@variableName conditionalEventDefinition@variableEvents in out \
        errorEventDefinition potentialStarter properties connector inputOutput field failedJobRetryTimeCycle \
        executionListener taskListener formProperty formData";
    let zeebe = "serviceTask@retryCounter task@modelerTemplate task@modelerTemplateVersion process@modelerTemplateIcon \
        ioMapping subscription taskHeaders taskDefinition loopCharacteristics calledElement userTaskForm \
        formDefinition linkedResources userTask calledDecision assignmentDefinition priorityDefinition \
        jobPriorityDefinition taskSchedule properties script executionListeners taskListeners versionTag adHoc \
        conditionalFilter agentDefinition";
    let flowable = "serviceTask@extensionId startEvent@initiator process@history userTask@formKey \
        userTask@formFieldValidation startEvent@formHandlerClass serviceTask@class serviceTask@caseDefinitionKey \
        serviceTask@type scriptTask@resultVariable serviceTask@resultVariableName serviceTask@expression \
        serviceTask@skipExpression sequenceFlow@skipExpression serviceTask@delegateExpression task@async \
        task@exclusive serviceTask@triggerable serviceTask@useLocalScopeForResultVariable \
        serviceTask@storeResultVariableAsTransient serviceTask@topic userTask@assignee userTask@dueDate \
        userTask@businessCalendarName userTask@candidateUsers userTask@candidateGroups userTask@priority \
        process@candidateStarterUsers process@candidateStarterGroups multiInstanceLoopCharacteristics@collection \
        multiInstanceLoopCharacteristics@elementVariable multiInstanceLoopCharacteristics@elementIndexVariable \
        timeCycle@endDate callActivity@calledElementType callActivity@fallbackToDefaultTenant \
        callActivity@sameDeployment callActivity@businessKey callActivity@inheritBusinessKey \
        scriptTask@autoStoreVariables userTask@taskIdVariableName userTask@owner userTask@category \
        callActivity@processInstanceName callActivity@inheritVariables callActivity@useLocalScopeForOutParameters \
        callActivity@completeAsync process@isEagerExecutionFetching signal@scope \
        terminateEventDefinition@terminateAll terminateEventDefinition@terminateMultiInstance formProperty field \
        potentialStarter businessCalendarName taskListener executionListener eventListener in out customResource \
        mapException httpRequestHandler httpResponseHandler eventType triggerEventType sendSynchronously \
        eventCorrelationParameter eventInParameter eventOutParameter triggerEventCorrelationParameter \
        failedJobRetryTimeCycle";
    for (vendor, words) in [(table::CAMUNDA, camunda), (table::ZEEBE, zeebe), (table::FLOWABLE, flowable)] {
        for word in words.split_ascii_whitespace() {
            let known = match word.split_once('@') {
                Some((owner, name)) => find(vendor, Kind::Attribute, name, owner).is_some(),
                None => WORDS
                    .iter()
                    .any(|own| own.vendors & vendor != 0 && own.kind == Kind::Element && own.name == word),
            };
            assert!(known, "{vendor}: {word}");
        }
    }
}

#[test]
fn the_table_is_sound() {
    for (index, word) in WORDS.iter().enumerate() {
        assert!(word.reason.ends_with('.'), "{}: {}", word.name, word.reason);
        let mapped = !matches!(word.map, Map::Keep | Map::Same | Map::Unless(_));
        assert_eq!(mapped, !word.becomes.is_empty(), "{}", word.name);
        let hidden = WORDS[..index].iter().any(|earlier| {
            earlier.name == word.name
                && earlier.kind == word.kind
                && earlier.vendors & word.vendors == word.vendors
                && (earlier.on.is_empty() || earlier.on == word.on)
        });
        assert!(!hidden, "{} stands behind a row that takes all of it", word.name);
        let element = word.kind == Kind::Element;
        let leaf = ["userTask", "failedJobRetryTimeCycle", "potentialStarter"].contains(&word.name);
        let text = word.reason.contains("built-in")
            || word.effect == Effect::Quiet
            || word.reason.starts_with("The event is not awaited")
            || word.name == "businessCalendarName";
        let described =
            PARTS.iter().any(|(vendors, own, ..)| vendors & word.vendors != 0 && *own == word.name);
        assert!(!element || leaf || text || described, "{} has no row of its parts", word.name);
    }
}

/// The guide's table, from the code's.
fn guide() -> String {
    let mut out = String::from(
        "| word | vendors | at | outcome | becomes | what it means |\n|---|---|---|---|---|---|\n",
    );
    for word in WORDS {
        let vendors: Vec<&str> =
            VENDORS.iter().filter(|(own, ..)| word.vendors & own != 0).map(|own| own.1).collect();
        let name = if word.kind == Kind::Element {
            format!("`<{}>`", word.name)
        } else {
            format!("`{}`", word.name)
        };
        let on: Vec<&str> = word.on.split_ascii_whitespace().collect();
        let on = if on.is_empty() { "any".to_owned() } else { on.join(", ") };
        let becomes: Vec<String> = word.becomes.iter().map(|member| format!("`{member}`")).collect();
        let outcome = match (word.outcome(), word.effect) {
            ("unsupported", _) => "unsupported: publishing refuses",
            ("preserved", Effect::Told) => "preserved: publishing warns",
            (outcome, _) => outcome,
        };
        out.push_str(&format!(
            "| {name} | {} | {on} | {outcome} | {} | {} |\n",
            vendors.join(", "),
            becomes.join(", "),
            word.reason
        ));
    }
    out
}

#[test]
fn the_guide_lists_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/import.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (start, end) = ("<!-- words -->\n\n", "\n<!-- end of words -->");
    let from = text.find(start).unwrap() + start.len();
    let to = text.find(end).unwrap();
    let expected = guide();
    if text[from..to] != expected && std::env::var_os("UPDATE_GUIDE").is_some() {
        std::fs::write(&path, format!("{}{expected}{}", &text[..from], &text[to..])).unwrap();
        return;
    }
    assert!(
        text[from..to] == expected,
        "docs/import.md differs from the table: run this test with UPDATE_GUIDE=1"
    );
}
