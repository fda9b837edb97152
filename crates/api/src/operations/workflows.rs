//! Rows: workflows, runs and case events.

macro_rules! workflow_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            PostapiCaseEvents "postapiCaseEvents" Post "/api/case-events"
                Contract CaseEvents Preview "Submit an event that is correlated to cases and runs"
                security(CaseEventCreate all) entitlement("workflow.enabled") role("workflow")
                audit("case.event_received")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT CreateCaseEvent)
                output(Data CaseEventResult)
                success[202] errors[400 401 402 403 409 423 500 503];
            GetapiWorkflows "getapiWorkflows" Get "/api/workflows"
                Contract Workflows Preview "List workflows"
                security(WorkflowList all) entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(WorkflowListQuery) body(-)
                output(List Workflow)
                success[200] errors[400 401 402 403 423 500 503];
            PostapiWorkflows "postapiWorkflows" Post "/api/workflows"
                Contract Workflows Preview "Create a workflow"
                security(WorkflowCreate one) entitlement("workflow.enabled") role("workflow")
                audit("workflow.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json DEFINITION_LIMIT CreateWorkflow)
                output(Data Workflow)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetapiWorkflowsBpmnConformance "getapiWorkflowsBpmnConformance" Get "/api/workflows/bpmn/conformance"
                Contract Workflows Preview "What is claimed of BPMN 2.0.2"
                security(WorkflowList all) entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data BpmnConformance)
                success[200] errors[400 401 402 403 423 500 503];
            GetapiWorkflowsBpmnConformanceReport "getapiWorkflowsBpmnConformanceReport" Get "/api/workflows/bpmn/conformance/report"
                Contract Workflows Preview "The recorded results of the BPMN suites"
                security(WorkflowList all) entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(ReportQuery) body(-)
                output(Document ["text/html"] ConformanceReport)
                success[200] errors[400 401 402 403 423 500 503];
            GetapiWorkflowsBpmnProfilesCommonExecutable "getapiWorkflowsBpmnProfilesCommonExecutable" Get "/api/workflows/bpmn/profiles/common-executable"
                Contract Workflows Preview "The Common Executable sub-class of BPMN 2.0.2"
                security(WorkflowList all) entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data CommonExecutableProfile)
                success[200] errors[400 401 402 403 423 500 503];
            GetapiWorkflowsDmnConformance "getapiWorkflowsDmnConformance" Get "/api/workflows/dmn/conformance"
                Contract Workflows Preview "What is claimed of DMN 1.5"
                security(WorkflowList all) entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data DmnConformance)
                success[200] errors[400 401 402 403 423 500 503];
            GetapiWorkflowsDmnConformanceReport "getapiWorkflowsDmnConformanceReport" Get "/api/workflows/dmn/conformance/report"
                Contract Workflows Preview "The recorded results of the DMN suites"
                security(WorkflowList all) entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(ReportQuery) body(-)
                output(Document ["text/html"] ConformanceReport)
                success[200] errors[400 401 402 403 423 500 503];
            PostapiWorkflowsTransformPreview "postapiWorkflowsTransformPreview" Post "/api/workflows/transform/preview"
                Contract Workflows Preview "Preview what a file becomes as a definition"
                security(WorkflowTransform all) entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(JsonOrXml DEFINITION_LIMIT TransformBody)
                output(Data TransformPreview)
                success[200] errors[400 401 402 403 423 500 503];
            DeleteapiWorkflowsWorkflowId "deleteapiWorkflowsWorkflowId" Delete "/api/workflows/{workflowId}"
                Contract Workflows Preview "Delete a workflow"
                security(WorkflowDelete path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(WorkflowPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            GetapiWorkflowsWorkflowId "getapiWorkflowsWorkflowId" Get "/api/workflows/{workflowId}"
                Contract Workflows Preview "Read a workflow with its definition"
                security(WorkflowRead path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(VersionQuery) body(-)
                output(Data Workflow)
                success[200] errors[400 401 402 403 404 423 500 503];
            PatchapiWorkflowsWorkflowId "patchapiWorkflowsWorkflowId" Patch "/api/workflows/{workflowId}"
                Contract Workflows Preview "Change a workflow's name, description, slug, folder or archival"
                security(WorkflowUpdate path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(WorkflowPath) query(NoQuery) body(Json JSON_LIMIT PatchWorkflow)
                output(Data Workflow)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            GetapiWorkflowsWorkflowIdDmnLogic "getapiWorkflowsWorkflowIdDmnLogic" Get "/api/workflows/{workflowId}/dmn/logic"
                Contract Workflows Preview "Read the decision model as a structure"
                security(WorkflowRead path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(VersionQuery) body(-)
                output(Data DecisionLogic)
                success[200] errors[400 401 402 403 404 423 500 503];
            PutapiWorkflowsWorkflowIdDmnLogic "putapiWorkflowsWorkflowIdDmnLogic" Put "/api/workflows/{workflowId}/dmn/logic"
                Contract Workflows Preview "Replace the decision model of the draft"
                security(WorkflowUpdate path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.dmn_logic_saved")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(WorkflowPath) query(NoQuery) body(JsonOrXml DEFINITION_LIMIT DecisionLogicBody)
                output(Data DecisionLogic)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            PutapiWorkflowsWorkflowIdDraft "putapiWorkflowsWorkflowIdDraft" Put "/api/workflows/{workflowId}/draft"
                Contract Workflows Preview "Replace the draft"
                security(WorkflowUpdate path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.draft_saved")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(WorkflowPath) query(NoQuery) body(Json DEFINITION_LIMIT SaveDraft)
                output(Data SavedDraft)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            GetapiWorkflowsWorkflowIdExportBpel "getapiWorkflowsWorkflowIdExportBpel" Get "/api/workflows/{workflowId}/export/bpel"
                Contract Workflows Preview "Export as executable WS-BPEL 2.0"
                security(WorkflowExport path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(BpelQuery) body(-)
                output(Document ["application/xml" "application/zip"] ExportedDocument)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            GetapiWorkflowsWorkflowIdExportBpmn "getapiWorkflowsWorkflowIdExportBpmn" Get "/api/workflows/{workflowId}/export/bpmn"
                Contract Workflows Preview "Export as BPMN 2.0 XML"
                security(WorkflowExport path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(VersionQuery) body(-)
                output(Document ["application/xml"] ExportedDocument)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            GetapiWorkflowsWorkflowIdExportDmn "getapiWorkflowsWorkflowIdExportDmn" Get "/api/workflows/{workflowId}/export/dmn"
                Contract Workflows Preview "Export the decision model as DMN 1.5 XML"
                security(WorkflowExport path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(DmnQuery) body(-)
                output(Document ["application/xml" "application/zip"] ExportedDocument)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            GetapiWorkflowsWorkflowIdImportSource "getapiWorkflowsWorkflowIdImportSource" Get "/api/workflows/{workflowId}/import-source"
                Contract Workflows Preview "The bytes that the workflow was imported from"
                security(WorkflowRead path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(NoQuery) body(-)
                output(Document ["application/xml" "application/octet-stream"] ExportedDocument)
                success[200] errors[400 401 402 403 404 423 500 503];
            PostapiWorkflowsWorkflowIdPublish "postapiWorkflowsWorkflowIdPublish" Post "/api/workflows/{workflowId}/publish"
                Contract Workflows Preview "Publish the draft as a new version"
                security(WorkflowPublish path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.published")
                idempotent(no) remediation(no) ifmatch(yes)
                path(WorkflowPath) query(NoQuery) body(OptionalJson JSON_LIMIT PublishWorkflow)
                output(Data WorkflowVersion)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            GetapiWorkflowsWorkflowIdRuns "getapiWorkflowsWorkflowIdRuns" Get "/api/workflows/{workflowId}/runs"
                Contract Workflows Preview "List the runs of a workflow"
                security(RunList all) entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(RunListQuery) body(-)
                output(List Run)
                success[200] errors[400 401 402 403 404 423 500 503];
            PostapiWorkflowsWorkflowIdRuns "postapiWorkflowsWorkflowIdRuns" Post "/api/workflows/{workflowId}/runs"
                Contract Workflows Preview "Start a run"
                security(WorkflowRun path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.run_started")
                idempotent(no) remediation(no) ifmatch(no)
                path(WorkflowPath) query(NoQuery) body(OptionalJson JSON_LIMIT StartRun)
                output(Data Run)
                success[201] errors[400 401 402 403 404 409 423 500 503];
            DeleteapiWorkflowsWorkflowIdRunsRunId "deleteapiWorkflowsWorkflowIdRunsRunId" Delete "/api/workflows/{workflowId}/runs/{runId}"
                Contract Workflows Preview "Cancel a run, or purge an ended one"
                security(RunCancel path "runId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.run_cancelled")
                idempotent(yes) remediation(no) ifmatch(no)
                path(RunPath) query(CancelRunQuery) body(-)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            GetapiWorkflowsWorkflowIdRunsRunId "getapiWorkflowsWorkflowIdRunsRunId" Get "/api/workflows/{workflowId}/runs/{runId}"
                Contract Workflows Preview "Read a run"
                security(RunRead path "runId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(RunPath) query(RunQuery) body(-)
                output(Data Run)
                success[200] errors[400 401 402 403 404 423 500 503];
            PostapiWorkflowsWorkflowIdRunsRunIdDecision "postapiWorkflowsWorkflowIdRunsRunIdDecision" Post "/api/workflows/{workflowId}/runs/{runId}/decision"
                Contract Workflows Preview "Decide what a run waits for"
                security(RunDecide path "runId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.run_decided")
                idempotent(no) remediation(no) ifmatch(no)
                path(RunPath) query(NoQuery) body(Json JSON_LIMIT DecideRun)
                output(Data Run)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            GetapiWorkflowsWorkflowIdRunsRunIdEvents "getapiWorkflowsWorkflowIdRunsRunIdEvents" Get "/api/workflows/{workflowId}/runs/{runId}/events"
                Contract Workflows Preview "List the events of a run"
                security(RunRead path "runId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(RunPath) query(RunEventsQuery) body(-)
                output(List RunEvent)
                success[200] errors[400 401 402 403 404 423 500 503];
            GetapiWorkflowsWorkflowIdRunsRunIdEventsStream "getapiWorkflowsWorkflowIdRunsRunIdEventsStream" Get "/api/workflows/{workflowId}/runs/{runId}/events/stream"
                Contract Workflows Preview "Follow the events of a run"
                security(RunRead path "runId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(RunPath) query(RunStreamQuery) body(-)
                output(EventStream RunEvent)
                success[200] errors[400 401 402 403 404 423 500 503];
            PostapiWorkflowsWorkflowIdRunsRunIdHumanTasksNodeIdComplete "postapiWorkflowsWorkflowIdRunsRunIdHumanTasksNodeIdComplete" Post "/api/workflows/{workflowId}/runs/{runId}/human-tasks/{nodeId}/complete"
                Contract Workflows Preview "Complete a human task"
                security(RunCompleteTask path "runId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.human_task_completed")
                idempotent(no) remediation(no) ifmatch(no)
                path(HumanTaskNodePath) query(NoQuery) body(OptionalJson JSON_LIMIT CompleteTask)
                output(Data CompletedTask)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            DeleteapiWorkflowsWorkflowIdStar "deleteapiWorkflowsWorkflowIdStar" Delete "/api/workflows/{workflowId}/star"
                Contract Workflows Preview "Take the star off"
                security(WorkflowStar path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.unstarred")
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 402 403 404 423 500 503];
            PutapiWorkflowsWorkflowIdStar "putapiWorkflowsWorkflowIdStar" Put "/api/workflows/{workflowId}/star"
                Contract Workflows Preview "Star a workflow"
                security(WorkflowStar path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit("workflow.starred")
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(NoQuery) body(-)
                output(Data Star)
                success[200] errors[400 401 402 403 404 423 500 503];
            PostapiWorkflowsWorkflowIdValidate "postapiWorkflowsWorkflowIdValidate" Post "/api/workflows/{workflowId}/validate"
                Contract Workflows Preview "Validate the draft or a given definition"
                security(WorkflowValidate path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(NoQuery) body(OptionalJson DEFINITION_LIMIT ValidateWorkflow)
                output(Data Validation)
                success[200] errors[400 401 402 403 404 423 500 503];
            GetapiWorkflowsWorkflowIdVersions "getapiWorkflowsWorkflowIdVersions" Get "/api/workflows/{workflowId}/versions"
                Contract Workflows Preview "List the published versions"
                security(WorkflowRead path "workflowId") entitlement("workflow.enabled") role("workflow")
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(WorkflowPath) query(PageQuery) body(-)
                output(List WorkflowVersion)
                success[200] errors[400 401 402 403 404 423 500 503];
        }
    };
}
