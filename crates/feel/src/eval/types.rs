//! `instance of` and the types of parameters.

use std::sync::{Arc, LazyLock};

use crate::types::{Type, Types};
use crate::value::Value;
use crate::value::date::LocalTime;
use crate::value::function::{Function, Kind};
use crate::value::time::DateTime;
use crate::value::zone::Zone;

/// Whether the value is of the type; `None` for a type that is not known.
pub(crate) fn instance_of(value: &Value, kind: Option<&Type>, types: &Types) -> Option<bool> {
    let kind = types.resolve(kind?)?;
    match (value, kind) {
        (Value::Null, Type::Null) => Some(true),
        (Value::Null, _) => Some(false),
        _ => conforms(value, kind, types),
    }
}

/// Conformance (DMN 1.5, 10.3.2.9.1); null conforms to every type.
fn conforms(value: &Value, kind: &Type, types: &Types) -> Option<bool> {
    let kind = types.resolve(kind)?;
    if value.is_null() {
        return Some(true);
    }
    Some(match (kind, value) {
        (Type::Any, _)
        | (Type::Boolean, Value::Boolean(_))
        | (Type::Number, Value::Number(_))
        | (Type::String, Value::String(_))
        | (Type::Date, Value::Date(_))
        | (Type::Time, Value::Time(_))
        | (Type::DateTime, Value::DateTime(_))
        | (Type::DaysAndTimeDuration, Value::DaysAndTimeDuration(_))
        | (Type::YearsAndMonthsDuration, Value::YearsAndMonthsDuration(_))
        | (Type::List(None), Value::List(_))
        | (Type::Range(None), Value::Range(_))
        | (Type::Function(None), Value::Function(_)) => true,
        (Type::List(Some(item)), Value::List(items)) => {
            for value in items.iter() {
                if !conforms(value, item, types)? {
                    return Some(false);
                }
            }
            true
        }
        (Type::Range(Some(end)), Value::Range(range)) => {
            for value in [&range.low, &range.high].into_iter().flatten() {
                if !conforms(value, end, types)? {
                    return Some(false);
                }
            }
            true
        }
        (Type::Context(members), Value::Context(context)) => {
            for (name, kind) in members {
                match context.get(name) {
                    Some(value) if conforms(value, kind, types)? => {}
                    _ => return Some(false),
                }
            }
            true
        }
        (Type::Function(Some((parameters, result))), Value::Function(function)) => {
            function_conforms(function, parameters, result, types, false)
        }
        _ => false,
    })
}

/// A function conforms when its parameters take at least what the type's do and its result gives no more.
fn function_conforms(
    function: &Function,
    parameters: &[Type],
    result: &Type,
    types: &Types,
    lenient: bool,
) -> bool {
    if function.parameters().len() != parameters.len() {
        return false;
    }
    let defined = match &function.0 {
        Kind::Defined(defined) => defined,
        Kind::Builtin(_) => return *result == Type::Any || lenient,
        Kind::Host(host) => {
            let Some((own, given)) = host.signature() else { return *result == Type::Any || lenient };
            let taken = own.iter().zip(parameters).all(|(own, wanted)| subtype(wanted, own, types));
            return taken && (*given == Type::Any && lenient || subtype(&given, result, types));
        }
    };
    let declared = defined.parameter_types();
    let taken = declared
        .iter()
        .zip(parameters)
        .all(|(own, wanted)| own.is_none_or(|own| subtype(wanted, own, types)));
    taken
        && (*result == Type::Any
            || defined.literal_type().map_or(lenient, |kind| subtype(&kind, result, types)))
}

/// The type of a value that is no list, context, range or function.
pub(crate) fn scalar(value: &Value) -> Option<Type> {
    match value {
        Value::Boolean(_) => Some(Type::Boolean),
        Value::Number(_) => Some(Type::Number),
        Value::String(_) => Some(Type::String),
        Value::Date(_) => Some(Type::Date),
        Value::Time(_) => Some(Type::Time),
        Value::DateTime(_) => Some(Type::DateTime),
        Value::DaysAndTimeDuration(_) => Some(Type::DaysAndTimeDuration),
        Value::YearsAndMonthsDuration(_) => Some(Type::YearsAndMonthsDuration),
        Value::Null | Value::List(_) | Value::Context(_) | Value::Range(_) | Value::Function(_) => None,
    }
}

/// Names that mean each other in lists and the like are compared as they are written, so that this ends.
fn subtype(narrow: &Type, wide: &Type, types: &Types) -> bool {
    fn resolved<'t>(types: &'t Types, kind: &'t Type) -> &'t Type {
        types.resolve(kind).unwrap_or(kind)
    }
    if narrow == wide {
        return true;
    }
    let inner = |a: &Type, b: &Type| match (a, b) {
        (Type::Named(_), _) | (_, Type::Named(_)) => a == b || resolved(types, a) == resolved(types, b),
        _ => subtype(a, b, types),
    };
    match (resolved(types, narrow), resolved(types, wide)) {
        (_, Type::Any) | (Type::Null, _) => true,
        (Type::List(_), Type::List(None)) | (Type::Range(_), Type::Range(None)) => true,
        (Type::List(Some(a)), Type::List(Some(b))) | (Type::Range(Some(a)), Type::Range(Some(b))) => {
            inner(a, b)
        }
        (Type::Context(a), Type::Context(b)) => {
            b.iter().all(|(name, wide)| a.iter().any(|(known, narrow)| known == name && inner(narrow, wide)))
        }
        (a, b) => a == b,
    }
}

impl Type {
    /// The value as a variable of the type takes it (DMN 1.5, 10.3.2.9.4): as it is, as the only item of a list, or
    /// out of one; `None` when it does not conform.
    #[must_use]
    pub fn coerce(&self, value: Value) -> Option<Value> {
        static NONE: LazyLock<Types> = LazyLock::new(Types::default);
        self.coerce_among(value, &NONE)
    }

    /// The value as a variable of the type takes it, where the type may name others, such as itself.
    #[must_use]
    pub fn coerce_among(&self, value: Value, types: &Types) -> Option<Value> {
        coerce(value, Some(self), types)
    }
}

/// The argument as the parameter's type takes it: as it is, as the only item of a list, or out of one.
pub(crate) fn coerce(value: Value, kind: Option<&Type>, types: &Types) -> Option<Value> {
    // A type that nobody declared asks for nothing.
    let Some(kind) = kind.and_then(|kind| types.resolve(kind)) else { return Some(value) };
    if conforms(&value, kind, types) != Some(false) {
        return Some(value);
    }
    match (&value, kind) {
        // What a function gives is not known before it is called: only what is surely wrong is refused.
        (Value::Function(function), Type::Function(Some((parameters, result)))) => {
            function_conforms(function, parameters, result, types, true).then_some(value)
        }
        (Value::List(items), _) if items.len() == 1 => {
            items.first().cloned().filter(|item| conforms(item, kind, types) == Some(true))
        }
        (Value::Date(date), Type::DateTime) => Some(Value::DateTime(Arc::new(DateTime {
            date: *date,
            clock: LocalTime::MIDNIGHT,
            zone: Some(Zone::Offset(0)),
        }))),
        (_, Type::List(_)) if !matches!(value, Value::List(_)) => {
            let list = Value::list(vec![value]);
            (conforms(&list, kind, types) == Some(true)).then_some(list)
        }
        _ => None,
    }
}
