//! Human tasks: settings, assignment, completion, outcomes, variables.

use crate::support::{Model, Run, boundary, map};
use heddle_engine::{Command, EventKind, IncidentCode, Rejection, Remark, SkipTarget, Status, WaitKind};
use serde_json::{Value, json};

fn review(configuration: Value) -> Model {
    Model::default()
        .nodes("s:startEvent yes:task no:task e:endEvent")
        .node("review", "userTask", json!({ "configuration": configuration }))
        .flows("s > review; yes > e; no > e")
        .edge("review", "yes", json!({"condition": {"on": "outcome:approve"}}))
        .edge("review", "no", json!({"condition": {"on": "outcome:reject"}}))
}

#[test]
fn a_task_shows_its_settings() {
    let configuration = json!({
        "assignee": "ada", "candidateUsers": "bob, eve", "candidateGroups": ["clerks"], "dueDate": "P2D",
        "followUpDate": "P1D", "priority": 60, "form": {"type": "object"}, "outcomes": ["approve", "reject"]
    });
    let run = review(configuration).run(json!({}));
    let task = run.state.tasks().remove(0);
    assert_eq!(task.assignee.as_deref(), Some("ada"));
    assert_eq!(task.candidate_users, ["bob", "eve"]);
    assert_eq!(task.candidate_groups, ["clerks"]);
    assert_eq!(task.due_at.unwrap().to_string(), "2024-01-03T00:00:00.000Z");
    assert_eq!(task.follow_up_at.unwrap().to_string(), "2024-01-02T00:00:00.000Z");
    assert_eq!((task.priority, task.form.as_deref()), (Some(60), Some(&json!({"type": "object"}))));
    let wait = run.state.active_nodes()[0].waiting_for.clone().unwrap();
    assert_eq!(wait.kind, WaitKind::HumanTask);
    assert_eq!(wait.task_id, Some(task.task_id));
    assert_eq!(wait.options, ["approve", "reject", "skip", "move", "suspend"]);
}

#[test]
fn listeners_hear_of_changes_of_a_task_and_of_time() {
    let count = |name: &str| format!("{{{name}: (if {name} = null then 0 else {name}) + 1}}");
    let configuration = json!({
        "inputs": [{"name": "own", "value": 1}],
        "listeners": [
            {"on": "update", "source": count("updated")},
            {"on": "assignment", "source": count("assigned")},
            {"on": "timeout", "timer": {"duration": "PT1H"}, "source": count("late")},
            {"on": "timeout", "timer": {"cycle": "R2/PT2H"}, "jobType": "remind"}
        ]
    });
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .node("t", "userTask", json!({ "configuration": configuration }))
        .flows("s > t > e");
    let mut run = model.run(json!({}));
    assert_eq!((run.state.timers().len(), run.variables()), (2, json!({})));
    for assignee in [Some("ada".to_owned()), None] {
        run.give(Command::AssignTask { task_id: run.task_id("t"), assignee }).unwrap();
    }
    let (scope, values) = (Some(run.instance("t")), map(json!({"own": 2})));
    run.give(Command::SetVariables { scope, values }).unwrap();
    assert_eq!(run.variables(), json!({"updated": 3, "assigned": 1}));
    run.advance(3_600);
    assert_eq!((run.variables()["late"].clone(), run.tasks()), (json!(1), vec!["t".to_owned()]));
    assert!(run.state.jobs().is_empty());
    run.advance(3 * 3_600);
    assert_eq!((run.state.jobs().len(), run.state.timers().len()), (2, 0));
    run.complete("t");
    assert_eq!(run.status(), Status::Completed);
    assert!(run.state.jobs().is_empty(), "what listens goes with the task");
    let mut run = model.run(json!({}));
    run.complete("t");
    assert_eq!((run.status(), run.state.timers().len()), (Status::Completed, 0));
}

#[test]
fn listeners_of_a_withdrawal_compute_for_the_scope_around_and_a_failing_one_holds_nothing_up() {
    let listeners = json!([
        {"on": "delete", "source": "{gone: amount}"},
        {"on": "delete", "source": "\"no context\""},
        {"on": "delete", "source": "{last: true}"}
    ]);
    let model = Model::default()
        .node("u", "userTask", json!({"configuration": {"listeners": listeners}}))
        .node("b", "boundaryEvent", boundary("u", "timer PT1H", true))
        .nodes("late:task")
        .flows("b > late");
    let mut run = model.run(json!({"amount": 3}));
    run.advance(3_600);
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.variables(), json!({"amount": 3, "gone": 3, "last": true}));
    let count = |wanted: &str| {
        run.log.iter().filter(|event| serde_json::to_value(event).unwrap()["type"] == wanted).count()
    };
    assert_eq!((count("incident.raised"), count("incident.resolved")), (1, 1));

    let mut done = model.run(json!({"amount": 3}));
    done.complete("u");
    assert_eq!(done.variables(), json!({"amount": 3}), "a task that was completed was not withdrawn");
    let mut skipped = model.run(json!({"amount": 3}));
    let target = SkipTarget::Node(skipped.instance("u"));
    skipped.give(Command::Skip { target, output: map(json!({})) }).unwrap();
    assert_eq!(skipped.variables()["gone"], 3);
}

#[test]
fn a_branch_is_taken_by_the_outcome_of_the_task_before_the_gateway() {
    let model = Model::default()
        .nodes("s:startEvent g:exclusiveGateway a:task b:task")
        .node("u", "userTask", json!({"configuration": {"outcomes": ["yes", "no"]}}))
        .flows("s > u > g")
        .edge("g", "a", json!({"branch": "yes"}))
        .edge("g", "b", json!({"branch": "no"}));
    for (outcome, taken) in [("yes", "a"), ("no", "b")] {
        let mut run = model.run(json!({}));
        run.complete_with("u", Some(outcome), json!({})).unwrap();
        assert!(run.done().contains(&taken.to_owned()), "{:?}", run.done());
        assert_eq!((run.status(), run.done().len()), (Status::Completed, 2));
    }
}

#[test]
fn the_outcome_chooses_the_flow_and_the_values_are_kept() {
    for (outcome, branch) in [("approve", "yes"), ("reject", "no")] {
        let mut run = review(json!({"outcomes": ["approve", "reject"]})).run(json!({"amount": 5}));
        run.complete_with("review", Some(outcome), json!({"amount": 6, "note": "ok"})).unwrap();
        assert!(run.done().contains(&branch.to_owned()) && run.done().len() == 2);
        assert_eq!(run.variables(), json!({"amount": 6, "note": "ok"}));
        let output = json!({"output": {"amount": 6, "note": "ok"}, "outcome": outcome});
        assert_eq!(run.state.node_outputs()["review"], output);
        assert_eq!(run.state.output(), run.state.variables());
    }
}

#[test]
fn what_a_decision_can_do_to_a_task_follows_from_its_outcomes() {
    for (outcomes, options) in [
        (json!([]), vec!["approve", "reject", "revise"]),
        (json!(["approved", "rejected"]), vec!["approve", "reject"]),
        (json!(["ship", "revise"]), vec!["revise"]),
        (json!([{"name": "yes", "values": {"ok": true}}]), vec![]),
    ] {
        let mut run = Model::default()
            .node("u", "userTask", json!({"configuration": {"outcomes": outcomes}}))
            .run(json!({}));
        let told = |run: &Run| run.state.active_nodes()[0].waiting_for.clone().unwrap().options;
        assert_eq!(told(&run), [options, vec!["skip", "move", "suspend"]].concat(), "{outcomes}");
        run.give(Command::Suspend).unwrap();
        assert_eq!(told(&run), ["resume"]);
    }
}

#[test]
fn an_outcome_is_meant_by_the_variables_that_it_sets() {
    let outcomes =
        json!([{"name": "yes", "values": {"ok": true}}, {"name": "no", "values": {"ok": false}}, "later"]);
    let run = Model::default()
        .node("u", "userTask", json!({"configuration": {"outcomes": outcomes}}))
        .run(json!({}));
    let task = run.state.tasks().remove(0);
    for (named, values, meant) in [
        (None, json!({"ok": true, "note": "x"}), Some("yes")),
        (None, json!({"ok": false}), Some("no")),
        (None, json!({"OK": true}), None),
        (Some("later"), json!({"ok": true}), Some("later")),
    ] {
        assert_eq!(task.meant(named, &map(values.clone())), meant, "{named:?} {values}");
    }
    assert_eq!(task.sets(Some("no")), Some(&map(json!({"ok": false}))));
    assert_eq!(task.sets(Some("later")), None);
}

/// A restriction that names nobody must never let everybody in.
#[test]
fn a_restricted_task_that_names_nobody_is_an_incident() {
    for (configuration, input, told) in [
        (json!({"assignee": "=adjuster"}), json!({}), "assignee `=adjuster` gives null"),
        (json!({"candidateGroups": "=groups"}), json!({"groups": []}), "candidateGroups `=groups` gives []"),
        (json!({"candidateGroups": "=groups"}), json!({"groups": ["a", 1]}), "gives [\"a\",1]"),
        (json!({"candidateUsers": "=users"}), json!({"users": " , "}), "candidateUsers `=users` gives"),
        (
            json!({"assignee": "=who", "candidateUsers": "=users"}),
            json!({"who": true}),
            "assignee `=who` gives true",
        ),
    ] {
        let mut run =
            Model::default().node("u", "userTask", json!({ "configuration": configuration })).run(input);
        let incident = run.state.incidents().remove(0);
        assert_eq!((incident.code, run.tasks()), (IncidentCode::ExpressionError, vec![]), "{configuration}");
        assert!(incident.message.contains("`u`") && incident.message.contains(told), "{}", incident.message);
        let variables = map(json!({"adjuster": "ada", "groups": ["a"], "users": "ada", "who": "ada"}));
        run.give(Command::Retry { incident_id: incident.id, variables }).unwrap();
        assert_eq!(run.tasks(), ["u"], "{configuration}");
    }
}

#[test]
fn a_task_for_some_tells_which_of_its_settings_names_nobody() {
    let configuration = json!({"assignee": "=who", "candidateGroups": ["clerks"]});
    let run =
        Model::default().node("u", "userTask", json!({ "configuration": configuration })).run(json!({}));
    let created = run.log.iter().find_map(|event| match &event.kind {
        EventKind::TaskCreated(created) => Some(created.reasons.clone()),
        _ => None,
    });
    let reasons = created.unwrap();
    assert!(reasons.len() == 1 && reasons[0].starts_with("assignee `=who` gives null"), "{reasons:?}");
    let open =
        Model::default().node("u", "userTask", json!({"configuration": {"assignee": ""}})).run(json!({}));
    assert_eq!(open.tasks(), ["u"], "a model that names nobody is for all");
}

#[test]
fn later_conditions_see_what_nodes_gave() {
    let model = Model::default()
        .nodes("s:startEvent u:userTask g:exclusiveGateway a:task b:task")
        .flows("s > u > g")
        .flow_if("g", "a", "nodes.u.output.score gte 7")
        .flow_if("g", "b", "nodes.u.outcome eq low");
    let mut high = model.run(json!({}));
    high.complete_with("u", None, json!({"score": 8})).unwrap();
    assert_eq!(high.done(), ["a", "u"]);
    let mut low = model.run(json!({}));
    low.complete_with("u", Some("low"), json!({"score": 1})).unwrap();
    assert_eq!(low.done(), ["b", "u"]);
}

#[test]
fn wrong_completions_are_refused() {
    let mut run = review(json!({"outcomes": ["approve", "reject"]})).run(json!({}));
    let allowed = vec!["approve".to_owned(), "reject".to_owned()];
    for outcome in [None, Some("maybe")] {
        let refused = run.complete_with("review", outcome, json!({}));
        assert_eq!(refused, Err(Rejection::UnknownOutcome { allowed: allowed.clone() }));
    }
    let task_id = run.task_id("review");
    run.complete_with("review", Some("approve"), json!({})).unwrap();
    let again = Command::CompleteTask { task_id, outcome: None, values: map(json!({})), comment: None };
    assert_eq!(run.give(again), Err(Rejection::AlreadyEnded));
}

#[test]
fn a_task_can_be_given_to_somebody_and_back() {
    let mut run = review(json!({"outcomes": []})).run(json!({}));
    let task_id = run.task_id("review");
    run.give(Command::AssignTask { task_id, assignee: Some("ada".to_owned()) }).unwrap();
    assert_eq!(run.state.tasks()[0].assignee.as_deref(), Some("ada"));
    run.give(Command::AssignTask { task_id, assignee: None }).unwrap();
    assert_eq!(run.state.tasks()[0].assignee, None);
}

#[test]
fn a_remark_on_a_decision_is_part_of_the_history() {
    let mut run = Model::default().nodes("u:userTask v:task").flows("u > v").run(json!({}));
    run.remark = Some(Remark { decision: "suspend", feedback: "holidays".to_owned() });
    run.give(Command::Suspend).unwrap();
    run.remark = None;
    run.give(Command::Resume).unwrap();
    run.remark = Some(Remark { decision: "skip", feedback: "done by phone".to_owned() });
    let target = SkipTarget::Node(run.instance("u"));
    run.give(Command::Skip { target, output: map(json!({})) }).unwrap();
    let told: Vec<_> =
        run.log.iter().filter(|event| matches!(event.kind, EventKind::DecisionTaken { .. })).collect();
    let json = serde_json::to_value(&told).unwrap();
    assert_eq!(json[0]["data"], json!({"decision": "suspend", "feedback": "holidays"}));
    assert_eq!(json[1]["data"], json!({"decision": "skip", "feedback": "done by phone"}));
    assert_eq!((told.len(), &json[1]["nodeId"]), (2, &json!("u")));
}

#[test]
fn a_comment_is_part_of_the_history() {
    let mut run = Model::default().nodes("u:userTask").run(json!({}));
    let comment = Some("looks fine".to_owned());
    let task_id = run.task_id("u");
    run.give(Command::CompleteTask {
        task_id,
        outcome: None,
        values: map(json!({})),
        comment: comment.clone(),
    })
    .unwrap();
    let kept = run.log.iter().find_map(|event| match &event.kind {
        EventKind::TaskCompleted { comment, .. } => Some(comment.clone()),
        _ => None,
    });
    assert_eq!(kept, Some(comment));
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn variables_of_a_sub_process_end_with_it() {
    let inner = Model::default().nodes("a:userTask b:userTask").flows("a > b");
    let model =
        Model::default().nodes("s:startEvent e:endEvent").sub("p", inner, json!({})).flows("s > p > e");
    let mut run = model.run(json!({"x": 1}));
    let scope = Some(run.instance("p"));
    run.give(Command::SetVariables { scope, values: map(json!({"local": 1})) }).unwrap();
    run.complete_with("a", None, json!({"local": 2, "x": 2, "new": 3})).unwrap();
    assert_eq!(run.variables(), json!({"x": 2, "new": 3}));
    run.complete("b");
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.variables(), json!({"x": 2, "new": 3}));
}

#[test]
fn the_event_log_is_the_documented_json() {
    let mut run = Run::new(review(json!({"outcomes": ["approve", "reject"]})).graph());
    run.start(json!({"amount": 5})).unwrap();
    let first = serde_json::to_value(&run.log[0]).unwrap();
    let expected = json!({
        "sequence": 1, "type": "run.started", "at": "2024-01-01T00:00:00.000Z",
        "data": {"processId": "main", "trigger": {"kind": "manual"}, "input": {"amount": 5}}
    });
    assert_eq!(first, expected);
    let types =
        ["run.started", "node.activated", "node.completed", "flow.taken", "node.activated", "task.created"];
    assert_eq!(run.types(), types);
    let taken = serde_json::to_value(&run.log[3]).unwrap();
    assert_eq!(taken["data"], json!({"flowId": "s-review", "targetId": "review"}));
    assert_eq!(taken["nodeId"], "s");
}
