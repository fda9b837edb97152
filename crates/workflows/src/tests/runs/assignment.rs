//! Claiming, releasing and delegating human tasks.

use heddle_kernel::{TaskId, TenantId};
use heddle_policy::capability::{HumanTaskAssign, RunCompleteTask};
use serde_json::json;

use crate::UseCaseError;
use crate::ports::TaskChange;
use crate::records::{HumanTask, Run};
use crate::runs::{Assignment, Completion};
use crate::tests::support::{
    Caller, World, at, caller, chain, journal, on_run, reasons, unrecorded, uuid, whole,
};

async fn assign(
    world: &World,
    who: Caller,
    run: &Run,
    assignment: Assignment,
) -> Result<HumanTask, UseCaseError> {
    let context = who.context();
    let may = on_run::<HumanTaskAssign>(&context, run);
    let task = world.memory.0.lock().tasks[0].id;
    let record = |task: &HumanTask| journal(task.assignee.as_deref().unwrap_or("nobody"));
    world.runs.assign(&may, &context, task, assignment, &record).await
}

/// Holder of the task, caller, request, and the holder afterwards or the reason for the refusal.
type Case<'a> = (Option<&'a str>, Caller, Assignment, Result<Option<String>, &'a str>);

#[tokio::test]
async fn who_may_claim_release_and_delegate() {
    let will = Caller::id("will").to_string();
    let to_bob = || Assignment::To("bob@example.test".to_owned());
    let bob = Ok(Some(Caller::id("bob").to_string()));
    let mine = || Ok(Some(will.clone()));
    let worker = || caller("will", "worker");
    let outsider = || caller("will", "worker").groups(&["others"]);
    let operator = || caller("will", "operator").groups(&[]);
    let cases: Vec<Case<'_>> = vec![
        (None, worker(), Assignment::Claim, mine()),
        (None, worker(), to_bob(), bob.clone()),
        (None, worker(), Assignment::Release, Err("notCandidate")),
        (None, outsider(), Assignment::Claim, Err("notCandidate")),
        (None, outsider(), to_bob(), Err("notCandidate")),
        (None, operator(), Assignment::Claim, mine()),
        (None, operator(), to_bob(), bob.clone()),
        (None, operator(), Assignment::Release, Ok(None)),
        (Some("will@example.test"), worker(), Assignment::Claim, mine()),
        (Some("will@example.test"), outsider(), Assignment::Release, Ok(None)),
        (Some("will@example.test"), outsider(), to_bob(), bob.clone()),
        (Some("ada"), worker(), Assignment::Claim, Err("assigned")),
        (Some("ada"), worker(), Assignment::Release, Err("notCandidate")),
        (Some("ada"), worker(), to_bob(), Err("notCandidate")),
        (Some("ada"), operator(), Assignment::Claim, mine()),
        (Some("ada"), operator(), Assignment::Release, Ok(None)),
        (Some("ada"), operator(), to_bob(), bob),
    ];
    for (number, (assignee, who, assignment, expected)) in cases.into_iter().enumerate() {
        let mut configuration = json!({ "candidateGroups": ["buyers"] });
        if let Some(assignee) = assignee {
            configuration["assignee"] = json!(assignee);
        }
        let definition = chain(&[("task", "userTask", json!({ "configuration": configuration }))]);
        let (world, run) = World::running(&definition).await;
        let told = assign(&world, who, &run, assignment).await;
        let kept = world.memory.open_tasks(run.id)[0].assignee.clone();
        match expected {
            Ok(holder) => {
                assert_eq!(told.unwrap().assignee, holder, "case {number}");
                assert_eq!(kept, holder, "case {number}");
            }
            Err(reason) => {
                assert_eq!(reasons(told), [whole(reason)], "case {number}");
                assert_eq!(kept.as_deref(), assignee, "case {number}");
            }
        }
    }
}

#[tokio::test]
async fn whoever_is_named_is_kept_by_id_and_nobody_else_is_taken() {
    let (world, run) = World::running(&chain(&[("task", "userTask", json!({}))])).await;
    let bob = Caller::id("bob").to_string();
    for name in ["bob@example.test", "Bob@Example.Test", bob.as_str()] {
        let to = Assignment::To(name.to_owned());
        let told = assign(&world, caller("olga", "operator"), &run, to).await.unwrap();
        assert_eq!(told.assignee.as_deref(), Some(bob.as_str()), "{name}");
    }
    for nobody in ["nobody@nowhere.example", "demo", "00000000-0000-7000-8000-000000000000"] {
        let to = Assignment::To(nobody.to_owned());
        let told = assign(&world, caller("olga", "operator"), &run, to).await;
        assert_eq!(reasons(told), [at("assignee", "unknownUser")], "{nobody}");
    }
}

#[tokio::test]
async fn an_assignment_is_one_write_with_its_journal_and_a_repeat_is_none() {
    let (world, run) = World::running(&chain(&[("task", "userTask", json!({}))])).await;
    assign(&world, caller("will", "worker"), &run, Assignment::Claim).await.unwrap();
    let will = Caller::id("will").to_string();
    let write = world.memory.last_write();
    assert!(
        matches!(&write.tasks[..], [TaskChange::Assign(_, Some(name))] if *name == will),
        "{:?}",
        write.tasks
    );
    assert_eq!(write.expected, Some(run.revision));
    assert_eq!(world.memory.0.lock().journals.last(), Some(&journal(&will)));
    let written = world.memory.commit_count();
    let again = assign(&world, caller("will", "worker"), &run, Assignment::Claim).await.unwrap();
    assert_eq!((again.assignee, world.memory.commit_count()), (Some(will), written));
}

#[tokio::test]
async fn a_claimed_task_is_its_holders_alone() {
    let (world, run) = World::running(&chain(&[("task", "userTask", json!({}))])).await;
    assign(&world, caller("will", "worker"), &run, Assignment::Claim).await.unwrap();
    let complete = async |name: &'static str| {
        let context = caller(name, "worker").context();
        let may = on_run::<RunCompleteTask>(&context, &run);
        world.runs.complete(&may, &context, "task", Completion::default(), &unrecorded).await
    };
    assert_eq!(reasons(complete("bob").await), [whole("notCandidate")]);
    assert!(complete("will").await.is_ok());
    let late = assign(&world, caller("will", "worker"), &run, Assignment::Release).await;
    assert_eq!(reasons(late), [whole("ended")]);
}

#[tokio::test]
async fn the_run_of_a_task_is_found_within_its_organisation_alone() {
    let (world, run) = World::running(&chain(&[("task", "userTask", json!({}))])).await;
    let task = world.memory.open_tasks(run.id)[0].id;
    assert_eq!(world.runs.task_instance(run.tenant, task).await.unwrap(), run.key());
    for (tenant, task) in [(TenantId(uuid(2)), task), (run.tenant, TaskId(uuid(9)))] {
        let found = world.runs.task_instance(tenant, task).await;
        assert!(matches!(found, Err(UseCaseError::NotFound)), "{found:?}");
    }
}
