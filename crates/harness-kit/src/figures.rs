//! Figures, one a line, each with its unit.

#![expect(clippy::indexing_slicing, reason = "positions were found in the same buffer")]

use std::fmt;
use std::time::Duration;

/// One measured value.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The database under the server.
    pub backend: &'static str,
    /// Program that was measured, where several are compared.
    pub build: Option<String>,
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
        write!(out, "backend={}", self.backend)?;
        if let Some(build) = &self.build {
            write!(out, " build={build}")?;
        }
        write!(out, " figure={}", self.name)?;
        if let Some(callers) = self.callers {
            write!(out, " callers={callers}")?;
        }
        let digits = if self.value.abs() < 10.0 { 3 } else { 1 };
        write!(out, " value={:.digits$} unit={}", self.value, self.unit)
    }
}

/// Medians of what was measured several times, in the order in which it was first; beside each of a further build, how
/// many times the first build's it is.
pub fn medians(all: &[Figure]) -> Vec<String> {
    let same = |one: &Figure, other: &Figure| {
        (one.backend, &one.build, &one.name, one.callers)
            == (other.backend, &other.build, &other.name, other.callers)
    };
    let first = |place: usize| !all[..place].iter().any(|before| same(before, &all[place]));
    let median = |figure: &Figure| {
        let mut values: Vec<f64> = all.iter().filter(|one| same(one, figure)).map(|one| one.value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let told = (0..all.len()).filter(|place| first(*place)).map(|place| {
        let figure = Figure { value: median(&all[place]), ..all[place].clone() };
        let reference = all.iter().find(|one| {
            one.build != figure.build
                && (one.backend, &one.name, one.callers) == (figure.backend, &figure.name, figure.callers)
        });
        match reference.filter(|one| all[0].build == one.build) {
            Some(reference) => format!("median {figure} times={:.2}", figure.value / median(reference)),
            None => format!("median {figure}"),
        }
    });
    told.collect()
}

/// Latencies of one measurement.
#[derive(Debug, Default)]
pub struct Latencies(Vec<u32>);

impl Latencies {
    /// Adds one.
    pub fn add(&mut self, latency: Duration) {
        self.0.push(u32::try_from(latency.as_micros()).unwrap_or(u32::MAX));
    }

    /// Adds another caller's.
    pub fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Number of latencies.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts them in order for [`Self::percentile`].
    pub fn sort(&mut self) {
        self.0.sort_unstable();
    }

    /// Milliseconds that the share (0 to 1) of the calls stayed within, by nearest rank; sort first.
    pub fn percentile(&self, share: f64) -> f64 {
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
            build: None,
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

    #[test]
    fn builds_are_compared_by_their_medians() {
        let figure = |build: &str, value| Figure {
            backend: "sqlite",
            build: Some(build.to_owned()),
            name: "starts".to_owned(),
            callers: Some(1),
            value,
            unit: "starts/s",
        };
        let all = [("old", 10.0), ("new", 60.0), ("old", 20.0), ("new", 30.0), ("old", 90.0), ("new", 50.0)];
        let all: Vec<Figure> = all.into_iter().map(|(build, value)| figure(build, value)).collect();
        let told = medians(&all);
        assert_eq!(
            told,
            [
                "median backend=sqlite build=old figure=starts callers=1 value=20.0 unit=starts/s",
                "median backend=sqlite build=new figure=starts callers=1 value=50.0 unit=starts/s times=2.50",
            ]
        );
    }
}
