//! From the schema's complaints to details with a place, a reason and a sentence.

use std::fmt::Write as _;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::LocationSegment;
use serde_json::Value;

use super::path::{shown, write_member};
use super::schema::Compiled;
use super::{MAX_DETAILS, Problems};
use crate::error::Detail;

/// Checks a value and gives every problem.
///
/// # Errors
/// All problems found, at most [`MAX_DETAILS`].
pub(crate) fn check(compiled: &Compiled, value: &Value) -> Result<(), Problems> {
    if compiled.validator.is_valid(value) {
        return Ok(());
    }
    let mut details = Vec::new();
    if let (true, Value::Object(members)) = (compiled.is_empty, value) {
        // A type without members: what is sent is unknown, each by its name.
        details.extend(members.keys().take(MAX_DETAILS).map(|name| unknown("", name)));
        return Err(Problems(details));
    }
    for error in compiled.validator.iter_errors(value) {
        explain(&error, &mut details);
        if details.len() >= MAX_DETAILS {
            break;
        }
    }
    details.truncate(MAX_DETAILS);
    Err(Problems(details))
}

fn place(error: &ValidationError<'_>) -> String {
    let mut text = String::new();
    for segment in error.instance_path() {
        // Writing to a String can't fail.
        let _ = match segment {
            LocationSegment::Index(index) => write!(text, "[{index}]"),
            LocationSegment::Property(name) => {
                let first = text.is_empty();
                write_member(&mut text, first, &name)
            }
        };
    }
    text
}

fn member(place: &str, name: &str) -> String {
    let mut text = place.to_owned();
    let _ = write_member(&mut text, place.is_empty(), name);
    text
}

fn unknown(place: &str, name: &str) -> Detail {
    let message = format!("There is no member `{}` here, or it can't be set.", shown(name));
    Detail::at(member(place, name), "unknownField", message)
}

fn explain(error: &ValidationError<'_>, out: &mut Vec<Detail>) {
    let at = place(error);
    let (reason, message) = match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            out.push(Detail::at(member(&at, name), "required", format!("The member `{name}` is required.")));
            return;
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            out.extend(unexpected.iter().take(MAX_DETAILS).map(|name| unknown(&at, name)));
            return;
        }
        Kind::OneOfNotValid { context } | Kind::AnyOf { context } => return choice(error, context, at, out),
        Kind::Type { kind } => ("wrongType", format!("This must be {}.", type_words(kind))),
        Kind::MaxLength { limit } => ("tooLong", format!("The text has more than {limit} characters.")),
        Kind::MinLength { limit } => ("tooShort", format!("The text has fewer than {limit} characters.")),
        Kind::MaxItems { limit } => ("tooLong", format!("The list has more than {limit} items.")),
        Kind::AdditionalItems { limit } => ("tooLong", format!("The list has more than {limit} items.")),
        Kind::MinItems { limit } => ("tooShort", format!("The list has fewer than {limit} items.")),
        Kind::MaxProperties { limit } => ("tooLong", format!("The object has more than {limit} members.")),
        Kind::MinProperties { limit } => ("tooShort", format!("The object has fewer than {limit} members.")),
        Kind::UniqueItems => ("notUnique", "The list has the same item twice.".to_owned()),
        Kind::Maximum { limit } => ("outOfRange", format!("The number is above {limit}.")),
        Kind::Minimum { limit } => ("outOfRange", format!("The number is below {limit}.")),
        Kind::ExclusiveMaximum { limit } => ("outOfRange", format!("The number is not below {limit}.")),
        Kind::ExclusiveMinimum { limit } => ("outOfRange", format!("The number is not above {limit}.")),
        Kind::MultipleOf { multiple_of } => {
            ("outOfRange", format!("The number is not a multiple of {multiple_of}."))
        }
        Kind::Pattern { pattern } => ("pattern", format!("The text does not match `{pattern}`.")),
        Kind::Format { format } => ("format", format!("The text is not a {format}.")),
        Kind::Enum { options } => ("notAllowed", format!("The value is none of {options}.")),
        Kind::Constant { expected_value } => ("notAllowed", format!("The value must be {expected_value}.")),
        _ => ("notAllowed", "The value is not allowed here.".to_owned()),
    };
    out.push(Detail::at(at, reason, message));
}

/// A choice failed. Null is one of the choices of a member that may be null: then what the other choice says
/// is what helps.
fn choice(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    at: String,
    out: &mut Vec<Detail>,
) {
    let is_null_branch = |branch: &&Vec<ValidationError<'static>>| {
        branch.iter().any(|inner| {
            inner.instance_path() == error.instance_path()
                && matches!(inner.kind(), Kind::Type { kind: TypeKind::Single(kind) } if kind.to_string() == "null")
        })
    };
    let others: Vec<_> = context.iter().filter(|branch| !is_null_branch(branch)).collect();
    match others.as_slice() {
        [only] if !error.instance().is_null() => {
            for inner in *only {
                explain(inner, out);
            }
        }
        _ => out.push(Detail::at(at, "wrongType", "The value has none of the shapes that are allowed here.")),
    }
}

fn type_words(kind: &TypeKind) -> String {
    let word = |name: &str| match name {
        "array" => "a list".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => "an integer".to_owned(),
        "null" => "null".to_owned(),
        "object" => "an object".to_owned(),
        "string" => "a text".to_owned(),
        other => format!("a {other}"),
    };
    match kind {
        TypeKind::Single(one) => word(&one.to_string()),
        TypeKind::Multiple(set) => {
            set.iter().map(|one| word(&one.to_string())).collect::<Vec<_>>().join(" or ")
        }
    }
}
