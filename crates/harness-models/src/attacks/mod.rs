//! Attacks on the gateway: bodies that are no questions, answers that are none, callers who go away, an organisation at
//! its limits beside an honest one, instructions within passages, and keys that must be seen nowhere.
//!
//! Whoever runs them brings two organisations, and judges what is told here: each attack gives one sentence for each thing
//! that is not as it must be, and how many things were looked at.

mod answers;
mod bodies;
mod fairness;
mod leaks;

use std::fmt::Display;
use std::time::Duration;

use anyhow::Result;
use heddle_harness_kit::http::{Answer, Caller};

use crate::mock::Mock;
use crate::place::Place;

pub use answers::{broken, gone};
pub use bodies::{hostile, injected};
pub use fairness::limited;
pub use leaks::leaky;

/// Ground of an attack.
#[derive(Debug)]
pub struct Ground {
    /// Provider that all connections lead to.
    pub mock: Mock,
    /// An owner of the attacked organisation.
    pub owner: Place,
    /// An owner of another one.
    pub other: Place,
    /// Time for which pressure is kept up.
    pub pressure: Duration,
    /// Suffix of names that is new for each attack.
    pub suffix: String,
}

/// Findings of an attack.
#[derive(Debug, Default)]
pub struct Told {
    /// One sentence for each thing that is not as it must be.
    pub broken: Vec<String>,
    /// Things that were looked at.
    pub looked: usize,
}

impl Told {
    fn must(&mut self, holds: bool, otherwise: impl Display) {
        self.looked += 1;
        if !holds {
            self.broken.push(otherwise.to_string());
        }
    }

    fn status(&mut self, what: impl Display, answer: &Result<Answer>, wanted: &[u16]) {
        match answer {
            Ok(answer) => self.must(
                wanted.contains(&answer.status),
                format_args!("{what}: {}, must be one of {wanted:?}", answer.status),
            ),
            Err(error) => self.must(false, format_args!("{what}: {error:#}")),
        }
    }
}

impl Ground {
    /// With callers of two organisations.
    ///
    /// # Errors
    /// When the mock does not start.
    pub fn new(owner: Caller, other: Caller, pressure: Duration, suffix: String) -> Result<Self> {
        Ok(Self { mock: Mock::start()?, owner: Place::of(owner), other: Place::of(other), pressure, suffix })
    }

    /// A connection of an organisation to the mock; its id.
    async fn connection(&self, of: &Place, key: &str) -> Result<String> {
        let name = format!("attack {}", self.suffix);
        of.connection(&name, "openai", &self.mock.base_url(), Some(key)).await
    }

    /// Alias for a model of this attack.
    fn alias(&self, model: &str) -> String {
        format!("{model}-{}", self.suffix)
    }
}
