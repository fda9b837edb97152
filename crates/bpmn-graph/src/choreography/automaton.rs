//! Monitors: what has been seen as a set of markings, and what of it may come next.

use super::fault::ChoreographyFault;
use super::moves::{Aim, Marking, Seen, Sight, TooMany};
use super::net::{self, Kind, Leg, Net, ROOT};
use super::tree::Tree;
use heddle_bpmn::elements::El;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

/// Most markings of a state.
const MAX_MARKINGS: usize = 64;
/// Most markings that one message looks at.
const MAX_SEARCHED: usize = 4_096;
/// Most markings that are looked at for each message that may have been expected.
const MAX_TRIED: usize = 256;
/// Most exchanges that a violation says were expected.
const MAX_EXPECTED: usize = 16;

/// A choreography as an automaton over the messages of its participants, or over those of one of them.
#[derive(Debug, Clone)]
pub struct Monitor {
    id: Arc<str>,
    closed: bool,
    net: Arc<Net>,
    /// The participant whose messages alone it sees.
    by: Option<Arc<str>>,
}

/// A message that one participant sends another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    /// Id of the participant that sends it.
    pub from: Arc<str>,
    /// Id of the participant that receives it.
    pub to: Arc<str>,
    /// Name of the message.
    pub message: Arc<str>,
}

/// A message that may come next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpectedExchange {
    /// Id of the choreography task.
    pub task_id: Arc<str>,
    /// Name of the choreography task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_name: Option<Arc<str>>,
    /// Id of the participant that sends it.
    pub from: Arc<str>,
    /// Id of the participant that receives it.
    pub to: Arc<str>,
    /// Name of the message; absent for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Arc<str>>,
}

/// A message out of order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("the message `{}` from `{}` to `{}` is out of order", .seen.message, .seen.from, .seen.to)]
#[serde(rename_all = "camelCase")]
pub struct ChoreographyViolation {
    /// Ids of the choreography tasks that the message belongs to; none when the choreography, which is closed, has no such
    /// message at all.
    pub task_ids: Vec<Arc<str>>,
    /// The messages that may come, up to 16; none when the choreography is over.
    pub expected: Vec<ExpectedExchange>,
    /// The message that came.
    pub seen: Exchange,
}

/// Reason why a monitor does not go on with a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Violation of the choreography; its state is what it was.
    #[error(transparent)]
    Violation(Box<ChoreographyViolation>),
    /// More possibilities than a monitor keeps: it can't judge any more.
    #[error("the choreography leaves more possibilities open than a monitor keeps")]
    TooManyPossibilities,
}

/// Knowledge of a monitor: each marking that what was seen allows. The default is the beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoreographyState {
    /// The markings, sorted; none before the first message.
    #[serde(rename = "m", default, skip_serializing_if = "Vec::is_empty")]
    markings: Vec<Marking>,
    /// Whether the monitor gave up.
    #[serde(rename = "x", default, skip_serializing_if = "std::ops::Not::not")]
    lost: bool,
}

impl ChoreographyState {
    /// The state of a monitor that gave up: it judges nothing any more.
    #[must_use]
    pub fn lost() -> Self {
        Self { markings: Vec::new(), lost: true }
    }

    /// Places with a token, over all markings.
    #[must_use]
    pub fn size(&self) -> usize {
        self.markings.iter().map(Marking::size).sum()
    }
}

impl Leg {
    fn is(&self, exchange: &Exchange) -> bool {
        self.from == exchange.from
            && self.to == exchange.to
            && self.message.as_ref().is_none_or(|name| *name == exchange.message)
    }
}

impl Monitor {
    /// The monitor of a choreography of a document.
    pub(super) fn of(tree: &Tree<'_>, choreography: El) -> Result<Self, ChoreographyFault> {
        let closed = tree.attr(choreography, "isClosed").is_some_and(|own| own == "true" || own == "1");
        let net = net::read(tree, choreography)?;
        let monitor = Self { id: tree.id(choreography).into(), closed, net: Arc::new(net), by: None };
        match monitor.start() {
            Ok(_) => Ok(monitor),
            Err(_) => {
                let sentence = "its gateways lead in a circle without a message, or make tokens without end";
                Err(ChoreographyFault::new(&monitor.id, sentence, "11.7"))
            }
        }
    }

    /// Id of the choreography.
    #[must_use]
    pub const fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The monitor of one participant: it sees the messages that the participant sends and receives. By the rules of
    /// enforceable choreographies (clause 11.5.6) who sends a message took part in the one before it, so that all
    /// participants' monitors together demand what the whole one does.
    #[must_use]
    pub(super) fn of_participant(&self, participant: &str) -> Self {
        Self { by: Some(participant.into()), ..self.clone() }
    }

    /// The state after an exchange.
    ///
    /// What the choreography has no message for may happen unless it is closed (clause 9), and leaves the state as it is; so
    /// do exchanges between others than a participant's own, where the monitor is a participant's. The state of another
    /// choreography is taken for its beginning.
    ///
    /// # Errors
    /// A violation with what was expected, or too many possibilities.
    pub fn observe(
        &self,
        state: &ChoreographyState,
        exchange: &Exchange,
    ) -> Result<ChoreographyState, Refused> {
        self.observe_counted(state, exchange, &mut 0)
    }

    /// The same. What was done for it is added to `work`: for each marking that was looked at its places and the messages
    /// that were sought in it.
    ///
    /// # Errors
    /// As [`Self::observe`].
    pub fn observe_counted(
        &self,
        state: &ChoreographyState,
        exchange: &Exchange,
        work: &mut u64,
    ) -> Result<ChoreographyState, Refused> {
        let concerned = |own: &Arc<str>| *own == exchange.from || *own == exchange.to;
        if state.lost || self.by.as_ref().is_some_and(|own| !concerned(own)) {
            return Ok(state.clone());
        }
        let sights = self.sights(|leg| leg.is(exchange));
        if sights.is_empty() && !self.closed {
            return Ok(state.clone());
        }
        let now = self.markings(state).map_err(|TooMany| Refused::TooManyPossibilities)?;
        let search = self.search(&now, &sights, Extent::All, work);
        if search.found.is_empty() {
            if search.exceeded {
                return Err(Refused::TooManyPossibilities);
            }
            let mut task_ids: Vec<Arc<str>> =
                sights.iter().map(|sight| self.net.node(sight.task()).id.clone()).collect();
            task_ids.dedup();
            let (expected, seen) = (self.expected_of(&now, work), exchange.clone());
            return Err(Refused::Violation(Box::new(ChoreographyViolation { task_ids, expected, seen })));
        }
        if search.exceeded || search.found.len() > MAX_MARKINGS {
            return Err(Refused::TooManyPossibilities);
        }
        Ok(ChoreographyState { markings: search.found.into_iter().collect(), lost: false })
    }

    /// The exchanges that may come next, up to 16.
    #[must_use]
    pub fn expected(&self, state: &ChoreographyState) -> Vec<ExpectedExchange> {
        self.markings(state).map(|now| self.expected_of(&now, &mut 0)).unwrap_or_default()
    }

    /// The participant to whom, or from whom, a message of another one goes; none when there are none or several.
    pub(super) fn partner(&self, participant: &str, sends: bool, message: &str) -> Option<Arc<str>> {
        let mut found: Option<Arc<str>> = None;
        for leg in self.legs() {
            let (own, other) = if sends { (&leg.from, &leg.to) } else { (&leg.to, &leg.from) };
            if **own != *participant || leg.message.as_ref().is_some_and(|name| **name != *message) {
                continue;
            }
            if found.as_ref().is_some_and(|known| known != other) {
                return None;
            }
            found = Some(other.clone());
        }
        found
    }

    fn seen(&self) -> Seen<'_> {
        Seen { net: &self.net, by: self.by.as_deref() }
    }

    fn legs(&self) -> impl Iterator<Item = &Leg> {
        let tasks = self.net.nodes.iter().filter_map(|node| match &node.kind {
            Kind::Task(task) => Some(task),
            Kind::Sub { .. }
            | Kind::Pass
            | Kind::Choice
            | Kind::Event
            | Kind::Parallel
            | Kind::InclusiveJoin
            | Kind::ComplexJoin
            | Kind::Link { .. }
            | Kind::Terminate => None,
        });
        tasks.flat_map(|task| std::iter::once(&task.initial).chain(&task.reply))
    }

    /// The messages of tasks that are like this.
    fn sights(&self, like: impl Fn(&Leg) -> bool) -> Vec<Sight> {
        let mut found = Vec::new();
        let seen = self.seen();
        for (ix, node) in (0..).zip(&self.net.nodes) {
            let Kind::Task(task) = &node.kind else { continue };
            if !seen.sees(node) {
                continue;
            }
            if like(&task.initial) {
                found.push(Sight::Initial(ix));
            }
            if task.reply.as_ref().is_some_and(&like) {
                found.push(Sight::Reply(ix));
            }
        }
        found
    }

    /// Sender, receiver and message of each message flow.
    #[cfg(test)]
    pub(super) fn legs_of_tests(&self) -> impl Iterator<Item = (Arc<str>, Arc<str>, Arc<str>)> {
        self.legs().filter_map(|leg| Some((leg.from.clone(), leg.to.clone(), leg.message.clone()?)))
    }

    fn start(&self) -> Result<Marking, TooMany> {
        let seen = self.seen();
        let mut marking = seen.beginning(ROOT);
        seen.settle(&mut marking)?;
        Ok(marking)
    }

    fn markings(&self, state: &ChoreographyState) -> Result<Vec<Marking>, TooMany> {
        let seen = self.seen();
        if state.markings.is_empty() || !state.markings.iter().all(|own| seen.knows(own)) {
            return self.start().map(|marking| vec![marking]);
        }
        Ok(state.markings.clone())
    }

    /// The markings after one of these messages, with what can happen unseen before it.
    fn search(&self, from: &[Marking], sights: &[Sight], extent: Extent, work: &mut u64) -> Search {
        let seen = self.seen();
        let mut search = Search::default();
        if sights.is_empty() {
            return search;
        }
        let most = match extent {
            Extent::All => MAX_SEARCHED,
            Extent::Any => MAX_TRIED,
        };
        let aim = Aim::of(seen, sights);
        let mut known: HashSet<Marking> = from.iter().cloned().collect();
        let mut open: VecDeque<Marking> = from.iter().cloned().collect();
        while let Some(marking) = open.pop_front() {
            *work = work.saturating_add(1 + (marking.size() + sights.len()) as u64);
            for mut next in sights.iter().flat_map(|sight| seen.fire(&marking, *sight)) {
                if seen.settle(&mut next).is_ok() {
                    search.found.insert(next);
                } else {
                    search.exceeded = true;
                }
            }
            if extent == Extent::Any && !search.found.is_empty() {
                return search;
            }
            for mut next in seen.silent(&marking, &aim) {
                if seen.settle(&mut next).is_err() || known.len() >= most {
                    search.exceeded = true;
                } else if known.insert(next.clone()) {
                    open.push_back(next);
                }
            }
        }
        search
    }

    fn expected_of(&self, now: &[Marking], work: &mut u64) -> Vec<ExpectedExchange> {
        let mut found = BTreeSet::new();
        for sight in self.sights(|_| true) {
            if found.len() >= MAX_EXPECTED {
                break;
            }
            if self.search(now, &[sight], Extent::Any, work).found.is_empty() {
                continue;
            }
            let node = self.net.node(sight.task());
            let Kind::Task(task) = &node.kind else { continue };
            let leg = match sight {
                Sight::Initial(_) => Some(&task.initial),
                Sight::Reply(_) => task.reply.as_ref(),
            };
            found.extend(leg.map(|leg| ExpectedExchange {
                task_id: node.id.clone(),
                task_name: node.name.clone(),
                from: leg.from.clone(),
                to: leg.to.clone(),
                message: leg.message.clone(),
            }));
        }
        found.into_iter().collect()
    }
}

/// Extent of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All markings.
    All,
    /// The first one that is found.
    Any,
}

/// Result of a search.
#[derive(Debug, Default)]
struct Search {
    found: BTreeSet<Marking>,
    /// Whether a bound left something out.
    exceeded: bool,
}
