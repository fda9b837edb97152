//! Runs per second that one core steps through, in memory: `cargo run --release --example bench-runs`.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_graph::{Graph, compile};
use heddle_engine::{Budget, Command, RunContext, State, Status, Trigger, step};
use heddle_kernel::{RunId, Timestamp};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn graph(nodes: &[(String, &str)], edges: &[(String, String)]) -> Result<Arc<Graph>, String> {
    let nodes: Vec<Value> = nodes.iter().map(|(id, kind)| json!({"id": id, "type": kind})).collect();
    let edges = edges.iter().enumerate();
    let edges: Vec<Value> =
        edges.map(|(n, (from, to))| json!({"id": format!("f{n}"), "source": from, "target": to})).collect();
    let definition: WorkflowDefinition =
        serde_json::from_value(json!({"nodes": nodes, "edges": edges})).map_err(|error| error.to_string())?;
    let compiled = compile(&definition);
    compiled.processes.first().cloned().ok_or_else(|| format!("{:?}", compiled.diagnostics))
}

fn sequence(tasks: usize) -> Result<Arc<Graph>, String> {
    let mut nodes = vec![("s".to_owned(), "startEvent")];
    nodes.extend((0..tasks).map(|n| (format!("t{n}"), "task")));
    nodes.push(("e".to_owned(), "endEvent"));
    let edges: Vec<_> = nodes.windows(2).map(|pair| (pair[0].0.clone(), pair[1].0.clone())).collect();
    graph(&nodes, &edges)
}

fn split(branches: usize) -> Result<Arc<Graph>, String> {
    let mut nodes = vec![("s".to_owned(), "startEvent"), ("split".to_owned(), "parallelGateway")];
    let mut edges = vec![("s".to_owned(), "split".to_owned())];
    for n in 0..branches {
        nodes.push((format!("t{n}"), "task"));
        edges.push(("split".to_owned(), format!("t{n}")));
        edges.push((format!("t{n}"), "join".to_owned()));
    }
    nodes.push(("join".to_owned(), "parallelGateway"));
    nodes.push(("e".to_owned(), "endEvent"));
    edges.push(("join".to_owned(), "e".to_owned()));
    graph(&nodes, &edges)
}

fn main() -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    for (name, graph) in
        [("1 task", sequence(1)?), ("10 in sequence", sequence(10)?), ("split 4, join", split(4)?)]
    {
        let cx = RunContext {
            run_id: RunId(uuid::Uuid::from_u128(1)),
            now: Timestamp::from_micros(1_700_000_000_000_000),
            correlation_key: None,
            actor: None,
            decisions: None,
            elsewhere: None,
            hops: 0,
            budget: Budget::DEFAULT,
            remark: None,
            stores: std::collections::BTreeMap::new(),
            roles: Vec::new(),
            people: std::collections::BTreeMap::new(),
        };
        let (begin, mut runs, mut events) = (Instant::now(), 0u64, 0usize);
        while begin.elapsed() < Duration::from_secs(2) {
            for _ in 0..1000 {
                let start =
                    Command::Start { trigger: Trigger::Manual { start_node: None }, input: Map::new() };
                let step = step(&graph, &State::new(), start, &cx).map_err(|refusal| refusal.to_string())?;
                if step.state.status() != Status::Completed {
                    return Err(format!("{name}: {:?}", step.state));
                }
                events = step.events.len();
                runs += 1;
            }
        }
        let rate = runs as f64 / begin.elapsed().as_secs_f64();
        writeln!(out, "{name}: {rate:.0} runs/s, {events} events each").map_err(|error| error.to_string())?;
    }
    Ok(())
}
