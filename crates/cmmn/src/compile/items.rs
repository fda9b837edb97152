//! Plan items: each stage's content, once for every item that refers to the stage.

use super::planning::Seat;
use super::{At, Builder, Node, Raw};
use crate::model::PlanItemDefinition;
use crate::plan::{Control, Discretion, Extra, Item, ItemIx, PLAN_MODEL, Work};
use std::sync::Arc;

/// Most items of a plan, with those of stages that stand in it several times.
const MAX_ITEMS: usize = 10_000;
/// Most stages in one another.
const MAX_DEPTH: usize = 64;

impl<'m> Builder<'m> {
    /// The case plan model with all that is in it.
    pub(super) fn model(&mut self, model: &'m PlanItemDefinition, path: &str) {
        let path = format!("{path}.casePlanModel");
        let case = self.case.id.as_deref().unwrap_or_default();
        let id = model.id.as_deref().filter(|id| !id.is_empty()).unwrap_or(case);
        let node = Node {
            id,
            name: model.name.as_deref(),
            definition_ref: id,
            entry: &[],
            exit: model.exit_criteria.as_deref().unwrap_or_default(),
            control: None,
            configuration: self.case.configuration.as_ref(),
        };
        let (work, extra) = self.plan_model(model, At { id, path: &path });
        let control = Control::default();
        let ix = self.push(Raw { node, definition: model, path: path.clone(), defined: path.clone() }, None);
        self.set(ix, work, extra, control, None);
        let mut around = vec![id];
        self.stage(ix, model, &path, &mut around);
    }

    /// Items of a stage: its plan items, then those of its planning table.
    fn stage(
        &mut self,
        ix: ItemIx,
        definition: &'m PlanItemDefinition,
        path: &str,
        around: &mut Vec<&'m str>,
    ) {
        for (number, item) in definition.items.iter().flatten().enumerate() {
            self.item(ix, Node::from(item), format!("{path}.items[{number}]"), None, around);
        }
        if let Some(table) = definition.planning_table.as_deref() {
            let path = format!("{path}.planningTable");
            self.table(Seat { stage: ix, host: ix }, table, &path, &Discretion::default(), around);
        }
    }

    /// One item, with what is in it; none where it was refused.
    pub(super) fn item(
        &mut self,
        parent: ItemIx,
        node: Node<'m>,
        path: String,
        discretion: Option<Discretion>,
        around: &mut Vec<&'m str>,
    ) -> Option<ItemIx> {
        let at = At { id: node.id, path: &path };
        if node.id.is_empty() {
            self.error(at, ("missingId", "5.4.5"), "the plan item has no id");
            return None;
        }
        let Some(defined) = self.definitions.get(node.definition_ref).cloned() else {
            let message = if node.definition_ref.is_empty() {
                "definitionRef: the item names no definition".to_owned()
            } else {
                format!("definitionRef: the case has no definition {:?}", node.definition_ref)
            };
            self.error(at, ("danglingReference", "5.4.5"), message);
            return None;
        };
        if around.contains(&node.definition_ref) {
            let message = format!(
                "the definition {:?} stands in itself, as a stage or by its planning table",
                node.definition_ref
            );
            self.error(at, ("cyclicNesting", "5.4.8"), message);
            return None;
        }
        if self.plan.items.len() >= MAX_ITEMS || around.len() >= MAX_DEPTH {
            self.too_much(at);
            return None;
        }
        let definition = defined.definition;
        let ix = self
            .push(Raw { node, definition, path: path.clone(), defined: defined.path.clone() }, Some(parent));
        let (work, extra) = self.work(&node, definition, at, &defined.path);
        let is_stage = matches!(work, Work::Stage { .. });
        let is_human = matches!(work, Work::Human { .. });
        let control = self.control(&node, definition, at, &defined.path);
        self.set(ix, work, extra, control, discretion);
        if is_stage {
            around.push(node.definition_ref);
            self.stage(ix, definition, &defined.path, around);
            around.pop();
        } else if let Some(table) = definition.planning_table.as_deref() {
            if is_human && let Some(shared) = self.shared_table(parent, ix, node.definition_ref) {
                if let Some(item) = self.plan.items.get_mut(ix as usize) {
                    item.table = shared;
                }
            } else if is_human {
                let path = format!("{}.planningTable", defined.path);
                around.push(node.definition_ref);
                let seat = Seat { stage: parent, host: ix };
                self.table(seat, table, &path, &Discretion::default(), around);
                around.pop();
            } else {
                let at = At { id: node.definition_ref, path: &defined.path };
                let message = "only a stage and a human task have a planning table";
                self.error(at, ("planningTable", "5.4.9"), message);
            }
        }
        Some(ix)
    }

    /// The discretionary items of another task of the same definition in the same stage: they are planned into that stage
    /// from either task, and are the same items.
    fn shared_table(&self, stage: ItemIx, task: ItemIx, definition: &str) -> Option<Vec<ItemIx>> {
        let item = |ix: &ItemIx| self.plan.items.get(*ix as usize);
        let others = item(&stage)?.children.iter().filter(|own| **own != task).filter_map(item);
        let mut tables = others.filter(|own| *own.definition == *definition).map(|own| &own.table);
        tables.find(|table| !table.is_empty()).cloned()
    }

    /// Tells once that the case is too large.
    pub(super) fn too_much(&mut self, at: At<'_>) {
        if !std::mem::replace(&mut self.is_full, true) {
            let message = format!(
                "the case is too large: it has at most {MAX_ITEMS} plan items, counted once for every item that refers to the \
                 stage around them, with criteria, on-parts and settings to match, and at most {MAX_DEPTH} stages in one \
                 another"
            );
            self.error(at, ("tooManyItems", "5.4.5"), message);
        }
    }

    /// Gives an item its place; what it is follows by [`Self::set`].
    fn push(&mut self, raw: Raw<'m>, parent: Option<ItemIx>) -> ItemIx {
        let ix = self.plan.items.len() as ItemIx;
        let id: Arc<str> = raw.node.id.into();
        let named = |name: Option<&str>| name.map(str::trim).filter(|name| !name.is_empty()).map(Arc::from);
        let name = named(raw.node.name).or_else(|| named(raw.definition.name.as_deref()));
        self.plan.items.push(Item {
            id: Arc::clone(&id),
            definition: raw.node.definition_ref.into(),
            name,
            parent,
            work: Work::Task,
            entry: Vec::new(),
            exit: Vec::new(),
            control: Control::default(),
            discretionary: None,
            children: Vec::new(),
            table: Vec::new(),
            extra: Extra::default(),
        });
        self.plan.item_ids.entry(id).or_insert(ix);
        if ix != PLAN_MODEL {
            self.by_id.entry(raw.node.id).or_default().push(ix);
        }
        if let Some(around) = parent.and_then(|parent| self.plan.items.get_mut(parent as usize)) {
            around.children.push(ix);
        }
        self.raws.push(raw);
        ix
    }

    fn set(&mut self, ix: ItemIx, work: Work, extra: Extra, control: Control, own: Option<Discretion>) {
        if let Some(item) = self.plan.items.get_mut(ix as usize) {
            item.work = work;
            item.extra = extra;
            item.control = control;
            item.discretionary = own;
        }
    }

    /// The item of an id that is nearest to a stage: in it, else in the stages around it, from the innermost on.
    ///
    /// # Errors
    /// A sentence when there is none, or several are as near.
    pub(super) fn nearest(&self, stage: ItemIx, id: &str) -> Result<ItemIx, String> {
        let found = self.by_id.get(id).map(Vec::as_slice).unwrap_or_default();
        let mut around = Some(stage);
        while let Some(ix) = around {
            let mut near = found.iter().copied().filter(|own| self.is_within(*own, ix));
            match (near.next(), near.next()) {
                (Some(own), None) => return Ok(own),
                (Some(_), Some(_)) => {
                    return Err(format!(
                        "the plan item {id:?} is there several times, since several items refer to the stage around it"
                    ));
                }
                (None, _) => around = self.plan.items.get(ix as usize).and_then(|item| item.parent),
            }
        }
        Err(format!("the case has no plan item {id:?}"))
    }

    /// Whether an item stands in a stage, however deep.
    pub(super) fn is_within(&self, item: ItemIx, stage: ItemIx) -> bool {
        let mut around = Some(item);
        while let Some(ix) = around {
            if ix == stage {
                return true;
            }
            around = self.plan.items.get(ix as usize).and_then(|item| item.parent);
        }
        false
    }
}
