//! Properties of random graphs of tasks and gateways: the soundness checker agrees with the engine, the order of independent
//! tokens does not change the outcome, and no token is lost or made from nothing.

use crate::support::{Model, Run};
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_validate::{Soundness, soundness};
use heddle_engine::{EventKind, IncidentCode, Status};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Most ways in which the gateways of one graph can choose.
const MOST_WAYS: usize = 128;

/// Kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Task,
    User,
    Exclusive,
    Parallel,
    Inclusive,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::User => "userTask",
            Self::Exclusive => "exclusiveGateway",
            Self::Parallel => "parallelGateway",
            Self::Inclusive => "inclusiveGateway",
        }
    }
}

/// A graph without cycles: each node but the first has flows from nodes before it.
#[derive(Debug, Clone)]
struct Plan {
    kinds: Vec<Kind>,
    /// Flows by the places of their ends.
    flows: BTreeSet<(usize, usize)>,
}

fn plan() -> impl Strategy<Value = Plan> {
    let kind = prop_oneof![
        2 => Just(Kind::Task), 1 => Just(Kind::User), 2 => Just(Kind::Exclusive),
        3 => Just(Kind::Parallel), 2 => Just(Kind::Inclusive),
    ];
    let node = (kind, any::<prop::sample::Index>());
    let more = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..5);
    (prop::collection::vec(node, 2..8), more).prop_map(|(nodes, more)| {
        let first = nodes.iter().enumerate().skip(1).map(|(at, (_, from))| (from.index(at), at));
        let mut flows: BTreeSet<(usize, usize)> = first.collect();
        for (from, to) in more {
            let to = 1 + to.index(nodes.len() - 1);
            flows.insert((from.index(to), to));
        }
        Plan { kinds: nodes.into_iter().map(|(kind, _)| kind).collect(), flows }
    })
}

impl Plan {
    fn out_of(&self, node: usize) -> Vec<usize> {
        self.flows.iter().filter(|(from, _)| *from == node).map(|(_, to)| *to).collect()
    }

    fn incoming(&self, node: usize) -> Vec<usize> {
        self.flows.iter().filter(|(_, to)| *to == node).map(|(from, _)| *from).collect()
    }

    /// The model; where a gateway chooses, the variable `p` with its number names the targets.
    fn model(&self) -> Model {
        let mut model = Model::default().nodes("s:startEvent").flows("s > n0");
        for (at, kind) in self.kinds.iter().enumerate() {
            model = model.nodes(&format!("n{at}:{}", kind.name()));
            let targets = self.out_of(at);
            if targets.is_empty() {
                model = model.nodes(&format!("e{at}:endEvent")).flows(&format!("n{at} > e{at}"));
            }
            for to in &targets {
                let (from, to) = (format!("n{at}"), format!("n{to}"));
                model = if targets.len() > 1 && matches!(kind, Kind::Exclusive | Kind::Inclusive) {
                    model.flow_if(&from, &to, &format!("p{at} contains {to}"))
                } else {
                    model.flows(&format!("{from} > {to}"))
                };
            }
        }
        model
    }

    /// Every way in which the gateways can choose, as variables; none where there are too many.
    fn ways(&self) -> Option<Vec<Value>> {
        let mut ways = vec![Map::new()];
        for (at, kind) in self.kinds.iter().enumerate() {
            let targets = self.out_of(at);
            if targets.len() < 2 {
                continue;
            }
            let sets: Vec<usize> = match kind {
                Kind::Exclusive => (0..targets.len()).map(|bit| 1 << bit).collect(),
                Kind::Inclusive => (1..1 << targets.len()).collect(),
                Kind::Task | Kind::User | Kind::Parallel => continue,
            };
            if ways.len() * sets.len() > MOST_WAYS {
                return None;
            }
            let chosen = |set: usize| {
                let picked = targets.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
                picked.map(|(_, to)| format!("n{to}")).collect::<Vec<_>>().join(" ")
            };
            ways = ways
                .iter()
                .flat_map(|way| sets.iter().map(move |set| (way.clone(), *set)))
                .map(|(mut way, set)| {
                    way.insert(format!("p{at}"), Value::String(chosen(set)));
                    way
                })
                .collect();
        }
        Some(ways.into_iter().map(Value::Object).collect())
    }
}

/// A run to its end; the tasks of people are completed in the order that the numbers say.
fn run_to_its_end(model: &Model, input: Value, order: &[usize]) -> Run {
    let mut run = model.run(input);
    let mut order = order.iter().cycle();
    for _ in 0..500 {
        let tasks = run.tasks();
        let Some(at) = order.next().filter(|_| !tasks.is_empty()) else { break };
        let task = tasks.get(at % tasks.len()).unwrap().clone();
        run.complete_with(&task, None, json!({})).unwrap();
    }
    run
}

fn is_stuck(run: &Run) -> bool {
    run.incidents().iter().any(|(code, _)| *code == IncidentCode::Deadlock)
}

fn judged(model: &Model) -> Soundness {
    let definition: WorkflowDefinition = serde_json::from_value(model.json()).unwrap();
    soundness(&definition)
}

/// How often each node was activated, and each flow taken.
fn counted(run: &Run) -> (BTreeMap<String, usize>, BTreeMap<String, usize>) {
    let (mut nodes, mut flows) = (BTreeMap::new(), BTreeMap::new());
    for event in &run.log {
        match &event.kind {
            EventKind::NodeActivated { .. } => {
                let node = event.node_id.as_ref().unwrap().to_string();
                *nodes.entry(node).or_default() += 1;
            }
            EventKind::FlowTaken { flow_id, .. } => *flows.entry(flow_id.to_string()).or_default() += 1,
            _ => {}
        }
    }
    (nodes, flows)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, max_global_rejects: 20_000, ..ProptestConfig::default() })]

    /// What the checker calls sound comes to its end however the gateways choose; where it finds a deadlock, and no tokens that
    /// meet on a flow, there is a choice with which a run gets stuck.
    #[test]
    fn the_soundness_checker_agrees_with_the_engine(plan in plan()) {
        let model = plan.model();
        let found = judged(&model);
        let ways = plan.ways();
        prop_assume!(found.complete && ways.is_some());
        let runs = ways.unwrap().into_iter().map(|way| run_to_its_end(&model, way, &[0]));
        let ends: Vec<(Status, bool)> = runs.map(|run| (run.status(), is_stuck(&run))).collect();
        let stuck = ends.iter().any(|(_, stuck)| *stuck);
        if !found.lack_of_synchronization.is_empty() {
            return Ok(());
        }
        prop_assert_eq!(stuck, !found.deadlocks.is_empty(), "{:?}", found.deadlocks);
        if !stuck {
            prop_assert!(ends.iter().all(|(status, _)| *status == Status::Completed), "{:?}", ends);
        }
    }

    /// Every order in which people complete their tasks leads to the same end.
    #[test]
    fn the_order_of_independent_tokens_does_not_change_the_outcome(
        plan in plan(), way in any::<prop::sample::Index>(),
        orders in prop::collection::vec(prop::collection::vec(0usize..16, 1..6), 2..4),
    ) {
        let model = plan.model();
        let found = judged(&model);
        let ways = plan.ways();
        // Where tokens meet on a flow they are not independent: which of them a join takes first is a race.
        prop_assume!(found.complete && found.lack_of_synchronization.is_empty() && ways.is_some());
        let ways = ways.unwrap();
        let input = way.get(&ways);
        let ends: BTreeSet<String> = orders
            .iter()
            .map(|order| run_to_its_end(&model, input.clone(), order))
            .map(|run| format!("{:?} {:?} {:?} {:?}", run.status(), run.done(), run.variables(), counted(&run)))
            .collect();
        prop_assert_eq!(ends.len(), 1, "{:?}", ends);
    }

    /// Each activation takes the tokens that its join rule names, and gives those that its split rule names.
    #[test]
    fn no_token_is_lost_or_made_from_nothing(
        plan in plan(), way in any::<prop::sample::Index>(), order in prop::collection::vec(0usize..16, 1..6),
    ) {
        let ways = plan.ways();
        prop_assume!(ways.is_some());
        let ways = ways.unwrap();
        let run = run_to_its_end(&plan.model(), way.get(&ways).clone(), &order);
        prop_assume!(run.status() == Status::Completed);
        let (nodes, flows) = counted(&run);
        let taken = |from: usize, to: usize| flows.get(&format!("n{from}-n{to}")).copied().unwrap_or_default();
        for (at, kind) in plan.kinds.iter().enumerate() {
            let activated = nodes.get(&format!("n{at}")).copied().unwrap_or_default();
            let mut came: Vec<usize> = plan.incoming(at).into_iter().map(|from| taken(from, at)).collect();
            if at == 0 {
                came.push(flows.get("s-n0").copied().unwrap_or_default());
            }
            let went: Vec<usize> = plan.out_of(at).into_iter().map(|to| taken(at, to)).collect();
            let (came_sum, went_sum): (usize, usize) = (came.iter().sum(), went.iter().sum());
            match kind {
                Kind::Task | Kind::User | Kind::Exclusive => prop_assert_eq!(activated, came_sum, "n{}", at),
                // A run that has completed left no token before a join.
                Kind::Parallel => prop_assert!(came.iter().all(|own| *own == activated), "n{at} {came:?}"),
                Kind::Inclusive => {
                    let most = came.iter().copied().max().unwrap_or_default();
                    prop_assert!(most <= activated && activated <= came_sum, "n{at} {came:?} {activated}");
                }
            }
            match kind {
                Kind::Task | Kind::User | Kind::Parallel => {
                    prop_assert!(went.iter().all(|own| *own == activated), "n{at} {went:?}");
                }
                Kind::Exclusive => prop_assert!(went.is_empty() || went_sum == activated, "n{at} {went:?}"),
                Kind::Inclusive => {
                    let each = went.iter().all(|own| *own <= activated);
                    prop_assert!(went.is_empty() || (each && went_sum >= activated), "n{at} {went:?}");
                }
            }
        }
    }
}
