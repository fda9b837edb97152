//! Rows: work list, signals, documents and test clock.

macro_rules! platform_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            GetapiHumanTasks "getapiHumanTasks" Get "/api/human-tasks"
                Platform Work Preview "The work list"
                security(HumanTaskList all) entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(HumanTaskListQuery) body(-)
                output(List HumanTask)
                success[200] errors[400 401 402 403 423 500 503];
            PostapiHumanTasksTaskIdAssign "postapiHumanTasksTaskIdAssign" Post "/api/human-tasks/{taskId}/assign"
                Platform Work Preview "Claim, delegate or release a human task"
                security(HumanTaskAssign loaded "runId") entitlement("workflow.enabled") role("workflow")
                audit("human_task.assigned")
                idempotent(no) remediation(no) ifmatch(no)
                path(TaskPath) query(NoQuery) body(Json JSON_LIMIT AssignTask)
                output(Data HumanTask)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            PostapiSignals "postapiSignals" Post "/api/signals"
                Platform Work Preview "Broadcast a signal to all that listen now"
                security(SignalCreate all) entitlement("workflow.enabled") role("workflow")
                audit("signal.sent")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT SendSignal)
                output(Data SignalResult)
                success[202] errors[400 401 402 403 409 423 500 503];
            GetapiCaseEventsEventId "getapiCaseEventsEventId" Get "/api/case-events/{eventId}"
                Platform Cases Preview "What became of a case event"
                security(CaseEventRead all) entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(CaseEventPath) query(NoQuery) body(-)
                output(Data CaseEventStatus)
                success[200] errors[400 401 402 403 404 423 500 503];
            GetopenapiJson "getopenapiJson" Get "/openapi.json"
                Platform Platform Preview "The contract as OpenAPI 3.2.0"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Raw "application/json")
                success[200] errors[500];
            GetopenapiPlatformJson "getopenapiPlatformJson" Get "/openapi-platform.json"
                Platform Platform Preview "What the platform adds to the contract, as OpenAPI 3.2.0"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Raw "application/json")
                success[200] errors[500];
            Getdocs "getdocs" Get "/docs"
                Platform Platform Preview "Both documents to read and try"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Raw "text/html")
                success[200] errors[500];
            PostapiTestClock "postapiTestClock" Post "/api/test/clock"
                Platform Platform Preview "Move the test clock"
                security(session) entitlement(-) role(-)
                audit(-)
                idempotent(no) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT AdvanceClock)
                output(Data ClockReading)
                success[200] errors[400 401 404 500];
        }
    };
}
