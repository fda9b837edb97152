//! Structure of the document: ids, what stands where, and references that the plan does not follow.

use crate::finding::{At, Diagnostic, Severity, found};
use crate::model::{
    Case, CaseDefinition, CaseFileItem, Criterion, Parameter, PlanItemDefinition, PlanningTable,
};
use std::collections::{HashMap, HashSet};

/// Checks ids, the places of definitions, the case files and the artifacts.
pub(super) fn structure(definition: &CaseDefinition) -> Vec<Diagnostic> {
    let mut ids = Ids::default();
    ids.definition(definition);
    let mut told = std::mem::take(&mut ids.told);
    for (at, artifact) in definition.artifacts.iter().flatten().enumerate() {
        let path = format!("artifacts[{at}]");
        let id = artifact.id.as_deref().unwrap_or_default();
        for (member, end) in [("sourceRef", &artifact.source_ref), ("targetRef", &artifact.target_ref)] {
            let Some(end) = end.as_deref().filter(|end| !end.is_empty() && !end.contains(':')) else {
                continue;
            };
            if !ids.known.contains_key(end) {
                let message = format!("{member}: there is no element {end:?}");
                let at = At { id, path: &path };
                told.push(found(Severity::Error, ("danglingReference", "5.1.5"), at, message));
            }
        }
    }
    let cases = definition.cases.as_deref().unwrap_or_default();
    if let Some(primary) = definition.primary_case_id.as_deref().filter(|id| !id.is_empty())
        && cases.iter().all(|case| case.id.as_deref() != Some(primary))
    {
        let message = format!("there is no case {primary:?}");
        let at = At { id: "", path: "primaryCaseId" };
        told.push(found(Severity::Error, ("danglingReference", "5.2"), at, message));
    }
    for (at, case) in cases.iter().enumerate() {
        let path = format!("cases[{at}]");
        if let Some(model) = case.case_plan_model.as_deref() {
            let mut places = Places::default();
            places.collect(model, &mut Vec::new());
            places.check(model, &format!("{path}.casePlanModel"), &mut vec![std::ptr::from_ref(model)]);
            told.append(&mut places.told);
        }
        file_circles(case, &path, &mut told);
    }
    told
}

/// Ids of all elements, with the path of the first that has each.
#[derive(Default)]
struct Ids<'m> {
    known: HashMap<&'m str, String>,
    told: Vec<Diagnostic>,
}

impl<'m> Ids<'m> {
    fn add(&mut self, id: Option<&'m String>, path: &str) {
        let Some(id) = id.map(String::as_str).filter(|id| !id.is_empty()) else { return };
        if let Some(first) = self.known.get(id) {
            let message = format!("the id {id:?} is that of {first} already");
            self.told.push(found(Severity::Error, ("duplicateId", "5.1.1"), At { id, path }, message));
        } else {
            self.known.insert(id, path.to_owned());
        }
    }

    fn definition(&mut self, definition: &'m CaseDefinition) {
        for (at, own) in definition.case_file_item_definitions.iter().flatten().enumerate() {
            let path = format!("caseFileItemDefinitions[{at}]");
            self.add(own.id.as_ref(), &path);
            for (at, own) in own.properties.iter().flatten().enumerate() {
                self.add(own.id.as_ref(), &format!("{path}.properties[{at}]"));
            }
        }
        for (at, case) in definition.cases.iter().flatten().enumerate() {
            self.case(case, &format!("cases[{at}]"));
        }
        for (member, list) in [("processes", &definition.processes), ("decisions", &definition.decisions)] {
            for (at, own) in list.iter().flatten().enumerate() {
                let path = format!("{member}[{at}]");
                self.add(own.id.as_ref(), &path);
                self.parameters(own.inputs.as_deref(), &path, "inputs");
                self.parameters(own.outputs.as_deref(), &path, "outputs");
            }
        }
        for (at, own) in definition.artifacts.iter().flatten().enumerate() {
            self.add(own.id.as_ref(), &format!("artifacts[{at}]"));
        }
        for (at, own) in definition.relationships.iter().flatten().enumerate() {
            self.add(own.id.as_ref(), &format!("relationships[{at}]"));
        }
    }

    fn case(&mut self, case: &'m Case, path: &str) {
        self.add(case.id.as_ref(), path);
        for (at, role) in case.roles.iter().flatten().enumerate() {
            self.add(role.id.as_ref(), &format!("{path}.roles[{at}]"));
        }
        self.parameters(case.inputs.as_deref(), path, "inputs");
        self.parameters(case.outputs.as_deref(), path, "outputs");
        if let Some(file) = case.case_file.as_ref() {
            self.add(file.id.as_ref(), &format!("{path}.caseFile"));
            self.file_items(file.items.as_deref(), &format!("{path}.caseFile.items"));
        }
        if let Some(model) = case.case_plan_model.as_deref() {
            self.plan(model, &format!("{path}.casePlanModel"));
        }
    }

    fn parameters(&mut self, parameters: Option<&'m [Parameter]>, path: &str, member: &str) {
        for (at, own) in parameters.into_iter().flatten().enumerate() {
            self.add(own.id.as_ref(), &format!("{path}.{member}[{at}]"));
        }
    }

    fn file_items(&mut self, items: Option<&'m [CaseFileItem]>, path: &str) {
        for (at, item) in items.into_iter().flatten().enumerate() {
            let path = format!("{path}[{at}]");
            self.add(item.id.as_ref(), &path);
            self.file_items(item.children.as_deref(), &format!("{path}.children"));
        }
    }

    fn plan(&mut self, own: &'m PlanItemDefinition, path: &str) {
        self.add(own.id.as_ref(), path);
        self.criteria(own.exit_criteria.as_deref(), path, "exitCriteria");
        self.parameters(own.inputs.as_deref(), path, "inputs");
        self.parameters(own.outputs.as_deref(), path, "outputs");
        for (at, item) in own.items.iter().flatten().enumerate() {
            let path = format!("{path}.items[{at}]");
            self.add(item.id.as_ref(), &path);
            self.criteria(item.entry_criteria.as_deref(), &path, "entryCriteria");
            self.criteria(item.exit_criteria.as_deref(), &path, "exitCriteria");
        }
        for (at, sentry) in own.sentries.iter().flatten().enumerate() {
            let path = format!("{path}.sentries[{at}]");
            self.add(sentry.id.as_ref(), &path);
            for (at, part) in sentry.on_parts.iter().flatten().enumerate() {
                self.add(part.id.as_ref(), &format!("{path}.onParts[{at}]"));
            }
            self.add(sentry.if_part.as_ref().and_then(|part| part.id.as_ref()), &format!("{path}.ifPart"));
        }
        if let Some(table) = own.planning_table.as_deref() {
            self.table(table, &format!("{path}.planningTable"));
        }
        for (at, inner) in own.definitions.iter().flatten().enumerate() {
            self.plan(inner, &format!("{path}.definitions[{at}]"));
        }
    }

    fn table(&mut self, table: &'m PlanningTable, path: &str) {
        self.add(table.id.as_ref(), path);
        for (at, rule) in table.applicability_rules.iter().flatten().enumerate() {
            self.add(rule.id.as_ref(), &format!("{path}.applicabilityRules[{at}]"));
        }
        for (at, item) in table.discretionary_items.iter().flatten().enumerate() {
            let path = format!("{path}.discretionaryItems[{at}]");
            self.add(item.id.as_ref(), &path);
            self.criteria(item.entry_criteria.as_deref(), &path, "entryCriteria");
            self.criteria(item.exit_criteria.as_deref(), &path, "exitCriteria");
        }
        let (items, tables) = (table.discretionary_items.as_deref(), table.planning_tables.as_deref());
        if items.unwrap_or_default().is_empty() && tables.unwrap_or_default().is_empty() {
            let id = table.id.as_deref().unwrap_or_default();
            let rule = ("planningUnused", "5.4.9");
            self.told.push(found(Severity::Info, rule, At { id, path }, "the planning table has no items"));
        }
        for (at, inner) in table.planning_tables.iter().flatten().enumerate() {
            self.table(inner, &format!("{path}.planningTables[{at}]"));
        }
    }

    fn criteria(&mut self, criteria: Option<&'m [Criterion]>, path: &str, member: &str) {
        for (at, own) in criteria.into_iter().flatten().enumerate() {
            self.add(own.id.as_ref(), &format!("{path}.{member}[{at}]"));
        }
    }
}

/// Stages in which the definitions of plan items stand, by their addresses, outermost first.
#[derive(Default)]
struct Places<'m> {
    stage_of: HashMap<&'m str, *const PlanItemDefinition>,
    told: Vec<Diagnostic>,
}

impl<'m> Places<'m> {
    fn collect(&mut self, stage: &'m PlanItemDefinition, around: &mut Vec<*const PlanItemDefinition>) {
        around.push(std::ptr::from_ref(stage));
        for inner in stage.definitions.iter().flatten() {
            if let Some(id) = inner.id.as_deref() {
                self.stage_of.entry(id).or_insert(std::ptr::from_ref(stage));
            }
            self.collect(inner, around);
        }
        around.pop();
    }

    /// Tells of items whose definition stands neither in their stage nor in one around it.
    fn check(
        &mut self,
        stage: &'m PlanItemDefinition,
        path: &str,
        around: &mut Vec<*const PlanItemDefinition>,
    ) {
        let items = stage.items.iter().flatten().enumerate().map(|(at, item)| {
            (item.id.as_deref(), item.definition_ref.as_deref(), format!("{path}.items[{at}]"))
        });
        let table = stage.planning_table.as_deref().and_then(|own| own.discretionary_items.as_deref());
        let table = table.unwrap_or_default().iter().enumerate().map(|(at, item)| {
            let path = format!("{path}.planningTable.discretionaryItems[{at}]");
            (item.id.as_deref(), item.definition_ref.as_deref(), path)
        });
        for (id, reference, path) in items.chain(table) {
            let Some(reference) = reference else { continue };
            let place = self.stage_of.get(reference);
            if place.is_some_and(|place| !around.contains(place)) {
                let message = format!(
                    "the definition {reference:?} stands neither in the stage of the item nor in one around it"
                );
                let at = At { id: id.unwrap_or_default(), path: &path };
                self.told.push(found(Severity::Warning, ("definitionPlace", "5.4.8"), at, message));
            }
        }
        for (at, inner) in stage.definitions.iter().flatten().enumerate() {
            around.push(std::ptr::from_ref(inner));
            self.check(inner, &format!("{path}.definitions[{at}]"), around);
            around.pop();
        }
    }
}

/// Tells of case file items that refer to each other in a circle.
fn file_circles(case: &Case, path: &str, told: &mut Vec<Diagnostic>) {
    let mut targets: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut places = Vec::new();
    let items = case.case_file.as_ref().and_then(|file| file.items.as_deref()).unwrap_or_default();
    references(items, &format!("{path}.caseFile.items"), &mut targets, &mut places);
    let paths: HashMap<&str, &String> = places.iter().map(|(id, path)| (*id, path)).collect();
    let mut done = HashSet::new();
    for (start, _) in &places {
        // Items on the way, each with the references that are left to follow.
        let mut way: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut on_way = HashSet::new();
        let mut next = done.insert(*start).then_some(*start);
        while let Some(id) = next {
            on_way.insert(id);
            way.push((id, targets.get(id).cloned().unwrap_or_default()));
            next = None;
            while let (None, Some((own, left))) = (next, way.last_mut()) {
                match left.pop() {
                    Some(target) if on_way.contains(target) => {
                        let message = format!(
                            "the case file items {own:?} and {target:?} refer to each other in a circle"
                        );
                        let path = paths.get(target).map_or(path, |path| path.as_str());
                        let at = At { id: target, path };
                        told.push(found(Severity::Warning, ("fileCycle", "5.3.2"), at, message));
                    }
                    Some(target) => next = done.insert(target).then_some(target),
                    None => {
                        on_way.remove(*own);
                        way.pop();
                    }
                }
            }
        }
    }
}

fn references<'m>(
    items: &'m [CaseFileItem],
    path: &str,
    targets: &mut HashMap<&'m str, Vec<&'m str>>,
    places: &mut Vec<(&'m str, String)>,
) {
    for (at, item) in items.iter().enumerate() {
        let path = format!("{path}[{at}]");
        references(
            item.children.as_deref().unwrap_or_default(),
            &format!("{path}.children"),
            targets,
            places,
        );
        let Some(id) = item.id.as_deref() else { continue };
        let own = targets.entry(id).or_default();
        own.extend(item.target_refs.iter().flatten().map(String::as_str));
        if let Some(source) = item.source_ref.as_deref() {
            targets.entry(source).or_default().push(id);
        }
        places.push((id, path));
    }
}
