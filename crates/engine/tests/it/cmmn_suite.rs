//! The suites of cases in memory: our own, and the shared one.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use crate::suite::{seconds, suites};
use heddle_bpmn_graph::Graph;
use heddle_cmmn::plan::CasePlan;
use heddle_engine::{
    Actor, Budget, Command, Event, EventKind, ItemTarget, LocalId, Model, Rejection, RunContext, State,
    Status, SubscriptionKind, Trigger, case_view, step,
};
use heddle_kernel::{RunId, Timestamp, UserId};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Cases of our own suite that pass at least; grows with what is executed.
const PASSING: usize = 290;

/// Words of the language that ask for a transition of the standard by another name.
const WORDS: [(&str, &str); 1] = [("manual_start", "manualStart")];

#[derive(Clone)]
enum Plan {
    Case(Arc<CasePlan>),
    Process(Arc<Graph>),
}

impl Plan {
    fn id(&self) -> &str {
        match self {
            Self::Case(plan) => &plan.id,
            Self::Process(graph) => &graph.id,
        }
    }

    fn model(&self) -> Model<'_> {
        match self {
            Self::Case(plan) => plan.into(),
            Self::Process(graph) => graph.into(),
        }
    }
}

/// A case or a run of a process.
struct Instance {
    id: RunId,
    plan: Plan,
    state: State,
    log: Vec<Event>,
    /// The instance that called it and waits for it.
    caller: Option<usize>,
}

/// One deployment and what was started of it; the first instance is the case that the steps are about.
struct World {
    plans: Vec<Plan>,
    decisions: Option<heddle_dmn::Model>,
    instances: Vec<Instance>,
    now: Timestamp,
}

impl World {
    fn start(
        &mut self,
        id: &str,
        run: RunId,
        caller: Option<usize>,
        input: Map<String, Value>,
    ) -> Result<(), String> {
        let plan = self.plans.iter().find(|plan| plan.id() == id).ok_or_else(|| format!("no {id}"))?.clone();
        self.instances.push(Instance { id: run, plan, state: State::new(), log: Vec::new(), caller });
        let start = Command::Start { trigger: Trigger::Manual { start_node: None }, input };
        self.give(self.instances.len() - 1, start, None)
    }

    /// Gives a command to an instance as somebody in a role, and does what follows from it for others.
    fn give(&mut self, at: usize, command: Command, role: Option<&str>) -> Result<(), String> {
        let instance = &self.instances[at];
        let cx = RunContext {
            run_id: instance.id,
            now: self.now,
            correlation_key: Some("key".to_owned()),
            actor: Some(Actor { user_id: UserId(crate::support::RUN.0) }),
            decisions: self.decisions.clone(),
            elsewhere: None,
            hops: 0,
            budget: Budget::DEFAULT,
            remark: None,
            stores: BTreeMap::new(),
            roles: role.map(str::to_owned).into_iter().collect(),
            people: BTreeMap::new(),
        };
        let model = instance.plan.model();
        let done = step(model, &instance.state, command, &cx).map_err(|told: Rejection| told.to_string())?;
        self.instances[at].state = done.state;
        self.instances[at].log.extend(done.events.iter().cloned());
        for event in done.events {
            match event.kind {
                EventKind::RunCalled(called) => {
                    self.start(&called.called, called.run_id, Some(at), called.input.clone())?;
                }
                EventKind::CallCancelled { run_id } => {
                    if let Some(other) = self.open(run_id) {
                        self.give(other, Command::Cancel { reason: None }, None)?;
                    }
                }
                _ => {}
            }
        }
        self.told(at)
    }

    fn open(&self, run: RunId) -> Option<usize> {
        self.instances.iter().position(|own| own.id == run && !own.state.status().is_terminal())
    }

    /// Tells the caller of an instance that ended of its end.
    fn told(&mut self, at: usize) -> Result<(), String> {
        let own = &self.instances[at];
        let (run_id, output) = (own.id, own.state.output().cloned().unwrap_or_default());
        let status = own.state.status();
        let Some(caller) = own.caller.filter(|caller| self.instances[*caller].state.waits_for(run_id)) else {
            return Ok(());
        };
        if !status.is_terminal() {
            return Ok(());
        }
        let end = match status {
            Status::Completed => Command::CompleteCall { run_id, output },
            _ => Command::FailCall { run_id, code: None, message: "it ended".to_owned(), output },
        };
        self.give(caller, end, None)
    }

    fn advance(&mut self, until: Timestamp) -> Result<(), String> {
        loop {
            let due = self.instances.iter().enumerate().flat_map(|(at, own)| {
                own.state.timers().into_iter().map(move |timer| (timer.due_at, at, timer.id))
            });
            let Some((due_at, at, timer_id)) = due.filter(|(due, ..)| *due <= until).min() else { break };
            self.now = self.now.max(due_at);
            self.give(at, Command::FireTimer { timer_id }, None)?;
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// The case as callers see it.
    fn view(&self) -> Value {
        let Plan::Case(plan) = &self.instances[0].plan else { panic!("the first instance is a case") };
        serde_json::to_value(case_view(plan, &self.instances[0].state, self.now)).unwrap()
    }

    fn history(&self) -> Vec<Value> {
        self.instances[0].log.iter().map(|event| serde_json::to_value(event).unwrap()).collect()
    }

    fn tasks(&self) -> Vec<String> {
        let active = self.instances.iter().filter(|own| !own.state.status().is_terminal());
        let tasks = active.flat_map(|own| own.state.tasks()).map(|task| task.node_id.to_string());
        sorted(tasks.collect())
    }

    fn complete(&mut self, item: &str, step: &Value, role: Option<&str>) -> Result<(), String> {
        let open = |(at, own): (usize, &Instance)| {
            let tasks = own.state.tasks();
            tasks.iter().find(|task| &*task.node_id == item).map(|task| (at, task.task_id))
        };
        match self.instances.iter().enumerate().find_map(open) {
            Some((at, task_id)) => {
                let values = step["variables"].as_object().cloned().unwrap_or_default();
                self.give(at, Command::CompleteTask { task_id, outcome: None, values, comment: None }, role)
            }
            None => self.transit(item, "complete", role),
        }
    }

    fn transit(&mut self, item: &str, word: &str, role: Option<&str>) -> Result<(), String> {
        let command = match (item, word) {
            ("case", "terminate") => Command::Cancel { reason: None },
            ("case", "suspend") => Command::Suspend,
            ("case", "resume") => Command::Resume,
            ("case", "reactivate") => Command::ReactivateCase,
            ("case", "close") => Command::CloseCase,
            _ => {
                let name = WORDS.iter().find(|(own, _)| *own == word).map_or(word, |(_, name)| name);
                let transition = serde_json::from_value(json!(name)).unwrap();
                Command::Transition { target: ItemTarget::Item(item.to_owned()), transition }
            }
        };
        self.give(0, command, role)
    }

    fn plan(&mut self, planned: &Value, role: Option<&str>) -> Result<(), String> {
        let host = match planned["in"].as_str().unwrap() {
            "case" => ItemTarget::Instance(LocalId::ROOT),
            place => ItemTarget::Item(place.to_owned()),
        };
        let item = planned["item"].as_str().unwrap().to_owned();
        self.give(0, Command::PlanItem { host: Some(host), item }, role)
    }

    /// Changes the case file. A child is added by its creation and removed by its deletion.
    fn file(&mut self, change: &Value, role: Option<&str>) -> Result<(), String> {
        let text = |name: &str| change[name].as_str().unwrap_or_default().to_owned();
        let word = text("event");
        let (item, event, at, value) = match word.as_str() {
            "addChild" => (text("child"), "create", Vec::new(), change["value"].clone()),
            "removeChild" => (text("child"), "delete", vec![0], Value::Null),
            "addReference" | "removeReference" => {
                (text("item"), word.as_str(), Vec::new(), json!(text("reference")))
            }
            other => (text("item"), other, Vec::new(), change["value"].clone()),
        };
        let event = serde_json::from_value(json!(event)).unwrap();
        self.give(0, Command::SetFile { item, event, at, value }, role)
    }

    /// Delivers an event to the first who listens, or to all.
    fn deliver(&mut self, kind: SubscriptionKind, name: &str, payload: &Value) -> Result<(), String> {
        let mut found = Vec::new();
        for (at, own) in self.instances.iter().enumerate() {
            let open = own.state.subscriptions().into_iter();
            found.extend(open.filter(|one| one.kind == kind && &*one.name == name).map(|one| (at, one.id)));
        }
        if kind == SubscriptionKind::Message {
            found.truncate(1);
            if found.is_empty() {
                return Err(format!("nobody waits for {name}"));
            }
        }
        for (at, subscription_id) in found {
            let payload = payload.clone();
            let command = match kind {
                SubscriptionKind::Signal => Command::DeliverSignal { subscription_id, payload },
                SubscriptionKind::Message | SubscriptionKind::Condition => {
                    Command::DeliverMessage { subscription_id, payload }
                }
            };
            self.give(at, command, None)?;
        }
        Ok(())
    }

    fn job(&mut self, job_type: &str, step: &Value) -> Result<(), String> {
        let jobs = self.instances[0].state.jobs();
        let job = jobs.iter().find(|job| &*job.job_type == job_type).ok_or("there is no such job")?;
        let (job_id, variables) = (job.job_id, step["variables"].as_object().cloned().unwrap_or_default());
        let command = match step["error"].as_str() {
            None => Command::CompleteJob { job_id, variables },
            Some(code) => Command::ThrowJobError { job_id, code: code.to_owned(), message: None, variables },
        };
        self.give(0, command, None)
    }

    /// Takes one step that acts; none when it looks.
    fn act(&mut self, step: &Value, word: &str, argument: &Value) -> Option<Result<(), String>> {
        let role = step["as"].as_str();
        let text = argument.as_str().unwrap_or_default();
        let payload = || step.get("variables").cloned().unwrap_or_else(|| json!({}));
        Some(match word {
            "complete" => self.complete(text, step, role),
            "complete_case" => self.give(0, Command::CompleteCase, role),
            "manual_start" | "enable" | "disable" | "reenable" | "terminate" | "suspend" | "resume"
            | "reactivate" | "occur" | "close" => self.transit(text, word, role),
            "plan" => self.plan(argument, role),
            "file" => self.file(argument, role),
            "message" => self.deliver(SubscriptionKind::Message, text, &payload()),
            "signal" => self.deliver(SubscriptionKind::Signal, text, &payload()),
            "job" => self.job(text, step),
            "advance" => self.advance(Timestamp::from_micros(self.now.micros() + seconds(text))),
            _ => return None,
        })
    }

    fn look(&self, word: &str, argument: &Value) -> Result<(), String> {
        match word {
            "state" => same("the state", argument, &self.view()["state"]),
            "items" => each(argument, |item| {
                let found = states(&self.view(), item, |state| !ended(state));
                Value::from(if found.is_empty() { vec!["gone".to_owned()] } else { found })
            }),
            "count" => argument.as_object().unwrap().iter().try_for_each(|(item, counts)| {
                each(counts, |state| states(&self.view(), item, |own| own == state).len().into())
            }),
            "ended" => each(argument, |item| {
                let history = self.history();
                let own = history.iter().filter(|event| event["nodeId"] == item && is_end(event));
                own.map(|event| event["data"]["to"].clone()).collect()
            }),
            "milestones" => same("milestones", &sorted_value(argument), &json!(self.milestones())),
            "planning" => each(argument, |place| json!(self.planning(place))),
            "caseFile" => each(argument, |item| {
                let file = self.view()["file"].as_array().cloned().unwrap_or_default();
                file.into_iter().find(|own| own["id"] == item).map_or(Value::Null, |own| own["value"].clone())
            }),
            "tasks" => same("tasks", &sorted_value(argument), &json!(self.tasks())),
            "instances" => {
                each(argument, |id| self.instances.iter().filter(|own| own.plan.id() == id).count().into())
            }
            "incident" => {
                let incidents = self.instances[0].state.incidents();
                let codes: Vec<Value> =
                    incidents.iter().map(|own| serde_json::to_value(own.code).unwrap()).collect();
                let there = argument.as_str().map_or(!codes.is_empty(), |_| codes.contains(argument));
                if there { Ok(()) } else { Err(format!("incidents {codes:?}")) }
            }
            other => panic!("unknown step {other}"),
        }
    }

    fn milestones(&self) -> Vec<String> {
        let history = self.history();
        let is_milestone = |id: &Value| {
            let mut created = history.iter().filter(|event| event["type"] == "item.created");
            created.any(|event| event["nodeId"] == *id && event["data"]["type"] == "milestone")
        };
        let occurred = history.iter().filter(|event| is_end(event) && event["data"]["event"] == "occur");
        let own = occurred.map(|event| &event["nodeId"]).filter(|id| is_milestone(id));
        sorted(own.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    fn planning(&self, place: &str) -> Vec<String> {
        let view = self.view();
        let hosts: Vec<&Value> = list(&view["items"])
            .iter()
            .filter(|own| match place {
                "case" => own["type"] == "casePlanModel",
                place => own["itemId"] == place,
            })
            .map(|own| &own["instanceId"])
            .collect();
        let own = list(&view["planning"])
            .iter()
            .filter(|own| own["applicable"] == true && hosts.contains(&&own["hostId"]));
        sorted(own.filter_map(|own| own["itemId"].as_str().map(str::to_owned)).collect())
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

fn sorted_value(texts: &Value) -> Value {
    json!(sorted(serde_json::from_value(texts.clone()).unwrap()))
}

fn ended(state: &str) -> bool {
    ["completed", "terminated"].contains(&state)
}

fn is_end(event: &Value) -> bool {
    event["type"] == "item.transitioned" && event["data"]["to"].as_str().is_some_and(ended)
}

fn states(view: &Value, item: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let own = list(&view["items"]).iter().filter(|own| own["itemId"] == item);
    sorted(
        own.filter_map(|own| own["state"].as_str())
            .filter(|state| wanted(state))
            .map(str::to_owned)
            .collect(),
    )
}

fn same(what: &str, expected: &Value, found: &Value) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what}: {found} instead of {expected}")) }
}

/// Compares each member with what is found for its name.
fn each(expected: &Value, found: impl Fn(&str) -> Value) -> Result<(), String> {
    expected.as_object().unwrap().iter().try_for_each(|(name, expected)| same(name, expected, &found(name)))
}

/// A model, deployed; or what stands against the deployment of its files.
fn deployed(folder: &Path, model: &Value) -> Result<World, String> {
    let now = "2024-01-01T00:00:00Z".parse().unwrap();
    let mut world = World { plans: Vec::new(), decisions: None, instances: Vec::new(), now };
    for file in list(&model["files"]) {
        let name = file.as_str().unwrap();
        let bytes = std::fs::read(folder.join(name)).unwrap();
        match name.rsplit('.').next() {
            Some("cmmn") => {
                let read = heddle_cmmn::xml::read(&bytes).map_err(|error| format!("{name}: {error}"))?;
                let compiled = heddle_cmmn::compile(&read.definition);
                if let Some(error) = compiled.diagnostics.iter().find(|own| own.is_error()) {
                    return Err(format!("{name}: {error:?}"));
                }
                world.plans.extend(compiled.cases.into_iter().map(Plan::Case));
            }
            Some("bpmn") => {
                let read = heddle_bpmn::xml::read(&bytes).map_err(|error| format!("{name}: {error}"))?;
                let compiled = heddle_bpmn_graph::compile(&read.definition);
                world.plans.extend(compiled.processes.into_iter().map(Plan::Process));
            }
            Some("dmn") => {
                let read = heddle_dmn::xml::read(&bytes).map_err(|error| format!("{name}: {error}"))?;
                world.decisions = Some(heddle_dmn::compile(&[read.model]).model);
            }
            _ => panic!("{name} is of no kind that is deployed"),
        }
    }
    Ok(world)
}

fn case(folder: &Path, model: &Value, case: &Value) -> Result<(), String> {
    let mut world = deployed(folder, model)?;
    let mut input = case["start"]["variables"].as_object().cloned().unwrap_or_default();
    if let Some(file) = case["start"].get("file") {
        input.insert("caseFile".to_owned(), file.clone());
    }
    world.start(case["start"]["case"].as_str().unwrap(), crate::support::RUN, None, input)?;
    for step in list(&case["steps"]) {
        let modifiers = ["expect_error", "as", "variables", "error", "note"];
        let own = step.as_object().unwrap().iter().find(|(word, _)| !modifiers.contains(&word.as_str()));
        let (word, argument) = own.unwrap();
        let refused = step["expect_error"] == true;
        let before = world.instances[0].state.clone();
        let done = world.act(step, word, argument).unwrap_or_else(|| world.look(word, argument));
        match (done, refused) {
            (Ok(()), false) => {}
            (Err(_), true) if world.instances[0].state == before => {}
            (Err(_), true) => return Err(format!("{step}: was refused, but the case changed")),
            (Ok(()), true) => return Err(format!("{step}: should have been refused")),
            (Err(told), false) => return Err(format!("{step}: {told}")),
        }
    }
    Ok(())
}

/// The folders with expectations below a folder.
fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.to_path_buf()];
    let inner = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    found.extend(inner.filter(|path| path.is_dir()));
    found.retain(|path| path.join("expectations.json").is_file());
    found.sort();
    found
}

/// Number of the cases that pass, and what the others say.
fn judged(root: &Path) -> (usize, Vec<String>) {
    let (mut passed, mut failed) = (0, Vec::new());
    for folder in folders(root) {
        let text = std::fs::read(folder.join("expectations.json")).unwrap();
        let models: Value = serde_json::from_slice(&text).unwrap();
        for model in list(&models) {
            for (number, own) in list(&model["cases"]).iter().enumerate() {
                match case(&folder, model, own) {
                    Ok(()) => passed += 1,
                    Err(told) => failed.push(format!("{} {number} {}: {told}", model["id"], own["id"])),
                }
            }
        }
    }
    (passed, failed)
}

#[test]
fn every_case_of_our_own_suite_behaves_as_expected() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/cmmn-suite");
    let (passed, failed) = judged(&root);
    println!("suite=cmmn-suite in memory passed={passed} failed={}", failed.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(passed >= PASSING, "only {passed} passed");
}

#[test]
fn every_case_of_the_shared_suite_behaves_as_expected() {
    let Some(root) = suites("cmmn/execution") else { return };
    let (passed, failed) = judged(&root);
    println!("suite=cmmn-execution in memory passed={passed} failed={}", failed.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(passed >= 8, "only {passed} passed");
}
