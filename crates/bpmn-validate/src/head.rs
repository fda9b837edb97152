//! Members of the definition as a whole that ask for what is not there.

use super::Findings;
use heddle_bpmn::diagnostic;
use heddle_bpmn::model::WorkflowDefinition;

/// The version of the definition's schema.
const SCHEMA_VERSION: i64 = 1;

/// The presets that are to come.
const PRESETS: &[&str] = &["basic", "standard", "strict"];

/// Refuses a version of the schema that is not known, and protection other than `off`.
pub(super) fn check(definition: &WorkflowDefinition, findings: &mut Findings) {
    if let Some(version) = definition.schema_version.filter(|version| *version != SCHEMA_VERSION) {
        let message =
            format!("The schema version {version} is not known; this version reads {SCHEMA_VERSION}.");
        let found = diagnostic::error("unsupportedSchemaVersion", message);
        findings.add(found, None, || "schemaVersion".to_owned());
    }
    let Some(protection) = &definition.protection else { return };
    let preset = protection.preset.as_deref().filter(|preset| *preset != "off");
    if let Some(preset) = preset {
        let message = if PRESETS.contains(&preset) {
            format!("The protection preset {preset:?} is not there yet; a run would not be protected.")
        } else {
            format!("There is no protection preset {preset:?}.")
        };
        let found = diagnostic::error("unsupportedProtection", message);
        findings.add(found, None, || "protection.preset".to_owned());
    }
    if protection.custom_checks.as_ref().is_some_and(|checks| !checks.is_empty()) {
        let message = "Protection checks of the workflow's own are not there yet; none would be made.";
        let found = diagnostic::error("unsupportedProtection", message)
            .with_remedy("Leave `protection.customChecks` empty, or out.");
        findings.add(found, None, || "protection.customChecks".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use crate::structure;
    use heddle_bpmn::model::WorkflowDefinition;
    use serde_json::json;

    #[test]
    fn what_is_not_there_yet_is_refused_by_name() {
        for (member, value, path) in [
            ("schemaVersion", json!(1), None),
            ("schemaVersion", json!(999), Some("schemaVersion")),
            ("schemaVersion", json!(-1), Some("schemaVersion")),
            ("protection", json!({}), None),
            ("protection", json!({"preset": "off", "customChecks": []}), None),
            ("protection", json!({"preset": "strict"}), Some("protection.preset")),
            ("protection", json!({"preset": "nonsense"}), Some("protection.preset")),
            ("protection", json!({"preset": ""}), Some("protection.preset")),
            ("protection", json!({"customChecks": ["c"]}), Some("protection.customChecks")),
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
