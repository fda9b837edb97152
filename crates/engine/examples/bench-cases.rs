//! Time from an event to the fixed point of a case with 50 items and 50 sentries, in memory:
//! `cargo run --release --example bench-cases`.

use heddle_cmmn::plan::{
    CasePlan, Condition, Criterion, Extra, Item, ItemEvent, OnPart, PLAN_MODEL, Sentry, Source, Work,
};
use heddle_engine::{Budget, Command, RunContext, State, Status, Trigger, step};
use heddle_feel::{Dialect, Expression};
use heddle_kernel::{RunId, Timestamp};
use heddle_settings::UserTask;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ITEMS: u32 = 50;

fn item(id: String, parent: Option<u32>, work: Work) -> Item {
    Item {
        id: id.as_str().into(),
        definition: id.into(),
        name: None,
        parent,
        work,
        entry: Vec::new(),
        exit: Vec::new(),
        control: Default::default(),
        discretionary: None,
        children: Vec::new(),
        table: Vec::new(),
        extra: Extra { blocking: true, ..Extra::default() },
    }
}

/// Fifty human tasks, each with an entry criterion: all of them wait for the first one and for one another, and for data.
fn plan() -> Result<CasePlan, String> {
    let mut items = vec![item("case".to_owned(), None, Work::Stage { auto_complete: false })];
    let (mut criteria, mut sentries) = (Vec::new(), Vec::new());
    let mut on_item: HashMap<u32, Vec<u32>> = HashMap::new();
    for ix in 1..=ITEMS {
        let task = Work::Human { task: Arc::new(UserTask::default()), performer: None };
        let mut own = item(format!("task-{ix}"), Some(PLAN_MODEL), task);
        let criterion = ix - 1;
        if ix > 1 {
            own.entry.push(criterion);
        }
        let on = |item: u32| OnPart {
            id: None,
            source: Source::Item { item, event: ItemEvent::Complete, exit: None },
        };
        let text = format!("amount > {ix}");
        let expression = Expression::compile(&text, Dialect::Heddle).map_err(|error| error.to_string())?;
        let condition = Some(Condition { expression, context: None, text: text.into() });
        sentries.push(Sentry {
            id: format!("sentry-{ix}").into(),
            on: vec![on(1), on(ix / 2)],
            condition,
            on_event: false,
        });
        criteria.push(Criterion {
            id: format!("entry-{ix}").into(),
            item: ix,
            is_exit: false,
            sentry: criterion,
        });
        for source in [1, ix / 2] {
            let own = on_item.entry(source).or_default();
            if ix > 1 && !own.contains(&criterion) {
                own.push(criterion);
            }
        }
        items.push(own);
    }
    if let Some(model) = items.first_mut() {
        model.children = (1..=ITEMS).collect();
    }
    let item_ids = (0..).zip(&items).map(|(ix, own)| (own.id.clone(), ix)).collect();
    Ok(CasePlan {
        id: "case".into(),
        name: None,
        items,
        on_data: (1..ITEMS).collect(),
        criteria,
        sentries,
        file: Vec::new(),
        roles: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        starts: Vec::new(),
        item_ids,
        file_ids: HashMap::new(),
        on_item,
        on_file: HashMap::new(),
        reactivation: None,
    })
}

fn main() -> Result<(), String> {
    let plan = plan()?;
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
        stores: BTreeMap::new(),
        roles: Vec::new(),
        people: BTreeMap::new(),
    };
    let input = Map::from_iter([("amount".to_owned(), Value::from(0))]);
    let start = Command::Start { trigger: Trigger::Manual { start_node: None }, input };
    let begun = step(&plan, &State::new(), start, &cx).map_err(|refusal| refusal.to_string())?.state;
    let task_id = begun.tasks().first().ok_or("no task is open")?.task_id;
    let complete = |amount: u32| Command::CompleteTask {
        task_id,
        outcome: None,
        values: Map::from_iter([("amount".to_owned(), Value::from(amount))]),
        comment: None,
    };
    let mut out = std::io::stdout().lock();
    // Every sentry is looked at: none of them, or the two that are then satisfied, start a task.
    for (name, amount) in
        [("50 sentries looked at, none satisfied", 1), ("50 sentries looked at, 2 satisfied", 3)]
    {
        let (mut steps, mut events) = (0u32, 0usize);
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(2) {
            for _ in 0..200 {
                let done =
                    step(&plan, &begun, complete(amount), &cx).map_err(|refusal| refusal.to_string())?;
                if done.state.status() != Status::Waiting {
                    return Err(format!("{name}: {:?}", done.state.status()));
                }
                (steps, events) = (steps + 1, events + done.events.len());
            }
        }
        let micros = begin.elapsed().as_secs_f64() * 1e6 / f64::from(steps);
        let told = events / usize::try_from(steps).unwrap_or(usize::MAX).max(1);
        writeln!(out, "{name}: {micros:.1} us from the event to the fixed point, {told} events")
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}
