//! CPU time of decisions and listings with few grants and with many; one line of JSON.

use std::error::Error;
use std::hint::black_box;
use std::io::Write as _;
use std::time::{Duration, Instant};

use heddle_kernel::{TenantId, Timestamp, UserId};
use heddle_policy::{
    Effect, Facts, GrantFacts, ListingPlace, Permission, Question, Reason, ResourceType, RuleId, Snapshot,
    Source, Target,
};
use serde_json::{Value, json};
use uuid::Uuid;

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 9;
/// Least time of a round: processor time is counted in steps of some milliseconds.
const ROUND: Duration = Duration::from_millis(100);
const DECISIONS: usize = 400_000;
const NOW: Timestamp = Timestamp::from_micros(1_000_000);

fn main() -> Outcome<()> {
    let mut all = Vec::new();
    for grants in [100, 1_000, 10_000] {
        all.push(measure(grants)?);
    }
    writeln!(std::io::stdout(), "{}", Value::Array(all))?;
    Ok(())
}

fn measure(grants: usize) -> Outcome<Value> {
    let facts = world(grants);
    let snapshot = Snapshot::new(&facts, NOW);
    // Things that rules name, and as many that none does.
    let ids: Vec<Target> = (0..2 * grants).map(|number| Target::one(RuleId::Uuid(id(number)))).collect();
    let one = decisions(&snapshot, "read", &ids)?;
    let list = decisions(&snapshot, "list", &[Target::all()])?;
    let compiled = median_of(|| {
        black_box(Snapshot::new(black_box(&facts), NOW));
        Ok(())
    })?;
    let page = median_of(|| {
        black_box(snapshot.listing(ResourceType::ALL, 1_000, None)?);
        Ok(())
    })?;
    let whole = median_of(|| {
        let mut from: Option<ListingPlace> = None;
        loop {
            let listing = snapshot.listing(ResourceType::ALL, 1_000, from.as_ref())?;
            from = black_box(listing).next;
            if from.is_none() {
                return Ok(());
            }
        }
    })?;
    Ok(json!({
        "grants": grants, "decision_ns": one, "list_decision_ns": list, "compile_ms": compiled / 1e6,
        "effective_page_ms": page / 1e6, "effective_whole_ms": whole / 1e6,
    }))
}

/// Grants of single things, a tenth of them denies, beside those of a role.
fn world(grants: usize) -> Facts {
    let facts =
        Facts::member(UserId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2))).with_system_role("worker");
    (0..grants).fold(facts, |facts, number| {
        facts.with_grant(GrantFacts {
            id: id(number + 1_000_000).to_string(),
            source: if number % 2 == 0 { Source::User } else { Source::Everyone },
            resource: "workflow".to_owned(),
            action: "read".to_owned(),
            selector: id(number).to_string(),
            effect: if number % 10 == 9 { Effect::Deny } else { Effect::Allow },
            expires_at: None,
        })
    })
}

/// Ids without an order.
fn id(number: usize) -> Uuid {
    Uuid::from_u128((number as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835))
}

/// Nanoseconds of a decision.
fn decisions(snapshot: &Snapshot, action: &str, targets: &[Target]) -> Outcome<f64> {
    let ask = |target: &Target| {
        snapshot.verdict(&Question {
            permissions: black_box(&[Permission::RunsView, Permission::TasksWork]),
            resource: black_box("workflow"),
            action: black_box(action),
            lists: false,
            target: black_box(target),
        })
    };
    let granted = targets.iter().filter(|target| ask(target) == Reason::Granted).count();
    if granted == 0 || (targets.len() > 1 && granted == targets.len()) {
        return Err("the decisions are not those of the grants".into());
    }
    let took = median_of(|| {
        for target in targets.iter().cycle().take(DECISIONS) {
            black_box(ask(target));
        }
        Ok(())
    })?;
    Ok(took / DECISIONS as f64)
}

/// CPU nanoseconds of some work, which each round does as often as it can; the median of all rounds.
fn median_of(mut work: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let (started, began) = (Instant::now(), thread_time()?);
        let mut times: u32 = 0;
        while started.elapsed() < ROUND {
            work()?;
            times += 1;
        }
        // The first round warms up.
        if round > 0 {
            rounds.push((thread_time()? - began) / f64::from(times));
        }
    }
    rounds.sort_by(f64::total_cmp);
    Ok(rounds.get(rounds.len() / 2).copied().unwrap_or(f64::NAN))
}

/// CPU nanoseconds of this thread so far.
fn thread_time() -> Outcome<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("no figure")?.parse()?)
}
