//! CMMN 1.0 in and out, and on its way to 1.1.

use crate::roundtrip::survives;
use heddle_cmmn::xml::{self, MODEL_10_NS, MODEL_NS};

const OLD: &str = "<definitions xmlns=\"http://www.omg.org/spec/CMMN/20131201/MODEL\" targetNamespace=\"urn:t\">
  <case id=\"c\" description=\"what it is for\">
    <casePlanModel id=\"p\" exitCriteriaRefs=\"s2\">
      <planItem id=\"a\" definitionRef=\"task\" entryCriteriaRefs=\"s1 s2\" exitCriteriaRefs=\"s2\">
        <itemControl><repetitionRule contextRef=\"f\"><condition language=\"l\"><body>${x &lt; 1}</body></condition>
        </repetitionRule></itemControl>
      </planItem>
      <sentry id=\"s1\"><planItemOnPart sourceRef=\"a\" sentryRef=\"s2\"><standardEvent>exit</standardEvent></planItemOnPart>
      </sentry>
      <sentry id=\"s2\"><ifPart><condition><body>${y}</body></condition></ifPart></sentry>
      <processTask id=\"task\" description=\"d\"><inputs id=\"in\" name=\"n\"/><outputs id=\"out\"/></processTask>
    </casePlanModel>
    <caseRoles id=\"r1\" name=\"one\"/>
    <caseRoles id=\"r2\" name=\"two\"/>
  </case>
</definitions>";

#[test]
fn the_older_version_stays_what_it_is() {
    survives(OLD);
    survives(&OLD.replace("<body>${y}</body>", "${y}").replace("<body>${x &lt; 1}</body>", "x"));
    survives(&OLD.replace("\"s1 s2\"", "\" s1  s2\""));
    let definition = xml::read(OLD.as_bytes()).unwrap().definition;
    assert_eq!(definition.cmmn_version.as_deref(), Some("1.0"));
    let case = &definition.cases.as_ref().unwrap()[0];
    assert_eq!(case.roles.as_ref().unwrap().len(), 2);
    let plan = case.case_plan_model.as_deref().unwrap();
    let item = &plan.items.as_ref().unwrap()[0];
    let sentries: Vec<_> =
        item.entry_criteria.iter().flatten().filter_map(|own| own.sentry_ref.as_deref()).collect();
    assert_eq!(sentries, ["s1", "s2"]);
    let rule = item.item_control.as_ref().unwrap().repetition_rule.as_ref().unwrap();
    assert_eq!(rule.condition.as_ref().unwrap().body.as_deref(), Some("${x < 1}"));
}

#[test]
fn the_older_version_can_be_written_as_the_newer_one() {
    let mut definition = xml::read(OLD.as_bytes()).unwrap().definition;
    definition.cmmn_version = None;
    let written = xml::write(&definition).unwrap();
    assert_eq!(written.diagnostics, []);
    let text = written.xml;
    assert!(text.contains(MODEL_NS) && !text.contains(MODEL_10_NS), "{text}");
    for part in ["<entryCriterion sentryRef=\"s1\"/>", "<role id=\"r2\" name=\"two\"/>", "<input id=\"in\""] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    for part in ["<body", "CriteriaRefs", "<inputs"] {
        assert!(!text.contains(part), "{part} stands in {text}");
    }
    let again = xml::read(text.as_bytes()).unwrap().definition;
    assert_eq!(again.cases, definition.cases, "{text}");
    survives(&text);
}

#[test]
fn words_of_the_other_version_are_kept() {
    let source = format!(
        "<definitions xmlns=\"{MODEL_NS}\"><case id=\"c\"><casePlanModel id=\"p\"><task id=\"t\"><inputs id=\"i\"/>\
         </task><planItem id=\"a\" definitionRef=\"t\" entryCriteriaRefs=\"s\"/></casePlanModel></case></definitions>"
    );
    survives(&source);
    let definition = xml::read(source.as_bytes()).unwrap().definition;
    let plan = definition.cases.unwrap()[0].case_plan_model.clone().unwrap();
    assert_eq!(plan.items.unwrap()[0].entry_criteria, None);
    assert_eq!(plan.definitions.unwrap()[0].inputs, None);
}
