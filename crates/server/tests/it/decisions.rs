//! Decision models over HTTP: what is claimed of DMN, the draft's logic, exports.

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

#[tokio::test]
async fn what_is_claimed_of_dmn_stands_beside_its_evidence() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let viewer = app.user("viewer", &["viewer"]).await.1;
        let claims = viewer.get("/api/workflows/dmn/conformance").await.expect(200).data();
        assert_eq!(claims["versions"]["read"].as_array().unwrap().len(), 5);
        assert_eq!(claims["versions"]["written"][0], "1.5");
        assert_eq!(claims["levels"].as_array().unwrap().len(), 3);
        let java = |one: &&Value| one["name"] == "functionDefinition carried out by Java";
        let java = claims["boxedExpressions"].as_array().unwrap().iter().find(java).unwrap();
        assert_eq!((&java["parse"], &java["execute"]), (&true.into(), &"none".into()), "{java}");
        assert!(java["notes"].is_string() && java["clause"] == "10.5.3", "{java}");
        assert!(claims["functions"].as_array().unwrap().iter().all(|one| one["execute"] == "full"));
        assert!(!claims["deviations"].as_array().unwrap().is_empty());

        let path = "/api/workflows/dmn/conformance/report";
        let report = viewer.get(path).await.expect(200).data();
        let suites = report["suites"].as_array().unwrap();
        assert_eq!(suites[0]["name"], "dmn-tck-level-2");
        assert_eq!(claims["tests"][0]["passed"], suites[0]["counts"]["passed"]);
        assert_eq!(claims["generatedAt"], suites[0]["recordedOn"]);
        let cases: usize = suites.iter().map(|suite| suite["cases"].as_array().unwrap().len()).sum();
        assert_eq!(report["summary"]["total"], cases, "every case stands in the report");
        let page = viewer.get(&format!("{path}?format=html")).await.expect(200);
        assert!(page.header("content-type").starts_with("text/html"));
        let text = page.text();
        assert!(text.contains("<h2>dmn-tck-level-3</h2>") && text.contains("DMN 1.5"), "{:.300}", text);
        let _ = viewer.get(&format!("{path}?format=pdf")).await.expect(400);
        app.stop().await;
    });
}

const MODEL: &str = r##"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:x="urn:x" id="m" name="Discount" namespace="urn:discount">
  <import id="im" name="rates" namespace="urn:rates" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>
  <inputData id="customer" name="customer" x:mark="kept"><variable id="cv" name="customer" typeRef="string"/></inputData>
  <decision id="discount" name="discount"><variable id="dv" name="discount"/>
    <informationRequirement id="r"><requiredInput href="#customer"/></informationRequirement>
    <informationRequirement id="r2"><requiredDecision href="urn:rates#gold"/></informationRequirement>
    <literalExpression id="l"><text>if customer = "gold" then rates.gold else 0</text></literalExpression></decision>
</definitions>"##;
const RATES: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="q" name="Rates" namespace="urn:rates">
  <decision id="gold" name="gold"><variable id="gv" name="gold"/><literalExpression id="gl"><text>10</text></literalExpression>
  </decision></definitions>"#;

/// A definition with the model above and the document that it imports.
async fn definition(app: &TestApp) -> Value {
    let body = json!({ "source": { "format": "dmn", "fileName": "discount.dmn", "content": MODEL } });
    let read = app.admin.post("/api/workflows/transform/preview", body).await.expect(200).data();
    let mut definition = read["definition"].clone();
    definition["dmn"]["importedDocuments"] =
        json!([{ "namespace": "urn:rates", "fileName": "rates.dmn", "sourceXml": RATES }]);
    definition
}

#[tokio::test]
async fn a_decision_model_is_exported_with_a_diagram_and_its_imports() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let id = admin.create("discount", definition(&app).await).await;
        let path = format!("/api/workflows/{id}/export/dmn");
        let xml = admin.request("GET", &path).header("accept", "application/xml").send().await.expect(200);
        assert_eq!(xml.header("content-type"), "application/xml");
        assert!(xml.header("content-disposition").contains("discount.dmn"));
        let text = xml.text();
        assert!(text.contains("https://www.omg.org/spec/DMN/20230324/MODEL/"), "{text}");
        assert!(text.contains(r#"x:mark="kept""#), "{text}");
        assert_eq!(
            (text.matches("<dmndi:DMNShape ").count(), text.matches("<dmndi:DMNEdge ").count()),
            (2, 1)
        );
        // What has a diagram keeps it as it is.
        let body = json!({ "source": { "format": "dmn", "content": text } });
        let read = admin.post("/api/workflows/transform/preview", body).await.expect(200).data();
        assert!(read["definition"]["dmn"]["elements"][0]["bounds"]["width"].is_number(), "{read}");
        let drawn = admin.create("drawn", read["definition"].clone()).await;
        let again =
            admin.request("GET", &format!("/api/workflows/{drawn}/export/dmn")).send().await.expect(200);
        assert_eq!(again.text(), text);
        // What an editor has moved in the block stands there in the document.
        let mut moved = read["definition"].clone();
        moved["dmn"]["elements"][0]["bounds"]["x"] = json!(777.5);
        let moved = admin.create("moved", moved).await;
        let path_of = format!("/api/workflows/{moved}/export/dmn");
        let shown = admin.request("GET", &path_of).send().await.expect(200).text();
        assert!(shown.contains(r#"<dc:Bounds x="777.5""#), "{shown}");

        let json =
            admin.request("GET", &path).header("accept", "application/json").send().await.expect(200).data();
        assert_eq!(
            (json["content"].as_str(), json["fileName"].as_str()),
            (Some(&*text), Some("discount.dmn"))
        );
        assert_eq!(json["sha256"].as_str().map(str::len), Some(64));
        for wanted in ["urn:rates", "rates.dmn"] {
            let other = admin.request("GET", &format!("{path}?document={wanted}")).send().await.expect(200);
            assert!(other.text().contains("namespace=\"urn:rates\"") && other.text().contains("DMNShape"));
            assert!(other.header("content-disposition").contains("rates.dmn"));
        }
        let unknown = admin.get(&format!("{path}?document=urn:none")).await.expect(400);
        assert_eq!(unknown.json()["error"]["details"][0]["known"][0], "urn:rates");
        let zip = admin.request("GET", &format!("{path}?format=zip")).send().await.expect(200);
        assert_eq!(zip.header("content-type"), "application/zip");
        assert!(zip.bytes.starts_with(b"PK"));
        app.stop().await;
    });
}

#[tokio::test]
async fn what_has_no_decision_model_has_no_export_of_one() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let plain = admin.create("plain", json!({ "nodes": [], "edges": [] })).await;
        let _ = admin.get(&format!("/api/workflows/{plain}/export/dmn")).await.expect(404);
        let empty = admin.create("empty", json!({ "dmn": { "elements": [] } })).await;
        let _ = admin.get(&format!("/api/workflows/{empty}/export/dmn")).await.expect(404);
        let _ = admin.get(&format!("/api/workflows/{empty}/export/dmn?version=published")).await.expect(404);
        let broken = admin.create("broken", json!({ "dmn": { "sourceXml": "<definitions>\n<a" } })).await;
        let refused =
            admin.get(&format!("/api/workflows/{broken}/export/dmn")).await.refused(409, "notExportable");
        assert_eq!(
            (&refused["details"][0]["field"], &refused["details"][0]["line"]),
            (&json!("definition.dmn.sourceXml"), &json!(2)),
            "{refused}"
        );
        // A graph alone is a model without logic.
        let graph = json!({ "dmn": { "namespace": "urn:g", "elements": [
            { "id": "a", "type": "decision", "name": "A", "bounds": { "x": 5, "y": 6, "width": 70, "height": 30 } },
            { "id": "i", "type": "inputData", "name": "I", "bounds": { "x": 5, "y": 90, "width": 70, "height": 30 } }],
            "requirements": [{ "id": "r", "type": "informationRequirement", "sourceRef": "i", "targetRef": "a" }] } });
        let graph = admin.create("graph", graph).await;
        let text = admin
            .request("GET", &format!("/api/workflows/{graph}/export/dmn"))
            .send()
            .await
            .expect(200)
            .text();
        assert!(
            text.contains(r##"<requiredInput href="#i"/>"##) && text.contains(r#"<dc:Bounds x="5" y="6""#),
            "{text}"
        );
        let worker = app.user("worker", &["worker"]).await.1;
        let _ = worker.get(&format!("/api/workflows/{graph}/export/dmn")).await.expect(403);
        app.stop().await;
    });
}

#[tokio::test]
async fn the_logic_of_a_draft_is_read_and_replaced_as_a_structure() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let mut whole = definition(&app).await;
        whole["dmn"]["elements"][0]["nodeId"] = json!("task");
        let id = admin.create("discount", whole).await;
        let path = format!("/api/workflows/{id}/dmn/logic");
        let answer = admin.get(&path).await.expect(200);
        let etag = answer.header("etag").to_owned();
        let logic = answer.data();
        assert_eq!((&logic["name"], &logic["version"]), (&json!("Discount"), &json!("1.3")));
        assert_eq!(logic["sourceXml"], MODEL);
        assert_eq!(logic["decisions"][0]["expression"]["type"], "literalExpression");
        assert_eq!(logic["inputData"][0]["variable"]["typeRef"], "string");
        assert_eq!(
            logic["importedDocuments"],
            json!([{ "namespace": "urn:rates", "fileName": "rates.dmn" }])
        );
        assert_eq!((&logic["decisionServices"], &logic["diagnostics"]), (&json!([]), &json!([])), "{logic}");
        assert_eq!(etag, format!("\"{}\"", logic["revision"]));

        // The structure, changed: what it has no member for is kept, and its graph with it.
        let lists = ["id", "name", "namespace", "imports", "inputData", "decisions"];
        let mut change: Value = lists.iter().map(|name| ((*name).to_owned(), logic[*name].clone())).collect();
        change["decisions"][0]["expression"]["text"] =
            json!("if customer = \"gold\" then 2 *\n rates.gold else 0");
        change["inputData"].as_array_mut().unwrap().push(json!({ "id": "extra", "name": "extra" }));
        change["revision"] = logic["revision"].clone();
        let saved = admin.put(&path, change.clone()).await.expect(200);
        assert_ne!(saved.header("etag"), etag);
        let saved = saved.data();
        assert_eq!(saved["revision"].as_i64(), logic["revision"].as_i64().map(|before| before + 1));
        assert_eq!(saved["draftRevision"].as_i64(), logic["draftRevision"].as_i64().map(|before| before + 1));
        assert_eq!((&saved["inputData"][1]["id"], &saved["version"]), (&json!("extra"), &json!("1.5")));
        assert!(saved["sourceXml"].as_str().unwrap().contains("x:mark=\"kept\""), "{saved}");
        assert_eq!(admin.get(&path).await.data(), saved);
        let draft = admin.get(&format!("/api/workflows/{id}?version=draft")).await.data();
        let dmn = &draft["definition"]["dmn"];
        assert_eq!(
            (&dmn["elements"][0]["nodeId"], &dmn["fileName"]),
            (&json!("task"), &json!("discount.dmn"))
        );
        assert_eq!((&dmn["version"], dmn["elements"].as_array().unwrap().len()), (&json!("1.5"), 3));
        assert_eq!(dmn["importedDocuments"][0]["namespace"], "urn:rates");
        assert_eq!(dmn["sourceSha256"].as_str().map(str::len), Some(64));
        let events = admin.get("/api/audit-events?limit=5").await.data();
        assert_eq!(
            (&events[0]["action"], &events[0]["resourceId"]),
            (&json!("workflow.dmn_logic_saved"), &json!(id))
        );

        // The revision is one behind, and a reader changes nothing.
        let stale = admin.put(&path, change.clone()).await.refused(409, "revisionMismatch");
        assert_eq!(stale["details"][0]["currentRevision"], saved["revision"]);
        let viewer = app.user("viewer", &["viewer"]).await.1;
        let _ = viewer.put(&path, change.clone()).await.expect(403);
        let _ = viewer.get(&path).await.expect(200);

        // With the document beside it, both must say the same.
        change.as_object_mut().unwrap().remove("revision");
        change["sourceXml"] = json!(MODEL);
        let _ = admin.put(&path, change.clone()).await.refused(400, "contradiction");
        change["sourceXml"] = saved["sourceXml"].clone();
        let same = admin.put(&path, change).await.expect(200).data();
        assert_eq!(same["sourceXml"], saved["sourceXml"]);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_document_replaces_the_logic_and_tells_where_it_is_wrong() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let id = admin
            .post("/api/workflows", json!({ "slug": "bare", "displayName": "Bare", "description": "" }))
            .await
            .id();
        let path = format!("/api/workflows/{id}/dmn/logic");
        // A workflow without a model has an empty one, and gets its first by a document.
        let none = admin.get(&path).await.expect(200).data();
        assert_eq!((&none["decisions"], none.get("sourceXml")), (&json!([]), None));
        let _ = admin.get(&format!("{path}?version=published")).await.expect(404);
        let _ = admin.get("/api/workflows/018f0000-0000-7000-8000-000000000001/dmn/logic").await.expect(404);
        let put = |text: &str, if_match: &str| {
            let request = admin.request("PUT", &path).header("if-match", if_match);
            request.body("application/xml", text.as_bytes().to_vec()).send()
        };
        let first = put(RATES, &format!("\"{}\"", none["revision"])).await.expect(200).data();
        assert_eq!((&first["sourceXml"], &first["decisions"][0]["name"]), (&json!(RATES), &json!("gold")));
        let _ = put(RATES, &format!("\"{}\"", none["revision"])).await.refused(409, "revisionMismatch");

        for body in
            [json!({ "sourceXml": "<definitions>\n  <a></b>" }), json!({ "sourceXml": "<!DOCTYPE a><a/>" })]
        {
            let refused = admin.put(&path, body).await.refused(400, "malformedSource");
            let detail = &refused["details"][0];
            assert_eq!(detail["field"], "sourceXml");
            assert!(
                detail["line"].is_number() && detail["column"].is_number() && detail["cause"].is_string()
            );
        }
        let broken = b"<definitions>\n  <a></b>".to_vec();
        let refused = admin.request("PUT", &path).body("application/xml", broken).send().await;
        assert_eq!(refused.refused(400, "malformedSource")["details"][0]["line"], 2);
        for (body, field) in [
            (json!({}), "sourceXml"),
            (json!({ "decisions": [{ "id": "d", "nam": "x" }] }), "decisions[0].nam"),
            (json!({ "decisions": [{ "expression": { "type": "sum" } }] }), "decisions[0].expression"),
            (json!({ "decisions": [{ "name": "a\u{1}" }] }), "name"),
            (
                json!({ "inputData": [], "decisions": [{ "variable": { "typeRef": " string" } }] }),
                "decisions[0]",
            ),
        ] {
            let refused = admin.put(&path, body).await.expect(400);
            assert!(refused.fields()[0].starts_with(field), "{}", refused.text());
        }

        // A model may be incomplete: what is wrong is told with its place in the document and in FEEL.
        let wrong = json!({ "decisions": [{ "id": "d", "name": "d", "expression":
            { "type": "literalExpression", "id": "l", "text": "1 +\n  * 2" } }, { "id": "e", "name": "e",
              "informationRequirements": [{ "id": "r", "requiredDecision": "#gone" }] }] });
        let saved = admin.put(&path, wrong).await.expect(200).data();
        let of = |code: &str| {
            let found = saved["diagnostics"].as_array().unwrap().iter().find(|one| one["code"] == code);
            found.cloned().unwrap_or_else(|| panic!("no {code} in {saved}"))
        };
        let syntax = of("feelSyntax");
        assert_eq!((&syntax["elementId"], &syntax["expression"]["line"]), (&json!("l"), &json!(2)));
        let line = saved["sourceXml"].as_str().unwrap().lines().position(|line| line.contains("* 2"));
        assert_eq!(syntax["line"].as_u64(), line.map(|line| line as u64 + 1), "{syntax}");
        assert_eq!(of("requirementMissing")["severity"], "error");
        assert_eq!((&saved["name"], &saved["namespace"]), (&json!("Rates"), &json!("urn:rates")));
        let _ = admin.post(&format!("/api/workflows/{id}/publish"), json!({})).await.expect(400);
        let fresh = admin.create("fresh", json!({ "nodes": [] })).await;
        let fresh = format!("/api/workflows/{fresh}/dmn/logic");
        let saved = admin.put(&fresh, json!({ "decisions": [] })).await.expect(200).data();
        assert_eq!(saved["namespace"], "urn:heddle:workflow:fresh");
        app.stop().await;
    });
}
