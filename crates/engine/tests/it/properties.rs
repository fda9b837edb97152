//! Properties of random models and random commands.

use crate::support::{Model, Run, boundary, event, map};
use heddle_engine::{Command, SkipTarget, Status};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A block of a structured model.
#[derive(Debug, Clone)]
enum Block {
    Task,
    User,
    Catch(u8),
    Sequence(Vec<Block>),
    Parallel(Vec<Block>),
    Inclusive(Vec<Block>),
    Choice(Vec<Block>),
    Sub(Box<Block>, u8),
}

fn block() -> impl Strategy<Value = Block> {
    let leaf = prop_oneof![Just(Block::Task), Just(Block::User), (0u8..3).prop_map(Block::Catch)];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let several = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            several.clone().prop_map(Block::Sequence),
            several.clone().prop_map(Block::Parallel),
            several.clone().prop_map(Block::Inclusive),
            several.prop_map(Block::Choice),
            (inner, 0u8..4).prop_map(|(inner, kind)| Block::Sub(Box::new(inner), kind)),
        ]
    })
}

/// Builds models of blocks, each between an entry and an exit node.
struct Builder {
    next: usize,
}

impl Builder {
    fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn add(&mut self, model: Model, block: &Block) -> (Model, String, String) {
        match block {
            Block::Task => self.single(model, "t", "task", json!({})),
            Block::User => self.single(model, "u", "userTask", json!({})),
            Block::Catch(0) => self.single(model, "c", "intermediateCatchEvent", event("timer PT1H")),
            Block::Catch(1) => self.single(model, "c", "intermediateCatchEvent", event("message m1")),
            Block::Catch(_) => self.single(model, "c", "intermediateCatchEvent", event("signal s1")),
            Block::Sequence(blocks) => {
                let mut model = model;
                let mut ends: Option<(String, String)> = None;
                for block in blocks {
                    let (grown, first, last) = self.add(model, block);
                    model = match &ends {
                        Some((_, before)) => grown.flows(&format!("{before} > {first}")),
                        None => grown,
                    };
                    ends = Some((ends.map_or(first, |(entry, _)| entry), last));
                }
                let (entry, exit) = ends.unwrap();
                (model, entry, exit)
            }
            Block::Parallel(blocks) => self.gateways(model, blocks, "parallelGateway", false),
            Block::Inclusive(blocks) => self.gateways(model, blocks, "inclusiveGateway", true),
            Block::Choice(blocks) => self.gateways(model, blocks, "exclusiveGateway", true),
            Block::Sub(inner, kind) => {
                let (content, _, _) = self.add(Model::default(), inner);
                let id = self.name("p");
                let mut model = model.sub(&id, content, json!({}));
                let trigger = ["timer PT30M", "cycle R2/PT10M", "message m2"].get(usize::from(*kind));
                let Some(trigger) = trigger else { return (model, id.clone(), id) };
                let (own, after, merge) = (self.name("b"), self.name("t"), self.name("x"));
                let interrupting = !trigger.starts_with("cycle");
                model = model
                    .node(&own, "boundaryEvent", boundary(&id, trigger, interrupting))
                    .nodes(&format!("{after}:task {merge}:exclusiveGateway"))
                    .flows(&format!("{own} > {after}; {id} > {merge}"));
                // Only an interrupting event's token goes on in place of the sub-process's.
                if interrupting {
                    model = model.flows(&format!("{after} > {merge}"));
                }
                (model, id, merge)
            }
        }
    }

    fn single(&mut self, model: Model, prefix: &str, kind: &str, more: Value) -> (Model, String, String) {
        let id = self.name(prefix);
        (model.node(&id, kind, more), id.clone(), id)
    }

    fn gateways(
        &mut self,
        model: Model,
        blocks: &[Block],
        kind: &str,
        choose: bool,
    ) -> (Model, String, String) {
        let (split, join) = (self.name("g"), self.name("j"));
        let default = format!("{split}-{join}");
        let more = if choose { json!({"bpmn": {"defaultFlow": default}}) } else { json!({}) };
        let mut model = model.node(&split, kind, more).nodes(&format!("{join}:{kind}"));
        if choose {
            model = model.flows(&format!("{split} > {join}"));
        }
        for (index, block) in blocks.iter().enumerate() {
            let (grown, first, last) = self.add(model, block);
            model = grown.flows(&format!("{last} > {join}"));
            model = if choose {
                model.flow_if(&split, &first, &format!("pick contains {index}"))
            } else {
                model.flows(&format!("{split} > {first}"))
            };
        }
        (model, split, join)
    }
}

fn model(block: &Block) -> Model {
    let (model, first, last) = Builder { next: 0 }.add(Model::default(), block);
    model.nodes("s:startEvent e:endEvent").flows(&format!("s > {first}; {last} > e"))
}

/// Gives the n-th of the commands that the run can take now; answers whether there was one.
fn advance(run: &mut Run, choice: usize, wild: bool) -> bool {
    let mut commands: Vec<Command> = Vec::new();
    for task in run.state.tasks() {
        commands.push(Command::CompleteTask {
            task_id: task.task_id,
            outcome: None,
            values: map(json!({ task.node_id.as_ref(): true })),
            comment: None,
        });
    }
    for own in run.state.subscriptions() {
        let (subscription_id, payload) = (own.id, Value::Null);
        commands.push(match own.kind {
            heddle_engine::SubscriptionKind::Message => Command::DeliverMessage { subscription_id, payload },
            heddle_engine::SubscriptionKind::Signal => Command::DeliverSignal { subscription_id, payload },
            // Nothing from outside meets a condition.
            heddle_engine::SubscriptionKind::Condition => continue,
        });
    }
    commands.extend(run.state.timers().iter().map(|timer| Command::FireTimer { timer_id: timer.id }));
    if wild {
        let instances: Vec<_> =
            run.state.active_nodes().iter().filter_map(|own| own.node_instance_id).collect();
        commands.extend(
            instances
                .iter()
                .map(|&id| Command::Skip { target: SkipTarget::Node(id), output: map(json!({})) }),
        );
        commands.push(Command::Suspend);
        commands.push(Command::Resume);
        commands
            .push(Command::SetVariables { scope: None, values: map(json!({"pick": choice.to_string()})) });
        commands.push(Command::Cancel { reason: None });
    }
    if commands.is_empty() {
        return false;
    }
    let at = choice % commands.len();
    let command = commands.swap_remove(at);
    if let Command::FireTimer { timer_id } = &command {
        let due = run.state.timers().into_iter().find(|timer| timer.id == *timer_id).unwrap().due_at;
        run.now = run.now.max(due);
    }
    // A refusal must leave the run as it is; what was given before is checked by `give`.
    let before = run.state.clone();
    if run.give(command).is_err() {
        assert_eq!(run.state, before);
    }
    true
}

/// What a run did: completed activities and final variables.
fn outcome(run: &Run) -> (Status, Vec<String>, Value) {
    (run.status(), run.done(), run.variables())
}

/// Whether all orders must lead to the same end: no boundary event that competes with its activity.
fn is_confluent(block: &Block) -> bool {
    match block {
        Block::Task | Block::User | Block::Catch(_) => true,
        Block::Sequence(blocks)
        | Block::Parallel(blocks)
        | Block::Inclusive(blocks)
        | Block::Choice(blocks) => blocks.iter().all(is_confluent),
        Block::Sub(inner, kind) => *kind == 3 && is_confluent(inner),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Every command keeps the state equal to the fold of the events, whatever is asked in whatever order.
    #[test]
    fn the_state_is_the_fold_of_the_events(
        block in block(), pick in "[0-2]{0,3}", choices in prop::collection::vec(0usize..64, 0..24),
    ) {
        let mut run = model(&block).run(json!({ "pick": pick }));
        for choice in choices {
            if run.status().is_terminal() {
                break;
            }
            advance(&mut run, choice, true);
        }
    }

    /// A structured model comes to its end, and without competing events every order leads to the same one.
    #[test]
    fn the_order_of_independent_commands_does_not_matter(
        block in block(), pick in "[0-2]{0,3}",
        orders in prop::collection::vec(prop::collection::vec(0usize..64, 1..8), 2),
    ) {
        let mut ends = BTreeSet::new();
        for order in &orders {
            let mut run = model(&block).run(json!({ "pick": pick }));
            let mut choices = order.iter().cycle();
            for _ in 0..200 {
                if run.status().is_terminal() || !advance(&mut run, *choices.next().unwrap(), false) {
                    break;
                }
            }
            prop_assert_eq!(run.status(), Status::Completed);
            prop_assert!(run.state.incidents().is_empty());
            ends.insert(format!("{:?}", outcome(&run)));
        }
        if is_confluent(&block) {
            prop_assert_eq!(ends.len(), 1);
        }
    }
}
