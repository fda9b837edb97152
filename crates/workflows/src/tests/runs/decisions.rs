//! Decisions on waiting runs.

use heddle_policy::RequestContext;
use heddle_policy::capability::RunDecide;
use serde_json::{Map, Value, json};

use crate::UseCaseError;
use crate::records::{Run, RunState};
use crate::runs::{Decision, DecisionKind, StartRun};
use crate::tests::support::{
    World, at, caller, chain, event, input, journal, model, on_run, reasons, receive, review, whole,
};

const ALL: [DecisionKind; 9] = [
    DecisionKind::Approve,
    DecisionKind::Reject,
    DecisionKind::Revise,
    DecisionKind::Retry,
    DecisionKind::Skip,
    DecisionKind::Continue,
    DecisionKind::Resume,
    DecisionKind::Suspend,
    DecisionKind::Move,
];

fn that(kind: DecisionKind) -> Decision {
    Decision {
        kind,
        node_id: None,
        node_instance_id: None,
        incident_id: None,
        feedback: None,
        variables: Map::new(),
        target: None,
    }
}

fn about(kind: DecisionKind, node: &str) -> Decision {
    Decision { node_id: Some(node.to_owned()), ..that(kind) }
}

async fn decide_as(
    world: &World,
    context: &RequestContext,
    run: &Run,
    decision: Decision,
) -> Result<Run, UseCaseError> {
    let may = on_run::<RunDecide>(context, run);
    let record = |run: &Run| journal(run.state.as_str());
    world.runs.decide(&may, context, decision, &record).await
}

async fn decide(world: &World, run: &Run, decision: Decision) -> Result<Run, UseCaseError> {
    decide_as(world, &caller("oscar", "operator").context(), run, decision).await
}

/// start → gate (only when `amount` is 7 or more) → wait for `paid` → end.
fn gated() -> Value {
    let mut definition = model(
        &[
            ("s", "startEvent", json!({})),
            ("gate", "exclusiveGateway", json!({})),
            ("wait", "receiveTask", json!({ "bpmn": { "messageRef": "m" } })),
            ("e", "endEvent", json!({})),
        ],
        &[("s", "gate"), ("gate", "wait"), ("wait", "e")],
    );
    definition["edges"][1]["condition"] = json!({ "left": "amount", "operator": "gte", "value": "7" });
    definition
}

/// A run that stands at the gate with an incident.
async fn stuck() -> (World, Run) {
    let world = World::new();
    let workflow = world.published("w", &gated()).await;
    let request = StartRun { input: input(json!({ "amount": 3 })), ..StartRun::default() };
    let run = world.start(workflow, request).await;
    assert!(run.has_incident && run.state == RunState::Waiting);
    (world, run)
}

/// Two user tasks side by side.
fn side_by_side() -> Value {
    let task = || json!({ "configuration": { "outcomes": ["approve", "reject"] } });
    model(
        &[
            ("s", "startEvent", json!({})),
            ("split", "parallelGateway", json!({})),
            ("a", "userTask", task()),
            ("b", "userTask", task()),
            ("e", "endEvent", json!({})),
        ],
        &[("s", "split"), ("split", "a"), ("split", "b"), ("a", "e"), ("b", "e")],
    )
}

#[tokio::test]
async fn each_decision_needs_its_permission() {
    // Approve, reject and revise are work on tasks; the rest is operation.
    let worker = caller("will", "worker").context();
    let operator = caller("oscar", "operator").narrowed_to(&["runs.operate", "runs.view"]).context();
    for kind in ALL {
        let on_task = matches!(kind, DecisionKind::Approve | DecisionKind::Reject | DecisionKind::Revise);
        for (context, holds) in [(&worker, on_task), (&operator, !on_task)] {
            let (world, run) = World::running(&review()).await;
            let result = decide_as(&world, context, &run, that(kind)).await;
            let missing = match &result {
                Err(UseCaseError::Forbidden(problem)) => problem.reason == "permissionMissing",
                Ok(_) | Err(_) => false,
            };
            assert_eq!(missing, !holds, "{kind:?}: {result:?}");
            assert!(holds || world.memory.commit_count() == 1, "{kind:?} did something");
        }
    }
}

#[tokio::test]
async fn a_task_is_decided_by_its_outcome_with_the_rules_of_its_completion() {
    let approve = |variables: Value| Decision { variables: input(variables), ..that(DecisionKind::Approve) };
    let (world, run) = World::running(&review()).await;
    let bare = decide(&world, &run, approve(json!({}))).await;
    assert_eq!(reasons(bare), [at("variables.amount", "required")], "the form holds here too");
    let revise = Decision { variables: input(json!({ "amount": 1 })), ..that(DecisionKind::Revise) };
    assert_eq!(reasons(decide(&world, &run, revise).await), [at("decision", "notAllowed")]);
    let outsider = caller("eve", "operator").groups(&["others"]).context();
    let other = decide_as(&world, &outsider, &run, approve(json!({ "amount": 1 }))).await;
    assert_eq!(reasons(other), [whole("notCandidate")]);
    let feedback = Decision { feedback: Some("fine".to_owned()), ..approve(json!({ "amount": 1 })) };
    let done = decide(&world, &run, feedback).await.unwrap();
    assert_eq!(done.state, RunState::Completed);
    assert_eq!(done.snapshot.node_outputs()["review"]["outcome"], json!("approve"));
    let text = String::from_utf8(world.memory.last_write().events.unwrap()).unwrap();
    assert!(text.contains("\"fine\""), "what was said to it is in the history");
    assert_eq!(world.memory.0.lock().journals.last(), Some(&journal("completed")));
}

#[tokio::test]
async fn of_several_tasks_the_one_that_is_meant_must_be_told() {
    let (world, run) = World::running(&side_by_side()).await;
    let any = decide(&world, &run, that(DecisionKind::Approve)).await;
    assert_eq!(reasons(any), [whole("ambiguous")]);
    let gone = decide(&world, &run, about(DecisionKind::Approve, "e")).await;
    assert_eq!(reasons(gone), [whole("nothingWaits")]);
    let after = decide(&world, &run, about(DecisionKind::Approve, "b")).await.unwrap();
    let open: Vec<_> = world.memory.open_tasks(run.id).into_iter().map(|task| task.node_id).collect();
    assert_eq!((after.state, open), (RunState::Waiting, vec!["a".to_owned()]));
    let instance = world.memory.open_tasks(run.id)[0].node_instance_id.clone();
    let by_instance = Decision { node_instance_id: Some(instance), ..that(DecisionKind::Reject) };
    assert_eq!(decide(&world, &run, by_instance).await.unwrap().state, RunState::Completed);
}

#[tokio::test]
async fn a_retry_with_the_right_variables_cures_an_incident() {
    let (world, run) = stuck().await;
    let incident = run.snapshot.incidents()[0].clone();
    let again = decide(&world, &run, that(DecisionKind::Retry)).await.unwrap();
    assert!(again.has_incident, "nothing was changed, so that it fails again");
    let other = Decision { incident_id: Some(incident.id.to_string()), ..that(DecisionKind::Retry) };
    assert_eq!(
        reasons(decide(&world, &run, other).await),
        [whole("nothingWaits")],
        "that incident is settled"
    );
    let cured = Decision { variables: input(json!({ "amount": 9 })), ..about(DecisionKind::Retry, "gate") };
    let cured = decide(&world, &run, cured).await.unwrap();
    assert_eq!((cured.has_incident, cured.snapshot.subscriptions().len()), (false, 1));
    assert_eq!(cured.revision.0, run.revision.0 + 2);
}

#[tokio::test]
async fn what_is_skipped_is_left_behind_with_the_given_output() {
    // A task that waits, and one that is stuck.
    let (world, run) = World::running(&receive()).await;
    let skip = Decision { variables: input(json!({ "paid": true })), ..about(DecisionKind::Skip, "wait") };
    let done = decide(&world, &run, skip).await.unwrap();
    assert_eq!(
        (done.state, done.snapshot.variables()),
        (RunState::Completed, Some(&input(json!({ "paid": true }))))
    );
    let closed = world.memory.last_write().subscriptions_removed;
    assert_eq!((closed.len(), world.memory.0.lock().subscriptions.len()), (1, 0), "nobody listens any more");
    let none = decide(&world, &run, about(DecisionKind::Skip, "wait")).await;
    assert_eq!(reasons(none), [whole("ended")]);
}

#[tokio::test]
async fn a_token_is_moved_to_a_node_that_is_there() {
    let (world, run) = stuck().await;
    let to = |target: Option<&str>| Decision {
        target: target.map(str::to_owned),
        ..about(DecisionKind::Move, "gate")
    };
    assert_eq!(reasons(decide(&world, &run, to(None)).await), [at("target", "required")]);
    assert_eq!(reasons(decide(&world, &run, to(Some("gone"))).await), [at("target", "unknownNode")]);
    let moved = decide(&world, &run, to(Some("wait"))).await.unwrap();
    let waits: Vec<_> =
        moved.snapshot.active_nodes().into_iter().map(|node| node.node_id.to_string()).collect();
    assert_eq!((waits, moved.has_incident), (vec!["wait".to_owned()], false));
}

#[tokio::test]
async fn a_held_run_waits_for_its_resumption_and_listens_to_nothing() {
    let definition = model(
        &[
            ("s", "startEvent", json!({})),
            ("task", "userTask", json!({})),
            ("late", "boundaryEvent", {
                let mut late = event("timer PT1H");
                late["bpmn"]["attachedToRef"] = json!("task");
                late
            }),
            ("e", "endEvent", json!({})),
        ],
        &[("s", "task"), ("task", "e"), ("late", "e")],
    );
    let (world, run) = World::running(&definition).await;
    assert_eq!(world.memory.0.lock().timers.len(), 1);
    let held = decide(&world, &run, that(DecisionKind::Suspend)).await.unwrap();
    assert_eq!((held.state, world.memory.0.lock().timers.len()), (RunState::Suspended, 0));
    let work = decide(&world, &run, about(DecisionKind::Skip, "task")).await;
    assert_eq!(reasons(work), [whole("suspended")]);
    assert_eq!(reasons(decide(&world, &run, that(DecisionKind::Suspend)).await), [whole("suspended")]);
    let back = decide(&world, &run, that(DecisionKind::Resume)).await.unwrap();
    assert_eq!((back.state, world.memory.0.lock().timers.len()), (RunState::Waiting, 1));
    assert_eq!(reasons(decide(&world, &run, that(DecisionKind::Resume)).await), [whole("notSuspended")]);
}

#[tokio::test]
async fn a_decision_that_sets_no_variables_refuses_them() {
    for kind in [DecisionKind::Suspend, DecisionKind::Resume, DecisionKind::Move] {
        let (world, run) = World::running(&receive()).await;
        let with = Decision { variables: input(json!({ "x": 1 })), ..that(kind) };
        assert_eq!(reasons(decide(&world, &run, with).await), [at("variables", "notAllowed")], "{kind:?}");
        assert_eq!(world.memory.commit_count(), 1, "{kind:?}");
    }
}

#[tokio::test]
async fn what_a_decision_does_not_take_is_refused_by_name() {
    let foreign = |kind| Decision {
        node_id: Some("nope".to_owned()),
        incident_id: Some("nope".to_owned()),
        target: Some("nope".to_owned()),
        ..that(kind)
    };
    let (world, run) = World::running(&receive()).await;
    for (kind, refused) in [
        (DecisionKind::Suspend, vec!["nodeId", "incidentId", "target"]),
        (DecisionKind::Approve, vec!["incidentId", "target"]),
        (DecisionKind::Continue, vec!["incidentId", "target"]),
        (DecisionKind::Retry, vec!["target"]),
        (DecisionKind::Move, vec![]),
    ] {
        let mut told = reasons(decide(&world, &run, foreign(kind)).await);
        told.retain(|(_, reason)| *reason == "notAllowed");
        let expected: Vec<_> = refused.into_iter().map(|member| at(member, "notAllowed")).collect();
        assert_eq!(told, expected, "{kind:?}");
    }
    let unknown = decide(&world, &run, about(DecisionKind::Skip, "nope")).await;
    assert_eq!(reasons(unknown), [at("nodeId", "unknownNode")]);
    let no_id = Decision { incident_id: Some("nope".to_owned()), ..that(DecisionKind::Retry) };
    assert_eq!(reasons(decide(&world, &run, no_id).await), [at("incidentId", "wrongFormat")]);
    // A foreign incident is not taken for one that is there, nor for a node that waits.
    let other = Decision { incident_id: Some("n999".to_owned()), ..that(DecisionKind::Skip) };
    assert_eq!(reasons(decide(&world, &run, other).await), [whole("nothingWaits")]);
    assert_eq!(world.memory.commit_count(), 1);
}

#[tokio::test]
async fn what_was_said_to_a_decision_is_in_the_history() {
    for kind in [DecisionKind::Suspend, DecisionKind::Skip] {
        let (world, run) = World::running(&receive()).await;
        let said = Decision { feedback: Some("agreed by phone".to_owned()), ..that(kind) };
        decide(&world, &run, said).await.unwrap();
        let text = String::from_utf8(world.memory.last_write().events.unwrap()).unwrap();
        assert!(text.contains("decision.taken") && text.contains("agreed by phone"), "{kind:?}: {text}");
    }
}

#[tokio::test]
async fn nothing_is_decided_on_a_run_that_ended_or_does_not_wait_for_it() {
    let (world, run) = World::running(&chain(&[])).await;
    for kind in ALL {
        assert_eq!(reasons(decide(&world, &run, that(kind)).await), [whole("ended")], "{kind:?}");
    }
    let (world, run) = World::running(&receive()).await;
    for kind in [DecisionKind::Approve, DecisionKind::Retry] {
        assert_eq!(reasons(decide(&world, &run, that(kind)).await), [whole("nothingWaits")], "{kind:?}");
    }
    assert_eq!(world.memory.commit_count(), 1);
}
