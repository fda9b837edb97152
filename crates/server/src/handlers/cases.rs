//! Cases: wire types to domain types and back, around the use cases.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_cases::{
    CaseFilter, CaseTransition, CaseView, FileChange, FileTransition, ItemChange, ItemTransition, StartCase,
};
use heddle_faces::case_view;
use heddle_faces::literals::case_state_of;
use heddle_kernel::{CaseTypeId, Timestamp};
use heddle_workflows::runs::EventFilter;
use serde_json::json;

use super::id_of;
use crate::audit::About;
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// GET /api/cases
pub(crate) async fn list(call: Call<ops::ListCases>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let started_by = match query.started_by.as_deref() {
        Some("me") => Some(call.context.user_id()),
        id => id_of(id, "startedBy")?,
    };
    let filter = CaseFilter {
        case_type: id_of(query.case_type_id.as_deref(), "caseTypeId")?,
        state: query.state.map(case_state_of),
        has_incident: query.has_incident,
        business_key: query.business_key,
        correlation_key: query.correlation_key,
        started_by,
        from: query.from,
        to: query.to,
        incidents_first: matches!(query.sort, Some(wire::cases::CaseSort::Incidents)),
    };
    let found = call.app.cases.list(&call.authorized, &call.context, filter, &page).await?;
    Response::list(found, page.limit, |case| case_view::row(&case))
}

/// POST /api/cases
pub(crate) async fn start(call: Call<ops::StartCase>) -> HandlerResult {
    let body = &call.body;
    let case_type: CaseTypeId = body
        .case_type_id
        .parse()
        .map_err(|_no_id| Failure::at("caseTypeId", "wrongType", "The id of a case type is needed."))?;
    let wanted = StartCase {
        version: body.version,
        definition_id: body.definition_id.clone(),
        business_key: body.business_key.clone(),
        correlation_key: body.correlation_key.clone(),
        file: body.file.clone(),
        input: body.input.clone().unwrap_or_default(),
        roles: body.roles.clone().unwrap_or_default(),
    };
    let answer = |made: &CaseView| {
        Ok(whole(201, made, call.context.now())?.with("location", format!("/api/cases/{}", made.id())))
    };
    let record = |made: &CaseView| {
        let about = About::from(&made.id().to_string()).and("case-type", made.case_type());
        call.journal_with(about, json!({ "version": made.case.version }), || answer(made))
    };
    let made = call.app.cases.start(&call.authorized, &call.context, case_type, wanted, &record).await;
    answer(&made.map_err(unknown_type)?)
}

/// A case type that is not there is a wrong member of the body, not a wrong path.
fn unknown_type(error: heddle_usecase::UseCaseError) -> Failure {
    match error {
        heddle_usecase::UseCaseError::NotFound => {
            Failure::at("caseTypeId", "notFound", "The organisation has no such case type.")
        }
        other => other.into(),
    }
}

/// GET /api/cases/{caseId}
pub(crate) async fn get(call: Call<ops::GetCase>) -> HandlerResult {
    whole(200, &call.app.cases.get(&call.authorized).await?, call.context.now())
}

/// GET /api/cases/{caseId}/events
pub(crate) async fn events(call: Call<ops::ListCaseEvents>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = EventFilter {
        after: query.after.and_then(|after| u64::try_from(after).ok()).unwrap_or(0),
        types: query.types.into_iter().flatten().map(|one| one.as_str().to_owned()).collect(),
        node_id: query.item_id,
    };
    let found = call.app.cases.events(&call.authorized, &filter, &page).await?;
    Response::list(found, page.limit, |event| event.json)
}

/// POST /api/cases/{caseId}/plan-items/{planItemId}/{transition}
pub(crate) async fn change_item(call: Call<ops::ChangePlanItem>) -> HandlerResult {
    let (body, path) = (&call.body, &call.path);
    let change = ItemChange {
        item: path.plan_item_id.clone(),
        transition: item_transition_of(path.transition),
        host: body.host.clone(),
        payload: body.payload.clone(),
    };
    let seen = call.seen(body.revision)?;
    let details = json!({ "planItemId": path.plan_item_id, "transition": path.transition });
    let record = |made: &CaseView| {
        call.journal_with(&made.id().to_string(), details.clone(), || whole(200, made, call.context.now()))
    };
    let (cases, context) = (&call.app.cases, &call.context);
    whole(200, &cases.change_item(&call.authorized, context, seen, &change, &record).await?, context.now())
}

/// POST /api/cases/{caseId}/{transition}
pub(crate) async fn change(call: Call<ops::ChangeCase>) -> HandlerResult {
    let (body, word) = (&call.body, call.path.transition);
    if body.reason.is_some() && word != wire::cases::CaseTransition::Terminate {
        return Err(Failure::at("reason", "notAllowed", "Only `terminate` takes it."));
    }
    let transition = match word {
        wire::cases::CaseTransition::Suspend => CaseTransition::Suspend,
        wire::cases::CaseTransition::Resume => CaseTransition::Resume,
        wire::cases::CaseTransition::Complete => CaseTransition::Complete,
        wire::cases::CaseTransition::Reactivate => CaseTransition::Reactivate,
        wire::cases::CaseTransition::Close => CaseTransition::Close,
        wire::cases::CaseTransition::Terminate => CaseTransition::Terminate { reason: body.reason.clone() },
    };
    let seen = call.seen(body.revision)?;
    let details = json!({ "transition": word, "reason": body.reason });
    let record = |made: &CaseView| {
        call.journal_with(&made.id().to_string(), details.clone(), || whole(200, made, call.context.now()))
    };
    let (cases, context) = (&call.app.cases, &call.context);
    whole(200, &cases.change(&call.authorized, context, seen, &transition, &record).await?, context.now())
}

/// PUT /api/cases/{caseId}/file/{itemId}
pub(crate) async fn put_file_item(call: Call<ops::PutCaseFileItem>) -> HandlerResult {
    let body = &call.body;
    let change = FileChange {
        item: call.path.item_id.clone(),
        transition: body.transition.map(file_transition_of),
        at: body.at.clone().unwrap_or_default(),
        value: body.value.clone(),
    };
    let seen = call.seen(body.revision)?;
    let details = json!({ "itemId": change.item, "transition": body.transition });
    let record = |made: &CaseView| {
        call.journal_with(&made.id().to_string(), details.clone(), || whole(200, made, call.context.now()))
    };
    let (cases, context) = (&call.app.cases, &call.context);
    whole(200, &cases.change_file(&call.authorized, context, seen, &change, &record).await?, context.now())
}

fn whole(status: u16, view: &CaseView, now: Timestamp) -> HandlerResult {
    Ok(Response::data(status, case_view::whole(view, now)?)?.tagged(view.case.revision))
}

const fn item_transition_of(word: wire::cases::PlanItemTransition) -> ItemTransition {
    match word {
        wire::cases::PlanItemTransition::ManualStart => ItemTransition::ManualStart,
        wire::cases::PlanItemTransition::Enable => ItemTransition::Enable,
        wire::cases::PlanItemTransition::Disable => ItemTransition::Disable,
        wire::cases::PlanItemTransition::Reenable => ItemTransition::Reenable,
        wire::cases::PlanItemTransition::Complete => ItemTransition::Complete,
        wire::cases::PlanItemTransition::Terminate => ItemTransition::Terminate,
        wire::cases::PlanItemTransition::Occur => ItemTransition::Occur,
        wire::cases::PlanItemTransition::Suspend => ItemTransition::Suspend,
        wire::cases::PlanItemTransition::Resume => ItemTransition::Resume,
        wire::cases::PlanItemTransition::Reactivate => ItemTransition::Reactivate,
        wire::cases::PlanItemTransition::Plan => ItemTransition::Plan,
    }
}

const fn file_transition_of(word: wire::cases::CaseFileTransition) -> FileTransition {
    match word {
        wire::cases::CaseFileTransition::Create => FileTransition::Create,
        wire::cases::CaseFileTransition::Update => FileTransition::Update,
        wire::cases::CaseFileTransition::Replace => FileTransition::Replace,
        wire::cases::CaseFileTransition::Delete => FileTransition::Delete,
        wire::cases::CaseFileTransition::AddChild => FileTransition::AddChild,
        wire::cases::CaseFileTransition::RemoveChild => FileTransition::RemoveChild,
        wire::cases::CaseFileTransition::AddReference => FileTransition::AddReference,
        wire::cases::CaseFileTransition::RemoveReference => FileTransition::RemoveReference,
    }
}
