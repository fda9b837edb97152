//! Any expression over any JSON gives a value within its limits, the same one each time and by each way of evaluation.
//!
//! The input is the expression, then after an empty line the variables as a JSON object; without a readable one there
//! are some of each kind.
//! `cargo +nightly fuzz run evaluate corpus/evaluate seeds/evaluate -- -dict=feel.dict`

#![no_main]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use heddle_feel::{
    Dialect, EvalContext, Expression, LimitError, Limits, Scope, UnaryTests, Value, context_from_json, from_json,
    to_json,
};
use heddle_kernel::Timestamp;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value as Json, json};

/// 2024-03-15T10:30:00Z
const NOW: EvalContext = EvalContext { now: Timestamp::from_micros(1_710_498_600_000_000) };

fn variables(text: &str) -> Map<String, Json> {
    if let Ok(Json::Object(members)) = serde_json::from_str(text) {
        return members;
    }
    let json = json!({
        "a": 3, "b": 2.5, "s": "text", "t": true, "n": null, "l": [3, 1, 2], "x": {"y": {"z": 1}, "k": [1, 2]},
        "rows": [{"v": 1, "w": "p"}, {"v": 2, "w": "q"}, {"w": null}], "d": "2024-02-29"
    });
    match json {
        Json::Object(members) => members,
        _ => Map::new(),
    }
}

fn limits(cancel: bool) -> Limits {
    Limits {
        steps: 200_000,
        list_size: 20_000,
        string_size: 1 << 14,
        cancel: cancel.then(|| Arc::new(AtomicBool::new(false))),
        ..Limits::default()
    }
}

fn text(result: Result<heddle_feel::Evaluated, LimitError>) -> Option<String> {
    let value = result.ok()?.value;
    // Neither of these may fail, whatever the value is.
    let _ = to_json(&value);
    let _ = value.equals(&value);
    Some(value.to_string())
}

fuzz_target!(|input: &str| {
    let (source, json) = input.split_once("\n\n").unwrap_or((input, ""));
    let members = variables(json);
    let context = context_from_json(&members);
    if let Ok(expression) = Expression::compile(source, Dialect::Heddle) {
        let run = |scope: &dyn Scope, cancel| text(expression.evaluate_within(scope, &NOW, &limits(cancel)));
        let first = run(&members, false);
        // A flag to cancel by keeps evaluation from its shortest way; steps are counted otherwise there, so that a
        // limit may strike on one of them only.
        for again in [run(&members, true), run(&context, false)] {
            assert!(first.is_none() || again.is_none() || first == again, "{first:?} {again:?}");
        }
    }
    if let Ok(tests) = UnaryTests::compile(source, Dialect::Heddle) {
        for input in [Value::Null, Value::integer(3), Value::string("p"), from_json(&json!([1, {"v": 2}]))] {
            let first = text(tests.evaluate_within(&input, &members, &NOW, &limits(false)));
            let again = text(tests.evaluate_within(&input, &context, &NOW, &limits(true)));
            assert!(first.is_none() || again.is_none() || first == again, "{first:?} {again:?}");
        }
    }
});
