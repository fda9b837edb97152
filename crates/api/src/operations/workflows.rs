//! Rows: workflows, runs and case events.

macro_rules! workflow_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            SubmitCaseEvent Post "/api/case-events"
                Contract CaseEvents Preview "Submit an event that is correlated to cases and runs"
                security(CaseEventCreate all) entitlement(Workflow) role(Workflow)
                audit("case.event_received")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT case_events::CreateCaseEvent)
                output(Data case_events::CaseEventResult)
                success[202] errors[400 401 402 403 409 423 500 503];
            ListWorkflows Get "/api/workflows"
                Contract Workflows Preview "List workflows"
                security(WorkflowList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(workflows::WorkflowListQuery) body(-)
                output(List workflows::Workflow)
                success[200] errors[400 401 402 403 423 500 503];
            CreateWorkflow Post "/api/workflows"
                Contract Workflows Preview "Create a workflow"
                security(WorkflowCreate kind) entitlement(Workflow) role(Workflow)
                audit("workflow.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json DEFINITION_LIMIT workflows::CreateWorkflow)
                output(Data workflows::Workflow)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetBpmnConformance Get "/api/workflows/bpmn/conformance"
                Contract Workflows Preview "Read what the service supports of BPMN 2.0.2"
                security(WorkflowList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data conformance::BpmnConformance)
                success[200] errors[400 401 402 403 423 500 503];
            GetBpmnConformanceReport Get "/api/workflows/bpmn/conformance/report"
                Contract Workflows Preview "The recorded results of the BPMN suites"
                security(WorkflowList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(conformance::ReportQuery) body(-)
                output(Document ["text/html"] conformance::ConformanceReport)
                success[200] errors[400 401 402 403 423 500 503];
            GetCommonExecutableProfile Get "/api/workflows/bpmn/profiles/common-executable"
                Contract Workflows Preview "The Common Executable sub-class of BPMN 2.0.2"
                security(WorkflowList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data conformance::CommonExecutableProfile)
                success[200] errors[400 401 402 403 423 500 503];
            GetDmnConformance Get "/api/workflows/dmn/conformance"
                Contract Workflows Preview "Read what the service supports of DMN 1.5"
                security(WorkflowList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data conformance::DmnConformance)
                success[200] errors[400 401 402 403 423 500 503];
            GetDmnConformanceReport Get "/api/workflows/dmn/conformance/report"
                Contract Workflows Preview "The recorded results of the DMN suites"
                security(WorkflowList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(conformance::ReportQuery) body(-)
                output(Document ["text/html"] conformance::ConformanceReport)
                success[200] errors[400 401 402 403 423 500 503];
            GetProtectionCatalog Get "/api/workflows/protection/catalog"
                Contract Workflows Preview "Read the presets and checks of protection"
                security(WorkflowList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data protection::ProtectionCatalog)
                success[200] errors[400 401 402 403 423 500 503];
            PreviewTransform Post "/api/workflows/transform/preview"
                Contract Workflows Preview "Preview what a file becomes as a definition"
                security(WorkflowTransform all) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(JsonOrXml DEFINITION_LIMIT transform::TransformBody)
                output(Data transform::TransformPreview)
                success[200] errors[400 401 402 403 423 500 503];
            DeleteWorkflow Delete "/api/workflows/{workflowId}"
                Contract Workflows Preview "Delete a workflow"
                security(WorkflowDelete path "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(workflows::WorkflowPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            GetWorkflow Get "/api/workflows/{workflowId}"
                Contract Workflows Preview "Read a workflow with its definition"
                security(WorkflowRead path "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(definition::VersionQuery) body(-)
                output(Data workflows::Workflow)
                success[200] errors[400 401 402 403 404 423 500 503];
            UpdateWorkflow Patch "/api/workflows/{workflowId}"
                Contract Workflows Preview "Change a workflow's name, description, slug, folder or archival"
                security(WorkflowUpdate path "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(workflows::WorkflowPath) query(NoQuery) body(Json JSON_LIMIT workflows::PatchWorkflow)
                output(Data workflows::Workflow)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            GetDecisionLogic Get "/api/workflows/{workflowId}/dmn/logic"
                Contract Workflows Preview "Read the decision model as a structure"
                security(WorkflowRead path "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(definition::VersionQuery) body(-)
                output(Data decisions::DecisionLogic)
                success[200] errors[400 401 402 403 404 423 500 503];
            SaveDecisionLogic Put "/api/workflows/{workflowId}/dmn/logic"
                Contract Workflows Preview "Replace the decision model of the draft"
                security(WorkflowUpdate path "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.dmn_logic_saved")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(workflows::WorkflowPath) query(NoQuery) body(JsonOrXml DEFINITION_LIMIT decisions::DecisionLogicBody)
                output(Data decisions::DecisionLogic)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            SaveDraft Put "/api/workflows/{workflowId}/draft"
                Contract Workflows Preview "Replace the draft"
                security(WorkflowUpdate path "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.draft_saved")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(workflows::WorkflowPath) query(NoQuery) body(Json DEFINITION_LIMIT workflows::SaveDraft)
                output(Data workflows::SavedDraft)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            ExportBpel Get "/api/workflows/{workflowId}/export/bpel"
                Contract Workflows Preview "Export as executable WS-BPEL 2.0"
                security(WorkflowExport path "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(definition::BpelQuery) body(-)
                output(Document ["application/xml" "application/zip"] definition::ExportedDocument)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            ExportBpmn Get "/api/workflows/{workflowId}/export/bpmn"
                Contract Workflows Preview "Export as BPMN 2.0 XML"
                security(WorkflowExport path "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(definition::VersionQuery) body(-)
                output(Document ["application/xml"] definition::ExportedDocument)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            ExportDmn Get "/api/workflows/{workflowId}/export/dmn"
                Contract Workflows Preview "Export the decision model as DMN 1.5 XML"
                security(WorkflowExport path "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(definition::DmnQuery) body(-)
                output(Document ["application/xml" "application/zip"] definition::ExportedDocument)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            GetImportSource Get "/api/workflows/{workflowId}/import-source"
                Contract Workflows Preview "The bytes that the workflow was imported from"
                security(WorkflowRead path "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(NoQuery) body(-)
                output(Document ["application/xml" "application/octet-stream"] definition::ExportedDocument)
                success[200] errors[400 401 402 403 404 423 500 503];
            PublishWorkflow Post "/api/workflows/{workflowId}/publish"
                Contract Workflows Preview "Publish the draft as a new version"
                security(WorkflowPublish path "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.published")
                idempotent(no) remediation(no) ifmatch(yes)
                path(workflows::WorkflowPath) query(NoQuery) body(OptionalJson JSON_LIMIT workflows::PublishWorkflow)
                output(Data workflows::WorkflowVersion)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            ListRuns Get "/api/workflows/{workflowId}/runs"
                Contract Workflows Preview "List the runs of a workflow"
                security(RunList list within "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(runs::RunListQuery) body(-)
                output(List runs::Run)
                success[200] errors[400 401 402 403 404 423 500 503];
            StartRun Post "/api/workflows/{workflowId}/runs"
                Contract Workflows Preview "Start a run"
                security(WorkflowRun path "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.run_started")
                idempotent(no) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(NoQuery) body(OptionalJson JSON_LIMIT runs::StartRun)
                output(Data runs::Run)
                success[201] errors[400 401 402 403 404 409 423 500 503];
            CancelRun Delete "/api/workflows/{workflowId}/runs/{runId}"
                Contract Workflows Preview "Cancel a run, or purge an ended one"
                security(RunCancel path "runId" within "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.run_cancelled")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(runs::RunPath) query(runs::CancelRunQuery) body(-)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            GetRun Get "/api/workflows/{workflowId}/runs/{runId}"
                Contract Workflows Preview "Read a run"
                security(RunRead path "runId" within "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(runs::RunPath) query(runs::RunQuery) body(-)
                output(Data runs::Run)
                success[200] errors[400 401 402 403 404 423 500 503];
            DecideRun Post "/api/workflows/{workflowId}/runs/{runId}/decision"
                Contract Workflows Preview "Decide what a run waits for"
                security(RunDecide path "runId" within "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.run_decided")
                idempotent(no) remediation(no) ifmatch(no)
                path(runs::RunPath) query(NoQuery) body(Json JSON_LIMIT runs::DecideRun)
                output(Data runs::Run)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            ListRunEvents Get "/api/workflows/{workflowId}/runs/{runId}/events"
                Contract Workflows Preview "List the events of a run"
                security(RunRead path "runId" within "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(runs::RunPath) query(runs::RunEventsQuery) body(-)
                output(List runs::RunEvent)
                success[200] errors[400 401 402 403 404 423 500 503];
            StreamRunEvents Get "/api/workflows/{workflowId}/runs/{runId}/events/stream"
                Contract Workflows Preview "Follow the events of a run"
                security(RunRead path "runId" within "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(runs::RunPath) query(runs::RunStreamQuery) body(-)
                output(EventStream runs::RunEvent)
                success[200] errors[400 401 402 403 404 423 500 503];
            CompleteHumanTask Post "/api/workflows/{workflowId}/runs/{runId}/human-tasks/{nodeId}/complete"
                Contract Workflows Preview "Complete a human task"
                security(RunCompleteTask path "runId" within "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.human_task_completed")
                idempotent(no) remediation(no) ifmatch(no)
                path(tasks::HumanTaskNodePath) query(NoQuery) body(OptionalJson JSON_LIMIT tasks::CompleteTask)
                output(Data tasks::CompletedTask)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            UnstarWorkflow Delete "/api/workflows/{workflowId}/star"
                Contract Workflows Preview "Take the star off"
                security(WorkflowStar path "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.unstarred")
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 402 403 404 423 500 503];
            StarWorkflow Put "/api/workflows/{workflowId}/star"
                Contract Workflows Preview "Star a workflow"
                security(WorkflowStar path "workflowId") entitlement(Workflow) role(Workflow)
                audit("workflow.starred")
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(NoQuery) body(-)
                output(Data workflows::Star)
                success[200] errors[400 401 402 403 404 423 500 503];
            ValidateWorkflow Post "/api/workflows/{workflowId}/validate"
                Contract Workflows Preview "Validate the draft or a given definition"
                security(WorkflowValidate path "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(NoQuery) body(OptionalJson DEFINITION_LIMIT workflows::ValidateWorkflow)
                output(Data workflows::Validation)
                success[200] errors[400 401 402 403 404 423 500 503];
            ListVersions Get "/api/workflows/{workflowId}/versions"
                Contract Workflows Preview "List the published versions"
                security(WorkflowRead path "workflowId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(workflows::WorkflowPath) query(envelope::PageQuery) body(-)
                output(List workflows::WorkflowVersion)
                success[200] errors[400 401 402 403 404 423 500 503];
        }
    };
}
