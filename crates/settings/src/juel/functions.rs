//! Functions of Flowable on a variable (`vars:getOrDefault(…)`), those that have an exact counterpart in FEEL.

use super::methods::Method;
use super::parser::{Expr, Operator};

/// Prefixes of the functions.
pub(super) const SPACES: [&str; 3] = ["vars", "var", "variables"];

/// Value that a function gives of a variable; none where it has no counterpart.
pub(super) fn call<'t>(name: &str, variable: Expr<'t>, argument: Option<Expr<'t>>) -> Option<Expr<'t>> {
    let own = Box::new(variable);
    let compared = |own, operator, other| Some(Expr::Binary(operator, own, Box::new(other)));
    match (name, argument) {
        ("get", None) => Some(*own),
        ("exists", None) => compared(own, Operator::Unequal, Expr::Null),
        ("notExists", None) => compared(own, Operator::Equal, Expr::Null),
        ("empty" | "isEmpty", None) => Some(Expr::Empty(own)),
        ("notEmpty" | "isNotEmpty", None) => Some(Expr::Not(Box::new(Expr::Empty(own)))),
        ("getOrDefault", Some(default)) => {
            let is_absent = Expr::Binary(Operator::Equal, own.clone(), Box::new(Expr::Null));
            Some(Expr::If(Box::new(is_absent), Box::new(default), own))
        }
        ("contains", Some(part)) => Some(Expr::Call(Method::Contains, own, Some(Box::new(part)))),
        (name, Some(other)) => compared(own, operator(name)?, other),
        (_, None) => None,
    }
}

/// Comparison of a name.
fn operator(name: &str) -> Option<Operator> {
    Some(match name {
        "equals" | "eq" => Operator::Equal,
        "notEquals" | "ne" => Operator::Unequal,
        "lowerThan" | "lessThan" | "lt" => Operator::Less,
        "lowerThanOrEquals" | "lessThanOrEquals" | "lte" => Operator::LessOrEqual,
        "greaterThan" | "gt" => Operator::Greater,
        "greaterThanOrEquals" | "gte" => Operator::GreaterOrEqual,
        _ => return None,
    })
}
