//! Completing human tasks.

use heddle_kernel::TaskId;
use heddle_policy::RequestContext;
use heddle_policy::capability::RunCompleteTask;
use heddle_usecase::StoreError;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::ports::TaskChange;
use crate::records::{HumanTask, Run, RunState, TaskState};
use crate::runs::Completion;
use crate::tests::support::{
    Caller, NOW, World, at, caller, chain, input, journal, model, on_run, reasons, review, uuid, whole,
};

async fn complete(
    world: &World,
    context: &RequestContext,
    run: &Run,
    (node, completion): (&str, Completion),
) -> Result<(HumanTask, Run), UseCaseError> {
    let may = on_run::<RunCompleteTask>(context, run);
    let record =
        |(task, run): &(HumanTask, Run)| journal(&format!("{} {}", task.node_id, run.state.as_str()));
    world.runs.complete(&may, context, node, completion, &record).await
}

fn with(outcome: &str, values: Value) -> Completion {
    Completion { outcome: Some(outcome.to_owned()), values: input(values), ..Completion::default() }
}

#[tokio::test]
async fn a_task_is_completed_by_a_candidate_with_a_valid_form_and_outcome() {
    let context = caller("will", "worker").context();
    let (world, run) = World::running(&review()).await;
    let opened = world.memory.last_write().tasks;
    assert!(matches!(&opened[..], [TaskChange::Open(task)] if task.candidate_groups == ["buyers"]));
    let wrong = Completion { outcome: Some("maybe".to_owned()), ..Completion::default() };
    let found = reasons(complete(&world, &context, &run, ("review", wrong)).await);
    let expected = [at("outcome", "notAllowed"), at("values.amount", "required")];
    assert_eq!(found, expected, "all that is wrong at once");
    let none = Completion { values: input(json!({ "amount": 1 })), ..Completion::default() };
    assert_eq!(
        reasons(complete(&world, &context, &run, ("review", none)).await),
        [at("outcome", "required")]
    );
    let right = || ("review", with("approve", json!({ "amount": 3 })));
    let (task, run) = complete(&world, &context, &run, right()).await.unwrap();
    assert_eq!((run.state, task.state), (RunState::Completed, TaskState::Completed));
    assert_eq!((task.completed_by, task.ended_at), (Some(Caller::id("will")), Some(NOW)));
    assert_eq!(run.snapshot.variables(), Some(&input(json!({ "amount": 3 }))), "values become variables");
    assert_eq!(world.memory.0.lock().journals.last(), Some(&journal("review completed")));
    let kept = world.memory.0.lock().tasks[0].clone();
    assert_eq!((kept.state, kept.completed_by), (TaskState::Completed, Some(Caller::id("will"))));
    assert_eq!(reasons(complete(&world, &context, &run, right()).await), [whole("nothingWaits")]);
    assert_eq!(world.memory.commit_count(), 2);
}

#[tokio::test]
async fn the_outcome_and_the_comment_are_part_of_the_history() {
    let context = caller("will", "worker").context();
    let (world, run) = World::running(&review()).await;
    let completion =
        Completion { comment: Some("too dear".to_owned()), ..with("reject", json!({ "amount": 9 })) };
    complete(&world, &context, &run, ("review", completion)).await.unwrap();
    let events: Value = serde_json::from_slice(&world.memory.last_write().events.unwrap()).unwrap();
    let done = events.as_array().unwrap().iter().find(|one| one["type"] == "task.completed").unwrap();
    assert_eq!((&done["data"]["outcome"], &done["data"]["comment"]), (&json!("reject"), &json!("too dear")));
    assert_eq!(done["nodeId"], "review");
}

/// A task of these candidates, and who may do it.
#[tokio::test]
async fn whoever_a_task_means_may_complete_it_and_nobody_else() {
    let will = Caller::id("will").to_string();
    let cases = [
        (json!({}), true, "nobody is named, so that all may"),
        (json!({ "candidateGroups": ["buyers"] }), true, "a group of theirs"),
        (json!({ "candidateGroups": ["auditors"] }), false, "another group"),
        (json!({ "candidateGroups": ["Buyers"] }), false, "groups are told apart by case"),
        (json!({ "candidateUsers": ["will@example.test"] }), true, "their address"),
        (json!({ "candidateUsers": ["WILL@Example.test"] }), true, "an address in any case"),
        (json!({ "candidateUsers": [will] }), true, "their id"),
        (json!({ "candidateUsers": ["ada@example.test"] }), false, "somebody else"),
        (json!({ "candidateUsers": ["ada"], "candidateGroups": ["buyers"] }), true, "one of both lists"),
        (json!({ "assignee": will }), true, "assigned to them"),
        (json!({ "assignee": "will@example.test" }), true, "assigned to their address"),
        (json!({ "assignee": "ada", "candidateGroups": ["buyers"] }), false, "assigned to somebody else"),
        (json!({ "assignee": "will", "candidateGroups": ["buyers"] }), false, "a display name names nobody"),
    ];
    for (configuration, may, why) in cases {
        let context = caller("will", "worker").context();
        let definition = chain(&[("task", "userTask", json!({ "configuration": configuration }))]);
        let (world, run) = World::running(&definition).await;
        let result = complete(&world, &context, &run, ("task", Completion::default())).await;
        if may {
            assert!(result.is_ok(), "{why}: {result:?}");
        } else {
            assert_eq!(reasons(result), [whole("notCandidate")], "{why}");
            assert_eq!(world.memory.commit_count(), 1, "{why}");
        }
    }
}

/// Two tasks of one node, side by side.
fn twice() -> Value {
    model(
        &[
            ("s", "startEvent", json!({})),
            ("split", "parallelGateway", json!({})),
            ("task", "userTask", json!({})),
            ("e", "endEvent", json!({})),
        ],
        &[("s", "split"), ("split", "task"), ("task", "e")],
    )
}

#[tokio::test]
async fn several_open_tasks_of_a_node_must_be_told_apart() {
    let context = caller("will", "worker").context();
    let mut definition = twice();
    let again = json!({ "id": "again", "source": "split", "target": "task" });
    definition["edges"].as_array_mut().unwrap().push(again);
    let (world, run) = World::running(&definition).await;
    let open = world.memory.open_tasks(run.id);
    assert_eq!(open.len(), 2);
    let any = complete(&world, &context, &run, ("task", Completion::default())).await;
    assert_eq!(reasons(any), [whole("ambiguous")]);
    let one = |id: TaskId| ("task", Completion { task: Some(id), ..Completion::default() });
    let (task, after) = complete(&world, &context, &run, one(open[1].id)).await.unwrap();
    assert_eq!((task.id, after.state), (open[1].id, RunState::Waiting));
    let left: Vec<_> = world.memory.open_tasks(run.id).into_iter().map(|task| task.id).collect();
    assert_eq!(left, [open[0].id]);
    for (node, task) in [("task", open[1].id), ("task", TaskId(uuid(9))), ("s", open[0].id)] {
        let completion = Completion { task: Some(task), ..Completion::default() };
        let refused = complete(&world, &context, &run, (node, completion)).await;
        assert_eq!(reasons(refused), [whole("nothingWaits")], "{node}");
    }
}

#[tokio::test]
async fn a_completion_is_decided_anew_when_the_run_changed_under_it() {
    let context = caller("will", "worker").context();
    let (world, run) = World::running(&review()).await;
    for _ in 0..2 {
        world.memory.fail_next(StoreError::Stale);
    }
    let done = complete(&world, &context, &run, ("review", with("approve", json!({ "amount": 1 })))).await;
    assert_eq!(done.unwrap().1.state, RunState::Completed);
    let (world, run) = World::running(&review()).await;
    for _ in 0..50 {
        world.memory.fail_next(StoreError::Stale);
    }
    let busy = complete(&world, &context, &run, ("review", with("approve", json!({ "amount": 1 })))).await;
    assert_eq!(reasons(busy), [whole("revisionMismatch")], "it ends");
    assert_eq!(world.memory.open_tasks(run.id).len(), 1);
}

#[tokio::test]
async fn of_two_who_complete_at_once_one_does() {
    let context = caller("will", "worker").context();
    let (world, run) = World::running(&review()).await;
    let right = || ("review", with("approve", json!({ "amount": 3 })));
    let (one, two) =
        tokio::join!(complete(&world, &context, &run, right()), complete(&world, &context, &run, right()));
    let (done, refused) = if one.is_ok() { (one, two) } else { (two, one) };
    assert_eq!(done.unwrap().1.state, RunState::Completed);
    assert_eq!(reasons(refused), [whole("nothingWaits")]);
    assert_eq!(world.memory.commit_count(), 2);
}
