//! Claims about CMMN 1.1: what is done with each element, and what no other engine does with it.
//!
//! Each element stands beside a small model, which is read, written, judged, compiled and executed, so the claims can't say
//! other than the reader, the writer, the validation and the engine do.

mod features;
mod trial;

use std::borrow::Cow;
use std::sync::OnceLock;

use heddle_cmmn::model::CaseDefinition;
use heddle_cmmn::{validate, xml};
use serde::Serialize;

use crate::Deviation;

/// The edition of the standard.
pub const SPECIFICATION: &str = "CMMN 1.1 (OMG formal/2016-12-01)";

/// An element with a model that uses it.
#[derive(Debug, Clone, Copy)]
struct Feature {
    name: &'static str,
    clause: &'static str,
    /// Elements beside the case.
    root: &'static str,
    /// Elements in the case before its plan model.
    before: &'static str,
    /// Elements in the case plan model.
    plan: &'static str,
    /// Elements in the case behind its plan model.
    after: &'static str,
    /// A text of the model, and another by which it is broken.
    breaks: [&'static str; 2],
    /// Feature that no other engine has.
    alone: Option<&'static str>,
}

/// An element of the standard and what is done with it, by trying it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CmmnClaim {
    /// Name of the element, or of the attribute.
    pub name: &'static str,
    /// The clause of CMMN 1.1 that defines it.
    pub clause: &'static str,
    /// Whether it is read to members of its own.
    pub read: bool,
    /// Whether a model in which it is broken is told.
    pub validated: bool,
    /// Whether a case that uses it does what the standard says: one is started, and brought to where it shows.
    pub executed: bool,
    /// Whether it is written as it was read.
    pub exported: bool,
    /// Part of it that no other engine has, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub alone: Option<&'static str>,
    /// Reason why it is not executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub notes: Option<String>,
}

/// All claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The edition of the standard.
    pub specification: &'static str,
    /// Every element.
    pub elements: Vec<CmmnClaim>,
    /// Deviations from the standard.
    pub deviations: Vec<Deviation>,
}

/// The claims, made by trial at the first call.
pub fn claims() -> &'static Claims {
    static CLAIMS: OnceLock<Claims> = OnceLock::new();
    CLAIMS.get_or_init(|| Claims {
        specification: SPECIFICATION,
        elements: features::FEATURES.iter().map(tried).collect(),
        deviations: deviations(),
    })
}

impl Feature {
    /// The model as a document.
    fn document(&self) -> String {
        let Self { root, before, plan, after, .. } = self;
        // Processes and decisions stand behind the cases in the schema, definitions of case file items ahead of them.
        let is_behind = root.starts_with("<process") || root.starts_with("<decision");
        let (ahead, behind) = if is_behind { ("", *root) } else { (*root, "") };
        format!(
            "<definitions xmlns=\"{}\" id=\"m\" name=\"M\" targetNamespace=\"urn:x\">{ahead}<case id=\"c\" name=\"C\">{before}\
             <casePlanModel id=\"plan\" name=\"P\">{plan}</casePlanModel>{after}</case>{behind}</definitions>",
            xml::MODEL_NS,
        )
    }
}

/// Claim about an element, by trying it.
fn tried(feature: &Feature) -> CmmnClaim {
    let document = feature.document();
    let [text, broken] = feature.breaks;
    let read = xml::read(document.as_bytes()).ok();
    let definition = read.as_ref().map(|read| &read.definition);
    // What has no member of its own is preserved as a fragment.
    let is_read = definition.is_some_and(|definition| definition.fragments.iter().flatten().next().is_none());
    let written = definition.and_then(|definition| xml::write(definition).ok());
    let again = written.as_ref().and_then(|written| xml::read(written.xml.as_bytes()).ok());
    let exported = match (definition, again.as_ref(), written.as_ref()) {
        (Some(own), Some(again), Some(written)) => {
            *own == again.definition && written.xml.contains(feature.name)
        }
        (Some(_), _, _) | (None, _, _) => false,
    };
    let errors = |definition: &CaseDefinition| -> Vec<String> {
        let found = validate(definition).into_iter();
        found.filter(heddle_kernel::Diagnostic::is_error).map(|one| one.message).collect()
    };
    let own = definition.map(errors);
    let others = xml::read(document.replace(text, broken).as_bytes()).ok();
    let validated = others.as_ref().is_none_or(|others| !errors(&others.definition).is_empty());
    let refused = own.as_ref().and_then(|own| own.first().cloned());
    let notes = match (refused, definition) {
        (Some(message), _) => Some(message),
        (None, Some(definition)) => trial::failure(feature.name, definition),
        (None, None) => Some("it is not read".to_owned()),
    };
    CmmnClaim {
        name: feature.name,
        clause: feature.clause,
        read: is_read,
        validated: validated && document.contains(text),
        executed: notes.is_none(),
        exported,
        alone: feature.alone,
        notes,
    }
}

/// Deviations: where this engine does something else than the text of the standard says.
fn deviations() -> Vec<Deviation> {
    let deviation = |id, clause, about, text| Deviation { id, clause, about, text: Cow::Borrowed(text) };
    vec![
        deviation(
            "C1",
            "5.4.11.1",
            "manualActivationRule",
            "Without a rule an item is started by itself. The text says that it waits to be started by hand, against the \
             marker of the notation (CR-148 of the OMG, open); other engines do as this one.",
        ),
        deviation(
            "C2",
            "5.4.11",
            "rules without a condition",
            "A required rule, repetition rule or manual activation rule without a condition holds.",
        ),
        deviation(
            "C3",
            "8.6",
            "sentries that set each other off",
            "A case whose sentries set each other off without an end stops with an incident after a bounded number of \
             rounds.",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_element_is_read_and_written_and_its_breach_is_told() {
        let claims = claims();
        let names: BTreeSet<_> = claims.elements.iter().map(|claim| claim.name).collect();
        assert_eq!(names.len(), claims.elements.len(), "each once");
        let whole = |claim: &&CmmnClaim| !(claim.read && claim.exported && claim.validated);
        let not: Vec<_> = claims.elements.iter().filter(whole).collect();
        assert!(not.is_empty(), "{not:#?}");
    }

    #[test]
    fn what_no_other_engine_runs_is_executed_here() {
        let not: Vec<_> =
            claims().elements.iter().filter(|claim| claim.alone.is_some() && !claim.executed).collect();
        assert!(not.is_empty(), "{not:#?}");
    }

    #[test]
    fn a_claim_says_why_something_is_not_executed() {
        for claim in &claims().elements {
            assert_eq!(claim.executed, claim.notes.is_none(), "{claim:?}");
        }
    }
}
