//! Forms and input schemas: JSON Schema (2020-12 unless the schema names another).

use serde_json::Value;

use crate::Problem;

/// Whether the value is a JSON Schema that can be used. References to other documents are not followed.
///
/// # Errors
/// A sentence that says why not.
pub fn usable(schema: &Value) -> Result<(), String> {
    jsonschema::validator_for(schema).map(|_| ()).map_err(|error| error.to_string())
}

/// Everything that is wrong with a value by a schema; fields are named below `base`. A schema that is none lets
/// everything pass: publish refuses such.
#[must_use]
pub fn check(schema: &Value, value: &Value, base: &str) -> Vec<Problem> {
    let Ok(validator) = jsonschema::validator_for(schema) else { return Vec::new() };
    validator
        .iter_errors(value)
        .map(|error| Problem::at(field(base, error.instance_path().as_str()), "schema", error.to_string()))
        .collect()
}

/// A JSON pointer as a path with dots and brackets.
fn field(base: &str, pointer: &str) -> String {
    pointer.split('/').skip(1).fold(base.to_owned(), |path, part| {
        let part = part.replace("~1", "/").replace("~0", "~");
        match part.parse::<usize>() {
            Ok(index) => format!("{path}[{index}]"),
            Err(_) => format!("{path}.{part}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_problem_is_named_by_its_path() {
        let schema = json!({
            "type": "object", "required": ["amount"],
            "properties": { "lines": { "items": { "type": "number" } } }
        });
        let mut fields: Vec<_> = check(&schema, &json!({ "lines": [1, "x"] }), "values")
            .into_iter()
            .filter_map(|problem| problem.field)
            .collect();
        fields.sort();
        assert_eq!(fields, ["values", "values.lines[1]"]);
        assert!(usable(&json!({ "type": 5 })).is_err());
    }
}
