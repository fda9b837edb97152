//! Rows: vector databases, their files, ingestion jobs and queries.

macro_rules! vector_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            ListVectorDatabases Get "/api/vector-databases"
                Contract VectorDatabases Preview "List vector databases"
                security(VectorDatabaseList list) entitlement(Vector) role(Vector)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(vector_databases::VectorDatabaseListQuery) body(-)
                output(List vector_databases::VectorDatabase)
                success[200] errors[400 401 402 403 423 500 503];
            CreateVectorDatabase Post "/api/vector-databases"
                Contract VectorDatabases Preview "Create a vector database"
                security(VectorDatabaseCreate all) entitlement(Vector) role(Vector)
                audit("vector_database.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT vector_databases::CreateVectorDatabase)
                output(Data vector_databases::VectorDatabase)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetAddressAvailability Get "/api/vector-databases/address-availability"
                Contract VectorDatabases Preview "Whether a name is free for a vector database"
                security(VectorDatabaseList list) entitlement(Vector) role(Vector)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(vector_databases::AddressQuery) body(-)
                output(Data vector_databases::AddressAvailability)
                success[200] errors[400 401 402 403 423 500 503];
            ListEmbeddingModels Get "/api/vector-databases/embedding-models"
                Contract VectorDatabases Preview "Embedding models that there are, and those that can be fetched"
                security(VectorDatabaseList list) entitlement(Vector) role(Vector)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data vector_databases::EmbeddingModels)
                success[200] errors[400 401 402 403 423 500 503];
            ListIngestionJobs Get "/api/vector-databases/ingestion-jobs"
                Contract VectorDatabases Preview "List ingestion jobs, the newest first"
                security(IngestionJobList list) entitlement(Vector) role(Vector)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(vector_jobs::IngestionJobListQuery) body(-)
                output(List vector_jobs::IngestionJob)
                success[200] errors[400 401 402 403 423 500 503];
            CancelIngestionJob Delete "/api/vector-databases/ingestion-jobs/{jobId}"
                Contract VectorDatabases Preview "Cancel an ingestion job; files that are done stay"
                security(IngestionJobCancel loaded "jobId") entitlement(Vector) role(Vector)
                audit("ingestion_job.cancelled")
                idempotent(yes) remediation(no) ifmatch(no)
                path(vector_jobs::IngestionJobPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            GetIngestionJob Get "/api/vector-databases/ingestion-jobs/{jobId}"
                Contract VectorDatabases Preview "Read an ingestion job with its progress"
                security(IngestionJobRead loaded "jobId") entitlement(Vector) role(Vector)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(vector_jobs::IngestionJobPath) query(NoQuery) body(-)
                output(Data vector_jobs::IngestionJob)
                success[200] errors[400 401 402 403 404 423 500 503];
            ListIngestionServers Get "/api/vector-databases/ingestion-jobs/{jobId}/servers"
                Contract VectorDatabases Preview "Servers that worked at an ingestion job"
                security(IngestionJobRead loaded "jobId") entitlement(Vector) role(Vector)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(vector_jobs::IngestionJobPath) query(NoQuery) body(-)
                output(Data vector_jobs::IngestionServers)
                success[200] errors[400 401 402 403 404 423 500 503];
            ListMethodologies Get "/api/vector-databases/methodologies"
                Contract VectorDatabases Preview "Manners of cutting files into passages and of finding them"
                security(VectorDatabaseList list) entitlement(Vector) role(Vector)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data vector_databases::Methodologies)
                success[200] errors[400 401 402 403 423 500 503];
            GetUploadPolicy Get "/api/vector-databases/upload-policy"
                Contract VectorDatabases Preview "Limits of an upload, as they are enforced"
                security(UploadPolicyRead list) entitlement(Vector) role(Vector)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data vector_files::UploadPolicy)
                success[200] errors[400 401 402 403 423 500 503];
            DeleteVectorDatabase Delete "/api/vector-databases/{name}"
                Contract VectorDatabases Preview "Delete a vector database with its files"
                security(VectorDatabaseDelete path "name") entitlement(Vector) role(Vector)
                audit("vector_database.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(vector_databases::VectorDatabasePath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 402 403 404 409 423 500 503];
            UpdateVectorDatabase Patch "/api/vector-databases/{name}"
                Contract VectorDatabases Preview "Change a vector database; another model or methodology indexes it anew"
                security(VectorDatabaseUpdate path "name") entitlement(Vector) role(Vector)
                audit("vector_database.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(vector_databases::VectorDatabasePath) query(NoQuery) body(Json JSON_LIMIT vector_databases::PatchVectorDatabase)
                output(Data vector_databases::VectorDatabase)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            ListVectorFiles Get "/api/vector-databases/{name}/files"
                Contract VectorDatabases Preview "List the files of a vector database"
                security(DocumentList list within "name") entitlement(Vector) role(Vector)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(vector_databases::VectorDatabasePath) query(vector_files::VectorFileListQuery) body(-)
                output(List vector_files::VectorFile)
                success[200] errors[400 401 402 403 404 423 500 503];
            UploadVectorFiles Post "/api/vector-databases/{name}/files"
                Contract VectorDatabases Preview "Upload files; all are taken or none"
                security(DocumentCreate all within "name") entitlement(Vector) role(Vector)
                audit("document.uploaded")
                idempotent(no) remediation(no) ifmatch(no)
                path(vector_databases::VectorDatabasePath) query(NoQuery) body(JsonOrFiles DEFINITION_LIMIT vector_files::UploadBody)
                output(Data vector_files::AcceptedUpload)
                success[202] errors[400 401 402 403 404 409 423 500 503];
            DeleteVectorFile Delete "/api/vector-databases/{name}/files/{fileId}"
                Contract VectorDatabases Preview "Delete a file with its passages"
                security(DocumentDelete path "fileId" within "name") entitlement(Vector) role(Vector)
                audit("document.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(vector_files::VectorFilePath) query(NoQuery) body(-)
                output(-)
                success[204] errors[401 402 403 404 409 423 500 503];
            UpdateVectorFile Patch "/api/vector-databases/{name}/files/{fileId}"
                Contract VectorDatabases Preview "Change a file's title, metadata or use, or read it anew"
                security(DocumentUpdate path "fileId" within "name") entitlement(Vector) role(Vector)
                audit("document.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(vector_files::VectorFilePath) query(NoQuery) body(Json JSON_LIMIT vector_files::PatchVectorFile)
                output(Data vector_files::VectorFile)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            QueryVectorDatabase Post "/api/vector-databases/{name}/query"
                Contract VectorDatabases Preview "Find passages with their citations"
                security(VectorDatabaseQuery path "name") entitlement(Vector) role(Vector)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(vector_databases::VectorDatabasePath) query(NoQuery) body(Json JSON_LIMIT vector_query::QueryRequest)
                output(Data vector_query::QueryAnswer)
                success[200] errors[400 401 402 403 404 409 423 500 503];
        }
    };
}
