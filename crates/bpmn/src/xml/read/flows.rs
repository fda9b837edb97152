//! What graphs and diagrams say of flows and way points beside their members.

use super::{Flows, Reader};
use crate::xml::names::{Kind, kind};
use crate::xml::tree::El;
use std::borrow::Cow;

impl<'s> Reader<'s> {
    /// Notes the type that way points share; a way point of another type keeps its own.
    pub(in crate::xml) fn waypoint_type_of(&mut self, el: El) {
        let name = self.prefixes.xsi_type();
        let own = self.tree.attributes(el).iter().find(|attribute| attribute.name == name);
        let own = own.map(|attribute| attribute.raw);
        let shared = *self.waypoint_type.get_or_insert(own);
        if own.is_none() && shared.is_some() {
            self.mark("plain", "true".to_owned());
        }
        self.same_waypoint_type = own.is_some() && own == shared;
    }

    /// Notes which flows a node says come in or go out.
    pub(in crate::xml) fn flow_ref(&mut self, el: El) {
        if let Some(frame) = self.frames.last_mut() {
            frame.flow_refs.push(el);
        }
    }

    /// Starts a graph: collects its flows by node.
    pub(in crate::xml) fn enter_graph(&mut self, el: El) {
        let tree = self.tree;
        let mut flows = Flows::default();
        if !self.omit_flow_refs {
            for child in tree.parts_of(el).filter(|&child| tree.part(child).kind == kind("sequenceFlow")) {
                let Some(id) = tree.attribute(child, "id") else { continue };
                if let Some(source) = tree.attribute(child, "sourceRef") {
                    flows.entry(self.own_name(source)).or_default().1.push(id.clone());
                }
                if let Some(target) = tree.attribute(child, "targetRef") {
                    flows.entry(self.own_name(target)).or_default().0.push(id);
                }
            }
        }
        self.flows.push(flows);
    }

    pub(in crate::xml) fn leave_graph(&mut self) {
        self.flows.pop();
    }

    /// Keeps a node's own list of flows where it is not the one that its graph's flows give.
    pub(in crate::xml) fn check_flow_refs(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        let refs = std::mem::take(&mut frame.flow_refs);
        if self.omit_flow_refs {
            return;
        }
        let tree = self.tree;
        let none = (Vec::new(), Vec::new());
        let (incoming, outgoing) =
            frame.id.as_ref().and_then(|id| self.flows.last()?.get(id)).unwrap_or(&none);
        let derived = incoming.iter().map(|id| (kind("incoming"), id));
        let derived = derived.chain(outgoing.iter().map(|id| (kind("outgoing"), id)));
        let bare = |&el: &El| {
            tree.attributes(el).is_empty() && !tree.has_parts(el) && tree.declarations(el).is_empty()
        };
        let mut said = refs.iter().map(|&el| (tree.part(el).kind, tree.text(el)));
        let same = refs.iter().all(bare) && derived.eq_by_pairs(&mut said);
        if same {
            return;
        }
        frame.keep.get_or_insert_default().markers.push(("flowRefs", "own".to_owned()));
        for el in refs {
            let rank = if tree.part(el).kind == kind("incoming") { FLOW_REF_RANK } else { FLOW_REF_RANK + 1 };
            frame.keep.get_or_insert_default().children.push((rank, tree.fragment(el)));
        }
    }
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
