//! From a schema's complaints to problems: the member that each is about, and the word that bodies of calls have for it.

use std::fmt::Write as _;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::LocationSegment;
use serde_json::{Map, Value};

use super::MAX_PROBLEMS;
use crate::Problem;

/// Most characters of a member's name that are told.
const MAX_NAME: usize = 80;

/// A value of which is told what is wrong with it; places are named below `base`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told<'v> {
    /// The value.
    pub value: &'v Value,
    /// Name of the value itself.
    pub base: &'v str,
}

impl<'v> Told<'v> {
    /// The problems that complaints are, at most [`MAX_PROBLEMS`].
    pub(super) fn all<'e>(self, errors: impl Iterator<Item = ValidationError<'e>>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for error in errors {
            self.explain(&error, &mut problems);
            if problems.len() >= MAX_PROBLEMS {
                break;
            }
        }
        problems.truncate(MAX_PROBLEMS);
        problems
    }

    /// Members of the object at a place that has none by its schema; none where the complaint is another one.
    fn unwanted(self, error: &ValidationError<'_>) -> Option<&'v Map<String, Value>> {
        let of_object = error.schema_path().as_str().ends_with("/additionalProperties");
        let at = self.value.pointer(error.instance_path().as_str()).filter(|_| of_object);
        at.and_then(Value::as_object).filter(|members| !members.is_empty())
    }

    fn explain(self, error: &ValidationError<'_>, problems: &mut Vec<Problem>) {
        let at = place(error, self.base);
        let reason = match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let message = format!("The member `{name}` is required.");
                return problems.push(Problem::at(member(&at, name), "required", message));
            }
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                return problems.extend(unexpected.iter().take(MAX_PROBLEMS).map(|name| unknown(&at, name)));
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                return self.choice(error, context, problems);
            }
            Kind::FalseSchema => match self.unwanted(error) {
                None => "notAllowed",
                Some(members) => {
                    return problems.extend(members.keys().take(MAX_PROBLEMS).map(|name| unknown(&at, name)));
                }
            },
            Kind::Type { .. } => "wrongType",
            Kind::MaxLength { .. }
            | Kind::MaxItems { .. }
            | Kind::AdditionalItems { .. }
            | Kind::MaxProperties { .. } => "tooLong",
            Kind::MinLength { .. } | Kind::MinItems { .. } | Kind::MinProperties { .. } => "tooShort",
            Kind::UniqueItems => "notUnique",
            Kind::Maximum { .. }
            | Kind::Minimum { .. }
            | Kind::ExclusiveMaximum { .. }
            | Kind::ExclusiveMinimum { .. }
            | Kind::MultipleOf { .. } => "outOfRange",
            Kind::Pattern { .. } => "pattern",
            Kind::Format { .. } | Kind::ContentEncoding { .. } | Kind::ContentMediaType { .. } => "format",
            Kind::Enum { .. }
            | Kind::Constant { .. }
            | Kind::Not { .. }
            | Kind::PropertyNames { .. }
            | Kind::UnevaluatedItems { .. } => "notAllowed",
            Kind::OneOfMultipleValid { .. }
            | Kind::Contains
            | Kind::Custom { .. }
            | Kind::FromUtf8 { .. }
            | Kind::BacktrackLimitExceeded { .. }
            | Kind::RegexEngineFailure { .. }
            | Kind::Referencing(_) => "schema",
        };
        problems.push(Problem::at(at, reason, error.to_string()));
    }

    /// A choice failed. Where null is all that the others allow, what the one other says is what helps; and where each asks
    /// for another type, the type is what is wrong.
    fn choice(
        self,
        error: &ValidationError<'_>,
        context: &[Vec<ValidationError<'static>>],
        problems: &mut Vec<Problem>,
    ) {
        let here = |inner: &ValidationError<'_>| inner.instance_path() == error.instance_path();
        let is_type =
            |inner: &&ValidationError<'static>| here(inner) && matches!(inner.kind(), Kind::Type { .. });
        let is_null = |inner: &ValidationError<'static>| {
            here(inner)
                && matches!(inner.kind(), Kind::Type { kind: TypeKind::Single(kind) } if kind.to_string() == "null")
        };
        let others: Vec<_> = context.iter().filter(|branch| !branch.iter().any(is_null)).collect();
        match others.as_slice() {
            [only] if others.len() < context.len() => {
                for inner in *only {
                    self.explain(inner, problems);
                }
            }
            all => {
                let typed =
                    !all.is_empty() && all.iter().all(|branch| branch.iter().any(|inner| is_type(&inner)));
                let reason = if typed { "wrongType" } else { "schema" };
                problems.push(Problem::at(place(error, self.base), reason, error.to_string()));
            }
        }
    }
}

/// The place of a complaint, with dots and brackets.
fn place(error: &ValidationError<'_>, base: &str) -> String {
    let mut place = base.to_owned();
    for segment in error.instance_path() {
        match segment {
            LocationSegment::Index(index) => {
                // Writing to a String can't fail.
                let _ = write!(place, "[{index}]");
            }
            LocationSegment::Property(name) => place = member(&place, &name),
        }
    }
    place
}

/// A member of what stands at a place: `.name`, or `["odd name"]` where a plain one could be misread.
fn member(place: &str, name: &str) -> String {
    let shown: String = name.chars().take(MAX_NAME).collect();
    let plain =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$-".contains(&byte));
    if plain { format!("{place}.{shown}") } else { format!("{place}[{shown:?}]") }
}

fn unknown(place: &str, name: &str) -> Problem {
    let shown: String = name.chars().take(MAX_NAME).collect();
    Problem::at(member(place, name), "unknownField", format!("The schema has no member `{shown}` here."))
}
