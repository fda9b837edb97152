//! Lines and a table of what became of the attacks.

use std::time::Duration;

use heddle_harness_kit::out;
use heddle_harness_kit::server::Backend;

use super::Attack;
use super::judge::Judge;
use super::measure::Figures;

/// Complaints of one attack that are printed.
const TOLD: usize = 6;
/// Letters of a complaint that are printed.
const LETTERS: usize = 300;

/// Outcome of one attack.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// Name of the attack.
    pub name: &'static str,
    /// Finding that it proves.
    pub finding: &'static str,
    /// Complaints of what is not as it must be.
    pub broken: Vec<String>,
    /// Losses of the honest organisation.
    pub lost: Vec<String>,
    /// Whether the server lives.
    pub alive: bool,
    /// Times and memory.
    pub figures: Figures,
    took: Duration,
}

impl Outcome {
    /// Outcome by the attack's own judge alone.
    pub(crate) fn of(attack: &Attack, judge: Judge, took: Duration) -> Self {
        Self {
            name: attack.name,
            finding: attack.finding,
            broken: judge.broken,
            lost: Vec::new(),
            alive: false,
            figures: Figures::default(),
            took,
        }
    }

    /// Whether the attack was held off; `quick` leaves out what only a clock decides.
    pub(crate) fn holds(&self, quick: bool) -> bool {
        let firm = self.alive && self.broken.is_empty() && self.lost.is_empty();
        firm && (quick || self.figures.beyond().is_empty())
    }

    fn complaints(&self, quick: bool) -> Vec<String> {
        let mut all = self.broken.clone();
        all.extend(self.lost.iter().map(|what| format!("lost: {what}")));
        if !quick {
            all.extend(self.figures.beyond());
        }
        all
    }

    fn figures(&self) -> String {
        let time = |time: Option<Duration>| {
            time.map_or_else(|| "-".to_owned(), |time| format!("{:.1}", time.as_secs_f64() * 1_000.0))
        };
        let Figures { calls, sign_in, live, peak, rest } = &self.figures;
        let rest = rest.map_or_else(|| "-".to_owned(), |rest| rest.to_string());
        format!(
            "lost={} p99_ms={} sign_in_ms={} live_ms={} peak_mb={peak} rest_mb={rest} alive={} seconds={:.1}",
            self.lost.len(),
            time(*calls),
            time(*sign_in),
            time(*live),
            if self.alive { "yes" } else { "no" },
            self.took.as_secs_f64(),
        )
    }
}

/// Prints one attack's line, and what is not as it must be.
pub(crate) fn line(outcome: &Outcome, quick: bool) {
    let word = if outcome.holds(quick) { "held" } else { "BROKEN" };
    out::line(format_args!("{word:6} {:26} {:5} {}", outcome.name, outcome.finding, outcome.figures()));
    let complaints = outcome.complaints(quick);
    for complaint in complaints.iter().take(TOLD) {
        let short: String = complaint.chars().take(LETTERS).collect();
        out::line(format_args!("       {short}"));
    }
    if complaints.len() > TOLD {
        out::line(format_args!("       and {} more", complaints.len() - TOLD));
    }
}

/// Prints the table of all.
pub(crate) fn table(outcomes: &[Outcome], backend: Backend) {
    let held = outcomes.iter().filter(|outcome| outcome.holds(true)).count();
    let within = outcomes.iter().filter(|outcome| outcome.holds(false)).count();
    out::line("\nattack                     finding status memory_mb result");
    for outcome in outcomes {
        let firm = if outcome.holds(true) { "held" } else { "broken" };
        let bars = if outcome.figures.beyond().is_empty() { "within" } else { "beyond" };
        out::line(format_args!(
            "{:26} {:7} {firm:6} {:9} {bars} the bars",
            outcome.name, outcome.finding, outcome.figures.peak
        ));
    }
    out::line(format_args!(
        "backend={} attacks={} held={held} broken={} within_bars={within}",
        backend.name(),
        outcomes.len(),
        outcomes.len() - held,
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(alive: bool, broken: usize, peak: u64) -> Outcome {
        Outcome {
            name: "an-attack",
            finding: "H1",
            broken: vec!["200".to_owned(); broken],
            lost: Vec::new(),
            alive,
            figures: Figures { peak, ..Figures::default() },
            took: Duration::ZERO,
        }
    }

    #[test]
    fn a_quick_run_leaves_out_the_bars_and_nothing_else() {
        for (found, quick, whole) in [
            (outcome(true, 0, 50), true, true),
            (outcome(true, 0, 5_000), true, false),
            (outcome(true, 1, 50), false, false),
            (outcome(false, 0, 50), false, false),
        ] {
            assert_eq!((found.holds(true), found.holds(false)), (quick, whole), "{found:?}");
        }
    }
}
