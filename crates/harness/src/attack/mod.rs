//! Attacks on a started server with two organisations: one is attacked, the other works honestly all the while. Each
//! proved finding is an attack, and so is what was attacked and held.

mod audit;
mod authorization;
mod background;
mod cases;
mod clock;
mod edge;
mod engine;
mod files;
mod gateway;
mod held;
mod honest;
mod judge;
mod measure;
mod models;
mod outside;
mod person;
mod place;
mod raw;
mod receivers;
mod report;
mod rights;
mod rounds;
mod runner;
mod scene;
mod sign_in;
mod sse;
mod streams;
mod vectors;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;

use heddle_harness_kit::out;
use heddle_harness_kit::server::{self, Backend, Build};

use judge::Judge;
use place::Place;
use scene::Scene;

/// Time for which pressure is kept up in `--quick`.
const QUICK_SECONDS: u64 = 2;

#[derive(Args)]
pub(crate) struct Options {
    /// Only attacks whose name or finding is this, or whose name begins so; several with commas.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The database under the server.
    #[arg(long, value_enum, default_value = "sqlite")]
    backend: Backend,
    /// Seconds for which pressure is kept up.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// The program to attack; otherwise it is built, optimised unless `--quick`.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Shortens every attack and judges only what no clock decides: alive, nothing lost, the right statuses.
    #[arg(long)]
    quick: bool,
    /// Lists the attacks.
    #[arg(long)]
    list: bool,
}

/// Work of an attack.
type Deed = for<'a> fn(&'a Scene, &'a mut Judge) -> Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// One attack.
pub(crate) struct Attack {
    /// Name, for `--only`.
    name: &'static str,
    /// The finding that it proves, or `held` for what was attacked and held.
    finding: &'static str,
    /// Deed in one sentence.
    does: &'static str,
    /// State that must be so afterwards.
    after: &'static str,
    /// The server that it needs.
    place: Place,
    /// Whether the memory must be given back afterwards.
    memory: bool,
    /// The deed.
    run: Deed,
}

/// Every attack, by theme.
fn all() -> impl Iterator<Item = &'static Attack> {
    [
        authorization::ATTACKS,
        sign_in::ATTACKS,
        audit::ATTACKS,
        held::ATTACKS,
        edge::ATTACKS,
        streams::ATTACKS,
        background::ATTACKS,
        engine::ATTACKS,
        cases::ATTACKS,
        files::ATTACKS,
        outside::ATTACKS,
        receivers::ATTACKS,
        clock::ATTACKS,
        vectors::ATTACKS,
        gateway::ATTACKS,
    ]
    .into_iter()
    .flatten()
}

/// Runs the attacks; `false` when one of them came through.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let wanted = |attack: &&Attack| {
        let named = |only: &String| attack.name.starts_with(only.as_str()) || attack.finding == only;
        options.only.is_empty() || options.only.iter().any(named)
    };
    let attacks: Vec<&'static Attack> = all().filter(wanted).collect();
    if attacks.is_empty() {
        bail!("no attack has that name; --list lists them");
    }
    if options.list {
        for attack in attacks {
            out::line(format_args!(
                "{:26} {:5} {} -> {}",
                attack.name, attack.finding, attack.does, attack.after
            ));
        }
        return Ok(true);
    }
    let binary = match &options.binary {
        Some(path) => std::path::absolute(path)?,
        None => server::binary(if options.quick { Build::Debug } else { Build::Release })?,
    };
    let postgres = server::postgres_for(options.backend)?;
    let seconds = if options.quick { QUICK_SECONDS.min(options.seconds) } else { options.seconds };
    let runner =
        runner::Runner { binary, postgres, pressure: Duration::from_secs(seconds), quick: options.quick };
    let outcomes = runner.run(&attacks).await?;
    report::table(&outcomes, options.backend);
    Ok(outcomes.iter().all(|outcome| outcome.holds(options.quick)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_attack_has_a_name_of_its_own_and_says_what_it_does() {
        let names: BTreeSet<&str> = all().map(|attack| attack.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.len() >= 40, "{}", names.len());
        for attack in all() {
            assert!(!attack.does.is_empty() && !attack.after.is_empty(), "{}", attack.name);
            assert!(
                attack
                    .name
                    .chars()
                    .all(|letter| letter.is_ascii_lowercase() || letter == '-' || letter.is_ascii_digit())
            );
        }
    }

    #[test]
    fn every_proved_finding_is_an_attack() {
        let shown: BTreeSet<&str> = all().map(|attack| attack.finding).collect();
        for finding in [
            "C1", "C2", "C3", "H1", "H2", "H3", "H4", "H5", "H6", "M1", "M2", "M3", "M4", "M5", "M6", "M7",
            "M8", "M9", "M10", "L1", "L2", "L5", "L6", "L9", "L10", "L11", "L13", "L14", "held",
        ] {
            assert!(shown.contains(finding), "{finding}");
        }
    }
}
