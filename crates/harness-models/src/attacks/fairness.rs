//! An organisation at its limits beside an honest one.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

use super::{Ground, Told};
use crate::doors::{DOORS, Door, OWN};
use crate::place::Place;

/// Callers of the flood.
const FLOOD: usize = 32;
/// Longest time that an honest call may take meanwhile, at its slowest twentieth: the model itself takes 20 ms.
const HONEST: Duration = Duration::from_secs(5);

/// Floods a deployment with limits of its own, and has an honest organisation ask the same provider all the while.
///
/// # Errors
/// When the ground cannot be prepared.
pub async fn limited(ground: &Ground) -> Result<Told> {
    let mut told = Told::default();
    let flooded = ground.connection(&ground.owner, "sk-attack").await?;
    let limits = json!({"limits": {"requestsPerMinute": 60, "concurrency": 2, "queueTimeoutMs": 200}});
    let alias = ground.alias("slow-200");
    let deployment = ground.owner.deployment(&flooded, &alias, "slow-200", &limits).await?;
    let honest = ground.connection(&ground.other, "sk-honest").await?;
    let calm = ground.alias("slow-20");
    ground.other.deployment(&honest, &calm, "slow-20", &json!({})).await?;
    ground.mock.seen().take_most_open();
    let end = Instant::now() + ground.pressure;
    // By each door in turn: what is limited is the deployment.
    let floods: Vec<_> = DOORS
        .into_iter()
        .cycle()
        .take(FLOOD)
        .map(|door| tokio::spawn(flood(ground.owner.clone(), door, alias.clone(), end)))
        .collect();
    let mut times = Vec::new();
    while Instant::now() < end {
        let began = Instant::now();
        let answer = ground.other.post(OWN.path, &OWN.question(&calm, "Hello?")).await;
        told.status("an honest call", &answer, &[200]);
        times.push(began.elapsed());
    }
    let (mut good, mut limited, mut others) = (0_u64, 0_u64, Vec::new());
    for flood in floods {
        let own = flood.await?;
        good += own.good;
        limited += own.limited;
        others.extend(own.others);
    }
    times.sort_unstable();
    let slow = times.get(times.len().saturating_sub(1) * 95 / 100).copied().unwrap_or_default();
    told.must(slow < HONEST, format_args!("an honest call takes {slow:?}"));
    told.must(others.is_empty(), format_args!("{} other answers, as {:?}", others.len(), others.first()));
    told.must(limited > 0 && good > 0, format_args!("{good} answered, {limited} limited"));
    // As many as may come at once, and those of the time itself.
    let most = 60 + ground.pressure.as_secs() + 2;
    told.must(good <= most, format_args!("{good} calls were answered of {most} a minute"));
    // Two of the flood, and the honest one.
    let open = ground.mock.seen().take_most_open();
    told.must(open <= 3, format_args!("{open} calls were under way at a time"));
    // Refused calls are counted, too, and there are many more of them.
    let answered = ground.owner.answers_come_to(&deployment, good).await?.answered();
    told.must(answered == good, format_args!("{answered} calls are counted of {good}"));
    Ok(told)
}

#[derive(Default)]
struct Flood {
    good: u64,
    limited: u64,
    others: Vec<String>,
}

async fn flood(place: Place, door: Door, alias: String, end: Instant) -> Flood {
    let mut own = Flood::default();
    while Instant::now() < end {
        match place.post(door.path, &door.question(&alias, "Hello?")).await {
            Ok(answer) if answer.status == 200 => own.good += 1,
            Ok(answer) if answer.status == 429 => {
                own.limited += 1;
                if answer.header("retry-after").is_empty() {
                    own.others.push(format!("429 without Retry-After by {}", door.path));
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(answer) => own.others.push(format!("{}: {} {}", door.path, answer.status, answer.text())),
            Err(error) => own.others.push(format!("{}: {error:#}", door.path)),
        }
    }
    own
}
