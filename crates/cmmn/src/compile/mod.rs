//! Compilation: from the definition to a [`CasePlan`] for each case.
//!
//! Definitions of plan items are by reference, so that a stage may stand in a plan several times: each item that refers to
//! it gets content of its own.

mod control;
mod file;
mod items;
mod listeners;
mod parameters;
mod planning;
mod sentries;
mod settings;
#[cfg(test)]
mod tests;

mod work;

use crate::finding::{self, Cited, Diagnostic, ExpressionPosition, Severity};
use crate::model::{
    ApplicabilityRule, Case, CaseDefinition, Criterion, DiscretionaryItem, Expression, ItemControl, PlanItem,
    PlanItemDefinition, PlanningTable,
};
use crate::plan::{CasePlan, Condition, CriterionIx, FileIx, ItemIx};
use heddle_settings::expression::{self, Wrong};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub(crate) use crate::finding::At;
pub(crate) use settings::translated;

/// The plans of a definition, with what stands against their execution.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The cases that can be executed: those without an error among the diagnostics.
    pub cases: Vec<Arc<CasePlan>>,
    /// Findings; an error means that the case is not executable as it stands.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    /// Whether nothing stands against publishing.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The case of this id.
    #[must_use]
    pub fn case(&self, id: &str) -> Option<&Arc<CasePlan>> {
        self.cases.iter().find(|plan| &*plan.id == id)
    }
}

/// Choices of the organisation where the standard leaves it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Meaning {
    /// Whether a task or stage without a manual activation rule is started by hand. The standard's text says yes and its
    /// marker no (CR-148 of the OMG); absent is no, as in other engines.
    pub manual_by_default: bool,
}

/// Compiles every case of a definition.
#[must_use]
pub fn compile(definition: &CaseDefinition) -> Compiled {
    compile_with(definition, Meaning::default())
}

/// Compiles every case of a definition, by what the organisation decided.
#[must_use]
pub fn compile_with(definition: &CaseDefinition, meaning: Meaning) -> Compiled {
    let mut compiled = Compiled::default();
    for built in build(definition, meaning) {
        if !built.diagnostics.iter().any(Diagnostic::is_error) {
            compiled.cases.push(Arc::new(built.plan));
        }
        compiled.diagnostics.extend(built.diagnostics);
    }
    if definition.cases.as_deref().unwrap_or_default().is_empty() {
        compiled.diagnostics.push(no_case());
    }
    compiled
}

/// The finding on a definition without a case.
pub(crate) fn no_case() -> Diagnostic {
    let at = At { id: "", path: "cases" };
    finding::found(Severity::Error, ("noCase", "5.2"), at, "the definition has no case")
}

/// The plan of a case as far as it could be made, with what stands against it.
#[derive(Debug)]
pub(crate) struct Built {
    pub plan: CasePlan,
    pub diagnostics: Vec<Diagnostic>,
    /// Path of each item that the model has.
    pub paths: Vec<String>,
    /// Path of the case.
    pub path: String,
}

/// The plans of all cases of a definition.
pub(crate) fn build(definition: &CaseDefinition, meaning: Meaning) -> Vec<Built> {
    let mut told = HashSet::new();
    let cases = definition.cases.iter().flatten().enumerate();
    let built = cases.map(|(at, case)| {
        let mut built = Builder::new(definition, case, at, meaning).build();
        // A definition that stands in the plan several times is told of once.
        built
            .diagnostics
            .retain(|found| told.insert((found.code.clone(), found.path.clone(), found.message.clone())));
        built
    });
    built.collect()
}

/// The definition of plan items, with its place.
#[derive(Debug, Clone)]
pub(crate) struct Defined<'m> {
    pub definition: &'m PlanItemDefinition,
    pub path: String,
}

/// A plan item or a discretionary item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'m> {
    pub id: &'m str,
    pub name: Option<&'m str>,
    pub definition_ref: &'m str,
    pub entry: &'m [Criterion],
    pub exit: &'m [Criterion],
    pub control: Option<&'m ItemControl>,
    pub configuration: Option<&'m Map<String, Value>>,
}

impl<'m> From<&'m PlanItem> for Node<'m> {
    fn from(item: &'m PlanItem) -> Self {
        Self {
            id: item.id.as_deref().unwrap_or_default(),
            name: item.name.as_deref(),
            definition_ref: item.definition_ref.as_deref().unwrap_or_default(),
            entry: item.entry_criteria.as_deref().unwrap_or_default(),
            exit: item.exit_criteria.as_deref().unwrap_or_default(),
            control: item.item_control.as_ref(),
            configuration: item.configuration.as_ref(),
        }
    }
}

impl<'m> From<&'m DiscretionaryItem> for Node<'m> {
    fn from(item: &'m DiscretionaryItem) -> Self {
        Self {
            id: item.id.as_deref().unwrap_or_default(),
            name: item.name.as_deref(),
            definition_ref: item.definition_ref.as_deref().unwrap_or_default(),
            entry: item.entry_criteria.as_deref().unwrap_or_default(),
            exit: item.exit_criteria.as_deref().unwrap_or_default(),
            control: item.item_control.as_ref(),
            configuration: item.configuration.as_ref(),
        }
    }
}

/// Parts of the definition that an item of the plan was made of.
#[derive(Debug, Clone)]
pub(crate) struct Raw<'m> {
    pub node: Node<'m>,
    pub definition: &'m PlanItemDefinition,
    /// Path of the item.
    pub path: String,
    /// Path of its definition.
    pub defined: String,
}

/// Makes the plan of one case.
pub(crate) struct Builder<'m> {
    pub definition: &'m CaseDefinition,
    pub case: &'m Case,
    pub meaning: Meaning,
    /// Path of the case.
    pub path: String,
    /// Definitions of plan items, by id.
    pub definitions: HashMap<&'m str, Defined<'m>>,
    /// Places of the sentries of each stage, by the stage's address and their ids.
    pub sentry_places: HashMap<(*const PlanItemDefinition, &'m str), usize>,
    /// Applicability rules of all planning tables, by id, with their paths.
    pub rules: HashMap<&'m str, (&'m ApplicabilityRule, String)>,
    pub plan: CasePlan,
    /// Origin of each item of the plan.
    pub raws: Vec<Raw<'m>>,
    /// Items by id: several, where the stage around them stands in the plan several times.
    pub by_id: HashMap<&'m str, Vec<ItemIx>>,
    /// Criteria by id, with the item that each stands at.
    pub criteria: HashMap<&'m str, Vec<CriterionIx>>,
    pub diagnostics: Vec<Diagnostic>,
    /// Bytes of settings that were read so far.
    bytes: u64,
    /// Number of on-parts that were made so far.
    parts: usize,
    is_full: bool,
}

impl<'m> Builder<'m> {
    pub(crate) fn new(definition: &'m CaseDefinition, case: &'m Case, at: usize, meaning: Meaning) -> Self {
        let plan = CasePlan {
            id: case.id.as_deref().unwrap_or_default().into(),
            name: case.name.clone(),
            items: Vec::new(),
            criteria: Vec::new(),
            sentries: Vec::new(),
            file: Vec::new(),
            roles: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            starts: Vec::new(),
            item_ids: HashMap::new(),
            file_ids: HashMap::new(),
            on_item: HashMap::new(),
            on_file: HashMap::new(),
            on_data: Vec::new(),
            reactivation: None,
        };
        Self {
            definition,
            case,
            meaning,
            path: format!("cases[{at}]"),
            definitions: HashMap::new(),
            sentry_places: HashMap::new(),
            rules: HashMap::new(),
            plan,
            raws: Vec::new(),
            by_id: HashMap::new(),
            criteria: HashMap::new(),
            diagnostics: Vec::new(),
            bytes: 0,
            parts: 0,
            is_full: false,
        }
    }

    /// The plan, and what stands against it.
    fn build(mut self) -> Built {
        let path = std::mem::take(&mut self.path);
        let at = At { id: self.case.id.as_deref().unwrap_or_default(), path: &path };
        if at.id.is_empty() {
            self.error(at, ("missingId", "5.2"), "the case has no id");
        }
        match self.case.case_plan_model.as_deref() {
            None => self.error(at, ("required", "5.2.1"), "the case has no case plan model"),
            Some(model) => {
                self.collect(model, &format!("{path}.casePlanModel"));
                self.file(&path);
                self.roles(&path);
                self.model(model, &path);
                self.sentries();
                self.case_parameters(&path);
                self.starts(at);
                self.indexes();
            }
        }
        let paths = self.raws.into_iter().map(|raw| raw.path).collect();
        Built { plan: self.plan, diagnostics: self.diagnostics, paths, path }
    }

    /// Collects definitions and applicability rules of a stage, with those in it.
    fn collect(&mut self, definition: &'m PlanItemDefinition, path: &str) {
        for (at, sentry) in definition.sentries.iter().flatten().enumerate() {
            if let Some(id) = sentry.id.as_deref().filter(|id| !id.is_empty()) {
                self.sentry_places.entry((std::ptr::from_ref(definition), id)).or_insert(at);
            }
        }
        for (at, inner) in definition.definitions.iter().flatten().enumerate() {
            let path = format!("{path}.definitions[{at}]");
            self.collect(inner, &path);
            if let Some(id) = inner.id.as_deref() {
                self.definitions.entry(id).or_insert(Defined { definition: inner, path });
            }
        }
        if let Some(table) = definition.planning_table.as_deref() {
            self.collect_rules(table, &format!("{path}.planningTable"));
        }
    }

    fn collect_rules(&mut self, table: &'m PlanningTable, path: &str) {
        for (at, rule) in table.applicability_rules.iter().flatten().enumerate() {
            if let Some(id) = rule.id.as_deref() {
                let path = format!("{path}.applicabilityRules[{at}]");
                self.rules.entry(id).or_insert((rule, path));
            }
        }
        for (at, inner) in table.planning_tables.iter().flatten().enumerate() {
            self.collect_rules(inner, &format!("{path}.planningTables[{at}]"));
        }
    }

    /// Tells of what stands against the execution of an element.
    pub(crate) fn error(&mut self, at: At<'_>, rule: impl Into<Cited>, message: impl Into<String>) {
        self.tell(Severity::Error, at, rule, message);
    }

    /// Tells of an element.
    pub(crate) fn tell(
        &mut self,
        severity: Severity,
        at: At<'_>,
        rule: impl Into<Cited>,
        message: impl Into<String>,
    ) {
        self.diagnostics.push(finding::found(severity, rule, at, message));
    }

    /// Tells of an expression.
    fn refuse(&mut self, at: At<'_>, member: &str, wrong: Wrong) {
        let message = format!("{member}: {}", wrong.sentence);
        let mut found = finding::found(Severity::Error, (wrong.code, "5.1.6"), at, message);
        found.expression = wrong.place.map(|(line, column)| ExpressionPosition { line, column });
        self.diagnostics.push(found);
    }

    /// The text of an expression; none where there is none, or an empty one.
    fn text(expression: Option<&'m Expression>) -> Option<&'m str> {
        expression?.body.as_deref().map(str::trim).filter(|text| !text.is_empty())
    }

    /// A condition; none where there is none, or it was refused.
    fn condition(
        &mut self,
        at: At<'_>,
        member: &str,
        written: Option<&'m Expression>,
        context: Option<&str>,
    ) -> Option<Condition> {
        let text = Self::text(written)?;
        let own = written.and_then(|own| own.language.as_deref());
        let context = match context.filter(|id| !id.is_empty()) {
            None => None,
            Some(id) => Some(self.file_item(at, &format!("{member}.contextRef"), id)?),
        };
        match expression::condition(text, own, self.definition.expression_language.as_deref()) {
            Ok(expression) => {
                let constant = expression.constant();
                if constant.is_some_and(|value| !matches!(value, heddle_feel::Value::Boolean(_))) {
                    let message = format!("{member}: `{text}` is never true or false");
                    self.error(at, ("conditionNotBoolean", "5.1.6"), message);
                    return None;
                }
                Some(Condition { expression, context, text: text.into() })
            }
            Err(wrong) => {
                self.refuse(at, member, wrong);
                None
            }
        }
    }

    /// A condition of a setting: a text in any language.
    fn text_condition(&mut self, at: At<'_>, member: &str, text: &str) -> Option<Condition> {
        let text = text.trim();
        match expression::condition(text, None, None) {
            Ok(expression) => Some(Condition { expression, context: None, text: text.into() }),
            Err(wrong) => {
                self.refuse(at, member, wrong);
                None
            }
        }
    }

    /// The expression of a value; none where there is none, or it was refused.
    fn value(
        &mut self,
        at: At<'_>,
        member: &str,
        written: Option<&'m Expression>,
    ) -> Option<heddle_feel::Expression> {
        let text = Self::text(written)?;
        let own = written.and_then(|own| own.language.as_deref());
        match expression::value(text, own, self.definition.expression_language.as_deref()) {
            Ok(expression) => Some(expression),
            Err(wrong) => {
                self.refuse(at, member, wrong);
                None
            }
        }
    }

    /// A case file item by its id; told of where there is none.
    fn file_item(&mut self, at: At<'_>, member: &str, id: &str) -> Option<FileIx> {
        let found = self.plan.file_ids.get(id).copied();
        if found.is_none() {
            let message = format!("{member}: the case has no case file item {id:?}");
            self.error(at, ("danglingReference", "5.3.2"), message);
        }
        found
    }
}

/// The name without the prefix of its namespace.
pub(crate) fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}
