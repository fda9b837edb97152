//! The workflow control-flow patterns (van der Aalst et al. 2003, revised by Russell et al. 2006): each with a small model, its
//! run, and how far BPMN as it runs here supports it. `docs/patterns.md` has the same table.

mod branches;
mod cancels;
mod instances;
mod joins;

use std::fmt::Write as _;

/// How far a pattern is supported.
enum Verdict {
    /// Elements of BPMN say it.
    Direct,
    /// It can be said with a restriction, which the sentence names.
    Partial,
}

impl Verdict {
    const fn name(&self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Partial => "partial",
        }
    }
}

use Verdict::{Direct, Partial};

/// Row of the table.
struct Pattern {
    number: u8,
    name: &'static str,
    verdict: Verdict,
    /// Elements that say it, and the restriction where there is one.
    how: &'static str,
    trial: fn(),
}

/// Row with its number in the literature.
const fn row(number: u8, name: &'static str, verdict: Verdict, how: &'static str, trial: fn()) -> Pattern {
    Pattern { number, name, verdict, how, trial }
}

/// The patterns, in the order of their numbers.
#[rustfmt::skip]
const PATTERNS: &[Pattern] = &[
    row(1, "Sequence", Direct, "A sequence flow.", branches::sequence),
    row(2, "Parallel split", Direct, "A parallel gateway, or several flows out of an activity.", branches::parallel_split),
    row(3, "Synchronization", Direct, "A parallel gateway.", branches::synchronization),
    row(4, "Exclusive choice", Direct, "An exclusive gateway.", branches::exclusive_choice),
    row(5, "Simple merge", Direct, "An exclusive gateway, or several flows into an activity.", branches::simple_merge),
    row(6, "Multi-choice", Direct, "An inclusive gateway, or conditional flows out of an activity.", branches::multi_choice),
    row(7, "Structured synchronizing merge", Direct, "An inclusive gateway.", joins::structured_synchronizing_merge),
    row(8, "Multi-merge", Direct, "An exclusive gateway: each token passes.", branches::multi_merge),
    row(9, "Structured discriminator", Direct, "A complex gateway with `activationCount >= 1`, which is reset by the tokens of the other branches.", joins::structured_discriminator),
    row(10, "Arbitrary cycles", Direct, "Sequence flows that lead back, with as many entries and exits as are wanted.", branches::arbitrary_cycles),
    row(11, "Implicit termination", Direct, "A process ends when no token is left.", branches::implicit_termination),
    row(12, "Multiple instances without synchronization", Direct, "A cycle with a parallel gateway that lets a token go with each round.", instances::without_synchronization),
    row(13, "Multiple instances with a priori design-time knowledge", Direct, "A multi-instance activity with a cardinality.", instances::known_when_drawn),
    row(14, "Multiple instances with a priori run-time knowledge", Direct, "A multi-instance activity over a collection, or with an expression as its cardinality.", instances::known_when_begun),
    row(15, "Multiple instances without a priori run-time knowledge", Partial, "A sub-process whose event sub-process, not interrupting, adds an instance with each message. A multi-instance activity takes no further instance once it has begun.", instances::known_when_ended),
    row(16, "Deferred choice", Direct, "An event-based gateway.", branches::deferred_choice),
    row(17, "Interleaved parallel routing", Partial, "A sequential ad-hoc sub-process with flows between what is ordered. The activities stand in one sub-process, and another one comes when a whole thread has ended.", branches::interleaved_parallel_routing),
    row(18, "Milestone", Partial, "A boundary event, not interrupting: what hangs on it can begin only while the activity is open. The state has to be that of an activity; a place between two activities has none.", branches::milestone),
    row(19, "Cancel activity", Direct, "An interrupting boundary event.", cancels::cancel_activity),
    row(20, "Cancel case", Direct, "A terminate end event, or `cancel` of the run.", cancels::cancel_case),
    row(21, "Structured loop", Direct, "A standard loop, tested before or after.", branches::structured_loop),
    row(22, "Recursion", Direct, "A call activity that calls its own process. The depth is bounded by a budget.", branches::recursion),
    row(23, "Transient trigger", Direct, "A signal: it reaches those that wait, and is kept for nobody.", branches::transient_trigger),
    row(24, "Persistent trigger", Direct, "A message: one that nobody waits for yet is kept for a day.", branches::persistent_trigger),
    row(25, "Cancel region", Partial, "An interrupting boundary event at a sub-process. The region has to be a sub-process, or a transaction.", cancels::cancel_region),
    row(26, "Cancel multiple instance activity", Direct, "An interrupting boundary event at the multi-instance activity.", cancels::cancel_instances),
    row(27, "Complete multiple instance activity", Direct, "A completion condition, or an interrupting boundary event whose flow joins that of the activity.", cancels::complete_instances),
    row(28, "Blocking discriminator", Direct, "A complex gateway: a further token of a branch that has come waits for the next round.", joins::blocking_discriminator),
    row(29, "Cancelling discriminator", Direct, "A sub-process around the branches, each of which ends in a terminate end event.", joins::cancelling_discriminator),
    row(30, "Structured partial join", Direct, "A complex gateway with `activationCount >= n`.", joins::structured_partial_join),
    row(31, "Blocking partial join", Direct, "A complex gateway whose condition counts the branches in `activationCounts`; further tokens of a branch wait for the next round.", joins::blocking_partial_join),
    row(32, "Cancelling partial join", Direct, "A sub-process around the branches, with a complex gateway before a terminate end event.", joins::cancelling_partial_join),
    row(33, "Generalized AND-join", Direct, "A parallel gateway: it takes one token of each flow and leaves the others for its next activation.", joins::generalized_and_join),
    row(34, "Static partial join for multiple instances", Direct, "A conditional boundary event that does not interrupt: `nrOfCompletedInstances >= n` begins what follows after n instances.", instances::static_partial_join),
    row(35, "Cancelling partial join for multiple instances", Direct, "A multi-instance activity with a completion condition.", instances::cancelling_partial_join),
    row(36, "Dynamic partial join for multiple instances", Partial, "The sub-process of pattern 15 with a conditional boundary event. A completion condition may change while the instances run; their number may not.", instances::dynamic_partial_join),
    row(37, "Local synchronizing merge", Direct, "An inclusive gateway: it waits for tokens that can still come, whatever the structure.", joins::local_synchronizing_merge),
    row(38, "General synchronizing merge", Direct, "An inclusive gateway, also where a branch runs in a cycle.", joins::general_synchronizing_merge),
    row(39, "Critical section", Partial, "A sequential ad-hoc sub-process with the sections as its sub-processes. All sections stand in it; there is no lock over places of a process that are apart.", branches::critical_section),
    row(40, "Interleaved routing", Direct, "A sequential ad-hoc sub-process without flows.", branches::interleaved_routing),
    row(41, "Thread merge", Direct, "A start quantity.", joins::thread_merge),
    row(42, "Thread split", Direct, "A completion quantity.", branches::thread_split),
    row(43, "Explicit termination", Direct, "A terminate end event.", cancels::explicit_termination),
];

#[test]
fn every_pattern_runs_as_its_row_says() {
    for pattern in PATTERNS {
        // A trial that fails shows its row.
        println!("WCP {}: {}", pattern.number, pattern.name);
        (pattern.trial)();
    }
}

#[test]
fn the_page_has_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/patterns.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| {
            line.strip_prefix("| ").is_some_and(|rest| rest.starts_with(|own: char| own.is_ascii_digit()))
        })
        .collect();
    let mut table = String::new();
    for Pattern { number, name, verdict, how, .. } in PATTERNS {
        writeln!(table, "| {number} | {name} | {} | {how} |", verdict.name()).unwrap();
    }
    assert_eq!(rows, table.lines().collect::<Vec<_>>(), "docs/patterns.md differs; the table is\n{table}");
    assert!(PATTERNS.iter().map(|own| own.number).eq(1..=43));
}
