//! The catalogue of constraints: names, profiles and texts.
//!
//! `EXT` rules are constraints that the standard states in prose, `REF` rules are references that must lead to an element
//! of the right kind. Both are of the published catalogue; `STD` rules are further ones that the standard states.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

mod data;
mod events;
mod flows;
mod references;
mod stated;

use heddle_bpmn::diagnostic::Severity;

/// From which profile on a rule binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum RuleProfile {
    /// Binds on every model.
    Descriptive,
    /// Binds on every model that uses the elements of the analytic sub-class.
    Analytic,
    /// Binds on choreographies and conversations, and on how a model is written down: real models that lack it are read
    /// and executed all the same.
    Full,
    /// Binds on what claims to be of the Common Executable sub-class.
    CommonExecutable,
}

/// A constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Name of the constraint in the catalogue, such as `EXT096`.
    pub rule: &'static str,
    /// Code of the findings about it.
    pub code: &'static str,
    /// Profile from which on it binds.
    pub profile: RuleProfile,
    /// Clause of BPMN 2.0.2 that states it, or that describes the elements it is about.
    pub clause: &'static str,
    /// Condition that must hold, as text.
    pub constraint: &'static str,
    /// Remedy for a breach, as one sentence for people.
    pub remedy: &'static str,
}

/// Rules whose breach leaves no doubt about what a run does, so that publishing does not refuse it: real models leave out
/// start and end events, have gateways with one way in and out, or events that lead nowhere.
const HARMLESS: &[&str] = &[
    "EXT010", "EXT014", "EXT019", "EXT023", "EXT029", "EXT030", "EXT039", "EXT060", "EXT076", "EXT079",
    "EXT084", "EXT088", "EXT091", "EXT092", "EXT097", "EXT101", "EXT105", "EXT107", "EXT113", "EXT115",
    "EXT116", "EXT135", "EXT136", "EXT150", "EXT151", "REF002", "REF006", "REF015", "REF016", "REF024",
    "REF025", "REF027", "STD007", "STD008", "STD010", "STD011", "STD013",
];

/// Rules whose breach is a warning: real models break them, and engines run them all the same.
const DOUBTFUL: &[&str] = &["STD013"];

impl Rule {
    /// Whether the name is that of the published catalogue. Its references end at `REF017`; those beyond, and `STD` rules,
    /// are named here only, and findings about them carry no name.
    #[must_use]
    pub fn is_published(&self) -> bool {
        self.rule <= "REF017"
    }

    /// Weight of a breach.
    #[must_use]
    pub fn severity(&self) -> Severity {
        if DOUBTFUL.contains(&self.rule) { Severity::Warning } else { Severity::Error }
    }

    /// Whether a definition that breaks the rule can't be published.
    #[must_use]
    pub fn refuses_publication(&self) -> bool {
        self.profile <= RuleProfile::Analytic && !HARMLESS.contains(&self.rule)
    }
}

const fn rule(
    rule: &'static str,
    code: &'static str,
    profile: RuleProfile,
    clause: &'static str,
    constraint: &'static str,
    remedy: &'static str,
) -> Rule {
    Rule { rule, code, profile, clause, constraint, remedy }
}

const PARTS: [&[Rule]; 5] =
    [flows::FLOWS, data::DATA, events::EVENTS, references::REFERENCES, stated::STATED];

const COUNT: usize = PARTS[0].len() + PARTS[1].len() + PARTS[2].len() + PARTS[3].len() + PARTS[4].len();

/// All rules, sorted by name.
pub(super) static RULES: &[Rule] = &joined();

/// The parts one after the other, at compile time.
const fn joined() -> [Rule; COUNT] {
    let mut all = [PARTS[0][0]; COUNT];
    let (mut part, mut at) = (0, 0);
    while part < PARTS.len() {
        let mut row = 0;
        while row < PARTS[part].len() {
            all[at] = PARTS[part][row];
            row += 1;
            at += 1;
        }
        part += 1;
    }
    all
}
