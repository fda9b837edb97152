//! Calls of models under kills: each acknowledged one counts once, none twice, and what a dead process had set aside of a
//! budget comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use heddle_harness_kit::client::Client;
use heddle_harness_kit::out;
use heddle_harness_kit::server::Server;
use heddle_harness_models::crash::{Calls, Found, Ledger};
use tokio::sync::watch;

use super::{Address, Options, kills};

/// Callers at the same time when nothing else is said.
const CALLERS: usize = 16;

/// Runs the test; `false` when a call is lost or counted twice.
pub(super) async fn run(options: &Options, seed: u64, mut server: Server, client: Client) -> Result<bool> {
    let token = client.token();
    let calls = Calls::prepare(&client).await?;
    let (address, receiver): (Address, _) = watch::channel(Some(Arc::new(client)));
    let stop = Arc::new(AtomicBool::new(false));
    let count = options.callers.unwrap_or(CALLERS);
    let callers = calls.start(count, &receiver, &stop, options.pause_ms, seed);
    kills(&mut server, options, &address, seed, &token).await?;
    stop.store(true, Ordering::Relaxed);
    let mut ledger = Ledger::default();
    for caller in callers {
        ledger.add(caller.await.context("a caller broke off")?);
    }
    let client = Client::with_token(&server.facts().address, &token)?;
    let found = calls.check(&client, &ledger).await?;
    let held = calls.hold(&client).await?;
    server.kill().await?;
    for call in held {
        call.await.context("a held call broke off")?;
    }
    server.launch().await.context("the restart after the last kill")?;
    let client = Client::with_token(&server.facts().address, &token)?;
    let back = calls.comes_back(&client).await?;
    server.stop().await?;
    out::line(format_args!("budget free again after {:.1} s", back.as_secs_f64()));
    Ok(report(options, seed, &ledger, &found))
}

fn report(options: &Options, seed: u64, ledger: &Ledger, found: &Found) -> bool {
    ledger.unexpected.iter().take(20).for_each(out::line);
    out::line(format_args!(
        "backend={} seed={seed} kills={} acknowledged={} unknown={} counted={} lost={} doubled={} unexpected={}",
        options.backend.name(),
        options.kills,
        ledger.acknowledged,
        ledger.unknown,
        found.counted,
        found.lost,
        found.doubled,
        ledger.unexpected.len(),
    ));
    ledger.acknowledged > 0 && ledger.unexpected.is_empty() && found.clean()
}
