//! Plan items, their definitions, item controls and planning tables.

use super::case::{PARAMETER, PARAMETER_MAPPING};
use super::kept_head;
use super::sentry::{SENTRY, read_criterion, write_criteria};
use crate::diagnostic;
use crate::model::{
    ApplicabilityRule, Criterion, DiscretionaryItem, ItemControl, PlanItem, PlanItemDefinition,
    PlanningTable, Rule, StartTrigger,
};
use crate::xml::names::{Cmmn, kind, ns};
use crate::xml::vocabulary::{Child, Reader, Row, Writer, any_of};
use crate::xml::{Group, XmlError, extensions, write};
use heddle_xml::mapping::{Attr, Match};
use heddle_xml::{El, Names as _};
use std::borrow::Cow;

/// JSON levels that a plan model, a stage or a planning table adds to what it stands in.
pub(super) const PLAN_LEVELS: usize = 2;

/// The rows of a model type that the versions of CMMN write in other words.
pub(super) struct ByVersion<T: 'static> {
    v11: &'static Row<T>,
    v10: &'static Row<T>,
}

impl<T> ByVersion<T> {
    /// The row of a version.
    pub(super) fn of(&self, is_10: bool) -> &'static Row<T> {
        if is_10 { self.v10 } else { self.v11 }
    }
}

/// An attribute of CMMN 1.0 that names the sentries of criteria.
macro_rules! criteria_refs {
    ($name:literal $member:ident) => {
        Attr {
            name: $name,
            lexis: heddle_xml::mapping::Lexis::Text,
            get: |model| sentry_refs(model.$member.as_ref()),
            set: |model, text| {
                let criteria = criteria_of(&text);
                let same = sentry_refs(Some(&criteria)).as_deref() == Some(&*text);
                model.$member = Some(criteria);
                same
            },
        }
    };
}

fn sentry_refs(criteria: Option<&Vec<Criterion>>) -> Option<Cow<'_, str>> {
    let refs = criteria?.iter().filter_map(|criterion| criterion.sentry_ref.as_deref());
    Some(Cow::Owned(refs.collect::<Vec<_>>().join(" ")))
}

fn criteria_of(refs: &str) -> Vec<Criterion> {
    let of = |sentry: &str| Criterion { sentry_ref: Some(sentry.to_owned()), ..Criterion::default() };
    refs.split_ascii_whitespace().map(of).collect()
}

/// Criteria as elements, of CMMN 1.1.
macro_rules! criteria {
    ($model:ty: $name:literal $member:ident) => {
        child!(
            $name,
            |reader, model: &mut $model, el| read_criterion(reader, &mut model.$member, el),
            |writer, model: &$model| {
                write_criteria(writer, const { kind($name) }, model.$member.as_ref());
            }
        )
    };
}

/// Place of criteria among the children of CMMN 1.0, which tells what the attribute does not say.
macro_rules! criteria_10 {
    ($model:ty: $name:literal $member:ident) => {
        Child {
            matches: Match::Kind(const { kind($name) }),
            read: None,
            write: Some(|writer, model: &$model| tell_lost(writer, model.$member.as_deref())),
        }
    };
}

fn tell_lost(writer: &mut Writer<'_>, criteria: Option<&[Criterion]>) {
    for criterion in criteria.unwrap_or_default() {
        let said = Criterion { sentry_ref: criterion.sentry_ref.clone(), ..Criterion::default() };
        if *criterion != said {
            write::lost(writer, "element for a criterion", criterion.id.as_deref());
        }
    }
}

const HEAD_ATTRIBUTES: &[Attr<PlanItemDefinition>] =
    &[attr!(Text "id" id), attr!(Text "name" name), attr!(Text "description" description)];

const HEAD: &[Child<PlanItemDefinition>] = &[
    leaves!(PlanItemDefinition: Text "documentation" documentation),
    extended!(),
    single!(PlanItemDefinition: "defaultControl" CONTROL default_control),
];

/// Items, sentries, planning table and definitions of a stage.
const STAGE_PARTS: &[Child<PlanItemDefinition>] = &[
    child!(
        "planItem",
        |reader, stage: &mut PlanItemDefinition, el| {
            let mut item = PlanItem::default();
            extensions::read(reader, PLAN_ITEM.of(reader.state.is_10), &mut item, el)?;
            stage.items.get_or_insert_default().push(item);
            Ok(true)
        },
        |writer, stage: &PlanItemDefinition| {
            for item in stage.items.iter().flatten() {
                let row = PLAN_ITEM.of(writer.state.is_10);
                writer.element(const { kind("planItem") }, row, item);
            }
        }
    ),
    several!(PlanItemDefinition: "sentry" SENTRY sentries),
    child!("planningTable", read_planning_table, write_planning_table),
    Child {
        matches: any_of(Group::PlanItemDefinition),
        read: Some(read_definition),
        write: Some(|writer, stage| {
            stage.definitions.iter().flatten().for_each(|definition| write_definition(writer, definition));
        }),
    },
];

const AUTO_COMPLETE: &[Attr<PlanItemDefinition>] = &[attr!(Typed "autoComplete" auto_complete)];

static STAGE_11: Row<PlanItemDefinition> = Row {
    attributes: &[HEAD_ATTRIBUTES, AUTO_COMPLETE],
    children: &[HEAD, STAGE_PARTS, &[criteria!(PlanItemDefinition: "exitCriterion" exit_criteria)]],
};

static STAGE_10: Row<PlanItemDefinition> = Row {
    attributes: &[HEAD_ATTRIBUTES, AUTO_COMPLETE, &[criteria_refs!("exitCriteriaRefs" exit_criteria)]],
    children: &[HEAD, STAGE_PARTS, &[criteria_10!(PlanItemDefinition: "exitCriterion" exit_criteria)]],
};

/// Stages, plan fragments and case plan models.
pub(super) static CASE_PLAN_MODEL: ByVersion<PlanItemDefinition> =
    ByVersion { v11: &STAGE_11, v10: &STAGE_10 };

const TASK_ATTRIBUTES: &[Attr<PlanItemDefinition>] = &[attr!(Typed "isBlocking" is_blocking)];

/// Parameters of a task under the names that one version gives them; those of the other are kept.
macro_rules! parameters {
    ($name:literal $is_10:literal $member:ident) => {
        child!(
            $name,
            |reader, task: &mut PlanItemDefinition, el| {
                if reader.state.is_10 != $is_10 {
                    return Ok(false);
                }
                let mut parameter = Default::default();
                reader.read(&PARAMETER, &mut parameter, el)?;
                task.$member.get_or_insert_default().push(parameter);
                Ok(true)
            },
            |writer, task: &PlanItemDefinition| {
                if writer.state.is_10 == $is_10 {
                    for parameter in task.$member.iter().flatten() {
                        writer.element(const { kind($name) }, &PARAMETER, parameter);
                    }
                }
            }
        )
    };
}

const TASK_PARTS: &[Child<PlanItemDefinition>] = &[
    parameters!("input" false inputs),
    parameters!("inputs" true inputs),
    parameters!("output" false outputs),
    parameters!("outputs" true outputs),
];

static TASK: Row<PlanItemDefinition> =
    Row { attributes: &[HEAD_ATTRIBUTES, TASK_ATTRIBUTES], children: &[HEAD, TASK_PARTS] };

static HUMAN_TASK: Row<PlanItemDefinition> = Row {
    attributes: &[HEAD_ATTRIBUTES, TASK_ATTRIBUTES, &[attr!(Reference "performerRef" performer_ref)]],
    children: &[HEAD, TASK_PARTS, &[child!("planningTable", read_planning_table, write_planning_table)]],
};

macro_rules! calling {
    ($row:ident: $reference:literal $ref:ident, $expression:literal $expr:ident) => {
        static $row: Row<PlanItemDefinition> = Row {
    attributes: &[HEAD_ATTRIBUTES, TASK_ATTRIBUTES, &[attr!(Reference $reference $ref)]],
            children: &[
                HEAD,
                TASK_PARTS,
                &[
            many!(PlanItemDefinition: "parameterMapping" PARAMETER_MAPPING parameter_mappings),
            expr!(PlanItemDefinition: $expression $expr),
                ],
            ],
        };
    };
}

calling!(PROCESS_TASK: "processRef" process_ref, "processRefExpression" process_ref_expression);
calling!(CASE_TASK: "caseRef" case_ref, "caseRefExpression" case_ref_expression);
calling!(DECISION_TASK: "decisionRef" decision_ref, "decisionRefExpression" decision_ref_expression);

/// Milestones and event listeners without a kind.
static PLAIN: Row<PlanItemDefinition> = Row { attributes: &[HEAD_ATTRIBUTES], children: &[HEAD] };

static USER_EVENT: Row<PlanItemDefinition> = Row {
    attributes: &[HEAD_ATTRIBUTES, &[refs!("authorizedRoleRefs" authorized_role_refs)]],
    children: &[HEAD],
};

static TIMER_EVENT: Row<PlanItemDefinition> = Row {
    attributes: &[HEAD_ATTRIBUTES],
    children: &[
        HEAD,
        &[
            expr!(PlanItemDefinition: "timerExpression" timer_expression),
            Child {
                matches: any_of(Group::StartTrigger),
                read: Some(|reader, timer, el| {
                    if timer.start_trigger.is_some() {
                        return Ok(false);
                    }
                    let r#type = Some(reader.tree.local(el).to_owned());
                    let mut trigger = StartTrigger { r#type, ..StartTrigger::default() };
                    reader.read(&START_TRIGGER, &mut trigger, el)?;
                    timer.start_trigger = Some(trigger);
                    Ok(true)
                }),
                write: Some(|writer, timer| {
                    let Some(trigger) = &timer.start_trigger else { return };
                    let kind = if trigger.r#type.as_deref() == Some("caseFileItemStartTrigger") {
                        const { kind("caseFileItemStartTrigger") }
                    } else {
                        const { kind("planItemStartTrigger") }
                    };
                    writer.element(kind, &START_TRIGGER, trigger);
                }),
            },
        ],
    ],
};

static START_TRIGGER: Row<StartTrigger> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Reference "sourceRef" source_ref)]],
    children: &[&kept_head(), &[leaf!(StartTrigger: Reference "standardEvent" standard_event)]],
};

/// The definitions of plan items by their element names.
const DEFINITIONS: &[&str] = &[
    "task",
    "humanTask",
    "processTask",
    "caseTask",
    "decisionTask",
    "stage",
    "planFragment",
    "milestone",
    "eventListener",
    "timerEventListener",
    "userEventListener",
    "casePlanModel",
];

/// The element name of a definition; one of no known type is a task.
pub(in crate::xml) fn definition_name(definition: &PlanItemDefinition) -> &'static str {
    let known = |own: &str| DEFINITIONS.iter().find(|name| **name == own).copied();
    definition.r#type.as_deref().and_then(known).unwrap_or("task")
}

fn row_of(name: &str, is_10: bool) -> &'static Row<PlanItemDefinition> {
    match name {
        "stage" | "planFragment" | "casePlanModel" => CASE_PLAN_MODEL.of(is_10),
        "humanTask" => &HUMAN_TASK,
        "processTask" => &PROCESS_TASK,
        "caseTask" => &CASE_TASK,
        "decisionTask" => &DECISION_TASK,
        "milestone" | "eventListener" => &PLAIN,
        "timerEventListener" => &TIMER_EVENT,
        "userEventListener" => &USER_EVENT,
        _ => &TASK,
    }
}

/// Reads a case plan model.
pub(super) fn read_plan_model(reader: &mut Reader<'_>, el: El) -> Result<PlanItemDefinition, XmlError> {
    let name = reader.tree.local(el);
    let mut definition =
        PlanItemDefinition { r#type: Some(name.to_owned()), ..PlanItemDefinition::default() };
    extensions::read(reader, row_of(name, reader.state.is_10), &mut definition, el)?;
    Ok(definition)
}

fn read_definition(
    reader: &mut Reader<'_>,
    stage: &mut PlanItemDefinition,
    el: El,
) -> Result<bool, XmlError> {
    reader.deepen(el, PLAN_LEVELS)?;
    let definition = read_plan_model(reader, el)?;
    reader.undeepen(PLAN_LEVELS);
    stage.definitions.get_or_insert_default().push(definition);
    Ok(true)
}

fn write_definition(writer: &mut Writer<'_>, definition: &PlanItemDefinition) {
    let name = match definition_name(definition) {
        // A plan model within another is a stage.
        "casePlanModel" => "stage",
        name => name,
    };
    if definition.r#type.as_deref() != Some(name) {
        let given = definition.r#type.as_deref().unwrap_or_default();
        let message = format!("{given:?} is no type of a definition; {name} is exported in its place.");
        let mut found = diagnostic::warning("unknownDefinition", message);
        found.element_id.clone_from(&definition.id);
        writer.state.diagnostics.push(found);
    }
    let row = row_of(name, writer.state.is_10);
    writer.element(Cmmn::kind(ns::MODEL, name), row, definition);
}

static PLAN_ITEM: ByVersion<PlanItem> = ByVersion { v11: &PLAN_ITEM_11, v10: &PLAN_ITEM_10 };

const PLAN_ITEM_ATTRIBUTES: &[Attr<PlanItem>] = &[
    attr!(Text "id" id),
    attr!(Text "name" name),
    attr!(Text "description" description),
    attr!(Reference "definitionRef" definition_ref),
];

const PLAN_ITEM_PARTS: &[Child<PlanItem>] = &[
    leaves!(PlanItem: Text "documentation" documentation),
    extended!(),
    single!(PlanItem: "itemControl" CONTROL item_control),
];

static PLAN_ITEM_11: Row<PlanItem> = Row {
    attributes: &[PLAN_ITEM_ATTRIBUTES],
    children: &[
        PLAN_ITEM_PARTS,
        &[
            criteria!(PlanItem: "entryCriterion" entry_criteria),
            criteria!(PlanItem: "exitCriterion" exit_criteria),
        ],
    ],
};

static PLAN_ITEM_10: Row<PlanItem> = Row {
    attributes: &[
        PLAN_ITEM_ATTRIBUTES,
        &[
            criteria_refs!("entryCriteriaRefs" entry_criteria),
            criteria_refs!("exitCriteriaRefs" exit_criteria),
        ],
    ],
    children: &[
        PLAN_ITEM_PARTS,
        &[
            criteria_10!(PlanItem: "entryCriterion" entry_criteria),
            criteria_10!(PlanItem: "exitCriterion" exit_criteria),
        ],
    ],
};

static CONTROL: Row<ItemControl> = Row {
    attributes: &[&[attr!(Text "id" id)]],
    children: &[&[
        kept!("documentation"),
        extended!(),
        single!(ItemControl: "repetitionRule" RULE repetition_rule),
        single!(ItemControl: "requiredRule" RULE required_rule),
        single!(ItemControl: "manualActivationRule" RULE manual_activation_rule),
    ]],
};

static RULE: Row<Rule> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "description" description),
        attr!(Reference "contextRef" context_ref),
    ]],
    children: &[&[kept!("documentation"), extended!(), expr!(Rule: "condition" condition)]],
};

static PLANNING_TABLE: Row<PlanningTable> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        refs!("applicabilityRuleRefs" applicability_rule_refs),
        refs!("authorizedRoleRefs" authorized_role_refs),
    ]],
    children: &[&[
        kept!("documentation"),
        extended!(),
        child!(
            "planningTable",
            |reader, table: &mut PlanningTable, el| {
                let inner = read_table(reader, el)?;
                table.planning_tables.get_or_insert_default().push(inner);
                Ok(true)
            },
            |writer, table: &PlanningTable| {
                for inner in table.planning_tables.iter().flatten() {
                    writer.element(const { kind("planningTable") }, &PLANNING_TABLE, inner);
                }
            }
        ),
        child!(
            "discretionaryItem",
            |reader, table: &mut PlanningTable, el| {
                let mut item = DiscretionaryItem::default();
                extensions::read(reader, DISCRETIONARY_ITEM.of(reader.state.is_10), &mut item, el)?;
                table.discretionary_items.get_or_insert_default().push(item);
                Ok(true)
            },
            |writer, table: &PlanningTable| {
                for item in table.discretionary_items.iter().flatten() {
                    let row = DISCRETIONARY_ITEM.of(writer.state.is_10);
                    writer.element(const { kind("discretionaryItem") }, row, item);
                }
            }
        ),
        many!(PlanningTable: "applicabilityRule" APPLICABILITY_RULE applicability_rules),
    ]],
};

fn read_table(reader: &mut Reader<'_>, el: El) -> Result<PlanningTable, XmlError> {
    let mut table = PlanningTable::default();
    reader.deepen(el, PLAN_LEVELS)?;
    extensions::read(reader, &PLANNING_TABLE, &mut table, el)?;
    reader.undeepen(PLAN_LEVELS);
    Ok(table)
}

fn read_planning_table(
    reader: &mut Reader<'_>,
    definition: &mut PlanItemDefinition,
    el: El,
) -> Result<bool, XmlError> {
    if definition.planning_table.is_some() {
        return Ok(false);
    }
    definition.planning_table = Some(Box::new(read_table(reader, el)?));
    Ok(true)
}

fn write_planning_table(writer: &mut Writer<'_>, definition: &PlanItemDefinition) {
    if let Some(table) = definition.planning_table.as_deref() {
        writer.element(const { kind("planningTable") }, &PLANNING_TABLE, table);
    }
}

static DISCRETIONARY_ITEM: ByVersion<DiscretionaryItem> =
    ByVersion { v11: &DISCRETIONARY_ITEM_11, v10: &DISCRETIONARY_ITEM_10 };

const DISCRETIONARY_ATTRIBUTES: &[Attr<DiscretionaryItem>] = &[
    attr!(Text "id" id),
    attr!(Text "name" name),
    attr!(Text "description" description),
    attr!(Reference "definitionRef" definition_ref),
    refs!("applicabilityRuleRefs" applicability_rule_refs),
    refs!("authorizedRoleRefs" authorized_role_refs),
];

const DISCRETIONARY_PARTS: &[Child<DiscretionaryItem>] = &[
    leaves!(DiscretionaryItem: Text "documentation" documentation),
    extended!(),
    single!(DiscretionaryItem: "itemControl" CONTROL item_control),
];

static DISCRETIONARY_ITEM_11: Row<DiscretionaryItem> = Row {
    attributes: &[DISCRETIONARY_ATTRIBUTES],
    children: &[
        DISCRETIONARY_PARTS,
        &[
            criteria!(DiscretionaryItem: "entryCriterion" entry_criteria),
            criteria!(DiscretionaryItem: "exitCriterion" exit_criteria),
        ],
    ],
};

static DISCRETIONARY_ITEM_10: Row<DiscretionaryItem> = Row {
    attributes: &[
        DISCRETIONARY_ATTRIBUTES,
        &[
            criteria_refs!("entryCriteriaRefs" entry_criteria),
            criteria_refs!("exitCriteriaRefs" exit_criteria),
        ],
    ],
    children: &[
        DISCRETIONARY_PARTS,
        &[
            criteria_10!(DiscretionaryItem: "entryCriterion" entry_criteria),
            criteria_10!(DiscretionaryItem: "exitCriterion" exit_criteria),
        ],
    ],
};

static APPLICABILITY_RULE: Row<ApplicabilityRule> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "description" description),
        attr!(Reference "contextRef" context_ref),
    ]],
    children: &[&kept_head(), &[expr!(ApplicabilityRule: "condition" condition)]],
};
