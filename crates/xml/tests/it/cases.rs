//! Cases in and out.

use super::cmmn::{Definitions, PlanItem, read, write};

const CASE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- a claim -->
<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL" xmlns:dc="http://www.omg.org/spec/CMMN/20151109/DC" xmlns:di="http://www.omg.org/spec/CMMN/20151109/CMMNDI" xmlns:own="urn:own" xmlns:v="urn:vendor" id="d" targetNamespace="urn:own" v:tool="7">
  <case id="claim" name="Claim">
    <documentation>What is &lt;claimed&gt;.</documentation>
    <casePlanModel id="plan" autoComplete="1">
      <extensionElements><v:settings level="3"/></extensionElements>
      <planItem id="assess" definitionRef="own:task" v:color="red">
        <entryCriterion id="in" sentryRef="when"/>
        <itemControl><repetitionRule/></itemControl>
      </planItem>
      <sentry id="when">
        <planItemOnPart sourceRef="assess" v:first="yes">
          <standardEvent>complete</standardEvent>
        </planItemOnPart>
        <ifPart>
          <condition language="feel">amount &gt; 5<!-- euros --></condition>
        </ifPart>
      </sentry>
      <humanTask id="task" performerRef="clerk" blockingExtra="x"/>
      <sentry id="never"/>
      <stage id="inner">
        <milestone id="done"/>
      </stage>
    </casePlanModel>
  </case>
  <di:CMMNShape id="s" cmmnElementRef="assess">
    <dc:Bounds x="5.0" width="100.50"/>
  </di:CMMNShape>
  <v:beside v:n="1"/>
</definitions>
<!-- end -->
"#;

fn claim() -> Definitions {
    read(CASE).unwrap().0
}

#[test]
fn a_case_becomes_its_model() {
    let (model, notes) = read(CASE).unwrap();
    let case = &model.cases.as_deref().unwrap()[0];
    let plan = case.plan.as_ref().unwrap();
    assert_eq!((case.name.as_deref(), plan.auto_complete), (Some("Claim"), Some(true)));
    let item = &plan.items.as_deref().unwrap()[0];
    assert_eq!(
        item.definition.as_deref(),
        Some("task"),
        "a prefix of the model's own namespace says nothing"
    );
    assert_eq!(item.entry.as_deref().unwrap()[0].sentry.as_deref(), Some("when"));
    let [when, never] = plan.sentries.as_deref().unwrap() else { panic!("two sentries") };
    assert_eq!(when.on.as_deref().unwrap()[0].event.as_deref(), Some("complete"));
    let condition = when.condition.as_ref().unwrap();
    assert_eq!(
        (condition.text.as_deref(), condition.language.as_deref()),
        (Some("amount > 5"), Some("feel"))
    );
    assert_eq!(never.id.as_deref(), Some("never"));
    let elements: Vec<&str> =
        plan.definitions.as_deref().unwrap().iter().map(|definition| definition.element.as_str()).collect();
    assert_eq!(elements, ["humanTask", "stage"]);
    let shape = &model.shapes.as_deref().unwrap()[0];
    assert_eq!(shape.bounds.as_ref().unwrap().x, Some(5.0));
    assert_eq!(notes.findings, []);
    let preserved = ["@v:tool", "documentation", "extensionElements", "@v:color", "itemControl", "@v:first"];
    assert_eq!(notes.preserved[..6], preserved);
    assert_eq!(
        notes.preserved[6..],
        ["v:beside"],
        "a comment in a text and an attribute without namespace stay"
    );
}

#[test]
fn what_was_read_is_written_again_to_the_letter() {
    let model = claim();
    assert!(model.fragments.iter().all(|fragment| fragment.starts_with("<heddle:residue for=\"")));
    assert_eq!(write(&model).unwrap(), (CASE.to_owned(), Vec::new()));
}

#[test]
fn what_is_preserved_is_known_by_its_element_and_lost_with_it() {
    let mut model = claim();
    let plan = model.cases.as_mut().unwrap()[0].plan.as_mut().unwrap();
    let items = plan.items.as_mut().unwrap();
    items.insert(0, PlanItem { id: Some("before".to_owned()), ..PlanItem::default() });
    plan.sentries.as_mut().unwrap().retain(|sentry| sentry.id.as_deref() != Some("when"));
    let (xml, orphaned) = write(&model).unwrap();
    assert_eq!(orphaned, ["when/ifPart[0]/condition[0]", "when/planItemOnPart[0]"]);
    assert!(xml.contains("<planItem id=\"before\"/>"), "{xml}");
    assert!(xml.contains("definitionRef=\"own:task\" v:color=\"red\""), "{xml}");
    let order =
        ["<planItem id=\"before\"", "<planItem id=\"assess\"", "id=\"never\"", "<humanTask", "<stage"];
    let places: Vec<usize> = order.iter().map(|part| xml.find(part).unwrap()).collect();
    assert!(places.is_sorted(), "what was noted of the order holds for what is left: {xml}");
}

#[test]
fn stages_nest_to_a_bound() {
    let nested = |depth: usize| {
        let (open, close) = (r#"<stage id="s">"#.repeat(depth), "</stage>".repeat(depth));
        format!(
            r#"<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL"><case><casePlanModel>{open}{close}</casePlanModel></case></definitions>"#
        )
    };
    assert!(read(&nested(4)).is_ok());
    let error = read(&nested(5)).unwrap_err();
    assert_eq!((error.reason, error.message.as_str()), ("nestingTooDeep", "Stages are nested too deep."));
}

#[test]
fn a_case_from_nothing_declares_what_it_uses() {
    let mut model = claim();
    (model.namespaces, model.fragments) = Default::default();
    let (xml, _) = write(&model).unwrap();
    assert!(
        xml.contains("<cmmn:definitions xmlns:cmmn=\"http://www.omg.org/spec/CMMN/20151109/MODEL\""),
        "{xml}"
    );
    assert!(
        xml.contains("<cmmn:condition language=\"feel\">amount &gt; 5</cmmn:condition>"),
        "no type: {xml}"
    );
    assert!(!xml.contains("xmlns:heddle") && !xml.contains("xmlns:xsi"), "{xml}");
    let again = read(&xml).unwrap().0;
    assert_eq!((again.cases, again.shapes, again.fragments), (model.cases, model.shapes, Vec::new()));
}
