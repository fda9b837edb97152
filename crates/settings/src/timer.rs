//! Timers of timer events (clause 10.5.5.6): ISO 8601 dates, durations and repeating intervals.
//!
//! A repeating timer is anchored to its schedule: slot k lies at anchor + k · period, so that a late firing
//! moves no later slot. Calendar units (years, months, weeks, days) are added in UTC. A date and time without
//! an offset is UTC.

use super::cron;
use super::juel;
use heddle_feel::{Dialect, EvalContext, Expression, LimitError, StepBudget};
use heddle_kernel::{IsoDuration, Timestamp};
use jiff::{Span, Zoned, civil, tz::TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// Nanoseconds in a second.
const NANOS: i128 = 1_000_000_000;

/// Timer attribute that a definition uses, one of three; or a text that says by its form which of them it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TimerKind {
    /// `timeDate`: a point in time.
    Date,
    /// `timeDuration`: a span after the activation.
    Duration,
    /// `timeCycle`: `R[n]/[start/]period[/end]`.
    Cycle,
    /// Any of them, as its text says: `timerExpression` of CMMN.
    Any,
}

/// Defect of a timer's text, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TimerError(pub String);

/// Reason why a timer cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleFault {
    /// The timer gives no instant.
    #[error(transparent)]
    Timer(#[from] TimerError),
    /// The evaluation of its expression reached a limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

/// The timer of a timer event: literal, or a FEEL expression that gives the ISO 8601 text.
#[derive(Debug, Clone)]
pub struct TimerDefinition {
    kind: TimerKind,
    text: Arc<str>,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Literal(Literal),
    Expression(Expression),
}

#[derive(Debug, Clone)]
enum Literal {
    Date(Timestamp),
    Duration(Period),
    Cycle { count: Option<u32>, start: Option<Timestamp>, period: Period, end: Option<Timestamp> },
}

/// A positive ISO 8601 duration; years and months keep their calendar meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    text: Arc<str>,
    span: jiff::SpanFieldwise,
}

/// Due time of a timer, and its recurrence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// The instant from which the timer may fire.
    pub due_at: Timestamp,
    /// Present for a repeating timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Recurrence>,
}

/// Recurrence of a timer after the slot that is scheduled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recurrence {
    /// Slot 0 of the schedule.
    pub anchor: Timestamp,
    /// Distance of the slots.
    pub period: Period,
    /// Index of the scheduled slot.
    pub slot: u32,
    /// Index of the last slot; absent when there is no last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u32>,
    /// No slot lies after this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Timestamp>,
}

impl Period {
    /// Reads a positive ISO 8601 duration.
    ///
    /// # Errors
    /// When the text is none, or is zero or negative.
    pub fn parse(text: &str) -> Result<Self, TimerError> {
        let span = IsoDuration::parse(text).filter(|_| !text.starts_with('+')).and_then(span);
        let wrong = || TimerError(format!("`{text}` is not a positive ISO 8601 duration such as PT15M"));
        Ok(Self { text: text.into(), span: span.ok_or_else(wrong)?.fieldwise() })
    }

    /// The instant `times` periods after `anchor`; none beyond the calendar's range.
    fn after(&self, anchor: Timestamp, times: u32) -> Option<Timestamp> {
        let span = self.span.0.checked_mul(i64::from(times)).ok()?;
        let zoned = zoned(anchor)?.checked_add(span).ok()?;
        Some(millis(&zoned))
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

fn compile(source: &str) -> Result<Expression, String> {
    Expression::compile(source, Dialect::Heddle).map_err(|error| error.message)
}

impl TimerDefinition {
    /// Reads a timer's text; what is no ISO 8601 text is taken as a FEEL expression, or, with `${` or `#{` in it,
    /// translated to one.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(kind: TimerKind, text: &str) -> Result<Self, TimerError> {
        let text = text.trim();
        let form = match Literal::parse(kind, text) {
            Ok(literal) => Form::Literal(literal),
            Err(_) if juel::is_juel(text) => match juel::value(text) {
                Ok(source) => Form::Expression(compile(&source).map_err(TimerError)?),
                Err(error) => return Err(TimerError(format!("`{text}` is not translated to FEEL: {error}"))),
            },
            Err(error) => {
                // A text that is meant as ISO 8601 deserves the answer about ISO 8601.
                let unsigned = text.trim_start_matches('-');
                let iso = unsigned.starts_with(['P', 'R'])
                    || unsigned.starts_with(|own: char| own.is_ascii_digit());
                if text.is_empty() || (iso && !text.contains('(')) {
                    return Err(error);
                }
                let source = text.strip_prefix('=').unwrap_or(text).trim();
                match compile(source) {
                    Ok(expression) => Form::Expression(expression),
                    Err(syntax) => return Err(TimerError(format!("{error}, nor FEEL: {syntax}"))),
                }
            }
        };
        Ok(Self { kind, text: text.into(), form })
    }

    /// The names of variables that it reads, with repetitions.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let expression = match &self.form {
            Form::Literal(_) => None,
            Form::Expression(expression) => Some(expression),
        };
        expression.into_iter().flat_map(Expression::globals)
    }

    /// Attribute that it uses.
    #[must_use]
    pub const fn kind(&self) -> TimerKind {
        self.kind
    }

    /// The text of the definition.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text says the time itself, rather than how it is computed.
    #[must_use]
    pub const fn is_literal(&self) -> bool {
        matches!(&self.form, Form::Literal(_))
    }

    /// Whether the timer never ends by itself: a cycle without a count and without an end.
    #[must_use]
    pub const fn is_endless(&self) -> bool {
        matches!(&self.form, Form::Literal(Literal::Cycle { count: None, end: None, .. }))
    }

    /// The first due instant of a timer that is set at `now`. A date in the past is due at once; of a cycle's
    /// slots in the past only the last counts when no later one is left.
    ///
    /// # Errors
    /// When the expression gives no timer, or the instant is out of the calendar's range.
    pub fn schedule(&self, now: Timestamp, scope: &dyn heddle_feel::Scope) -> Result<Schedule, TimerError> {
        self.schedule_on(now, scope, &StepBudget::default()).map_err(|fault| match fault {
            ScheduleFault::Timer(error) => error,
            ScheduleFault::Limit(limit) => TimerError(limit.to_string()),
        })
    }

    /// The first due instant, as [`Self::schedule`] gives it, within a budget of steps.
    ///
    /// # Errors
    /// As [`Self::schedule`]; also when a limit or the budget is exceeded.
    pub fn schedule_on(
        &self,
        now: Timestamp,
        scope: &dyn heddle_feel::Scope,
        budget: &StepBudget,
    ) -> Result<Schedule, ScheduleFault> {
        match &self.form {
            Form::Literal(literal) => Ok(literal.schedule(now)?),
            Form::Expression(expression) => {
                let evaluated = expression.evaluate_on(scope, &EvalContext { now }, budget)?;
                let json = heddle_feel::to_json(&evaluated.value);
                let Some(text) = json.as_str() else {
                    let wrong = format!("`{}` gives `{json}`, not an ISO 8601 text", self.text);
                    return Err(TimerError(wrong).into());
                };
                Ok(Literal::parse(self.kind, text)?.schedule(now)?)
            }
        }
    }
}

impl Serialize for TimerDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.kind, self.text()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TimerDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (kind, text) = <(TimerKind, String)>::deserialize(deserializer)?;
        Self::parse(kind, &text).map_err(serde::de::Error::custom)
    }
}

impl Literal {
    fn parse(kind: TimerKind, text: &str) -> Result<Self, TimerError> {
        match kind {
            TimerKind::Date => date(text).map(Self::Date),
            TimerKind::Duration => Period::parse(text).map(Self::Duration),
            TimerKind::Cycle => cycle(text).or_else(|error| match cron::cycle(text) {
                Some(iso) => cycle(&iso),
                None => Err(error),
            }),
            TimerKind::Any => {
                let kind = match text.chars().next() {
                    Some('R') => TimerKind::Cycle,
                    Some('P' | '-' | '+') => TimerKind::Duration,
                    _ if cron::cycle(text).is_some() => TimerKind::Cycle,
                    Some(_) | None => TimerKind::Date,
                };
                Self::parse(kind, text)
            }
        }
    }

    fn schedule(&self, now: Timestamp) -> Result<Schedule, TimerError> {
        let range = || TimerError("the timer is due beyond the calendar's range".to_owned());
        match self {
            Self::Date(at) => Ok(Schedule { due_at: *at, cycle: None }),
            Self::Duration(period) => {
                Ok(Schedule { due_at: period.after(now, 1).ok_or_else(range)?, cycle: None })
            }
            Self::Cycle { count, start, period, end } => {
                // With a start the first slot is the start itself, else it is one period from now.
                let (anchor, first) = start.map_or((now, 1), |start| (start, 0));
                let last = count.map(|count| first + (count - 1));
                let mut recurrence =
                    Recurrence { anchor, period: period.clone(), slot: first, last, end: *end };
                let mut due_at = recurrence.at(first).ok_or_else(range)?;
                if due_at < now {
                    if let Some(later) = recurrence.first_after(now.plus_millis(-1)) {
                        due_at = recurrence.at(later).ok_or_else(range)?;
                        recurrence.slot = later;
                    } else if recurrence.last.is_some() {
                        // All slots had passed when it was set: they are one firing and not each one.
                        recurrence.last = Some(first);
                    }
                }
                Ok(Schedule { due_at, cycle: Some(recurrence) })
            }
        }
    }
}

/// Most slots of a counted cycle that are caught up with one by one.
const CATCH_UP: u32 = 1_000;

impl Schedule {
    /// The next slot. Of a cycle with a count each slot fires once, those that have passed meanwhile, too, unless they are
    /// more than a thousand, which coalesce. Of one without
    /// it is the next after `now`: what was missed in between has coalesced into the firing at hand. So does what lies
    /// closer than `least_millis` in a cycle of a shorter period; such cycles are refused, but for those that were set
    /// before there was a least period.
    #[must_use]
    pub fn next_after(&self, now: Timestamp, least_millis: i64) -> Option<Self> {
        let from = now.max(self.due_at);
        let counted = self.cycle.as_ref().is_some_and(|cycle| cycle.last.is_some());
        match self.period_millis() {
            Some(period) if period < least_millis => self.slot_after(from.plus_millis(least_millis - 1)),
            _ if counted && self.missed(from) <= CATCH_UP => self.slot_after(self.due_at),
            _ => self.slot_after(from),
        }
    }

    /// Number of slots behind the scheduled one that have passed at an instant.
    fn missed(&self, at: Timestamp) -> u32 {
        let Some(cycle) = &self.cycle else { return 0 };
        let next = cycle.first_after(at).or_else(|| cycle.last.map(|last| last.saturating_add(1)));
        next.map_or(0, |next| next.saturating_sub(cycle.slot).saturating_sub(1))
    }

    /// Distance of the first two slots of a cycle in milliseconds, the part of one cut off.
    #[must_use]
    pub fn period_millis(&self) -> Option<i64> {
        let cycle = self.cycle.as_ref()?;
        let next = cycle.period.after(cycle.anchor, 1)?;
        Some((next.micros() - cycle.anchor.micros()).div_euclid(1000))
    }

    fn slot_after(&self, from: Timestamp) -> Option<Self> {
        let cycle = self.cycle.as_ref()?;
        let slot = cycle.first_after(from)?;
        Some(Self { due_at: cycle.at(slot)?, cycle: Some(Recurrence { slot, ..cycle.clone() }) })
    }
}

impl Recurrence {
    fn at(&self, slot: u32) -> Option<Timestamp> {
        if self.last.is_some_and(|last| slot > last) {
            return None;
        }
        let at = self.period.after(self.anchor, slot)?;
        (self.end.is_none_or(|end| at <= end)).then_some(at)
    }

    /// The first slot from the scheduled one on that lies after `now`.
    fn first_after(&self, now: Timestamp) -> Option<u32> {
        let beyond = |slot: u32| self.period.after(self.anchor, slot).is_none_or(|at| at > now);
        let mut low = self.slot;
        if beyond(low) {
            return self.at(low).map(|_| low);
        }
        let mut width = 1u32;
        while !beyond(low.saturating_add(width)) {
            low = low.saturating_add(width);
            width = width.saturating_mul(2);
            if low == u32::MAX {
                return None;
            }
        }
        // Slot `low` is not beyond, slot `high` is.
        let mut high = low.saturating_add(width);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if beyond(middle) { high = middle } else { low = middle }
        }
        self.at(high).map(|_| high)
    }
}

/// A positive duration in the calendar's terms.
fn span(of: IsoDuration) -> Option<Span> {
    if of.negative || of.is_zero() {
        return None;
    }
    let clock = of.clock.unwrap_or(0);
    let seconds = i64::try_from(clock.div_euclid(NANOS)).ok()?;
    let nanos = i64::try_from(clock.rem_euclid(NANOS)).ok()?;
    let days = Span::new().try_days(of.days.unwrap_or(0)).ok()?.try_weeks(of.weeks.unwrap_or(0)).ok()?;
    let calendar = days.try_months(of.months.unwrap_or(0)).ok()?.try_years(of.years.unwrap_or(0)).ok()?;
    calendar.try_seconds(seconds).ok()?.try_nanoseconds(nanos).ok()
}

/// An instant in the calendar; beyond the calendar's range, its end.
fn zoned(at: Timestamp) -> Option<Zoned> {
    let micros = at.clamp(Timestamp::MIN, Timestamp::MAX).micros();
    Some(jiff::Timestamp::from_microsecond(micros).ok()?.to_zoned(TimeZone::UTC))
}

fn millis(at: &Zoned) -> Timestamp {
    whole_millis(Timestamp::from_micros(at.timestamp().as_microsecond()))
}

fn whole_millis(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.micros().div_euclid(1000) * 1000)
}

/// A date, a date and time, or an instant; without an offset it is UTC.
pub fn date(text: &str) -> Result<Timestamp, TimerError> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(whole_millis(at));
    }
    let civil = if text.len() == 10 {
        text.parse::<civil::Date>().map(|day| day.at(0, 0, 0, 0))
    } else {
        text.parse::<civil::DateTime>()
    };
    let Ok(zoned) = civil.and_then(|civil| civil.to_zoned(TimeZone::UTC)) else {
        return Err(TimerError(format!("`{text}` is not an ISO 8601 date and time")));
    };
    Ok(millis(&zoned))
}

fn cycle(text: &str) -> Result<Literal, TimerError> {
    let wrong = |why: &str| TimerError(format!("`{text}` is not a cycle R[n]/[start/]period[/end]: {why}"));
    let mut parts = text.split('/');
    let count = match parts.next().and_then(|first| first.strip_prefix('R')) {
        None => return Err(wrong("it does not begin with R")),
        Some("") => None,
        Some(digits) => match digits.parse::<u32>() {
            Ok(count) if count > 0 && digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(count),
            _ => return Err(wrong("the count must be a positive number")),
        },
    };
    let rest: Vec<&str> = parts.collect();
    let is_period = |part: &&str| part.starts_with('P');
    let (start, period, end) = match rest.as_slice() {
        [period] if is_period(period) => (None, Period::parse(period)?, None),
        [period, end] if is_period(period) => (None, Period::parse(period)?, Some(date(end)?)),
        [start, period] if is_period(period) => (Some(date(start)?), Period::parse(period)?, None),
        [start, period, end] if is_period(period) => {
            (Some(date(start)?), Period::parse(period)?, Some(date(end)?))
        }
        [start, second] => {
            let (start, second) = (date(start)?, date(second)?);
            let seconds = (second.micros() - start.micros()) / 1_000_000;
            (Some(start), Period::parse(&format!("PT{seconds}S"))?, None)
        }
        _ => return Err(wrong("a period is missing")),
    };
    Ok(Literal::Cycle { count, start, period, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn due(kind: TimerKind, text: &str) -> String {
        let now = at("2024-01-31T10:00:00Z");
        let scope = serde_json::Map::new();
        TimerDefinition::parse(kind, text).unwrap().schedule(now, &scope).unwrap().due_at.to_string()
    }

    #[test]
    fn a_timer_is_due_by_its_kind() {
        for (kind, text, expected) in [
            (TimerKind::Date, "2024-05-01T00:00:00+02:00", "2024-04-30T22:00:00.000Z"),
            (TimerKind::Date, " 2024-05-01T08:30:00 ", "2024-05-01T08:30:00.000Z"),
            (TimerKind::Date, "2024-05-01", "2024-05-01T00:00:00.000Z"),
            (TimerKind::Duration, "PT1.5S", "2024-01-31T10:00:01.500Z"),
            (TimerKind::Duration, "P1M", "2024-02-29T10:00:00.000Z"),
            (TimerKind::Duration, "P1Y2M3DT4H", "2025-04-03T14:00:00.000Z"),
            (TimerKind::Cycle, "R4/PT10S", "2024-01-31T10:00:10.000Z"),
            (TimerKind::Cycle, "R/2024-02-01T00:00:00Z/P1D", "2024-02-01T00:00:00.000Z"),
            (TimerKind::Cycle, "R/2024-01-01T06:00:00Z/P1D", "2024-02-01T06:00:00.000Z"),
            (TimerKind::Cycle, "R2/2023-01-01T00:00:00Z/P1D", "2023-01-01T00:00:00.000Z"),
            (TimerKind::Cycle, "R3/2024-02-01T00:00:00Z/2024-02-01T01:00:00Z", "2024-02-01T00:00:00.000Z"),
        ] {
            assert_eq!(due(kind, text), expected, "{text}");
        }
    }

    #[test]
    fn slots_that_passed_are_caught_up_with_as_far_as_somebody_waits_for_them() {
        let now = at("2024-01-31T10:00:00Z");
        let scope = serde_json::Map::new();
        let set = |text: &str| {
            TimerDefinition::parse(TimerKind::Cycle, text).unwrap().schedule(now, &scope).unwrap()
        };
        // All of them had passed when the timer was set: one firing.
        let past = set("R1000/2020-01-01T00:00:00Z/PT1H");
        assert_eq!(past.due_at, at("2020-01-01T00:00:00Z"));
        assert_eq!(past.next_after(now, 1_000), None);
        // Those that pass while nobody looks fire each, up to a bound.
        let many = set("R2000/PT1S");
        let next =
            |seconds: i64| many.next_after(now.plus_millis(seconds * 1_000), 1_000).map(|next| next.due_at);
        assert_eq!(next(500), Some(now.plus_millis(2_000)));
        assert_eq!(next(1_500), Some(now.plus_millis(1_501_000)));
        assert_eq!(next(3_000), None);
    }

    #[test]
    fn juel_is_translated() {
        let scope = serde_json::json!({"wait": "PT2H", "days": 3});
        for (text, expected) in
            [("${wait}", "1970-01-01T02:00:00.000Z"), ("P${days}D", "1970-01-04T00:00:00.000Z")]
        {
            let timer = TimerDefinition::parse(TimerKind::Duration, text).unwrap();
            let schedule = timer.schedule(Timestamp::from_micros(0), scope.as_object().unwrap()).unwrap();
            assert_eq!(schedule.due_at.to_string(), expected, "{text}");
            assert_eq!(timer.text(), text);
        }
    }

    #[test]
    fn a_text_says_by_its_form_which_timer_it_is() {
        let scope = serde_json::json!({"wait": "PT2H", "later": "2024-02-01T00:00:00Z"});
        for (text, expected, repeats) in [
            ("PT1H", "1970-01-01T01:00:00.000Z", false),
            ("2024-02-01T00:00:00Z", "2024-02-01T00:00:00.000Z", false),
            ("R2/PT1H", "1970-01-01T01:00:00.000Z", true),
            ("${wait}", "1970-01-01T02:00:00.000Z", false),
            ("=later", "2024-02-01T00:00:00.000Z", false),
        ] {
            let timer = TimerDefinition::parse(TimerKind::Any, text).unwrap();
            let schedule = timer.schedule(Timestamp::from_micros(0), scope.as_object().unwrap()).unwrap();
            assert_eq!((schedule.due_at.to_string().as_str(), schedule.cycle.is_some()), (expected, repeats));
        }
        assert!(TimerDefinition::parse(TimerKind::Any, "PT").is_err());
    }

    #[test]
    fn what_is_no_timer_is_refused() {
        for (kind, text) in [
            (TimerKind::Duration, "PT0S"),
            (TimerKind::Duration, "-PT1S"),
            (TimerKind::Duration, "P1"),
            (TimerKind::Duration, ""),
            (TimerKind::Duration, "${bean.wait()}"),
            (TimerKind::Duration, "5 minutes later"),
            (TimerKind::Date, "2024-13-01"),
            (TimerKind::Cycle, "R0/PT1S"),
            (TimerKind::Cycle, "R+1/PT1S"),
            (TimerKind::Cycle, "R3"),
            (TimerKind::Cycle, "0 0 * * *"),
        ] {
            assert!(TimerDefinition::parse(kind, text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_cycle_keeps_to_its_slots_and_coalesces_missed_ones_unless_they_are_counted() {
        let now = at("2024-01-31T10:00:00Z");
        let first = |text: &str| {
            let timer = TimerDefinition::parse(TimerKind::Cycle, text).unwrap();
            timer.schedule(now, &serde_json::Map::new()).unwrap()
        };
        let endless = first("R/PT10S");
        let second = endless.next_after(at("2024-01-31T10:00:11Z"), 1_000).unwrap();
        assert_eq!(second.due_at, at("2024-01-31T10:00:20Z"));
        // Slots 2 and 3 are past: one firing, then slot 4.
        let fourth = second.next_after(at("2024-01-31T10:00:30Z"), 1_000).unwrap();
        assert_eq!(fourth.due_at, at("2024-01-31T10:00:40Z"));
        let ending = first("R/PT10S/2024-01-31T10:01:00Z");
        assert_eq!(ending.next_after(at("2024-02-01T00:00:00Z"), 1_000), None);
        let mut counted = Some(first("R3/PT10S"));
        let mut seen = Vec::new();
        while let Some(slot) = counted {
            seen.push((slot.due_at.micros() - now.micros()) / 1_000_000);
            counted = slot.next_after(at("2024-02-01T00:00:00Z"), 1_000);
        }
        assert_eq!(seen, [10, 20, 30]);
    }

    #[test]
    fn calendar_months_do_not_drift() {
        let timer = TimerDefinition::parse(TimerKind::Cycle, "R/2024-01-31T00:00:00Z/P1M").unwrap();
        let mut slot = timer.schedule(at("2024-01-30T00:00:00Z"), &serde_json::Map::new()).unwrap();
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(slot.due_at.to_string()[..10].to_owned());
            slot = slot.next_after(slot.due_at, 1_000).unwrap();
        }
        assert_eq!(seen, ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]);
    }

    #[test]
    fn a_schedule_survives_its_json() {
        let timer = TimerDefinition::parse(TimerKind::Cycle, "R5/PT1H/2030-01-01").unwrap();
        let text = serde_json::to_string(&timer).unwrap();
        let timer: TimerDefinition = serde_json::from_str(&text).unwrap();
        let schedule = timer.schedule(at("2024-01-31T10:00:00Z"), &serde_json::Map::new()).unwrap();
        let json = serde_json::to_string(&schedule).unwrap();
        assert_eq!(serde_json::from_str::<Schedule>(&json).unwrap(), schedule);
    }
}
