//! Random plans: no command panics, every state is the fold of its events, and every fixed point is one.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use super::support::{Case, Plan, auto_stage, human, milestone, rule, stage, timer, user_event};
use heddle_cmmn::plan::Multiplicity;
use heddle_engine::{Command, IncidentCode, Status};
use heddle_settings::TimerKind;
use proptest::prelude::*;
use serde_json::json;

/// An item: its kind, the stage around it, what its criteria wait for, and its rules.
type Drawn = (u8, u8, Option<(u8, u8)>, Option<(u8, u8)>, u8);

const EVENTS: [&str; 8] = ["create", "start", "complete", "occur", "terminate", "exit", "enable", "fault"];

fn built(drawn: &[Drawn]) -> Plan {
    let mut plan = Plan::new(drawn.len().is_multiple_of(2)).file("doc", Multiplicity::ZeroOrOne);
    let mut stages = vec!["case".to_owned()];
    let name = |n: usize| format!("i{n}");
    for (n, (kind, parent, ..)) in drawn.iter().enumerate() {
        let parent = stages[usize::from(*parent) % stages.len()].clone();
        let id = name(n);
        plan = match kind % 8 {
            0 => plan.item(&id, &parent, stage()),
            1 => plan.item(&id, &parent, auto_stage()),
            2 => plan.item(&id, &parent, milestone()),
            3 => plan.item(&id, &parent, user_event()),
            4 => plan.item(&id, &parent, timer(TimerKind::Duration, "PT1H")),
            5 => plan.discretionary(&id, &parent, &[], Some("x < 3")),
            _ => plan.item(&id, &parent, human()),
        };
        if kind % 8 < 2 {
            stages.push(id);
        }
    }
    for (n, (kind, _, entry, exit, rules)) in drawn.iter().enumerate() {
        let id = name(n);
        let source = |(item, event): (u8, u8)| {
            if item % 7 == 6 {
                return ["@doc create", "@doc update", "@doc delete"][usize::from(event) % 3].to_owned();
            }
            format!("{} {}", name(usize::from(item) % drawn.len()), EVENTS[usize::from(event) % EVENTS.len()])
        };
        // Listeners have no criteria.
        if !matches!(kind % 8, 3 | 4) {
            if let Some(entry) = entry {
                let on = source(*entry);
                plan = if rules % 3 == 0 { plan.entry_if(&id, &on, "x > 1") } else { plan.entry(&id, &on) };
            }
            if let Some(exit) = exit {
                plan = if rules % 5 == 0 {
                    plan.exit_if(&id, "", "x = 4")
                } else {
                    plan.exit(&id, &source(*exit))
                };
            }
        }
        plan = plan.with(&id, |own| {
            if rules & 1 != 0 {
                own.control.manual = rule("x > 2");
            }
            if rules & 2 != 0 {
                own.control.required = rule("yes");
            }
            if rules & 4 != 0 && entry.is_some() {
                own.control.repetition = rule("x < 5");
                own.control.repeats.max_instances = Some(3);
            }
        });
    }
    plan
}

fn work(case: &mut Case, (what, which, value): (u8, u8, u8), items: usize) {
    let words = [
        "manualStart",
        "complete",
        "terminate",
        "suspend",
        "resume",
        "occur",
        "disable",
        "reenable",
        "reactivate",
        "fault",
    ];
    let item = format!("i{}", usize::from(which) % items);
    let done = match what % 8 {
        0 | 1 => case.go(&item, words[usize::from(value) % words.len()]),
        2 => {
            let tasks = case.state.tasks();
            match tasks.get(usize::from(which) % tasks.len().max(1)).map(|task| task.task_id) {
                Some(task_id) => case.give(Command::CompleteTask {
                    task_id,
                    outcome: None,
                    values: Default::default(),
                    comment: None,
                }),
                None => Ok(()),
            }
        }
        3 => {
            let values = json!({"x": value % 6}).as_object().cloned().unwrap();
            case.give(Command::SetVariables { scope: None, values })
        }
        4 => case.put(
            "doc",
            ["create", "update", "replace", "delete"][usize::from(value) % 4],
            &[],
            json!({"n": value}),
        ),
        5 => case.plan(&item),
        6 => {
            case.advance(1800);
            Ok(())
        }
        _ => {
            let own = [
                Command::Suspend,
                Command::Resume,
                Command::CompleteCase,
                Command::ReactivateCase,
                Command::Resume,
            ];
            case.give(own[usize::from(value) % own.len()].clone())
        }
    };
    // What is refused changes nothing, which is all that is asked of it here.
    drop(done);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_plans_come_to_rest(
        drawn in prop::collection::vec(
            (any::<u8>(), any::<u8>(), prop::option::of((any::<u8>(), any::<u8>())), prop::option::weighted(0.3, (any::<u8>(), any::<u8>())), any::<u8>()),
            1..12,
        ),
        steps in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 0..25),
    ) {
        let mut case = Case::new(built(&drawn).build());
        case.begin(json!({"x": 0}));
        for step in steps {
            work(&mut case, step, drawn.len());
            let loops = case.incidents().iter().any(|(code, _)| *code == IncidentCode::SentryLoop);
            if loops || case.status() == Status::Closed {
                break;
            }
        }
    }
}
