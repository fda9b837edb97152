//! The methodologies of finding, as they are listed.

use serde_json::{Value, json};

use crate::ports::{Methodology, MethodologyKind};

/// The methodologies of finding.
pub(crate) fn retrieval() -> Vec<Methodology> {
    let of = |id: &str,
              display_name: &str,
              description: &str,
              is_default,
              requires_embedding,
              schema,
              defaults| {
        let Value::Object(defaults) = defaults else { return None };
        Some(Methodology {
            id: id.to_owned(),
            kind: MethodologyKind::Retrieval,
            display_name: display_name.to_owned(),
            description: description.to_owned(),
            is_default,
            requires_embedding,
            options_schema: schema,
            defaults,
        })
    };
    let object = |properties: Value| {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object", "additionalProperties": false, "properties": properties,
        })
    };
    let mut fusion = object(json!({
        "method": {"type": "string", "enum": ["minMax", "rrf"], "default": "minMax"},
        "alpha": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
        "k": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 60},
    }));
    // Each method has a member of its own.
    let methods = json!([
        {"properties": {"method": {"const": "minMax"}, "k": false}},
        {"properties": {"method": {"const": "rrf"}, "alpha": false}, "required": ["method"]},
    ]);
    if let Value::Object(members) = &mut fusion {
        members.insert("oneOf".to_owned(), methods);
    }
    let lambda = object(json!({
        "mmrLambda": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
    }));
    let none = || object(json!({}));
    let preset = json!({"method": "minMax", "alpha": 0.5});
    let all = [
        of("hybrid", "Hybrid", "By meaning and by words, in one order.", true, true, fusion, preset),
        of(
            "semantic",
            "Semantic",
            "By meaning: exact cosine of the vectors.",
            false,
            true,
            none(),
            json!({}),
        ),
        of("keyword", "Keyword", "By words: BM25 over stems.", false, false, none(), json!({})),
        of(
            "mmr",
            "Diverse",
            "Prefers passages that differ from those before them (maximal marginal relevance).",
            false,
            true,
            lambda,
            json!({"mmrLambda": 0.5}),
        ),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preset_of_finding_is_hybrid() {
        let all = retrieval();
        let ids: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["hybrid", "semantic", "keyword", "mmr"]);
        assert!(all.iter().all(|one| one.is_default == (one.id == "hybrid")));
    }
}
