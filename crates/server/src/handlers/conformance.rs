//! Claims of conformance to the standards, and the evidence for them.

use heddle_api::operations::ops;
use heddle_api::wire::case_types::CmmnConformance;
use heddle_api::wire::conformance::{
    BpmnConformance, ClaimedElement, CommonExecutableProfile, ConformanceReport, DmnConformance,
    ElementTests, ReportFormat,
};
use heddle_bpmn_validate::{self as validate, Rule, RuleProfile};
use heddle_conformance::bpmn::{ElementClaim, claims};
use heddle_conformance::recorded;
use heddle_faces::evidence;

use crate::call::{Call, Meta};
use crate::failure::Failure;
use crate::gate::not_acceptable;
use crate::reply::{HandlerResult, Response};

/// GET /api/workflows/bpmn/conformance
pub(crate) async fn bpmn(_: Call<ops::GetBpmnConformance>) -> HandlerResult {
    let claims = claims();
    let claimed = |claim: &ElementClaim| {
        Ok(ClaimedElement { claim: claim.clone(), tests: evidence::tests(claim.element)? })
    };
    let elements: Result<Vec<_>, &'static str> = claims.elements.iter().map(claimed).collect();
    Response::data(
        200,
        BpmnConformance {
            specification: claims.specification.to_owned(),
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            classes: claims.classes.clone(),
            generated_at: recorded::latest(recorded::bpmn().map_err(Failure::internal)?),
            elements: elements.map_err(Failure::internal)?,
            event_matrix: claims.event_matrix.clone(),
            languages: claims.languages,
            deviations: claims.deviations.to_vec(),
        },
    )
}

/// GET /api/workflows/bpmn/profiles/common-executable
pub(crate) async fn common_executable(_: Call<ops::GetCommonExecutableProfile>) -> HandlerResult {
    let claims = claims();
    let class = claims.classes.iter().find(|class| class.id == "processModeling.commonExecutable");
    let execution = class.ok_or_else(|| Failure::internal("the claims lack the sub-class"))?.clone();
    let own = |rule: &&Rule| rule.profile == RuleProfile::CommonExecutable;
    Response::data(
        200,
        CommonExecutableProfile {
            specification: claims.specification.to_owned(),
            elements: heddle_conformance::profile::common_executable(),
            execution,
            rules: validate::rules().iter().filter(own).copied().collect(),
            languages: claims.languages,
            json_schema: validate::common_executable_schema(),
        },
    )
}

/// GET /api/workflows/dmn/conformance
pub(crate) async fn dmn(_: Call<ops::GetDmnConformance>) -> HandlerResult {
    let claims = heddle_conformance::dmn::claims();
    let report = evidence::dmn().map_err(Failure::internal)?;
    let tests = report.suites.iter();
    let tests = tests.map(|suite| ElementTests { suite: suite.name.clone(), counts: suite.counts.clone() });
    Response::data(
        200,
        DmnConformance {
            specification: claims.specification.to_owned(),
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            generated_at: recorded::latest(recorded::dmn().map_err(Failure::internal)?),
            versions: claims.versions.clone(),
            levels: claims.levels.clone(),
            elements: claims.elements.clone(),
            boxed_expressions: claims.boxed_expressions.clone(),
            decision_tables: claims.decision_tables.clone(),
            hit_policies: claims.hit_policies.clone(),
            aggregations: claims.aggregations.clone(),
            feel: claims.feel.clone(),
            functions: claims.functions.clone(),
            diagrams: claims.diagrams.clone(),
            tests: tests.collect(),
            deviations: claims.deviations.clone(),
        },
    )
}

/// GET /api/case-types/cmmn/conformance
pub(crate) async fn cmmn(_: Call<ops::GetCmmnConformance>) -> HandlerResult {
    let claims = heddle_conformance::cmmn::claims();
    Response::data(
        200,
        CmmnConformance {
            specification: claims.specification.to_owned(),
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            elements: claims.elements.clone(),
            deviations: claims.deviations.clone(),
        },
    )
}

/// GET /api/workflows/bpmn/conformance/report
pub(crate) async fn bpmn_report(call: Call<ops::GetBpmnConformanceReport>) -> HandlerResult {
    report(evidence::bpmn(), call.query.format, &call.meta)
}

/// GET /api/workflows/dmn/conformance/report
pub(crate) async fn dmn_report(call: Call<ops::GetDmnConformanceReport>) -> HandlerResult {
    report(evidence::dmn(), call.query.format, &call.meta)
}

fn report(
    report: Result<&'static ConformanceReport, &'static str>,
    format: Option<ReportFormat>,
    meta: &Meta,
) -> HandlerResult {
    let report = report.map_err(Failure::internal)?;
    let for_people = format.map_or_else(|| meta.wants_html(), |format| format == ReportFormat::Html);
    let media = if for_people { "text/html" } else { "application/json" };
    if !meta.accept.takes(media) {
        return Err(not_acceptable(&[media]));
    }
    if for_people { Ok(Response::page(evidence::page(report))) } else { Response::data(200, report) }
}
