//! Times and memory of an attack, and what they are held against.

use std::time::{Duration, Instant};

/// Longest 99th percentile of the honest organisation's calls.
pub(crate) const CALLS: Duration = Duration::from_millis(250);
/// Longest sign-in.
pub(crate) const SIGN_IN: Duration = Duration::from_secs(1);
/// Longest answer of `/health/live`.
pub(crate) const LIVE: Duration = Duration::from_millis(100);
/// Most resident memory in MB during an attack.
pub(crate) const PEAK_MB: u64 = 600;
/// Most resident memory in MB a minute after an attack on memory.
pub(crate) const REST_MB: u64 = 150;

/// A call: its begin, and the time it took.
pub(crate) type Sample = (Instant, Duration);

/// A stretch of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// Begin of the stretch.
    pub from: Instant,
    /// End of the stretch.
    pub until: Instant,
}

/// Figures of one attack.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    /// 99th percentile of the honest calls: the median of three parts of the attack.
    pub calls: Option<Duration>,
    /// Sign-in, likewise.
    pub sign_in: Option<Duration>,
    /// `/health/live`, likewise.
    pub live: Option<Duration>,
    /// Most resident memory in MB.
    pub peak: u64,
    /// Resident memory in MB afterwards, where the attack is about memory.
    pub rest: Option<u64>,
}

impl Figures {
    /// One sentence for each bar that does not hold.
    pub(crate) fn beyond(&self) -> Vec<String> {
        let mut beyond = Vec::new();
        for (what, found, bar) in [
            ("the honest calls' p99", self.calls, CALLS),
            ("sign-in", self.sign_in, SIGN_IN),
            ("/health/live", self.live, LIVE),
        ] {
            if let Some(found) = found.filter(|found| *found > bar) {
                beyond.push(format!("{what}: {} ms, may be {}", found.as_millis(), bar.as_millis()));
            }
        }
        if self.peak > PEAK_MB {
            beyond.push(format!("resident memory: {} MB, may be {PEAK_MB}", self.peak));
        }
        if let Some(rest) = self.rest.filter(|rest| *rest > REST_MB) {
            beyond.push(format!("resident memory a minute later: {rest} MB, may be {REST_MB}"));
        }
        beyond
    }
}

/// The median over three equal parts of a time of a part's percentile; parts without a sample do not count.
pub(crate) fn of_three(
    samples: &[Sample],
    Window { from, until }: Window,
    percentile: usize,
) -> Option<Duration> {
    let part = until.saturating_duration_since(from) / 3;
    let mut parts: Vec<Duration> = (0..3)
        .filter_map(|number| {
            let (begin, end) = (from + part * number, from + part * (number + 1));
            let last = number == 2;
            let within = samples.iter().filter(|(at, _)| *at >= begin && (*at < end || last && *at <= until));
            quantile(within.map(|(_, took)| *took).collect(), percentile)
        })
        .collect();
    parts.sort_unstable();
    parts.get(parts.len() / 2).copied()
}

/// A percentile; none of nothing.
fn quantile(mut times: Vec<Duration>, percentile: usize) -> Option<Duration> {
    times.sort_unstable();
    let place = (times.len() * percentile).div_ceil(100).saturating_sub(1);
    times.get(place).copied()
}

/// Resident memory of a process in MB that is its own; 0 when it is gone. Pages of the database's file that it has looked at
/// are not: the system takes them back as it needs them.
pub(crate) fn resident_mb(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or_default();
    let kilobytes = line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
    kilobytes.unwrap_or_default().div_ceil(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_three_parts_passes_over_one_slow_part() {
        let from = Instant::now();
        let at = |second: u64, milliseconds: u64| {
            (from + Duration::from_secs(second), Duration::from_millis(milliseconds))
        };
        let samples = [at(0, 10), at(1, 20), at(4, 900), at(7, 30), at(8, 5)];
        let window = Window { from, until: from + Duration::from_secs(9) };
        assert_eq!(of_three(&samples, window, 100), Some(Duration::from_millis(30)));
        assert_eq!(of_three(&[], window, 99), None);
        assert_eq!(of_three(&samples[..1], window, 99), Some(Duration::from_millis(10)));
    }

    #[test]
    fn a_percentile_is_a_sample() {
        let times: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(quantile(times.clone(), 99), Some(Duration::from_millis(198)));
        assert_eq!(quantile(times, 100), Some(Duration::from_millis(200)));
        assert_eq!(quantile(Vec::new(), 99), None);
    }

    #[test]
    fn what_is_beyond_a_bar_is_told() {
        let good = Figures { calls: Some(CALLS), peak: PEAK_MB, rest: Some(REST_MB), ..Figures::default() };
        assert!(good.beyond().is_empty());
        let bad = Figures {
            live: Some(LIVE * 2),
            peak: PEAK_MB + 1,
            rest: Some(REST_MB + 1),
            ..Figures::default()
        };
        assert_eq!(bad.beyond().len(), 3);
    }

    #[test]
    fn this_process_takes_memory_and_one_that_is_not_there_takes_none() {
        assert!(resident_mb(std::process::id()) > 0);
        assert_eq!(resident_mb(u32::MAX), 0);
    }
}
