//! Rows: what clients of other products call.

macro_rules! compatibility_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            FetchExternalTasks Post "/engine-rest/external-task/fetchAndLock"
                Compatibility Camunda7 Preview "Fetch external tasks and lock them for a worker"
                security(JobActivate some) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT camunda7::FetchTasks)
                output(BareList camunda7::LockedTask)
                success[200] errors[400 401 402 403 423 500 503];
            CompleteExternalTask Post "/engine-rest/external-task/{id}/complete"
                Compatibility Camunda7 Preview "Complete an external task"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(camunda7::TaskPath) query(NoQuery) body(Json COMPLETION_LIMIT camunda7::CompleteTask)
                output(-)
                success[204] errors[400 401 402 403 404 423 500 503];
            FailExternalTask Post "/engine-rest/external-task/{id}/failure"
                Compatibility Camunda7 Preview "Say that an external task failed"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(camunda7::TaskPath) query(NoQuery) body(Json JSON_LIMIT camunda7::TaskFailure)
                output(-)
                success[204] errors[400 401 402 403 404 423 500 503];
            ThrowExternalTaskError Post "/engine-rest/external-task/{id}/bpmnError"
                Compatibility Camunda7 Preview "Throw a BPMN error at an external task"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(camunda7::TaskPath) query(NoQuery) body(Json COMPLETION_LIMIT camunda7::TaskError)
                output(-)
                success[204] errors[400 401 402 403 404 423 500 503];
            ExtendExternalTaskLock Post "/engine-rest/external-task/{id}/extendLock"
                Compatibility Camunda7 Preview "Hold an external task for longer"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(camunda7::TaskPath) query(NoQuery) body(Json JSON_LIMIT camunda7::ExtendLock)
                output(-)
                success[204] errors[400 401 402 403 404 423 500 503];
            UnlockExternalTask Post "/engine-rest/external-task/{id}/unlock"
                Compatibility Camunda7 Preview "Give an external task back"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(camunda7::TaskPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 402 403 404 423 500 503];
            ActivateCamundaJobs Post "/v2/jobs/activation"
                Compatibility Camunda8 Preview "Activate jobs for a worker"
                security(JobActivate some) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT camunda8::JobActivation)
                output(Bare camunda8::ActivatedJobs)
                success[200] errors[400 401 402 403 423 500 503];
            CompleteCamundaJob Post "/v2/jobs/{jobKey}/completion"
                Compatibility Camunda8 Preview "Complete a job"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(camunda8::JobPath) query(NoQuery) body(OptionalJson COMPLETION_LIMIT camunda8::JobCompletion)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            FailCamundaJob Post "/v2/jobs/{jobKey}/failure"
                Compatibility Camunda8 Preview "Say that a job failed"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(camunda8::JobPath) query(NoQuery) body(OptionalJson JSON_LIMIT camunda8::JobFailure)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            ThrowCamundaJobError Post "/v2/jobs/{jobKey}/error"
                Compatibility Camunda8 Preview "Throw a BPMN error at a job"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(camunda8::JobPath) query(NoQuery) body(Json COMPLETION_LIMIT camunda8::JobError)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            UpdateCamundaJob Patch "/v2/jobs/{jobKey}"
                Compatibility Camunda8 Preview "Set a job's retries or the time that it is held for"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(camunda8::JobPath) query(NoQuery) body(Json JSON_LIMIT camunda8::JobUpdate)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            CreateProcessInstance Post "/v2/process-instances"
                Compatibility Camunda8 Preview "Start a run of a published process"
                security(WorkflowRun named "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.run_started")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT camunda8::InstanceCreation)
                output(Bare camunda8::CreatedInstance)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            PublishMessage Post "/v2/messages/publication"
                Compatibility Camunda8 Preview "Publish a message, kept for its time to live"
                security(CaseEventCreate all) entitlement(Workflow) role(Workflow)
                audit("case.event_received")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT camunda8::MessagePublication)
                output(Bare camunda8::PublishedMessage)
                success[200] errors[400 401 402 403 409 423 500 503];
            CorrelateMessage Post "/v2/messages/correlation"
                Compatibility Camunda8 Preview "Give a message to a run that waits for it now"
                security(CaseEventCreate all) entitlement(Workflow) role(Workflow)
                audit("case.event_received")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT camunda8::MessageCorrelation)
                output(Bare camunda8::CorrelatedMessage)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            BroadcastSignal Post "/v2/signals/broadcast"
                Compatibility Camunda8 Preview "Broadcast a signal"
                security(SignalCreate all) entitlement(Workflow) role(Workflow)
                audit("signal.sent")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT camunda8::SignalBroadcast)
                output(Bare camunda8::BroadcastSignal)
                success[200] errors[400 401 402 403 423 500 503];
            GetTopology Get "/v2/topology"
                Compatibility Camunda8 Preview "What answers here"
                security(TopologyRead list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Bare camunda8::Topology)
                success[200] errors[401 403 423 500 503];
        }
    };
}
