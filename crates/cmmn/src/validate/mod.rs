//! Judgement of a definition: what breaks the standard, and what can never happen.

mod ends;
mod reach;
mod structure;
#[cfg(test)]
mod tests;
mod usage;

use crate::compile::{self, Compiled, Meaning};
use crate::finding::{At, Cited, Diagnostic, Severity, found};
use crate::model::CaseDefinition;
use crate::plan::{CasePlan, ItemIx};
use crate::xml::extensions;
use std::sync::Arc;

/// Most findings that are reported; a definition with more is broken beyond reading them all.
const MAX_FINDINGS: usize = 1_000;

/// All findings on a definition: what stands against its execution too.
#[must_use]
pub fn validate(definition: &CaseDefinition) -> Vec<Diagnostic> {
    examine(definition, Meaning::default()).diagnostics
}

/// The plans of a definition with all findings on it.
#[must_use]
pub fn examine(definition: &CaseDefinition, meaning: Meaning) -> Compiled {
    let mut diagnostics = structure::structure(definition);
    diagnostics.extend(extensions::unsupported(definition));
    let mut cases = Vec::new();
    let built = compile::build(definition, meaning);
    if built.is_empty() {
        diagnostics.push(compile::no_case());
    }
    for built in built {
        let is_sound = !built.diagnostics.iter().any(Diagnostic::is_error);
        diagnostics.extend(built.diagnostics);
        if is_sound {
            // Of a plan with holes nothing can be said.
            let case = Checked { plan: &built.plan, paths: &built.paths, path: &built.path };
            let told = checks(&case);
            let runs = !told.iter().any(Diagnostic::is_error);
            diagnostics.extend(told);
            if runs {
                cases.push(Arc::new(built.plan));
            }
        }
    }
    if diagnostics.len() > MAX_FINDINGS {
        // Errors first: what stands against publishing is not left out for what is only doubtful.
        diagnostics.sort_by_key(|own| std::cmp::Reverse(own.severity));
        let more = diagnostics.len() - MAX_FINDINGS;
        diagnostics.truncate(MAX_FINDINGS);
        let message = format!("{more} more findings are left out");
        diagnostics.push(Diagnostic::new(Severity::Info, "moreFindings", message));
    }
    Compiled { cases, diagnostics }
}

fn checks(case: &Checked<'_>) -> Vec<Diagnostic> {
    let reach = reach::Reach::of(case.plan);
    let mut told = reach::check(case, &reach);
    told.extend(ends::check(case, &reach));
    told.extend(usage::check(case));
    told
}

/// A plan that is looked at, with the paths of its items.
pub(crate) struct Checked<'p> {
    pub plan: &'p CasePlan,
    pub paths: &'p [String],
    pub path: &'p str,
}

impl Checked<'_> {
    /// A finding about an item.
    fn about(
        &self,
        item: ItemIx,
        severity: Severity,
        rule: impl Into<Cited>,
        message: impl Into<String>,
    ) -> Diagnostic {
        let ix = item as usize;
        let id = self.plan.items.get(ix).map(|own| &*own.id).unwrap_or_default();
        let path = self.paths.get(ix).map_or(self.path, String::as_str);
        found(severity, rule, At { id, path }, message)
    }
}
