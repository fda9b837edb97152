//! The rows of all model types.

#[macro_use]
mod macros;

mod case;
mod definitions;
mod diagram;
mod item;
mod sentry;

pub(super) use definitions::DEFINITIONS;
pub(super) use item::definition_name;

use super::XmlError;
use super::names::{Kind, kind};
use super::vocabulary::{Child, Reader, Row, Writer};
use crate::model::Expression;
use heddle_xml::El;
use heddle_xml::mapping::Leaf;

/// The row of an element that says something with its content only; documentation and extensions are kept.
const fn kept_head<T>() -> [Child<T>; 2] {
    [kept!("documentation"), kept!("extensionElements")]
}

/// An expression of CMMN 1.0.
static EXPRESSION_10: Row<Expression> = Row {
    attributes: &[&[attr!(Text "language" language)]],
    children: &[&kept_head(), &[leaf!(Expression: Expression "body" body)]],
};

/// Reads an expression; one without a text has no body.
fn read_expression(
    reader: &mut Reader<'_>,
    place: &mut Option<Expression>,
    el: El,
) -> Result<bool, XmlError> {
    if place.is_some() {
        return Ok(false);
    }
    let tree = reader.tree;
    let mut expression = Expression::default();
    let in_body = tree.parts_of(el).any(|child| tree.part(child).kind == kind("body"));
    if reader.state.is_10 && in_body {
        reader.read(&EXPRESSION_10, &mut expression, el)?;
    } else {
        let (body, language) = reader.expression(el);
        reader.state.plain_expressions |= reader.state.is_10 && !body.is_empty();
        expression = Expression { body: Some(body).filter(|body| !body.is_empty()), language };
    }
    *place = Some(expression);
    Ok(true)
}

/// Writes an expression.
fn write_expression(writer: &mut Writer<'_>, kind: Kind, expression: &Expression) {
    if writer.state.is_10 && !writer.state.plain_expressions {
        writer.element(kind, &EXPRESSION_10, expression);
        return;
    }
    let body = expression.body.as_deref().unwrap_or_default();
    writer.leaf(kind, Leaf::Expression, body, expression.language.as_deref());
}
