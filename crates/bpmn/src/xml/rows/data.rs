//! Data items, sets, associations, properties and resource roles.

use super::kept_head;
use crate::model::{
    AssignmentExpression, DataAssociation, DataItem, InputSet, OutputSet, Property, ResourceRole,
};
use crate::xml::names::kind;
use crate::xml::vocabulary::{Child, Row};
use heddle_xml::mapping::{Attr, Leaf};

const HEAD: &[Child<DataItem>] = &kept_head();

const ITEM: &[Attr<DataItem>] = &[
    attr!(Text "id" id),
    attr!(Text "name" name),
    attr!(Reference "itemSubjectRef" item_subject_ref),
    attr!(Typed "isCollection" collection),
];

const STATE: &[Child<DataItem>] = &[named!(DataItem: "dataState" data_state)];

/// Data inputs, data outputs and data objects.
pub(in crate::xml) static DATA_ITEM: Row<DataItem> = Row { attributes: &[ITEM], children: &[HEAD, STATE] };

/// References to data objects.
pub(in crate::xml) static DATA_OBJECT_REFERENCE: Row<DataItem> =
    Row { attributes: &[ITEM, &[attr!(Reference "dataObjectRef" original_ref)]], children: &[HEAD, STATE] };

/// References to data stores.
pub(in crate::xml) static DATA_STORE_REFERENCE: Row<DataItem> =
    Row { attributes: &[ITEM, &[attr!(Reference "dataStoreRef" original_ref)]], children: &[HEAD, STATE] };

/// Data stores.
pub(in crate::xml) static DATA_STORE: Row<DataItem> = Row {
    attributes: &[ITEM, &[attr!(Typed "capacity" capacity), attr!(Typed "isUnlimited" unlimited)]],
    children: &[HEAD, STATE],
};

pub(in crate::xml) static PROPERTY: Row<Property> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Reference "itemSubjectRef" item_subject_ref),
    ]],
    children: &[&kept_head(), &[named!(Property: "dataState" data_state)]],
};

pub(in crate::xml) static INPUT_SET: Row<InputSet> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name)]],
    children: &[
        &kept_head(),
        &[
            leaves!(InputSet: Reference "dataInputRefs" data_input_refs),
            leaves!(InputSet: Reference "optionalInputRefs" optional_input_refs),
            leaves!(InputSet: Reference "whileExecutingInputRefs" while_executing_input_refs),
            leaves!(InputSet: Reference "outputSetRefs" output_set_refs),
        ],
    ],
};

pub(in crate::xml) static OUTPUT_SET: Row<OutputSet> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name)]],
    children: &[
        &kept_head(),
        &[
            leaves!(OutputSet: Reference "dataOutputRefs" data_output_refs),
            leaves!(OutputSet: Reference "optionalOutputRefs" optional_output_refs),
            leaves!(OutputSet: Reference "whileExecutingOutputRefs" while_executing_output_refs),
            leaves!(OutputSet: Reference "inputSetRefs" input_set_refs),
        ],
    ],
};

pub(in crate::xml) static ASSIGNMENT: Row<AssignmentExpression> = Row {
    attributes: &[&[attr!(Text "id" id)]],
    children: &[
        &kept_head(),
        &[
            expression!(AssignmentExpression: "from" from, from_language),
            expression!(AssignmentExpression: "to" to, to_language),
        ],
    ],
};

pub(in crate::xml) static DATA_ASSOCIATION: Row<DataAssociation> = Row {
    attributes: &[&[attr!(Text "id" id)]],
    children: &[
        &kept_head(),
        &[
            leaves!(DataAssociation: Reference "sourceRef" sources),
            leaf!(DataAssociation: Reference "targetRef" target),
            leaf!(DataAssociation: Expression "transformation" transformation),
            many!(DataAssociation: "assignment" ASSIGNMENT assignment_expressions),
        ],
    ],
};

/// Input output specification; it has no shape of its own in the definition.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::xml) struct IoSpecification {
    pub id: Option<String>,
    pub data_inputs: Option<Vec<DataItem>>,
    pub data_outputs: Option<Vec<DataItem>>,
    pub input_sets: Option<Vec<InputSet>>,
    pub output_sets: Option<Vec<OutputSet>>,
}

pub(in crate::xml) static IO_SPECIFICATION: Row<IoSpecification> = Row {
    attributes: &[&[attr!(Text "id" id)]],
    children: &[
        &kept_head(),
        &[
            many!(IoSpecification: "dataInput" DATA_ITEM data_inputs),
            many!(IoSpecification: "dataOutput" DATA_ITEM data_outputs),
            many!(IoSpecification: "inputSet" INPUT_SET input_sets),
            many!(IoSpecification: "outputSet" OUTPUT_SET output_sets),
        ],
    ],
};

pub(in crate::xml) static RESOURCE_ROLE: Row<ResourceRole> = Row {
    attributes: &[&[attr!(Text "id" id)]],
    children: &[
        &kept_head(),
        &[
            leaf!(ResourceRole: Reference "resourceRef" resource_ref),
            kept!("resourceParameterBinding"),
            child!(
                "resourceAssignmentExpression",
                |reader, role: &mut ResourceRole, el| {
                    let tree = reader.tree;
                    let mut children = tree.parts_of(el);
                    let (Some(first), None) = (children.next(), children.next()) else { return Ok(false) };
                    let formal = tree.part(first).kind == const { kind("formalExpression") };
                    if role.assignment_expression.is_some() || !formal {
                        return Ok(false);
                    }
                    reader.enter(el, false);
                    role.assignment_expression = Some(reader.leaf(first, Leaf::Text));
                    for attribute in tree.attributes(el) {
                        reader.keep_attribute(attribute);
                    }
                    reader.leave();
                    Ok(true)
                },
                |writer, role: &ResourceRole| {
                    if let Some(text) = &role.assignment_expression {
                        writer.enter(const { kind("resourceAssignmentExpression") }, None);
                        writer.kept_attributes();
                        writer.leaf(const { kind("formalExpression") }, Leaf::Text, text, None);
                        writer.leave();
                    }
                }
            ),
        ],
    ],
};

/// A data association's element name.
pub(in crate::xml) fn association_name(association: &DataAssociation) -> &'static str {
    match association.element_type.as_deref() {
        Some("dataOutputAssociation") => "dataOutputAssociation",
        _ => "dataInputAssociation",
    }
}

/// A resource role's element name.
pub(in crate::xml) fn role_name(role: &ResourceRole) -> &str {
    let name = role.role.as_deref().unwrap_or("resourceRole");
    let known =
        crate::xml::names::element_row(name).is_some_and(|row| row.group == crate::xml::Group::ResourceRole);
    if known { name } else { "resourceRole" }
}
