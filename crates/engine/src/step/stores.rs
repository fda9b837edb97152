//! Data stores of the organisation, which outlive the run (clause 10.4.1). Their values come with the command and stand in
//! variables of the process; what a node writes is written where the step is. Who waits for a store is told of each write by a
//! signal.

use super::wait::{Wait, What};
use super::{At, Machine, StepFault, expression};
use crate::event::{EventKind, IncidentCode, Phase};
use crate::state::{IncidentState, Stage, SubscriptionState};
use crate::{LocalId, Rejection, SubscriptionKind};
use heddle_bpmn_graph::{Association, NodeIx, Place, Schedule};
use heddle_feel::size_of_json;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Most bytes of the value of a data store.
const MOST_BYTES: u64 = 1 << 20;
/// Beginning of the message of an incident of data stores that found no room in the run.
const UNREAD: &str = "the data stores are not read";

/// Name of the signal by which a write of a data store is told.
#[must_use]
pub fn store_signal(store: &str) -> String {
    format!("dataStore:{store}")
}

impl Machine<'_> {
    /// Takes over what others have written since.
    pub(super) fn read_stores(&mut self) {
        let (graph, cx) = (self.graph, self.cx);
        let mut values = Map::new();
        for store in graph.stores() {
            let Some(value) = cx.stores.get(&*store.name) else { continue };
            let known = self.state.variables().and_then(|own| own.get(&*store.variable));
            if known != Some(value) {
                values.insert(store.variable.to_string(), value.clone());
            }
        }
        if values.is_empty() {
            return;
        }
        match self.admit_own(LocalId::ROOT, &values) {
            Ok(()) => self.emit(At::scope(LocalId::ROOT), EventKind::VariablesSet { values }),
            // The run stands still behind the one incident until that is tried again.
            Err(_) if self.has_unread_stores() => self.halted = true,
            Err(exceeded) => {
                let message = format!("{UNREAD}: {exceeded}");
                self.raise(At::scope(LocalId::ROOT), IncidentCode::Limit, &message, Phase::Tokens);
            }
        }
    }

    /// Whether an incident says that the data stores found no room.
    pub(super) fn has_unread_stores(&self) -> bool {
        let says = |own: &IncidentState| {
            own.code == IncidentCode::Limit
                && own.scope == LocalId::ROOT
                && own.instance.is_none()
                && own.message.starts_with(UNREAD)
        };
        self.state.incidents.iter().any(says)
    }

    /// Checks that a data store may get a value; answers the bytes of the event that tells of it.
    pub(super) fn admit_store(
        &self,
        association: &Association,
        moved: &Map<String, Value>,
    ) -> Result<u64, StepFault> {
        let Some((store, value)) = written(association, moved) else { return Ok(0) };
        let bytes = size_of_json(value);
        if bytes > MOST_BYTES {
            return Err(expression(format!(
                "the data store `{store}` holds {MOST_BYTES} bytes and not {bytes}"
            )));
        }
        self.admit_hop()?;
        Ok(bytes.saturating_add(store.len() as u64))
    }

    /// Writes the data store that is the target of an association.
    pub(super) fn write_store(
        &mut self,
        id: LocalId,
        association: &Association,
        moved: &Map<String, Value>,
    ) -> Result<(), Rejection> {
        let Some((store, value)) = written(association, moved) else { return Ok(()) };
        let (store, value) = (store.clone(), value.clone());
        let (_, at) = self.at(id)?;
        self.emit(at, EventKind::DataStoreWritten { store, value });
        Ok(())
    }

    /// Waits for the data stores from which a node instance gets its inputs. A timer has it look once more behind the commit:
    /// what was written before is told to nobody who listens from then on.
    pub(super) fn await_stores(&mut self, ix: NodeIx, id: LocalId) {
        let mut waits: Vec<Wait> = Vec::new();
        for store in self.stores_of(ix) {
            let name: Arc<str> = store_signal(&store).into();
            if self.state.subscriptions.iter().any(|own| own.host == id && own.name == name) {
                continue;
            }
            let what = What::Subscription { kind: SubscriptionKind::Signal, name, key: None };
            waits.push(Wait { node: ix, what, trigger: None });
        }
        if waits.is_empty() {
            return;
        }
        self.open(waits, id);
        let at = self.wait_at(ix, id);
        self.schedule(at, Schedule { due_at: self.now, cycle: None });
    }

    /// Ends the wait for data stores: the node instance has its data.
    pub(super) fn awaits_stores_no_more(&mut self, ix: NodeIx, id: LocalId) {
        if !self.stores_of(ix).is_empty() {
            self.close_waits_of(ix, id);
        }
    }

    /// Whether a subscription is that of a node instance to a data store: its data are looked at in each step, and a write
    /// gives it nothing else.
    pub(super) fn awaits_store(&self, own: &SubscriptionState) -> bool {
        let waits = self
            .state
            .instance(own.host)
            .is_some_and(|host| host.stage == Stage::Before && *host.node == *own.node);
        waits && own.kind == SubscriptionKind::Signal
    }

    /// Names of the stores from which a node that has input sets gets its inputs.
    fn stores_of(&self, ix: NodeIx) -> Vec<Arc<str>> {
        let Some(data) = &self.graph.node(ix).data else { return Vec::new() };
        if data.input_sets.is_empty() {
            return Vec::new();
        }
        let sources = data.inputs.iter().flat_map(|own| &own.sources);
        let mut found: Vec<Arc<str>> = sources.filter_map(|source| source.store.clone()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The data store that an association writes, and its value; none where it writes none, or moves nothing.
fn written<'a>(
    association: &'a Association,
    moved: &'a Map<String, Value>,
) -> Option<(&'a Arc<str>, &'a Value)> {
    let Place { variable, store: Some(store), .. } = association.target.as_ref()? else { return None };
    Some((store, moved.get(&**variable)?))
}
