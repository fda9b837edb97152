//! Rows: cases, their plan items and file, and calls of services outside that become case events.

macro_rules! case_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            ListCases Get "/api/cases"
                Platform Cases Preview "List cases"
                security(CaseList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(cases::CaseListQuery) body(-)
                output(List cases::Case)
                success[200] errors[400 401 402 403 423 500 503];
            StartCase Post "/api/cases"
                Platform Cases Preview "Start a case"
                security(CaseCreate all) entitlement(Workflow) role(Workflow)
                audit("case.started")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT cases::StartCase)
                output(Data cases::Case)
                success[201] errors[400 401 402 403 409 413 415 423 500 503];
            GetCase Get "/api/cases/{caseId}"
                Platform Cases Preview "Read a case: its plan, what each item waits for, its file, tasks and incidents"
                security(CaseRead loaded "caseId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(cases::CasePath) query(NoQuery) body(-)
                output(Data cases::Case)
                success[200] errors[400 401 402 403 404 423 500 503];
            ListCaseEvents Get "/api/cases/{caseId}/events"
                Platform Cases Preview "The history of a case"
                security(CaseRead loaded "caseId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(cases::CasePath) query(cases::CaseEventsQuery) body(-)
                output(List cases::CaseHistoryEvent)
                success[200] errors[400 401 402 403 404 423 500 503];
            ChangePlanItem Post "/api/cases/{caseId}/plan-items/{planItemId}/{transition}"
                Platform Cases Preview "Move a plan item through its life cycle, or plan a discretionary item"
                security(CaseUpdate loaded "caseId") entitlement(Workflow) role(Workflow)
                audit("case.plan_item_changed")
                idempotent(no) remediation(no) ifmatch(yes)
                path(cases::PlanItemPath) query(NoQuery) body(OptionalJson JSON_LIMIT cases::ChangePlanItem)
                output(Data cases::Case)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            ChangeCase Post "/api/cases/{caseId}/{transition}"
                Platform Cases Preview "Suspend, resume, reactivate, close or terminate a case"
                security(CaseUpdate loaded "caseId") entitlement(Workflow) role(Workflow)
                audit("case.changed")
                idempotent(no) remediation(no) ifmatch(yes)
                path(cases::CaseTransitionPath) query(NoQuery) body(OptionalJson JSON_LIMIT cases::ChangeCase)
                output(Data cases::Case)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            PutCaseFileItem Put "/api/cases/{caseId}/file/{itemId}"
                Platform Cases Preview "Create, update or replace a case file item, or delete it by null"
                security(CaseUpdate loaded "caseId") entitlement(Workflow) role(Workflow)
                audit("case.file_changed")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(cases::CaseFilePath) query(NoQuery) body(Json COMPLETION_LIMIT cases::PutCaseFileItem)
                output(Data cases::Case)
                success[200] errors[400 401 402 403 404 409 413 415 423 500 503];
            ReceiveHook Post "/api/hooks/{token}"
                Platform Cases Preview "Take a call of a service outside as a case event"
                security(public) entitlement(-) role(-)
                audit("case.event_received")
                idempotent(no) remediation(yes) ifmatch(no)
                path(hooks::HookAddress) query(hooks::HookQuery) body(Json JSON_LIMIT hooks::HookBody)
                output(Data hooks::HookReceipt)
                success[202] errors[400 404 409 413 415 429 500 503];
        }
    };
}
