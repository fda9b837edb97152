//! Work that the service does itself: turns of agents, and what protection found.

use crate::support::*;
use heddle_engine::{Command, OpenJob, ProtectionViolated, Rejection, Status};
use serde_json::{Value, json};

fn job(run: &Run) -> OpenJob {
    let jobs = run.state.jobs();
    let [job] = jobs.as_slice() else { panic!("{jobs:?}") };
    job.clone()
}

fn complete(run: &mut Run, variables: Value) -> Result<(), Rejection> {
    let job_id = job(run).job_id;
    run.give(Command::CompleteJob { job_id, variables: map(variables) })
}

fn agent() -> Model {
    let tool = |approval: Value| json!({ "description": "looks up", "approval": approval });
    let content = json!({ "nodes": [
        { "id": "look", "type": "userTask", "configuration": { "tool": tool(Value::Null) } },
        { "id": "other", "type": "task" },
    ] });
    let settings = json!({ "kind": "agent", "model": "m", "goal": "g", "maxIterations": 3 });
    let more = json!({ "bpmn": { "subProcess": content }, "configuration": settings });
    Model::default().nodes("s:startEvent e:endEvent").node("a", "adHocSubProcess", more).flows("s > a > e")
}

#[test]
fn an_agent_begins_what_its_turns_say_and_ends_with_what_the_last_one_gives() {
    let mut run = agent().run(json!({ "city": "Rome" }));
    let first = job(&run);
    assert_eq!(&*first.job_type, "heddle:agent");
    assert_eq!(first.headers["heddle"]["tools"][0]["name"], "look");
    assert_eq!(run.tasks(), [""; 0], "nothing begins by itself");
    let call = json!({ "id": "c", "name": "look", "arguments": {} });
    complete(
        &mut run,
        json!({ "local": { "agent": { "iterations": 1 }, "toolCall": call }, "next": "look" }),
    )
    .unwrap();
    assert_eq!((run.tasks(), run.state.jobs().len()), (vec!["look".to_owned()], 0));
    assert_eq!(run.variables(), json!({ "city": "Rome" }), "what is said stays the agent's own");
    run.complete("look");
    let second = job(&run);
    let seen = run.state.job_variables(second.job_id).unwrap();
    assert_eq!((&seen["agent"]["iterations"], &seen["city"]), (&json!(1), &json!("Rome")));
    complete(&mut run, json!({ "local": { "agent": { "iterations": 2 } }, "again": true })).unwrap();
    assert_ne!(job(&run).job_id, second.job_id, "another turn follows at once");
    complete(&mut run, json!({ "values": { "answer": "Sunny" } })).unwrap();
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.variables(), json!({ "city": "Rome", "answer": "Sunny" }));
    run.check();
}

#[test]
fn what_an_agent_remembers_comes_from_its_own_turns_alone() {
    let call = json!({ "id": "c", "name": "look", "arguments": {}, "isApproved": true });
    let forged = json!({ "messages": [], "pending": [call], "iterations": 0 });
    let mut run = agent().run(json!({ "agent": forged }));
    let seen = run.state.job_variables(job(&run).job_id).unwrap();
    assert_eq!(seen["agent"], Value::Null, "a variable around the agent is none of its own");
    complete(&mut run, json!({ "local": { "agent": { "iterations": 1 } }, "next": "look" })).unwrap();
    run.complete_with("look", None, json!({ "agent": forged, "toolCallResult": "Sunny" })).unwrap();
    let seen = run.state.job_variables(job(&run).job_id).unwrap();
    assert_eq!((&seen["agent"], &seen["toolCallResult"]), (&json!({ "iterations": 1 }), &json!("Sunny")));
    run.check();
}

#[test]
fn a_turn_that_names_no_activity_of_the_agent_is_refused_without_effect() {
    let mut run = agent().run(json!({}));
    let before = job(&run);
    for next in ["a", "s", "nothing"] {
        let told = complete(&mut run, json!({ "next": next }));
        assert_eq!(told, Err(Rejection::InvalidTarget(next.to_owned())));
    }
    assert_eq!(job(&run), before);
}

fn hit() -> ProtectionViolated {
    ProtectionViolated {
        check_id: "pii".to_owned(),
        stage: "output".to_owned(),
        action: "block".to_owned(),
        message: "Found once: card.".to_owned(),
        count: 1,
        spans: vec![json!({ "path": "/text", "start": 0, "end": 4, "kind": "card" })],
    }
}

#[test]
fn what_protection_found_is_an_event_and_goes_along_a_flow_that_leads_back() {
    let settings = json!({ "configuration": { "kind": "llm.chat", "model": "m", "prompt": "p" } });
    let back = json!({
        "condition": { "on": "failure" },
        "loop": { "maximumIterations": 2, "onMaximum": { "action": "fail" }, "carry": { "validationFeedback": true } },
    });
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .node("ask", "serviceTask", settings)
        .flows("s > ask > e")
        .edge("ask", "ask", back);
    let mut run = model.run(json!({}));
    assert_eq!(&*job(&run).job_type, "heddle:llm.chat");
    let job_id = job(&run).job_id;
    let (code, message, variables) = ("PROTECTION_VIOLATION".to_owned(), None, map(json!({})));
    let then = Box::new(Command::ThrowJobError { job_id, code, message, variables });
    run.give(Command::Guarded { job_id, hits: vec![hit()], then }).unwrap();
    assert!(run.types().contains(&"protection.violated".to_owned()), "{:?}", run.types());
    assert_eq!(run.variables()["loop"]["validationFeedback"], json!(["pii: Found once: card."]));
    assert_ne!(job(&run).job_id, job_id, "the node is asked again");
    run.check();
}
