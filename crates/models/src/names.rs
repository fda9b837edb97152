//! Rules of the names that callers send, and the errors of those that are taken.

use heddle_kernel::{ModelDeploymentId, TenantId};
use heddle_policy::RequestContext;
use heddle_policy::capability::DeploymentRead;
use heddle_usecase::StoreError;
use serde_json::{Value, json};

use crate::ports::LICENSED;
use crate::records::Use;
use crate::{Problem, Problems, UseCaseError};

/// The longest alias, in bytes.
const ALIAS: usize = 128;
/// The longest name of a model, in bytes.
const MODEL: usize = 512;

/// Adds what is wrong with an alias: 1 to 128 letters and digits of ASCII, `.`, `_`, `:`, `/`, `@`, `+` and `-`, the first a
/// letter or a digit; none that reads as an id.
pub(crate) fn alias(problems: &mut Problems, field: &str, text: &str) {
    if text.is_empty() {
        return problems.add(field, "required", "A name is needed.");
    }
    if text.len() > ALIAS {
        return problems.add(field, "tooLong", format!("At most {ALIAS} characters."));
    }
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/@+-".contains(&byte);
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if !first || !text.bytes().all(legal) || uuid::Uuid::try_parse(text).is_ok() {
        let message = "Letters and digits of ASCII, `.`, `_`, `:`, `/`, `@`, `+` and `-`; no id.";
        problems.add(field, "wrongFormat", message);
    }
}

/// The alias that a model's name gives: its letters that an alias may have, others as `-`.
pub(crate) fn alias_of(model: &str) -> String {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || "._:/@+-".contains(letter);
    let text: String =
        model.chars().map(|letter| if legal(letter) { letter } else { '-' }).take(ALIAS).collect();
    let text = text.trim_start_matches(|letter: char| !letter.is_ascii_alphanumeric());
    if text.is_empty() || uuid::Uuid::try_parse(text).is_ok() { "model".to_owned() } else { text.to_owned() }
}

/// Adds what is wrong with the name of a model at its provider.
pub(crate) fn model(problems: &mut Problems, field: &str, text: &str) {
    if text.trim().is_empty() {
        problems.add(field, "required", "The name of a model is needed.");
    } else if text.len() > MODEL {
        problems.add(field, "tooLong", format!("At most {MODEL} bytes."));
    } else if heddle_usecase::has_hidden(text) {
        problems.add(field, "wrongFormat", "No control characters, and none that can't be seen.");
    }
}

/// The error of a name or an alias that is taken, at the member; and that of the licence.
pub(crate) fn taken(error: StoreError, what: &str) -> UseCaseError {
    match error {
        StoreError::Duplicate(columns) if columns.contains("alias") => {
            let message = format!("Another {what} has this alias.");
            UseCaseError::Conflict(vec![Problem::at("alias", "notUnique", message)])
        }
        StoreError::Duplicate(columns) if columns.contains("name") => {
            let message = format!("Another {what} has this name.");
            UseCaseError::Conflict(vec![Problem::at("name", "notUnique", message)])
        }
        StoreError::QuotaExceeded { limit: LICENSED, most, used } => {
            UseCaseError::LimitReached { limit: "deployments", licensed: most, used }
        }
        other => other.into(),
    }
}

/// The conflict of a thing in use: deployments that the caller may read by their aliases, others by their number.
pub(crate) fn in_use(what: &str, uses: &[Use], context: &RequestContext) -> UseCaseError {
    let snapshot = context.snapshot();
    let is_shown = |one: &&Use| {
        let id = one.id.parse::<ModelDeploymentId>().ok();
        one.kind == "deployment"
            && id.is_some_and(|id| snapshot.authorize_one::<DeploymentRead>(id, ()).is_ok())
    };
    let (shown, hidden): (Vec<&Use>, Vec<&Use>) = uses.iter().partition(is_shown);
    let mut used_by: Vec<Value> =
        shown.iter().map(|one| json!({ "type": one.kind, "id": one.id, "name": one.name })).collect();
    let mut kinds: Vec<&str> = hidden.iter().map(|one| one.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let count = hidden.iter().filter(|one| one.kind == kind).count();
        used_by.push(json!({ "type": kind, "count": count }));
    }
    let message = format!("The {what} is in use; change or delete what uses it first.");
    UseCaseError::Conflict(vec![Problem::new("inUse", message).with("usedBy", used_by)])
}

/// Lock of an organisation's work that runs one at a time on a node; given back when it is dropped.
#[derive(Debug, Clone, Default)]
pub(crate) struct OneAtATime(std::sync::Arc<std::sync::Mutex<std::collections::HashSet<TenantId>>>);

/// Place of the one.
#[derive(Debug)]
pub(crate) struct Turn {
    all: OneAtATime,
    tenant: TenantId,
}

impl OneAtATime {
    /// The turn of an organisation; none while another has it.
    pub(crate) fn begin(&self, tenant: TenantId) -> Option<Turn> {
        let mut all = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.insert(tenant).then(|| Turn { all: self.clone(), tenant })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(&self.tenant);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_what_clients_name_and_no_id() {
        for (text, reason) in [
            ("gpt-4o-mini", None),
            ("meta-llama/Llama-3.1:8b", None),
            ("", Some("required")),
            ("-a", Some("wrongFormat")),
            ("a b", Some("wrongFormat")),
            ("01890a5d-ac96-774b-bcce-b302099a8057", Some("wrongFormat")),
        ] {
            let mut problems = Problems::default();
            alias(&mut problems, "alias", text);
            assert_eq!(problems.into_iter().next().map(|one| one.reason), reason, "{text}");
        }
        for (model, expected) in
            [("Llama 3 (8B)", "Llama-3--8B-"), ("models/gemini", "models/gemini"), ("??", "model")]
        {
            assert_eq!(alias_of(model), expected);
            let mut problems = Problems::default();
            alias(&mut problems, "alias", &alias_of(model));
            assert_eq!(problems.into_iter().count(), 0, "{model}");
        }
    }
}
