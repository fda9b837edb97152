//! Usage: what each call took, sums over calls, budgets and what is set aside of them.

use std::borrow::Cow;

use heddle_kernel::{
    ModelConnectionId, ModelDeploymentId, TenantId, Timestamp, UserId, WorkflowId, literals,
};
use heddle_usecase::Journal;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

literals! {
    /// Period of a budget, in UTC.
    pub enum BudgetPeriod {
        /// A day.
        Day = "day",
        /// A month of the calendar.
        Month = "month",
    }

    /// Outcome of a call.
    pub enum CallOutcome {
        /// Call that was answered to its end.
        Completed = "completed",
        /// Call whose caller went away.
        Aborted = "aborted",
        /// Call that failed.
        Failed = "failed",
    }

    /// Axis along which usage is summed.
    pub enum UsageAxis {
        /// Sums of days.
        Day = "day",
        /// Sums of deployments.
        Deployment = "deployment",
        /// Sums of users.
        User = "user",
        /// Sums of workflows.
        Workflow = "workflow",
    }
}

/// The most that may be spent in a period; none is no bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// The period.
    pub period: BudgetPeriod,
    /// Costs in millionths of a unit of the prices' currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<i64>,
    /// Tokens, question and answer together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<i64>,
}

/// Holder of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BudgetScope {
    /// The organisation: all of its calls.
    Organisation,
    /// A deployment.
    Deployment(ModelDeploymentId),
}

impl BudgetScope {
    /// The id under which it is kept: that of the deployment; of the organisation the nil one.
    #[must_use]
    pub const fn id(self) -> Uuid {
        match self {
            Self::Organisation => Uuid::nil(),
            Self::Deployment(id) => id.0,
        }
    }
}

/// A budget that a call must fit into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cap {
    /// Holder of the budget.
    pub scope: BudgetScope,
    /// First instant of the present period.
    pub period_start: Timestamp,
    /// Costs that may be spent.
    pub cost_micros: Option<i64>,
    /// Tokens that may be used.
    pub tokens: Option<i64>,
}

/// Amounts that a call sets aside of budgets before it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reservation {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the reservation.
    pub id: Uuid,
    /// Budgets that it is set aside of: all or none.
    pub caps: Vec<Cap>,
    /// Costs that the call has at most.
    pub cost_micros: i64,
    /// Tokens that it takes at most.
    pub tokens: i64,
    /// Instant of the reservation.
    pub at: Timestamp,
    /// Instant after which it is given back when nobody settled it: its process is gone.
    pub expires_at: Timestamp,
}

/// Tokens of a call. Those that the provider had kept are part of the input, those of reasoning of the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallTokens {
    /// Tokens of the question.
    pub input: i64,
    /// Tokens of the answer.
    pub output: i64,
    /// Part of the input that the provider had kept.
    pub cached: i64,
    /// Part of the output that is reasoning.
    pub reasoning: i64,
}

impl CallTokens {
    /// All of them, each once.
    #[must_use]
    pub const fn total(self) -> i64 {
        self.input.saturating_add(self.output)
    }
}

/// Record of a call: no prompt, no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// The organisation.
    pub tenant: TenantId,
    /// Id of the call.
    pub id: Uuid,
    /// Instant at which it ended.
    pub at: Timestamp,
    /// The user in whose name it was made.
    pub principal: UserId,
    /// The deployment that answered, or was asked last.
    pub deployment: ModelDeploymentId,
    /// The deployment that the caller named; the same unless a fallback was asked.
    pub requested: ModelDeploymentId,
    /// The connection over which it went.
    pub connection: ModelConnectionId,
    /// The workflow that made it, if one did.
    pub workflow: Option<WorkflowId>,
    /// The request that it belongs to.
    pub request_id: String,
    /// Operation: `chat`, `embeddings`, `rerank`.
    pub operation: Cow<'static, str>,
    /// Revision of the model, where it is known.
    pub model_revision: Option<String>,
    /// Tokens.
    pub tokens: CallTokens,
    /// Whether the tokens are an estimate, since the provider told none.
    pub estimated: bool,
    /// Costs in millionths of a unit of the currency.
    pub cost_micros: i64,
    /// Number of the prices' table; none without prices.
    pub price_version: Option<u32>,
    /// Milliseconds until the first piece; none where none came.
    pub first_token_ms: Option<i64>,
    /// Milliseconds of the whole.
    pub total_ms: i64,
    /// Exchanges with providers that it took, at least 0.
    pub attempts: i64,
    /// Outcome of the call.
    pub outcome: CallOutcome,
    /// Word of the failure, where it failed: `rateLimited`, `timeout`, ...
    pub fault: Option<Cow<'static, str>>,
}

/// The end of a call: its row, the reservation that it settles, and what tells of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// Record of the call.
    pub usage: UsageRow,
    /// The budgets that the call counts towards, with what was set aside.
    pub reservation: Option<Reservation>,
    /// The audit event, and the answer for repeats, where there is one.
    pub journal: Journal,
}

/// Sums over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageSums {
    /// Number of calls.
    pub calls: i64,
    /// Number of those that failed.
    pub failed: i64,
    /// Number of those whose caller went away.
    pub aborted: i64,
    /// Tokens.
    pub tokens: CallTokens,
    /// Costs in millionths of a unit of the currency.
    pub cost_micros: i64,
    /// Milliseconds of all calls together.
    pub total_ms: i64,
}

impl UsageSums {
    /// Adds a call.
    pub fn add(&mut self, row: &UsageRow) {
        self.calls += 1;
        self.failed += i64::from(row.outcome == CallOutcome::Failed);
        self.aborted += i64::from(row.outcome == CallOutcome::Aborted);
        self.tokens.input = self.tokens.input.saturating_add(row.tokens.input);
        self.tokens.output = self.tokens.output.saturating_add(row.tokens.output);
        self.tokens.cached = self.tokens.cached.saturating_add(row.tokens.cached);
        self.tokens.reasoning = self.tokens.reasoning.saturating_add(row.tokens.reasoning);
        self.cost_micros = self.cost_micros.saturating_add(row.cost_micros);
        self.total_ms = self.total_ms.saturating_add(row.total_ms);
    }
}

/// Thing over whose calls is summed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageKey {
    /// A day, as `2026-11-23`.
    Day(String),
    /// A thing by its id.
    Id(Uuid),
}

/// Sums over the calls of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageTotal {
    /// The thing.
    pub key: UsageKey,
    /// The sums.
    pub sums: UsageSums,
}
