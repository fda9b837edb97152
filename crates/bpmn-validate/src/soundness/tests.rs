//! Hand-made graphs in a small notation, and small random graphs judged with and without reductions.
//!
//! A graph is a list of flows: `s>a a>x? end`. The first letters of an id say what it is, see [`element`].

use super::explore::Budget;
use super::{Finding, Soundness, judge_all, soundness};
use heddle_bpmn::model::WorkflowDefinition;
use serde_json::{Value, json};

/// The element of an id: `s` start, `e` end, `k` terminate end, `x` exclusive, `p` parallel, `o` inclusive,
/// `g` event-based, `c` catch event, `u` user task, `b_HOST` and `n_HOST` interrupting and non-interrupting
/// boundary events, all others tasks.
fn element(id: &str) -> Value {
    let kind = |kind: &str| json!({"id": id, "type": kind});
    let event = |of: &str, definition: &str| json!({"id": id, "type": of, "bpmn": {"eventDefinitions": [{"type": definition}]}});
    if let Some((letter @ ("b" | "n"), host)) = id.split_once('_') {
        return json!({"id": id, "type": "boundaryEvent", "bpmn": {"attachedToRef": host,
            "cancelActivity": letter == "b", "eventDefinitions": [{"type": "timer"}]}});
    }
    match id.as_bytes()[0] {
        b's' => kind("startEvent"),
        b'e' => kind("endEvent"),
        b'k' => event("endEvent", "terminate"),
        b'x' => kind("exclusiveGateway"),
        b'p' => kind("parallelGateway"),
        b'o' => kind("inclusiveGateway"),
        b'g' => kind("eventBasedGateway"),
        b'c' => event("intermediateCatchEvent", "timer"),
        b'u' => kind("userTask"),
        _ => kind("task"),
    }
}

/// The nodes and edges of a notation: `a>b` a flow, `a?b` a conditional one, `a/b` a default one, `a-b` one
/// whose condition is false, `a+b` one whose condition is true, `a=3=b` a bounded way back, `a` a node alone.
fn graph(notation: &str) -> (Vec<Value>, Vec<Value>) {
    let mut nodes: Vec<Value> = Vec::new();
    let mut edges = Vec::new();
    for word in notation.split_whitespace() {
        let parts: Vec<&str> = word.split(['>', '?', '/', '-', '+', '=']).collect();
        let ends = [parts[0], parts[parts.len() - 1]];
        for id in ends {
            if !nodes.iter().any(|node| node["id"] == id) {
                nodes.push(element(id));
            }
        }
        let [source, target] = ends;
        let mark = word.as_bytes().get(source.len());
        let mut edge = json!({"id": word, "source": source, "target": target});
        match mark {
            None => continue,
            Some(b'?') => edge["bpmn"] = json!({"conditionExpression": "amount > 3"}),
            Some(b'-') => edge["bpmn"] = json!({"conditionExpression": " = false "}),
            Some(b'+') => edge["bpmn"] = json!({"conditionExpression": "true"}),
            Some(b'=') => edge["loop"] = json!({"maximumIterations": parts[1].parse::<i64>().unwrap()}),
            Some(b'/') => {
                let node = nodes.iter_mut().find(|node| node["id"] == source).unwrap();
                node["bpmn"] = json!({"defaultFlow": word});
            }
            _ => {}
        }
        edges.push(edge);
    }
    (nodes, edges)
}

fn definition(notation: &str) -> WorkflowDefinition {
    let (nodes, edges) = graph(notation);
    serde_json::from_value(json!({"nodes": nodes, "edges": edges})).unwrap()
}

/// A finding as `element,element: witness`.
fn told(list: &[Finding]) -> String {
    let told: Vec<String> =
        list.iter().map(|own| format!("{}: {}", own.element_ids.join(","), own.witness.join(" "))).collect();
    told.join("; ").trim_end().to_owned()
}

fn all(found: &Soundness) -> String {
    let kinds = [
        ("dead", &found.deadlocks),
        ("sync", &found.lack_of_synchronization),
        ("apart", &found.unreachable),
        ("livelock", &found.unbounded_cycles),
    ];
    let told: Vec<String> = kinds
        .iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(kind, list)| format!("{kind} {}", told(list)))
        .collect();
    told.join(" | ")
}

#[test]
fn each_kind_of_finding_is_found_with_its_witness() {
    let rows = [
        ("a sequence", "s>a a>b b>e", ""),
        ("a choice", "s>x1 x1?a x1?b a>x2 b>x2 x2>e", ""),
        ("a fork and its join", "s>p1 p1>a p1>b a>p2 b>p2 p2>e", ""),
        ("an inclusive pair", "s>o1 o1?a o1?b o1?c a>o2 b>o2 c>o2 o2>e", ""),
        ("a choice before a parallel join", "s>x1 x1?a x1?b a>p1 b>p1 p1>e", "dead p1: s x1 a | apart p1,e:"),
        ("a fork before an exclusive merge", "s>p1 p1>a p1>b a>x1 b>x1 x1>t t>e", "sync x1: s p1 a b x1 x1"),
        ("a fork that ends in several ends", "s>p1 p1>a p1>b a>e1 b>e2", ""),
        ("a fork that merges in one end", "s>p1 p1>a p1>b a>e b>e", ""),
        ("an implicit fork", "s>a a>b a>t b>d t>d d>e", "sync d: s a b t d d"),
        ("an implicit fork with a join", "s>a a>b a>t b>p t>p p>e", ""),
        ("an inclusive split before a parallel join", "s>o1 o1?a o1?b a>p1 b>p1 p1>t t>e", "dead p1: s o1 a"),
        ("a terminate end clears what waits", "s>p1 p1>a p1>k a>x1 x1?q x1?z q>p2 z>p2 p2>e", "apart p2,e:"),
        ("a boundary event skips a join", "s>p1 p1>a p1>b a>p2 b>p2 b_a>e2 p2>e", "dead p2: s p1 b a b_a e2"),
        ("a boundary event merges again", "s>a b_a>h h>x1 a>x1 x1>e", ""),
        ("a non-interrupting event doubles", "s>a n_a>h h>x1 a>x1 x1>t t>e", "sync x1: s a x1 n_a h x1"),
        ("a non-interrupting event ends by itself", "s>a n_a>h h>e1 a>e2", ""),
        ("a condition that is false", "s>x1 x1-a x1?b a>e b>e", "apart a:"),
        ("a condition that is true", "s>x1 x1+a x1/b a>e b>e", "apart b:"),
        ("an island", "s>a a>e t>d d>t", "apart t,d:"),
        ("a livelock", "s>x1 x1>a a>x2 x2?x1 x2?e", "livelock x1,a,x2: s x1 a x2 x1"),
        ("a waiting cycle", "s>x1 x1>u u>x2 x2?x1 x2?e", ""),
        ("a bounded cycle", "s>x1 x1>a a>x2 x2=3=x1 x2?e", ""),
        ("a cycle without an exit", "s>x1 x1>u u>x1", "dead x1,u: s x1 u"),
        ("an event gateway", "s>g g>c1 g>c2 c1>x1 c2>x1 x1>e", ""),
        ("two starts, one at a time", "s1>p1 s2>p1 p1>e", "dead p1: s1 | apart p1,e:"),
        ("no start event, all at once", "a>p1 b>p1 p1>e", ""),
        ("an inclusive join after a fork and a choice", "s>p1 p1>a p1>x1 x1?b x1?e1 a>o1 b>o1 o1>e", ""),
        (
            "two inclusive joins wait for each other",
            "s>p1 p1>o1 p1>o2 o1>p2 o2>p3 p2>o2 p2>e1 p3>o1 p3>e2",
            "dead o1: s p1; o2: s p1 | apart o1,o2,p2,p3,e1,e2:",
        ),
        ("a loop around a join", "s>x1 x1>p1 p1>a p1>b a>p2 b>p2 p2>u u>x2 x2?x1 x2?e", ""),
        ("a fork within a loop that goes back", "s>x1 x1>u u>p1 p1>x1 p1>e", "sync p1: s x1 u p1 x1 u p1"),
    ];
    for (name, notation, expected) in rows {
        let found = soundness(&definition(notation));
        assert_eq!(all(&found), expected, "{name}");
        assert!(found.complete, "{name}");
    }
}

/// A small generator, so that every run of the test sees the same graphs.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound as u64).unwrap()
    }
}

/// A random graph of a few nodes, connected more or less at random.
fn random(dice: &mut Dice) -> String {
    let count = 4 + dice.below(7);
    let mut ids: Vec<String> = vec!["s0".to_owned()];
    for at in 1..count {
        let letter = ["x", "x", "p", "p", "o", "a", "u", "x", "p"][dice.below(9)];
        ids.push(format!("{letter}{at}"));
    }
    let mut words: Vec<String> = Vec::new();
    let mut has_input = vec![false; count];
    for at in 0..count {
        for _ in 0..[1, 1, 2, 2, 3][dice.below(5)] {
            // Mostly onwards, so that joins and ends are reached.
            let back = at > 1 && dice.below(6) == 0;
            let to = if back { 1 + dice.below(at) } else { at + 1 + dice.below(3) };
            if to >= count {
                words.push(format!("{}>{}", ids[at], ["e", "e1", "k"][dice.below(5).min(2) % 3]));
                continue;
            }
            has_input[to] = true;
            words.push(format!("{}>{}", ids[at], ids[to]));
        }
    }
    for at in 1..count {
        if !has_input[at] {
            words.push(format!("{}>{}", ids[dice.below(at)], ids[at]));
        }
    }
    if dice.below(4) == 0
        && let Some(task) = ids.iter().find(|id| id.starts_with(['a', 'u']))
    {
        let kind = ["b", "n"][dice.below(2)];
        words.push(format!("{kind}_{task}>{}", ids[1 + dice.below(count - 1)]));
    }
    words.dedup();
    words.join(" ")
}

fn elements(list: &[Finding]) -> Vec<&str> {
    let mut ids: Vec<&str> = list.iter().flat_map(|own| &own.element_ids).map(String::as_str).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Enough to meet every rule often; twenty thousand were run by hand.
const ROUNDS: usize = 2_000;

#[test]
fn reductions_change_no_verdict() {
    let mut dice = Dice(7);
    let (mut sound, mut dead, mut doubled, mut missed) = (0, 0, 0, 0);
    for round in 0..ROUNDS {
        let notation = random(&mut dice);
        let definition = definition(&notation);
        let budget = || Budget { states: 2_000, work: 400_000 };
        let plain = judge_all(&definition, &mut budget(), false);
        let reduced = judge_all(&definition, &mut budget(), true);
        if !plain.complete {
            continue;
        }
        assert!(reduced.complete, "{round}: {notation}");
        let unsynchronized = !plain.lack_of_synchronization.is_empty();
        assert_eq!(
            unsynchronized,
            !reduced.lack_of_synchronization.is_empty(),
            "{round}: {notation}\n{}\n{}",
            all(&plain),
            all(&reduced)
        );
        if unsynchronized {
            doubled += 1;
            continue;
        }
        assert_eq!(
            elements(&plain.deadlocks),
            elements(&reduced.deadlocks),
            "{round}: {notation}\n{}\n{}",
            all(&plain),
            all(&reduced)
        );
        assert_eq!(
            elements(&plain.unreachable),
            elements(&reduced.unreachable),
            "{round}: {notation}\n{}\n{}",
            all(&plain),
            all(&reduced)
        );
        sound += usize::from(plain.deadlocks.is_empty());
        dead += usize::from(!plain.deadlocks.is_empty());
        missed += usize::from(!plain.unreachable.is_empty());
    }
    println!("{sound} sound, {dead} dead, {doubled} doubled, {missed} missed");
    assert!(sound > 100 && dead > 100 && doubled > 100 && missed > 100);
}
