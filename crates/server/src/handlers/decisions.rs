//! The decision model of a workflow as a structure, and its decisions without a run.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_policy::capability::WorkflowRead;
use heddle_usecase::UseCaseError;
use heddle_workflows::definitions::{DecisionLogic, LogicSource, SavedLogic, VersionChoice};
use heddle_workflows::records::WorkflowView;
use heddle_workflows::runs::DecisionCall;

use super::workflows::version_choice;
use crate::call::Call;
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// GET /api/workflows/{workflowId}/dmn/logic
pub(crate) async fn logic(call: Call<ops::GetDecisionLogic>) -> HandlerResult {
    let choice = version_choice(call.query.version.as_deref())?;
    let (view, logic) = call.app.definitions.decision_logic(&call.authorized, &call.context, choice).await?;
    answer(&view, &logic)
}

/// POST /api/workflows/{workflowId}/dmn/evaluate
pub(crate) async fn evaluate(call: Call<ops::EvaluateDecision>) -> HandlerResult {
    let body = call.body;
    let version = match &body.version {
        None => VersionChoice::Published,
        Some(wire::decisions::VersionName::Word(word)) => version_choice(Some(word.as_str()))?,
        Some(wire::decisions::VersionName::Number(number)) => {
            version_choice(Some(number.to_string().as_str()))?
        }
    };
    // What is not published is for those who may read it.
    if version == VersionChoice::Draft {
        let key = call.authorized.key().clone();
        if call.context.snapshot().authorize_key::<WorkflowRead>(key).is_err() {
            let message = "The draft is evaluated for those who may read the workflow.";
            return Err(UseCaseError::forbidden("draftNotReadable", message).into());
        }
    }
    let asked = DecisionCall {
        decision: body.decision,
        version,
        input: body.input,
        explain: body.explain.unwrap_or(false),
    };
    let told = call.app.runs.evaluate(&call.authorized, &call.context, asked).await?;
    let truncated = told.truncated;
    let data = wire::decisions::EvaluatedDecision {
        workflow_id: call.authorized.id().to_string(),
        version: told.version,
        decision: wire::decisions::DecisionElement {
            id: told.id,
            name: told.name,
            kind: match told.is_service {
                true => wire::decisions::DecisionKind::DecisionService,
                false => wire::decisions::DecisionKind::Decision,
            },
        },
        output: told.output,
        reasons: told.reasons,
        explanation: told
            .decisions
            .map(|decisions| wire::decisions::DecisionsExplained { decisions, truncated }),
    };
    Response::data(200, data)
}

/// PUT /api/workflows/{workflowId}/dmn/logic
pub(crate) async fn save_logic(call: Call<ops::SaveDecisionLogic>) -> HandlerResult {
    let (source, revision) = match &call.body {
        wire::decisions::DecisionLogicBody::Xml(bytes) => (LogicSource::Document(bytes.clone()), None),
        wire::decisions::DecisionLogicBody::Json(request) => {
            let revision = request.revision;
            let (mut model, given) = wire::decisions::SaveDecisionLogic::clone(request).model();
            let source = match model.source_xml.take() {
                None if !given => {
                    let message = "The document (`sourceXml`) or members of the structure, such as `decisions`, are needed.";
                    return Err(Failure::at("sourceXml", "required", message));
                }
                Some(text) if !given => LogicSource::Document(text.into_bytes()),
                source_xml => {
                    model.source_xml = source_xml;
                    LogicSource::Structure(Box::new(model))
                }
            };
            (source, revision)
        }
    };
    let saved = SavedLogic { source, revision: call.seen(revision)? };
    let id = call.authorized.id();
    let record =
        |(view, logic): &(WorkflowView, DecisionLogic)| call.journal(&id.to_string(), || answer(view, logic));
    let (view, logic) =
        call.app.definitions.save_decision_logic(&call.authorized, &call.context, saved, &record).await?;
    answer(&view, &logic)
}

fn answer(view: &WorkflowView, logic: &DecisionLogic) -> HandlerResult {
    let model = logic.model.clone();
    let imported = logic.imported.iter().cloned();
    let imported =
        imported.map(|(namespace, file_name)| wire::decisions::ImportedDecisions { namespace, file_name });
    let revision = view.definition.revision;
    let data = wire::decisions::DecisionLogic {
        id: model.id,
        name: model.name,
        description: model.description,
        namespace: model.namespace,
        label: model.label,
        expression_language: model.expression_language,
        type_language: model.type_language,
        exporter: model.exporter,
        exporter_version: model.exporter_version,
        source_xml: model.source_xml,
        version: logic.version.clone(),
        imports: model.imports,
        item_definitions: model.item_definitions,
        input_data: model.input_data,
        decisions: model.decisions,
        business_knowledge_models: model.business_knowledge_models,
        decision_services: model.decision_services,
        knowledge_sources: model.knowledge_sources,
        text_annotations: model.text_annotations,
        associations: model.associations,
        groups: model.groups,
        element_collections: model.element_collections,
        performance_indicators: model.performance_indicators,
        organization_units: model.organization_units,
        imported_documents: imported.collect(),
        diagnostics: logic.diagnostics.iter().cloned().map(Into::into).collect(),
        revision: revision.0,
        draft_revision: view.definition.draft_revision.0,
    };
    Ok(Response::data(200, data)?.tagged(revision))
}
