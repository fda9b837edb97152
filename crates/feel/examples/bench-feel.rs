//! Rates of reading and evaluating expressions by one thread, per second of its CPU time.
//!
//! `cargo run --release -p heddle-feel --example bench-feel [-- PART]` prints one figure per line: the rate, the bar
//! when there is one, and what was done. `PART` restricts to figures whose text contains it. Each figure is the best
//! of several runs, since other work on the machine takes caches and clock away.

use std::error::Error;
use std::hint::black_box;
use std::io::Write as _;

use heddle_feel::{Dialect, EvalContext, Expression, UnaryTests, Value};
use heddle_kernel::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

/// CPU seconds of one run, and how many runs.
const SPAN: f64 = 0.15;
const RUNS: u32 = 7;

/// 2024-03-15T10:30:00Z
const NOW: EvalContext = EvalContext { now: Timestamp::from_micros(1_710_498_600_000_000) };

/// Expressions evaluated, each with its bar.
const EVALUATED: [(&str, Option<u32>); 16] = [
    ("a + b * 2 > 10", Some(10_000_000)),
    ("customer.age >= 18 and customer.name = \"Bob\"", Some(8_000_000)),
    ("sum(for i in 1..100 return i)", Some(300_000)),
    ("price * quantity * (1 - discount)", None),
    ("if customer.age < 25 then 1.5 else if customer.age < 65 then 1.0 else 1.2", None),
    ("orders[amount > 100]", None),
    ("sum(orders[amount > 100].amount)", None),
    ("count(orders[status = \"open\"]) > 2", None),
    ("for o in orders return o.amount * 1.19", None),
    ("some o in orders satisfies o.amount > 900", None),
    ("upper case(substring(customer.name, 1, 2)) + \"-\" + string(a)", None),
    ("contains(customer.name, \"o\") and starts with(customer.name, \"B\")", None),
    ("matches(customer.email, \"^[a-z]+@[a-z]+\\.org$\")", None),
    ("date(since) + duration(\"P1Y\") < today()", None),
    ("years and months duration(date(since), today()).years >= 2", None),
    ("{f: function(x) x * 2, r: f(a) + f(b)}.r", None),
];

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Calls in a second of CPU time, the best of all runs.
fn rate(mut call: impl FnMut() -> bool) -> f64 {
    let mut batch = 1_u32;
    let mut best: f64 = 0.0;
    for _ in 0..RUNS {
        let (start, mut count) = (cpu_seconds(), 0_u64);
        loop {
            for _ in 0..batch {
                if !call() {
                    return 0.0;
                }
            }
            count += u64::from(batch);
            let spent = cpu_seconds() - start;
            if spent >= SPAN {
                best = best.max(count as f64 / spent);
                break;
            }
            // Looking at the clock shall not be part of the figure.
            if spent < SPAN / 100.0 {
                batch = batch.saturating_mul(2);
            }
        }
    }
    best
}

fn main() -> Result<(), Box<dyn Error>> {
    let part = std::env::args().nth(1).unwrap_or_default();
    let mut out = std::io::stdout();
    let mut figure = |what: String, bar: Option<u32>, call: &mut dyn FnMut() -> bool| {
        if !what.contains(&part) {
            return Ok(());
        }
        let bar = bar.map_or(String::new(), |bar| format!(" (bar {bar})"));
        writeln!(out, "{:>10.0}/s{bar} {what}", rate(call))
    };
    let orders: Vec<_> = (1..=20)
        .map(|n| json!({"amount": n * 50, "status": if n % 3 == 0 { "open" } else { "closed" }}))
        .collect();
    let data = json!({
        "a": 3, "b": 4, "price": 12.5, "quantity": 3, "discount": 0.05, "since": "2021-05-17",
        "customer": {"age": 42, "name": "Bob", "email": "bob@example.org"}, "orders": orders
    });
    let small = json!({"a": 3, "b": 4, "customer": {"age": 42, "name": "Bob"}});
    let (Some(data), Some(small)) = (data.as_object(), small.as_object()) else {
        return Err("the data is an object".into());
    };
    for (text, bar) in [
        ("a + b * 2 > 10", Some(1_000_000)),
        ("customer.age >= 18 and customer.name = \"Bob\"", None),
        (
            "if count(orders[status = \"open\"]) > 2 then sum(orders.amount) * 0.95 else sum(orders.amount)",
            None,
        ),
    ] {
        let mut call = || black_box(Expression::compile(black_box(text), Dialect::Standard)).is_ok();
        figure(format!("parse {text}"), bar, &mut call)?;
    }
    for (at, (text, bar)) in EVALUATED.into_iter().enumerate() {
        let expression = Expression::compile(text, Dialect::Standard)?;
        let scope = if at < 3 { small } else { data };
        let mut call = || black_box(expression.evaluate(black_box(scope), &NOW)).is_ok();
        if expression.evaluate(scope, &NOW)?.value.is_null() {
            return Err(format!("{text} gives null").into());
        }
        figure(format!("evaluate {text}"), bar, &mut call)?;
    }
    for (text, input) in
        [("[18..65]", json!(42)), ("\"a\", \"b\", \"c\"", json!("c")), ("< 10, > limit", json!(50))]
    {
        let tests = UnaryTests::compile(text, Dialect::Standard)?;
        let (input, scope): (Value, _) = (heddle_feel::from_json(&input), json!({"limit": 40}));
        let Some(scope) = scope.as_object() else { continue };
        let mut call = || black_box(tests.evaluate(black_box(&input), scope, &NOW)).is_ok();
        figure(format!("test {text}"), None, &mut call)?;
    }
    Ok(())
}
