//! Answers that do not fit, and how often they are asked for again.

use super::*;

/// How many times a model is asked that never answers as it should, and what the attempts before the last one ended with.
async fn asked(kind: InsideKind, settings: &Value) -> Vec<Next> {
    let models = Script::of(std::iter::repeat_n(text("no json"), 20));
    let mut job = Job::new(kind, settings, json!({}));
    let mut ends = Vec::new();
    while ends.last() != Some(&Next::Nothing) {
        ends.push(job.failed(&models).await.setback.next);
    }
    assert_eq!(models.asked().len(), ends.len());
    let all: std::collections::BTreeSet<String> = models.asked().iter().map(Value::to_string).collect();
    assert_eq!(all.len(), ends.len(), "no question is the same as one before");
    ends
}

#[tokio::test]
async fn an_answer_is_repaired_as_often_as_its_node_says() {
    let extract =
        |repairs: Value| json!({ "model": "m", "input": "i", "schema": {}, "repairAttempts": repairs });
    for (repairs, count) in [(json!(0), 1), (json!(2), 3), (json!("= 1 + 3"), 5), (Value::Null, 3)] {
        let ends = asked(InsideKind::Extract, &extract(repairs.clone())).await;
        assert_eq!(ends.len(), count, "{repairs}");
        assert!(ends.iter().rev().skip(1).all(|end| *end == Next::Repair), "{ends:?}");
    }
    let mut job = Job::new(InsideKind::Extract, &extract(json!("= 99")), json!({}));
    let Failed { setback, .. } = job.failed(&Script::default()).await;
    assert!(setback.message.starts_with("repairAttempts:"), "{setback:?}");
}

#[tokio::test]
async fn a_chat_and_an_agent_are_told_what_was_wrong() {
    let format = json!({ "type": "json_schema", "schema": { "required": ["age"] } });
    let chat = json!({ "model": "m", "prompt": "p", "responseFormat": format });
    let agent = json!({ "model": "m", "goal": "g", "maxIterations": 1, "responseFormat": format });
    for (kind, settings) in [(InsideKind::Chat, chat), (InsideKind::Agent, agent)] {
        assert_eq!(asked(kind, &settings).await, [Next::Repair, Next::Repair, Next::Nothing], "{kind:?}");
        let models = Script::of([text("{}"), text("{\"age\": 7}")]);
        let mut job = Job::new(kind, &settings, json!({}));
        let _ = job.failed(&models).await;
        let done = Value::Object(variables(job.done(&models).await));
        assert!(done.to_string().contains("\"age\":7"), "{done}");
        let messages = models.asked()[1]["messages"].clone();
        let told = messages.as_array().unwrap().last().unwrap()["content"].to_string();
        assert!(told.contains("`age` is missing"), "{kind:?}: {told}");
    }
}

#[tokio::test]
async fn a_fault_between_repairs_takes_none_of_them_away() {
    let models = Script::of([text("no json")]);
    let away = CallFault { kind: FaultKind::Unavailable, message: "no".to_owned(), after: None };
    models.answers.lock().extend([Err(away), Ok(text("no json")), Ok(text("no json"))]);
    let settings = json!({ "model": "m", "input": "i", "schema": {} });
    let mut job = Job::new(InsideKind::Extract, &settings, json!({}));
    let mut ends = Vec::new();
    for _ in 0..4 {
        ends.push(job.failed(&models).await.setback.next);
    }
    assert_eq!(ends, [Next::Repair, Next::Attempt, Next::Repair, Next::Nothing]);
    // Who has it tried again has it repaired again.
    models.answers.lock().push_back(Ok(text("no json")));
    assert_eq!(job.failed(&models).await.setback.next, Next::Repair);
}
