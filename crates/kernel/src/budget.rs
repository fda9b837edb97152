//! Budgets of runs and cases: how much one step and one instance may do.

/// Budgets of a step and of a run. They count steps, values' bytes and events and never time, so that what happens
/// depends on the model and its data alone. What exceeds one is an incident `LIMIT`.
///
/// Bytes are estimates: 16 for each value and the length of each text and name, 160 for an event beside its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Evaluation steps of all expressions and decisions of one step of the run, and of looking for tokens.
    pub steps: u64,
    /// Node activations of one step of the run.
    pub activations: u32,
    /// Bytes of the events of one step of the run.
    pub event_bytes: u64,
    /// Bytes of all variables of a run at a time.
    pub variable_bytes: u64,
    /// Bytes of a run's state at a time: variables, outputs of nodes, tokens.
    pub snapshot_bytes: u64,
    /// Events of a run from its start on.
    pub run_events: u64,
    /// Bytes of the events of a run from its start on.
    pub run_bytes: u64,
    /// Messages and signals thrown one for another, each in the step that took the one before.
    pub hops: u32,
    /// The least distance of two slots of a cycle, in milliseconds.
    pub least_period_millis: i64,
}

impl Budget {
    /// The default budgets.
    pub const DEFAULT: Self = Self {
        steps: 30_000_000,
        activations: 50_000,
        event_bytes: 64 << 20,
        variable_bytes: 16 << 20,
        snapshot_bytes: 40 << 20,
        run_events: 1_000_000,
        run_bytes: 512 << 20,
        hops: 100,
        least_period_millis: 1_000,
    };

    /// The budgets with their names, in the order of their documentation.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 9] {
        [
            ("steps", self.steps),
            ("activations", u64::from(self.activations)),
            ("eventBytes", self.event_bytes),
            ("variableBytes", self.variable_bytes),
            ("snapshotBytes", self.snapshot_bytes),
            ("runEvents", self.run_events),
            ("runBytes", self.run_bytes),
            ("hops", u64::from(self.hops)),
            ("leastPeriod", u64::try_from(self.least_period_millis).unwrap_or(0)),
        ]
    }

    /// The same with another value for the budget of that name; none when there is no such budget, or it cannot have
    /// that value.
    #[must_use]
    pub fn with(mut self, name: &str, value: u64) -> Option<Self> {
        let small = u32::try_from(value).ok();
        match name {
            "steps" => self.steps = value,
            "activations" => self.activations = small?,
            "eventBytes" => self.event_bytes = value,
            "variableBytes" => self.variable_bytes = value,
            "snapshotBytes" => self.snapshot_bytes = value,
            "runEvents" => self.run_events = value,
            "runBytes" => self.run_bytes = value,
            "hops" => self.hops = small?,
            "leastPeriod" => self.least_period_millis = i64::from(small?),
            _ => return None,
        }
        (value > 0).then_some(self)
    }

    /// These budgets, but no more in one step than that.
    #[must_use]
    pub fn at_most(self, inline: Inline) -> Self {
        Self {
            steps: self.steps.min(inline.steps),
            activations: self.activations.min(inline.activations),
            event_bytes: self.event_bytes.min(inline.bytes),
            ..self
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Size of a step that is small enough to be taken where it is asked for, rather than on threads for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inline {
    /// Evaluation steps, as [`Budget::steps`] counts them.
    pub steps: u64,
    /// Node activations.
    pub activations: u32,
    /// Bytes of the command's data, of the state's, and of the events, each by itself.
    pub bytes: u64,
}

impl Inline {
    /// The default: a step of about a millisecond at most. State and command are copied for the attempt, so that few bytes
    /// of them are.
    pub const DEFAULT: Self = Self { steps: 20_000, activations: 500, bytes: 64 << 10 };
}

impl Default for Inline {
    fn default() -> Self {
        Self::DEFAULT
    }
}
