//! One call from its deployment to its end.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::{ModelDeploymentId, TenantId};
use heddle_models_wire::{Failure, Usage};
use heddle_policy::capability::{DeploymentChat, DeploymentEmbed};
use tokio::time::Instant;
use uuid::Uuid;

use super::breaker::Leave;
use super::error::{GatewayError, LimitOf, Missed, ProviderFault};
use super::money;
use super::places::{NoPlace, Place, Wanted};
use super::rates::{Holder, Short, Take, Unit};
use super::repeats::{TRIES, wait};
use super::route::Route;
use super::{CallJournal, CallReport, Caller, Gateway};
use crate::ports::Reserved;
use crate::records::{
    BudgetScope, CallOutcome, CallTokens, Cap, Capabilities, Capability, Limits, Reservation, Settlement,
    UsageRow,
};

/// Tokens of an answer that limits count on where nothing bounds it.
const USUAL: u64 = 512;
/// Time behind the end of a call's total wait after which its reservation is given back.
const SLACK: Duration = Duration::from_secs(60);

/// Tokens that a call takes, before anybody counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Estimate {
    pub(crate) input: u64,
    /// The most of the answer, where something bounds it.
    pub(crate) output: Option<u64>,
}

impl Estimate {
    /// Tokens as rates count them: what is usual where nothing bounds the answer.
    const fn usual(self) -> u64 {
        let output = match self.output {
            Some(output) => output,
            None => USUAL,
        };
        self.input.saturating_add(output)
    }
}

/// A kind of calls.
#[async_trait]
pub(crate) trait Kind: Sync {
    /// Yield of an exchange.
    type Got: Send;
    /// Word of the kind.
    const WORD: &'static str;

    /// Ability by which it is told what kind of call it is.
    fn capability(&self) -> Capability;

    /// Ability that it needs, and that is not among these.
    fn lacks(&self, own: &Capabilities) -> Option<Capability> {
        Some(self.capability()).filter(|one| !own.has(*one))
    }

    /// Tokens of the call at a deployment.
    ///
    /// # Errors
    /// `Request`.
    fn estimate(&self, route: &Route) -> Result<Estimate, GatewayError>;

    /// One exchange, until the answer's first piece is there, or all of it.
    async fn exchange(&self, gateway: &Gateway, route: &Route, until: Instant) -> Result<Self::Got, Missed>;

    /// Answer that is kept of the same question to the deployment that was named; none where it has to be asked.
    fn kept(&self, _gateway: &Gateway, _caller: &Caller, _named: &Route) -> Option<Self::Got> {
        None
    }

    /// Whether another deployment can stand in for the one that was named.
    fn fits(&self, named: &Route, other: &Route) -> bool;
}

/// A call that runs: with its place, its reservation, and its end. Dropped without one it was aborted.
pub(crate) struct Running {
    gateway: Gateway,
    caller: Caller,
    journal: CallJournal,
    word: &'static str,
    id: Uuid,
    requested: ModelDeploymentId,
    began: Instant,
    route: Arc<Route>,
    attempts: u32,
    /// Whether a provider has the question at present.
    asking: bool,
    first: Option<Duration>,
    estimate: Estimate,
    /// Bytes that the model said so far.
    weight: u64,
    told: Option<Usage>,
    takes: Vec<Take>,
    reservation: Option<Reservation>,
    place: Option<Place>,
    ended: bool,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The end of a call as it was recorded.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) usage: UsageRow,
}

impl Running {
    fn begin(
        gateway: &Gateway,
        caller: &Caller,
        journal: CallJournal,
        word: &'static str,
        route: Arc<Route>,
        estimate: Estimate,
    ) -> Self {
        Self {
            gateway: gateway.clone(),
            caller: caller.clone(),
            journal,
            word,
            id: gateway.0.ports.ids.next(gateway.0.ports.clock.now()),
            requested: route.deployment.id,
            began: Instant::now(),
            route,
            attempts: 0,
            asking: false,
            first: None,
            estimate,
            weight: 0,
            told: None,
            takes: Vec::new(),
            reservation: None,
            place: None,
            ended: false,
        }
    }

    /// Id of the call.
    pub(crate) const fn id(&self) -> Uuid {
        self.id
    }

    /// The deployment that answers.
    pub(crate) fn route(&self) -> &Arc<Route> {
        &self.route
    }

    /// Exchanges so far.
    pub(crate) const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Instant at which it must have ended.
    pub(crate) fn until(&self) -> Instant {
        self.began + self.route.waits.total
    }

    /// Notes the first piece of the answer.
    pub(crate) fn note_first(&mut self) {
        if self.first.is_none() {
            self.first = Some(self.began.elapsed());
        }
    }

    /// Notes that the stream of the answer came to its end, for the deployment's health.
    pub(crate) fn flowed(&self) {
        self.gateway.0.breakers.flowed(self.route.deployment.id);
    }

    /// Notes that the stream of the answer broke by the deployment's fault.
    pub(crate) fn broke(&self) {
        self.gateway.0.breakers.broke(self.route.deployment.id);
    }

    /// Notes what the model said: bytes, and the tokens as far as the provider told them.
    pub(crate) fn note(&mut self, weight: u64, told: Option<Usage>) {
        self.weight = self.weight.saturating_add(weight);
        if told.is_some() {
            self.told = told;
        }
    }

    /// Tokens of the call, and whether they are an estimate. A failed exchange counts nothing; of one that its caller left
    /// the provider has the question, whatever it said by then. What a provider tells before the end may be less than what
    /// it said.
    fn tokens(&self, outcome: CallOutcome) -> (CallTokens, bool) {
        match self.told {
            Some(told) => {
                let said = match outcome {
                    CallOutcome::Completed => 0,
                    CallOutcome::Aborted | CallOutcome::Failed => {
                        heddle_models_wire::tokens_of_bytes(self.weight)
                    }
                };
                let tokens = CallTokens {
                    input: money::counted(told.input),
                    output: money::counted(told.output.max(said)),
                    cached: money::counted(told.cached),
                    reasoning: money::counted(told.reasoning),
                };
                (tokens, said > told.output)
            }
            None if self.first.is_none() && !self.asking => (CallTokens::default(), true),
            None => {
                let output = heddle_models_wire::tokens_of_bytes(self.weight);
                let tokens = CallTokens {
                    input: money::counted(self.estimate.input),
                    output: money::counted(output),
                    cached: 0,
                    reasoning: 0,
                };
                (tokens, true)
            }
        }
    }

    fn row(&self, outcome: CallOutcome, fault: Option<&'static str>) -> UsageRow {
        let deployment = &self.route.deployment;
        let (tokens, estimated) = self.tokens(outcome);
        let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        UsageRow {
            tenant: self.caller.tenant,
            id: self.id,
            at: self.gateway.0.ports.clock.now(),
            principal: self.caller.principal,
            deployment: deployment.id,
            requested: self.requested,
            connection: deployment.connection_id,
            workflow: self.caller.workflow,
            request_id: self.caller.request_id.clone(),
            operation: self.word.into(),
            model_revision: deployment.model_revision.clone(),
            tokens,
            estimated,
            cost_micros: money::cost(deployment.prices.as_ref(), tokens),
            price_version: deployment.prices.as_ref().map(|prices| prices.version),
            first_token_ms: self.first.map(millis),
            total_ms: millis(self.began.elapsed()),
            attempts: i64::from(self.attempts),
            outcome,
            fault: fault.map(Into::into),
        }
    }

    /// The end, once: rates are settled, the place is free, and the row with what was set aside is told.
    fn end(
        &mut self,
        outcome: CallOutcome,
        fault: Option<&'static str>,
        answer: Option<&[u8]>,
    ) -> Settlement {
        self.ended = true;
        let usage = self.row(outcome, fault);
        let used = u64::try_from(usage.tokens.total()).unwrap_or(0);
        for take in self.takes.drain(..) {
            if take.unit == Unit::Tokens {
                self.gateway.0.rates.settle(take, used);
            }
        }
        self.place = None;
        let journal = (self.journal)(&CallReport { usage: &usage, answer });
        Settlement { usage, reservation: self.reservation.take(), journal }
    }

    /// Ends a call that was answered whole. Where its answer is kept for repeats, it is written before anybody has it.
    ///
    /// # Errors
    /// `Inner` when the kept answer was not written.
    pub(crate) async fn answered(mut self, answer: &[u8]) -> Result<Ended, GatewayError> {
        let settlement = self.end(CallOutcome::Completed, None, Some(answer));
        let usage = settlement.usage.clone();
        let ledger = &self.gateway.0.ledger;
        if settlement.journal.idempotency.is_some() {
            ledger.write(settlement).await?;
        } else {
            ledger.enter(settlement);
        }
        Ok(Ended { usage })
    }

    /// Ends a call that went another way: a stream to its end, a failure, a caller that left.
    pub(crate) fn close(&mut self, outcome: CallOutcome, fault: Option<&'static str>) {
        if !self.ended {
            let settlement = self.end(outcome, fault, None);
            self.gateway.0.ledger.enter(settlement);
        }
    }

    /// Gives back what was set aside for a deployment that failed: the next one is set aside for.
    async fn let_go(&mut self) {
        self.place = None;
        for take in self.takes.drain(..) {
            if take.unit == Unit::Tokens {
                self.gateway.0.rates.settle(take, 0);
            }
        }
        if let Some(reservation) = self.reservation.take() {
            let released = self.gateway.0.ports.usage.release(&reservation).await;
            if let Err(error) = released {
                // It expires by itself.
                tracing::warn!(%error, "what was set aside of a budget was not given back");
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.close(CallOutcome::Aborted, None);
    }
}

/// Continuation of a call when a deployment can't be asked, or failed.
enum Next {
    /// Another deployment may do better.
    Elsewhere(GatewayError),
    /// None does.
    Nowhere(GatewayError),
}

impl Gateway {
    /// Runs a call to the first piece of its answer.
    ///
    /// # Errors
    /// What stood against the deployment that was named, or the failure of the last that was asked.
    pub(crate) async fn run<K: Kind>(
        &self,
        caller: &Caller,
        id: ModelDeploymentId,
        kind: &K,
        journal: CallJournal,
    ) -> Result<(K::Got, Running), GatewayError> {
        let named = self.0.routes.of(caller.tenant, id).await?;
        named.check()?;
        if let Some(lacking) = kind.lacks(&named.deployment.capabilities) {
            return Err(GatewayError::Incapable(lacking));
        }
        let estimate = kind.estimate(&named)?;
        self.0.repeats.earn();
        let mut running = Running::begin(self, caller, journal, K::WORD, named.clone(), estimate);
        let taken = self.take_of_organisation(&mut running);
        if taken.is_ok()
            && let Some(got) = kind.kept(self, caller, &named)
        {
            return Ok((got, running));
        }
        let mut error = match taken {
            Err(error) => {
                running.close(CallOutcome::Failed, Some(error.word()));
                return Err(error);
            }
            Ok(()) => match self.ask(kind, &mut running).await {
                Ok(got) => return Ok((got, running)),
                Err(Next::Nowhere(error)) => {
                    running.close(CallOutcome::Failed, Some(error.word()));
                    return Err(error);
                }
                Err(Next::Elsewhere(error)) => error,
            },
        };
        for fallback in named.deployment.fallbacks.clone() {
            if Instant::now() >= running.began + named.waits.total {
                break;
            }
            let Some(route) = self.fallback(caller, fallback, kind, &named).await else { continue };
            let Ok(estimate) = kind.estimate(&route) else { continue };
            running.let_go().await;
            running.estimate = estimate;
            running.route = route;
            if let Err(short) = self.take_of_organisation_again(&mut running) {
                error = short;
                break;
            }
            match self.ask(kind, &mut running).await {
                Ok(got) => return Ok((got, running)),
                Err(Next::Elsewhere(another) | Next::Nowhere(another)) => error = worse(error, another),
            }
        }
        running.close(CallOutcome::Failed, Some(error.word()));
        Err(error)
    }

    /// Route of a fallback; none where it can't stand in, or the caller may not use it.
    async fn fallback<K: Kind>(
        &self,
        caller: &Caller,
        id: ModelDeploymentId,
        kind: &K,
        named: &Route,
    ) -> Option<Arc<Route>> {
        let may = caller.rights.as_ref().is_none_or(|rights| match kind.capability() {
            Capability::Embeddings | Capability::Rerank => {
                rights.authorize_one::<DeploymentEmbed>(id, ()).is_ok()
            }
            Capability::Chat
            | Capability::JsonSchema
            | Capability::Stream
            | Capability::Tools
            | Capability::Vision => rights.authorize_one::<DeploymentChat>(id, ()).is_ok(),
        });
        if !may {
            return None;
        }
        let route = self.0.routes.of(caller.tenant, id).await.ok()?;
        let serves = route.check().is_ok() && kind.lacks(&route.deployment.capabilities).is_none();
        (serves && kind.fits(named, &route)).then_some(route)
    }

    /// Asks the deployment of a running call.
    async fn ask<K: Kind>(&self, kind: &K, running: &mut Running) -> Result<K::Got, Next> {
        self.take_of_deployment(running).map_err(Next::Elsewhere)?;
        let entered = self.enter(running.caller.tenant, &running.route).await;
        running.place = Some(entered.map_err(Next::Elsewhere)?);
        self.reserve(running).await?;
        let mut repeat = 0;
        loop {
            let leave = match self.0.breakers.ask(running.route.deployment.id) {
                Ok(leave) => leave,
                Err(wait) => {
                    return Err(Next::Elsewhere(circuit_open(&running.route, running.attempts, wait)));
                }
            };
            running.attempts += 1;
            running.asking = true;
            let route = running.route.clone();
            let until = running.until();
            let tried = match tokio::time::timeout_at(until, kind.exchange(self, &route, until)).await {
                Ok(tried) => tried,
                Err(_late) => Err(Missed { lasting: true, ..Missed::of(Failure::ProviderTimeout) }),
            };
            running.asking = false;
            let missed = match tried {
                Ok(got) => {
                    leave.well();
                    running.note_first();
                    return Ok(got);
                }
                Err(missed) => missed,
            };
            judge(leave, &missed);
            repeat += 1;
            let pause = wait(repeat, missed.retry_after, &*self.0.ports.random).filter(|pause| {
                let elsewhere =
                    missed.failure == Failure::RateLimited && !route.deployment.fallbacks.is_empty();
                missed.is_retryable() && !elsewhere && repeat < TRIES && Instant::now() + *pause < until
            });
            match pause.filter(|_| self.0.repeats.spend()) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(given_up(running, missed)),
            }
        }
    }

    /// Takes of the organisation's rates, once for a call.
    fn take_of_organisation(&self, running: &mut Running) -> Result<(), GatewayError> {
        let limits = self.0.ports.bounds.bounds(running.caller.tenant).limits;
        let holder = Holder::Organisation(running.caller.tenant);
        let takes = takes(holder, &limits, running.estimate);
        self.0.rates.take(&takes).map_err(|short| limited(&short))?;
        running.takes.extend(takes);
        Ok(())
    }

    /// The same for a fallback: the call was counted, its tokens were given back.
    fn take_of_organisation_again(&self, running: &mut Running) -> Result<(), GatewayError> {
        let limits =
            Limits { requests_per_minute: None, ..self.0.ports.bounds.bounds(running.caller.tenant).limits };
        let takes = takes(Holder::Organisation(running.caller.tenant), &limits, running.estimate);
        self.0.rates.take(&takes).map_err(|short| limited(&short))?;
        running.takes.extend(takes);
        Ok(())
    }

    fn take_of_deployment(&self, running: &mut Running) -> Result<(), GatewayError> {
        let route = &running.route;
        let of_connection = Holder::Connection(route.deployment.connection_id);
        let mut all = takes(of_connection, &route.connection.connection.limits, running.estimate);
        let of_deployment = Holder::Deployment(route.deployment.id);
        all.extend(takes(of_deployment, &route.deployment.limits, running.estimate));
        self.0.rates.take(&all).map_err(|short| limited(&short))?;
        running.takes.extend(all);
        Ok(())
    }

    /// A place among the calls that run at a time.
    ///
    /// # Errors
    /// `Busy`.
    pub(super) async fn enter(&self, tenant: TenantId, route: &Route) -> Result<Place, GatewayError> {
        let (own, over) = (&route.deployment.limits, &route.connection.connection.limits);
        let wanted = Wanted {
            tenant,
            connection: route.deployment.connection_id,
            deployment: route.deployment.id,
            most_of_tenant: self.0.ports.bounds.bounds(tenant).limits.concurrency,
            most_of_connection: over.concurrency,
            most_of_deployment: own.concurrency,
        };
        let patience = own.queue_timeout_ms.or(over.queue_timeout_ms);
        let patience =
            patience.map_or(self.0.settings.queue_timeout, |millis| Duration::from_millis(u64::from(millis)));
        let entered = self.0.places.enter(wanted, patience).await;
        entered.map_err(|none| match none {
            NoPlace::Full | NoPlace::Late => GatewayError::Busy { retry_after: Duration::from_secs(1) },
        })
    }

    /// Sets aside of the budgets of organisation and deployment, where there are any.
    async fn reserve(&self, running: &mut Running) -> Result<(), Next> {
        let now = self.0.ports.clock.now();
        let route = running.route.clone();
        let deployment = &route.deployment;
        let organisation = self.0.ports.bounds.bounds(running.caller.tenant).limits.budget;
        let budgets = [
            (BudgetScope::Organisation, organisation.as_ref()),
            (BudgetScope::Deployment(deployment.id), deployment.limits.budget.as_ref()),
        ];
        let caps: Vec<Cap> =
            budgets.iter().filter_map(|(scope, budget)| Some(money::cap(*scope, (*budget)?, now))).collect();
        if caps.is_empty() {
            return Ok(());
        }
        let input = money::counted(running.estimate.input);
        let room = deployment.context_length.map(|most| i64::from(most).saturating_sub(input).max(1));
        let output = running.estimate.output.map(money::counted).or(room).unwrap_or(4_096);
        let tokens = CallTokens { input, output, cached: 0, reasoning: 0 };
        let total = i64::try_from(route.waits.total.saturating_add(SLACK).as_millis()).unwrap_or(i64::MAX);
        let reservation = Reservation {
            tenant: running.caller.tenant,
            id: self.0.ports.ids.next(now),
            caps,
            cost_micros: money::cost(deployment.prices.as_ref(), tokens),
            tokens: tokens.total(),
            at: now,
            expires_at: now.plus_millis(total),
        };
        // Whoever leaves meanwhile gives it back all the same; one that was not made is no fault.
        running.reservation = Some(reservation.clone());
        let reserved = self.0.ports.usage.reserve(&reservation).await;
        match reserved.map_err(|error| Next::Nowhere(GatewayError::from(error)))? {
            Reserved::Yes => Ok(()),
            Reserved::Exhausted(scope) => {
                running.reservation = None;
                let of = budgets.iter().find(|(known, _)| *known == scope).and_then(|(_, budget)| *budget);
                let until = of.map_or(now, |budget| money::period(budget.period, now).1);
                let error = GatewayError::Exhausted { scope, until, retry_after: until.duration_since(now) };
                Err(match scope {
                    BudgetScope::Organisation => Next::Nowhere(error),
                    BudgetScope::Deployment(_) => Next::Elsewhere(error),
                })
            }
        }
    }
}

/// Takes of a holder's rates.
fn takes(holder: Holder, limits: &Limits, estimate: Estimate) -> Vec<Take> {
    let tokens = limits.tokens_per_minute.map(|per_minute| Take {
        holder,
        unit: Unit::Tokens,
        per_minute,
        amount: estimate.usual(),
    });
    request(holder, limits).into_iter().chain(tokens).collect()
}

/// The take of a holder's rate of requests, where it has one.
pub(super) fn request(holder: Holder, limits: &Limits) -> Option<Take> {
    let per_minute = u64::from(limits.requests_per_minute?);
    Some(Take { holder, unit: Unit::Requests, per_minute, amount: 1 })
}

pub(super) fn limited(short: &Short) -> GatewayError {
    GatewayError::Limited {
        of: match short.take.holder {
            Holder::Organisation(_) => LimitOf::Organisation,
            Holder::Connection(_) => LimitOf::Connection,
            Holder::Deployment(_) => LimitOf::Deployment,
        },
        limit: match short.take.unit {
            Unit::Requests => "requestsPerMinute",
            Unit::Tokens => "tokensPerMinute",
        },
        most: short.take.per_minute,
        retry_after: short.wait,
    }
}

/// Counts a failure for or against a deployment's health.
pub(super) fn judge(leave: Leave, missed: &Missed) {
    if missed.failure.is_of_health() {
        leave.ill();
    } else {
        leave.well();
    }
}

/// The fault of a deployment that was asked so many times.
fn fault(route: &Route, attempts: u32, missed: Missed) -> ProviderFault {
    ProviderFault {
        failure: missed.failure,
        provider: route.connection.connection.kind,
        deployment: route.deployment.id,
        upstream_status: missed.upstream_status,
        upstream_request_id: missed.upstream_request_id,
        provider_code: missed.provider_code,
        message: missed.message,
        attempts,
        retry_after: missed.retry_after,
        circuit_open: false,
    }
}

/// The error of a deployment that is not asked at present.
pub(super) fn circuit_open(route: &Route, attempts: u32, wait: Duration) -> GatewayError {
    let missed = Missed { retry_after: Some(wait), ..Missed::of(Failure::Unavailable) };
    GatewayError::Provider(ProviderFault { circuit_open: true, ..fault(route, attempts, missed) })
}

/// The error of an exchange: what is wrong with the request, or the provider's fault.
pub(super) fn told(route: &Route, attempts: u32, missed: Missed) -> GatewayError {
    match &missed.request {
        Some(error) => GatewayError::Request(heddle_models_wire::WireError::clone(error)),
        None => GatewayError::Provider(fault(route, attempts, missed)),
    }
}

fn given_up(running: &Running, missed: Missed) -> Next {
    let elsewhere = missed.failure.is_for_fallback() || missed.request.as_deref().is_some_and(is_of_family);
    let error = told(&running.route, running.attempts, missed);
    if elsewhere { Next::Elsewhere(error) } else { Next::Nowhere(error) }
}

/// Whether a request could be said to a provider of another family.
fn is_of_family(error: &heddle_models_wire::WireError) -> bool {
    matches!(error, heddle_models_wire::WireError::Inexpressible { .. })
}

/// The error to tell of two deployments: one that a provider gave says more than one of limits here.
fn worse(before: GatewayError, after: GatewayError) -> GatewayError {
    match (&before, &after) {
        (GatewayError::Provider(_), GatewayError::Limited { .. } | GatewayError::Busy { .. }) => before,
        _ => after,
    }
}

/// Error of an answer that broke behind its first piece.
pub(crate) fn broken(running: &Running, missed: Missed) -> GatewayError {
    GatewayError::Provider(fault(&running.route, running.attempts, missed))
}
