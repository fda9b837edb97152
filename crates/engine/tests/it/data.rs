//! Data of processes: objects in their scopes, associations, and activities that wait for their inputs.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use crate::support::{Model, Run};
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_graph::compile;
use heddle_engine::{Command, EventKind, Rejection, Status};
use serde_json::{Value, json};

/// A run of a process with data objects.
fn run(model: &Model, objects: Value, input: Value) -> Run {
    let mut definition = model.json();
    let (nodes, edges) = (definition["nodes"].take(), definition["edges"].take());
    definition["bpmn"]["processes"] = json!([
        {"id": "p", "executable": true, "nodes": nodes, "edges": edges, "dataObjects": objects}
    ]);
    definition.as_object_mut().unwrap().retain(|name, _| name == "bpmn");
    let definition: WorkflowDefinition = serde_json::from_value(definition).unwrap();
    let compiled = compile(&definition);
    assert!(compiled.is_executable(), "{:#?}", compiled.diagnostics);
    let mut run = Run::new(compiled.processes[0].clone());
    run.start(input).unwrap();
    run
}

fn input(source: &str, target: &str, more: Value) -> Value {
    association("dataInputAssociation", source, target, more)
}

fn output(source: &str, target: &str, more: Value) -> Value {
    association("dataOutputAssociation", source, target, more)
}

fn association(kind: &str, source: &str, target: &str, more: Value) -> Value {
    let mut all = json!({"elementType": kind, "target": target});
    if !source.is_empty() {
        all["sources"] = json!([source]);
    }
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

#[test]
fn data_move_into_an_activity_and_out_of_it() {
    let task = json!({"bpmn": {
        "dataInputs": [{"id": "i", "name": "amount"}],
        "dataOutputs": [{"id": "o", "name": "total"}],
        "inputSets": [{"dataInputRefs": ["i"]}],
        "dataAssociations": [
            input("orderRef", "i", json!({"transformation": "order.amount * 2"})),
            output("o", "orderRef", json!({"assignmentExpressions": [{"from": "total", "to": "total"}]})),
        ]
    }});
    let model =
        Model::default().nodes("s:startEvent e:endEvent").node("t", "userTask", task).flows("s > t > e");
    let objects = json!([
        {"id": "object", "name": "order"},
        {"id": "orderRef", "elementType": "dataObjectReference", "originalRef": "object"}
    ]);
    let mut run = run(&model, objects, json!({"order": {"amount": 4}, "total": "outer"}));
    let inside = run.log.iter().map(|event| serde_json::to_value(event).unwrap());
    assert!(inside.into_iter().any(|event| event["data"]["values"] == json!({"amount": 8})));
    run.complete_with("t", None, json!({"total": 5})).unwrap();
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.variables(), json!({"order": {"amount": 4, "total": 5}, "total": "outer"}));
}

#[test]
fn an_activity_waits_for_an_input_set_that_another_one_fills() {
    let reader = json!({"bpmn": {
        "dataInputs": [{"id": "i", "name": "checked"}],
        "inputSets": [{"dataInputRefs": ["i"]}],
        "dataAssociations": [input("done", "i", json!({}))]
    }});
    let writer = json!({"bpmn": {
        "dataOutputs": [{"id": "o", "name": "result"}],
        "dataAssociations": [output("o", "done", json!({}))]
    }});
    let model = Model::default()
        .nodes("s:startEvent split:parallelGateway join:parallelGateway e:endEvent")
        .node("r", "userTask", reader)
        .node("w", "userTask", writer)
        .flows("s > split > r > join > e; split > w > join");
    let objects = json!([
        {"id": "order", "name": "order"},
        {"id": "done", "elementType": "dataObjectReference", "originalRef": "order", "dataState": "done"}
    ]);
    // A value in another state is not what is read.
    let mut run = run(&model, objects, json!({"order": 1}));
    assert_eq!(run.tasks(), ["w"]);
    let nodes = run.state.active_nodes();
    let wait = nodes.iter().find(|node| &*node.node_id == "r").and_then(|node| node.waiting_for.clone());
    assert_eq!(wait.and_then(|wait| wait.name).as_deref(), Some("data"));
    run.complete_with("w", None, json!({"result": 7})).unwrap();
    assert_eq!(run.tasks(), ["r"]);
    assert_eq!(
        (&run.variables()["order"], &run.variables()["dataStates"]),
        (&json!(7), &json!({"order": "done"}))
    );
    run.complete("r");
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn very_many_instances_that_wait_for_one_datum_begin_with_it() {
    const MANY: usize = 10_000;
    let reader = json!({"bpmn": {
        "activity": {"loop": {"kind": "multiInstance", "loopCondition": MANY.to_string()}},
        "dataInputs": [{"id": "i", "name": "checked"}],
        "inputSets": [{"dataInputRefs": ["i"]}],
        "dataAssociations": [input("done", "i", json!({}))]
    }});
    let writer = json!({"bpmn": {
        "dataOutputs": [{"id": "o", "name": "result"}],
        "dataAssociations": [output("o", "done", json!({}))]
    }});
    let model = Model::default()
        .nodes("s:startEvent split:parallelGateway e:endEvent")
        .node("r", "task", reader)
        .node("w", "userTask", writer)
        .flows("s > split > r > e; split > w");
    let objects = json!([{"id": "done", "name": "done"}]);
    let mut run = run(&model, objects, json!({}));
    assert_eq!((run.tasks(), run.done().len()), (vec!["w".to_owned()], 0));
    let begun = std::time::Instant::now();
    run.complete_with("w", None, json!({"result": 7})).unwrap();
    assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!((run.status(), run.done().len()), (Status::Completed, MANY + 1));
}

#[test]
fn what_nobody_writes_before_it_is_not_waited_for() {
    let both = json!({"bpmn": {
        "dataInputs": [{"id": "i"}], "dataOutputs": [{"id": "o"}],
        "inputSets": [{"dataInputRefs": ["i"]}],
        "dataAssociations": [input("order", "i", json!({})), output("o", "order", json!({}))]
    }});
    let model =
        Model::default().nodes("s:startEvent e:endEvent").node("t", "userTask", both).flows("s > t > e");
    let mut run = run(&model, json!([{"id": "order"}]), json!({}));
    assert_eq!(run.tasks(), ["t"]);
    run.complete("t");
    assert_eq!((run.status(), run.variables()), (Status::Completed, json!({})));
}

#[test]
fn objects_of_a_sub_process_live_in_its_scope() {
    let writer = json!({"bpmn": {
        "dataOutputs": [{"id": "o", "name": "result"}],
        "dataAssociations": [output("o", "inner", json!({}))]
    }});
    let content = Model::default()
        .nodes("is:startEvent ie:endEvent")
        .node("w", "userTask", writer)
        .flows("is > w > ie");
    let outer =
        Model::default().nodes("s:startEvent e:endEvent").sub("sub", content, json!({})).flows("s > sub > e");
    let mut definition = outer.json();
    definition["nodes"][2]["bpmn"]["subProcess"]["dataObjects"] = json!([{"id": "inner", "name": "draft"}]);
    let definition: WorkflowDefinition = serde_json::from_value(definition).unwrap();
    let mut run = Run::new(compile(&definition).processes[0].clone());
    run.start(json!({"draft": "outer"})).unwrap();
    run.complete_with("w", None, json!({"result": 1})).unwrap();
    assert_eq!((run.status(), run.variables()), (Status::Completed, json!({"draft": "outer"})));
}

/// A process with a data store that has this name.
fn with_store(model: &Model, name: Value) -> Run {
    let mut definition = model.json();
    let (nodes, edges) = (definition["nodes"].take(), definition["edges"].take());
    let stores = json!([{"id": "ref", "name": name, "elementType": "dataStoreReference"}]);
    definition["bpmn"]["processes"] = json!([
        {"id": "p", "executable": true, "nodes": nodes, "edges": edges, "dataStores": stores}
    ]);
    definition.as_object_mut().unwrap().retain(|name, _| name == "bpmn");
    let definition: WorkflowDefinition = serde_json::from_value(definition).unwrap();
    let compiled = compile(&definition);
    assert!(compiled.is_executable(), "{:#?}", compiled.diagnostics);
    Run::new(compiled.processes[0].clone())
}

fn written(run: &Run) -> Vec<(String, Value)> {
    let one = |event: &heddle_engine::Event| match &event.kind {
        EventKind::DataStoreWritten { store, value } => Some((store.to_string(), value.clone())),
        _ => None,
    };
    run.log.iter().filter_map(one).collect()
}

fn reader() -> Model {
    let reader = json!({"bpmn": {
        "dataInputs": [{"id": "i", "name": "stock"}],
        "inputSets": [{"dataInputRefs": ["i"]}],
        "dataAssociations": [input("ref", "i", json!({}))]
    }});
    Model::default().nodes("s:startEvent e:endEvent").node("t", "userTask", reader).flows("s > t > e")
}

#[test]
fn a_reader_waits_for_a_data_store_until_another_run_writes_it() {
    let mut run = with_store(&reader(), json!("Orders"));
    run.start(json!({})).unwrap();
    let waits = |run: &Run| -> Vec<String> {
        run.state.subscriptions().iter().map(|own| own.name.to_string()).collect()
    };
    assert_eq!((run.tasks(), waits(&run)), (vec![], vec!["dataStore:Orders".to_owned()]));
    // It looks once more behind its commit, and goes on waiting.
    run.advance(1);
    assert_eq!((run.tasks(), run.state.timers().len(), waits(&run).len()), (vec![], 0, 1));
    run.stores.insert("Orders".to_owned(), json!({"pieces": 7}));
    run.signal("dataStore:Orders", Value::Null);
    assert_eq!((run.tasks(), waits(&run)), (vec!["t".to_owned()], vec![]));
    let told = run.log.iter().map(|event| serde_json::to_value(event).unwrap());
    assert!(told.into_iter().any(|event| event["data"]["values"] == json!({"stock": {"pieces": 7}})));
}

#[test]
fn a_store_that_is_written_already_is_read_at_once_and_a_later_value_is_taken_over() {
    let mut run = with_store(&reader(), json!("Orders"));
    run.stores.insert("Orders".to_owned(), json!(1));
    run.start(json!({})).unwrap();
    assert_eq!((run.tasks(), run.variables()["Orders"].clone()), (vec!["t".to_owned()], json!(1)));
    run.stores.insert("Orders".to_owned(), json!(2));
    run.complete("t");
    assert_eq!((run.status(), run.variables()["Orders"].clone()), (Status::Completed, json!(2)));
    assert!(written(&run).is_empty());
}

#[test]
fn data_stores_that_find_no_room_are_one_incident_until_it_is_tried_again() {
    let mut run = with_store(&reader(), json!("Orders"));
    run.stores.insert("Orders".to_owned(), json!(1));
    run.start(json!({})).unwrap();
    run.budget.variable_bytes = 100_000;
    run.stores.insert("Orders".to_owned(), json!("x".repeat(200_000)));
    for n in 0..3 {
        let values = crate::support::map(json!({"n": n}));
        run.give(Command::SetVariables { scope: None, values }).unwrap();
        assert_eq!(run.incidents().len(), 1, "{:?}", run.incidents());
    }
    let retry = |run: &mut Run| {
        let variables = serde_json::Map::new();
        run.give(Command::Retry { incident_id: run.incident_id(), variables }).unwrap();
    };
    retry(&mut run);
    assert_eq!(run.incidents().len(), 1, "there is no room yet");
    run.stores.insert("Orders".to_owned(), json!(2));
    retry(&mut run);
    assert!(run.incidents().is_empty(), "{:?}", run.incidents());
    assert_eq!(run.variables()["Orders"], json!(2));
    run.complete("t");
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn an_output_association_writes_the_store_and_one_without_a_name_is_the_runs() {
    let writer = json!({"bpmn": {
        "dataOutputs": [{"id": "o", "name": "result"}],
        "dataAssociations": [output("o", "ref", json!({}))]
    }});
    let model =
        Model::default().nodes("s:startEvent e:endEvent").node("w", "userTask", writer).flows("s > w > e");
    for (name, expected) in [(json!("Orders"), vec![("Orders".to_owned(), json!(9))]), (Value::Null, vec![])]
    {
        let mut run = with_store(&model, name.clone());
        run.start(json!({})).unwrap();
        run.complete_with("w", None, json!({"result": 9})).unwrap();
        assert_eq!((run.status(), written(&run)), (Status::Completed, expected), "{name}");
    }
    let mut run = with_store(&model, json!("Orders"));
    run.start(json!({})).unwrap();
    run.complete_with("w", None, json!({"result": "x".repeat(2 << 20)})).unwrap();
    let told = run.state.incidents()[0].message.clone();
    assert!(told.contains("`Orders` holds"), "{told}");
    assert!(written(&run).is_empty());
}

/// A process with these sets, over the inputs `a`, `b` and the output `z`.
fn with_sets(model: &Model, inputs: Value, outputs: Value) -> Run {
    let mut definition = model.json();
    let (nodes, edges) = (definition["nodes"].take(), definition["edges"].take());
    definition["bpmn"]["processes"] = json!([{
        "id": "p", "executable": true, "nodes": nodes, "edges": edges,
        "dataInputs": [{"id": "ia", "name": "a"}, {"id": "ib", "name": "b"}],
        "dataOutputs": [{"id": "oz", "name": "z"}],
        "inputSets": inputs, "outputSets": outputs
    }]);
    definition.as_object_mut().unwrap().retain(|name, _| name == "bpmn");
    let definition: WorkflowDefinition = serde_json::from_value(definition).unwrap();
    let compiled = compile(&definition);
    assert!(compiled.is_executable(), "{:#?}", compiled.diagnostics);
    Run::new(compiled.processes[0].clone())
}

#[test]
fn a_process_needs_one_of_its_input_sets_and_gives_one_of_its_output_sets() {
    let model = Model::default().nodes("s:startEvent t:userTask e:endEvent").flows("s > t > e");
    let inputs = json!([
        {"dataInputRefs": ["ia", "ib"]},
        {"dataInputRefs": ["ib"], "optionalInputRefs": ["ia"]}
    ]);
    let new = || with_sets(&model, inputs.clone(), json!([{"dataOutputRefs": ["oz"]}]));
    for wrong in [json!({}), json!({"a": 1}), json!({"b": null})] {
        let refused = new().start(wrong.clone());
        assert_eq!(refused, Err(Rejection::NoInputSet(vec!["b".to_owned()])), "{wrong}");
    }
    let mut run = new();
    run.start(json!({"b": 1})).unwrap();
    run.complete("t");
    let told = run.state.incidents()[0].message.clone();
    assert!(told.contains("`z` has no value"), "{told}");
    let variables = crate::support::map(json!({"z": 3}));
    run.give(Command::Retry { incident_id: run.incident_id(), variables }).unwrap();
    assert_eq!((run.status(), run.variables()["z"].clone()), (Status::Completed, json!(3)));
}
