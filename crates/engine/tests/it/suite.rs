//! The execution models of the shared suite, in memory: every model that compiles must behave as expected.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use crate::support::Run;
use heddle_bpmn::xml;
use heddle_bpmn_graph::{Graph, StartKind, compile};
use heddle_engine::{Command, EventKind, Status, SubscriptionKind, Trigger};
use heddle_kernel::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Cases that pass at least; grows with what is executed.
const PASSING: usize = 147;

/// Models whose runs call others, which needs more than one run: they pass over HTTP.
const CALLING: &[&str] = &["betsy/CallActivity_GlobalTask", "betsy/Escalation_EndEvent_TopLevel"];

/// Models whose expectation nothing can meet, since it counts a node that they do not have; `docs/deviations.md` tells more.
const UNMEETABLE: &[&str] = &["betsy/AdHocSubProcess_Sequential", "betsy/AdHocSubProcess_Parallel"];

/// A folder of the shared suites; none, and a line, where they are not at hand.
pub(crate) fn suites(folder: &str) -> Option<PathBuf> {
    let given = std::env::var_os("HEDDLE_SUITES").map(PathBuf::from);
    let near = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites");
    let found = given.unwrap_or(near).join(folder);
    if found.is_dir() {
        return Some(found);
    }
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "the suites are missing");
    println!("skipped: the suites are not there");
    None
}

/// What was thrown and waits for somebody who listens.
#[derive(Clone)]
struct Message {
    name: String,
    payload: Value,
}

/// The processes of one deployment and their runs.
struct World {
    graphs: Vec<Arc<Graph>>,
    runs: Vec<Run>,
    now: Timestamp,
    buffer: Vec<Message>,
}

impl World {
    fn start(&mut self, process: &str, trigger: Trigger, input: Map<String, Value>) -> Result<(), String> {
        let graph = self.graphs.iter().find(|graph| &*graph.id == process).ok_or("no such process")?.clone();
        let mut run = Run::new(graph);
        run.now = self.now;
        self.runs.push(run);
        let at = self.runs.len() - 1;
        self.give(at, Command::Start { trigger, input })
    }

    /// Gives a command to a run and delivers what it threw.
    fn give(&mut self, at: usize, command: Command) -> Result<(), String> {
        let before = self.runs[at].log.len();
        self.runs[at].now = self.now;
        self.runs[at].give(command).map_err(|refusal| refusal.to_string())?;
        let thrown: Vec<EventKind> =
            self.runs[at].log[before..].iter().map(|event| event.kind.clone()).collect();
        for kind in thrown {
            match kind {
                EventKind::MessageSent { name, payload, .. } => {
                    let message = Message { name: name.to_string(), payload };
                    if !self.message(&message)? {
                        self.buffer.push(message);
                    }
                }
                EventKind::SignalSent { name, payload } => self.signal(&name, &payload, Some(at))?,
                EventKind::SubscriptionOpened { kind: SubscriptionKind::Message, name, .. } => {
                    if let Some(place) = self.buffer.iter().position(|message| message.name == *name) {
                        let message = self.buffer.remove(place);
                        self.message(&message)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Delivers a message to one subscription or one start event; answers whether there was one.
    fn message(&mut self, message: &Message) -> Result<bool, String> {
        for at in 0..self.runs.len() {
            let open = self.runs[at].state.subscriptions();
            let own =
                open.iter().find(|own| own.kind == SubscriptionKind::Message && *own.name == *message.name);
            if let Some(subscription_id) = own.map(|own| own.id) {
                self.give(at, Command::DeliverMessage { subscription_id, payload: message.payload.clone() })?;
                return Ok(true);
            }
        }
        for graph in self.graphs.clone() {
            for own in graph.start_bindings() {
                if own.kind == StartKind::Message && own.name.as_deref() == Some(message.name.as_str()) {
                    let (name, node_id) = (message.name.clone(), own.node_id.to_string());
                    self.start(&graph.id, Trigger::Message { name, node_id }, Map::new())?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Broadcasts a signal to all runs but its sender, who has served its own listeners.
    fn signal(&mut self, name: &str, payload: &Value, from: Option<usize>) -> Result<(), String> {
        let mut listening = Vec::new();
        for (at, run) in self.runs.iter().enumerate().filter(|(at, _)| Some(*at) != from) {
            let open = run.state.subscriptions().into_iter();
            listening.extend(
                open.filter(|own| own.kind == SubscriptionKind::Signal && *own.name == *name)
                    .map(|own| (at, own.id)),
            );
        }
        for (at, subscription_id) in listening {
            // The first of two may have withdrawn the second.
            if self.runs[at].state.subscriptions().iter().any(|own| own.id == subscription_id) {
                self.give(at, Command::DeliverSignal { subscription_id, payload: payload.clone() })?;
            }
        }
        for graph in self.graphs.clone() {
            for own in graph.start_bindings() {
                if own.kind == StartKind::Signal && own.name.as_deref() == Some(name) {
                    let trigger = Trigger::Signal { name: name.to_owned(), node_id: own.node_id.to_string() };
                    self.start(&graph.id, trigger, Map::new())?;
                }
            }
        }
        Ok(())
    }

    /// Fires the timers that become due until then, in due order.
    fn advance(&mut self, until: Timestamp) -> Result<bool, String> {
        let mut fired = false;
        loop {
            let due = self.runs.iter().enumerate().flat_map(|(at, run)| {
                run.state.timers().into_iter().map(move |timer| (timer.due_at, at, timer.id))
            });
            let Some((due_at, at, timer_id)) = due.filter(|(due, ..)| *due <= until).min() else { break };
            fired = true;
            self.now = self.now.max(due_at);
            self.give(at, Command::FireTimer { timer_id })?;
        }
        self.now = self.now.max(until);
        Ok(fired)
    }

    fn tasks(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.runs.iter().flat_map(Run::tasks).collect();
        ids.sort();
        ids
    }

    fn complete(&mut self, node: &str) -> Result<(), String> {
        let at = self
            .runs
            .iter()
            .position(|run| run.tasks().iter().any(|task| task == node))
            .ok_or("no such task")?;
        let task_id = self.runs[at].task_id(node);
        self.give(at, Command::CompleteTask { task_id, outcome: None, values: Map::new(), comment: None })
    }

    /// Completed activities by name, over all runs.
    fn completed(&self) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        for run in &self.runs {
            for event in &run.log {
                let EventKind::NodeCompleted { element, .. } = &event.kind else { continue };
                let ix = run.graph.find(event.node_id.as_deref().unwrap_or_default()).unwrap();
                if let Some(name) = run.graph.node(ix).name.as_deref().filter(|_| element.is_activity()) {
                    *found.entry(name.to_owned()).or_insert(0) += 1;
                }
            }
        }
        found
    }
}

/// Seconds of an ISO 8601 duration.
pub(crate) fn seconds(duration: &str) -> i64 {
    let timer =
        heddle_bpmn_graph::TimerDefinition::parse(heddle_bpmn_graph::TimerKind::Duration, duration).unwrap();
    let zero = Timestamp::from_micros(0);
    timer.schedule(zero, &Map::new()).unwrap().due_at.micros()
}

fn step(world: &mut World, step: &Value) -> Result<(), String> {
    let (word, value) = step.as_object().unwrap().iter().find(|(word, _)| *word != "expect_error").unwrap();
    let text = value.as_str().unwrap_or_default();
    let done = match word.as_str() {
        "tasks" => {
            let mut wanted: Vec<String> = serde_json::from_value(value.clone()).unwrap();
            wanted.sort();
            if world.tasks() == wanted {
                Ok(())
            } else {
                Err(format!("tasks {:?} instead of {wanted:?}", world.tasks()))
            }
        }
        "complete" => world.complete(text),
        "complete_all" => {
            while world.tasks().iter().any(|task| task == text) {
                world.complete(text)?;
            }
            Ok(())
        }
        "complete_any_order" => {
            let mut left: Vec<&str> = value.as_array().unwrap().iter().filter_map(Value::as_str).collect();
            let mut done = Ok(());
            while done.is_ok() && !left.is_empty() {
                let open = world.tasks();
                // One may open only when another is done.
                let next = left.iter().position(|id| open.iter().any(|task| task == id));
                done = next.map_or(Err(format!("none of {left:?} is open")), |at| {
                    world.complete(left.swap_remove(at))
                });
            }
            done
        }
        "advance" => {
            let until = Timestamp::from_micros(world.now.micros() + seconds(text));
            world.advance(until).map(|_| ())
        }
        "message" => {
            let message = Message { name: text.to_owned(), payload: Value::Null };
            match world.message(&message) {
                Ok(true) => Ok(()),
                Ok(false) => Err(format!("nobody waits for {text}")),
                Err(error) => Err(error),
            }
        }
        "signal" => world.signal(text, &Value::Null, None),
        "start" => {
            let input = value["variables"].as_object().cloned().unwrap_or_default();
            world.start(value["process"].as_str().unwrap(), Trigger::Manual { start_node: None }, input)
        }
        "state" => expect(world, text),
        other => panic!("unknown step {other}"),
    };
    match (done, step["expect_error"] == json!(true)) {
        (Ok(()), true) => Err("should have been refused".to_owned()),
        (Err(_), true) => Ok(()),
        (done, false) => done,
    }
}

fn expect(world: &World, state: &str) -> Result<(), String> {
    let run = &world.runs[0];
    let status = run.status();
    let as_expected = match state {
        "completed" => status == Status::Completed,
        "active" => status == Status::Waiting,
        "error" => status == Status::Failed || run.state.has_incident(),
        "not-active" => status.is_terminal(),
        other => panic!("unknown state {other}"),
    };
    if as_expected {
        Ok(())
    } else {
        Err(format!("{status:?} instead of {state}, incidents {:?}", run.incidents()))
    }
}

fn case(graphs: &[Arc<Graph>], case: &Value) -> Result<(), String> {
    let now = "2024-01-01T00:00:00Z".parse().unwrap();
    let mut world = World { graphs: graphs.to_vec(), runs: Vec::new(), now, buffer: Vec::new() };
    let input = case["start"]["variables"].as_object().cloned().unwrap_or_default();
    world.start(case["start"]["process"].as_str().unwrap(), Trigger::Manual { start_node: None }, input)?;
    let steps = case["steps"].as_array().unwrap();
    for own in steps {
        step(&mut world, own).map_err(|error| format!("{own}: {error}"))?;
    }
    if !steps.iter().any(|own| own.get("advance").is_some()) {
        let month = world.now.plus_seconds(30 * 86_400);
        loop {
            let due = world.runs.iter().flat_map(|run| run.state.timers()).map(|timer| timer.due_at).min();
            match due.filter(|due| *due <= month) {
                Some(due) => world.advance(due)?,
                None => break,
            };
        }
    }
    let Some(expected) = case["expect"].as_object() else { return Ok(()) };
    expect(&world, expected["state"].as_str().unwrap())?;
    let wanted: BTreeMap<String, u64> =
        serde_json::from_value(expected["completed_by_name"].clone()).unwrap();
    let mut completed = world.completed();
    completed.retain(|name, _| name.starts_with("SCRIPT_") || wanted.contains_key(name));
    if completed == wanted { Ok(()) } else { Err(format!("completed {completed:?} instead of {wanted:?}")) }
}

#[test]
fn every_model_of_the_suite_that_compiles_behaves_as_expected() {
    let Some(dir) = suites("bpmn/execution") else { return };
    let models: Value =
        serde_json::from_slice(&std::fs::read(dir.join("expectations.json")).unwrap()).unwrap();
    let (mut passed, mut refused, mut failed) = (0, 0, Vec::new());
    for model in models.as_array().unwrap() {
        let (mut graphs, mut reasons) = (Vec::new(), Vec::new());
        for file in model["files"].as_array().unwrap() {
            let bytes = std::fs::read(dir.join(file.as_str().unwrap())).unwrap();
            let compiled = compile(&xml::read(&bytes).unwrap().definition);
            graphs.extend(compiled.processes);
            let errors = compiled.diagnostics.into_iter().filter(|own| own.is_error());
            reasons.extend(errors.map(|own| format!("{}: {} ({:?})", own.code, own.message, own.element_id)));
        }
        for (index, own) in model["cases"].as_array().unwrap().iter().enumerate() {
            if !reasons.is_empty() {
                refused += 1;
                println!("refused {} {index}: {}", model["id"], reasons[0]);
            } else if let Err(error) = case(&graphs, own) {
                if UNMEETABLE.iter().chain(CALLING).any(|id| model["id"] == *id) {
                    println!("not here {} {index}: {error}", model["id"]);
                    continue;
                }
                failed.push(format!("{} {index}: {error}", model["id"]));
            } else {
                passed += 1;
            }
        }
    }
    println!("suite=bpmn-execution in memory passed={passed} refused={refused} failed={}", failed.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(passed >= PASSING, "only {passed} passed");
}

/// The files below a folder.
fn files(dir: &std::path::Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|own| own == "bpmn" || own == "xml") {
            found.push(path);
        }
    }
}

#[test]
fn every_model_of_the_pool_starts_or_says_why_not() {
    let (Some(pool), Some(miwg)) = (suites("bpmn/pool"), suites("bpmn/miwg")) else { return };
    let mut paths = Vec::new();
    files(&pool, &mut paths);
    files(&miwg, &mut paths);
    let (mut started, mut refused) = (0, 0);
    for path in paths {
        let Ok(imported) = xml::read(&std::fs::read(&path).unwrap()) else { continue };
        let compiled = compile(&imported.definition);
        if !compiled.is_executable() {
            refused += 1;
            let errors = compiled.diagnostics.iter().filter(|own| own.is_error());
            assert!(errors.clone().all(|own| !own.message.is_empty()), "{}", path.display());
            continue;
        }
        for graph in compiled.processes {
            let start = graph.scope(heddle_bpmn_graph::ROOT).starts.first().copied();
            let Some(start) = start.or(graph.scope(heddle_bpmn_graph::ROOT).start_events.first().copied())
            else {
                continue;
            };
            let start_node = Some(graph.node(start).id.to_string());
            let mut run = Run::new(graph);
            run.give(Command::Start { trigger: Trigger::Manual { start_node }, input: Map::new() }).unwrap();
            started += 1;
        }
    }
    println!("pool: {started} processes started, {refused} definitions refused");
    assert!(started > 0);
}
