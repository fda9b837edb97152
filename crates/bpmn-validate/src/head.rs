//! Members of the definition as a whole that ask for what is not there.

use super::Findings;
use heddle_bpmn::diagnostic;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_guardrails::{Policy, PolicyError};

/// The version of the definition's schema.
const SCHEMA_VERSION: i64 = 1;

/// Remedy for a check of the definition's own.
const REMEDY: &str = "Write a name of the catalogue (`GET /api/workflows/protection/catalog`), FEEL behind `=`, or a JSON \
                      object {id, stage, kind, configuration, action, nodeIds}.";

/// Refuses a version of the schema that is not known, and protection that does not read.
pub(super) fn check(definition: &WorkflowDefinition, findings: &mut Findings) {
    if let Some(version) = definition.schema_version.filter(|version| *version != SCHEMA_VERSION) {
        let message =
            format!("The schema version {version} is not known; this version reads {SCHEMA_VERSION}.");
        let found = diagnostic::error("unsupportedSchemaVersion", message);
        findings.add(found, None, || "schemaVersion".to_owned());
    }
    let Some(protection) = &definition.protection else { return };
    let checks = protection.custom_checks.as_deref().unwrap_or_default();
    for fault in Policy::read(protection.preset.as_deref(), checks).err().into_iter().flatten() {
        let PolicyError { place, message } = fault;
        let found = diagnostic::error("unsupportedProtection", message);
        let found = if place == "preset" { found } else { found.with_remedy(REMEDY) };
        findings.add(found, None, || format!("protection.{place}"));
    }
}

#[cfg(test)]
mod tests {
    use crate::structure;
    use heddle_bpmn::model::WorkflowDefinition;
    use serde_json::json;

    #[test]
    fn what_does_not_read_is_refused_by_name() {
        for (member, value, path) in [
            ("schemaVersion", json!(1), None),
            ("schemaVersion", json!(999), Some("schemaVersion")),
            ("schemaVersion", json!(-1), Some("schemaVersion")),
            ("protection", json!({}), None),
            ("protection", json!({"preset": "off", "customChecks": []}), None),
            ("protection", json!({"preset": "strict"}), None),
            (
                "protection",
                json!({"preset": "basic", "customChecks": ["pii", "= contains(text, \"x\")"]}),
                None,
            ),
            ("protection", json!({"preset": "nonsense"}), Some("protection.preset")),
            ("protection", json!({"preset": ""}), Some("protection.preset")),
            ("protection", json!({"customChecks": ["c"]}), Some("protection.customChecks[0]")),
            ("protection", json!({"customChecks": ["pii", "= 1 +"]}), Some("protection.customChecks[1]")),
        ] {
            let mut definition = json!({"nodes": [{"id": "a", "type": "task"}]});
            definition[member] = value.clone();
            let definition: WorkflowDefinition = serde_json::from_value(definition).unwrap();
            let found = structure(&definition);
            let told: Vec<_> = found.iter().map(|one| one.path.as_deref()).collect();
            let expected: Vec<Option<&str>> = path.into_iter().map(Some).collect();
            assert_eq!(told, expected, "{member} {value}");
            assert!(found.iter().all(|one| one.is_error() && one.remedy.is_some()));
        }
    }
}
