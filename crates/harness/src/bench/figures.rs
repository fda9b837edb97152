//! Figures, one a line, each with its unit.

#![expect(clippy::indexing_slicing, reason = "positions were found in the same buffer")]

use std::fmt;
use std::time::Duration;

/// One measured value.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// The database under the server.
    pub backend: &'static str,
    /// Name of the measurement.
    pub name: String,
    /// Callers at the same time, where that matters.
    pub callers: Option<usize>,
    /// The value.
    pub value: f64,
    /// Unit of the value.
    pub unit: &'static str,
}

impl fmt::Display for Figure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "backend={} figure={}", self.backend, self.name)?;
        if let Some(callers) = self.callers {
            write!(out, " callers={callers}")?;
        }
        let digits = if self.value.abs() < 10.0 { 3 } else { 1 };
        write!(out, " value={:.digits$} unit={}", self.value, self.unit)
    }
}

/// Latencies of one measurement.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Vec<u32>);

impl Latencies {
    /// Adds one.
    pub(crate) fn add(&mut self, latency: Duration) {
        self.0.push(u32::try_from(latency.as_micros()).unwrap_or(u32::MAX));
    }

    /// Adds another caller's.
    pub(crate) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Number of latencies.
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Puts them in order for [`Self::percentile`].
    pub(crate) fn sort(&mut self) {
        self.0.sort_unstable();
    }

    /// Milliseconds that the share (0 to 1) of the calls stayed within, by nearest rank; sort first.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        if self.0.is_empty() {
            return f64::NAN;
        }
        let rank = (share * self.0.len() as f64).ceil() as usize;
        f64::from(self.0[rank.clamp(1, self.0.len()) - 1]) / 1_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_by_nearest_rank() {
        let mut latencies = Latencies::default();
        assert!(latencies.percentile(0.5).is_nan());
        for millis in (1..=100).rev() {
            latencies.add(Duration::from_millis(millis));
        }
        latencies.sort();
        assert_eq!(latencies.len(), 100);
        for (share, expected) in [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0), (0.0, 1.0)] {
            assert!((latencies.percentile(share) - expected).abs() < f64::EPSILON, "{share}");
        }
    }

    #[test]
    fn a_figure_is_one_line_with_its_unit() {
        let mut figure = Figure {
            backend: "sqlite",
            name: "starts".to_owned(),
            callers: Some(64),
            value: 2_345.67,
            unit: "starts/s",
        };
        assert_eq!(figure.to_string(), "backend=sqlite figure=starts callers=64 value=2345.7 unit=starts/s");
        figure.callers = None;
        figure.value = 0.25;
        assert_eq!(figure.to_string(), "backend=sqlite figure=starts value=0.250 unit=starts/s");
    }
}
