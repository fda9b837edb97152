//! The tables of models: one list of columns for each, from which table, row and changes come (`docs/STORAGE.md`).
//! Conversions to and from records are in `rows`.

use heddle_store::{At, Id, Migration, migrations, row};

use crate::words::{AxisWord, KindWord, OutcomeWord, StateWord};

/// The migrations of the tables of models.
pub const MIGRATIONS: &[Migration] = migrations![
    "20261127000100_models_deployments",
    "20261127000110_models_usage",
    "20261129000320_models_budgets"
];

row! {
    /// Number of an organisation's last change of connections or deployments, and the number of its deployments.
    pub(crate) model_heads (organization_id) => HeadRow {
        key   organization_id: [DbUuid] Id,
        alone version: [BigInt] i64,
        alone deployments: [BigInt] i64,
    }
}

row! {
    /// A connection to a provider of models.
    pub(crate) model_connections (organization_id, id) => ConnectionRow changes (ConnectionChange) {
        key   organization_id: [DbUuid] Id,
        key   id: [DbUuid] Id,
        each  name: [Text] String,
        once  kind: [Text] KindWord,
        once  is_local: [Bool] bool,
        each  settings: [Binary] Vec<u8>,
        each  api_key: [Nullable<Binary>] Option<Vec<u8>>,
        each  timeouts: [Binary] Vec<u8>,
        each  limits: [Binary] Vec<u8>,
        each  enabled: [Bool] bool,
        each  revision: [BigInt] i64,
        alone last_test: [Nullable<Binary>] Option<Vec<u8>>,
        alone tested_at: [Nullable<DbInstant>] Option<At>,
        alone discovered_at: [Nullable<DbInstant>] Option<At>,
        once  created_at: [DbInstant] At,
        once  created_by: [DbUuid] Id,
        each  updated_at: [DbInstant] At,
        each  updated_by: [DbUuid] Id,
        each  search: [Text] String,
    }
}

row! {
    /// The sealed key of a connection.
    pub(crate) model_keys (organization_id, connection_id) => KeyRow changes (KeyChange) {
        key  organization_id: [DbUuid] Id,
        key  connection_id: [DbUuid] Id,
        each key_id: [Text] String,
        each sealed: [Text] String,
    }
}

row! {
    /// A model that a provider told of; `capabilities` holds words between commas.
    pub(crate) model_catalogue (organization_id, connection_id, model) => CatalogueRow {
        key  organization_id: [DbUuid] Id,
        key  connection_id: [DbUuid] Id,
        key  model: [Text] String,
        once entry: [Binary] Vec<u8>,
        once capabilities: [Text] String,
        once discovered_at: [DbInstant] At,
        once search: [Text] String,
    }
}

row! {
    /// A deployment; `settings` holds what no list asks for, `state` to `observed` are what was seen last, `looked_after`
    /// says whether the reconciler looks at it.
    pub(crate) model_deployments (organization_id, id) => DeploymentRow changes (DeploymentUpdate) {
        key   organization_id: [DbUuid] Id,
        key   id: [DbUuid] Id,
        each  alias: [Text] String,
        once  connection_id: [DbUuid] Id,
        once  model: [Text] String,
        each  capabilities: [Text] String,
        each  settings: [Binary] Vec<u8>,
        each  preload: [Bool] bool,
        each  enabled: [Bool] bool,
        each  looked_after: [Bool] bool,
        alone state: [Text] StateWord,
        alone state_detail: [Nullable<Text>] Option<String>,
        alone observed: [Binary] Vec<u8>,
        each  model_revision: [Nullable<Text>] Option<String>,
        each  revision: [BigInt] i64,
        once  created_at: [DbInstant] At,
        once  created_by: [DbUuid] Id,
        each  updated_at: [DbInstant] At,
        each  updated_by: [DbUuid] Id,
        each  search: [Text] String,
    }
}

row! {
    /// A fallback of a deployment, in its place.
    pub(crate) model_fallbacks (organization_id, deployment_id, position) => FallbackRow {
        key  organization_id: [DbUuid] Id,
        key  deployment_id: [DbUuid] Id,
        key  position: [BigInt] i64,
        once fallback_id: [DbUuid] Id,
    }
}

row! {
    /// A call, without its prompt and its answer.
    pub(crate) model_calls (organization_id, id) => CallRow many (NewCalls) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once at: [DbInstant] At,
        once principal_id: [DbUuid] Id,
        once deployment_id: [DbUuid] Id,
        once requested_id: [DbUuid] Id,
        once connection_id: [DbUuid] Id,
        once workflow_id: [Nullable<DbUuid>] Option<Id>,
        once request_id: [Text] String,
        once operation: [Text] String,
        once model_revision: [Nullable<Text>] Option<String>,
        once input_tokens: [BigInt] i64,
        once output_tokens: [BigInt] i64,
        once cached_tokens: [BigInt] i64,
        once reasoning_tokens: [BigInt] i64,
        once estimated: [Bool] bool,
        once cost_micros: [BigInt] i64,
        once price_version: [Nullable<BigInt>] Option<i64>,
        once first_token_ms: [Nullable<BigInt>] Option<i64>,
        once total_ms: [BigInt] i64,
        once attempts: [BigInt] i64,
        once outcome: [Text] OutcomeWord,
        once fault: [Nullable<Text>] Option<String>,
    }
}

row! {
    /// Sums over the calls of a day: by axis and thing, of a deployment or (with the nil id) of all.
    pub(crate) model_sums (organization_id, axis, deployment_id, thing_id, day) => SumRow {
        key   organization_id: [DbUuid] Id,
        key   axis: [Text] AxisWord,
        key   deployment_id: [DbUuid] Id,
        key   thing_id: [DbUuid] Id,
        key   day: [BigInt] i64,
        alone calls: [BigInt] i64,
        alone failed: [BigInt] i64,
        alone aborted: [BigInt] i64,
        alone input_tokens: [BigInt] i64,
        alone output_tokens: [BigInt] i64,
        alone cached_tokens: [BigInt] i64,
        alone reasoning_tokens: [BigInt] i64,
        alone cost_micros: [BigInt] i64,
        alone total_ms: [BigInt] i64,
    }
}

row! {
    /// Sums set aside of a budget; what was spent in its period stands in the sums. The scope is a deployment's id, or the
    /// nil one for the organisation.
    pub(crate) model_budgets (organization_id, scope_id, period_start) => BudgetRow {
        key   organization_id: [DbUuid] Id,
        key   scope_id: [DbUuid] Id,
        key   period_start: [DbInstant] At,
        alone held_micros: [BigInt] i64,
        alone held_tokens: [BigInt] i64,
    }
}

row! {
    /// Reservation of a call: what it set aside, in every budget that `scopes` names.
    pub(crate) model_reservations (organization_id, id) => ReservationRow {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once scopes: [Binary] Vec<u8>,
        once cost_micros: [BigInt] i64,
        once tokens: [BigInt] i64,
        once expires_at: [DbInstant] At,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    model_heads,
    model_connections,
    model_keys,
    model_catalogue,
    model_deployments,
    model_fallbacks,
    model_calls,
    model_sums,
    model_budgets,
    model_reservations,
);
