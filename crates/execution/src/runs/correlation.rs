//! Events from outside and thrown messages: found by name and correlation key, given to who waits, or starting what
//! listens, or kept for the first that will wait. Each is one transaction, over runs and cases alike.

use std::collections::HashSet;

use heddle_engine::{Command, Trigger};
use heddle_kernel::{EventId, RunId, TenantId, Timestamp};
use heddle_policy::capability::{CaseEventCreate, CaseEventRead, RunRead, SignalCreate};
use heddle_policy::resource::InstanceKey;
use heddle_policy::{
    AccessFilter, AuthorizedKind, AuthorizedSome, InstanceFilter, Ownership, RequestContext, resource,
};
use heddle_usecase::StoreError;
use serde_json::{Map, Value, json};

use super::{BUFFER_SECONDS, Runs};
use crate::plan::{Initiator, NewInstance};
use crate::ports::{InboxWrite, MatchedSubscription, RunWrite, Transaction};
use crate::records::{
    BindingKind, DeadLetter, InboxEvent, InboxState, Outgoing, Receivers, Refusal, RefusedStart, Run,
    SetAsideReason, StartBinding, ThrownKind, Tries, TriggerRecord, Work, WorkKey,
};
use crate::{JournalFor, Problem, UseCaseError};
use heddle_usecase::canonical_sha256;

/// Most tries of a delivery when runs change under it.
const ATTEMPTS: usize = 5;

/// Most refusals of one event that are kept.
const MOST_REFUSALS: usize = 100;

/// Time for which a message is kept whose sender says nothing about it, in milliseconds.
const KEPT: Option<i64> = Some(BUFFER_SECONDS * 1_000);

/// An event from outside as it was sent.
#[derive(Debug, Clone)]
pub struct CaseEvent {
    /// Correlation key of its receiver.
    pub correlation_key: String,
    /// Type of the event: the name of the message.
    pub event_type: String,
    /// The sender's key.
    pub idempotency_key: String,
    /// Payload of the event.
    pub payload: Value,
}

/// A message as a client of another product sends it.
#[derive(Debug, Clone)]
pub struct MessageCall {
    /// Name of the message.
    pub name: String,
    /// Correlation key of its receiver; none asks for one that waits without a key.
    pub correlation_key: Option<String>,
    /// The sender's own id of the message: one message has it, its name and its key. None makes each call a message.
    pub message_id: Option<String>,
    /// Payload of the message.
    pub payload: Value,
    /// Time for which it is kept while nobody waits for it, in milliseconds; 0 keeps it not at all.
    pub keep_millis: i64,
}

/// A signal as it was sent.
#[derive(Debug, Clone)]
pub struct SignalCall {
    /// Name of the signal.
    pub name: String,
    /// The sender's key; none makes each call a signal of its own.
    pub idempotency_key: Option<String>,
    /// Payload of the signal.
    pub payload: Value,
}

/// The stored event, and whether the call only repeated an earlier one.
#[derive(Debug, Clone)]
pub struct Received {
    /// The event.
    pub event: InboxEvent,
    /// The event was there before.
    pub replayed: bool,
}

/// Something to deliver.
struct Inbound<'a> {
    event: InboxEvent,
    kind: BindingKind,
    name: &'a str,
    /// A thrown message whose row goes with the delivery, and the run that threw it.
    thrown: Option<(EventId, RunId)>,
    /// Time for which it is kept while nobody takes it, in milliseconds; none drops it.
    keep: Option<i64>,
}

impl Runs {
    /// Takes an event from outside.
    ///
    /// # Errors
    /// `Conflict` (`idempotencyKeyReused`) when the key stands for another body; `RateLimited`; `Unavailable`.
    pub async fn receive(
        &self,
        _: &AuthorizedKind<CaseEventCreate>,
        context: &RequestContext,
        sent: CaseEvent,
        record: &JournalFor<'_, InboxEvent>,
    ) -> Result<Received, UseCaseError> {
        check_key(&sent.idempotency_key)?;
        self.ports.limits.messages.take(context.tenant(), context.now())?;
        let body = json!({ "k": sent.correlation_key, "t": sent.event_type, "p": sent.payload });
        let event = InboxEvent {
            correlation_key: Some(sent.correlation_key),
            event_type: sent.event_type.clone(),
            payload: sent.payload,
            ..self.inbox_event(context, sent.idempotency_key, &body)
        };
        let inbound =
            Inbound { event, kind: BindingKind::Message, name: &sent.event_type, thrown: None, keep: KEPT };
        self.take(inbound, record).await
    }

    /// Takes a message whose sender says for how long it is kept.
    ///
    /// # Errors
    /// `Conflict` (`idempotencyKeyReused`) when the message's id stands for another payload; `RateLimited`; `Unavailable`.
    pub async fn publish(
        &self,
        _: &AuthorizedKind<CaseEventCreate>,
        context: &RequestContext,
        sent: MessageCall,
        record: &JournalFor<'_, InboxEvent>,
    ) -> Result<Received, UseCaseError> {
        self.ports.limits.messages.take(context.tenant(), context.now())?;
        let body = json!({ "k": sent.correlation_key, "t": sent.name, "p": sent.payload });
        let key = match &sent.message_id {
            // A message's id is unique with its name and key; one digest keeps them apart from the keys of others.
            Some(id) => {
                format!("message:{}", canonical_sha256(&json!([sent.name, sent.correlation_key, id])))
            }
            None => format!("message:{}", self.ports.ids.next(context.now())),
        };
        let event = InboxEvent {
            correlation_key: sent.correlation_key,
            event_type: sent.name.clone(),
            payload: sent.payload,
            ..self.inbox_event(context, key, &body)
        };
        let keep = Some(sent.keep_millis).filter(|millis| *millis > 0);
        let inbound = Inbound { event, kind: BindingKind::Message, name: &sent.name, thrown: None, keep };
        self.take(inbound, record).await
    }

    /// Broadcasts a signal to all that listen at this moment, and to signal starts.
    ///
    /// # Errors
    /// As [`Self::receive`].
    pub async fn signal(
        &self,
        _: &AuthorizedKind<SignalCreate>,
        context: &RequestContext,
        sent: SignalCall,
        record: &JournalFor<'_, InboxEvent>,
    ) -> Result<Received, UseCaseError> {
        sent.idempotency_key.as_deref().map_or(Ok(()), check_key)?;
        self.ports.limits.messages.take(context.tenant(), context.now())?;
        let fresh = || self.ports.ids.next(context.now()).to_string();
        let key = InboxEvent::signal_key(&sent.idempotency_key.clone().unwrap_or_else(fresh));
        let body = json!({ "t": sent.name, "p": sent.payload });
        let event = InboxEvent {
            event_type: format!("signal:{}", sent.name),
            payload: sent.payload,
            ..self.inbox_event(context, key, &body)
        };
        let inbound =
            Inbound { event, kind: BindingKind::Signal, name: &sent.name, thrown: None, keep: None };
        self.take(inbound, record).await
    }

    /// A received case event as it stands now, with what the caller may read of what it reached. Its sender reads it whatever
    /// that was; else one that reached no case is read by whoever may read all cases.
    ///
    /// # Errors
    /// `NotFound`, also for a signal, and for somebody else's that reached other cases alone.
    pub async fn event(
        &self,
        authorized: &AuthorizedSome<CaseEventRead>,
        context: &RequestContext,
        id: EventId,
    ) -> Result<InboxEvent, UseCaseError> {
        let mut event = self.ports.runs.inbox_event(context.tenant(), id).await?;
        if event.is_signal() {
            return Err(UseCaseError::NotFound);
        }
        let reached_cases = !event.case_ids.is_empty();
        self.narrow_to_read(&mut event, authorized.filter(), context).await?;
        let is_sender = event.received_by == Some(context.user_id());
        let is_read = match reached_cases {
            true => !event.case_ids.is_empty(),
            false => context.snapshot().authorize_kind::<CaseEventRead>().is_ok(),
        };
        if !is_sender && !is_read {
            return Err(UseCaseError::NotFound);
        }
        Ok(InboxEvent { state: event.state_at(context.now()), ..event })
    }

    /// Takes what the caller may not read away from what is told of an event: cases, and refusals of cases and runs.
    async fn narrow_to_read(
        &self,
        event: &mut InboxEvent,
        filter: &AccessFilter<resource::Case>,
        context: &RequestContext,
    ) -> Result<(), UseCaseError> {
        let all_cases = filter.is_everything();
        let named = event.case_ids.iter().map(|id| RunId::from(*id)).filter(|_| !all_cases);
        let named: Vec<RunId> = named.chain(event.refused.iter().map(|one| one.run)).collect();
        if named.is_empty() {
            return Ok(());
        }
        let cases = InstanceFilter::from(filter);
        let runs = context.snapshot().authorize_some::<RunRead>().ok();
        let runs = runs.as_ref().map(InstanceFilter::from);
        let keys = self.ports.runs.instance_keys(event.tenant, &named).await?;
        // Of runs it may decide whose they are; of cases it never does.
        let own = match runs.as_ref().and_then(|filter| filter.person()) {
            Some(person) => {
                let refused: Vec<RunId> = event.refused.iter().map(|one| one.run).collect();
                self.ports.runs.own_among(event.tenant, person, &refused).await?
            }
            None => HashSet::new(),
        };
        let may = |key: &&InstanceKey| {
            let ownership = Ownership::of(own.contains(&key.id()));
            cases.permits(key) || runs.as_ref().is_some_and(|filter| filter.permits_owned(key, ownership))
        };
        let read: HashSet<RunId> = keys.iter().filter(may).map(|key| key.id()).collect();
        event.case_ids.retain(|id| all_cases || read.contains(&RunId::from(*id)));
        event.refused.retain(|one| read.contains(&one.run));
        Ok(())
    }

    /// Delivers what a run sent to others.
    ///
    /// # Errors
    /// `Unavailable`; `Internal`.
    pub async fn deliver(&self, thrown: &Outgoing) -> Result<(), UseCaseError> {
        match thrown.kind {
            ThrownKind::Message => self.deliver_thrown(thrown, BindingKind::Message).await,
            ThrownKind::Signal => self.deliver_thrown(thrown, BindingKind::Signal).await,
            ThrownKind::Call => self.start_called(thrown).await,
            ThrownKind::CallEnd => self.tell_caller(thrown).await,
            ThrownKind::CallEscalation => self.escalate_to_caller(thrown).await,
            ThrownKind::CallCancel => self.cancel_called(thrown).await,
        }
    }

    /// Delivers a message or signal that a run threw.
    async fn deliver_thrown(&self, thrown: &Outgoing, kind: BindingKind) -> Result<(), UseCaseError> {
        let now = self.ports.clock.now();
        let prefix = if kind == BindingKind::Signal { "signal:" } else { "" };
        let event = InboxEvent {
            tenant: thrown.tenant,
            id: EventId(self.ports.ids.next(now)),
            idempotency_key: InboxEvent::thrown_key(kind, thrown.id),
            body_sha256: canonical_sha256(&thrown.payload),
            correlation_key: thrown.correlation_key.clone(),
            event_type: format!("{prefix}{}", thrown.name),
            payload: thrown.payload.clone(),
            received_at: now,
            received_by: None,
            state: InboxState::Consumed,
            run_ids: Vec::new(),
            case_ids: Vec::new(),
            refused: Vec::new(),
            expires_at: None,
            hops: thrown.hops,
        };
        let inbound = Inbound {
            event,
            kind,
            name: &thrown.name,
            thrown: Some((thrown.id, thrown.run)),
            keep: KEPT.filter(|_| kind == BindingKind::Message),
        };
        match self.take(inbound, &|_: &InboxEvent| heddle_usecase::Journal::default()).await {
            // Another node delivered it: nothing is left of the row.
            Ok(Received { replayed: true, .. }) => {
                let key = WorkKey::Thrown(thrown.tenant, thrown.id);
                Ok(self.ports.work.forget(&key).await?)
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Gives a kept event to a run that waits for it by now.
    ///
    /// # Errors
    /// `Unavailable`; `Internal`.
    pub async fn deliver_kept(&self, event: &InboxEvent) -> Result<(), UseCaseError> {
        let by = Initiator { now: self.ports.clock.now(), user: event.received_by, hops: event.hops };
        let key = event.correlation_key.as_deref();
        for _ in 0..ATTEMPTS {
            let matches =
                self.ports.runs.matching(event.tenant, BindingKind::Message, &event.event_type, key).await?;
            let Some(first) = matches.into_iter().next() else { return Ok(()) };
            let held = self.locks.hold(first.run).await;
            let Some(write) = self.deliver_to(event, BindingKind::Message, &first, by).await? else {
                continue;
            };
            let unit = Transaction {
                tenant: Some(event.tenant),
                inbox: Some(InboxWrite::Consume { id: event.id, receivers: Receivers::of([&write.run]) }),
                runs: vec![write],
                ..Transaction::default()
            };
            match self.commit(unit).await {
                Ok(()) => return Ok(()),
                Err(StoreError::Stale) => drop(held),
                Err(error) => return Err(error.into()),
            }
        }
        Err(busy())
    }

    /// The same for an event that was just kept: what fails is tried again in the background.
    async fn deliver_at_once(&self, event: &InboxEvent) -> Result<(), UseCaseError> {
        match self.deliver_kept(event).await {
            Err(error @ UseCaseError::Unavailable(_)) => Err(error),
            Err(_) | Ok(()) => Ok(()),
        }
    }

    fn inbox_event(&self, context: &RequestContext, idempotency_key: String, body: &Value) -> InboxEvent {
        InboxEvent {
            tenant: context.tenant(),
            id: EventId(self.ports.ids.next(context.now())),
            idempotency_key,
            body_sha256: canonical_sha256(body),
            correlation_key: None,
            event_type: String::new(),
            payload: Value::Null,
            received_at: context.now(),
            received_by: Some(context.user_id()),
            state: InboxState::Consumed,
            run_ids: Vec::new(),
            case_ids: Vec::new(),
            refused: Vec::new(),
            expires_at: None,
            hops: 0,
        }
    }

    async fn take(
        &self,
        inbound: Inbound<'_>,
        record: &JournalFor<'_, InboxEvent>,
    ) -> Result<Received, UseCaseError> {
        let (tenant, key) = (inbound.event.tenant, inbound.event.idempotency_key.clone());
        for _ in 0..ATTEMPTS {
            if let Some(known) = self.ports.runs.inbox_by_key(tenant, &key).await? {
                return repeat(known, &inbound.event.body_sha256);
            }
            match self.try_take(&inbound, record).await {
                Ok(event) => {
                    if event.state == InboxState::Buffered {
                        // A run may have begun to wait between the look and the commit. The answer is the one that was kept
                        // with the event, as a repeat gets it: who takes it from now on the status operation tells.
                        self.deliver_at_once(&event).await?;
                    }
                    return Ok(Received { event, replayed: false });
                }
                Err(Failed::Again) => {}
                Err(Failed::Final(error)) => return Err(error),
            }
        }
        Err(busy())
    }

    async fn try_take(
        &self,
        inbound: &Inbound<'_>,
        record: &JournalFor<'_, InboxEvent>,
    ) -> Result<InboxEvent, Failed> {
        let mut event = inbound.event.clone();
        let by = Initiator { now: event.received_at, user: event.received_by, hops: event.hops };
        let key = event.correlation_key.as_deref();
        let mut matches = self.ports.runs.matching(event.tenant, inbound.kind, inbound.name, key).await?;
        if let (BindingKind::Signal, Some((_, sender))) = (inbound.kind, inbound.thrown) {
            // The engine gave the signal to the sender's own listeners in the step that threw it.
            matches.retain(|found| found.run != sender);
        }
        let held = self.locks.hold_all(matches.iter().map(|found| found.run).collect()).await;
        let mut given = self.deliver_to_all(&event, inbound.kind, &matches, by).await?;
        if inbound.kind == BindingKind::Message && has_left_out(&matches, &given.writes) {
            // A receiver took another message while this one waited for its turn: it may listen anew by now.
            let anew = self.ports.runs.matching(event.tenant, inbound.kind, inbound.name, key).await?;
            if anew.iter().any(|found| matches.iter().all(|before| before.run != found.run)) {
                return Err(Failed::Again);
            }
            given = self.deliver_to_all(&event, inbound.kind, &anew, by).await?;
        }
        let Given { writes: mut runs, refused } = given;
        event.refused = refused;
        // A signal also starts what it can start; a message only when nobody waited for it.
        let mut letters = Vec::new();
        if runs.is_empty() || inbound.kind == BindingKind::Signal {
            let starts = self.starts(&event, inbound.kind, inbound.name, by).await?;
            runs.extend(starts.begun);
            letters = starts.refused;
        }
        let receivers = Receivers::of(runs.iter().map(|write| &write.run));
        let is_taken = !receivers.is_empty();
        (event.run_ids, event.case_ids) = (receivers.run_ids, receivers.case_ids);
        if !is_taken && letters.is_empty() {
            event.state = if inbound.keep.is_some() { InboxState::Buffered } else { InboxState::Expired };
            event.expires_at = inbound.keep.map(|millis| event.received_at.plus_millis(millis));
        }
        let unit = Transaction {
            tenant: Some(event.tenant),
            runs,
            inbox: Some(InboxWrite::Insert(event.clone())),
            delivered: inbound.thrown.map(|(id, _)| id),
            letters,
            unit: record(&event),
            ..Transaction::default()
        };
        self.commit(unit).await?;
        drop(held);
        Ok(event)
    }

    /// One step for each subscription; several of one run follow each other.
    async fn deliver_to_all(
        &self,
        event: &InboxEvent,
        kind: BindingKind,
        matches: &[MatchedSubscription],
        by: Initiator,
    ) -> Result<Given, UseCaseError> {
        let mut given = Given::default();
        let mut first = None;
        for found in matches {
            let earlier = given.writes.iter().position(|write| write.run.id == found.run);
            // A message is taken once by a run; a signal reaches every listener of it.
            if earlier.is_some() && kind != BindingKind::Signal {
                continue;
            }
            let tried = match earlier.and_then(|at| given.writes.get(at)).cloned() {
                Some(before) => self.deliver_again(event, found, before, by).await.map(Some),
                None => self.deliver_to(event, kind, found, by).await,
            };
            match tried {
                Ok(Some(write)) => match earlier.and_then(|at| given.writes.get_mut(at)) {
                    Some(before) => *before = write,
                    None => given.writes.push(write),
                },
                Ok(None) => {}
                // Receivers know nothing of each other: what one of them can't take is its own matter.
                Err(error) if is_of_the_receiver(&error) => {
                    let message = error.in_words();
                    first.get_or_insert(error);
                    if given.refused.len() < MOST_REFUSALS {
                        given.refused.extend(self.refusal(event.tenant, found.run, &message).await?);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        match first {
            // A message that nobody takes is its sender's matter.
            Some(error) if kind != BindingKind::Signal && given.writes.is_empty() => Err(error),
            Some(_) | None => Ok(given),
        }
    }

    /// Refusal of an event by an instance, which the status of the event tells; none of one that is gone.
    async fn refusal(
        &self,
        tenant: TenantId,
        run: RunId,
        message: &str,
    ) -> Result<Option<Refusal>, UseCaseError> {
        tracing::warn!(%tenant, %run, error = message, "an instance does not take an event");
        let key = self.ports.runs.instance_keys(tenant, &[run]).await?.into_iter().next();
        let message = heddle_kernel::shortened(message).into_owned();
        Ok(key.map(|key| Refusal { kind: key.kind(), run, message }))
    }

    async fn deliver_to(
        &self,
        event: &InboxEvent,
        kind: BindingKind,
        found: &MatchedSubscription,
        by: Initiator,
    ) -> Result<Option<RunWrite>, UseCaseError> {
        let run = match self.ports.runs.load_any(event.tenant, found.run).await {
            Ok(run) => run,
            Err(StoreError::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if !listens(&run, &found.subscription_id) {
            return Ok(None);
        }
        let Some(command) = delivery(kind, &found.subscription_id, event.payload.clone()) else {
            return Ok(None);
        };
        self.step_of(run, command, by).await.map(Some)
    }

    /// A further step of a run in the same unit: the two steps' rows become one write.
    async fn deliver_again(
        &self,
        event: &InboxEvent,
        found: &MatchedSubscription,
        first: RunWrite,
        by: Initiator,
    ) -> Result<RunWrite, UseCaseError> {
        if !listens(&first.run, &found.subscription_id) {
            return Ok(first);
        }
        let Some(command) = delivery(BindingKind::Signal, &found.subscription_id, event.payload.clone())
        else {
            return Ok(first);
        };
        let second = self.step_behind(&first, command, by).await?;
        first.followed_by(second)
    }

    /// Runs that an event begins. A start that refuses it does so for itself alone and becomes a dead letter.
    async fn starts(
        &self,
        event: &InboxEvent,
        kind: BindingKind,
        name: &str,
        by: Initiator,
    ) -> Result<Starts, UseCaseError> {
        let mut starts = Starts::default();
        for binding in self.ports.runs.matching_starts(event.tenant, kind, name).await? {
            match self.begin_by(&binding, event, by).await {
                Ok(write) => starts.begun.push(write),
                Err(error) if is_of_the_receiver(&error) => {
                    starts.refused.push(self.refused_start(binding, event, &error, by.now));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(starts)
    }

    /// The rows of a run that an event begins.
    pub(super) async fn begin_by(
        &self,
        binding: &StartBinding,
        event: &InboxEvent,
        by: Initiator,
    ) -> Result<RunWrite, UseCaseError> {
        let record = TriggerRecord {
            kind: binding.kind.into(),
            name: Some(binding.name.clone()),
            node_id: Some(binding.node_id.clone()),
            event_id: Some(event.id),
            parent: None,
        };
        let mut beginning = NewInstance::of(binding, trigger(binding), record);
        beginning.request.correlation_key = event.correlation_key.clone();
        beginning.request.input = input(&event.payload);
        self.begin(beginning, by).await
    }

    fn refused_start(
        &self,
        binding: StartBinding,
        event: &InboxEvent,
        error: &UseCaseError,
        now: Timestamp,
    ) -> DeadLetter {
        let message = error.in_words();
        tracing::warn!(
            organization = %event.tenant, workflow = %binding.workflow, event = %event.id, message,
            "a start refused its event; it is a dead letter"
        );
        DeadLetter {
            tenant: event.tenant,
            id: EventId(self.ports.ids.next(now)),
            instance_kind: binding.definition_kind,
            workflow: Some(binding.workflow),
            run: None,
            reason: SetAsideReason::Refused,
            message,
            tries: Tries { attempts: 1, crashes: 0 },
            created_at: now,
            work: Work::Start(Box::new(RefusedStart { binding, event: event.clone() })),
        }
    }
}

/// Deliveries of one event: the steps of those that took it, and those that did not.
#[derive(Default)]
struct Given {
    writes: Vec<RunWrite>,
    refused: Vec<Refusal>,
}

/// Starts of one event: what began, and what refused it.
#[derive(Default)]
struct Starts {
    begun: Vec<RunWrite>,
    refused: Vec<DeadLetter>,
}

/// Whether an error is about this start or run and no other: what is busy, or not there for the moment, is tried again with
/// the whole event.
fn is_of_the_receiver(error: &UseCaseError) -> bool {
    match error {
        UseCaseError::NotFound
        | UseCaseError::Invalid(_)
        | UseCaseError::Conflict(_)
        | UseCaseError::Forbidden(_)
        | UseCaseError::Unauthenticated
        | UseCaseError::Abandoned { .. }
        | UseCaseError::Internal(_) => true,
        UseCaseError::LimitReached { .. }
        | UseCaseError::Throttled { .. }
        | UseCaseError::RateLimited { .. }
        | UseCaseError::Busy
        | UseCaseError::QueueFull { .. }
        | UseCaseError::Unavailable(_) => false,
    }
}

/// Checks a key of a caller's: what the service keys by itself begins with a control character.
fn check_key(key: &str) -> Result<(), UseCaseError> {
    if key.starts_with(char::is_control) {
        let message = "A key begins with no control character.";
        return Err(UseCaseError::invalid("idempotencyKey", "wrongFormat", message));
    }
    Ok(())
}

fn busy() -> UseCaseError {
    UseCaseError::conflict("busy", "The runs that wait for it change too fast; try again.")
}

/// Whether a run that was found to wait takes nothing, since it does not wait any more.
fn has_left_out(matches: &[MatchedSubscription], taken: &[RunWrite]) -> bool {
    matches.iter().any(|found| taken.iter().all(|write| write.run.id != found.run))
}

/// Failure of one try.
enum Failed {
    /// Something changed under it.
    Again,
    /// Failure for good.
    Final(UseCaseError),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Stale => Self::Again,
            StoreError::Duplicate(what) if what == "idempotencyKey" => Self::Again,
            other => Self::Final(other.into()),
        }
    }
}

impl From<UseCaseError> for Failed {
    fn from(error: UseCaseError) -> Self {
        Self::Final(error)
    }
}

fn repeat(known: InboxEvent, body_sha256: &str) -> Result<Received, UseCaseError> {
    if known.body_sha256 == body_sha256 {
        return Ok(Received { event: known, replayed: true });
    }
    let message = "The key was used for an event with another body.";
    Err(UseCaseError::Conflict(vec![Problem::at("idempotencyKey", "idempotencyKeyReused", message)]))
}

fn listens(run: &Run, subscription: &str) -> bool {
    run.snapshot.subscriptions().iter().any(|open| open.id.to_string() == subscription)
}

fn delivery(kind: BindingKind, subscription: &str, payload: Value) -> Option<Command> {
    let subscription_id = subscription.parse().ok()?;
    Some(match kind {
        BindingKind::Signal => Command::DeliverSignal { subscription_id, payload },
        BindingKind::Message | BindingKind::Timer => Command::DeliverMessage { subscription_id, payload },
    })
}

fn trigger(binding: &StartBinding) -> Trigger {
    let (name, node_id) = (binding.name.clone(), binding.node_id.clone());
    match binding.kind {
        BindingKind::Signal => Trigger::Signal { name, node_id },
        BindingKind::Message | BindingKind::Timer => Trigger::Message { name, node_id },
    }
}

/// A payload as the variables of a run that it starts: an object's members, anything else under `payload`.
fn input(payload: &Value) -> Map<String, Value> {
    match payload {
        Value::Object(members) => members.clone(),
        Value::Null => Map::new(),
        other => Map::from_iter([("payload".to_owned(), other.clone())]),
    }
}
