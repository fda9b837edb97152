//! Read, JSON, write: the document says the same afterwards, element by element.

use crate::lines::lines;
use heddle_cmmn::xml::{self, CMMNDI_NS, DC_NS, DI_NS, MODEL_NS, element_rows};

/// A document with every element and every attribute of the schema in at least one place, in the schema's order.
const EVERYTHING: &str = include_str!("everything.cmmn");

/// What a document becomes on its way through the definition's JSON text.
fn exported(source: &[u8]) -> String {
    let imported = xml::read(source).unwrap_or_else(|error| panic!("{error}"));
    let json = serde_json::to_string(&imported.definition).unwrap();
    let written = xml::write(&serde_json::from_str(&json).unwrap()).unwrap();
    assert_eq!(written.diagnostics, [], "{}", written.xml);
    let again = xml::read(written.xml.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{}", written.xml));
    assert_eq!(again.definition, imported.definition, "{}", written.xml);
    written.xml
}

/// The same document comes out, in the same order.
pub(crate) fn survives(source: &str) -> String {
    let written = exported(source.as_bytes());
    let (before, after) = (lines(source), lines(&written));
    if let Some(at) = before.iter().zip(&after).position(|(before, after)| before != after) {
        panic!("{}\nbecame\n{}\nafter {}\n\n{written}", before[at], after[at], before[..at].join("\n"));
    }
    assert_eq!(before.len(), after.len(), "{written}");
    written
}

fn document(body: &str) -> String {
    format!(
        "<c:definitions xmlns:c=\"{MODEL_NS}\" xmlns:cmmndi=\"{CMMNDI_NS}\" xmlns:di=\"{DI_NS}\" xmlns:dc=\"{DC_NS}\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:v=\"urn:v\" xmlns:t=\"urn:t\" \
         targetNamespace=\"urn:t\">{body}</c:definitions>"
    )
}

fn plan(body: &str) -> String {
    document(&format!("<c:case id=\"k\"><c:casePlanModel id=\"p\">{body}</c:casePlanModel></c:case>"))
}

#[test]
fn every_element_and_attribute_of_the_schema_survives() {
    // These are words of CMMN 1.0.
    for row in element_rows().iter().filter(|row| !["body", "inputs", "outputs"].contains(&row.name)) {
        let found = [' ', '>', '/'].iter().any(|end| EVERYTHING.contains(&format!(":{}{end}", row.name)));
        assert!(found, "the document lacks {}", row.name);
    }
    survives(EVERYTHING);
}

#[test]
fn every_element_has_its_member() {
    let imported = xml::read(EVERYTHING.as_bytes()).unwrap();
    assert_eq!(imported.diagnostics, []);
    // What is kept beside the members is the vendor's, and documentation and ids where the model has no member.
    let fragments = imported.definition.fragments.unwrap();
    for fragment in fragments.iter().filter(|fragment| !fragment.contains("heddle:prolog")) {
        let unexpected = ["<cmmn:documentation", "<cmmn:extensionElements", "<di:extension", "<v:", "<any"];
        let inner = fragment.split_once('>').map_or("", |(_, inner)| inner);
        let first = inner.trim_start();
        let expected = first.is_empty() || unexpected.iter().any(|own| first.starts_with(own));
        assert!(expected || fragment.contains("heddle:content"), "{fragment}");
    }
    assert!(
        imported
            .items
            .iter()
            .all(|item| item.source_kind.as_deref().is_some_and(|own| own.starts_with("v:")))
    );
}

#[test]
fn every_element_survives_under_the_default_namespace() {
    let source = EVERYTHING
        .replace("<cmmn:", "<")
        .replace("</cmmn:", "</")
        .replace("xmlns:cmmn=", "xmlns=")
        .replace("\"cmmn:", "\"");
    survives(&source);
}

#[test]
fn order_comments_and_stray_text_survive() {
    let rows = [
        "<c:task id=\"a\"/><c:sentry id=\"s\"/><c:planItem id=\"i\" definitionRef=\"a\"/><c:stage id=\"g\"/>\
         <c:planItem id=\"j\" definitionRef=\"g\"/>",
        "<!-- one --><c:task id=\"a\"><!-- two --></c:task><?pi three?>loose &amp; text",
        "<c:task><!-- a --></c:task><c:task/><c:task v:x=\"1\"/>",
        "<c:task id=\"a\"><c:extensionElements v:a=\"1\"><!-- a --><v:x/><!-- b --></c:extensionElements></c:task>\
         <c:task id=\"b\"><c:extensionElements><!-- only --></c:extensionElements></c:task>",
        "<c:task id=\"a\"><c:documentation>a<!-- c -->b <i>c</i></c:documentation></c:task>",
        "<c:planningTable id=\"t\"><c:discretionaryItem id=\"d\"/><c:planningTable id=\"u\"/>\
         <c:discretionaryItem id=\"e\"/></c:planningTable>",
        "<c:planItem id=\"i\" definitionRef=\"a\"><c:exitCriterion sentryRef=\"s\"/><c:entryCriterion v:a=\"1\" \
         sentryRef=\"s\"/><c:entryCriterion/></c:planItem><v:own/>",
        "<c:planItem id=\"i\"><c:itemControl><c:requiredRule/><c:repetitionRule><c:condition language=\"l\" id=\"x\">\
         <![CDATA[a < b]]></c:condition></c:repetitionRule><c:requiredRule/></c:itemControl></c:planItem>",
        "<c:sentry id=\"s\"><c:ifPart><c:condition>a<!-- b -->c</c:condition></c:ifPart><c:caseFileItemOnPart \
         sourceRef=\"f\"><c:standardEvent> update </c:standardEvent></c:caseFileItemOnPart><c:planItemOnPart/></c:sentry>",
    ];
    for row in rows {
        survives(&plan(row));
    }
    for row in [
        "<c:case id=\"a\"><c:caseRoles/><c:casePlanModel/></c:case><c:decision id=\"d\"/><c:process id=\"p\"/>",
        "<c:case id=\"a\"><c:caseRoles id=\"r\"><c:role id=\"x\"/></c:caseRoles><c:caseRoles/></c:case>",
        "<c:case id=\"a\"><c:caseFileModel><c:caseFileItem id=\"f\"><c:children id=\"n\"/></c:caseFileItem>\
         </c:caseFileModel></c:case>",
        "<c:extensionElements/><cmmndi:CMMNDI/>",
    ] {
        survives(&document(row));
    }
    let around = format!("<?xml version=\"1.0\"?><!-- before --><?pi x?>{}<!-- after -->", document(""));
    survives(&around);
}

#[test]
fn ids_that_several_elements_have_keep_their_own_content() {
    survives(&plan(
        "<c:task id=\"same\" v:a=\"1\"/><c:task id=\"same\" v:a=\"2\"/><c:task id=\"definitions\" v:a=\"4\"/>",
    ));
}

#[test]
fn way_points_keep_their_types() {
    let edge = |points: &str| {
        document(&format!(
            "<cmmndi:CMMNDI><cmmndi:CMMNDiagram><cmmndi:CMMNEdge>{points}</cmmndi:CMMNEdge></cmmndi:CMMNDiagram>\
             </cmmndi:CMMNDI>"
        ))
    };
    let typed = "<di:waypoint xsi:type=\"dc:Point\" x=\"1\" y=\"2\"/>";
    survives(&edge(&format!("{typed}<di:waypoint x=\"1\" y=\"2\"/>{typed}")));
    survives(&edge(&format!("<di:waypoint x=\"1.0\" y=\"2\"/>{typed}")));
    let definition = xml::read(edge(&typed.repeat(9)).as_bytes()).unwrap().definition;
    assert_eq!(definition.fragments.map(|kept| kept.len()), Some(1), "one note for the document");
}

#[test]
fn members_hold_what_the_document_says() {
    let definition = xml::read(EVERYTHING.as_bytes()).unwrap().definition;
    let case = &definition.cases.as_ref().unwrap()[0];
    assert_eq!(case.roles.as_ref().unwrap().len(), 2);
    let file = case.case_file.as_ref().unwrap().items.as_ref().unwrap();
    assert_eq!(file[0].target_refs.as_deref(), Some(["File_2".to_owned(), "File_3".to_owned()].as_slice()));
    let plan = case.case_plan_model.as_deref().unwrap();
    assert_eq!(plan.r#type.as_deref(), Some("casePlanModel"));
    assert_eq!(plan.auto_complete, Some(true));
    let types: Vec<&str> =
        plan.definitions.as_ref().unwrap().iter().filter_map(|own| own.r#type.as_deref()).collect();
    assert_eq!(
        types,
        [
            "task",
            "humanTask",
            "processTask",
            "caseTask",
            "decisionTask",
            "stage",
            "planFragment",
            "milestone",
            "eventListener",
            "timerEventListener",
            "timerEventListener",
            "userEventListener"
        ]
    );
    let sentry = &plan.sentries.as_ref().unwrap()[0];
    let events: Vec<_> =
        sentry.on_parts.iter().flatten().filter_map(|on| on.standard_event.as_deref()).collect();
    assert_eq!(events, ["exit", "update"]);
    let condition = sentry.if_part.as_ref().unwrap().condition.as_ref().unwrap();
    assert_eq!(
        (condition.body.as_deref(), condition.language.as_deref()),
        (Some("a < b"), Some("urn:language"))
    );
}
