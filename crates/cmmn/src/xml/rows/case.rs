//! Cases with their file, roles and parameters, and what their tasks call.

use super::item::{CASE_PLAN_MODEL, PLAN_LEVELS, read_plan_model};
use super::kept_head;
use crate::model::{
    Callable, Case, CaseFile, CaseFileItem, CaseFileItemDefinition, CaseFileItemProperty, CaseRole,
    Parameter, ParameterMapping,
};
use crate::xml::XmlError;
use crate::xml::names::kind;
use crate::xml::vocabulary::{Reader, Row, Writer};
use crate::xml::{extensions, write};
use heddle_xml::El;

pub(super) static CASE: Row<Case> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name), attr!(Text "description" description)]],
    children: &[&[
        leaves!(Case: Text "documentation" documentation),
        extended!(),
        one!(Case: "caseFileModel" CASE_FILE case_file),
        child!(
            "casePlanModel",
            |reader, case: &mut Case, el| {
                if case.case_plan_model.is_some() {
                    return Ok(false);
                }
                reader.deepen(el, PLAN_LEVELS)?;
                case.case_plan_model = Some(Box::new(read_plan_model(reader, el)?));
                reader.undeepen(PLAN_LEVELS);
                Ok(true)
            },
            |writer, case: &Case| {
                if let Some(plan) = case.case_plan_model.as_deref() {
                    let row = CASE_PLAN_MODEL.of(writer.state.is_10);
                    writer.element(const { kind("casePlanModel") }, row, plan);
                }
            }
        ),
        child!("caseRoles", read_roles, write_roles),
        many!(Case: "input" PARAMETER inputs),
        many!(Case: "output" PARAMETER outputs),
    ]],
};

/// The element around the roles.
static ROLES: Row<Case> = Row {
    attributes: &[&[attr!(Text "id" roles_id)]],
    children: &[&kept_head(), &[several!(Case: "role" ROLE roles)]],
};

static ROLE: Row<CaseRole> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name), attr!(Text "description" description)]],
    children: &[&[kept!("documentation"), extended!()]],
};

/// Reads the roles: one element around all in CMMN 1.1, one element for each in CMMN 1.0.
fn read_roles(reader: &mut Reader<'_>, case: &mut Case, el: El) -> Result<bool, XmlError> {
    if reader.state.is_10 {
        let mut role = CaseRole::default();
        extensions::read(reader, &ROLE, &mut role, el)?;
        case.roles.get_or_insert_default().push(role);
        return Ok(true);
    }
    if case.roles.is_some() {
        return Ok(false);
    }
    case.roles = Some(Vec::new());
    reader.read(&ROLES, case, el)?;
    Ok(true)
}

fn write_roles(writer: &mut Writer<'_>, case: &Case) {
    if !writer.state.is_10 {
        if case.roles.is_some() || case.roles_id.is_some() {
            writer.element(const { kind("caseRoles") }, &ROLES, case);
        }
        return;
    }
    if let Some(id) = &case.roles_id {
        write::lost(writer, "element around the roles", Some(id));
    }
    for role in case.roles.iter().flatten() {
        writer.element(const { kind("caseRoles") }, &ROLE, role);
    }
}

static CASE_FILE: Row<CaseFile> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name)]],
    children: &[
        &kept_head(),
        &[child!(
            "caseFileItem",
            |reader, file: &mut CaseFile, el| read_item(reader, &mut file.items, el, 4),
            |writer, file: &CaseFile| write_items(writer, file.items.as_deref().unwrap_or_default())
        )],
    ],
};

static CASE_FILE_ITEM: Row<CaseFileItem> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "description" description),
        attr!(Text "multiplicity" multiplicity),
        attr!(Reference "definitionRef" definition_ref),
        attr!(Reference "sourceRef" source_ref),
        refs!("targetRefs" target_refs),
    ]],
    children: &[&[
        leaves!(CaseFileItem: Text "documentation" documentation),
        extended!(),
        child!(
            "children",
            |reader, item: &mut CaseFileItem, el| {
                if item.children.is_some() {
                    return Ok(false);
                }
                item.children = Some(Vec::new());
                reader.read(&CHILDREN, item, el)?;
                Ok(true)
            },
            |writer, item: &CaseFileItem| {
                if item.children.is_some() {
                    writer.enter(const { kind("children") }, None);
                    writer.contents(&CHILDREN, item);
                    writer.leave();
                }
            }
        ),
    ]],
};

/// The element around the items within an item.
static CHILDREN: Row<CaseFileItem> = Row {
    attributes: &[],
    children: &[
        &kept_head(),
        &[child!(
            "caseFileItem",
            |reader, item: &mut CaseFileItem, el| read_item(reader, &mut item.children, el, 2),
            |writer, item: &CaseFileItem| write_items(writer, item.children.as_deref().unwrap_or_default())
        )],
    ],
};

fn read_item(
    reader: &mut Reader<'_>,
    items: &mut Option<Vec<CaseFileItem>>,
    el: El,
    levels: usize,
) -> Result<bool, XmlError> {
    let mut item = CaseFileItem::default();
    reader.deepen(el, levels)?;
    extensions::read(reader, &CASE_FILE_ITEM, &mut item, el)?;
    reader.undeepen(levels);
    items.get_or_insert_default().push(item);
    Ok(true)
}

fn write_items(writer: &mut Writer<'_>, items: &[CaseFileItem]) {
    for item in items {
        writer.element(const { kind("caseFileItem") }, &CASE_FILE_ITEM, item);
    }
}

pub(super) static CASE_FILE_ITEM_DEFINITION: Row<CaseFileItemDefinition> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "description" description),
        attr!(Text "definitionType" definition_type),
        attr!(Text "structureRef" structure_ref),
        attr!(Text "importRef" import_ref),
    ]],
    children: &[&[
        leaves!(CaseFileItemDefinition: Text "documentation" documentation),
        extended!(),
        many!(CaseFileItemDefinition: "property" PROPERTY properties),
    ]],
};

static PROPERTY: Row<CaseFileItemProperty> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name), attr!(Text "type" r#type)]],
    children: &[&kept_head()],
};

pub(super) static PARAMETER: Row<Parameter> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name), attr!(Reference "bindingRef" binding_ref)]],
    children: &[&kept_head(), &[expr!(Parameter: "bindingRefinement" binding_refinement)]],
};

pub(super) static PARAMETER_MAPPING: Row<ParameterMapping> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Reference "sourceRef" source_ref),
        attr!(Reference "targetRef" target_ref),
    ]],
    children: &[&kept_head(), &[expr!(ParameterMapping: "transformation" transformation)]],
};

/// Processes and decisions.
pub(super) static CALLABLE: Row<Callable> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "implementationType" implementation_type),
        attr!(Text "externalRef" external_ref),
    ]],
    children: &[&[
        leaves!(Callable: Text "documentation" documentation),
        kept!("extensionElements"),
        many!(Callable: "input" PARAMETER inputs),
        many!(Callable: "output" PARAMETER outputs),
    ]],
};
