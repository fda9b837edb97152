//! The participants of choreographies that the processes of a definition play, and the exchanges that their messages are.

use super::automaton::{Exchange, Monitor};
use super::fault::ChoreographyFault;
use super::tree::Tree;
use heddle_bpmn::ElementKind as K;
use heddle_bpmn::elements::El;
use std::sync::Arc;

/// A process as a participant of a choreography.
#[derive(Debug, Clone)]
pub struct Participation {
    /// Monitor of the process's own messages.
    pub monitor: Monitor,
    /// Id of the participant in the choreography.
    participant: Arc<str>,
    partners: Vec<Partner>,
}

/// Way of a message at a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The process sends it.
    Sent,
    /// The process receives it.
    Received,
}

/// End of a message flow away from the process.
#[derive(Debug, Clone)]
struct Partner {
    /// The node at the process's end; absent for the pool.
    node: Option<String>,
    direction: Direction,
    /// Name of the message; absent for any.
    message: Option<Arc<str>>,
    /// The participant of the choreography at the other end.
    participant: Arc<str>,
}

impl Participation {
    /// The exchange that a message at a node is: its partner is at the other end of the message flow at the node, else of one
    /// at the pool, else the only one with whom the choreography has the process exchange the message. None where none of these
    /// says who the partner is.
    #[must_use]
    pub fn exchange(&self, node: &str, direction: Direction, message: &str) -> Option<Exchange> {
        let fits = |own: &&Partner| {
            own.direction == direction && own.message.as_ref().is_none_or(|name| **name == *message)
        };
        let at_node = self.partners.iter().filter(fits).find(|own| own.node.as_deref() == Some(node));
        let at_pool =
            || self.partners.iter().filter(fits).find(|own| own.node.is_none() && own.message.is_some());
        let partner = match at_node.or_else(at_pool) {
            Some(own) => own.participant.clone(),
            None => self.monitor.partner(&self.participant, direction == Direction::Sent, message)?,
        };
        let (own, message) = (self.participant.clone(), Arc::from(message));
        Some(match direction {
            Direction::Sent => Exchange { from: own, to: partner, message },
            Direction::Received => Exchange { from: partner, to: own, message },
        })
    }
}

/// The choreographies of a definition.
pub(super) struct Choreographies {
    monitors: Vec<Own>,
    /// Reasons why others are not monitored.
    pub faults: Vec<ChoreographyFault>,
}

struct Own {
    el: El,
    monitor: Monitor,
}

impl Choreographies {
    pub(super) fn of(tree: &Tree<'_>) -> Self {
        let mut found = Self { monitors: Vec::new(), faults: Vec::new() };
        for el in tree.choreographies() {
            match Monitor::of(tree, el) {
                Ok(monitor) => found.monitors.push(Own { el, monitor }),
                Err(fault) if fault.element.is_empty() => {
                    found.faults.push(ChoreographyFault { element: tree.id(el), ..fault });
                }
                Err(fault) => found.faults.push(fault),
            }
        }
        found
    }

    /// The choreographies in which a process plays a participant: those that its collaboration refers to, or, where it refers
    /// to none, those of the definition whose participants are its own, and those that name the process themselves.
    pub(super) fn of_process(&self, tree: &Tree<'_>, process: &str) -> Vec<Arc<Participation>> {
        let mut found: Vec<Participation> = Vec::new();
        for own in &self.monitors {
            if let Some(participant) = player(tree, own.el, process) {
                let roles = Roles { tree, collaboration: own.el, choreography: own.el };
                found.push(roles.participation(&own.monitor, participant, process));
            }
        }
        for collaboration in tree.all(K::Collaboration) {
            let Some(outer) = player(tree, collaboration, process) else { continue };
            let named: Vec<String> = tree.texts(collaboration, K::ChoreographyRef).collect();
            for own in &self.monitors {
                let roles = Roles { tree, collaboration, choreography: own.el };
                let wanted =
                    if named.is_empty() { roles.is_whole() } else { named.contains(&tree.id(own.el)) };
                let known = found.iter().any(|other| other.monitor.id() == own.monitor.id());
                if !wanted || known {
                    continue;
                }
                if let Some(participant) = roles.played_by(outer) {
                    found.push(roles.participation(&own.monitor, participant, process));
                }
            }
        }
        found.into_iter().map(Arc::new).collect()
    }
}

/// The participant of a collaboration or choreography whose process it is.
fn player(tree: &Tree<'_>, collaboration: El, process: &str) -> Option<El> {
    let mut participants = tree.kids(collaboration, K::Participant);
    participants.find(|own| tree.reference(*own, "processRef").as_deref() == Some(process))
}

/// A collaboration with a choreography of its participants.
struct Roles<'a, 't> {
    tree: &'a Tree<'t>,
    collaboration: El,
    choreography: El,
}

impl Roles<'_, '_> {
    /// Whether at least two participants of the collaboration are those of the choreography, and none of the choreography's
    /// is missing.
    fn is_whole(&self) -> bool {
        let played: Vec<El> = self
            .tree
            .kids(self.collaboration, K::Participant)
            .filter_map(|outer| self.played_by(outer))
            .collect();
        let mut all = self.tree.kids(self.choreography, K::Participant);
        played.len() > 1 && all.all(|own| played.contains(&own))
    }

    /// The participant of the choreography that one of the collaboration is: by an association, else by its name.
    fn played_by(&self, outer: El) -> Option<El> {
        let tree = self.tree;
        if self.collaboration == self.choreography {
            return Some(outer);
        }
        let own = |el: &El| tree.parent(*el) == Some(self.choreography) && tree.is(*el, K::Participant);
        let id = tree.id(outer);
        for association in tree.kids(self.collaboration, K::ParticipantAssociation) {
            let inner = tree.texts(association, K::InnerParticipantRef).next();
            let outer = tree.texts(association, K::OuterParticipantRef).next();
            let other = match (inner, outer) {
                (Some(inner), Some(outer)) if outer == id => inner,
                (Some(inner), Some(outer)) if inner == id => outer,
                _ => continue,
            };
            if let Some(found) = tree.find(&other).filter(own) {
                return Some(found);
            }
        }
        let name = tree.attr(outer, "name")?;
        let mut all = tree.kids(self.choreography, K::Participant);
        all.find(|el| tree.attr(*el, "name").as_deref() == Some(name.as_str()))
    }

    fn participation(&self, monitor: &Monitor, participant: El, process: &str) -> Participation {
        let id = self.tree.id(participant);
        let mut partners = Vec::new();
        for flow in self.tree.kids(self.collaboration, K::MessageFlow) {
            let ends = ["sourceRef", "targetRef"].map(|end| {
                let id = self.tree.reference(flow, end)?;
                self.tree.find(&id)
            });
            let [Some(source), Some(target)] = ends else { continue };
            for (end, away, direction) in
                [(source, target, Direction::Sent), (target, source, Direction::Received)]
            {
                let at = self.end(end);
                if at.is_none_or(|own| self.tree.reference(own, "processRef").as_deref() != Some(process)) {
                    continue;
                }
                let Some(other) = self.end(away).and_then(|outer| self.played_by(outer)) else { continue };
                let node = (!self.tree.is(end, K::Participant)).then(|| self.tree.id(end));
                let participant = self.tree.id(other).into();
                partners.push(Partner { node, direction, message: self.tree.message(flow), participant });
            }
        }
        Participation { monitor: monitor.of_participant(&id), participant: id.into(), partners }
    }

    /// The participant of the collaboration at an end of a message flow: itself, or the one whose process the end is in.
    fn end(&self, el: El) -> Option<El> {
        if self.tree.is(el, K::Participant) {
            return Some(el);
        }
        let process = self.tree.id(self.tree.process(el)?);
        player(self.tree, self.collaboration, &process)
    }
}
