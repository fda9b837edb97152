//! Values at the boundaries of elements: coerced to the type there and checked (DMN 1.5, 10.3.2.9.4).

use heddle_feel::{
    Context, Duration, Host, LimitError, Ref, Scope, Type, Types, Value, from_json, parse_date,
    parse_date_time, parse_duration, parse_time,
};
use serde_json::Value as Json;

use super::log::{note, notes};
use crate::compile::plan::{AllowedValues, Check, ItemType, Place};
use crate::compile::table::{any_passes, is_scalar};
use std::sync::Arc;

/// The value as the type takes it, else null with a reason.
#[inline]
pub(super) fn typed(
    value: Value,
    kind: Option<&ItemType>,
    place: &Place,
    host: &mut Host<'_>,
) -> Result<Value, LimitError> {
    let Some(kind) = kind else { return Ok(value) };
    let fits = match (&kind.feel, &value) {
        (_, Value::Null) => return Ok(value),
        (Type::Number, Value::Number(_))
        | (Type::String, Value::String(_))
        | (Type::Boolean, Value::Boolean(_))
        | (Type::Any, _) => true,
        _ => false,
    };
    if fits && kind.check.is_none() { Ok(value) } else { convert(value, kind, place, host) }
}

#[inline(never)]
fn convert(value: Value, kind: &ItemType, place: &Place, host: &mut Host<'_>) -> Result<Value, LimitError> {
    host.charge(u64::from(value.weight()) / 4)?;
    let given = value.type_name();
    let Some(value) = kind.feel.coerce_among(value, kind.within.types()) else {
        note(host, place, format!("a {given} is not of the type `{}`", kind.name));
        return Ok(Value::Null);
    };
    if let Some(check) = &kind.check
        && !passes(check, &value, host)?
    {
        notes(host, place);
        note(host, place, format!("the value is not among those that the type `{}` allows", kind.name));
        return Ok(Value::Null);
    }
    Ok(value)
}

/// Whether the value passes the tests.
pub(super) fn allows(
    allowed: &AllowedValues,
    value: &Value,
    scope: &dyn Scope,
    host: &mut Host<'_>,
) -> Result<bool, LimitError> {
    if let Some(constants) = &allowed.constants
        && is_scalar(value)
    {
        host.charge(constants.tests.len() as u64 + 1)?;
        return Ok(constants.tests.is_empty() || any_passes(&constants.tests, constants.negated, value));
    }
    match allowed.program.get() {
        Some(program) => Ok(host.test(program, value, scope)?.as_bool() == Some(true)),
        None => Ok(false),
    }
}

fn passes(check: &Check, value: &Value, host: &mut Host<'_>) -> Result<bool, LimitError> {
    if value.is_null() {
        return Ok(true);
    }
    host.nested(2, |host| {
        for allowed in &check.tests {
            if !allows(allowed, value, &(), host)? {
                return Ok(false);
            }
        }
        if let (Some(items), Value::List(list)) = (&check.items, value) {
            for item in list.iter() {
                if !passes(items, item, host)? {
                    return Ok(false);
                }
            }
        }
        if let Value::Context(context) = value {
            for (name, member) in &check.members {
                if let Some(value) = context.get(name)
                    && !passes(member, value, host)?
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    })
}

/// A value given from outside. JSON has no dates, times and durations: its strings are read as these where the type
/// asks for them.
pub(super) fn given(value: Ref<'_>, kind: &ItemType) -> Value {
    match value {
        Ref::Json(json) => from_typed(json, &kind.feel, kind.within.types()),
        other => other.into_value(),
    }
}

/// A text that came from outside without a type, as the type reads it.
pub(super) fn read(value: Value, kind: &ItemType) -> Value {
    match &value {
        Value::String(text) => from_typed(&Json::String(text.to_string()), &kind.feel, kind.within.types()),
        _ => value,
    }
}

/// The result of a function as its type says; null for a reason when it is none of that type.
pub(super) fn returned(
    value: Value,
    result: &Type,
    kind: &ItemType,
    place: &Place,
    host: &mut Host<'_>,
) -> Result<Value, LimitError> {
    if value.is_null() {
        return Ok(value);
    }
    host.charge(u64::from(value.weight()) / 4)?;
    let given = value.type_name();
    let returned = result.coerce_among(value, kind.within.types());
    if returned.is_none() {
        note(host, place, format!("a {given} is not of the type of the result that `{}` says", kind.name));
    }
    Ok(returned.unwrap_or_default())
}

fn from_typed(json: &Json, kind: &Type, types: &Types) -> Value {
    match (json, kind) {
        (_, Type::Named(_)) => match types.resolve(kind) {
            Some(kind) => from_typed(json, kind, types),
            None => from_json(json),
        },
        (Json::String(text), Type::Date) => {
            parse_date(text).map(Value::Date).unwrap_or_else(|| from_json(json))
        }
        (Json::String(text), Type::Time) => {
            parse_time(text).map_or_else(|| from_json(json), |time| Value::Time(Arc::new(time)))
        }
        (Json::String(text), Type::DateTime) => {
            parse_date_time(text).map_or_else(|| from_json(json), |time| Value::DateTime(Arc::new(time)))
        }
        (Json::String(text), Type::DaysAndTimeDuration | Type::YearsAndMonthsDuration) => {
            match parse_duration(text) {
                Some(Duration::DaysAndTime(duration)) => Value::DaysAndTimeDuration(duration),
                Some(Duration::YearsAndMonths(months)) => Value::YearsAndMonthsDuration(months),
                None => from_json(json),
            }
        }
        (Json::Array(items), Type::List(Some(inner))) => {
            Value::list(items.iter().map(|item| from_typed(item, inner, types)).collect())
        }
        (single, Type::List(Some(inner))) => from_typed(single, inner, types),
        (Json::Object(members), Type::Context(kinds)) if !kinds.is_empty() => {
            let mut context = Context::new();
            for (name, kind) in kinds {
                if let Some(json) = members.get(&**name) {
                    context.put(name.clone(), from_typed(json, kind, types));
                }
            }
            if context.len() < members.len() {
                for (name, json) in members {
                    if context.get(name).is_none() {
                        context.put(name.as_str(), from_json(json));
                    }
                }
            }
            Value::context(context)
        }
        _ => from_json(json),
    }
}
