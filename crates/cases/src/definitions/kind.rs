//! Case types as a kind of definitions: CMMN.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use heddle_cmmn::model::CaseDefinition;
use heddle_cmmn::plan::{CasePlan, Work};
use heddle_cmmn::{Compiled, Meaning, examine, xml};
use heddle_definitions::kind::{Entries, Examination, Imported, Kind, Written};
use heddle_definitions::ports::DefinitionStore;
use heddle_definitions::records::{Start, StartKind, Version};
use heddle_definitions::{DefinitionKey, is_error};
use heddle_execution::people;
use heddle_execution::ports::{Directory, used_names};
use heddle_execution::schema;
use heddle_kernel::{DefinitionKind, Diagnostic, Severity, TenantId, Timestamp};
use heddle_usecase::{Problem, UseCaseError};
use serde::Deserialize as _;
use serde_json::Value;

use super::decisions;
use super::people::named;

/// Number of the rules by which what says nothing of manual activation starts by itself.
const BY_ITSELF: i32 = 1;
/// Number of the rules by which it waits to be started by hand.
const BY_HAND: i32 = 2;

/// The kind of case types.
#[derive(Clone, Default)]
pub struct CaseTypeKind {
    meaning: Meaning,
    /// Directory in which those are looked for whom a definition names.
    directory: Option<Arc<dyn Directory>>,
    /// Store in which the decisions of workflows are looked for.
    published: Option<Arc<dyn DefinitionStore>>,
}

impl std::fmt::Debug for CaseTypeKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaseTypeKind").field("meaning", &self.meaning).finish_non_exhaustive()
    }
}

impl CaseTypeKind {
    /// The kind with what the installation decides where the standard leaves it open.
    #[must_use]
    pub const fn new(meaning: Meaning) -> Self {
        Self { meaning, directory: None, published: None }
    }

    /// The same that tells of decisions which no published workflow has.
    #[must_use]
    pub fn with_published(self, store: Arc<dyn DefinitionStore>) -> Self {
        Self { published: Some(store), ..self }
    }

    /// The same that tells of users and groups who are not there.
    #[must_use]
    pub fn with_directory(self, directory: Arc<dyn Directory>) -> Self {
        Self { directory: Some(directory), ..self }
    }

    /// Users and groups whom a definition names and who are not there, since nobody would see their tasks; and decisions that
    /// nobody has published.
    async fn named_findings(
        &self,
        tenant: TenantId,
        definition: &CaseDefinition,
    ) -> Result<Vec<Diagnostic>, UseCaseError> {
        let cases = heddle_cmmn::compile_with(definition, self.meaning).cases;
        let mut found = Vec::new();
        if let Some(directory) = &self.directory {
            found.extend(people::findings(&**directory, tenant, named(&cases)).await?);
        }
        if let Some(store) = &self.published {
            found.extend(decisions::findings(&**store, tenant, &cases).await?);
        }
        Ok(found)
    }
}

/// Meaning of a version: what was decided when it was published.
pub(crate) const fn meaning_of(version: &Version) -> Meaning {
    Meaning { manual_by_default: version.edition == BY_HAND }
}

/// The typed view of a stored definition.
///
/// # Errors
/// `Internal`: what is stored was checked before.
pub(crate) fn typed(document: &Value) -> Result<CaseDefinition, UseCaseError> {
    CaseDefinition::deserialize(document)
        .map_err(|error| UseCaseError::Internal(format!("a stored case definition does not read: {error}")))
}

/// Name of a definition, else of its first case that has one.
pub(super) fn name(definition: &CaseDefinition) -> Option<&str> {
    let case = || definition.cases.iter().flatten().find_map(|case| case.name.as_deref());
    definition.name.as_deref().or_else(case)
}

/// Reads a CMMN file.
pub(super) fn read(bytes: &[u8]) -> Result<xml::Imported, UseCaseError> {
    xml::read(bytes).map_err(|error| {
        let problem = Problem::at("content", "malformedSource", error.to_string())
            .with("cause", error.reason)
            .with("line", error.line)
            .with("column", error.column);
        UseCaseError::Invalid(vec![problem])
    })
}

/// Both lists; what the second one says of an element of the first again is left out.
pub(super) fn merged(mut found: Vec<Diagnostic>, more: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let key = |one: &Diagnostic| (one.code.clone(), one.element_id.clone());
    let known: HashSet<_> = found.iter().map(key).collect();
    found.extend(more.into_iter().filter(|one| !known.contains(&key(one))));
    found
}

/// Forms have to be JSON Schemas, or no task could ever be completed.
fn form_findings(plan: &CasePlan) -> Vec<Diagnostic> {
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for item in &plan.items {
        let Work::Human { task, .. } = &item.work else { continue };
        let wrong = task.form.as_ref().and_then(|form| schema::usable(form).err());
        // A definition that stands in the plan several times is told of once.
        if let Some(reason) = wrong.filter(|_| told.insert(&*item.definition)) {
            let message = format!("`configuration.form` is not a JSON Schema: {reason}");
            let remedy = "Give the task a form that is a JSON Schema, or none.";
            let one = Diagnostic::new(Severity::Error, "invalidSchema", message);
            found.push(one.with_element(&*item.definition).with_remedy(remedy));
        }
    }
    found
}

/// Settings of what the service does itself with which no version is published. Those that were published with them run on.
fn setting_findings(plan: &CasePlan) -> Vec<Diagnostic> {
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for item in &plan.items {
        let Work::Job { job } = &item.work else { continue };
        for fault in job.unpublishable() {
            if told.insert((&*item.definition, fault.sentence.clone())) {
                let message = format!("configuration.{}", fault.sentence);
                let remedy = "Correct the setting in the `configuration`.";
                let one = Diagnostic::new(Severity::Error, "wrongSetting", message);
                found.push(one.with_element(&*item.definition).with_remedy(remedy));
            }
        }
    }
    found
}

/// All findings, the errors first, and whether a case could be started.
pub(super) fn examined(definition: &CaseDefinition, meaning: Meaning) -> (Vec<Diagnostic>, bool) {
    let Compiled { cases, mut diagnostics } = examine(definition, meaning);
    diagnostics.extend(cases.iter().flat_map(|plan| form_findings(plan)));
    diagnostics.extend(cases.iter().flat_map(|plan| setting_findings(plan)));
    diagnostics.sort_by_key(|found| std::cmp::Reverse(found.severity));
    let executable = !cases.is_empty() && !diagnostics.iter().any(is_error);
    (diagnostics, executable)
}

#[async_trait]
impl Kind for CaseTypeKind {
    fn kind(&self) -> DefinitionKind {
        DefinitionKind::Case
    }

    fn edition(&self) -> i32 {
        if self.meaning.manual_by_default { BY_HAND } else { BY_ITSELF }
    }

    fn structure(&self, document: &Value) -> Result<Vec<Diagnostic>, UseCaseError> {
        Ok(examined(&typed(document)?, self.meaning).0)
    }

    async fn examine(&self, key: DefinitionKey, document: &Value) -> Result<Examination, UseCaseError> {
        let definition = typed(document)?;
        let (mut diagnostics, executable) = examined(&definition, self.meaning);
        // What it names matters once the rest stands.
        if executable {
            diagnostics.extend(self.named_findings(key.tenant(), &definition).await?);
        }
        Ok(Examination { diagnostics, executable })
    }

    fn entries(&self, document: &Value, version: &Version, _: Timestamp) -> Result<Entries, UseCaseError> {
        let compiled = examine(&typed(document)?, meaning_of(version));
        let mut entries = Entries::default();
        for plan in &compiled.cases {
            // Two starts by the same event would start one case.
            let events: BTreeSet<&str> = plan.starts.iter().map(|start| &*start.event_type).collect();
            entries.starts.extend(events.into_iter().map(|event| Start {
                entry: plan.id.to_string(),
                node_id: plan.id.to_string(),
                kind: StartKind::Message,
                name: event.to_owned(),
                next_due_at: None,
                timer: None,
            }));
            entries.callable.push(plan.id.to_string());
        }
        entries.callable.extend(used_names(document));
        entries.callable.sort_unstable();
        entries.callable.dedup();
        Ok(entries)
    }

    fn has_changed_meaning(
        &self,
        _: &Value,
        version: &Version,
        _: &[Diagnostic],
    ) -> Result<bool, UseCaseError> {
        Ok(version.edition != self.edition())
    }

    fn import(&self, bytes: &[u8]) -> Result<Imported, UseCaseError> {
        let read = read(bytes)?;
        let name = name(&read.definition).map(str::to_owned);
        let document = serde_json::to_value(&read.definition)
            .map_err(|error| UseCaseError::Internal(error.to_string()))?;
        Ok(Imported { document, name, diagnostics: read.diagnostics })
    }

    fn export(&self, document: &Value) -> Result<Written, UseCaseError> {
        match xml::write(&typed(document)?) {
            Ok(written) => Ok(Written {
                content: written.xml,
                media_type: "application/xml",
                diagnostics: written.diagnostics,
            }),
            Err(error) => Err(UseCaseError::conflict("notExportable", error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A case of one milestone, which events start.
    fn claim() -> Value {
        json!({ "cases": [{ "id": "claim", "name": "Claim",
            "configuration": { "startEvents": [{ "eventType": "claim.made" }] },
            "casePlanModel": { "id": "plan", "type": "casePlanModel",
                "items": [{ "id": "item", "definitionRef": "done" }],
                "definitions": [{ "id": "done", "type": "milestone", "name": "Done" }] } }] })
    }

    fn version(edition: i32) -> Version {
        let nobody = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        Version {
            number: 1,
            hash: String::new(),
            published_at: Timestamp::from_micros(0),
            published_by: nobody,
            change_note: None,
            active: true,
            lane_groups: false,
            edition,
        }
    }

    #[test]
    fn a_case_is_called_by_its_id_and_started_by_an_event() {
        let entries = CaseTypeKind::default()
            .entries(&claim(), &version(BY_ITSELF), Timestamp::from_micros(0))
            .unwrap();
        assert_eq!(entries.callable, ["claim"]);
        let told: Vec<_> =
            entries.starts.iter().map(|start| (&*start.entry, start.kind, &*start.name)).collect();
        assert_eq!(told, [("claim", StartKind::Message, "claim.made")]);
    }

    #[test]
    fn an_event_that_would_start_a_case_twice_is_told() {
        let mut document = claim();
        let twice = json!([{ "eventType": "claim.made" }, "claim.made"]);
        document["cases"][0]["configuration"]["startEvents"] = twice;
        let (found, executable) = examined(&typed(&document).unwrap(), Meaning::default());
        let told: Vec<_> = found.iter().filter(|one| is_error(one)).collect();
        assert!(!executable);
        assert!(matches!(told[..], [one] if one.message.contains("startEvents[1]")), "{told:?}");
    }

    #[test]
    fn a_version_keeps_what_was_decided_when_it_was_published() {
        let kinds = [false, true].map(|manual_by_default| CaseTypeKind::new(Meaning { manual_by_default }));
        for kind in &kinds {
            for other in &kinds {
                let own = version(kind.edition());
                assert_eq!(meaning_of(&own), kind.meaning);
                let differs = other.has_changed_meaning(&claim(), &own, &[]).unwrap();
                assert_eq!(differs, kind.meaning != other.meaning);
            }
        }
    }

    #[test]
    fn a_definition_without_a_case_cannot_be_published_and_says_so() {
        let (found, executable) = examined(&typed(&json!({ "cases": [] })).unwrap(), Meaning::default());
        assert!(!executable);
        assert!(found.iter().any(is_error), "{found:?}");
        assert!(matches!(typed(&json!({ "nodes": [] })), Err(UseCaseError::Internal(_))));
    }

    #[test]
    fn a_form_that_no_value_could_ever_fit_is_told_with_its_task() {
        let mut document = claim();
        let form = json!({ "type": "no type" });
        document["cases"][0]["casePlanModel"]["definitions"][0] =
            json!({ "id": "done", "type": "humanTask", "configuration": { "form": form } });
        let (found, executable) = examined(&typed(&document).unwrap(), Meaning::default());
        let told =
            found.iter().filter(|one| is_error(one)).map(|one| (&*one.code, one.element_id.as_deref()));
        assert_eq!((told.collect::<Vec<_>>(), executable), (vec![("invalidSchema", Some("done"))], false));
    }

    #[test]
    fn a_step_of_protection_that_could_only_fail_is_told_with_its_task() {
        let mut document = claim();
        let settings = json!({ "kind": "guardrail.check", "input": "= note", "checks": ["nsfw"] });
        document["cases"][0]["casePlanModel"]["definitions"][0] =
            json!({ "id": "done", "type": "task", "configuration": settings });
        let (found, executable) = examined(&typed(&document).unwrap(), Meaning::default());
        let told: Vec<_> = found.iter().filter(|one| is_error(one)).collect();
        assert!(!executable);
        assert!(matches!(told[..], [one] if one.message.starts_with("configuration.model:")), "{told:?}");
    }

    #[test]
    fn a_file_that_is_no_cmmn_is_refused_with_its_place() {
        let Err(UseCaseError::Invalid(problems)) = CaseTypeKind::default().import(b"<definitions>\n <")
        else {
            panic!("it was read")
        };
        assert_eq!((problems[0].reason, &problems[0].extra["line"]), ("malformedSource", &json!(2)));
    }
}
