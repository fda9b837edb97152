//! Budgets within a step: what is counted, and what an exceeded one stops.

use super::{Core, StepFault};
use crate::event::IncidentCode;
use crate::size::{self, Held};
use crate::{Command, LocalId, Rejection};
use heddle_bpmn_graph::Schedule;
use heddle_feel::{self as feel, LimitError};
use serde_json::{Map, Value};

/// A budget that does not allow what was to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exceeded {
    /// Name of the budget, as its documentation has it.
    pub budget: &'static str,
    /// The most that it allows.
    pub most: u64,
    /// Amount that it would have come to.
    pub value: u64,
}

impl Exceeded {
    fn over(budget: &'static str, value: u64, most: u64) -> Result<(), Self> {
        if value > most { Err(Self { budget, most, value }) } else { Ok(()) }
    }

    /// The budget that allows nothing more.
    fn reached(budget: &'static str, value: u64, most: u64) -> Option<Self> {
        (value >= most).then(|| Self { budget, most, value: value.max(most.saturating_add(1)) })
    }
}

impl std::fmt::Display for Exceeded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { budget, most, value } = self;
        write!(f, "the budget `{budget}` allows {most} and not {value}")
    }
}

impl From<Exceeded> for StepFault {
    fn from(exceeded: Exceeded) -> Self {
        Self::Incident(IncidentCode::Limit, exceeded.to_string())
    }
}

/// The incident of an evaluation that reached a limit: of the step, or, told by `otherwise`, its own.
pub(crate) fn reached(limit: LimitError, otherwise: impl FnOnce(LimitError) -> StepFault) -> StepFault {
    match limit {
        LimitError::Budget(most) => {
            let message = format!("the budget `steps` allows {most} and they are used up");
            StepFault::Incident(IncidentCode::Limit, message)
        }
        own => otherwise(own),
    }
}

/// Values that a node is about to leave behind.
pub(crate) struct Leaving<'v> {
    /// Bytes of the events that tell of them, beside that of the variables.
    pub told: u64,
    /// The node, when it keeps an output, and the bytes of that.
    pub output: Option<(LocalId, u64)>,
    /// The variables that are set.
    pub values: &'v Map<String, Value>,
}

impl Core<'_> {
    /// Bytes of this step's events so far.
    const fn told(&self) -> u64 {
        self.state.stored.saturating_sub(self.stored_before)
    }

    /// Bytes that events of this step may still have.
    pub(crate) fn room(&self) -> u64 {
        let step = self.cx.budget.event_bytes.saturating_sub(self.told());
        step.min(self.cx.budget.run_bytes.saturating_sub(self.state.stored))
    }

    /// The budget that lets no further token move, if there is one.
    pub(crate) fn spent(&self) -> Option<Exceeded> {
        let budget = &self.cx.budget;
        Exceeded::reached("activations", u64::from(self.activations), u64::from(budget.activations))
            .or_else(|| Exceeded::reached("eventBytes", self.told(), budget.event_bytes))
            .or_else(|| self.run_spent())
    }

    fn run_spent(&self) -> Option<Exceeded> {
        let budget = &self.cx.budget;
        Exceeded::reached("runEvents", self.state.sequence, budget.run_events)
            .or_else(|| Exceeded::reached("runBytes", self.state.stored, budget.run_bytes))
    }

    /// Whether the run has used up a budget of its own, so that nothing may repeat by itself.
    pub(crate) fn is_full(&self) -> bool {
        self.run_spent().is_some()
    }

    /// Checks that events with that many bytes of values fit.
    pub(crate) fn admit_told(&self, bytes: u64) -> Result<(), Exceeded> {
        let budget = &self.cx.budget;
        Exceeded::over("eventBytes", self.told() + bytes, budget.event_bytes)?;
        Exceeded::over("runBytes", self.state.stored + bytes, budget.run_bytes)
    }

    /// Checks that values which a node leaves behind in a scope fit: in the events, the variables and the state.
    pub(crate) fn admit(&mut self, scope: LocalId, leaving: &Leaving<'_>) -> Result<(), Exceeded> {
        let set = size::of_members(leaving.values);
        self.admit_told(leaving.told + set + 2 * size::EVENT)?;
        if set == 0 && leaving.output.is_none() {
            return Ok(());
        }
        let held = *self.held.get_or_insert_with(|| Held::of(&self.state));
        let replaced = self.replaced(scope, leaving.values);
        let variables = (held.variables + set).saturating_sub(replaced);
        let (given, before) = match leaving.output {
            Some((id, given)) => {
                let node = self.state.owner(id).map(|own| own.node);
                (given, node.map_or(0, |node| size::output_before(&self.state, node)))
            }
            None => (0, 0),
        };
        let outputs = (held.outputs + given).saturating_sub(before);
        let budget = &self.cx.budget;
        if set > replaced {
            Exceeded::over("variableBytes", variables, budget.variable_bytes)?;
        }
        let whole = variables + outputs + held.bodies + size::of_places(&self.state);
        Exceeded::over("snapshotBytes", whole, budget.snapshot_bytes)
    }

    /// Checks that variables which are about to be set in a scope fit.
    pub(crate) fn admit_own(&mut self, scope: LocalId, values: &Map<String, Value>) -> Result<(), Exceeded> {
        self.admit(scope, &Leaving { told: 0, output: None, values })
    }

    /// Checks that values which are kept beside the variables fit: in the events, with the variables, and in the state.
    pub(crate) fn admit_kept(&mut self, bytes: u64) -> Result<(), Exceeded> {
        self.admit_given(bytes, 0)
    }

    /// Checks that a value which an instance gives fits as [`Self::admit_kept`] does, beside those that its body has kept
    /// already: all of them become a variable.
    pub(crate) fn admit_given(&mut self, bytes: u64, before: u64) -> Result<(), Exceeded> {
        let all = bytes.saturating_add(before);
        self.admit_told(all.saturating_add(size::EVENT))?;
        let held = *self.held.get_or_insert_with(|| Held::of(&self.state));
        let budget = &self.cx.budget;
        Exceeded::over("variableBytes", held.variables.saturating_add(all), budget.variable_bytes)?;
        let whole = held.whole().saturating_add(bytes) + size::of_places(&self.state);
        Exceeded::over("snapshotBytes", whole, budget.snapshot_bytes)
    }

    /// Checks that the event of the run's end, which has the variables once more, fits into the step's.
    pub(crate) fn admit_end(&self) -> Result<(), Exceeded> {
        let output = self.state.variables().map_or(0, size::of_members);
        Exceeded::over("eventBytes", self.told() + output + size::EVENT, self.cx.budget.event_bytes)
    }

    /// Checks that one more message or signal may be thrown for the one that this step took.
    pub(crate) fn admit_hop(&self) -> Result<(), Exceeded> {
        let hop = u64::from(self.cx.hops) + 1;
        Exceeded::over("hops", hop, u64::from(self.cx.budget.hops))
    }

    /// Checks that a signal fits, with what it sets where the run itself listens for it.
    pub(crate) fn admit_signal(&mut self, name: &str, payload: &Value) -> Result<(), Exceeded> {
        let listens = |own: &&crate::state::SubscriptionState| {
            own.kind == crate::SubscriptionKind::Signal && *own.name == *name
        };
        let listeners = self.state.subscriptions.iter().filter(listens).count() as u64;
        let bytes = feel::size_of_json(payload);
        self.admit_told(bytes.saturating_mul(1 + 2 * listeners))?;
        if listeners == 0 {
            return Ok(());
        }
        let held = self.held.get_or_insert_with(|| Held::of(&self.state)).variables;
        let more = bytes.saturating_mul(listeners);
        Exceeded::over("variableBytes", held.saturating_add(more), self.cx.budget.variable_bytes)
    }

    /// Bytes of the values that would be overwritten.
    fn replaced(&self, scope: LocalId, values: &Map<String, Value>) -> u64 {
        let variables = self.variables(scope);
        let before = |name: &str| {
            let own = self.state.scope(variables.owner(name))?;
            Some(size::of_member(name, own.variables.get(name)?))
        };
        values.keys().filter_map(|name| before(name)).sum()
    }

    /// Checks what a command brings: what comes from outside is refused rather than kept as an incident.
    pub(crate) fn admit_command(&mut self, command: &Command) -> Result<(), Rejection> {
        let data = size::of_command(command);
        let brings = data > 0
            || matches!(
                command,
                Command::DeliverMessage { .. } | Command::DeliverSignal { .. } | Command::Move { .. }
            );
        if !brings {
            return Ok(());
        }
        if let Some(Exceeded { budget, most, .. }) = self.run_spent() {
            return Err(Rejection::Full { budget, most });
        }
        let most = self.cx.budget.variable_bytes;
        let held = self.held.get_or_insert_with(|| Held::of(&self.state)).variables;
        if held + data <= most {
            return Ok(());
        }
        let set = size::members_of(command);
        let replaced = set.map_or(0, |values| self.replaced(LocalId::ROOT, values));
        let value = (held + data).saturating_sub(replaced);
        if value <= most || data <= replaced {
            return Ok(());
        }
        Err(Rejection::TooLarge { budget: "variableBytes", most, value })
    }

    /// Counts the work of looking for a token, which grows with the number of those before it.
    pub(crate) fn charge_places(&self, places: usize) -> Result<(), LimitError> {
        if places < 8 { Ok(()) } else { self.steps.charge(places as u64 / 8) }
    }

    /// Checks that a cycle's slots are not too close to each other.
    pub(crate) fn admit_schedule(&self, schedule: &Schedule) -> Result<(), StepFault> {
        let least = self.cx.budget.least_period_millis;
        match schedule.period_millis() {
            Some(period) if period < least => {
                let message =
                    format!("the budget `leastPeriod` allows cycles of {least} ms and not of {period} ms");
                Err(StepFault::Incident(IncidentCode::Limit, message))
            }
            _ => Ok(()),
        }
    }
}
