//! Decisions in runs, and what validation and publication say of them.

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

/// A table over one input, with DMN 1.2's namespace as most editors write it.
fn table(rules: &[(&str, &str)]) -> String {
    let rule = |(number, (test, output)): (usize, &(&str, &str))| {
        format!(
            "<rule id=\"r{}\"><inputEntry><text>{test}</text></inputEntry><outputEntry><text>{output}</text>\
             </outputEntry></rule>\n",
            number + 1
        )
    };
    let rules: String = rules.iter().enumerate().map(rule).collect();
    format!(
        r##"<definitions xmlns="http://www.omg.org/spec/DMN/20180521/MODEL/" id="m" name="Fares" namespace="urn:fares">
<inputData id="age" name="Age"><variable name="Age" typeRef="number"/></inputData>
<decision id="fare" name="Fare"><variable name="Fare"/>
<informationRequirement id="q"><requiredInput href="#age"/></informationRequirement>
<decisionTable hitPolicy="COLLECT"><input><inputExpression typeRef="number"><text>Age</text></inputExpression></input>
<output name="class" typeRef="string"/>
{rules}</decisionTable></decision></definitions>"##
    )
}

fn fares() -> String {
    table(&[("&lt; 18", "\"child\""), ("&gt;= 18", "\"adult\""), ("&gt;= 65", "\"senior\"")])
}

fn deciding(dmn: &str, configuration: &Value) -> Value {
    json!({
        "nodes": [{"id": "s", "type": "startEvent"},
            {"id": "decide", "type": "businessRuleTask", "configuration": configuration},
            {"id": "e", "type": "endEvent"}],
        "edges": [{"id": "f1", "source": "s", "target": "decide"}, {"id": "f2", "source": "decide", "target": "e"}],
        "dmn": {"sourceXml": dmn, "elements": [{"id": "fare", "type": "decision", "nodeId": "decide"}]},
    })
}

async fn publish(client: &Client, slug: &str, definition: Value) -> String {
    let id = client.create(slug, definition).await;
    let _ = client.post(&format!("/api/workflows/{id}/publish"), json!({})).await.expect(200);
    id
}

#[tokio::test]
async fn a_business_rule_task_decides_and_its_event_tells_how() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        for (slug, configuration, output) in [
            ("plain", json!({}), json!({"Age": 70, "Fare": ["adult", "senior"]})),
            (
                "collect",
                json!({"kind": "dmn", "decisionRef": "Fare", "resultMapping": "collect", "resultVariable": "x"}),
                json!({"Age": 70, "x": ["adult", "senior"]}),
            ),
            (
                "all",
                json!({"decisionRef": "fare", "resultMapping": "all", "resultVariable": "x"}),
                json!({"Age": 70, "x": [{"class": "adult"}, {"class": "senior"}]}),
            ),
        ] {
            let workflow = publish(admin, slug, deciding(&fares(), &configuration)).await;
            let run = admin.run(&workflow, json!({"input": {"Age": 70}})).await;
            assert_eq!((&run["state"], &run["output"]), (&json!("completed"), &output), "{run}");
            let events = admin.events(&workflow, run["id"].as_str().unwrap()).await;
            let told = events.iter().find(|event| event["type"] == "decision.evaluated").unwrap();
            assert_eq!(told["nodeId"], "decide");
            assert_eq!(told["data"]["inputs"], json!({"Age": 70}));
            assert_eq!(told["data"]["output"], json!(["adult", "senior"]));
            let hits: Vec<_> =
                told["data"]["hits"].as_array().unwrap().iter().map(|hit| &hit["id"]).collect();
            assert_eq!(hits, ["r2", "r3"]);
        }
        // Of several results none is the single one: somebody has to decide.
        let single = json!({"resultMapping": "single", "resultVariable": "x"});
        let workflow = publish(admin, "single", deciding(&fares(), &single)).await;
        let run = admin.run(&workflow, json!({"input": {"Age": 70}})).await;
        assert_eq!(run["incidents"][0]["code"], "DECISION_ERROR", "{run}");
        let retry = json!({"decision": "retry", "variables": {"Age": 7}});
        let path = format!("/api/workflows/{workflow}/runs/{}/decision", run["id"].as_str().unwrap());
        let _ = admin.post(&path, retry).await.expect(200);
        let now = admin.run_now(&workflow, run["id"].as_str().unwrap()).await;
        assert_eq!(now["output"], json!({"Age": 7, "x": "child"}), "{now}");
        app.stop().await;
    });
}

#[tokio::test]
async fn decisions_without_a_process_are_run_by_their_ids() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = publish(&app.admin, "fares", json!({"dmn": {"sourceXml": fares()}})).await;
        for body in [json!({"input": {"Age": 20}}), json!({"input": {"Age": 20}, "processId": "fare"})] {
            let run = app.admin.run(&workflow, body).await;
            assert_eq!(run["output"], json!({"Age": 20, "Fare": ["adult"]}), "{run}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn findings_of_decisions_name_their_places() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let definition = deciding(&table(&[("&lt; 18", "\"child\""), ("&gt; 20", "1 +")]), &json!({}));
        let id = admin.create("broken", definition).await;
        let told = admin.post(&format!("/api/workflows/{id}/validate"), json!({})).await.expect(200).data();
        assert_eq!((&told["valid"], &told["executable"]), (&json!(false), &json!(false)));
        let found = &told["diagnostics"][0];
        assert_eq!(
            (&found["code"], &found["path"]),
            (&json!("feelSyntax"), &json!("dmn.sourceXml")),
            "{found}"
        );
        assert_eq!((&found["line"], &found["column"]), (&json!(8), &json!(82)), "{found}");
        assert_eq!(found["expression"], json!({"line": 1, "column": 4}), "{found}");
        let gap = |one: &&Value| one["code"] == "tableGap";
        let gap = told["diagnostics"].as_array().unwrap().iter().find(gap).unwrap();
        assert!((18.0..=20.0).contains(&gap["example"]["Age"].as_f64().unwrap()), "{gap}");
        let refused = admin.post(&format!("/api/workflows/{id}/publish"), json!({})).await.expect(400).json();
        let detail = &refused["error"]["details"][0];
        assert_eq!(detail["field"], "definition.dmn.sourceXml");
        assert_eq!((&detail["line"], &detail["expression"]["column"]), (&json!(8), &json!(4)), "{refused}");
        for (definition, field, code) in [
            (
                deciding(&fares(), &json!({"decisionRef": "nothing"})),
                "definition.nodes[1].configuration.decisionRef",
                "unknownDecision",
            ),
            (json!({"dmn": {"sourceXml": "<definitions>"}}), "definition.dmn.sourceXml", "malformedSource"),
            (deciding(&fares(), &json!({"resultMapping": "some"})), "definition.nodes[1]", "wrongSetting"),
        ] {
            let id = admin.create(&format!("x{}", code.to_lowercase()), definition).await;
            let refused =
                admin.post(&format!("/api/workflows/{id}/publish"), json!({})).await.expect(400).json();
            let details = refused["error"]["details"].as_array().unwrap();
            assert_eq!(details.len(), 1, "{refused}");
            assert_eq!((&details[0]["field"], &details[0]["code"]), (&json!(field), &json!(code)));
        }
        app.stop().await;
    });
}
