//! The work list.

use heddle_kernel::{PageRequest, TaskId};
use heddle_policy::capability::HumanTaskList;
use heddle_policy::{Effect, GrantFacts, Source};
use serde_json::json;

use crate::ports::TaskFilter;
use crate::records::TaskState;
use crate::runs::MyTasks;
use crate::tests::support::{Caller, NOW, World, at, caller, chain, reasons};

/// Asks for a work list, and gives what the store was asked for with the tasks that it let through.
async fn list(world: &World, who: Caller, whose: MyTasks, filter: TaskFilter) -> (TaskFilter, Vec<TaskId>) {
    let context = who.context();
    let may = context.snapshot().authorize_list::<HumanTaskList>().unwrap();
    let page = world.runs.tasks(&may, &context, whose, filter, &PageRequest::default()).await.unwrap();
    let asked = world.memory.0.lock().task_filters.last().cloned().unwrap();
    (asked, page.items.into_iter().map(|task| task.id).collect())
}

#[tokio::test]
async fn whose_tasks_are_meant_is_put_into_names_and_groups() {
    let world = World::new();
    let names = vec![Caller::id("will").to_string(), "will@example.test".to_owned()];
    let mine = (names.clone(), vec!["buyers".to_owned()]);
    let ada = vec![Caller::id("ada").to_string(), "ada@example.test".to_owned()];
    let adas = (ada.clone(), vec!["buyers".to_owned()]);
    let cases = [
        (MyTasks::All, None, None),
        (MyTasks::Assigned, Some(names), None),
        (MyTasks::Candidate, None, Some(mine)),
        (MyTasks::Of("ada@example.test".to_owned()), Some(ada.clone()), None),
        (MyTasks::Of(Caller::id("ada").to_string()), Some(ada), None),
        (MyTasks::Of("demo".to_owned()), Some(vec!["demo".to_owned()]), None),
        (MyTasks::CandidateOf("Ada@example.test".to_owned()), None, Some(adas)),
    ];
    for (whose, assignee, candidate) in cases {
        // An operator views all runs: nothing is added to what they ask for.
        let (asked, _) = list(&world, caller("will", "operator"), whose.clone(), TaskFilter::default()).await;
        assert_eq!((asked.assignee, asked.candidate), (assignee, candidate), "{whose:?}");
    }
}

#[tokio::test]
async fn who_only_works_on_tasks_sees_those_that_could_be_theirs() {
    let world = World::new();
    let no_view = || caller("will", "worker").groups(&["buyers", "clerks"]).narrowed_to(&["tasks.work"]);
    let names = vec![Caller::id("will").to_string(), "will@example.test".to_owned()];
    let theirs = Some((names.clone(), vec!["buyers".to_owned(), "clerks".to_owned()]));
    for whose in [MyTasks::All, MyTasks::Candidate, MyTasks::Of("ada".to_owned())] {
        let (asked, _) = list(&world, no_view(), whose.clone(), TaskFilter::default()).await;
        assert_eq!(asked.candidate, theirs, "{whose:?}");
    }
    let (asked, _) = list(&world, no_view(), MyTasks::Assigned, TaskFilter::default()).await;
    assert_eq!((asked.assignee, asked.candidate), (Some(names), theirs));
}

#[tokio::test]
async fn what_others_may_take_is_for_those_who_view_runs() {
    let world = World::new();
    let asked = async |who: Caller, name: &str| {
        let context = who.context();
        let may = context.snapshot().authorize_list::<HumanTaskList>().unwrap();
        let whose = MyTasks::CandidateOf(name.to_owned());
        world.runs.tasks(&may, &context, whose, TaskFilter::default(), &PageRequest::default()).await
    };
    let no_view = || caller("will", "worker").narrowed_to(&["tasks.work"]);
    assert!(asked(no_view(), "will@example.test").await.is_ok());
    assert_eq!(reasons(asked(no_view(), "ada@example.test").await), [at("candidate", "permissionMissing")]);
    assert_eq!(reasons(asked(caller("will", "operator"), "nobody").await), [at("candidate", "unknownUser")]);
}

#[tokio::test]
async fn what_else_is_asked_for_reaches_the_store() {
    let (world, run) = World::running(&chain(&[("task", "userTask", json!({}))])).await;
    let filter = TaskFilter {
        state: Some(TaskState::Open),
        due_before: Some(NOW),
        workflow: Some(run.workflow),
        run: Some(run.id),
        ..TaskFilter::default()
    };
    let (asked, shown) = list(&world, caller("will", "operator"), MyTasks::All, filter.clone()).await;
    assert_eq!((asked, shown.len()), (filter, 1));
}

#[tokio::test]
async fn a_deny_on_a_run_or_its_workflow_hides_its_tasks() {
    let (world, run) = World::running(&chain(&[("task", "userTask", json!({}))])).await;
    let deny = |resource: &str, selector: String| GrantFacts {
        id: "g".to_owned(),
        source: Source::Everyone,
        resource: resource.to_owned(),
        action: "read".to_owned(),
        selector,
        effect: Effect::Deny,
        expires_at: None,
    };
    let open = async |who: Caller| list(&world, who, MyTasks::All, TaskFilter::default()).await.1.len();
    let will = || caller("will", "operator");
    assert_eq!(open(will()).await, 1);
    assert_eq!(open(will().grant(deny("run", run.id.to_string()))).await, 0);
    assert_eq!(open(will().grant(deny("workflow", run.workflow.to_string()))).await, 0);
    assert_eq!(open(will().grant(deny("run", run.workflow.to_string()))).await, 1, "of another kind");
    assert_eq!(open(caller("eve", "owner").elsewhere()).await, 0);
}
