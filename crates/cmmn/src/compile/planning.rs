//! Planning tables: discretionary items, by which rules and by which roles they are planned (clause 5.4.9).

use super::{At, Builder, Node};
use crate::model::PlanningTable;
use crate::plan::{Condition, Discretion, ItemIx};

/// Place of a planning table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seat {
    /// Stage that its items are planned into.
    pub stage: ItemIx,
    /// Stage or human task that has the table.
    pub host: ItemIx,
}

impl<'m> Builder<'m> {
    /// The discretionary items of a table and of the tables in it; `outer` is what the tables around ask for.
    pub(super) fn table(
        &mut self,
        seat: Seat,
        table: &'m PlanningTable,
        path: &str,
        outer: &Discretion,
        around: &mut Vec<&'m str>,
    ) {
        let at = At { id: table.id.as_deref().unwrap_or_default(), path };
        let roles = table.authorized_role_refs.as_deref().unwrap_or_default();
        let rules = table.applicability_rule_refs.as_deref().unwrap_or_default();
        let own = self.narrowed(at, outer, rules, roles);
        if let Some(settings) = table.configuration.as_ref() {
            self.no_settings(at, settings, "a planning table");
        }
        for (number, item) in table.discretionary_items.iter().flatten().enumerate() {
            let path = format!("{path}.discretionaryItems[{number}]");
            let at = At { id: item.id.as_deref().unwrap_or_default(), path: &path };
            let roles = item.authorized_role_refs.as_deref().unwrap_or_default();
            let rules = item.applicability_rule_refs.as_deref().unwrap_or_default();
            let discretion = self.narrowed(at, &own, rules, roles);
            let found = self.item(seat.stage, Node::from(item), path.clone(), Some(discretion), around);
            if let (Some(found), Some(host)) = (found, self.plan.items.get_mut(seat.host as usize)) {
                host.table.push(found);
            }
        }
        for (number, inner) in table.planning_tables.iter().flatten().enumerate() {
            self.table(seat, inner, &format!("{path}.planningTables[{number}]"), &own, around);
        }
    }

    /// Demands of a table or an item, with those of the tables around it.
    fn narrowed(&mut self, at: At<'_>, outer: &Discretion, rules: &[String], roles: &[String]) -> Discretion {
        let mut own = outer.clone();
        for id in rules.iter().flat_map(|own| own.split_whitespace()) {
            own.applicable.extend(self.rule_of(at, id));
        }
        let roles = self.role_ids(at, "authorizedRoleRefs", roles);
        if !roles.is_empty() {
            own.roles.push(roles);
        }
        own
    }

    /// The condition of an applicability rule; a rule without one always holds.
    fn rule_of(&mut self, at: At<'_>, id: &str) -> Option<Condition> {
        let Some((rule, path)) = self.rules.get(id).cloned() else {
            let message = format!("applicabilityRuleRefs: the case has no applicability rule {id:?}");
            self.error(at, ("danglingReference", "5.4.9.3"), message);
            return None;
        };
        let at = At { id, path: &path };
        self.condition(at, "condition", rule.condition.as_ref(), rule.context_ref.as_deref())
    }
}
