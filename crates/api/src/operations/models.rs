//! Rows: providers of models, their connections and deployments; chat and embeddings; and what they have used.

macro_rules! model_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            ListModelProviderTypes Get "/api/model-providers/types"
                Contract ModelsAndInference Preview "Types of providers, with what each can do and needs"
                security(ModelProviderList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data model_connections::ModelProviderTypes)
                success[200] errors[400 401 403 423 500 503];
            ListModelConnections Get "/api/model-providers/connections"
                Contract ModelsAndInference Preview "List connections to providers"
                security(ModelConnectionList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(model_connections::ModelConnectionListQuery) body(-)
                output(List model_connections::ModelConnection)
                success[200] errors[400 401 403 423 500 503];
            CreateModelConnection Post "/api/model-providers/connections"
                Contract ModelsAndInference Preview "Create a connection to a provider; its key is sealed and never shown"
                security(ModelConnectionCreate all) entitlement(-) role(-)
                audit("model_connection.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT model_connections::CreateModelConnection)
                output(Data model_connections::ModelConnection)
                success[201] errors[400 401 403 409 423 500 503];
            DeleteModelConnection Delete "/api/model-providers/connections/{connectionId}"
                Contract ModelsAndInference Preview "Delete a connection to a provider with its key"
                security(ModelConnectionDelete path "connectionId") entitlement(-) role(-)
                audit("model_connection.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(model_connections::ModelConnectionPath) query(model_connections::DeleteModelConnectionQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            GetModelConnection Get "/api/model-providers/connections/{connectionId}"
                Contract ModelsAndInference Preview "Read a connection to a provider"
                security(ModelConnectionRead path "connectionId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(model_connections::ModelConnectionPath) query(NoQuery) body(-)
                output(Data model_connections::ModelConnection)
                success[200] errors[400 401 403 404 423 500 503];
            UpdateModelConnection Patch "/api/model-providers/connections/{connectionId}"
                Contract ModelsAndInference Preview "Change a connection to a provider"
                security(ModelConnectionUpdate path "connectionId") entitlement(-) role(-)
                audit("model_connection.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(model_connections::ModelConnectionPath) query(NoQuery) body(Json JSON_LIMIT model_connections::PatchModelConnection)
                output(Data model_connections::ModelConnection)
                success[200] errors[400 401 403 404 409 423 500 503];
            CreateDeployment Post "/api/model-providers/connections/{connectionId}/deployments"
                Contract ModelsAndInference Preview "Deploy a model of a provider under a name of the organisation's own"
                security(DeploymentCreate all) entitlement(-) role(-)
                audit("deployment.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(model_connections::ModelConnectionPath) query(NoQuery) body(Json JSON_LIMIT model_deployments::CreateDeployment)
                output(Data model_deployments::Deployment)
                success[201] errors[400 401 403 404 409 423 500 503];
            ListProviderModels Get "/api/model-providers/connections/{connectionId}/models"
                Contract ModelsAndInference Preview "List a provider's models as they were last discovered"
                security(ModelConnectionRead path "connectionId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(model_connections::ModelConnectionPath) query(model_connections::ProviderModelListQuery) body(-)
                output(List model_connections::ProviderModel)
                success[200] errors[400 401 403 404 423 500 503];
            DiscoverModels Post "/api/model-providers/connections/{connectionId}/models/discover"
                Contract ModelsAndInference Preview "Ask a provider which models it has"
                security(ModelConnectionDiscover path "connectionId") entitlement(-) role(-)
                audit("model_connection.models_discovered")
                idempotent(yes) remediation(no) ifmatch(no)
                path(model_connections::ModelConnectionPath) query(NoQuery) body(-)
                output(Data model_connections::DiscoveredModels)
                success[200] errors[400 401 403 404 409 423 500 503];
            ImportModels Post "/api/model-providers/connections/{connectionId}/models/import"
                Contract ModelsAndInference Preview "Deploy several models of a provider at once"
                security(ModelConnectionImport path "connectionId") entitlement(-) role(-)
                audit("model_connection.models_imported")
                idempotent(no) remediation(no) ifmatch(no)
                path(model_connections::ModelConnectionPath) query(NoQuery) body(Json JSON_LIMIT model_connections::ImportModels)
                output(Data model_connections::ImportedModels)
                success[201] errors[400 401 403 404 409 423 500 503];
            TestModelConnection Post "/api/model-providers/connections/{connectionId}/test"
                Contract ModelsAndInference Preview "Try whether a provider is reached and lets the service in"
                security(ModelConnectionTest path "connectionId") entitlement(-) role(-)
                audit("model_connection.tested")
                idempotent(no) remediation(no) ifmatch(no)
                path(model_connections::ModelConnectionPath) query(NoQuery) body(-)
                output(Data model_connections::ModelConnectionTest)
                success[200] errors[400 401 403 404 409 423 500 503];
            ListDeployments Get "/api/model-providers/deployments"
                Contract ModelsAndInference Preview "List deployments"
                security(DeploymentList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(model_deployments::DeploymentListQuery) body(-)
                output(List model_deployments::Deployment)
                success[200] errors[400 401 403 423 500 503];
            SyncLocalDeployments Post "/api/model-providers/deployments/sync-local"
                Contract ModelsAndInference Preview "Bring deployments in line with what runs locally"
                security(DeploymentSync all) entitlement(-) role(-)
                audit("deployment.local_synced")
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(OptionalJson JSON_LIMIT model_deployments::SyncLocal)
                output(Data model_deployments::LocalSync)
                success[200] errors[400 401 403 409 423 500 503];
            DeleteDeployment Delete "/api/model-providers/deployments/{deploymentId}"
                Contract ModelsAndInference Preview "Delete a deployment"
                security(DeploymentDelete path "deploymentId") entitlement(-) role(-)
                audit("deployment.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(model_deployments::DeploymentPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            GetDeployment Get "/api/model-providers/deployments/{deploymentId}"
                Contract ModelsAndInference Preview "Read a deployment"
                security(DeploymentRead path "deploymentId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(model_deployments::DeploymentPath) query(NoQuery) body(-)
                output(Data model_deployments::Deployment)
                success[200] errors[400 401 403 404 423 500 503];
            UpdateDeployment Patch "/api/model-providers/deployments/{deploymentId}"
                Contract ModelsAndInference Preview "Change a deployment"
                security(DeploymentUpdate path "deploymentId") entitlement(-) role(-)
                audit("deployment.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(model_deployments::DeploymentPath) query(NoQuery) body(Json JSON_LIMIT model_deployments::PatchDeployment)
                output(Data model_deployments::Deployment)
                success[200] errors[400 401 403 404 409 423 500 503];
            SetDeploymentMemory Put "/api/model-providers/deployments/{deploymentId}/memory"
                Contract ModelsAndInference Preview "Say whether a local model stays in memory"
                security(DeploymentUpdate path "deploymentId") entitlement(-) role(-)
                audit("deployment.memory_set")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(model_deployments::DeploymentPath) query(NoQuery) body(Json JSON_LIMIT model_deployments::SetMemory)
                output(Data model_deployments::Deployment)
                success[200] errors[400 401 403 404 409 423 500 503];
            SetDeploymentPreload Put "/api/model-providers/deployments/{deploymentId}/preload"
                Contract ModelsAndInference Preview "Say whether a local model is loaded now and at every start"
                security(DeploymentUpdate path "deploymentId") entitlement(-) role(-)
                audit("deployment.preload_set")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(model_deployments::DeploymentPath) query(NoQuery) body(Json JSON_LIMIT model_deployments::SetPreload)
                output(Data model_deployments::Deployment)
                success[200] errors[400 401 403 404 409 423 500 503];
            RefreshDeploymentRevision Post "/api/model-providers/deployments/{deploymentId}/refresh-revision"
                Contract ModelsAndInference Preview "Read anew which revision of the model is served"
                security(DeploymentUpdate path "deploymentId") entitlement(-) role(-)
                audit("deployment.revision_refreshed")
                idempotent(yes) remediation(no) ifmatch(no)
                path(model_deployments::DeploymentPath) query(NoQuery) body(OptionalJson JSON_LIMIT model_deployments::RefreshRevision)
                output(Data model_deployments::RefreshedRevision)
                success[200] errors[400 401 403 404 409 423 500 503];
            ListModels Get "/api/models"
                Contract ModelsAndInference Preview "List the models that the caller may use"
                security(ModelList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(inference::ModelListQuery) body(-)
                output(List inference::CallableModel)
                success[200] errors[400 401 403 423 500 503];
            Chat Post "/api/chat"
                Contract ModelsAndInference Preview "Ask a model; as a whole answer or as a stream of its pieces"
                security(DeploymentChat named "deployment") entitlement(-) role(-)
                audit("model.chat_completed")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(inference::AnswerQuery) body(Json INFERENCE_LIMIT inference::ChatBody)
                output(DataOrStream inference::ChatCompletion)
                success[200] errors[400 401 403 404 409 423 500 503];
            CreateEmbeddings Post "/api/embeddings"
                Contract ModelsAndInference Preview "Make vectors of texts"
                security(DeploymentEmbed named "deployment") entitlement(-) role(-)
                audit("model.embeddings_created")
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(inference::AnswerQuery) body(Json INFERENCE_LIMIT inference::EmbeddingsBody)
                output(Data inference::Embeddings)
                success[200] errors[400 401 403 404 409 423 500 503];
            GetUsage Get "/api/usage"
                Platform Models Preview "Calls of models, with their tokens and costs"
                security(DeploymentList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(usage::UsageQuery) body(-)
                output(List usage::UsageRow)
                success[200] errors[400 401 402 403 423 500 503];
            CreateChatCompletion Post "/v1/chat/completions"
                Compatibility OpenAi Preview "Create a chat completion"
                security(DeploymentChat named "deployment") entitlement(-) role(-)
                audit("model.chat_completed")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json INFERENCE_LIMIT inference::ChatBody)
                output(BareOrStream inference::ChatCompletion)
                success[200] errors[400 401 403 404 409 413 415 423 429 500 503];
            CreateOpenAiEmbeddings Post "/v1/embeddings"
                Compatibility OpenAi Preview "Create embeddings"
                security(DeploymentEmbed named "deployment") entitlement(-) role(-)
                audit("model.embeddings_created")
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json INFERENCE_LIMIT inference::EmbeddingsBody)
                output(Bare inference::Embeddings)
                success[200] errors[400 401 403 404 409 413 415 423 429 500 503];
            ListOpenAiModels Get "/v1/models"
                Compatibility OpenAi Preview "List models"
                security(ModelList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Bare inference::OpenAiModels)
                success[200] errors[400 401 403 423 500 503];
            CreateMessage Post "/v1/messages"
                Compatibility Anthropic Preview "Create a message"
                security(DeploymentChat named "deployment") entitlement(-) role(-)
                audit("model.chat_completed")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json INFERENCE_LIMIT messages::MessagesBody)
                output(BareOrStream messages::ModelMessage)
                success[200] errors[400 401 403 404 409 413 415 423 429 500 503];
            CountMessageTokens Post "/v1/messages/count_tokens"
                Compatibility Anthropic Preview "Count the tokens of a message before it is created"
                security(DeploymentChat named "deployment") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json INFERENCE_LIMIT messages::TokenCountBody)
                output(Bare messages::TokenCount)
                success[200] errors[400 401 403 404 409 413 415 423 429 500 503];
        }
    };
}
