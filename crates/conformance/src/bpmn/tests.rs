use super::*;

fn element(name: &str) -> &'static ElementClaim {
    claims().elements.iter().find(|one| one.element == name).unwrap()
}

fn event(name: &str) -> &'static EventRow {
    claims().event_matrix.iter().find(|row| row.r#type == name).unwrap()
}

#[test]
fn every_probe_is_read_to_members_and_written_as_it_was() {
    for class in claims().classes.iter().filter(|class| class.judged == "modeling") {
        let kept_as_xml = [
            "correlationProperty",
            "endPoint",
            "globalBusinessRuleTask",
            "globalChoreographyTask",
            "globalConversation",
            "globalManualTask",
            "globalScriptTask",
            "globalTask",
            "globalUserTask",
            "ioBinding",
            "partnerEntity",
            "partnerRole",
        ];
        let missing: Vec<_> =
            class.missing.iter().filter(|name| !kept_as_xml.contains(&name.as_str())).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", class.id);
    }
}

#[test]
fn what_the_compiler_takes_is_claimed_and_nothing_else() {
    assert_eq!(element("userTask").execute, Extent::Full);
    assert_eq!(element("textAnnotation").execute, Extent::NotOperational);
    // A part is executed as far as what it is a part of.
    assert_eq!(element("timeDate").execute, element("timerEventDefinition").execute);
    let operational = [
        "dataObject",
        "dataInputAssociation",
        "ioSpecification",
        "dataInput",
        "potentialOwner",
        "messageFlow",
    ];
    for name in operational.into_iter().chain(["correlationKey", "interface", "globalUserTask"]) {
        assert_ne!(element(name).execute, Extent::NotOperational, "{name} has operational semantics");
    }
    assert_eq!(element("message").execute, Extent::Full);
    let timer = event("timer");
    assert_eq!((timer.start, timer.boundary, timer.throw), (Some(true), Some(true), None));
    let none = event("none");
    assert_eq!((none.start, none.catch, none.end), (Some(true), None, Some(true)));
    for one in &claims().elements {
        for feature in &one.features {
            assert_eq!(feature.execute == Extent::None, feature.notes.is_some(), "{}", feature.feature);
        }
    }
}

#[test]
fn the_claims_at_a_glance() {
    let mut text = String::new();
    for class in &claims().classes {
        let Share { supported, total } = class.elements;
        text += &format!("{} {:?} {supported}/{total} {:?}\n", class.id, class.status, class.missing);
    }
    for row in &claims().event_matrix {
        let places = [
            row.start,
            row.event_sub_interrupting,
            row.event_sub_non_interrupting,
            row.catch,
            row.boundary,
            row.boundary_non_interrupting,
            row.throw,
            row.end,
        ];
        let marks = places.map(|place| place.map_or('.', |executed| if executed { 'y' } else { 'n' }));
        text += &format!("{:17} {}\n", row.r#type, marks.iter().collect::<String>());
    }
    for one in &claims().elements {
        let marks = [(one.parse, 'r'), (one.export, 'w')].map(|(there, mark)| if there { mark } else { '-' });
        let clause = one.clause.unwrap_or_default();
        text += &format!("{} {:?} {} {clause}\n", marks.iter().collect::<String>(), one.execute, one.element);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn every_row_that_could_run_is_executed_or_refused_with_its_reason() {
    let runs = |group: Group| {
        group.is_flow_node() || matches!(group, Group::EventDefinition | Group::LoopCharacteristics)
    };
    for row in element_rows().iter().filter(|row| runs(row.group)) {
        let claim = element(row.name);
        assert!(!claim.features.is_empty() || !claim.positions.is_empty(), "{} is not tried", row.name);
        for feature in &claim.features {
            let told = feature.execute == Extent::Full || feature.notes.is_some();
            assert!(told, "{} is neither executed nor refused", feature.feature);
        }
        for at in &claim.positions {
            assert!(at.executed != at.notes.is_some(), "{} {} {}", row.name, at.r#type, at.place);
        }
    }
}

#[test]
fn nothing_is_claimed_that_was_not_tried() {
    let schema_has_attributes = [
        "innerConversationNodeRef",
        "innerMessageFlowRef",
        "outerConversationNodeRef",
        "outerMessageFlowRef",
    ];
    for row in element_rows().iter().filter(|row| row.group != Group::Diagram) {
        let claimed = claims().elements.iter().any(|one| one.element == row.name);
        assert_eq!(claimed, !schema_has_attributes.contains(&row.name), "{}", row.name);
        let tried = FEATURES.iter().chain(operational::all()).any(|one| one.element == row.name);
        let root = matches!(row.group, Group::Root | Group::Conversation | Group::ResourceRole);
        let whole = ["process", "collaboration", "choreography", "extension"].contains(&row.name);
        assert!(tried || whole || !root, "{} has no feature row", row.name);
    }
    for one in &claims().elements {
        assert!(one.export, "{} is lost in export", one.element);
    }
    assert!(!element("partnerRole").parse && !element("endPoint").parse && !element("ioBinding").parse);
}

#[test]
fn a_class_counts_what_is_missing_of_it() {
    let class = |id: &str| claims().classes.iter().find(|class| class.id == id).unwrap();
    let common = class("processModeling.commonExecutable");
    let types = "types in XML Schema";
    assert!(common.missing.iter().any(|missing| missing == types), "{:?}", common.missing);
    assert_eq!(common.status, Extent::Partial);
    let (execution, bpel) = (class("processExecution"), class("bpelProcessExecution"));
    assert!(bpel.elements.total > execution.elements.total);
    assert!(execution.missing.iter().all(|name| bpel.missing.contains(name)));
    assert!(!bpel.missing.iter().any(|name| name == "userTask to WS-BPEL"));
}
