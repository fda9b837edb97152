//! Reading of flow references and way point types, which graphs and diagrams give beside their members.

use crate::xml::names::{Kind, kind};
use crate::xml::tree::El;
use crate::xml::vocabulary::Reader;
use heddle_xml::hash::HashMap;
use std::borrow::Cow;

/// Incoming and outgoing flows by node.
pub(super) type Flows<'s> = HashMap<Cow<'s, str>, (Vec<Cow<'s, str>>, Vec<Cow<'s, str>>)>;

/// Notes the type that way points share; a way point of another type keeps its own.
pub(in crate::xml) fn waypoint_type(reader: &mut Reader<'_>, el: El) {
    let name = reader.xsi_type();
    let own = reader.tree.attributes(el).iter().find(|attribute| attribute.name == name);
    let own = own.map(|attribute| attribute.raw);
    let shared = *reader.state.waypoint_type.get_or_insert(own);
    if own.is_none() && shared.is_some() {
        reader.mark("plain", "true".to_owned());
    }
    reader.state.same_waypoint_type = own.is_some() && own == shared;
}

/// Notes a flow that a node says comes in or goes out.
pub(in crate::xml) fn flow_ref(reader: &mut Reader<'_>, el: El) {
    let node = reader.current();
    reader.state.flow_refs.push((node, el));
}

/// Starts a graph: collects its flows by node.
pub(in crate::xml) fn enter_graph(reader: &mut Reader<'_>, el: El) {
    let tree = reader.tree;
    let mut flows = Flows::default();
    if !reader.state.omit_flow_refs {
        for child in tree.parts_of(el).filter(|&child| tree.part(child).kind == kind("sequenceFlow")) {
            let Some(id) = tree.attribute(child, "id") else { continue };
            if let Some(source) = tree.attribute(child, "sourceRef") {
                flows.entry(reader.own_name(source)).or_default().1.push(id.clone());
            }
            if let Some(target) = tree.attribute(child, "targetRef") {
                flows.entry(reader.own_name(target)).or_default().0.push(id);
            }
        }
    }
    reader.state.flows.push(flows);
}

/// Ends a graph.
pub(in crate::xml) fn leave_graph(reader: &mut Reader<'_>) {
    reader.state.flows.pop();
}

/// Keeps the list of flows of the node that is being read where it is not the one that its graph's flows give.
pub(in crate::xml) fn check_flow_refs(reader: &mut Reader<'_>) {
    let node = reader.current();
    // Those of the nodes within it are gone by now.
    let first = reader.state.flow_refs.iter().rposition(|&(of, _)| of != node).map_or(0, |last| last + 1);
    if reader.state.omit_flow_refs {
        reader.state.flow_refs.truncate(first);
        return;
    }
    let tree = reader.tree;
    let refs = reader.state.flow_refs.get(first..).unwrap_or_default();
    let none = (Vec::new(), Vec::new());
    let (incoming, outgoing) =
        reader.current_id().and_then(|id| reader.state.flows.last()?.get(id)).unwrap_or(&none);
    let derived = incoming.iter().map(|id| (kind("incoming"), id));
    let derived = derived.chain(outgoing.iter().map(|id| (kind("outgoing"), id)));
    let bare = |&(_, el): &(El, El)| {
        tree.attributes(el).is_empty() && !tree.has_parts(el) && tree.declarations(el).is_empty()
    };
    let mut said = refs.iter().map(|&(_, el)| (tree.part(el).kind, tree.text(el)));
    let same = refs.iter().all(bare) && derived.eq_by_pairs(&mut said);
    if !same {
        reader.mark("flowRefs", "own".to_owned());
        for at in first..reader.state.flow_refs.len() {
            let Some(&(_, el)) = reader.state.flow_refs.get(at) else { break };
            let rank = if tree.part(el).kind == kind("incoming") { FLOW_REF_RANK } else { FLOW_REF_RANK + 1 };
            reader.keep_xml(rank, tree.fragment(el));
        }
    }
    reader.state.flow_refs.truncate(first);
}

/// Rank of a node's own flow references; all flow node rows have them at this place.
const FLOW_REF_RANK: usize = 5;

/// Equality of two sequences of flow references.
trait EqByPairs<'a> {
    fn eq_by_pairs(self, said: &mut dyn Iterator<Item = (Kind, Cow<'a, str>)>) -> bool;
}

impl<'a, 'b, I: Iterator<Item = (Kind, &'b Cow<'a, str>)>> EqByPairs<'a> for I
where
    'a: 'b,
{
    fn eq_by_pairs(mut self, said: &mut dyn Iterator<Item = (Kind, Cow<'a, str>)>) -> bool {
        loop {
            match (self.next(), said.next()) {
                (None, None) => return true,
                (Some((derived, id)), Some((kind, text))) if derived == kind && *id == text => {}
                _ => return false,
            }
        }
    }
}
