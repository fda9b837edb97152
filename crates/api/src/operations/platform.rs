//! Rows: work list, runs of all workflows, decisions without a run, signals, documents and test clock.

macro_rules! platform_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            ListHumanTasks Get "/api/human-tasks"
                Platform Work Preview "The work list"
                security(HumanTaskList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(tasks::HumanTaskListQuery) body(-)
                output(List tasks::HumanTask)
                success[200] errors[400 401 402 403 423 500 503];
            AssignHumanTask Post "/api/human-tasks/{taskId}/assign"
                Platform Work Preview "Claim, delegate or release a human task"
                security(HumanTaskAssign or CaseTaskAssign loaded "runId") entitlement(Workflow) role(Workflow)
                audit("human_task.assigned")
                idempotent(no) remediation(no) ifmatch(no)
                path(tasks::TaskPath) query(NoQuery) body(Json JSON_LIMIT tasks::AssignTask)
                output(Data tasks::HumanTask)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            GetHumanTask Get "/api/human-tasks/{taskId}"
                Platform Work Preview "Read a human task with its form and the variables that it names"
                security(HumanTaskRead or CaseTaskRead loaded "runId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(tasks::TaskPath) query(NoQuery) body(-)
                output(Data tasks::HumanTaskDetail)
                success[200] errors[400 401 402 403 404 423 500 503];
            CompleteTaskById Post "/api/human-tasks/{taskId}/complete"
                Platform Work Preview "Complete a human task by its own id"
                security(RunCompleteTask or CaseCompleteTask loaded "runId") entitlement(Workflow) role(Workflow)
                audit("human_task.completed")
                idempotent(no) remediation(no) ifmatch(no)
                path(tasks::TaskPath) query(NoQuery) body(OptionalJson JSON_LIMIT tasks::CompleteOneTask)
                output(Data tasks::CompletedTask)
                success[200] errors[400 401 402 403 404 409 413 415 423 500 503];
            ListAllRuns Get "/api/runs"
                Platform Work Preview "List the runs of all workflows"
                security(RunList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(runs::AllRunsQuery) body(-)
                output(List runs::Run)
                success[200] errors[400 401 402 403 423 500 503];
            StreamEvents Get "/api/runs/events/stream"
                Platform Work Preview "Follow the events of all runs that the caller may read"
                security(RunList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(runs::AllEventsQuery) body(-)
                output(EventStream runs::OrganizationEvent)
                success[200] errors[400 401 402 403 423 500 503];
            EvaluateDecision Post "/api/workflows/{workflowId}/dmn/evaluate"
                Platform Work Preview "Evaluate a decision or decision service without a run"
                security(WorkflowRun path "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(NoQuery) body(Json JSON_LIMIT decisions::EvaluateDecision)
                output(Data decisions::EvaluatedDecision)
                success[200] errors[400 401 402 403 404 409 413 415 423 500 503];
            SendSignal Post "/api/signals"
                Platform Work Preview "Broadcast a signal to all that listen now"
                security(SignalCreate all) entitlement(Workflow) role(Workflow)
                audit("signal.sent")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT case_events::SendSignal)
                output(Data case_events::SignalResult)
                success[202] errors[400 401 402 403 409 423 500 503];
            GetCaseEvent Get "/api/case-events/{eventId}"
                Platform Cases Preview "What became of a case event"
                security(CaseEventRead some) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(case_events::CaseEventPath) query(NoQuery) body(-)
                output(Data case_events::CaseEventStatus)
                success[200] errors[400 401 402 403 404 423 500 503];
            GetContractDocument Get "/openapi.json"
                Platform Platform Preview "The contract as OpenAPI 3.2.0"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Raw "application/json")
                success[200] errors[500];
            GetPlatformDocument Get "/openapi-platform.json"
                Platform Platform Preview "What the platform adds to the contract, as OpenAPI 3.2.0"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Raw "application/json")
                success[200] errors[500];
            GetDocs Get "/docs"
                Platform Platform Preview "Both documents to read and try"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Raw "text/html")
                success[200] errors[500];
            AdvanceTestClock Post "/api/test/clock"
                Platform Platform Preview "Move the test clock"
                security(session) entitlement(-) role(-)
                audit(-)
                idempotent(no) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT health::AdvanceClock)
                output(Data health::ClockReading)
                success[200] errors[400 401 404 500];
        }
    };
}
