//! Tokens of a prompt before it is asked: the provider's own count where it has one, else an estimate. Nothing is made of the
//! prompt, so there is no row of usage and no budget; it is a request among the others all the same.

use std::time::Duration;

use heddle_kernel::{ModelDeploymentId, TenantId};
use heddle_models_wire::{ChatRequest, Failure, UpstreamRequest};
use heddle_policy::capability::DeploymentChat;
use heddle_policy::{Authorized, RequestContext};
use tokio::time::Instant;

use super::Gateway;
use super::call::{circuit_open, judge, limited, request as take_of, told};
use super::error::{GatewayError, Missed};
use super::exchange::{target, whole};
use super::rates::{Holder, Take};
use super::route::Route;
use crate::records::Capability;

/// Statuses of services on a wire with a count that have none themselves.
const WITHOUT_A_COUNT: [u16; 3] = [404, 405, 501];
/// Longest time for a count: nothing is made for it.
const LONGEST: Duration = Duration::from_secs(60);

impl Gateway {
    /// Counts the tokens of a chat's prompt at the deployment that it names, for the caller of a request. A provider that
    /// counts itself is asked once, without repeats and fallbacks; elsewhere it is an estimate by the length of the texts.
    ///
    /// # Errors
    /// What stood against it: `NotFound`, `Disabled`, `Incapable`, `Request`, `Limited` by requests, `Busy`, `Provider`,
    /// `Inner`.
    pub async fn count(
        &self,
        authorized: &Authorized<DeploymentChat>,
        context: &RequestContext,
        request: &ChatRequest,
    ) -> Result<u64, GatewayError> {
        self.count_at(context.tenant(), authorized.id(), request).await
    }

    /// The same at a deployment that its caller was found to be allowed to use.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub(crate) async fn count_at(
        &self,
        tenant: TenantId,
        id: ModelDeploymentId,
        request: &ChatRequest,
    ) -> Result<u64, GatewayError> {
        let route = self.0.routes.of(tenant, id).await?;
        if !route.is_enabled() {
            return Err(GatewayError::Disabled);
        }
        if !route.deployment.capabilities.has(Capability::Chat) {
            return Err(GatewayError::Incapable(Capability::Chat));
        }
        let filled = request.with_defaults(&route.defaults.chat).map_err(GatewayError::Request)?;
        self.take_of_requests(tenant, &route)?;
        let asked = match &route.target {
            Some(target) => target.count(&filled).map_err(GatewayError::Request)?,
            None => None,
        };
        let Some(asked) = asked else { return Ok(filled.estimated_tokens()) };
        let counted = self.ask_for_count(tenant, &route, asked).await?;
        Ok(counted.unwrap_or_else(|| filled.estimated_tokens()))
    }

    /// Takes a request of the rates of organisation, connection and deployment.
    fn take_of_requests(&self, tenant: TenantId, route: &Route) -> Result<(), GatewayError> {
        let deployment = &route.deployment;
        let of_tenant = self.0.ports.bounds.bounds(tenant).limits;
        let holders = [
            (Holder::Organisation(tenant), &of_tenant),
            (Holder::Connection(deployment.connection_id), &route.connection.connection.limits),
            (Holder::Deployment(deployment.id), &deployment.limits),
        ];
        let takes: Vec<Take> =
            holders.into_iter().filter_map(|(holder, limits)| take_of(holder, limits)).collect();
        self.0.rates.take(&takes).map_err(|short| limited(&short))
    }

    /// Asks the provider; none where it turns out to have no count.
    async fn ask_for_count(
        &self,
        tenant: TenantId,
        route: &Route,
        asked: UpstreamRequest,
    ) -> Result<Option<u64>, GatewayError> {
        let _place = self.enter(tenant, route).await?;
        let leave = self.0.breakers.ask(route.deployment.id).map_err(|wait| circuit_open(route, 0, wait))?;
        let wait = route.waits.total.min(LONGEST);
        let until = Instant::now() + wait;
        let counted = match tokio::time::timeout_at(until, self.exchange_count(route, asked, until)).await {
            Ok(counted) => counted,
            Err(_late) => Err(Missed { lasting: true, ..Missed::of(Failure::ProviderTimeout) }),
        };
        match counted {
            Ok(tokens) => {
                leave.well();
                Ok(Some(tokens))
            }
            Err(missed) if missed.upstream_status.is_some_and(|status| WITHOUT_A_COUNT.contains(&status)) => {
                leave.well();
                Ok(None)
            }
            Err(missed) => {
                judge(leave, &missed);
                Err(told(route, 1, missed))
            }
        }
    }

    async fn exchange_count(
        &self,
        route: &Route,
        asked: UpstreamRequest,
        until: Instant,
    ) -> Result<u64, Missed> {
        let reply = self.send(route, asked, route.waits.first, until).await?;
        Ok(target(route)?.count_response(&whole(reply).await?)?)
    }
}
