//! Documents of every version in, DMN 1.5 out.

use heddle_dmn::model::DecisionModel;
use heddle_dmn::{EvalOptions, Severity, compile, xml};
use heddle_feel::to_json;
use heddle_kernel::Timestamp;
use serde_json::{Value as Json, json};

use crate::tck::{model_files, suite};

/// A small model as tools of that version write it.
fn small(namespace: &str, feel: &str, kind: &str) -> String {
    format!(
        r##"<?xml version="1.0" encoding="UTF-8"?>
<dmn:definitions xmlns:dmn="{namespace}" xmlns:feel="{feel}" xmlns:x="urn:x" id="defs" name="small" namespace="urn:small" expressionLanguage="{feel}" x:mark="1">
  <!-- kept -->
  <dmn:itemDefinition id="t" name="tAge"><dmn:typeRef>{kind}number</dmn:typeRef><dmn:allowedValues><dmn:text>[0..150]</dmn:text></dmn:allowedValues></dmn:itemDefinition>
  <dmn:inputData id="i" name="Applicant Age"><dmn:variable name="Applicant Age" typeRef="tAge"/></dmn:inputData>
  <dmn:decision id="d" name="Fare Class">
    <dmn:extensionElements><x:note>mine</x:note></dmn:extensionElements>
    <dmn:variable name="Fare Class" typeRef="{kind}string"/>
    <dmn:informationRequirement id="r"><dmn:requiredInput href="#i"/></dmn:informationRequirement>
    <dmn:decisionTable id="table" hitPolicy="FIRST">
      <dmn:input id="in"><dmn:inputExpression><dmn:text>Applicant Age</dmn:text></dmn:inputExpression></dmn:input>
      <dmn:output id="out"/>
      <dmn:rule id="r1"><dmn:inputEntry><dmn:text>&lt; 18</dmn:text></dmn:inputEntry><dmn:outputEntry><dmn:text>"child"</dmn:text></dmn:outputEntry></dmn:rule>
      <dmn:rule id="r2"><dmn:inputEntry><dmn:text>-</dmn:text></dmn:inputEntry><dmn:outputEntry><dmn:text>"adult"</dmn:text></dmn:outputEntry></dmn:rule>
    </dmn:decisionTable>
  </dmn:decision>
  <x:diagram>kept too</x:diagram>
</dmn:definitions>"##
    )
}

fn options() -> EvalOptions {
    EvalOptions::new(Timestamp::from_micros(0))
}

fn evaluate(model: &DecisionModel, decision: &str, input: &Json) -> Json {
    let compiled = compile(std::slice::from_ref(model));
    let input = input.as_object().expect("an object");
    to_json(&compiled.model.evaluate(decision, input, &options()).expect("a result").value)
}

#[test]
fn every_version_is_read_and_written_as_1_5() {
    for (namespace, feel, kind, known) in [
        (
            "http://www.omg.org/spec/DMN/20151101/dmn.xsd",
            "http://www.omg.org/spec/FEEL/20140401",
            "feel:",
            true,
        ),
        (
            "http://www.omg.org/spec/DMN/20180521/MODEL/",
            "http://www.omg.org/spec/DMN/20180521/FEEL/",
            "",
            true,
        ),
        (
            "https://www.omg.org/spec/DMN/20191111/MODEL/",
            "https://www.omg.org/spec/DMN/20191111/FEEL/",
            "",
            true,
        ),
        (
            "https://www.omg.org/spec/DMN/20211108/MODEL/",
            "https://www.omg.org/spec/DMN/20211108/FEEL/",
            "",
            true,
        ),
        (
            "https://www.omg.org/spec/DMN/20230324/MODEL/",
            "https://www.omg.org/spec/DMN/20230324/FEEL/",
            "",
            true,
        ),
        (
            "https://www.omg.org/spec/DMN/20271231/MODEL/",
            "https://www.omg.org/spec/DMN/20271231/FEEL/",
            "",
            false,
        ),
    ] {
        let read = xml::read(small(namespace, feel, kind).as_bytes()).expect(namespace);
        let warned = read.diagnostics.iter().any(|found| found.code == "unknownVersion");
        assert_eq!(warned, !known, "{namespace}: {:?}", read.diagnostics);
        for (age, class) in
            [(json!(17), json!("child")), (json!(18), json!("adult")), (json!(200), json!("adult"))]
        {
            let input = json!({ "Applicant Age": age });
            assert_eq!(evaluate(&read.model, "Fare Class", &input), class, "{namespace} {age}");
        }
        let written = xml::write(&read.model).expect(namespace);
        for part in
            [xml::MODEL_NS, xml::FEEL_NS, "<!-- kept -->", "<x:diagram>kept too", "<x:note>mine", "x:mark"]
        {
            assert!(written.contains(part), "{namespace}: {part} in {written}");
        }
        assert!(!written.contains("feel:string") && !written.contains("20151101"), "{written}");
        let again = xml::read(written.as_bytes()).expect("what was written");
        assert!(again.diagnostics.is_empty(), "{:?}", again.diagnostics);
        assert_eq!(without_source(again.model), without_source(read.model), "{namespace}");
    }
}

fn without_source(model: DecisionModel) -> DecisionModel {
    DecisionModel { source_xml: None, ..model }
}

#[test]
fn a_changed_model_keeps_what_it_has_no_member_for() {
    let mut model = xml::read(small(xml::MODEL_NS, xml::FEEL_NS, "").as_bytes()).expect("a model").model;
    model.decisions[0].question = Some("Which <class>?".to_owned());
    let written = xml::write(&model).expect("a document");
    for part in ["<x:diagram>kept too", "<x:note>mine", "x:mark=\"1\"", "<!-- kept -->", "Which &lt;class"] {
        assert_eq!(written.matches(part).count(), 1, "{part} in {written}");
    }
    let again = xml::read(written.as_bytes()).expect("what was written").model;
    assert_eq!(without_source(again), without_source(model));
}

#[test]
fn models_of_the_kit_survive_writing() {
    let Some(suite) = suite() else { return };
    let files = model_files(&suite);
    assert!(files.len() > 100);
    for path in files {
        let name = path.display();
        let model = xml::read(&std::fs::read(&path).expect("a model")).expect("a model").model;
        let kept = xml::read(xml::write(&model).expect("a document").as_bytes()).expect("a document").model;
        let bare = without_source(model);
        assert_eq!(without_source(kept), bare, "{name}");
        let fresh = xml::read(xml::write(&bare).expect("a document").as_bytes()).expect("a document").model;
        assert_eq!(without_source(fresh), bare, "{name}");
        let json = serde_json::to_string(&bare).expect("JSON");
        assert_eq!(serde_json::from_str::<DecisionModel>(&json).expect("a model"), bare, "{name}");
    }
}

#[test]
fn unknown_members_are_refused() {
    let error = serde_json::from_value::<DecisionModel>(json!({ "decisions": [{ "nme": "x" }] }))
        .expect_err("refused");
    assert!(error.to_string().contains("nme"), "{error}");
    let nested = json!({ "decisions": [{ "expression": { "type": "list", "itms": [] } }] });
    assert!(serde_json::from_value::<DecisionModel>(nested).is_err());
}

fn decision(body: &str) -> String {
    format!(
        r#"<definitions xmlns="{}" name="m" namespace="urn:m"><decision id="d" name="d">{body}</decision></definitions>"#,
        xml::MODEL_NS
    )
}

#[test]
fn bad_documents_are_refused() {
    let bomb = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><definitions>&b;</definitions>";
    let lists = decision(&format!("{}{}", "<list>".repeat(10_000), "</list>".repeat(10_000)));
    let fewer = decision(&format!("{}{}", "<list>".repeat(200), "</list>".repeat(200)));
    let elements = decision(&"<a/>".repeat(600_000));
    for (source, reason) in [
        (bomb, "dtdForbidden"),
        (&*lists, "tooDeep"),
        (&*fewer, "nestingTooDeep"),
        (&*elements, "tooManyElements"),
        ("<definitions/>", "notDmn"),
        ("", "empty"),
        ("<definitions", "malformed"),
    ] {
        let error = xml::read(source.as_bytes()).expect_err(reason);
        assert_eq!(error.reason, reason, "{error}");
    }
}

#[test]
fn a_wrong_namespace_of_feel_is_feel() {
    let source = format!(
        "<definitions xmlns=\"{}\" xmlns:feel=\"urn:mistaken\" name=\"m\" namespace=\"urn:m\"><inputData id=\"i\" name=\"i\"><variable name=\"i\" typeRef=\"feel:number\"/></inputData></definitions>",
        xml::MODEL_NS
    );
    let model = xml::read(source.as_bytes()).expect("a model").model;
    let kind = |model: &DecisionModel| {
        model.input_data[0].variable.as_ref().and_then(|variable| variable.type_ref.clone())
    };
    assert_eq!(kind(&model).as_deref(), Some("number"));
    let anew = xml::write(&DecisionModel { source_xml: None, ..model }).expect("a document");
    assert_eq!(kind(&xml::read(anew.as_bytes()).expect("a model").model).as_deref(), Some("number"));
}

#[test]
fn elements_of_other_versions_are_elements_of_the_model() {
    let source = format!(
        "<definitions xmlns=\"http://www.omg.org/spec/DMN/20151101/dmn.xsd\" name=\"m\" namespace=\"urn:m\"><inputData id=\"i\" name=\"i\"><variable name=\"v\" xmlns=\"{}\" typeRef=\"string\"/></inputData></definitions>",
        xml::MODEL_NS
    );
    let model = xml::read(source.as_bytes()).expect("a model").model;
    let again = xml::read(xml::write(&model).expect("a document").as_bytes()).expect("a model").model;
    assert!(model.input_data[0].variable.is_some());
    assert_eq!(again.input_data, model.input_data);
}

#[test]
fn elements_within_texts_stay_as_they_are() {
    let source = "<definitions xmlns=\"http://www.omg.org/spec/DMN/20151101/dmn.xsd\" name=\"m\" namespace=\"urn:m\"><itemDefinition name=\"t\"><typeRef>feel:<typeRef>feel:number</typeRef></typeRef><allowedValues><text>1<typeRef>feel:number</typeRef></text></allowedValues></itemDefinition></definitions>";
    let model = xml::read(source.as_bytes()).expect("a model").model;
    let again = xml::read(xml::write(&model).expect("a document").as_bytes()).expect("a model").model;
    assert_eq!(again.item_definitions, model.item_definitions);
}

#[test]
fn cycles_are_refused_by_name() {
    let decision = |id: &str, other: &str| {
        format!(
            "<decision id=\"{id}\" name=\"{id}\"><informationRequirement><requiredDecision href=\"#{other}\"/></informationRequirement><literalExpression><text>{other}</text></literalExpression></decision>"
        )
    };
    let decisions =
        [decision("a", "b"), decision("b", "c"), decision("c", "a"), decision("own", "own")].concat();
    let source = format!(
        "<definitions xmlns=\"{}\" name=\"m\" namespace=\"urn:m\">{decisions}</definitions>",
        xml::MODEL_NS
    );
    let model = xml::read(source.as_bytes()).expect("a model").model;
    let compiled = compile(&[model]);
    let cycles: Vec<&str> = compiled
        .diagnostics
        .iter()
        .filter(|found| found.code == "requirementCycle" && found.severity == Severity::Error)
        .map(|found| &*found.message)
        .collect();
    assert_eq!(cycles.len(), 2, "{cycles:?}");
    assert!(cycles[0].contains("a -> b -> c -> a") && cycles[1].contains("own -> own"), "{cycles:?}");
    let outcome = compiled.model.evaluate("a", &(), &options()).expect("null");
    assert!(outcome.value.is_null() && outcome.reasons[0].message.contains("cycle"), "{outcome:?}");
    assert!(compiled.strict().is_err());
}

#[test]
fn errors_of_feel_tell_their_place() {
    let source = format!(
        "<definitions xmlns=\"{}\" name=\"m\" namespace=\"urn:m\">\n<decision id=\"d\" name=\"d\">\n <literalExpression id=\"e\">\n  <text>1 +\n  * 2</text></literalExpression></decision></definitions>",
        xml::MODEL_NS
    );
    let compiled = compile(&[xml::read(source.as_bytes()).expect("a model").model]);
    let [found] = compiled.diagnostics.as_slice() else { panic!("{:?}", compiled.diagnostics) };
    assert_eq!((&*found.code, found.element_id.as_deref()), ("feelSyntax", Some("e")));
    assert_eq!((found.line, found.column), (Some(5), Some(3)));
    let place = found.expression.expect("a place");
    assert_eq!((place.line, place.column), (2, 3));
}

#[test]
fn endless_recursion_and_work_are_limited() {
    for (text, part) in
        [("{f: function(n) f(n + 1), r: f(1)}.r", "deep"), ("for i in 1..1000000000 return i", "steps")]
    {
        let source = decision(&format!("<literalExpression><text>{text}</text></literalExpression>"));
        let compiled = compile(&[xml::read(source.as_bytes()).expect("a model").model]);
        let error = compiled.model.evaluate("d", &(), &options()).expect_err(text);
        assert!(error.to_string().contains(part) || error.to_string().contains("items"), "{error}");
    }
}

#[test]
fn undeclared_inputs_are_taken_from_the_context_and_explained() {
    let source = decision(
        r#"<decisionTable id="t" hitPolicy="COLLECT"><input><inputExpression><text>season</text></inputExpression></input><output name="dish"/>
        <rule id="r1"><inputEntry><text>"Winter"</text></inputEntry><outputEntry><text>"Stew"</text></outputEntry></rule>
        <rule id="r2"><inputEntry><text>not("Summer")</text></inputEntry><outputEntry><text>"Soup"</text></outputEntry></rule>
        <rule id="r3"><inputEntry><text>"Summer"</text></inputEntry><outputEntry><text>"Salad"</text></outputEntry></rule></decisionTable>"#,
    );
    let compiled = compile(&[xml::read(source.as_bytes()).expect("a model").model]);
    assert!(compiled.diagnostics.is_empty(), "{:?}", compiled.diagnostics);
    let input = json!({ "season": "Winter" });
    let explain = EvalOptions { explain: true, ..options() };
    let outcome =
        compiled.model.evaluate("d", input.as_object().expect("an object"), &explain).expect("a value");
    assert_eq!(to_json(&outcome.value), json!(["Stew", "Soup"]));
    let explained = serde_json::to_value(outcome.explanation.expect("an explanation")).expect("JSON");
    let table = &explained["decisions"][0]["tables"][0];
    assert_eq!(table["inputs"], json!([{ "expression": "season", "value": "Winter" }]));
    let hits = json!([{ "rule": 1, "id": "r1", "outputs": ["Stew"] }, { "rule": 2, "id": "r2", "outputs": ["Soup"] }]);
    assert_eq!(table["hits"], hits);
}

#[test]
fn an_index_finds_the_same_rules_as_looking_at_each() {
    let entries = ["&lt; 10", "[10..20)", "20", "not(30)", "&gt;= 25", "-", "5, 7, [40..50]", "&lt;= 3"];
    let words = ["\"a\"", "\"b\", \"c\"", "-", "not(\"a\")"];
    let rule = |at: usize| {
        format!(
            "<rule><inputEntry><text>{}</text></inputEntry><inputEntry><text>{}</text></inputEntry><outputEntry><text>{at}</text></outputEntry></rule>",
            entries[at % entries.len()],
            words[at / entries.len() % words.len()]
        )
    };
    let table = |rules: &[usize]| {
        let rules: String = rules.iter().map(|at| rule(*at)).collect();
        let body = format!(
            "<decisionTable hitPolicy=\"COLLECT\"><input><inputExpression><text>n</text></inputExpression></input><input><inputExpression><text>w</text></inputExpression></input><output/>{rules}</decisionTable>"
        );
        xml::read(decision(&body).as_bytes()).expect("a model").model
    };
    let all: Vec<usize> = (0..32).collect();
    let large = compile(&[table(&all)]).model;
    let small: Vec<_> = all.chunks(8).map(|some| compile(&[table(some)]).model).collect();
    for n in [
        json!(0),
        json!(3),
        json!(5),
        json!(9.5),
        json!(10),
        json!(20),
        json!(25),
        json!(30),
        json!(45),
        json!(null),
        json!("x"),
    ] {
        for w in [json!("a"), json!("b"), json!("z"), json!(null)] {
            let input = json!({ "n": n, "w": w });
            let input = input.as_object().expect("an object");
            let of = |model: &heddle_dmn::Model| match to_json(
                &model.evaluate("d", input, &options()).expect("a value").value,
            ) {
                Json::Array(items) => items,
                _ => Vec::new(),
            };
            let looked: Vec<Json> = small.iter().flat_map(&of).collect();
            assert_eq!(of(&large), looked, "{n} {w}");
        }
    }
}

#[test]
fn names_of_its_own_are_no_missing_requirements() {
    let source = r##"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" name="m" namespace="urn:m">
        <decision id="a" name="a"><variable name="a"/><literalExpression><text>1</text></literalExpression></decision>
        <decision id="b" name="b"><variable name="b"/><literalExpression><text>a + 1</text></literalExpression></decision>
        <businessKnowledgeModel id="f" name="f"><variable name="f"/><encapsulatedLogic>
          <formalParameter name="a"/><literalExpression><text>a + 1</text></literalExpression></encapsulatedLogic>
        </businessKnowledgeModel>
        <decision id="c" name="c"><variable name="c"/><context><contextEntry><variable name="a"/>
          <literalExpression><text>2</text></literalExpression></contextEntry>
          <contextEntry><literalExpression><text>a + 1</text></literalExpression></contextEntry></context></decision>
        </definitions>"##;
    let compiled = compile(&[xml::read(source.as_bytes()).unwrap().model]);
    let told: Vec<_> =
        compiled.diagnostics.iter().map(|one| (one.code.as_str(), one.element_id.as_deref())).collect();
    assert_eq!(told, [("requirementNotDeclared", Some("b"))]);
}
