//! Rows: case types, their drafts and versions, and CMMN files.

macro_rules! case_type_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            ListCaseTypes Get "/api/case-types"
                Contract CaseTypes Preview "List case types"
                security(CaseTypeList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(case_types::CaseTypeListQuery) body(-)
                output(List case_types::CaseType)
                success[200] errors[400 401 402 403 423 500 503];
            CreateCaseType Post "/api/case-types"
                Contract CaseTypes Preview "Create a case type"
                security(CaseTypeCreate all) entitlement(Workflow) role(Workflow)
                audit("case_type.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json DEFINITION_LIMIT case_types::CreateCaseType)
                output(Data case_types::CaseType)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetCmmnConformance Get "/api/case-types/cmmn/conformance"
                Platform Cases Preview "Read what the service supports of CMMN 1.1"
                security(CaseTypeList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data case_types::CmmnConformance)
                success[200] errors[400 401 402 403 423 500 503];
            ImportCaseType Post "/api/case-types/import/cmmn"
                Contract CaseTypes Preview "Create a case type from a CMMN file"
                security(CaseTypeImport all) entitlement(Workflow) role(Workflow)
                audit("case_type.imported")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(JsonOrXml DEFINITION_LIMIT case_types::ImportCmmnBody)
                output(Data case_types::ImportedCaseType)
                success[201] errors[400 401 402 403 409 423 500 503];
            PreviewCaseTypeImport Post "/api/case-types/import/cmmn/preview"
                Contract CaseTypes Preview "Preview what a CMMN file becomes as a case type"
                security(CaseTypeImport all) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(JsonOrXml DEFINITION_LIMIT case_types::PreviewCmmnBody)
                output(Data case_types::CmmnPreview)
                success[200] errors[400 401 402 403 423 500 503];
            DeleteCaseType Delete "/api/case-types/{caseTypeId}"
                Contract CaseTypes Preview "Delete a case type"
                security(CaseTypeDelete path "caseTypeId") entitlement(Workflow) role(Workflow)
                audit("case_type.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(case_types::CaseTypePath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            GetCaseType Get "/api/case-types/{caseTypeId}"
                Contract CaseTypes Preview "Read a case type with its definition"
                security(CaseTypeRead path "caseTypeId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(case_types::CaseTypePath) query(definition::VersionQuery) body(-)
                output(Data case_types::CaseType)
                success[200] errors[400 401 402 403 404 423 500 503];
            UpdateCaseType Patch "/api/case-types/{caseTypeId}"
                Contract CaseTypes Preview "Change a case type's name, description, slug, folder or archival"
                security(CaseTypeUpdate path "caseTypeId") entitlement(Workflow) role(Workflow)
                audit("case_type.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(case_types::CaseTypePath) query(NoQuery) body(Json JSON_LIMIT case_types::PatchCaseType)
                output(Data case_types::CaseType)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            SaveCaseTypeDraft Put "/api/case-types/{caseTypeId}/draft"
                Contract CaseTypes Preview "Replace the draft of a case type"
                security(CaseTypeUpdate path "caseTypeId") entitlement(Workflow) role(Workflow)
                audit("case_type.draft_saved")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(case_types::CaseTypePath) query(NoQuery) body(Json DEFINITION_LIMIT case_types::SaveCaseTypeDraft)
                output(Data case_types::SavedCaseTypeDraft)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            ExportCmmn Get "/api/case-types/{caseTypeId}/export/cmmn"
                Contract CaseTypes Preview "Export as CMMN XML"
                security(CaseTypeExport path "caseTypeId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(case_types::CaseTypePath) query(definition::VersionQuery) body(-)
                output(Document ["application/xml"] definition::ExportedDocument)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            PublishCaseType Post "/api/case-types/{caseTypeId}/publish"
                Contract CaseTypes Preview "Publish the draft of a case type as a new version"
                security(CaseTypePublish path "caseTypeId") entitlement(Workflow) role(Workflow)
                audit("case_type.published")
                idempotent(no) remediation(no) ifmatch(yes)
                path(case_types::CaseTypePath) query(NoQuery) body(OptionalJson JSON_LIMIT case_types::PublishCaseType)
                output(Data case_types::CaseTypeVersion)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            ValidateCaseType Post "/api/case-types/{caseTypeId}/validate"
                Contract CaseTypes Preview "Check a case definition"
                security(CaseTypeValidate path "caseTypeId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(case_types::CaseTypePath) query(NoQuery) body(OptionalJson DEFINITION_LIMIT case_types::ValidateCaseType)
                output(Data case_types::CaseValidation)
                success[200] errors[400 401 402 403 404 423 500 503];
            ListCaseTypeVersions Get "/api/case-types/{caseTypeId}/versions"
                Contract CaseTypes Preview "List the versions of a case type"
                security(CaseTypeRead path "caseTypeId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(case_types::CaseTypePath) query(envelope::PageQuery) body(-)
                output(List case_types::CaseTypeVersion)
                success[200] errors[400 401 402 403 404 423 500 503];
        }
    };
}
