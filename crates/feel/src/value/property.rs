//! Properties of dates, times, durations and ranges (DMN 1.5, Table 65).

use super::Value;
use super::date::{Date, DaysAndTimeDuration, LocalTime};
use super::zone::Zone;

fn count(number: impl TryInto<i64>) -> Value {
    number.try_into().map_or(Value::Null, Value::integer)
}

fn zone_property(offset: Option<i32>, zone: Option<&Zone>, name: &str) -> Option<Value> {
    match name {
        "time offset" => Some(offset.map_or(Value::Null, |seconds| {
            let nanos = i128::from(seconds) * 1_000_000_000;
            DaysAndTimeDuration::from_nanos(nanos).map_or(Value::Null, Value::DaysAndTimeDuration)
        })),
        "timezone" => Some(zone.and_then(Zone::name).map_or(Value::Null, Value::string)),
        _ => None,
    }
}

fn date_property(date: Date, name: &str) -> Option<Value> {
    Some(match name {
        "year" => count(date.year()),
        "month" => count(date.month()),
        "day" => count(date.day()),
        "weekday" => count(date.weekday()),
        _ => return None,
    })
}

fn clock_property(clock: LocalTime, name: &str) -> Option<Value> {
    Some(match name {
        "hour" => count(clock.hour()),
        "minute" => count(clock.minute()),
        "second" => count(clock.second()),
        _ => return None,
    })
}

/// The property of a value that is no context; `None` when it has none of that name.
pub(crate) fn property(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Date(date) => date_property(*date, name).or_else(|| clock_property(LocalTime::MIDNIGHT, name)),
        Value::Time(time) => clock_property(time.clock, name)
            .or_else(|| zone_property(time.offset(), time.zone.as_ref(), name)),
        Value::DateTime(time) => date_property(time.date, name)
            .or_else(|| clock_property(time.clock, name))
            .or_else(|| zone_property(time.offset(), time.zone.as_ref(), name)),
        Value::DaysAndTimeDuration(duration) => {
            let seconds = duration.nanos() / 1_000_000_000;
            Some(match name {
                "days" => count(seconds / 86_400),
                "hours" => count(seconds / 3600 % 24),
                "minutes" => count(seconds / 60 % 60),
                "seconds" => count(seconds % 60),
                _ => return None,
            })
        }
        Value::YearsAndMonthsDuration(months) => Some(match name {
            "years" => count(months / 12),
            "months" => count(months % 12),
            _ => return None,
        }),
        Value::Range(range) => Some(match name {
            "start" => range.low.clone().unwrap_or_default(),
            "end" => range.high.clone().unwrap_or_default(),
            "start included" => Value::Boolean(range.low_included),
            "end included" => Value::Boolean(range.high_included),
            _ => return None,
        }),
        _ => None,
    }
}
