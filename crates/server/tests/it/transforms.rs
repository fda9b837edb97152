//! Files of one kind as another, and what validation says of them.

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

use crate::models;

/// A decision over one input, as editors of DMN 1.1 write it.
const DECISION: &str = r##"<definitions xmlns="http://www.omg.org/spec/DMN/20151101/dmn.xsd" id="m" name="Discount"
    namespace="urn:discount"><inputData id="customer" name="customer"><variable name="customer" typeRef="feel:string"
      xmlns:feel="http://www.omg.org/spec/FEEL/20140401"/></inputData>
    <decision id="discount" name="discount"><variable name="discount"/>
      <informationRequirement id="r"><requiredInput href="#customer"/></informationRequirement>
      <literalExpression><text>if customer = "gold" then 10 else 0</text></literalExpression></decision></definitions>"##;

fn source(format: &str, content: &str, target: &str) -> Value {
    json!({ "source": { "format": format, "fileName": "a", "content": content }, "target": target })
}

#[tokio::test]
async fn a_decision_model_becomes_a_definition_and_a_document() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let preview = "/api/workflows/transform/preview";
        let read = admin.post(preview, source("dmn", DECISION, "definition")).await.expect(200).data();
        assert_eq!(read["import"]["version"], "1.1");
        assert_eq!(
            (&read["import"]["executable"], &read["lossless"]),
            (&json!(true), &json!(true)),
            "{read}"
        );
        let item = &read["import"]["items"][0];
        assert_eq!(
            (&item["elementId"], &item["sourceKind"], &item["outcome"]),
            (&json!("discount"), &json!("dmn:decision"), &json!("mapped"))
        );
        let wrong = DECISION.replace("then 10", "then").replace(
            "id=\"discount\"",
            "id=\"discount\" xmlns:camunda=\"urn:camunda\" camunda:historyTimeToLive=\"5\"",
        );
        let told = admin.post(preview, source("dmn", &wrong, "definition")).await.expect(200).data();
        let items: Vec<_> = told["import"]["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (item["sourceKind"].as_str().unwrap(), item["outcome"].as_str().unwrap()))
            .collect();
        assert_eq!(items, [("dmn:decision", "unsupported"), ("camunda:historyTimeToLive", "preserved")]);
        assert_eq!(told["import"]["executable"], false);
        let dmn = &read["definition"]["dmn"];
        assert_eq!(dmn["elements"][0]["id"], "discount");
        assert_eq!(dmn["elements"][1]["typeRef"], "string");
        assert_eq!(dmn["requirements"][0]["sourceRef"], "customer");
        // A file as it is, by its root element.
        let raw =
            admin.request("POST", preview).body("application/xml", DECISION.as_bytes().to_vec()).send().await;
        assert_eq!(raw.expect(200).data()["definition"]["dmn"], {
            let mut unnamed = dmn.clone();
            unnamed.as_object_mut().unwrap().remove("fileName");
            unnamed
        });
        let written = admin.post(preview, source("dmn", DECISION, "dmn")).await.expect(200).data();
        let content = written["content"].as_str().unwrap();
        assert!(content.contains("https://www.omg.org/spec/DMN/20230324/MODEL/"), "{content}");
        assert_eq!(written["lossless"], true, "{written}");
        // The definition keeps it, and gives it back.
        let id = admin.create("discount", read["definition"].clone()).await;
        let kept = admin.get(&format!("/api/workflows/{id}?version=draft")).await.expect(200).data();
        assert_eq!(kept["definition"]["dmn"]["sourceXml"], DECISION);
        for (body, field) in [
            (source("dmn", DECISION, "bpmn"), "target"),
            (source("bpmn", &models::task(), "dmn"), "target"),
            (source("dmn", "<definitions/>", "definition"), "source.content"),
        ] {
            let refused = admin.post(preview, body).await.expect(400).json();
            assert_eq!(refused["error"]["details"][0]["field"], field, "{refused}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_preview_tells_what_publishing_would() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let preview = "/api/workflows/transform/preview";
        let elements = r#"<startEvent id="start"/><task id="work"/><endEvent id="end"/>
            <endEvent id="other"><cancelEventDefinition/></endEvent>"#;
        let model =
            models::process("p", "", &format!("{elements}{}", models::flows(&["start", "work", "end"])));
        let told = admin.post(preview, source("bpmn", &model, "definition")).await.expect(200).data();
        assert_eq!((&told["import"]["executable"], &told["lossless"]), (&json!(false), &json!(true)));
        let about = |one: &Value| one["elementId"] == "other" && one["severity"] == "error";
        assert!(told["diagnostics"].as_array().unwrap().iter().any(about), "{told}");
        // Every problem of a definition as a file has its place.
        let odd = json!({ "odd": 1, "bpmn": { "processes": [{ "id": 5 }] } }).to_string();
        let refused = admin.post(preview, source("json", &odd, "definition")).await.expect(400).json();
        let mut fields: Vec<_> =
            refused["error"]["details"].as_array().unwrap().iter().map(|one| one["field"].clone()).collect();
        fields.sort_by_key(Value::to_string);
        assert_eq!(json!(fields), json!(["source.content.bpmn.processes[0].id", "source.content.odd"]));
        // A target that cannot be made is no reason to answer with something else.
        let mapped = admin.post(preview, source("bpmn", &models::gateway(), "bpel")).await.expect(200).data();
        assert!(mapped["content"].as_str().is_some_and(|text| text.contains("<if")), "{mapped}");
        let unmapped = admin.post(preview, source("bpmn", &model, "bpel")).await.expect(200).data();
        assert_eq!(
            (&unmapped["content"], &unmapped["definition"]),
            (&Value::Null, &Value::Null),
            "{unmapped}"
        );
        assert_eq!(unmapped["lossless"], false);
        app.stop().await;
    });
}

#[tokio::test]
async fn the_source_of_an_import_is_of_a_media_type_that_the_caller_takes() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let definition = json!({ "nodes": [{ "id": "s", "type": "startEvent" }], "edges": [] }).to_string();
        for (format, content, media, other) in [
            ("json", definition.as_str(), "application/octet-stream", "application/xml"),
            ("bpmn", &models::task(), "application/xml", "application/octet-stream"),
        ] {
            let body = source(format, content, "definition");
            let read = admin.post("/api/workflows/transform/preview", body).await.expect(200).data();
            let mut kept = read["definition"].clone();
            kept["imports"] = json!([read["import"]]);
            let path = format!("/api/workflows/{}/import-source", admin.create(format, kept).await);
            for accept in ["*/*", media] {
                let raw = admin.with("accept", accept).get(&path).await.expect(200);
                assert_eq!(raw.header("content-type"), media, "{format} {accept}");
                assert!(raw.bytes == content.as_bytes(), "{format} {accept}");
            }
            let told = admin.with("accept", other).get(&path).await.refused(406, "notAcceptable");
            assert_eq!(told["details"][0]["mediaTypes"], json!([media, "application/json"]), "{format}");
            let both = format!("{other}, application/json;q=0.5");
            let wrapped = admin.with("accept", &both).get(&path).await.expect(200).data();
            let own = if format == "json" { "application/json" } else { "application/xml" };
            assert_eq!(wrapped["mediaType"], own, "{format}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_deadlock_is_told_with_its_path_and_bpel_with_its_regions() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        // Only one of two ways reaches a join that waits for both.
        let elements = r#"<startEvent id="start"/><exclusiveGateway id="which" default="b"/><task id="a"/>
            <parallelGateway id="join"/><endEvent id="end"/>
            <sequenceFlow id="f" sourceRef="start" targetRef="which"/>
            <sequenceFlow id="toa" sourceRef="which" targetRef="a"><conditionExpression>x</conditionExpression></sequenceFlow>
            <sequenceFlow id="b" sourceRef="which" targetRef="join"/>
            <sequenceFlow id="c" sourceRef="a" targetRef="join"/><sequenceFlow id="d" sourceRef="join" targetRef="end"/>"#;
        let definition = admin.preview("stuck.bpmn", &models::process("p", "", elements)).await;
        let id = admin.create("stuck", definition).await;
        let path = format!("/api/workflows/{id}");
        let report = admin.post(&format!("{path}/validate"), json!({})).await.expect(200).data();
        let deadlock = &report["soundness"]["deadlocks"][0];
        assert_eq!(deadlock["elementIds"][0], "join", "{report}");
        assert_eq!(deadlock["witness"][0], "start", "{report}");
        let warned =
            |one: &Value| one["code"] == "deadlock" && one["path"].is_string() && one["remedy"].is_string();
        assert!(report["diagnostics"].as_array().unwrap().iter().any(warned), "{report}");
        let refused = admin.get(&format!("{path}/export/bpel")).await.expect(409).json();
        assert!(refused["error"]["details"][0]["elementIds"].is_array(), "{refused}");
        app.stop().await;
    });
}
