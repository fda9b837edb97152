//! JSON schemas of callers: references that only lead to each other are refused before any provider tries to follow them.

use serde_json::Value;
use std::collections::HashSet;

use crate::error::WireError;

/// References within one schema.
const MOST_REFERENCES: usize = 4_096;

const ENDLESS: &str = "has a schema whose references only lead to each other";
const MANY: &str = "has a schema with more than 4096 references";

/// Checks the schemas in a member's JSON text. A text without references is not even read. A schema that recurses through
/// its members or items is a good one; one that is its own synonym is not.
pub(crate) fn check_text(member: &str, json: Option<&str>) -> Result<(), WireError> {
    let Some(json) = json.filter(|text| text.contains("\"$ref\"")) else { return Ok(()) };
    let Ok(value) = serde_json::from_str::<Value>(json) else {
        return Err(WireError::member(member, "is not read"));
    };
    let mut roots = Vec::new();
    match &value {
        Value::Array(tools) => {
            roots.extend(tools.iter().filter_map(|tool| tool.pointer("/function/parameters")));
        }
        value => roots.extend(value.pointer("/json_schema/schema")),
    }
    roots.into_iter().try_for_each(|root| check(member, root))
}

/// Checks one schema: references are followed within the document alone, each chain to its end.
fn check(member: &str, root: &Value) -> Result<(), WireError> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if members.get("$ref").is_some_and(Value::is_string) {
                    found.push(value);
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        if found.len() > MOST_REFERENCES {
            return Err(WireError::member(member, MANY));
        }
    }
    let mut ending: HashSet<&str> = HashSet::new();
    for start in found {
        let mut way: HashSet<&str> = HashSet::new();
        let mut next = reference(start);
        while let Some(pointer) = next.filter(|pointer| !ending.contains(pointer)) {
            if !way.insert(pointer) {
                return Err(WireError::member(member, ENDLESS));
            }
            next = root.pointer(pointer).and_then(reference);
        }
        ending.extend(way);
    }
    Ok(())
}

/// The place within the document that a value refers to.
fn reference(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()?.strip_prefix('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(schema: &str) -> String {
        format!(r#"{{"type":"json_schema","json_schema":{{"name":"a","schema":{schema}}}}}"#)
    }

    #[test]
    fn a_tree_may_recurse_and_a_synonym_of_itself_may_not() {
        let tree = r##"{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#"}}}}"##;
        check_text("response_format", Some(&format(tree))).unwrap();
        for endless in [
            r##"{"$ref":"#"}"##,
            r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"}}}"##,
        ] {
            assert!(check_text("response_format", Some(&format(endless))).is_err(), "{endless}");
            let tools =
                format!(r#"[{{"type":"function","function":{{"name":"f","parameters":{endless}}}}}]"#);
            assert!(check_text("tools", Some(&tools)).is_err(), "{endless}");
        }
        let dead = r##"{"properties":{"x":{"$ref":"#/nowhere"},"y":{"$ref":"https://example.com/schema"}}}"##;
        check_text("response_format", Some(&format(dead))).unwrap();
    }

    #[test]
    fn a_long_chain_of_references_costs_no_square() {
        let chain: String =
            (0..4_000).map(|n| format!(r##""a{n}":{{"$ref":"#/$defs/a{}"}},"##, n + 1)).collect();
        let schema = format!(r#"{{"$defs":{{{chain}"a4000":{{"type":"string"}}}}}}"#);
        let begun = std::time::Instant::now();
        check_text("response_format", Some(&format(&schema))).unwrap();
        assert!(begun.elapsed().as_secs() < 10);
    }
}
