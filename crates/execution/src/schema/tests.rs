//! Tests of schemas and of the work that they take.

use super::*;
use serde_json::json;

fn checked(schema: &Value, value: &Value) -> Vec<Problem> {
    Checker::new(schema).check(value, "values")
}

#[test]
fn every_problem_is_named_by_its_path() {
    let schema = json!({
        "type": "object", "required": ["amount"],
        "properties": { "lines": { "items": { "type": "number" } } }
    });
    let found = told(&schema, &json!({ "lines": [1, "x"] }));
    assert_eq!(found, [("values.amount", "required"), ("values.lines[1]", "wrongType")].map(owned));
    assert!(usable(&json!({ "type": 5 })).is_err());
}

fn owned((field, reason): (&'static str, &'static str)) -> (String, &'static str) {
    (field.to_owned(), reason)
}

/// Fields and reasons of what is wrong with a value, by field.
fn told(schema: &Value, value: &Value) -> Vec<(String, &'static str)> {
    let problems = checked(schema, value).into_iter();
    let mut told: Vec<_> =
        problems.map(|problem| (problem.field.unwrap_or_default(), problem.reason)).collect();
    told.sort_unstable();
    told
}

#[test]
fn each_missing_or_unknown_member_is_a_problem_of_its_own() {
    let schema = json!({
        "required": ["amount", "due date"], "properties": { "lines": { "items": {
            "required": ["amount", "tax"], "properties": { "amount": {}, "tax": {} }, "additionalProperties": false
        } } }
    });
    let value = json!({ "lines": [{ "amount": 1, "tax": 2 }, { "tax": 1, "1": 0, "taxes": 0 }, {}] });
    let found = told(&schema, &value);
    let expected = [
        ("values.amount", "required"),
        ("values.lines[1].1", "unknownField"),
        ("values.lines[1].amount", "required"),
        ("values.lines[1].taxes", "unknownField"),
        ("values.lines[2].amount", "required"),
        ("values.lines[2].tax", "required"),
        ("values[\"due date\"]", "required"),
    ];
    assert_eq!(found, expected.map(owned));
    let many: Vec<String> = (0..100).map(|at| format!("m{at}")).collect();
    assert_eq!(checked(&json!({ "required": many }), &json!({})).len(), 50);
    let one = json!({ "additionalProperties": false });
    let many: serde_json::Map<String, Value> = many.into_iter().map(|name| (name, 1.into())).collect();
    assert_eq!(checked(&one, &Value::Object(many)).len(), 50);
}

#[test]
fn the_words_are_those_of_bodies() {
    for (schema, value, reason) in [
        (json!({ "type": "string" }), json!(1), "wrongType"),
        (json!({ "type": ["string", "null"] }), json!(1), "wrongType"),
        (json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }), json!([]), "wrongType"),
        (
            json!({ "anyOf": [{ "type": "null" }, { "maxLength": 1, "type": "string" }] }),
            json!("ab"),
            "tooLong",
        ),
        (json!({ "anyOf": [{ "const": 1 }, { "const": 2 }] }), json!(3), "schema"),
        (json!({ "oneOf": [true, true] }), json!(3), "schema"),
        (json!({ "minItems": 1 }), json!([]), "tooShort"),
        (json!({ "maxProperties": 0 }), json!({ "a": 1 }), "tooLong"),
        (json!({ "uniqueItems": true }), json!([1, 1]), "notUnique"),
        (json!({ "exclusiveMinimum": 1 }), json!(1), "outOfRange"),
        (json!({ "multipleOf": 2 }), json!(1), "outOfRange"),
        (json!({ "pattern": "^a" }), json!("b"), "pattern"),
        (json!({ "enum": [1, 2] }), json!(3), "notAllowed"),
        (json!({ "const": 1 }), json!(3), "notAllowed"),
        (json!({ "not": {} }), json!(3), "notAllowed"),
        (json!({ "contains": { "const": 1 } }), json!([2]), "schema"),
    ] {
        assert_eq!(told(&schema, &value), [owned(("values", reason))], "{schema} {value}");
    }
}

/// A schema of `levels` definitions, each of which tries the next one twice.
fn doubling(levels: usize, step: impl Fn(&str) -> Value) -> Value {
    let mut defs = serde_json::Map::new();
    for level in 0..levels {
        defs.insert(format!("a{level}"), step(&format!("#/$defs/a{}", level + 1)));
    }
    defs.insert(format!("a{levels}"), json!({ "required": ["nope"] }));
    json!({ "$ref": "#/$defs/a0", "$defs": defs })
}

#[test]
fn branches_that_multiply_are_refused_before_they_are_tried() {
    let twice = |next: &str| json!({ "anyOf": [{ "$ref": next }, { "$ref": next }] });
    assert!(usable(&doubling(8, twice)).is_ok());
    for levels in [22, 40, 90] {
        let reason = usable(&doubling(levels, twice)).unwrap_err();
        assert!(reason.contains("10000 subschemas at one place"), "{reason}");
        // A version that was published before the rule lets nothing pass, and nothing runs for ever.
        let problems = checked(&doubling(levels, twice), &json!({}));
        assert_eq!(problems.iter().map(|problem| problem.reason).collect::<Vec<_>>(), ["schemaNotUsable"]);
    }
}

#[test]
fn branches_that_multiply_on_the_way_into_a_value_are_refused_for_a_value_so_deep() {
    let twice =
        |next: &str| json!({ "anyOf": [{ "items": { "$ref": next } }, { "items": { "$ref": next } }] });
    let schema = doubling(40, twice);
    assert_eq!(usable(&schema), Ok(()));
    let deep = (0..40).fold(json!({}), |inner, _| json!([inner]));
    let problems = checked(&schema, &deep);
    assert_eq!(problems.iter().map(|problem| problem.reason).collect::<Vec<_>>(), ["schemaWork"]);
    assert!(checked(&schema, &json!([[]])).is_empty());
    let recursive =
        json!({ "anyOf": [{ "items": { "$ref": "#" } }, { "items": { "$ref": "#" }, "minItems": 9 }] });
    let problems = checked(&recursive, &(0..60).fold(json!([]), |inner, _| json!([inner])));
    assert_eq!(problems.iter().map(|problem| problem.reason).collect::<Vec<_>>(), ["schemaWork"]);
}

#[test]
fn what_refers_to_itself_is_refused_unless_it_goes_into_the_value() {
    for endless in [json!({ "$ref": "#" }), json!({ "anyOf": [{ "not": { "$ref": "#" } }] })] {
        assert!(usable(&endless).unwrap_err().contains("refers to itself"), "{endless}");
    }
    let tree = json!({
        "type": "object", "required": ["name"],
        "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" }, "name": { "type": "string" } }
    });
    let leaf = json!({ "name": "leaf" });
    let deep = (0..12).fold(leaf, |inner, _| json!({ "name": "n", "left": inner.clone(), "right": inner }));
    assert_eq!(checked(&tree, &deep), []);
    assert_eq!(checked(&tree, &json!({ "name": "n", "left": {} })).len(), 1);
}

#[test]
fn a_schema_is_bounded_in_size_and_tells_few_problems() {
    let many: serde_json::Map<String, Value> =
        (0..6_000).map(|at| (format!("p{at}"), json!({ "type": "string" }))).collect();
    assert!(usable(&json!({ "properties": many })).unwrap_err().contains("5000 subschemas"));
    let long = json!({ "description": "x".repeat(300_000) });
    assert!(usable(&long).unwrap_err().contains("262144 are allowed"));
    let items: Vec<i32> = (0..1_000).collect();
    assert_eq!(checked(&json!({ "items": { "type": "string" } }), &json!(items)).len(), 50);
}

#[test]
fn references_of_honest_schemas_are_found() {
    let schema = json!({
        "$id": "https://example.org/order", "$defs": {
            "line item": { "$anchor": "line", "type": "object", "properties": { "price": { "$ref": "#/$defs/price" } } },
            "price": { "$id": "https://example.org/price", "type": "number" }
        },
        "properties": {
            "lines": { "items": { "$ref": "#line" } }, "extra": { "$ref": "#/$defs/line%20item" },
            "total": { "$ref": "price" }
        }
    });
    assert_eq!(checked(&schema, &json!({ "lines": [{ "price": 1 }], "extra": {}, "total": 2 })), []);
    assert_eq!(checked(&schema, &json!({ "lines": [{ "price": "x" }], "total": "y" })).len(), 2);
}

#[test]
fn what_may_be_absent_has_its_default_and_what_is_required_must_be_sent() {
    let schema = json!({
        "type": "object", "required": ["days"],
        "properties": {
            "days": { "type": "integer", "default": 1 }, "note": { "type": "string", "default": "none" },
            "half": { "type": "boolean", "default": false }, "free": { "type": "string" }
        }
    });
    assert_eq!(told(&schema, &json!({})), [("values.days", "required")].map(owned));
    let filled = |schema: &Value, value: Value, known: &str| {
        let mut values = value.as_object().unwrap().clone();
        Checker::new(schema).fill(&mut values, |name| name == known);
        Value::Object(values)
    };
    assert_eq!(
        filled(&schema, json!({ "days": 3 }), ""),
        json!({ "days": 3, "note": "none", "half": false })
    );
    let sent = json!({ "days": 3, "note": null });
    assert_eq!(filled(&schema, sent.clone(), "half"), sent, "null is a value");
}

#[test]
fn a_default_that_does_not_fit_is_left_out_and_refuses_nothing() {
    let filled = |schema: &Value, value: Value| {
        assert_eq!(checked(schema, &value), []);
        let mut values = value.as_object().unwrap().clone();
        Checker::new(schema).fill(&mut values, |_| false);
        Value::Object(values)
    };
    let wrong = json!({ "properties": { "days": { "type": "integer", "default": "1,5" }, "half": { "default": true } } });
    assert_eq!(filled(&wrong, json!({})), json!({ "half": true }));
    let either = json!({
        "properties": { "iban": { "default": "none" }, "cash": {} }, "oneOf": [{ "required": ["iban"] }, { "required": ["cash"] }]
    });
    assert_eq!(filled(&either, json!({ "cash": 1 })), json!({ "cash": 1 }));
}

#[test]
fn a_default_that_is_no_value_of_its_property_is_told() {
    let schema = json!({
        "required": ["other"], "maxProperties": 1, "$defs": { "short": { "maxLength": 3 } },
        "properties": {
            "n": { "type": "integer", "default": "1,5" },
            "m": { "type": "integer", "default": 2 },
            "also": { "$ref": "#/properties/m", "default": 3 },
            "word": { "$ref": "#/$defs/short", "default": "long enough" },
            "fine": { "$ref": "#/$defs/short", "default": "ok" },
            "deep": { "properties": { "x": { "type": "string" } }, "default": { "x": 1 } },
            "none": { "type": "string" }
        }
    });
    let names = |schema: &Value| {
        let mut names: Vec<String> = unfit_defaults(schema).into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names(&schema), ["deep", "n", "word"]);
    // Those that can't be used are told otherwise.
    for other in [
        json!({ "properties": 5 }),
        json!(true),
        json!({ "properties": { "a": { "type": "no", "default": 1 } } }),
    ] {
        assert_eq!(unfit_defaults(&other), [], "{other}");
    }
}

#[test]
fn defaults_without_number_take_no_longer_than_their_schema() {
    let properties: Map<String, Value> =
        (0..100_000).map(|n| (format!("p{n}"), json!({ "default": n, "type": "string" }))).collect();
    // Too large to be used, which is told at its own place.
    assert_eq!(unfit_defaults(&json!({ "properties": properties })), []);
}
