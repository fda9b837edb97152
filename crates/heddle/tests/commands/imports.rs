//! Imports of folders, of models with their decisions, and of what is not right yet.

use std::io::Write as _;

use super::*;

const RULE: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d" targetNamespace="urn:x">
  <process id="p" isExecutable="true"><startEvent id="s"><outgoing>f1</outgoing></startEvent><sequenceFlow id="f1" sourceRef="s" targetRef="t"/>
  <businessRuleTask id="t" name="Set the fee" camunda:decisionRef="fee" camunda:resultVariable="fee"
    camunda:mapDecisionResult="singleEntry"><incoming>f1</incoming><outgoing>f2</outgoing></businessRuleTask>
  <sequenceFlow id="f2" sourceRef="t" targetRef="e"/><endEvent id="e"><incoming>f2</incoming></endEvent></process></definitions>"#;
const FEES: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="fees" name="fees" namespace="urn:fees">
  <import name="base" namespace="urn:base" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>
  <decision id="fee" name="Fee"><variable name="Fee"/>
    <informationRequirement><requiredDecision href="urn:base#least"/></informationRequirement>
    <literalExpression><text>base.Least + 2</text></literalExpression></decision></definitions>"#;
const BASE: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="base" name="base" namespace="urn:base">
  <decision id="least" name="Least"><variable name="Least"/><literalExpression><text>1</text></literalExpression></decision></definitions>"#;
const ALONE: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="al" name="alone" namespace="urn:alone">
  <decision id="answer" name="Answer"><variable name="Answer"/><literalExpression><text>42</text></literalExpression></decision></definitions>"#;
const LOAN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d" targetNamespace="urn:x">
  <process id="p" isExecutable="true"><startEvent id="s"><outgoing>f1</outgoing></startEvent><sequenceFlow id="f1" sourceRef="s" targetRef="ask"/>
  <serviceTask id="ask" name="Ask the bank" camunda:type="external"><incoming>f1</incoming><outgoing>f2</outgoing></serviceTask>
  <sequenceFlow id="f2" sourceRef="ask" targetRef="e"/><endEvent id="e"><incoming>f2</incoming></endEvent></process></definitions>"#;

#[test]
fn a_folder_is_imported_with_its_decisions_and_what_fails_is_told_with_its_elements() {
    let (folder, _) = demo();
    let place = folder.path();
    std::fs::create_dir_all(place.join("models/rules")).unwrap();
    let files = [
        ("rule.bpmn", RULE),
        ("rules/fees.dmn", FEES),
        ("rules/base.dmn", BASE),
        ("alone.dmn", ALONE),
        ("loan.bpmn", LOAN),
        ("notes.txt", "no model"),
    ];
    for (name, text) in files {
        std::fs::write(place.join("models").join(name), text).unwrap();
    }
    let with = |arguments: &[&str]| run(place, &[arguments, &["--as", ADMINISTRATOR]].concat());
    let checked = with(&["workflow", "validate", "models"]);
    let text = String::from_utf8(checked.stdout.clone()).unwrap();
    assert_eq!(code(&checked), 1, "{text}");
    assert!(text.contains("ask \"Ask the bank\"") && !text.contains("unknownDecision"), "{text}");
    let all = with(&["workflow", "import", "--publish", "models", "absent.bpmn"]);
    let text = String::from_utf8(all.stdout.clone()).unwrap();
    assert_eq!(code(&all), 1, "{text} {}", told(&all));
    for words in [
        "rule.bpmn, models/rules/fees.dmn, models/rules/base.dmn -> rule",
        "alone.dmn -> alone",
        "loan.bpmn -> loan",
        "error    ask \"Ask the bank\"",
        "the draft stays",
        "absent.bpmn  failed",
        "2 of 4 done",
    ] {
        assert!(text.contains(words), "`{words}` in {text}");
    }
    assert!(["loan.bpmn", "absent.bpmn"].iter().all(|name| told(&all).contains(name)), "{}", told(&all));
    let started = ["run", "start", "rule", "--wait", "completion", "--json", "--as", ADMINISTRATOR];
    let ran = json_of(place, &started);
    assert_eq!(ran["state"], "completed", "{ran}");
    let ran = json_of(place, &["run", "get", ran["id"].as_str().unwrap(), "--json", "--as", ADMINISTRATOR]);
    assert_eq!(ran["output"]["fee"], 3, "{ran}");
    // Corrected, it takes the place of the draft; a slug that is taken says how.
    let mended = LOAN.replace(" camunda:type=\"external\"", "").replace("serviceTask", "userTask");
    std::fs::write(place.join("models/loan.bpmn"), mended).unwrap();
    let again = with(&["workflow", "import", "--publish", "models/loan.bpmn"]);
    assert!(
        code(&again) == 1 && String::from_utf8_lossy(&again.stdout).contains("--update"),
        "{}",
        told(&again)
    );
    let import = ["workflow", "import", "--update", "--publish", "--json", "--as", ADMINISTRATOR];
    let updated = json_of(place, &[import.as_slice(), &["models/loan.bpmn"]].concat());
    assert_eq!(
        (&updated["workflows"][0]["created"], &updated["workflows"][0]["version"]),
        (&json!(false), &json!(1))
    );
    // A model alone keeps the decisions, and decisions alone keep the model.
    for (file, text) in [("models/rule.bpmn", RULE.to_owned()), ("rule.dmn", BASE.replace("least", "fee"))] {
        std::fs::write(place.join(file), text).unwrap();
        let updated = json_of(place, &[import.as_slice(), &[file]].concat());
        assert_eq!(updated["workflows"][0]["published"], true, "{file}: {updated}");
    }
    let ran = json_of(place, &started);
    let ran = json_of(place, &["run", "get", ran["id"].as_str().unwrap(), "--json", "--as", ADMINISTRATOR]);
    assert_eq!(ran["output"]["fee"], 1, "{ran}");
}

#[test]
fn a_file_comes_from_standard_input_and_a_failure_stands_in_the_json() {
    let (folder, _) = demo();
    let place = folder.path();
    let import = |arguments: &[&str]| {
        let mut command = heddle(place);
        command.args(["workflow", "import", "-", "--json", "--as", ADMINISTRATOR]).args(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(LOAN.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        (code(&output), told)
    };
    assert_eq!(import(&[]).0, 2, "standard input has no name");
    let (status, told) = import(&["--slug", "loan", "--publish"]);
    let row = &told["workflows"][0];
    assert_eq!((status, &told["failed"], &row["published"]), (1, &json!(1), &json!(false)));
    assert!(
        row["id"].is_string() && row["error"]["message"].as_str().unwrap().contains("the draft stays"),
        "{row}"
    );
    let found = row["diagnostics"].as_array().unwrap();
    let ask = found.iter().find(|one| one["elementId"] == "ask" && one["severity"] == "error").unwrap();
    assert_eq!(ask["elementName"], "Ask the bank");
    let listed = json_of(place, &["workflow", "list", "--search", "loan", "--json", "--as", ADMINISTRATOR]);
    assert_eq!(listed["workflows"][0]["state"], "draft");
}
