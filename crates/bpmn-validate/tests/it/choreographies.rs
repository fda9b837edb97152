//! The choreographies of the suites' models: each has a monitor, or a reason why not, and enforceability ends for all.

use crate::folders::{models, suites};
use heddle_bpmn::xml;
use heddle_bpmn_graph::choreography::{
    ChoreographyState, Exchange, ExpectedExchange, Monitor, Refused, compile,
};
use heddle_bpmn_validate::enforceability;
use std::collections::BTreeSet;

/// Most messages of a trace.
const LONGEST: usize = 50;

fn exchange(expected: &ExpectedExchange) -> Exchange {
    let message = expected.message.clone().unwrap_or_else(|| "any".into());
    Exchange { from: expected.from.clone(), to: expected.to.clone(), message }
}

/// Follows what is expected, the one that was seen least first; at each place exactly what is expected is accepted.
fn walk(monitor: &Monitor, name: &str) {
    let mut state = ChoreographyState::default();
    let mut seen: BTreeSet<Exchange> = BTreeSet::new();
    for _ in 0..LONGEST {
        let expected: BTreeSet<Exchange> = monitor.expected(&state).iter().map(exchange).collect();
        seen.extend(expected.iter().cloned());
        for other in &seen {
            match monitor.observe(&state, other) {
                Ok(_) => assert!(expected.contains(other), "{name}: {other:?} is accepted"),
                Err(Refused::Violation(told)) => {
                    assert!(!expected.contains(other), "{name}: {told}");
                }
                Err(Refused::TooManyPossibilities) => return,
            }
        }
        let Some(next) = expected.first() else { return };
        state = monitor.observe(&state, next).unwrap();
    }
}

#[test]
fn every_choreography_of_the_suites_is_monitored_or_says_why_not() {
    let Some(folder) = suites() else { return };
    let (mut monitored, mut refused) = (Vec::new(), Vec::new());
    for path in models(&folder.join("bpmn")) {
        let Ok(read) = xml::read(&std::fs::read(&path).unwrap()) else { continue };
        let found = enforceability(&read.definition);
        assert!(found.iter().all(|own| own.remedy.is_some() && own.clause.is_some()), "{found:?}");
        let bpmn = read.definition.bpmn.as_deref();
        let own = bpmn.and_then(|bpmn| bpmn.choreographies.as_deref()).unwrap_or_default();
        for id in own.iter().filter_map(|own| own.id.as_deref()) {
            let name = format!("{} {id}", path.file_name().unwrap().to_string_lossy());
            match compile(&read.definition, id) {
                Ok(monitor) => {
                    walk(&monitor, &name);
                    monitored.push(name);
                }
                Err(fault) => {
                    assert!(!fault.sentence.is_empty() && !fault.clause.is_empty(), "{name}");
                    refused.push(name);
                }
            }
        }
    }
    // Those that the constraints' cases have at least.
    for case in ["EXT027_1_failure_choreography.bpmn _1", "EXT033_1_failure.bpmn _1"] {
        assert!(monitored.iter().any(|name| name == case), "{case}: {monitored:?}, {refused:?}");
    }
}
