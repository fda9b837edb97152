//! Items that may be planned in a case, where, and by whom.

use super::items::item_type;
use super::view::{Looking, PlanningView};
use crate::event::ItemState;
use crate::state::ItemInstance;
use heddle_cmmn::plan::{Item, Rule, Work};
use serde_json::Value;

/// Discretionary items in the planning tables of what is active.
pub(super) fn planning(looking: &Looking<'_>) -> Vec<PlanningView> {
    let active = looking.case.items.iter().filter(|own| own.state == ItemState::Active);
    let mut found = Vec::new();
    for host in active {
        let ix = looking.places.get(&host.id);
        let Some(table) = ix.and_then(|ix| looking.plan.items.get(*ix as usize)).map(|own| (own, &own.table))
        else {
            continue;
        };
        for &ix in table.1 {
            let Some(item) = looking.plan.items.get(ix as usize) else { continue };
            let reason = refusal(looking, host, table.0, item);
            found.push(PlanningView {
                item_id: item.id.clone(),
                name: item.name.clone(),
                item_type: item_type(item, ix),
                host_id: host.id,
                roles: item.discretionary.as_ref().map(|own| own.roles.clone()).unwrap_or_default(),
                applicable: reason.is_none(),
                reason,
            });
        }
    }
    found
}

/// Reason why an item may not be planned now.
fn refusal(looking: &Looking<'_>, host: &ItemInstance, table: &Item, item: &Item) -> Option<String> {
    let discretion = item.discretionary.as_ref()?;
    for condition in &discretion.applicable {
        match looking.value(condition, host.id) {
            Value::Bool(true) => {}
            other => return Some(format!("the applicability rule `{}` gives {other}", condition.text)),
        }
    }
    let stage = match table.work {
        Work::Stage { .. } => Some(host.id),
        _ => host.parent,
    };
    let there = looking.there.get(&(stage, &*item.id)).copied().unwrap_or_default();
    let most = match item.control.repetition {
        Rule::No => Some(1),
        Rule::Yes | Rule::When(_) => item.control.repeats.max_instances,
    };
    let is_full = most.is_some_and(|most| there >= most as usize);
    is_full.then(|| "there are as many of it as there may be".to_owned())
}
