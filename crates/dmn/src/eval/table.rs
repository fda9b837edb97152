//! Decision tables (DMN 1.5, clause 8).

use std::cmp::Ordering;

use heddle_feel::{Context, DaysAndTimeDuration, Host, LimitError, Scope, UnaryTests, Value};

use super::check::{allows, read, typed};
use super::log::{Log, TableExplanation, TableHit, TableInput, explains, json, note, notes, text};
use crate::compile::plan::Place;
use crate::compile::table::{Cell, Output, Table, Test, any_passes, is_scalar};
use crate::model::{Aggregation, HitPolicy};

type Outcome = Result<Value, LimitError>;

/// Evaluates a table.
pub(super) fn evaluate(table: &Table, place: &Place, scope: &dyn Scope, host: &mut Host<'_>) -> Outcome {
    let mut inputs = Vec::with_capacity(table.inputs.len());
    let mut refused = false;
    for input in &table.inputs {
        let value = cell(&input.value, scope, host)?;
        let value = match input.kind.as_deref().filter(|_| input.reads) {
            Some(kind) => read(value, kind),
            None => value,
        };
        let value = typed(value, input.kind.as_deref(), &input.place, host)?;
        if let Some(allowed) = &input.allowed
            && !value.is_null()
            && !allows(allowed, &value, scope, host)?
        {
            notes(host, &allowed.place);
            note(host, &input.place, format!("the input {} is not among its allowed values", value));
            refused = true;
        }
        inputs.push(value);
    }
    if explains(host) {
        return explained(table, &inputs, refused, place, scope, host);
    }
    if refused {
        return Ok(Value::Null);
    }
    let hits = matching(table, &inputs, scope, host)?;
    result(table, hits.as_slice(), place, scope, host, None)
}

/// The result for the values of the inputs, with how it came about written down.
#[cold]
fn explained(
    table: &Table,
    inputs: &[Value],
    refused: bool,
    place: &Place,
    scope: &dyn Scope,
    host: &mut Host<'_>,
) -> Outcome {
    let mut trace = TableExplanation {
        element_id: text(place.id.as_ref()),
        inputs: traced(table, inputs, host),
        hits: Vec::new(),
        output: serde_json::Value::Null,
    };
    let value = if refused {
        Value::Null
    } else {
        let hits = matching(table, inputs, scope, host)?;
        let hit = |rule: &usize| TableHit {
            rule: rule + 1,
            id: text(table.rules.get(*rule).and_then(Option::as_ref)),
            outputs: Vec::new(),
        };
        trace.hits = hits.as_slice().iter().map(hit).collect();
        result(table, hits.as_slice(), place, scope, host, Some(&mut trace))?
    };
    trace.output = json(&value, host);
    if let Some(log) = host.extension::<Log>() {
        log.table(trace);
    }
    Ok(value)
}

fn traced(table: &Table, inputs: &[Value], host: &mut Host<'_>) -> Vec<TableInput> {
    let mut traced = Vec::with_capacity(inputs.len());
    for (input, value) in table.inputs.iter().zip(inputs) {
        traced.push(TableInput { expression: input.text.to_string(), value: json(value, host) });
    }
    traced
}

fn cell(cell: &Cell, scope: &dyn Scope, host: &mut Host<'_>) -> Outcome {
    match cell {
        Cell::Constant(value) => Ok(value.clone()),
        Cell::Feel(expression, place) => {
            let outcome = host.evaluate(expression, scope);
            if host.noted() > 0 {
                notes(host, place);
            }
            outcome
        }
        Cell::Missing(reason, place) => {
            note(host, place, &**reason);
            Ok(Value::Null)
        }
    }
}

/// The rules that match; most often there is one.
enum Hits {
    None,
    One([usize; 1]),
    Many(Vec<usize>),
}

impl Hits {
    fn as_slice(&self) -> &[usize] {
        match self {
            Self::None => &[],
            Self::One(rule) => rule,
            Self::Many(rules) => rules,
        }
    }

    fn push(&mut self, rule: usize) {
        match self {
            Self::None => *self = Self::One([rule]),
            Self::One([first]) => *self = Self::Many(vec![*first, rule]),
            Self::Many(rules) => rules.push(rule),
        }
    }
}

fn matching(
    table: &Table,
    inputs: &[Value],
    scope: &dyn Scope,
    host: &mut Host<'_>,
) -> Result<Hits, LimitError> {
    let mut hits = Hits::None;
    let first = table.hit_policy == HitPolicy::First;
    let candidates = table.index.as_ref().and_then(|index| index.candidates(inputs));
    let count = candidates.as_ref().map_or(table.rules.len(), Vec::len);
    host.charge(count as u64)?;
    for at in 0..count {
        let rule = match &candidates {
            Some(candidates) => candidates.get(at).map_or(usize::MAX, |rule| *rule as usize),
            None => at,
        };
        if rule_matches(table, rule, inputs, scope, host)? {
            hits.push(rule);
            if first {
                break;
            }
        }
    }
    Ok(hits)
}

#[inline]
fn rule_matches(
    table: &Table,
    rule: usize,
    inputs: &[Value],
    scope: &dyn Scope,
    host: &mut Host<'_>,
) -> Result<bool, LimitError> {
    for (at, (test, input)) in table.tests_of(rule).iter().zip(inputs).enumerate() {
        // A rule counts as a step; wide rules and long lists of constants count for what they are.
        if at % 8 == 7 {
            host.charge(1)?;
        }
        let passed = match test {
            Test::Any => true,
            Test::Constants { tests, negated, .. } if is_scalar(input) => {
                if tests.len() >= 8 {
                    host.charge(tests.len() as u64 / 8)?;
                }
                any_passes(tests, *negated, input)
            }
            Test::Constants { program, place, .. } => match program.get() {
                Some(program) => program_passes(program, place, input, scope, host)?,
                None => false,
            },
            Test::Program(program, place) => program_passes(program, place, input, scope, host)?,
            Test::Broken(reason, place) => {
                note(host, place, &**reason);
                false
            }
        };
        if !passed {
            return Ok(false);
        }
    }
    Ok(true)
}

fn program_passes(
    program: &UnaryTests,
    place: &Place,
    input: &Value,
    scope: &dyn Scope,
    host: &mut Host<'_>,
) -> Result<bool, LimitError> {
    let passed = host.test(program, input, scope)?.as_bool() == Some(true);
    if host.noted() > 0 {
        notes(host, place);
    }
    Ok(passed)
}

/// The outputs of one rule, one per clause.
fn outputs(
    table: &Table,
    cells: &[&Cell],
    scope: &dyn Scope,
    host: &mut Host<'_>,
) -> Result<Vec<Value>, LimitError> {
    let mut values = Vec::with_capacity(cells.len());
    for (cell_of, output) in cells.iter().zip(&table.outputs) {
        let value = cell(cell_of, scope, host)?;
        values.push(typed(value, output.kind.as_deref(), &output.place, host)?);
    }
    Ok(values)
}

/// The outputs of one rule as one value: a context when there are several.
fn combined(table: &Table, mut values: Vec<Value>) -> Value {
    if table.outputs.len() == 1 {
        return values.pop().unwrap_or_default();
    }
    let mut context = Context::new();
    for (at, (output, value)) in table.outputs.iter().zip(values).enumerate() {
        match &output.name {
            Some(name) => context.put(name.clone(), value),
            None => context.put(format!("output {}", at + 1), value),
        }
    }
    Value::context(context)
}

fn result(
    table: &Table,
    hits: &[usize],
    place: &Place,
    scope: &dyn Scope,
    host: &mut Host<'_>,
    trace: Option<&mut TableExplanation>,
) -> Outcome {
    if hits.is_empty() {
        return default(table, scope, host);
    }
    let single = matches!(table.hit_policy, HitPolicy::Unique | HitPolicy::First);
    if let ([rule], true, None) = (hits, single, &trace)
        && let ([only], [output]) = (table.cells_of(*rule), table.outputs.as_slice())
    {
        let value = cell(only, scope, host)?;
        return typed(value, output.kind.as_deref(), &output.place, host);
    }
    if table.hit_policy == HitPolicy::Unique && hits.len() > 1 {
        let rules: Vec<String> = hits.iter().take(10).map(|rule| (rule + 1).to_string()).collect();
        note(host, place, format!("the rules {} match at once in a table that allows one", rules.join(", ")));
        return Ok(Value::Null);
    }
    let mut all = Vec::with_capacity(hits.len());
    for rule in hits {
        let cells: Vec<&Cell> = table.cells_of(*rule).iter().collect();
        all.push(outputs(table, &cells, scope, host)?);
    }
    if let Some(trace) = trace {
        for (hit, values) in trace.hits.iter_mut().zip(&all) {
            hit.outputs = values.iter().map(|value| json(value, host)).collect();
        }
    }
    match table.hit_policy {
        HitPolicy::Unique | HitPolicy::First => {
            Ok(all.into_iter().next().map_or(Value::Null, |v| combined(table, v)))
        }
        HitPolicy::Any => {
            let mut values = all.into_iter().map(|values| combined(table, values));
            let first = values.next().unwrap_or_default();
            if values.all(|value| value == first) {
                return Ok(first);
            }
            note(host, place, "the rules that match give different outputs in a table that allows one");
            Ok(Value::Null)
        }
        HitPolicy::Priority => {
            sort(table, &mut all, host)?;
            Ok(all.into_iter().next().map_or(Value::Null, |values| combined(table, values)))
        }
        HitPolicy::OutputOrder => {
            sort(table, &mut all, host)?;
            host.admit(Value::list(all.into_iter().map(|values| combined(table, values)).collect()))
        }
        HitPolicy::RuleOrder => {
            host.admit(Value::list(all.into_iter().map(|values| combined(table, values)).collect()))
        }
        HitPolicy::Collect => {
            let values: Vec<Value> = all.into_iter().map(|values| combined(table, values)).collect();
            match table.aggregation {
                None => host.admit(Value::list(values)),
                Some(_) if table.outputs.len() > 1 => {
                    note(host, place, "several outputs cannot be aggregated");
                    Ok(Value::Null)
                }
                Some(aggregation) => Ok(aggregated(aggregation, &values, place, host)),
            }
        }
    }
}

/// Sorts by the order of the output values, output by output; stable, so that rules of equal outputs keep theirs.
fn sort(table: &Table, all: &mut [Vec<Value>], host: &mut Host<'_>) -> Result<(), LimitError> {
    let known: usize = table.outputs.iter().map(|output| output.values.len()).sum();
    host.charge((known as u64).saturating_mul(all.len() as u64) / 8)?;
    let rank = |output: &Output, value: &Value| {
        let position = output.values.iter().position(|known| known == value);
        position.unwrap_or(output.values.len())
    };
    all.sort_by_cached_key(|values| -> Vec<usize> {
        table.outputs.iter().zip(values).map(|(output, value)| rank(output, value)).collect()
    });
    Ok(())
}

fn default(table: &Table, scope: &dyn Scope, host: &mut Host<'_>) -> Outcome {
    if table.outputs.iter().all(|output| output.default.is_none()) {
        return Ok(Value::Null);
    }
    let none = Cell::Constant(Value::Null);
    let cells: Vec<&Cell> =
        table.outputs.iter().map(|output| output.default.as_ref().unwrap_or(&none)).collect();
    let values = outputs(table, &cells, scope, host)?;
    Ok(combined(table, values))
}

fn aggregated(aggregation: Aggregation, values: &[Value], place: &Place, host: &mut Host<'_>) -> Value {
    if aggregation == Aggregation::Count {
        return i64::try_from(values.len()).map_or(Value::Null, Value::integer);
    }
    let wanted = match aggregation {
        Aggregation::Min => Some(Ordering::Less),
        Aggregation::Max => Some(Ordering::Greater),
        _ => None,
    };
    let mut values = values.iter();
    let mut result = values.next().cloned().unwrap_or_default();
    let fits = match (&result, wanted) {
        (Value::Number(_) | Value::DaysAndTimeDuration(_) | Value::YearsAndMonthsDuration(_), _) => true,
        (other, wanted) => wanted.is_some() && other.compare(other).is_some(),
    };
    if !fits {
        note(host, place, format!("a {} cannot be aggregated", result.type_name()));
        return Value::Null;
    }
    for value in values {
        let next = match wanted {
            Some(wanted) => value
                .compare(&result)
                .map(|order| if order == wanted { value.clone() } else { result.clone() }),
            None => plus(&result, value),
        };
        match next {
            Some(next) => result = next,
            None => {
                note(
                    host,
                    place,
                    format!("a {} cannot be aggregated with a {}", value.type_name(), result.type_name()),
                );
                return Value::Null;
            }
        }
    }
    result
}

/// The sum of two numbers or durations.
fn plus(a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.plus(*b).ok().map(Value::Number),
        (Value::DaysAndTimeDuration(a), Value::DaysAndTimeDuration(b)) => {
            let nanos = a.nanos().checked_add(b.nanos())?;
            DaysAndTimeDuration::from_nanos(nanos).map(Value::DaysAndTimeDuration)
        }
        (Value::YearsAndMonthsDuration(a), Value::YearsAndMonthsDuration(b)) => {
            a.checked_add(*b).map(Value::YearsAndMonthsDuration)
        }
        _ => None,
    }
}
