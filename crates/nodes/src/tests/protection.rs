//! Protection of nodes: what models see, what is held against what, and what somebody let pass.

use super::*;

const CARD: &str = "4111 1111 1111 1111";

/// A check by the model `judge`.
fn judged(id: &str, stage: &str, action: &str) -> Value {
    json!({ "id": id, "stage": stage, "action": action, "configuration": { "model": "judge" } })
        .to_string()
        .into()
}

fn only(check: Value) -> Value {
    json!({ "customChecks": [check] })
}

#[tokio::test]
async fn an_agent_asks_with_what_is_left_of_its_goal_each_time() {
    let arguments = format!("{{\"city\": \"Rome\", \"card\": \"{CARD}\"}}");
    let models = Script::of([calling("look_up", &arguments), text("Sunny")]);
    let settings = json!({ "model": "m", "goal": "Pay with {{ card }}", "maxIterations": 3 });
    let mut job = Job::new(InsideKind::Agent, &settings, json!({ "card": CARD })).with("tools", tools(None));
    job = job.with("protection", json!({ "preset": "standard" }));
    let first = variables(job.done(&models).await);
    job.variables = first["local"].clone();
    let call = variables(job.done(&models).await);
    assert_eq!(call["local"]["toolCall"]["arguments"]["card"], "[redacted: card]");
    job.variables = call["local"].clone();
    job.outputs = json!({ "look": { "output": { "note": CARD } } });
    let last = variables(job.done(&models).await);
    assert_eq!(last["values"]["answer"], "Sunny");
    let asked = models.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1]["messages"][0]["content"], "Pay with [redacted: card]");
    assert_eq!(first["local"]["agent"]["messages"][0]["content"], "Pay with [redacted: card]");
    let told = format!("{asked:?} {call:?}");
    assert!(!told.contains("4111"), "neither a question nor what the agent remembers has it: {told}");
}

#[tokio::test]
async fn what_somebody_answers_to_an_agent_is_looked_at_too() {
    let models = Script::of([calling("look_up", "{\"city\": \"Rome\"}")]);
    let mut job = Job::new(InsideKind::Agent, &agent(), json!({ "city": "Rome" }));
    let check = json!({ "id": "word", "kind": "keywords", "stage": "toolResult", "configuration": { "words": ["bluebird"] } });
    job = job.with("tools", tools(Some("agree"))).with("protection", only(check.to_string().into()));
    for _ in 0..2 {
        job.variables = variables(job.done(&models).await)["local"].clone();
    }
    job.outputs = json!({ "agree": { "output": {}, "outcome": "bluebird" } });
    let Ending::Error { code, .. } = job.done(&models).await else { panic!("the model is told") };
    assert_eq!(code, PROTECTION_VIOLATION);
}

#[tokio::test]
async fn vectors_are_made_under_the_strict_preset_and_a_check_with_a_deployment_holds_for_them() {
    let vector =
        json!({ "data": [{ "embedding": [0.1, 0.2] }], "model": "e", "usage": { "prompt_tokens": 1 } });
    let models = Script::of([vector]);
    let settings = json!({ "model": "e", "input": "hello" });
    let job =
        Job::new(InsideKind::Embed, &settings, json!({})).with("protection", json!({ "preset": "strict" }));
    assert_eq!(variables(job.done(&models).await)["dimensions"], 2);
    assert_eq!(models.asked().len(), 1, "the deployment of vectors is asked for no decision");
    let models = Script::of([text("{\"score\": 0.9}")]);
    let protection = json!({ "preset": "strict", "customChecks": [judged("nsfw", "input", "block")] });
    let job = job.with("protection", protection);
    let Ending::Error { code, .. } = job.done(&models).await else { panic!("it passed") };
    assert_eq!(code, PROTECTION_VIOLATION);
    assert_eq!(models.asked()[0]["model"], "judge");
}

#[tokio::test]
async fn an_answer_is_held_against_all_that_its_node_was_given() {
    let no = || text("{\"score\": 0}");
    let extract = json!({ "model": "m", "input": "Ann is seven", "schema": {} });
    let rerank = json!({ "model": "m", "query": "Who?", "documents": ["Ann is seven"] });
    let chat = json!({ "model": "m", "messages": [{ "role": "user", "content": "Ann is seven" }] });
    let scores = "{\"scores\": [{\"index\": 0, \"score\": 1}]}";
    for (kind, settings, answer) in [
        (InsideKind::Extract, extract, "{}"),
        (InsideKind::Rerank, rerank, scores),
        (InsideKind::Chat, chat, "Seven"),
    ] {
        let models = Script::of([text(answer), no()]);
        let job = Job::new(kind, &settings, json!({})).with("protection", only(json!("grounding")));
        let _ = variables(job.done(&models).await);
        let told = models.asked()[1]["messages"][0]["content"].to_string();
        assert!(told.contains("Ann is seven"), "{kind:?}: {told}");
    }
    let models = Script::of([calling("look_up", "{\"city\": \"Rome\"}"), text("Sunny"), no()]);
    let mut job = Job::new(InsideKind::Agent, &agent(), json!({ "city": "Rome" })).with("tools", tools(None));
    job = job.with("protection", only(json!("grounding")));
    for _ in 0..2 {
        job.variables = variables(job.done(&models).await)["local"].clone();
    }
    job.outputs = json!({ "look": { "output": "a clear sky" } });
    assert_eq!(variables(job.done(&models).await)["values"]["answer"], "Sunny");
    let told = models.asked()[2]["messages"][0]["content"].to_string();
    assert!(told.contains("a clear sky") && told.contains("Weather in Rome"), "{told}");
}

#[tokio::test]
async fn a_step_that_cannot_make_a_check_says_so() {
    let step = |more: Value| {
        let mut settings = json!({ "input": "Ann is seven", "onViolation": "continue" });
        settings.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        Job::new(InsideKind::Guardrail, &settings, json!({}))
    };
    let nobody = Script::default();
    let output = variables(step(json!({ "checks": ["nsfw"] })).done(&nobody).await);
    assert_eq!((&output["passed"], &output["violations"][0]["action"]), (&json!(false), &json!("block")));
    let ground = json!({ "checks": [{ "id": "grounding", "action": "flag" }], "model": "judge" });
    let output = variables(step(ground.clone()).done(&nobody).await);
    assert_eq!((&output["passed"], &output["violations"][0]["action"]), (&json!(false), &json!("review")));
    let models = Script::of([text("{\"score\": 0}")]);
    let mut ground = ground;
    ground["context"] = json!("Ann was born seven years ago.");
    assert_eq!(variables(step(ground).done(&models).await)["passed"], true);
    assert!(models.asked()[0]["messages"][0]["content"].to_string().contains("seven years ago"));
}

#[tokio::test]
async fn a_step_makes_the_checks_of_answers_too_each_once() {
    let settings = json!({ "input": "see javascript:alert(1) and pay with 4111 1111 1111 1111",
        "preset": "standard", "onViolation": "continue" });
    let job = Job::new(InsideKind::Guardrail, &settings, json!({}));
    let output = variables(job.done(&Script::default()).await);
    let found: Vec<[&str; 2]> = output["violations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| [&hit["checkId"], &hit["stage"]].map(|text| text.as_str().unwrap()))
        .collect();
    assert_eq!(found, [["pii", "input"], ["urls", "output"]]);
    let left = output["sanitized"].as_str().unwrap();
    assert!(!left.contains("4111") && !left.contains("javascript:"), "{left}");
}

#[tokio::test]
async fn the_answer_that_somebody_let_pass_is_the_one_that_is_given() {
    let check = json!({ "id": "word", "kind": "keywords", "stage": "output", "action": "review",
        "configuration": { "words": ["bluebird"] } });
    let protection = json!({ "preset": "standard", "customChecks": [check.to_string()] });
    let models = Script::of([text(&format!("The bluebird pays with {CARD}")), text("bluebird again")]);
    let settings = json!({ "model": "m", "prompt": "{{ now() }}" });
    let mut job = Job::new(InsideKind::Chat, &settings, json!({ "a": 1 })).with("protection", protection);
    let Failed { setback, .. } = job.failed(&models).await;
    assert!(setback.next == Next::Nothing && setback.message.starts_with("review: "), "{setback:?}");
    assert!(!job.notes.to_value().to_string().contains("4111"), "what was taken out is not kept");
    job.now = 60_000_000;
    let output = variables(job.done(&models).await);
    assert_eq!(output["text"], "The bluebird pays with [redacted: card]");
    assert_eq!(models.asked().len(), 1, "the model is not asked anew");
    // With other variables it is asked anew, and what it says then is looked at.
    job.variables = json!({ "a": 2 });
    let Failed { setback, .. } = job.failed(&models).await;
    assert!(setback.message.starts_with("review: ") && models.asked().len() == 2, "{setback:?}");
}

#[tokio::test]
async fn who_let_the_input_pass_has_not_let_the_answer_pass() {
    let check = json!({ "id": "word", "kind": "keywords", "action": "review", "configuration": { "words": ["bluebird"] } });
    let models = Script::of([text("A bluebird is a bird.")]);
    let settings = json!({ "model": "m", "prompt": "What is a bluebird at {{ now() }}?" });
    let mut job = Job::new(InsideKind::Chat, &settings, json!({}));
    job = job.with("protection", only(check.to_string().into()));
    let _ = job.failed(&models).await;
    assert_eq!(models.asked().len(), 0);
    job.now = 60_000_000;
    let Failed { hits, .. } = job.failed(&models).await;
    assert_eq!(models.asked().len(), 1, "what was let pass is what is asked");
    assert_eq!(hits.last().unwrap().stage, heddle_guardrails::Stage::Output);
    assert_eq!(variables(job.done(&models).await)["text"], "A bluebird is a bird.");
}

#[tokio::test]
async fn the_answer_of_an_agent_that_somebody_let_pass_is_given_whatever_time_went_by() {
    let check = json!({ "id": "word", "kind": "keywords", "stage": "output", "action": "review",
        "configuration": { "words": ["bluebird"] } });
    let models = Script::of([text("A bluebird.")]);
    let settings = json!({ "model": "m", "goal": "g", "maxIterations": 1, "timeoutSeconds": 5 });
    let mut job = Job::new(InsideKind::Agent, &settings, json!({}));
    job = job.with("protection", only(check.to_string().into()));
    let _ = job.failed(&models).await;
    job.now = 3_600_000_000;
    let last = variables(job.done(&models).await);
    assert_eq!(last["values"]["answer"], "A bluebird.");
    assert_eq!(last["values"]["agentUsage"]["iterations"], 1);
}
