//! Criteria and sentries.

use super::kept_head;
use crate::model::{Criterion, IfPart, OnPart, Sentry};
use crate::xml::names::{Kind, kind};
use crate::xml::vocabulary::{Child, Reader, Row, Writer, any_of};
use crate::xml::{Group, XmlError, extensions};
use heddle_xml::El;

static CRITERION: Row<Criterion> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name), attr!(Reference "sentryRef" sentry_ref)]],
    children: &[&[leaves!(Criterion: Text "documentation" documentation), extended!()]],
};

/// Reads a criterion of CMMN 1.1.
pub(super) fn read_criterion(
    reader: &mut Reader<'_>,
    criteria: &mut Option<Vec<Criterion>>,
    el: El,
) -> Result<bool, XmlError> {
    let mut criterion = Criterion::default();
    extensions::read(reader, &CRITERION, &mut criterion, el)?;
    criteria.get_or_insert_default().push(criterion);
    Ok(true)
}

/// Writes the criteria of an item as CMMN 1.1.
pub(super) fn write_criteria(writer: &mut Writer<'_>, kind: Kind, criteria: Option<&Vec<Criterion>>) {
    for criterion in criteria.into_iter().flatten() {
        writer.element(kind, &CRITERION, criterion);
    }
}

pub(super) static SENTRY: Row<Sentry> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name), attr!(Text "description" description)]],
    children: &[&[
        leaves!(Sentry: Text "documentation" documentation),
        extended!(),
        Child {
            matches: any_of(Group::OnPart),
            read: Some(|reader, sentry, el| {
                let r#type = Some(reader.tree.local(el).to_owned());
                let mut part = OnPart { r#type, ..OnPart::default() };
                extensions::read(reader, &ON_PART, &mut part, el)?;
                sentry.on_parts.get_or_insert_default().push(part);
                Ok(true)
            }),
            write: Some(|writer, sentry| {
                for part in sentry.on_parts.iter().flatten() {
                    let kind = if part.r#type.as_deref() == Some("caseFileItemOnPart") {
                        const { kind("caseFileItemOnPart") }
                    } else {
                        const { kind("planItemOnPart") }
                    };
                    writer.element(kind, &ON_PART, part);
                }
            }),
        },
        one!(Sentry: "ifPart" IF_PART if_part),
    ]],
};

static ON_PART: Row<OnPart> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "description" description),
        attr!(Reference "sourceRef" source_ref),
        attr!(Reference "exitCriterionRef" exit_criterion_ref),
        attr!(Reference "sentryRef" sentry_ref),
    ]],
    children: &[&[
        kept!("documentation"),
        extended!(),
        leaf!(OnPart: Reference "standardEvent" standard_event),
    ]],
};

static IF_PART: Row<IfPart> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "description" description),
        attr!(Reference "contextRef" context_ref),
    ]],
    children: &[&kept_head(), &[expr!(IfPart: "condition" condition)]],
};
