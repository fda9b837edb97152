//! An acyclic region with one entry and one exit as a flow with links (clause 14): gateways become `empty`
//! activities, flows become links with transition conditions, and joins get join conditions.
//!
//! The links say the same as the tokens only when no join gets more tokens, or fewer, than it takes. That is
//! tried for every combination of choices; a region in which it fails, or which has too many combinations, is
//! refused.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::expression::Expr;
use super::graph::{Edge, Graph, Join, Kind, Split};
use super::structure::{Folder, ends_scope, no_flow};
use super::tree::{Activity, Source, Targets, What};
use std::collections::{HashMap, VecDeque};

/// Steps spent on trying the choices of one region.
const MAX_STEPS: usize = 400_000;
/// Conditions at one gateway: an exclusive choice names all earlier ones in each.
const MAX_BRANCHES: usize = 64;

/// Folds the region, given in topological order from its split on, into the edge that enters it.
pub(super) fn fold(folder: &mut Folder, entry: u32, region: &[u32], exit: u32) {
    let head = folder.graph.of(entry).incoming[0];
    let ordered = |node: u32| folder.graph.branches(node);
    let outgoing: Vec<Vec<u32>> = region.iter().map(|node| ordered(*node)).collect();
    let mut elements: VecDeque<u32> = VecDeque::new();
    for (node, edges) in region.iter().zip(&outgoing) {
        elements.extend(folder.graph.of(*node).element);
        for edge in edges {
            elements.extend(&folder.graph.edges[*edge as usize].elements);
        }
    }
    let sound = check(&folder.graph, region, &outgoing, exit);
    let made = sound.and_then(|()| {
        let mut flow = Flow { folder, links: Vec::new(), activities: Vec::new(), arriving: HashMap::new() };
        flow.make(region, &outgoing, exit)
    });
    let activity = made.unwrap_or_else(|(code, message)| {
        let mut ids = elements.clone();
        ids.extend(folder.graph.of(exit).element);
        folder.context.refuse(ids, code, message);
        Activity::default()
    });
    for edge in outgoing.iter().flatten() {
        // Edges with content were taken apart already.
        if folder.graph.edges[*edge as usize].alive {
            folder.graph.remove(*edge);
        }
    }
    for node in region {
        folder.graph.nodes[*node as usize].alive = false;
    }
    folder.fold(entry, head, exit, activity, elements);
}

type Refusal = (&'static str, String);

struct Flow<'f, 'c, 'd> {
    folder: &'f mut Folder<'c, 'd>,
    links: Vec<String>,
    activities: Vec<Activity>,
    /// Links that end at a node.
    arriving: HashMap<u32, Vec<String>>,
}

impl Flow<'_, '_, '_> {
    fn make(&mut self, region: &[u32], outgoing: &[Vec<u32>], exit: u32) -> Result<Activity, Refusal> {
        for (node, edges) in region.iter().zip(outgoing) {
            self.node(*node, edges, exit)?;
        }
        let links = std::mem::take(&mut self.links);
        let mut flow = Activity::new(What::Flow(links, std::mem::take(&mut self.activities)));
        flow.name = self.folder.context.names.unique("flow");
        Ok(flow)
    }

    fn link(&mut self) -> String {
        let name = self.folder.context.names.unique("link");
        self.links.push(name.clone());
        name
    }

    fn node(&mut self, node: u32, edges: &[u32], exit: u32) -> Result<(), Refusal> {
        let conditions = self.conditions(node, edges)?;
        let of = &mut self.folder.graph.nodes[node as usize];
        let activity = of.activity.take();
        let (kind, element) = (of.kind.clone(), of.element);
        let mut activity = activity.unwrap_or_default();
        if activity.is_nothing()
            && let Some(id) = self.folder.context.gateway_id(element)
        {
            activity.name = self.folder.context.names.unique(&id);
            activity.element = Some(id);
        }
        activity.targets = self.targets(node, &kind);
        let mut sources = Vec::new();
        for (edge, condition) in edges.iter().zip(conditions.branches) {
            sources.push(self.edge(*edge, condition, exit));
        }
        if let Some(condition) = conditions.none {
            let link = self.link();
            let mut throw = no_flow();
            throw.targets = Some(Targets { links: vec![link.clone()], join: None });
            self.activities.push(throw);
            sources.push(Some(Source { link, condition: Some(condition) }));
        }
        if let Kind::Split(Split::Event(create)) = kind {
            activity.what = self.pick(node, create, edges, sources).what;
        } else {
            activity.sources = sources.into_iter().flatten().collect();
        }
        self.activities.push(activity);
        Ok(())
    }

    /// A pick whose branches do nothing but give their link on.
    fn pick(&mut self, node: u32, create: bool, edges: &[u32], sources: Vec<Option<Source>>) -> Activity {
        let mut branches = Vec::new();
        for (edge, source) in edges.iter().zip(sources) {
            let from = &mut self.folder.graph.edges[*edge as usize];
            let mut branch = Edge { branch: std::mem::take(&mut from.branch), ..Edge::default() };
            let mut empty = Activity::new(What::Empty);
            empty.sources = source.into_iter().collect();
            branch.content.push_back(empty);
            branches.push(branch);
        }
        self.folder.pick(node, create, branches)
    }

    fn targets(&mut self, node: u32, kind: &Kind) -> Option<Targets> {
        let links = self.arriving.remove(&node)?;
        let word = if matches!(kind, Kind::Join(Join::Parallel)) { " and " } else { " or " };
        let named: Vec<String> = links.iter().map(|link| format!("${link}")).collect();
        let join = (links.len() > 1).then(|| named.join(word));
        Some(Targets { links, join })
    }

    /// The link that an edge starts with; none when nothing depends on it.
    fn edge(&mut self, at: u32, condition: Option<Expr>, exit: u32) -> Option<Source> {
        let edge = &mut self.folder.graph.edges[at as usize];
        let (to, content) = (edge.to, std::mem::take(&mut edge.content));
        if content.is_empty() && to == exit {
            return None;
        }
        let link = self.link();
        if content.is_empty() {
            self.arriving.entry(to).or_default().push(link.clone());
            return Some(Source { link, condition });
        }
        let mut activity = Activity::sequence(content);
        if activity.targets.is_some() || !activity.sources.is_empty() {
            activity = Activity::new(What::Sequence(vec![activity]));
        }
        activity.targets = Some(Targets { links: vec![link.clone()], join: None });
        if to != exit {
            let next = self.link();
            self.arriving.entry(to).or_default().push(next.clone());
            activity.sources.push(Source { link: next, condition: None });
        }
        self.activities.push(activity);
        Some(Source { link, condition })
    }

    fn conditions(&self, node: u32, edges: &[u32]) -> Result<Conditions, Refusal> {
        let exclusive = match self.folder.graph.of(node).kind {
            Kind::Split(Split::Exclusive) => true,
            Kind::Split(Split::Inclusive) => false,
            _ => return Ok(Conditions { branches: vec![None; edges.len()], none: None }),
        };
        if edges.len() > MAX_BRANCHES {
            return Err((
                "tooLarge",
                format!("a gateway of the region has more than {MAX_BRANCHES} branches"),
            ));
        }
        combine(exclusive, &self.folder.graph, edges).ok_or_else(|| {
            let message = "the conditions of a gateway are in several languages, or in one whose operators are not known, so that they cannot be put together in transition conditions";
            ("mixedLanguages", message.to_owned())
        })
    }
}

struct Conditions {
    branches: Vec<Option<Expr>>,
    /// Condition under which no branch is taken; none where one always is.
    none: Option<Expr>,
}

fn combine(exclusive: bool, graph: &Graph, edges: &[u32]) -> Option<Conditions> {
    let mut branches = vec![None; edges.len()];
    let mut not_before: Vec<Expr> = Vec::new();
    let mut default = None;
    let mut certain = false;
    for (at, edge) in edges.iter().enumerate() {
        let branch = &graph.edges[*edge as usize].branch;
        if branch.is_default {
            default = Some(at);
            continue;
        }
        if certain && exclusive {
            branches[at] = Some(Expr::xpath("false()"));
            continue;
        }
        match &branch.condition {
            Some(condition) => {
                let own = if exclusive {
                    Expr::all(&not_before.iter().cloned().chain([condition.clone()]).collect::<Vec<_>>())?
                } else {
                    condition.clone()
                };
                branches[at] = Some(own);
                not_before.push(condition.negated()?);
            }
            None => {
                branches[at] = if exclusive { Expr::all(&not_before) } else { None };
                if exclusive && branches[at].is_none() && !not_before.is_empty() {
                    return None;
                }
                certain = true;
            }
        }
    }
    let nothing = if certain {
        Some(Expr::xpath("false()"))
    } else if not_before.is_empty() {
        None
    } else {
        Some(Expr::all(&not_before)?)
    };
    let none = match default {
        Some(at) => {
            branches[at] = nothing;
            None
        }
        None => nothing.filter(|_| !certain),
    };
    Some(Conditions { branches, none })
}

/// Tries all choices.
fn check(graph: &Graph, region: &[u32], outgoing: &[Vec<u32>], exit: u32) -> Result<(), Refusal> {
    let size: usize = region.len() + outgoing.iter().map(Vec::len).sum::<usize>();
    let mut choices: Vec<(usize, usize)> = Vec::new();
    let mut steps = 0;
    loop {
        steps += size;
        if steps > MAX_STEPS {
            let message = "the region has too many combinations of choices to show that links say the same";
            return Err(("tooLarge", message.to_owned()));
        }
        run(graph, region, outgoing, exit, &mut choices)?;
        loop {
            match choices.last_mut() {
                None => return Ok(()),
                Some((choice, count)) if *choice + 1 < *count => {
                    *choice += 1;
                    break;
                }
                Some(_) => {
                    choices.pop();
                }
            }
        }
    }
}

/// Sends the tokens through the region with these choices; choices that are not made yet are the first ones.
fn run(
    graph: &Graph,
    region: &[u32],
    outgoing: &[Vec<u32>],
    exit: u32,
    choices: &mut Vec<(usize, usize)>,
) -> Result<(), Refusal> {
    let mut tokens: HashMap<u32, usize> = HashMap::new();
    let mut next = 0;
    let (mut aborted, mut stuck) = (false, false);
    for (at, node) in region.iter().enumerate() {
        let arrived = if at == 0 { 1 } else { tokens.get(node).copied().unwrap_or(0) };
        let of = graph.of(*node);
        match of.kind {
            Kind::Join(Join::Parallel) if arrived != 0 && arrived < of.incoming.len() => {
                stuck = true;
                continue;
            }
            Kind::Join(Join::Exclusive) if arrived > 1 => {
                let message = "several tokens can arrive at an exclusive join, which gives each of them on; with links the rest would run once";
                return Err(("lackOfSynchronization", message.to_owned()));
            }
            _ if arrived == 0 => continue,
            _ => {}
        }
        let edges = &outgoing[at];
        let taken = match &of.kind {
            Kind::Split(split) => chosen(graph, split, edges, choices, &mut next)?,
            _ => u64::MAX,
        };
        for (bit, edge) in edges.iter().enumerate() {
            if bit < 64 && taken & (1 << bit) == 0 && taken != u64::MAX {
                continue;
            }
            let edge = &graph.edges[*edge as usize];
            aborted |= ends_scope(edge);
            *tokens.entry(edge.to).or_insert(0) += 1;
        }
    }
    if aborted {
        return Ok(());
    }
    let into: usize =
        outgoing.iter().flatten().filter(|edge| graph.edges[**edge as usize].to == exit).count();
    let left = tokens.get(&exit).copied().unwrap_or(0);
    let (fits, too_many) = match graph.of(exit).kind {
        Kind::Join(Join::Parallel) => (left == into, false),
        Kind::Join(Join::Inclusive) | Kind::End => (left > 0, false),
        _ => (left == 1, left > 1),
    };
    if stuck || !fits {
        return Err(if too_many {
            (
                "lackOfSynchronization",
                "several tokens can leave the region, which lets what follows run several times".to_owned(),
            )
        } else {
            ("deadlock", "a parallel join can wait for a token that never comes".to_owned())
        });
    }
    Ok(())
}

/// The branches that are taken, as bits.
fn chosen(
    graph: &Graph,
    split: &Split,
    edges: &[u32],
    choices: &mut Vec<(usize, usize)>,
    next: &mut usize,
) -> Result<u64, Refusal> {
    let too_many = || ("tooLarge", "a gateway of the region has too many branches".to_owned());
    let branch = |at: usize| &graph.edges[edges[at] as usize].branch;
    let options: Vec<u64> = match split {
        Split::Parallel => return Ok(u64::MAX),
        _ if edges.len() > MAX_BRANCHES.min(63) => return Err(too_many()),
        Split::Exclusive | Split::Event(_) | Split::Outcome(_) => {
            (0..edges.len()).map(|at| 1 << at).collect()
        }
        Split::Inclusive => {
            let all = 0..edges.len();
            let bits = |test: &dyn Fn(usize) -> bool| -> u64 {
                all.clone().filter(|at| test(*at)).map(|at| 1_u64 << at).sum()
            };
            let default = bits(&|at| branch(at).is_default);
            let certain = bits(&|at| !branch(at).is_default && branch(at).condition.is_none());
            let open: Vec<usize> =
                all.clone().filter(|at| !branch(*at).is_default && branch(*at).condition.is_some()).collect();
            if open.len() > 12 {
                return Err(too_many());
            }
            let subset = |choice: u32| -> u64 {
                open.iter()
                    .enumerate()
                    .filter(|(bit, _)| choice & (1 << bit) != 0)
                    .map(|(_, at)| 1_u64 << at)
                    .sum()
            };
            let some = (1..1_u32 << open.len()).map(|choice| certain | subset(choice));
            let none = Some(if certain == 0 { default } else { certain }).filter(|bits| *bits != 0);
            some.chain(none).collect()
        }
    };
    if *next == choices.len() {
        choices.push((0, options.len().max(1)));
    }
    let at = choices[*next].0;
    *next += 1;
    options.get(at).copied().ok_or_else(too_many)
}
