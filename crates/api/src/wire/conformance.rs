//! Claims of conformance to the standards, and the evidence for them.

use heddle_bpmn_validate::Rule;
use heddle_conformance::Deviation;
use heddle_conformance::bpmn::{Class, ElementClaim, EventRow, Languages};
use heddle_conformance::dmn::{FeatureClaim, Level, Versions};
use heddle_conformance::profile::ProfileElement;
use serde_json::Value;

use super::envelope::AnyJson;

words! {
    /// Format of a report.
    enum ReportFormat {
        /// JSON, to be read by programs.
        Json = "json",
        /// HTML, to be read by people.
        Html = "html",
    }

    /// Result of a case.
    enum CaseStatus {
        /// As the suite expects.
        Passed = "passed",
        /// Not as the suite expects, or its model is refused.
        Failed = "failed",
        /// The suite allows its model to be refused, and it was.
        Skipped = "skipped",
    }
}

request! {
    /// The query of a report.
    struct ReportQuery {
        /// Format of the report; by default as `Accept` asks.
        #[schema(nullable = false)]
        format: Option<ReportFormat>,
    }
}

response! {
    /// Claims of conformance to BPMN 2.0.2.
    struct BpmnConformance {
        /// The edition of the standard.
        specification: String,
        /// The version of this program.
        engine_version: String,
        /// The day of the latest of the recorded runs that the tests of the elements are from, such as `2026-11-21`.
        generated_at: String,
        /// Conformance classes.
        classes: Vec<Class>,
        /// Every element of the standard: whether it is read, written and executed.
        elements: Vec<ClaimedElement>,
        /// Events by place.
        event_matrix: Vec<EventRow>,
        /// Languages of expressions, types and services.
        languages: Languages,
        /// Deviations of this program from the standard.
        deviations: Vec<Deviation>,
    }

    /// Claim about an element, and the recorded runs that used it.
    struct ClaimedElement {
        /// The claim.
        #[serde(flatten)]
        claim: ElementClaim,
        /// Recorded results, by suite, of the cases whose models use the element; suites without such a case
        /// are left out.
        tests: Vec<ElementTests>,
    }

    /// Results of a suite's cases, all or those whose models use an element.
    struct ElementTests {
        /// The suite, as in the report.
        suite: String,
        /// Number of cases by result.
        #[serde(flatten)]
        counts: CaseCounts,
    }

    /// Claims of conformance to DMN 1.5.
    struct DmnConformance {
        /// The edition of the standard.
        specification: String,
        /// The version of this program.
        engine_version: String,
        /// The day of the latest recorded run of the suites, such as `2026-11-21`.
        generated_at: String,
        /// The versions of the standard whose documents are read and written.
        versions: Versions,
        /// Conformance levels (clause 2.1).
        levels: Vec<Level>,
        /// Elements of the requirements graph, types and business context (clauses 6 and 7).
        elements: Vec<FeatureClaim>,
        /// Boxed expressions (clauses 7 and 10).
        boxed_expressions: Vec<FeatureClaim>,
        /// Parts of decision tables (clause 8).
        decision_tables: Vec<FeatureClaim>,
        /// Hit policies (clause 8.2.10).
        hit_policies: Vec<FeatureClaim>,
        /// Aggregations of the hit policy `COLLECT` (clause 8.2.10).
        aggregations: Vec<FeatureClaim>,
        /// Syntax and types of FEEL (clauses 9, 10.3.1 and 10.3.2).
        feel: Vec<FeatureClaim>,
        /// Built-in functions of FEEL (clause 10.3.4).
        functions: Vec<FeatureClaim>,
        /// Diagrams (clause 13).
        diagrams: Vec<FeatureClaim>,
        /// Recorded results of the cases of each suite of the technology compatibility kit.
        tests: Vec<ElementTests>,
        /// Deviations of this program from the standard.
        deviations: Vec<Deviation>,
    }

    /// The Common Executable sub-class (clause 2.2).
    struct CommonExecutableProfile {
        /// The edition of the standard.
        specification: String,
        /// The elements of Tables 2.3 and 2.4 with their attributes.
        elements: Vec<ProfileElement>,
        /// Extent to which each feature is executed, found by trying it.
        execution: Class,
        /// The rules that `validate` with the profile `commonExecutable` applies beyond those on every model.
        rules: Vec<Rule>,
        /// The languages that the sub-class demands, and those that are evaluated here.
        languages: Languages,
        /// A JSON Schema for definitions that keep to the elements of the sub-class.
        #[schema(value_type = AnyJson)]
        json_schema: Value,
    }

    /// The recorded results of conformance suites.
    struct ConformanceReport {
        /// The edition of the standard.
        specification: String,
        /// The version of this program.
        engine_version: String,
        /// All suites together.
        summary: CaseCounts,
        /// Each suite with each of its cases.
        suites: Vec<SuiteResult>,
    }

    /// Number of cases by result.
    struct CaseCounts {
        /// All.
        total: u64,
        /// As the suite expects.
        passed: u64,
        /// Not as the suite expects.
        failed: u64,
        /// Allowed to be refused, and refused.
        skipped: u64,
    }

    /// One suite's recorded run.
    struct SuiteResult {
        /// The suite's name.
        name: String,
        /// Subject of the suite's tests.
        about: String,
        /// SHA-256 over the suite's files (names and contents, by name), in hex.
        source_sha256: String,
        /// The commit of the code that was tried.
        commit: String,
        /// The day of the run.
        recorded_on: String,
        /// Number of cases by result.
        counts: CaseCounts,
        /// Each case.
        cases: Vec<CaseResult>,
    }

    /// One case.
    struct CaseResult {
        /// Id of the case within the suite.
        id: String,
        /// Result of the case.
        status: CaseStatus,
        /// Reason of a result other than `passed`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        reason: Option<String>,
    }
}
