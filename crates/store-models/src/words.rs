//! The literals of the tables: what a column of text may hold.

use heddle_models::records::{CallOutcome, DeploymentState, UsageAxis};
use heddle_models::types::ProviderKind;
use heddle_store::word;

word!(KindWord of ProviderKind, "the type of a provider");
word!(StateWord of DeploymentState, "the state of a deployment");
word!(OutcomeWord of CallOutcome, "the outcome of a call");
word!(AxisWord of UsageAxis, "the axis of sums");
