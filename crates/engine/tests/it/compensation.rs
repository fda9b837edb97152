//! Compensation by handlers at boundaries and by event sub-processes, and cancelled transactions.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use crate::support::{Model, Run, boundary, event, map};
use heddle_engine::{Command, EventKind, IncidentCode, SkipTarget, Status, WaitKind};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Nodes that completed, in order, as far as they are among these.
fn completed(run: &Run, wanted: &str) -> Vec<String> {
    let done = run.log.iter().filter(|event| matches!(event.kind, EventKind::NodeCompleted { .. }));
    let ids = done.filter_map(|event| event.node_id.as_ref()).map(|id| id.to_string());
    ids.filter(|id| wanted.split(' ').any(|own| own == id)).collect()
}

/// Three tasks with handlers one after another, and then what is thrown.
fn three(throw: &str, kind: &str) -> Model {
    Model::default()
        .nodes("s:startEvent a:task b:task c:task after:task e:endEvent")
        .undo("a", "ua", kind)
        .undo("b", "ub", kind)
        .undo("c", "uc", kind)
        .node("t", "intermediateThrowEvent", event(throw))
        .flows("s > a > b > c > t > after > e")
}

/// A script task that sets a variable.
fn script(source: &str, variable: &str) -> Value {
    json!({"configuration": {"kind": "feel", "source": source, "resultVariable": variable}})
}

fn compensating(mut node: Value) -> Value {
    node["bpmn"]["activity"]["forCompensation"] = true.into();
    node
}

#[test]
fn what_completed_is_compensated_in_reverse_order_and_once() {
    let again = three("compensate", "task").node("t2", "endEvent", event("compensate")).flows("after > t2");
    let run = again.run(json!({}));
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(completed(&run, "ua ub uc t after"), ["uc", "ub", "ua", "t", "after"]);
    let told: Vec<_> = run
        .log
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::NodeActivated { compensates: Some(of), .. } => Some(*of),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 3, "each handler names the node instance that it compensates");
}

#[test]
fn a_throw_that_names_an_activity_compensates_that_alone() {
    let run = three("compensate b", "task").run(json!({}));
    assert_eq!(completed(&run, "ua ub uc"), ["ub"]);
    // What has no handler, or has not completed, is compensated by nothing.
    let none = Model::default()
        .nodes("s:startEvent a:task later:task")
        .undo("later", "ul", "task")
        .node("t", "intermediateThrowEvent", event("compensate a"))
        .node("u", "intermediateThrowEvent", event("compensate"))
        .flows("s > a > t > u > later");
    let run = none.run(json!({}));
    assert_eq!((run.status(), completed(&run, "ul")), (Status::Completed, vec![]));
}

#[test]
fn a_handler_that_waits_holds_the_event_and_those_before_it() {
    let mut run = three("compensate", "userTask").run(json!({}));
    assert_eq!(run.tasks(), ["uc"]);
    let waits = run.state.active_nodes();
    let throw = waits.iter().find(|own| &*own.node_id == "t").unwrap();
    assert_eq!(throw.waiting_for.as_ref().unwrap().kind, WaitKind::Compensation);
    for handler in ["uc", "ub", "ua"] {
        assert_eq!(run.tasks(), [handler]);
        assert!(completed(&run, "after").is_empty());
        run.complete(handler);
    }
    assert_eq!((run.status(), completed(&run, "after")), (Status::Completed, vec!["after".to_owned()]));
}

#[test]
fn an_event_that_does_not_wait_goes_on_and_the_run_ends_with_the_last_handler() {
    let mut run = three("compensateSoon", "userTask").run(json!({}));
    assert_eq!((completed(&run, "after"), run.status()), (vec!["after".to_owned()], Status::Waiting));
    for handler in ["uc", "ub", "ua"] {
        run.complete(handler);
    }
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn only_what_has_completed_is_compensated() {
    let model = Model::default()
        .nodes("s:startEvent g:parallelGateway a:task open:userTask e:endEvent")
        .undo("a", "ua", "task")
        .undo("open", "uo", "task")
        .node("t", "intermediateThrowEvent", event("compensate"))
        .flows("s > g > a > t > e; g > open");
    let mut run = model.run(json!({}));
    assert_eq!((completed(&run, "ua uo"), run.tasks()), (vec!["ua".to_owned()], vec!["open".to_owned()]));
    run.complete("open");
    assert_eq!((run.status(), completed(&run, "uo")), (Status::Completed, vec![]));
}

#[test]
fn a_sub_process_is_compensated_from_the_inside_in_reverse_order() {
    let flight = Model::default().nodes("f:userTask").undo("f", "uf", "userTask");
    let hotel = Model::default()
        .nodes("h:userTask")
        .undo("h", "uh", "userTask")
        .sub("flight", flight, json!({}))
        .flows("h > flight");
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .sub("hotel", hotel, json!({}))
        .undo("hotel", "uhotel", "userTask")
        .node("t", "intermediateThrowEvent", event("compensate"))
        .flows("s > hotel > t > e");
    let mut run = model.run(json!({}));
    run.complete("h");
    run.complete("f");
    for handler in ["uf", "uh", "uhotel"] {
        assert_eq!(run.tasks(), [handler]);
        run.complete(handler);
    }
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(completed(&run, "hotel flight"), ["flight", "hotel"], "what is restored completes but once");
    assert!(run.types().iter().any(|kind| kind == "node.compensated"));
}

/// A sub-process with a task, and an event sub-process that compensates it.
fn with_event_handler(handler: Model) -> Model {
    let handler = handler.node("cs", "startEvent", event("compensate"));
    let content = Model::default().nodes("a:userTask").undo("a", "ua", "task").sub(
        "undo",
        handler,
        json!({"triggeredByEvent": true}),
    );
    Model::default()
        .nodes("s:startEvent later:userTask e:endEvent")
        .sub("p", content, json!({}))
        .node("t", "intermediateThrowEvent", event("compensate p"))
        .flows("s > p > later > t > e")
}

#[test]
fn an_event_sub_process_sees_the_data_of_its_scope_as_they_were() {
    let handler = Model::default().node("k", "scriptTask", script("seat", "given")).flows("cs > k");
    let mut run = with_event_handler(handler).run(json!({"seat": "outer", "given": null}));
    let scope = Some(run.instance("p"));
    run.give(Command::SetVariables { scope, values: map(json!({"seat": "12A"})) }).unwrap();
    run.complete("a");
    run.give(Command::SetVariables { scope: None, values: map(json!({"seat": "gone"})) }).unwrap();
    run.complete("later");
    assert_eq!((run.status(), &run.variables()["given"]), (Status::Completed, &json!("12A")));
    // The handler takes the place of the default: what is inside is compensated when it says so.
    assert!(completed(&run, "ua").is_empty());
}

#[test]
fn an_event_sub_process_can_compensate_what_is_in_its_scope() {
    let handler = Model::default().node("ct", "intermediateThrowEvent", event("compensate")).flows("cs > ct");
    let mut run = with_event_handler(handler).run(json!({}));
    run.complete("a");
    run.complete("later");
    assert_eq!((run.status(), completed(&run, "ua")), (Status::Completed, vec!["ua".to_owned()]));
}

#[test]
fn a_handler_with_an_incident_keeps_the_rest() {
    // A handler whose due date is no time cannot be opened.
    let late = json!({"configuration": {"dueDate": "=due"}});
    let model = Model::default()
        .nodes("s:startEvent a:task b:task e:endEvent")
        .undo("a", "ua", "task")
        .node("b-c", "boundaryEvent", boundary("b", "compensate", true))
        .node("ub", "userTask", compensating(late))
        .edge("b-c", "ub", json!({"type": "association"}))
        .node("t", "intermediateThrowEvent", event("compensate"))
        .flows("s > a > b > t > e");
    let mut run = model.run(json!({"due": "soon"}));
    assert_eq!(run.incidents(), [(IncidentCode::ExpressionError, "ub".to_owned())]);
    assert!(completed(&run, "ua t").is_empty());
    let incident_id = run.incident_id();
    let variables = map(json!({"due": "2030-01-01T00:00:00Z"}));
    run.give(Command::Retry { incident_id, variables }).unwrap();
    assert_eq!(run.tasks(), ["ub"]);
    run.complete("ub");
    assert_eq!(completed(&run, "ub ua t"), ["ub", "ua", "t"]);
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn a_budget_stops_a_compensation_and_a_retry_does_the_rest_once() {
    let mut run = Run::new(three("compensate", "task").graph());
    // The start, three tasks, the throw and one handler.
    run.budget.activations = 6;
    run.start(json!({})).unwrap();
    assert_eq!(run.incidents()[0].0, IncidentCode::Limit);
    assert_eq!(completed(&run, "ua ub uc"), ["uc"]);
    run.budget.activations = 100;
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({})) }).unwrap();
    assert_eq!((run.status(), completed(&run, "ua ub uc").len()), (Status::Completed, 3));
}

#[test]
fn an_event_that_is_skipped_or_withdrawn_takes_its_compensation_along() {
    let mut run = three("compensate", "userTask").run(json!({}));
    let target = SkipTarget::Node(run.instance("t"));
    run.give(Command::Skip { target, output: map(json!({})) }).unwrap();
    assert_eq!((run.status(), completed(&run, "ua ub uc after")), (Status::Completed, vec!["after".into()]));

    // The rest of it can be compensated by what interrupts.
    let handler = Model::default()
        .node("es", "startEvent", event("message m1"))
        .node("et", "intermediateThrowEvent", event("compensate"))
        .flows("es > et");
    let model = three("compensate", "userTask").sub("stop", handler, json!({"triggeredByEvent": true}));
    let mut run = model.run(json!({}));
    run.complete("uc");
    run.message("m1", json!({}));
    assert_eq!(run.tasks(), ["ua"], "what had begun is withdrawn and does not begin again");
    run.complete("ua");
    assert_eq!((run.status(), completed(&run, "after")), (Status::Completed, vec![]));
}

#[test]
fn what_was_withdrawn_as_a_whole_is_not_compensated() {
    let content = Model::default().nodes("a:task w:userTask").undo("a", "ua", "task").flows("a > w");
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .sub("p", content, json!({}))
        .node("b", "boundaryEvent", boundary("p", "message m1", true))
        .node("t", "endEvent", event("compensate"))
        .flows("s > p > e; b > t");
    let mut run = model.run(json!({}));
    run.message("m1", json!({}));
    assert_eq!((run.status(), completed(&run, "ua")), (Status::Completed, vec![]));
}

#[test]
fn a_handler_can_be_a_sub_process_that_waits() {
    let handler = Model::default().nodes("x:userTask y:task").flows("x > y");
    let model = Model::default()
        .nodes("s:startEvent a:task e:endEvent")
        .node("a-c", "boundaryEvent", boundary("a", "compensate", true))
        .sub("ua", handler, json!({"activity": {"forCompensation": true}}))
        .edge("a-c", "ua", json!({"type": "association"}))
        .node("t", "intermediateThrowEvent", event("compensate"))
        .flows("s > a > t > e");
    let mut run = model.run(json!({}));
    run.complete("x");
    assert_eq!((run.status(), completed(&run, "x y ua t").join(" ")), (Status::Completed, "x y ua t".into()));
}

#[test]
fn a_run_is_cancelled_behind_the_compensation_of_what_completed() {
    let cancel = || Command::CancelCompensating { reason: Some("no longer".to_owned()) };
    let model = || three("signal s1", "userTask").nodes("w:userTask").flows("after > w");
    let mut run = model().run(json!({}));
    assert_eq!(run.tasks(), ["w"]);
    run.give(cancel()).unwrap();
    for handler in ["uc", "ub", "ua"] {
        assert_eq!((run.tasks(), run.status()), (vec![handler.to_owned()], Status::Waiting));
        run.complete(handler);
    }
    assert_eq!(run.status(), Status::Cancelled);
    assert!(
        matches!(&run.log.last().unwrap().kind, EventKind::RunCancelled { reason: Some(why), .. } if why == "no longer")
    );

    // Once more, it ends at once; where there is nothing to undo, too.
    let mut run = model().run(json!({}));
    run.give(cancel()).unwrap();
    run.give(cancel()).unwrap();
    assert_eq!(run.status(), Status::Cancelled);
    let mut run = Model::default().nodes("w:userTask").run(json!({}));
    run.give(cancel()).unwrap();
    assert_eq!(run.status(), Status::Cancelled);
}

/// A transaction `x` with a completed booking, an open task, and what ends it.
fn transaction(end: &str, flag: bool) -> Model {
    let content = Model::default()
        .nodes("g:parallelGateway a:task open:userTask pay:userTask")
        .undo("a", "ua", "userTask")
        .node("end", "endEvent", event(end))
        .flows("g > a > pay > end; g > open");
    let mut model = Model::default()
        .nodes("s:startEvent done:task cancelled:task failed:task")
        .sub("x", content, json!({"isTransaction": true}))
        .node("bc", "boundaryEvent", boundary("x", "cancel", true))
        .node("be", "boundaryEvent", boundary("x", "error e1", true))
        .flows("s > x > done; bc > cancelled; be > failed");
    if !flag {
        model = model.retype("x", "transaction");
    }
    model
}

#[test]
fn a_cancelled_transaction_is_compensated_before_its_boundary_event_goes_on() {
    for flag in [false, true] {
        let mut run = transaction("cancel", flag).run(json!({}));
        run.complete("pay");
        assert_eq!(run.tasks(), ["ua"], "what was open is withdrawn, what was done is undone");
        assert!(completed(&run, "cancelled").is_empty());
        run.complete("ua");
        assert_eq!(
            (run.status(), completed(&run, "done cancelled failed").join(" ")),
            (Status::Completed, "cancelled".into())
        );
    }
}

/// The standard's cancel event interrupts the whole activity: what completed in any instance is undone. Where there is none
/// only the instance that cancels is undone.
#[test]
fn one_of_several_transactions_is_cancelled() {
    let model = |caught: bool| {
        let content = Model::default()
            .nodes("a:task pay:userTask gw:exclusiveGateway ok:endEvent")
            .undo("a", "ua", "userTask")
            .node("end", "endEvent", event("cancel"))
            .flows("a > pay > gw")
            .flow_if("gw", "end", "loopCounter eq 1")
            .flow_if("gw", "ok", "loopCounter neq 1");
        let own = json!({"kind": "multiInstance", "loopCondition": "3"});
        let model = Model::default()
            .nodes("s:startEvent done:task cancelled:task")
            .sub("x", content, json!({"isTransaction": true, "activity": {"loop": own}}))
            .flows("s > x > done");
        if !caught {
            return model;
        }
        model.node("bc", "boundaryEvent", boundary("x", "cancel", true)).flows("bc > cancelled")
    };
    let mut run = model(true).run(json!({}));
    run.complete("pay");
    run.complete("pay");
    let mut undone = 0;
    while undone < 4 && !run.tasks().is_empty() {
        assert_eq!(run.tasks(), ["ua"], "all instances are withdrawn, and undone one after another");
        run.complete("ua");
        undone += 1;
    }
    assert_eq!(undone, 3);
    assert_eq!(
        (run.status(), completed(&run, "done cancelled").join(" ")),
        (Status::Completed, "cancelled".into())
    );

    let mut run = model(false).run(json!({}));
    run.complete("pay");
    run.complete("pay");
    assert_eq!(run.tasks(), ["pay", "ua"]);
    run.complete("ua");
    assert_eq!(run.tasks(), ["pay"], "the third instance goes on");
    run.complete("pay");
    assert_eq!(
        (run.status(), completed(&run, "done cancelled").join(" ")),
        (Status::Completed, "done".into())
    );
}

#[test]
fn an_error_leaves_a_transaction_without_compensation() {
    let mut run = transaction("error e1", false).run(json!({}));
    run.complete("pay");
    assert_eq!(
        (run.status(), completed(&run, "ua failed done").join(" ")),
        (Status::Completed, "failed".into())
    );
}

#[test]
fn a_transaction_that_completed_is_compensated_from_outside() {
    let model = transaction("signal s1", false).node("t", "endEvent", event("compensate")).flows("done > t");
    let mut run = model.run(json!({}));
    run.complete("pay");
    run.complete("open");
    assert_eq!(run.tasks(), ["ua"]);
    run.complete("ua");
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn what_the_standard_does_not_allow_is_refused_where_it_stands() {
    let base = || Model::default().nodes("s:startEvent a:task").flows("s > a");
    let handler = |more: Value| json!({"bpmn": {"activity": more}});
    let marked = json!({"forCompensation": true});
    let on_a = || boundary("a", "compensate", true);
    let cancelled = Model::default().node("x", "endEvent", event("cancel"));
    let start = Model::default().nodes("t:task").node("x", "startEvent", event("compensate")).flows("x > t");
    for (model, code, element) in [
        (base().node("x", "boundaryEvent", on_a()), "compensationHandler", "x"),
        (
            base().node("x", "boundaryEvent", on_a()).node("h", "task", handler(json!({}))).edge(
                "x",
                "h",
                json!({"type": "association"}),
            ),
            "compensationHandler",
            "x",
        ),
        (
            base().undo("a", "h", "task").node("i", "task", handler(marked.clone())).edge(
                "a-c",
                "i",
                json!({"type": "association"}),
            ),
            "compensationHandler",
            "a-c",
        ),
        (base().undo("a", "h", "task").flows("a-c > a"), "wrongFlow", "a-c"),
        (base().undo("a", "x", "task").flows("x > a"), "wrongFlow", "x"),
        (base().node("x", "endEvent", event("compensate nowhere")).flows("a > x"), "danglingReference", "x"),
        (base().node("x", "endEvent", event("compensate s")).flows("a > x"), "wrongReference", "x"),
        (
            base()
                .sub("p", Model::default().node("x", "endEvent", event("compensate a")), json!({}))
                .flows("a > p"),
            "wrongReference",
            "x",
        ),
        (base().sub("p", cancelled, json!({})).flows("a > p"), "unsupportedEvent", "x"),
        (base().node("x", "boundaryEvent", boundary("a", "cancel", true)), "unsupportedEvent", "x"),
        (base().sub("p", start, json!({})).flows("a > p"), "unsupportedEvent", "x"),
        (Model::default().node("x", "startEvent", event("compensate")), "unsupportedEvent", "x"),
    ] {
        let found = model.compile().diagnostics;
        let told = |own: &heddle_bpmn::diagnostic::Diagnostic| {
            own.is_error() && own.code == code && own.element_id.as_deref() == Some(element)
        };
        assert!(found.iter().any(told), "{code} at {element}: {found:#?}");
        let one = found.iter().find(|own| told(own)).unwrap();
        assert!(one.remedy.is_some() && one.clause.is_some(), "{one:?}");
    }
}

/// A tree of what is done: tasks with handlers, one after another, at once, and in sub-processes.
#[derive(Debug, Clone)]
enum Part {
    Task(bool),
    Sequence(Vec<Part>),
    Parallel(Vec<Part>),
    Sub(Box<Part>),
}

fn part() -> impl Strategy<Value = Part> {
    any::<bool>().prop_map(Part::Task).prop_recursive(3, 14, 3, |inner| {
        let several = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            several.clone().prop_map(Part::Sequence),
            several.prop_map(Part::Parallel),
            inner.prop_map(|inner| Part::Sub(Box::new(inner))),
        ]
    })
}

/// Adds a part between two nodes; a task `k<n>` has the handler `uk<n>`.
fn grow(model: Model, part: &Part, next: &mut usize) -> (Model, String, String) {
    *next += 1;
    let n = *next;
    match part {
        Part::Task(waits) => {
            let (id, kind) = (format!("k{n}"), if *waits { "userTask" } else { "task" });
            let model = model.nodes(&format!("{id}:{kind}")).undo(&id, &format!("u{id}"), kind);
            (model, id.clone(), id)
        }
        Part::Sequence(parts) => {
            let (mut model, mut ends) = (model, None::<(String, String)>);
            for part in parts {
                let (grown, first, last) = grow(model, part, next);
                model = match &ends {
                    Some((_, before)) => grown.flows(&format!("{before} > {first}")),
                    None => grown,
                };
                ends = Some((ends.map_or(first, |(entry, _)| entry), last));
            }
            let (entry, exit) = ends.unwrap();
            (model, entry, exit)
        }
        Part::Parallel(parts) => {
            let (split, join) = (format!("g{n}"), format!("j{n}"));
            let mut model = model.nodes(&format!("{split}:parallelGateway {join}:parallelGateway"));
            for part in parts {
                let (grown, first, last) = grow(model, part, next);
                model = grown.flows(&format!("{split} > {first}; {last} > {join}"));
            }
            (model, split, join)
        }
        Part::Sub(inner) => {
            let (content, _, _) = grow(Model::default(), inner, next);
            let id = format!("p{n}");
            (model.sub(&id, content, json!({})), id.clone(), id)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Whatever completed is compensated once, and of two activities of one scope the one that completed last before the
    /// other; the state is the fold of the events at every step.
    #[test]
    fn each_handler_runs_once_and_in_reverse(part in part(), order in prop::collection::vec(0usize..8, 1..8)) {
        let (model, first, last) = grow(Model::default().nodes("s:startEvent e:endEvent"), &part, &mut 0);
        let model = model
            .node("t", "intermediateThrowEvent", event("compensate"))
            .flows(&format!("s > {first}; {last} > t > e"));
        let mut run = model.run(json!({}));
        let mut choices = order.iter().cycle();
        for _ in 0..200 {
            let tasks = run.tasks();
            if tasks.is_empty() {
                break;
            }
            run.complete(&tasks[choices.next().unwrap() % tasks.len()]);
        }
        prop_assert_eq!(run.status(), Status::Completed);
        let ends = |prefix: &str| -> Vec<(String, Option<String>)> {
            let ended = run.log.iter().filter(|event| matches!(event.kind, EventKind::NodeCompleted { .. }));
            let of = |id: &str| run.graph.find(id).map(|ix| run.graph.node(ix).scope.to_string());
            let ids = ended.filter_map(|event| event.node_id.as_deref());
            ids.filter_map(|id| id.strip_prefix(prefix))
                .filter(|rest| rest.starts_with(|own: char| own.is_ascii_digit()))
                .map(|rest| (rest.to_owned(), of(&format!("k{rest}"))))
                .collect()
        };
        let (done, undone) = (ends("k"), ends("uk"));
        prop_assert_eq!(done.len(), undone.len());
        for (_, scope) in &done {
            let of_scope = |list: &[(String, Option<String>)]| -> Vec<String> {
                list.iter().filter(|own| own.1 == *scope).map(|own| own.0.clone()).collect()
            };
            let mut forth = of_scope(&done);
            forth.reverse();
            prop_assert_eq!(forth, of_scope(&undone));
        }
    }
}
