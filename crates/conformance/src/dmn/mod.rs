//! Claims about DMN 1.5: levels, elements, boxed expressions, decision tables, FEEL, deviations.
//!
//! Nothing here is written by hand that the code could tell: each feature stands beside a small model, which is read,
//! written, compiled and evaluated, so the claims can't say other than the reader, the writer and the engine do.

mod boxes;
mod features;
mod feel;
mod functions;
mod probe;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::OnceLock;

use serde::Serialize;

use crate::{Deviation, Extent, Share};
use heddle_dmn::xml::{self, Version};

/// The edition of the standard.
pub const SPECIFICATION: &str = "DMN 1.5 (OMG formal/2024-01-01)";

/// Part of the standard that a feature belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Element,
    Boxed,
    Table,
    HitPolicy,
    Aggregation,
    Feel,
    Function,
    Diagram,
}

/// A feature of the standard and what is done with it, by trying it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = DmnFeature))]
#[serde(rename_all = "camelCase")]
pub struct FeatureClaim {
    /// The name of the element, policy, aggregation or function, or what of FEEL it is.
    pub name: &'static str,
    /// The clause of DMN 1.5 that defines it.
    pub clause: &'static str,
    /// The lowest conformance level (clause 2.1) that has it; null where no level speaks of it.
    pub level: Option<u8>,
    /// Whether it is read to members of its own; else it is kept as XML.
    pub parse: bool,
    /// Whether it is written as it was read, also after something else in the model was changed.
    pub export: bool,
    /// Whether a decision that uses it gives what the standard says.
    pub execute: Extent,
    /// The version of this program that the claim is made for.
    pub since: &'static str,
    /// Reason why it is not executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub notes: Option<String>,
}

impl FeatureClaim {
    /// Extensions are foreign elements: what a level asks is that they are kept.
    fn is_modelled(&self) -> bool {
        self.export && (self.parse || self.name == "extensionElements")
    }

    fn is_executed(&self) -> bool {
        self.is_modelled() && matches!(self.execute, Extent::Full | Extent::NotOperational)
    }
}

/// A conformance level (clause 2.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = DmnLevel))]
#[serde(rename_all = "camelCase")]
pub struct Level {
    /// Number of the level, from 1 to 3.
    pub level: u8,
    /// Demands of the level, as text.
    pub demands: &'static str,
    /// Criterion of the level: `modeling` (read to members and written without loss) or `execution` (that,
    /// and evaluated where there is something to evaluate).
    pub judged: &'static str,
    /// Extent to which the level is met.
    pub status: Extent,
    /// Number of the level's features that are met, and of all; a level has those of the levels below it.
    pub features: Share,
    /// The features that are missing.
    pub missing: Vec<String>,
}

/// The versions of the standard whose documents are read and written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = DmnVersions))]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// Read, by trying a document in the namespace of each.
    pub read: Vec<&'static str>,
    /// Written, as the namespace of what is written says.
    pub written: Vec<&'static str>,
}

/// All claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Claims {
    /// The edition of the standard.
    pub specification: &'static str,
    /// Versions of documents.
    pub versions: Versions,
    /// Conformance levels.
    pub levels: Vec<Level>,
    /// Elements of the requirements graph, types and business context (clauses 6 and 7).
    pub elements: Vec<FeatureClaim>,
    /// Boxed expressions (clauses 7 and 10).
    pub boxed_expressions: Vec<FeatureClaim>,
    /// Parts of decision tables (clause 8).
    pub decision_tables: Vec<FeatureClaim>,
    /// Hit policies (clause 8.2.10).
    pub hit_policies: Vec<FeatureClaim>,
    /// Aggregations of the hit policy `COLLECT` (clause 8.2.10).
    pub aggregations: Vec<FeatureClaim>,
    /// Syntax and types of FEEL (clauses 9 and 10).
    pub feel: Vec<FeatureClaim>,
    /// Built-in functions of FEEL (clause 10.3.4).
    pub functions: Vec<FeatureClaim>,
    /// Diagrams (clause 13).
    pub diagrams: Vec<FeatureClaim>,
    /// Deviations.
    pub deviations: Vec<Deviation>,
}

/// The claims; made once, in some milliseconds.
pub fn claims() -> &'static Claims {
    static CLAIMS: OnceLock<Claims> = OnceLock::new();
    CLAIMS.get_or_init(make)
}

fn make() -> Claims {
    let all: Vec<(Group, FeatureClaim)> = features::FEATURES
        .iter()
        .chain(boxes::FEATURES)
        .chain(feel::FEATURES)
        .copied()
        .chain(functions::features())
        .map(|feature| probe::claim(&feature))
        .collect();
    let of = |group: Group| -> Vec<FeatureClaim> {
        all.iter().filter(|(own, _)| *own == group).map(|(_, claim)| claim.clone()).collect()
    };
    Claims {
        specification: SPECIFICATION,
        versions: versions(),
        levels: levels(&all),
        elements: of(Group::Element),
        boxed_expressions: of(Group::Boxed),
        decision_tables: of(Group::Table),
        hit_policies: of(Group::HitPolicy),
        aggregations: of(Group::Aggregation),
        feel: of(Group::Feel),
        functions: of(Group::Function),
        diagrams: of(Group::Diagram),
        deviations: deviations(),
    }
}

const DEMANDS: [&str; 3] = [
    "Decision requirements, decision logic and decision tables (clauses 6, 7 and 8); expressions need not be executable.",
    "Level 1, executable, with the simple expression language S-FEEL (clause 9).",
    "Level 2 with the whole of FEEL and all boxed expressions (clause 10).",
];

fn levels(all: &[(Group, FeatureClaim)]) -> Vec<Level> {
    let level = |(number, demands): (u8, &&'static str)| {
        let own =
            all.iter().map(|(_, claim)| claim).filter(|claim| claim.level.is_some_and(|at| at <= number));
        let there =
            |claim: &FeatureClaim| if number == 1 { claim.is_modelled() } else { claim.is_executed() };
        let (supported, missing): (Vec<&FeatureClaim>, Vec<_>) = own.partition(|claim| there(claim));
        let features = Share { supported: supported.len(), total: supported.len() + missing.len() };
        Level {
            level: number,
            demands,
            judged: if number == 1 { "modeling" } else { "execution" },
            status: match features.supported {
                0 => Extent::None,
                some if some == features.total => Extent::Full,
                _ => Extent::Partial,
            },
            features,
            missing: missing.iter().map(|claim| claim.name.to_owned()).collect(),
        }
    };
    (1..).zip(&DEMANDS).map(level).collect()
}

/// The namespaces of models of the versions, as OMG publishes them.
const NAMESPACES: [(&str, &str); 5] = [
    ("1.1", "http://www.omg.org/spec/DMN/20151101/dmn.xsd"),
    ("1.2", "http://www.omg.org/spec/DMN/20180521/MODEL/"),
    ("1.3", "https://www.omg.org/spec/DMN/20191111/MODEL/"),
    ("1.4", "https://www.omg.org/spec/DMN/20211108/MODEL/"),
    ("1.5", "https://www.omg.org/spec/DMN/20230324/MODEL/"),
];

fn versions() -> Versions {
    let mut written = Vec::new();
    let read = NAMESPACES.iter().filter(|(number, namespace)| {
        let source = probe::document_in(namespace, &probe::decision(&probe::literal("1 + 1")));
        let Ok(imported) = xml::read(source.as_bytes()) else { return false };
        let again = xml::write(&imported.model).ok().and_then(|text| xml::read(text.as_bytes()).ok());
        written.extend(again.map(|again| again.version));
        imported.version.number() == *number
            && imported.diagnostics.is_empty()
            && !imported.model.decisions.is_empty()
    });
    let read = read.map(|(number, _)| *number).collect();
    written.sort_unstable();
    written.dedup();
    Versions { read, written: written.into_iter().map(Version::number).collect() }
}

const fn deviation(id: &'static str, clause: &'static str, about: &'static str, text: String) -> Deviation {
    Deviation { id, clause, about, text: Cow::Owned(text) }
}

fn deviations() -> Vec<Deviation> {
    let limits = heddle_feel::Limits::default();
    let mut all = vec![
        deviation(
            "D1",
            "10.5.3",
            "functions carried out by Java or PMML",
            "They are read and written; a call of one is null for a told reason, and compiling reports it as an error."
                .to_owned(),
        ),
        deviation(
            "D2",
            "7.3.5",
            "other expression languages than FEEL",
            "They are read and written; compiling reports an expression in one as an error, and its value is null."
                .to_owned(),
        ),
        deviation(
            "D3",
            "12.3",
            "documents that are not read",
            format!(
                "A document type declaration is refused, and so are documents above {} MiB, {} nested elements, {} elements, \
                 or {} levels of boxed expressions or components of a type.",
                xml::MAX_BYTES / (1024 * 1024),
                xml::MAX_DEPTH,
                xml::MAX_ELEMENTS,
                xml::MAX_NESTING
            ),
        ),
        deviation(
            "D4",
            "10.3.2",
            "bounds of an evaluation",
            format!(
                "An evaluation ends with an error above {} steps, {} levels of calls, {} items of a list or {} bytes of a \
                 string; nothing that a model says makes it run on.",
                limits.steps, limits.depth, limits.list_size, limits.string_size
            ),
        ),
        deviation(
            "D5",
            "6.3.13",
            "names that are used without a requirement",
            "They are taken from the values given: models of some editors declare no input data. A warning tells of those \
             that are elements of the model."
                .to_owned(),
        ),
    ];
    all.extend(boundaries());
    all
}

/// Those about what comes in and goes out.
fn boundaries() -> [Deviation; 3] {
    [
        deviation(
            "D6",
            "12.3",
            "versions",
            "Documents of all versions are written in the namespace of DMN 1.5; a later namespace of DMN is read as 1.5 with \
             a warning."
                .to_owned(),
        ),
        deviation(
            "D7",
            "10.3.3",
            "imports of XML Schema, WSDL and PMML",
            "They are read and written, and so is `importedValues`; nothing of what they import can be used.".to_owned(),
        ),
        deviation(
            "D8",
            "10.3.2.3.1",
            "numbers outside of an evaluation",
            "Numbers have 34 digits within an evaluation. In JSON, where a run's variables stand, they are whole numbers of 64 \
             bits or binary floats of 64 bits; one beyond their range becomes a text."
                .to_owned(),
        ),
    ]
}
