//! Which rules of a table may match a value in a column: equality by hash, ranges by a segment tree.

use std::cmp::Ordering;
use std::sync::Arc;

use heddle_feel::Value;

use super::table::Test;
use heddle_xml::hash::HashMap;

/// An index of the rules of a table, a column each.
#[derive(Debug)]
pub(crate) struct Index {
    columns: Vec<Column>,
}

#[derive(Debug, Default)]
struct Column {
    /// Rules that every value may match.
    always: Vec<u32>,
    strings: HashMap<Arc<str>, Vec<u32>>,
    booleans: [Vec<u32>; 2],
    nulls: Vec<u32>,
    /// One for each kind of ordered values, in the order of [`kind`].
    ordered: [Intervals; 4],
}

/// Interval between two values, either end open or closed or missing, and the rule that lets it through.
struct Interval {
    low: Option<(Value, bool)>,
    high: Option<(Value, bool)>,
    rule: u32,
}

/// A segment tree: every interval is kept at the few nodes that together are it, and a value is looked for at the
/// nodes above its place.
#[derive(Debug, Default)]
struct Intervals {
    /// The ends in order; place `2i + 1` is the end `i` itself, `2i` lies before it.
    ends: Vec<Value>,
    leaves: usize,
    /// Index of the first rule of each node in `rules`.
    starts: Vec<u32>,
    rules: Vec<u32>,
}

fn kind(value: &Value) -> Option<usize> {
    Some(match value {
        Value::Number(_) => 0,
        Value::Date(_) => 1,
        Value::DaysAndTimeDuration(_) => 2,
        Value::YearsAndMonthsDuration(_) => 3,
        _ => return None,
    })
}

fn order(a: &Value, b: &Value) -> Ordering {
    a.compare(b).unwrap_or(Ordering::Equal)
}

impl Intervals {
    fn new(intervals: &[Interval]) -> Self {
        let ends = intervals.iter().flat_map(|interval| [&interval.low, &interval.high]);
        let mut ends: Vec<Value> = ends.flatten().map(|(value, _)| value.clone()).collect();
        ends.sort_by(order);
        ends.dedup_by(|a, b| order(a, b) == Ordering::Equal);
        let leaves = ends.len() * 2 + 1;
        let mut found: Vec<(u32, u32)> = Vec::new();
        for interval in intervals {
            let place =
                |value: &Value| ends.partition_point(|end| order(end, value) == Ordering::Less) * 2 + 1;
            let mut from = match &interval.low {
                Some((value, included)) => place(value) + usize::from(!included),
                None => 0,
            } + leaves;
            let mut to = match &interval.high {
                Some((value, included)) => place(value) + usize::from(*included),
                None => leaves,
            } + leaves;
            while from < to {
                if from % 2 == 1 {
                    found.push((u32::try_from(from).unwrap_or(0), interval.rule));
                    from += 1;
                }
                if to % 2 == 1 {
                    to -= 1;
                    found.push((u32::try_from(to).unwrap_or(0), interval.rule));
                }
                from /= 2;
                to /= 2;
            }
        }
        found.sort_unstable();
        let mut starts = vec![0; leaves * 2 + 1];
        for (node, _) in &found {
            if let Some(count) = starts.get_mut(*node as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self { ends, leaves, starts, rules: found.into_iter().map(|(_, rule)| rule).collect() }
    }

    /// Goes through the rules whose intervals the value lies in, node by node.
    fn at(&self, value: &Value, mut visit: impl FnMut(&[u32])) {
        if self.leaves == 0 {
            return;
        }
        let place = self.ends.partition_point(|end| order(end, value) == Ordering::Less);
        let hit = self.ends.get(place).is_some_and(|end| order(end, value) == Ordering::Equal);
        let mut node = self.leaves + place * 2 + usize::from(hit);
        while node > 0 {
            let bounds = self.starts.get(node).zip(self.starts.get(node + 1));
            if let Some((from, to)) = bounds
                && let Some(rules) = self.rules.get(*from as usize..*to as usize)
                && !rules.is_empty()
            {
                visit(rules);
            }
            node /= 2;
        }
    }
}

/// Column under construction, with the intervals of the rules' entries by kind of value.
#[derive(Default)]
struct Builder {
    column: Column,
    intervals: [Vec<Interval>; 4],
}

impl Builder {
    /// Whether the test can be indexed; it is, when `rule` is given.
    fn add(&mut self, test: &Value, rule: Option<u32>) -> bool {
        match test {
            Value::String(text) => {
                if let Some(rule) = rule {
                    self.column.strings.entry(text.clone()).or_default().push(rule);
                }
                true
            }
            Value::Boolean(value) => {
                if let Some(rule) = rule
                    && let Some(list) = self.column.booleans.get_mut(usize::from(*value))
                {
                    list.push(rule);
                }
                true
            }
            Value::Null => {
                self.column.nulls.extend(rule);
                true
            }
            Value::List(items) => items.iter().all(|item| self.add(item, rule)),
            Value::Range(range) => {
                let ends: Vec<usize> =
                    [&range.low, &range.high].into_iter().flatten().filter_map(kind).collect();
                let wanted = usize::from(range.low.is_some()) + usize::from(range.high.is_some());
                let Some(&first) = ends.first() else { return false };
                let is_interval = range.form != heddle_feel::RangeForm::NotEqual
                    && ends.len() == wanted
                    && ends.iter().all(|kind| *kind == first);
                if is_interval
                    && let Some(rule) = rule
                    && let Some(list) = self.intervals.get_mut(first)
                {
                    let equal = range.form == heddle_feel::RangeForm::Equal;
                    let low = range.low.clone().map(|low| (low, range.low_included || equal));
                    let high = if equal { range.low.clone() } else { range.high.clone() };
                    let high = high.map(|high| (high, range.high_included || equal));
                    list.push(Interval { low, high, rule });
                }
                is_interval
            }
            value => {
                let Some(kind) = kind(value) else { return false };
                if let Some(rule) = rule
                    && let Some(list) = self.intervals.get_mut(kind)
                {
                    let end = Some((value.clone(), true));
                    list.push(Interval { low: end.clone(), high: end, rule });
                }
                true
            }
        }
    }

    fn finish(mut self) -> Column {
        for (intervals, made) in self.intervals.iter().zip(&mut self.column.ordered) {
            if !intervals.is_empty() {
                *made = Intervals::new(intervals);
            }
        }
        self.column
    }
}

impl Column {
    fn visit(&self, value: &Value, mut visit: impl FnMut(&[u32])) {
        visit(&self.always);
        match value {
            Value::String(text) => {
                if let Some(rules) = self.strings.get(text) {
                    visit(rules);
                }
            }
            Value::Boolean(value) => {
                if let Some(rules) = self.booleans.get(usize::from(*value)) {
                    visit(rules);
                }
            }
            Value::Null => visit(&self.nulls),
            value => {
                if let Some(intervals) = kind(value).and_then(|kind| self.ordered.get(kind)) {
                    intervals.at(value, visit);
                }
            }
        }
    }
}

impl Index {
    pub(crate) fn new(tests: &[Test], width: usize) -> Self {
        let mut columns: Vec<Builder> = (0..width).map(|_| Builder::default()).collect();
        for (rule, tests) in tests.chunks_exact(width).enumerate() {
            let rule = u32::try_from(rule).unwrap_or(u32::MAX);
            for (test, column) in tests.iter().zip(&mut columns) {
                match test {
                    Test::Constants { tests, negated: false, .. }
                        if tests.iter().all(|test| column.add(test, None)) =>
                    {
                        for test in tests {
                            column.add(test, Some(rule));
                        }
                    }
                    Test::Broken(..) => {}
                    _ => column.column.always.push(rule),
                }
            }
        }
        Self { columns: columns.into_iter().map(Builder::finish).collect() }
    }

    /// The rules that may match, in order, by the column that leaves the fewest; `None` when no column tells anything
    /// about its value.
    pub(crate) fn candidates(&self, values: &[Value]) -> Option<Vec<u32>> {
        let mut best: Option<(usize, usize)> = None;
        let mut second: Option<(usize, usize)> = None;
        for (at, (column, value)) in self.columns.iter().zip(values).enumerate() {
            if !super::table::is_scalar(value) {
                continue;
            }
            let mut count = 0;
            column.visit(value, |rules| count += rules.len());
            if best.is_none_or(|(_, least)| count < least) {
                second = best.replace((at, count));
            } else if second.is_none_or(|(_, least)| count < least) {
                second = Some((at, count));
            }
        }
        let (at, count) = best?;
        let (column, value) = (self.columns.get(at)?, values.get(at)?);
        let mut rules = Vec::with_capacity(count);
        column.visit(value, |some| rules.extend_from_slice(some));
        // Where another column tells about as much, only what both leave is held against the rules.
        if let Some((other, more)) = second
            && count > 8
            && more <= count * 8
        {
            let (column, value) = (self.columns.get(other)?, values.get(other)?);
            let words = rules.iter().max().map_or(0, |last| *last as usize / 64 + 1);
            let mut left = vec![0u64; words];
            for rule in &rules {
                if let Some(word) = left.get_mut(*rule as usize / 64) {
                    *word |= 1 << (rule % 64);
                }
            }
            rules.clear();
            let is_left =
                |rule: &u32| left.get(*rule as usize / 64).is_some_and(|word| word >> (rule % 64) & 1 == 1);
            column.visit(value, |some| rules.extend(some.iter().filter(|rule| is_left(rule))));
        }
        rules.sort_unstable();
        rules.dedup();
        Some(rules)
    }
}
