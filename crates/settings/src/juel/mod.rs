//! Expressions of Camunda 7, Flowable and Activiti (JUEL, `${…}` and `#{…}`) as FEEL.
//!
//! The translation keeps the meaning for JSON values: null counts as false, 0 or the empty text where JUEL says
//! so. Three things have no counterpart and are documented in `docs/import.md`: an absent variable is null instead
//! of a failure, values of different types are not converted into each other, and a division by 0 is null.
//!
//! [`script`] does the same for scripts of assignments and simple expressions.

mod functions;
mod lexer;
mod methods;
mod parser;
pub mod script;
mod writer;

use parser::Expr;

/// Longest text that is translated, in bytes.
const MAX_BYTES: usize = 16 * 1024;

/// Reason for leaving a text untranslated: one clause, to stand behind a colon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JuelError(pub String);

/// A text with expressions in it.
#[derive(Debug)]
enum Part<'t> {
    Text(String),
    Expression(Expr<'t>),
}

/// Whether the text holds a JUEL expression.
pub fn is_juel(text: &str) -> bool {
    text.contains("${") || text.contains("#{")
}

/// The FEEL expression that gives the value of a text with JUEL in it.
///
/// # Errors
/// When a part has no counterpart in FEEL or is no JUEL.
pub fn value(text: &str) -> Result<String, JuelError> {
    let parts = parts(text)?;
    match parts.as_slice() {
        [Part::Expression(single)] => writer::value(single),
        _ => {
            let mut written = Vec::with_capacity(parts.len());
            for part in &parts {
                written.push(match part {
                    Part::Text(text) => writer::string(text),
                    Part::Expression(expression) => writer::text(expression)?,
                });
            }
            writer::bounded(written.join(" + "))
        }
    }
}

/// The FEEL expression that is true exactly when a JUEL condition is true.
///
/// # Errors
/// As [`value`]; also when the text is not one single expression.
pub fn condition(text: &str) -> Result<String, JuelError> {
    match parts(text)?.as_slice() {
        [Part::Expression(single)] => writer::truth(single),
        _ => Err(JuelError("a condition is one single expression".to_owned())),
    }
}

/// A FEEL text literal.
pub fn string(text: &str) -> String {
    writer::string(text)
}

/// A variable's name as FEEL reads it.
///
/// # Errors
/// When no name of FEEL can be it.
pub fn written_name(name: &str) -> Result<String, JuelError> {
    writer::own_name(name)
}

/// A member of a value.
pub fn written_member(base: &str, member: &str) -> String {
    writer::path(base, member)
}

/// Splits a text at its expressions.
fn parts(text: &str) -> Result<Vec<Part<'_>>, JuelError> {
    if text.len() > MAX_BYTES {
        return Err(JuelError(format!("the text is longer than {MAX_BYTES} bytes")));
    }
    let trimmed = text.trim();
    let (mut parts, mut literal, mut rest) = (Vec::new(), String::new(), trimmed);
    let mut nodes = 0;
    while let Some(at) = ["${", "#{"].into_iter().filter_map(|mark| rest.find(mark)).min() {
        let before = &rest[..at];
        if let Some(before) = before.strip_suffix('\\') {
            literal.push_str(before);
            literal.push_str(&rest[at..at + 2]);
            rest = &rest[at + 2..];
            continue;
        }
        literal.push_str(before);
        if !literal.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut literal)));
        }
        let (expression, used) = parser::parse(&rest[at + 2..], &mut nodes)?;
        parts.push(Part::Expression(expression));
        rest = &rest[at + 2 + used..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests;
