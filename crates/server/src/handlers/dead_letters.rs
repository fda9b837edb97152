//! Dead letters: work that was set aside.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_faces::literals::{set_aside_reason, work_kind, work_kind_of};
use heddle_faces::run_view::{Whose, whose};
use heddle_kernel::{CaseId, CaseTypeId};
use heddle_workflows::ports::LetterFilter;
use heddle_workflows::records::DeadLetter;

use super::{either, id_of};
use crate::call::{Call, page};
use crate::reply::{HandlerResult, Response};

/// GET /api/dead-letters
pub(crate) async fn list(call: Call<ops::ListDeadLetters>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = LetterFilter {
        kind: query.kind.map(work_kind_of),
        workflow: either(
            id_of(query.workflow_id.as_deref(), "workflowId")?,
            id_of::<CaseTypeId>(query.case_type_id.as_deref(), "caseTypeId")?,
            "caseTypeId",
        )?,
        run: either(
            id_of(query.run_id.as_deref(), "runId")?,
            id_of::<CaseId>(query.case_id.as_deref(), "caseId")?,
            "caseId",
        )?,
    };
    let found = call.app.runs.dead_letters(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |letter| shown(&letter))
}

/// POST /api/dead-letters/{deadLetterId}/retry
pub(crate) async fn retry(call: Call<ops::RetryDeadLetter>) -> HandlerResult {
    let answer = |letter: &DeadLetter| Response::data(200, shown(letter));
    let record = |letter: &DeadLetter| call.journal(&letter.id.to_string(), || answer(letter));
    let letter = call.app.runs.retry_dead_letter(&call.authorized, &call.context, &record).await?;
    answer(&letter)
}

/// DELETE /api/dead-letters/{deadLetterId}
pub(crate) async fn discard(call: Call<ops::DropDeadLetter>) -> HandlerResult {
    let journal = call.audited(&call.authorized.id().to_string());
    call.app.runs.drop_dead_letter(&call.authorized, &journal).await?;
    Ok(Response::none())
}

fn shown(letter: &DeadLetter) -> wire::dead_letters::DeadLetter {
    let Whose { run_id, workflow_id, case_id, case_type_id } =
        whose(letter.instance_kind, letter.run, letter.workflow);
    wire::dead_letters::DeadLetter {
        id: letter.id.to_string(),
        kind: work_kind(letter.work.kind()),
        reason: set_aside_reason(letter.reason),
        message: letter.message.clone(),
        attempts: letter.tries.attempts,
        crashes: letter.tries.crashes,
        workflow_id,
        run_id,
        case_type_id,
        case_id,
        node_id: letter.work.node().map(str::to_owned),
        name: letter.work.name().map(str::to_owned),
        created_at: letter.created_at,
    }
}
