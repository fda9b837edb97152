//! Usage: sums over calls along an axis.

use std::sync::Arc;
use std::time::Duration;

use heddle_kernel::{ModelDeploymentId, Page, PageRequest, Timestamp};
use heddle_policy::capability::DeploymentList;
use heddle_policy::{AuthorizedList, RequestContext};

use crate::gateway::Gateway;
use crate::ports::{UsageQuery, UsageStore};
use crate::records::{UsageAxis, UsageTotal};
use crate::{Problems, UseCaseError};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;
/// The most days of an answer.
const DAYS: i32 = 366;
/// Days of an answer where none are named, the present one among them.
const PRESET: i32 = 31;
/// Longest wait for the ends of calls to be written.
const FLUSH: Duration = Duration::from_secs(2);

/// A question about usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageAsked {
    /// The axis.
    pub by: UsageAxis,
    /// First day, as `2026-11-01`, in UTC; 30 days before the last one where none is named.
    pub from: Option<String>,
    /// Last day, within; today where none is named.
    pub to: Option<String>,
    /// Calls of this deployment alone.
    pub deployment: Option<ModelDeploymentId>,
}

/// Sums, with the days that they are over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageAnswer {
    /// First instant of the first day.
    pub from: Timestamp,
    /// First instant of the last day.
    pub to: Timestamp,
    /// A page of sums.
    pub page: Page<UsageTotal>,
}

/// The use case of usage.
#[derive(Clone)]
pub struct Usage {
    store: Arc<dyn UsageStore>,
    gateway: Gateway,
}

impl std::fmt::Debug for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Usage").finish_non_exhaustive()
    }
}

/// Day of a text like `2026-11-23`, since 1970-01-01.
fn day_of(text: &str) -> Option<i32> {
    let is_day = text.len() == 10;
    let midnight: Timestamp = format!("{text}T00:00:00Z").parse().ok().filter(|_| is_day)?;
    i32::try_from(midnight.micros().div_euclid(DAY)).ok()
}

fn midnight(day: i32) -> Timestamp {
    Timestamp::from_micros(i64::from(day).saturating_mul(DAY))
}

/// Text of a day since 1970-01-01, like `2026-11-23`.
#[must_use]
pub fn day_text(day: i32) -> String {
    midnight(day).to_string().chars().take(10).collect()
}

/// Day of an instant, since 1970-01-01.
#[must_use]
pub fn day_at(at: Timestamp) -> i32 {
    i32::try_from(at.micros().div_euclid(DAY)).unwrap_or(i32::MAX)
}

impl Usage {
    /// The use case on its store; what the gateway of this node has not written yet is written before it is read.
    #[must_use]
    pub fn new(store: Arc<dyn UsageStore>, gateway: Gateway) -> Self {
        Self { store, gateway }
    }

    /// Sums of the days along an axis. Whoever may not list every deployment sees those along deployments, or of one that
    /// they may list.
    ///
    /// # Errors
    /// `Invalid` for days that are none, in the wrong order or more than 366; `Forbidden` (`exceedsOwnRights`);
    /// `Unavailable`.
    pub async fn sums(
        &self,
        authorized: &AuthorizedList<DeploymentList>,
        context: &RequestContext,
        asked: &UsageAsked,
        page: &PageRequest,
    ) -> Result<UsageAnswer, UseCaseError> {
        let (from_day, to_day) = days(context.now(), asked)?;
        let filter = authorized.filter();
        let may_list = |id: &ModelDeploymentId| {
            (filter.all() || filter.listed().contains(id))
                && !filter.denied().contains(id)
                && !filter.is_empty()
        };
        let is_theirs = asked.deployment.as_ref().map(may_list);
        let refused = match is_theirs {
            Some(may) => !may,
            None => !filter.is_everything() && asked.by != UsageAxis::Deployment,
        };
        if refused {
            let message =
                "The caller may not list every deployment: ask along deployments, or of one of theirs.";
            return Err(UseCaseError::forbidden("exceedsOwnRights", message));
        }
        // Ends that can't be written now are not waited for without end.
        if tokio::time::timeout(FLUSH, self.gateway.flush()).await.is_err() {
            tracing::debug!("the last calls are not in the sums yet");
        }
        let query = UsageQuery { by: asked.by, from_day, to_day, deployment: asked.deployment };
        let page = self.store.usage(context.tenant(), &query, filter, page).await?;
        Ok(UsageAnswer { from: midnight(from_day), to: midnight(to_day), page })
    }
}

fn days(now: Timestamp, asked: &UsageAsked) -> Result<(i32, i32), UseCaseError> {
    let mut problems = Problems::default();
    let mut read = |field: &str, text: Option<&String>| {
        let day = text.and_then(|text| day_of(text));
        if text.is_some() && day.is_none() {
            problems.add(field, "wrongFormat", "A day like `2026-11-23` is needed.");
        }
        day
    };
    let to = read("to", asked.to.as_ref()).unwrap_or_else(|| day_at(now));
    let from = read("from", asked.from.as_ref()).unwrap_or(to - (PRESET - 1));
    if from > to {
        problems.add("from", "outOfRange", "The first day is not behind the last one.");
    } else if to - from >= DAYS {
        problems.add("from", "outOfRange", "At most 366 days.");
    }
    problems.finish().map(|()| (from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_and_written_alike() {
        for (text, day) in [("1970-01-01", 0), ("2026-11-23", 20_780), ("1969-12-31", -1)] {
            assert_eq!((day_of(text), day_text(day)), (Some(day), text.to_owned()));
        }
        for text in ["2026-11-31", "2026-1-1", "20261123", "", "2026-11-23T00"] {
            assert_eq!(day_of(text), None, "{text}");
        }
    }
}
