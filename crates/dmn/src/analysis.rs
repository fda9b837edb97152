//! Static analysis of decision tables: rules that overlap, inputs that no rule covers, rules that nothing reaches,
//! outputs of the wrong type - each with an example.
//!
//! Every entry that is constant divides its input into places: the values that entries name, what lies between them,
//! and what is none of them. A place stands for all its values, and one value of it is the example. Tables whose entries
//! are expressions are looked at as far as their constant entries go: a finding is only reported where the rules
//! concerned are constant.

use std::cmp::Ordering;
use std::sync::Arc;

use heddle_feel::{ConstantTests, Date, DaysAndTimeDuration, Number, Rounding, Type, Value, to_json};
use serde_json::{Map, Value as Json};

use crate::compile::Model;
use crate::compile::plan::{Body, Kind, Logic, Node, Place};
use crate::compile::table::{Cell, Table, Test, any_passes};
use crate::diagnostic::{Diagnostic, Placed as _, Severity};
use crate::model::HitPolicy;

/// Pairs of rules compared in one table.
const MAX_PAIRS: usize = 2_000_000;
/// Places of all inputs together that are looked at for gaps and unreachable rules.
const MAX_PLACES: usize = 20_000;
/// Tests of entries against places, over one table.
const MAX_TESTS: usize = 4_000_000;
/// Findings of one kind told about one table.
const MAX_TOLD: usize = 20;

/// A finding about a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableFinding {
    /// Finding with its place in the model.
    pub diagnostic: Diagnostic,
    /// The rules concerned, from 1.
    pub rules: Vec<usize>,
    /// Values of the inputs, by their texts, for which it holds.
    pub example: Map<String, Json>,
}

/// Which places each test lets through.
struct Grid<'t> {
    table: &'t Table,
    /// Example values of the places, by input.
    places: Vec<Vec<Value>>,
    /// Places that pass, as bits, by rule and input; none when the rule is not constant there.
    passes: Vec<Option<Vec<u64>>>,
}

/// Analyses the tables of a model.
#[must_use]
pub fn analyse(model: &Model) -> Vec<TableFinding> {
    let mut found = Vec::new();
    for node in &model.0.nodes {
        let logic = match &node.body {
            Body::Decision(logic) => logic,
            Body::Function(function) => &function.body,
            Body::Input | Body::Service(_) => continue,
        };
        let mut left = vec![logic];
        while let Some(logic) = left.pop() {
            if let Kind::Table(table) = &logic.kind {
                analyse_table(table, node, &logic.place, &mut found);
            }
            left.extend(parts(logic));
        }
    }
    found
}

fn parts(logic: &Logic) -> Vec<&Logic> {
    match &logic.kind {
        Kind::Context(entries) => entries.iter().map(|entry| &entry.value).collect(),
        Kind::List(items) => items.iter().collect(),
        Kind::Relation { rows, .. } => rows.iter().flatten().collect(),
        Kind::Invocation { callee, arguments } => {
            std::iter::once(&**callee).chain(arguments.iter().map(|(_, value)| value)).collect()
        }
        Kind::Function(function) => vec![&function.body],
        Kind::Conditional(parts) => parts.iter().collect(),
        Kind::Filter { list, test } => vec![list, test],
        Kind::For { list, body, .. } | Kind::Quantified { list, body, .. } => vec![list, body],
        Kind::Missing(_) | Kind::Constant(_) | Kind::Feel(_) | Kind::Table(_) => Vec::new(),
    }
}

fn finding(severity: Severity, code: &str, message: String, place: &Place, node: &Node) -> Diagnostic {
    let id = place.id.as_deref().map(str::to_owned);
    let name = node.name.to_string();
    Diagnostic::new(severity, code, message).about(id.as_ref(), Some(&name), place.at)
}

fn analyse_table(table: &Table, node: &Node, place: &Place, found: &mut Vec<TableFinding>) {
    types(table, node, found);
    if table.inputs.is_empty() || table.rules.is_empty() {
        return;
    }
    let grid = Grid::new(table);
    if let Some(grid) = &grid {
        grid.overlaps(node, place, found);
        grid.coverage(node, place, found);
    }
    if grid.is_none() || too_many_pairs(table) {
        let what = if grid.is_none() { "overlaps, gaps and unreachable rules" } else { "overlaps" };
        let message = format!("The table is too large to be searched for {what}.");
        let diagnostic = finding(Severity::Info, "tableNotAnalysed", message, place, node);
        found.push(TableFinding { diagnostic, rules: Vec::new(), example: Map::new() });
    }
}

/// Whether comparing each rule with each other would take too long, where the hit policy asks for it.
fn too_many_pairs(table: &Table) -> bool {
    let asks = matches!(table.hit_policy, HitPolicy::Unique | HitPolicy::Any | HitPolicy::First);
    asks && table.rules.len().saturating_mul(table.rules.len()) / 2 > MAX_PAIRS
}

/// Constant outputs and entries that are not of the type declared.
fn types(table: &Table, node: &Node, found: &mut Vec<TableFinding>) {
    let mut told = 0;
    for rule in 0..table.rules.len() {
        for (cell, output) in table.cells_of(rule).iter().zip(&table.outputs) {
            let (Cell::Constant(value), Some(kind)) = (cell, &output.kind) else { continue };
            if kind.feel.coerce_among(value.clone(), kind.within.types()).is_none() && told < MAX_TOLD {
                told += 1;
                let message = format!(
                    "The output of rule {} is a {}, not of the type `{}`.",
                    rule + 1,
                    value.type_name(),
                    kind.name
                );
                let diagnostic = finding(Severity::Error, "tableOutputType", message, &output.place, node);
                found.push(TableFinding { diagnostic, rules: vec![rule + 1], example: Map::new() });
            }
        }
        for (test, input) in table.tests_of(rule).iter().zip(&table.inputs) {
            let (Test::Constants { tests, place, .. }, Some(kind)) = (test, &input.kind) else { continue };
            let wrong = tests.iter().find(|test| !fits(test, &kind.feel));
            if let Some(test) = wrong
                && told < MAX_TOLD
            {
                told += 1;
                let message = format!(
                    "Rule {} tests for {test}, but the input is of the type `{}`.",
                    rule + 1,
                    kind.name
                );
                let diagnostic = finding(Severity::Error, "tableInputType", message, place, node);
                let mut example = Map::new();
                example.insert(input.text.to_string(), to_json(&sample(test)));
                found.push(TableFinding { diagnostic, rules: vec![rule + 1], example });
            }
        }
    }
}

/// Whether a value of the type can pass the test.
fn fits(test: &Value, kind: &Type) -> bool {
    match (test, kind) {
        (_, Type::Any) | (Value::Null, _) => true,
        (Value::Range(range), _) => {
            [&range.low, &range.high].into_iter().flatten().all(|end| fits(end, kind))
        }
        (Value::List(items), _) => items.iter().all(|item| fits(item, kind)),
        (value, Type::List(Some(item))) => fits(value, item),
        (value, kind) => kind.coerce(value.clone()).is_some(),
    }
}

fn sample(test: &Value) -> Value {
    match test {
        Value::Range(range) => range.low.clone().or_else(|| range.high.clone()).unwrap_or_default(),
        Value::List(items) => items.first().cloned().unwrap_or_default(),
        value => value.clone(),
    }
}

/// Adds the values that a test names.
fn ends(test: &Value, values: &mut Vec<Value>) {
    match test {
        Value::Range(range) => values.extend([&range.low, &range.high].into_iter().flatten().cloned()),
        Value::List(items) => items.iter().for_each(|item| ends(item, values)),
        value => values.push(value.clone()),
    }
}

/// A value between two, when there is one to be named; a whole number or day where there is one.
fn between(low: &Value, high: &Value) -> Option<Value> {
    Some(match (low, high) {
        (Value::Number(low), Value::Number(high)) => {
            let middle = low.plus(*high).ok()?.over(Number::from_i64(2)).ok()?;
            let whole = middle.round(0, Rounding::Floor).ok().filter(|whole| whole > low);
            Value::Number(whole.unwrap_or(middle))
        }
        (Value::Date(low), Value::Date(high)) => {
            let middle = i64::midpoint(low.epoch_day(), high.epoch_day());
            Value::Date(Date::from_epoch_day(middle).filter(|middle| middle != low && middle != high)?)
        }
        (Value::DateTime(low), Value::DateTime(high)) => {
            let half = (high.nanos() - low.nanos()) / 2;
            Value::DateTime(Arc::new(low.plus_nanos(half).filter(|_| half > 0)?))
        }
        (Value::DaysAndTimeDuration(low), Value::DaysAndTimeDuration(high)) => {
            let middle = i128::midpoint(low.nanos(), high.nanos());
            let middle = DaysAndTimeDuration::from_nanos(middle);
            Value::DaysAndTimeDuration(middle.filter(|middle| middle != low && middle != high)?)
        }
        (Value::YearsAndMonthsDuration(low), Value::YearsAndMonthsDuration(high)) if high - low > 1 => {
            Value::YearsAndMonthsDuration(i64::midpoint(*low, *high))
        }
        _ => return None,
    })
}

/// A value before or after one, by a whole number, day or month.
fn beyond(value: &Value, step: i64) -> Option<Value> {
    let day = i128::from(step) * 86_400_000_000_000;
    Some(match value {
        Value::Number(value) => Value::Number(value.plus(Number::from_i64(step)).ok()?),
        Value::Date(value) => Value::Date(Date::from_epoch_day(value.epoch_day() + step)?),
        Value::DateTime(value) => Value::DateTime(Arc::new(value.plus_nanos(day)?)),
        Value::DaysAndTimeDuration(value) => {
            Value::DaysAndTimeDuration(DaysAndTimeDuration::from_nanos(value.nanos() + day)?)
        }
        Value::YearsAndMonthsDuration(months) => Value::YearsAndMonthsDuration(months + step),
        _ => return None,
    })
}

/// The tests that an input's values pass: those of its clause, else those of its type.
fn allowed(table: &Table, input: usize) -> Option<ConstantTests> {
    let input = table.inputs.get(input)?;
    let own = match (&input.allowed, &input.kind) {
        (Some(own), _) => own,
        (None, Some(kind)) => kind.check.as_ref()?.tests.first()?,
        (None, None) => return None,
    };
    own.constants.clone().filter(|tests| !tests.negated)
}

/// One value for each place that the entries of an input divide it into.
fn places(table: &Table, input: usize) -> Vec<Value> {
    let mut values = Vec::new();
    for rule in 0..table.rules.len() {
        if let Some(Test::Constants { tests, .. }) = table.tests_of(rule).get(input) {
            tests.iter().for_each(|test| ends(test, &mut values));
        }
    }
    if values.iter().any(|value| matches!(value, Value::Boolean(_))) {
        return vec![Value::Boolean(true), Value::Boolean(false)];
    }
    let allowed = allowed(table, input);
    if let Some(allowed) = &allowed {
        allowed.tests.iter().for_each(|test| ends(test, &mut values));
    }
    values.retain(|value| !value.is_null());
    values.sort_by(|a, b| a.compare(b).unwrap_or(Ordering::Equal));
    values.dedup_by(|a, b| a == b);
    let mut all = Vec::with_capacity(values.len() * 2 + 1);
    all.extend(values.first().and_then(|first| beyond(first, -1)));
    for (at, value) in values.iter().enumerate() {
        all.push(value.clone());
        all.extend(match values.get(at + 1) {
            Some(next) => between(value, next),
            None => beyond(value, 1),
        });
    }
    if matches!(values.first(), Some(Value::String(_))) {
        let mut other = "other".to_owned();
        while values.iter().any(|value| value.as_str() == Some(&other)) {
            other.push('_');
        }
        all.push(Value::string(other));
    }
    if all.is_empty() {
        all.push(Value::Null);
    }
    // Values that the input does not allow need no rule.
    if let Some(allowed) = allowed {
        all.retain(|value| any_passes(&allowed.tests, false, value));
    }
    all
}

fn is_subset(bits: &[u64], of: &[u64]) -> bool {
    bits.iter().zip(of).all(|(a, b)| a & !b == 0)
}

fn common(a: &[u64], b: &[u64]) -> Option<usize> {
    let at = a.iter().zip(b).position(|(a, b)| a & b != 0)?;
    let word = a.get(at)? & b.get(at)?;
    Some(at * 64 + word.trailing_zeros() as usize)
}

impl<'t> Grid<'t> {
    fn new(table: &'t Table) -> Option<Self> {
        // The search for gaps goes down input by input.
        if table.inputs.len() > 256 {
            return None;
        }
        let places: Vec<Vec<Value>> = (0..table.inputs.len()).map(|input| places(table, input)).collect();
        let total: usize = places.iter().map(Vec::len).sum();
        if total > MAX_PLACES || total.saturating_mul(table.rules.len()) > MAX_TESTS {
            return None;
        }
        let mut passes = Vec::with_capacity(table.tests.len());
        for rule in 0..table.rules.len() {
            for (test, values) in table.tests_of(rule).iter().zip(&places) {
                let mut bits = vec![0u64; values.len().div_ceil(64)];
                for (at, value) in values.iter().enumerate() {
                    let passed = match test {
                        Test::Any => true,
                        Test::Constants { tests, negated, .. } => any_passes(tests, *negated, value),
                        Test::Program(..) | Test::Broken(..) => false,
                    };
                    if passed && let Some(word) = bits.get_mut(at / 64) {
                        *word |= 1 << (at % 64);
                    }
                }
                let is_constant = matches!(test, Test::Any | Test::Constants { .. });
                passes.push(is_constant.then_some(bits));
            }
        }
        Some(Self { table, places, passes })
    }

    fn rule(&self, rule: usize) -> &[Option<Vec<u64>>] {
        let width = self.places.len();
        self.passes.get(rule * width..(rule + 1) * width).unwrap_or_default()
    }

    /// A place in each input that both rules let through; nothing when there is none or one is not constant.
    fn both(&self, a: usize, b: usize) -> Option<Vec<usize>> {
        self.rule(a).iter().zip(self.rule(b)).map(|(a, b)| common(a.as_ref()?, b.as_ref()?)).collect()
    }

    /// Whether every value of the second rule is one of the first's.
    fn covers(&self, first: usize, second: usize) -> bool {
        self.rule(first).iter().zip(self.rule(second)).all(|(first, second)| match (first, second) {
            (Some(first), Some(second)) => is_subset(second, first),
            _ => false,
        })
    }

    fn example(&self, at: &[usize]) -> Map<String, Json> {
        let names = self.table.inputs.iter().map(|input| input.text.to_string());
        let value = |(values, at): (&Vec<Value>, &usize)| values.get(*at).map_or(Json::Null, to_json);
        names.zip(self.places.iter().zip(at).map(value)).collect()
    }

    fn same_outputs(&self, a: usize, b: usize) -> bool {
        self.table.cells_of(a).iter().zip(self.table.cells_of(b)).all(|cells| match cells {
            (Cell::Constant(a), Cell::Constant(b)) => a == b,
            // What expressions give is not known here; only what is surely different is told.
            _ => true,
        })
    }

    fn overlaps(&self, node: &Node, place: &Place, found: &mut Vec<TableFinding>) {
        let policy = self.table.hit_policy;
        let count = self.table.rules.len();
        if too_many_pairs(self.table) {
            return;
        }
        let (mut overlapping, mut unreachable) = (0, 0);
        for second in 1..count {
            for first in 0..second {
                let hidden = policy == HitPolicy::First && self.covers(first, second);
                if hidden && unreachable < MAX_TOLD {
                    unreachable += 1;
                    let message = format!(
                        "Rule {} is never reached: rule {} before it matches all it does.",
                        second + 1,
                        first + 1
                    );
                    let diagnostic = finding(Severity::Warning, "tableUnreachable", message, place, node);
                    self.tell(diagnostic, [first, second], found);
                    break;
                }
                let clash = match policy {
                    HitPolicy::Unique => true,
                    HitPolicy::Any => !self.same_outputs(first, second),
                    _ => false,
                };
                if clash && overlapping < MAX_TOLD && self.both(first, second).is_some() {
                    overlapping += 1;
                    let message = format!("The rules {} and {} match at once.", first + 1, second + 1);
                    let diagnostic = finding(Severity::Warning, "tableOverlap", message, place, node);
                    self.tell(diagnostic, [first, second], found);
                }
            }
        }
    }

    /// Adds what is told of two rules, about the second one, with an example that both match.
    fn tell(&self, mut diagnostic: Diagnostic, [first, second]: [usize; 2], found: &mut Vec<TableFinding>) {
        let Some(at) = self.both(first, second) else { return };
        if let Some(Some(id)) = self.table.rules.get(second) {
            diagnostic.element_id = Some(id.to_string());
        }
        found.push(TableFinding {
            diagnostic,
            rules: vec![first + 1, second + 1],
            example: self.example(&at),
        });
    }

    /// Looks for values that no rule matches, and for rules that match nothing.
    fn coverage(&self, node: &Node, place: &Place, found: &mut Vec<TableFinding>) {
        let mut told = 0;
        for rule in 0..self.table.rules.len() {
            let empty = self.rule(rule).iter().flatten().any(|bits| bits.iter().all(|word| *word == 0));
            if empty && told < MAX_TOLD {
                told += 1;
                let message = format!("Rule {} matches no value that its inputs allow.", rule + 1);
                let diagnostic = finding(Severity::Warning, "tableUnreachable", message, place, node);
                found.push(TableFinding { diagnostic, rules: vec![rule + 1], example: Map::new() });
            }
        }
        let has_default = self.table.outputs.iter().any(|output| output.default.is_some());
        let is_constant = self.passes.iter().all(Option::is_some);
        if has_default || !is_constant {
            return;
        }
        let rules: Vec<u32> =
            (0..self.table.rules.len()).filter_map(|rule| u32::try_from(rule).ok()).collect();
        let mut budget = MAX_TESTS;
        if let Some(at) = self.gap(0, &rules, &mut budget) {
            let message = "No rule matches some of the values possible.".to_owned();
            let diagnostic = finding(Severity::Warning, "tableGap", message, place, node);
            found.push(TableFinding { diagnostic, rules: Vec::new(), example: self.example(&at) });
        }
    }

    /// A place in each input from this one on that none of the rules lets through.
    fn gap(&self, input: usize, rules: &[u32], budget: &mut usize) -> Option<Vec<usize>> {
        let Some(values) = self.places.get(input) else {
            return rules.is_empty().then(Vec::new);
        };
        if rules.is_empty() {
            return Some(vec![0; self.places.len() - input]);
        }
        let mut seen: Vec<Vec<u32>> = Vec::new();
        for at in 0..values.len() {
            *budget = budget.checked_sub(rules.len().max(1))?;
            let passes = |rule: &&u32| {
                let bits = self.rule(**rule as usize).get(input).and_then(Option::as_ref);
                bits.and_then(|bits| bits.get(at / 64)).is_some_and(|word| word >> (at % 64) & 1 == 1)
            };
            let left: Vec<u32> = rules.iter().filter(passes).copied().collect();
            // Places that the same rules let through have the same gaps.
            if seen.iter().rev().take(8).any(|known| *known == left) {
                continue;
            }
            if let Some(mut rest) = self.gap(input + 1, &left, budget) {
                rest.insert(0, at);
                return Some(rest);
            }
            seen.push(left);
        }
        None
    }
}
