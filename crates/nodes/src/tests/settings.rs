//! Settings that are FEEL.

use super::*;

#[tokio::test]
async fn settings_are_evaluated_when_the_work_is_done() {
    let classes =
        "{\"classes\": [{\"name\": \"a\", \"confidence\": 0.9}, {\"name\": \"b\", \"confidence\": 0.8}]}";
    let models = Script::of([text(classes)]);
    let settings = json!({ "model": "m", "input": "i", "classes": ["a", "b"], "multi": "= both" });
    let job = Job::new(InsideKind::Classify, &settings, json!({ "both": true }));
    assert_eq!(variables(job.done(&models).await)["classes"].as_array().unwrap().len(), 2);
    let models = Script::of([text("{\"age\": 7}")]);
    let settings = json!({ "model": "m", "input": "i", "schema": "= form" });
    let job = Job::new(InsideKind::Extract, &settings, json!({ "form": { "required": ["age"] } }));
    assert_eq!(variables(job.done(&models).await)["data"], json!({ "age": 7 }));
    let told = models.asked()[0]["response_format"]["json_schema"]["schema"].clone();
    assert_eq!(told, json!({ "required": ["age"] }));
    let settings = json!({ "input": "4111 1111 1111 1111", "checks": ["pii"], "onViolation": "= mode" });
    let step = |mode: &str| Job::new(InsideKind::Guardrail, &settings, json!({ "mode": mode }));
    assert_eq!(variables(step("continue").done(&Script::default()).await)["passed"], true);
    let Failed { setback, .. } = step("go on").failed(&Script::default()).await;
    assert!(setback.message.starts_with("onViolation:"), "{setback:?}");
}

#[tokio::test]
async fn an_agent_answers_in_the_format_that_it_is_asked_for() {
    for (format, told) in [
        (json!({ "type": "json_object" }), json!({ "type": "json_object" })),
        (json!("= {type: \"json_object\"}"), json!({ "type": "json_object" })),
        (
            json!("= {type: \"json_schema\", schema: form}"),
            json!({ "type": "json_schema", "json_schema": { "name": "answer", "schema": { "required": ["age"] } } }),
        ),
        (json!({ "type": "text" }), Value::Null),
    ] {
        let models = Script::of([text("{\"age\": 7}")]);
        let settings = json!({ "model": "m", "goal": "g", "maxIterations": 1, "responseFormat": format });
        let job = Job::new(InsideKind::Agent, &settings, json!({ "form": { "required": ["age"] } }));
        let answer = variables(job.done(&models).await)["values"]["answer"].clone();
        assert_eq!(models.asked()[0]["response_format"], told);
        let expected = if told.is_null() { json!("{\"age\": 7}") } else { json!({ "age": 7 }) };
        assert_eq!(answer, expected, "{format}");
    }
    let settings =
        json!({ "model": "m", "goal": "g", "maxIterations": 1, "responseFormat": "= {type: \"xml\"}" });
    let mut job = Job::new(InsideKind::Agent, &settings, json!({}));
    let Failed { setback, .. } = job.failed(&Script::default()).await;
    assert!(setback.message.starts_with("responseFormat:"), "{setback:?}");
}

#[tokio::test]
async fn categories_that_are_none_are_told_and_not_replaced_by_the_usual_ones() {
    let settings = json!({ "model": "m", "input": "i", "categories": "= chosen" });
    let mut job = Job::new(InsideKind::Moderate, &settings, json!({ "chosen": "hate" }));
    let Failed { setback, .. } = job.failed(&Script::default()).await;
    assert!(setback.message.starts_with("categories:"), "{setback:?}");
}
