//! Rows: connections, the webhooks that go out by them, and the hooks at which calls come in.

macro_rules! connection_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            ListConnections Get "/api/connections"
                Contract Connections Preview "List connections"
                security(ConnectionList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(connections::ConnectionListQuery) body(-)
                output(List connections::Connection)
                success[200] errors[400 401 403 423 500 503];
            CreateConnection Post "/api/connections"
                Contract Connections Preview "Create a connection; its secrets are sealed and never shown"
                security(ConnectionCreate all) entitlement(-) role(-)
                audit("connection.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT connections::CreateConnection)
                output(Data connections::Connection)
                success[201] errors[400 401 403 409 423 500 503];
            GetConnectionOptions Get "/api/connections/options"
                Contract Connections Preview "Connections to pick from, and the types that there are"
                security(ConnectionList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(connections::ConnectionOptionsQuery) body(-)
                output(Data connections::ConnectionOptions)
                success[200] errors[400 401 403 423 500 503];
            DeleteConnection Delete "/api/connections/{id}"
                Contract Connections Preview "Delete a connection with its secrets"
                security(ConnectionDelete path "id") entitlement(-) role(-)
                audit("connection.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(connections::ConnectionPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            GetConnection Get "/api/connections/{id}"
                Contract Connections Preview "Read a connection"
                security(ConnectionRead path "id") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(connections::ConnectionPath) query(NoQuery) body(-)
                output(Data connections::Connection)
                success[200] errors[400 401 403 404 423 500 503];
            UpdateConnection Patch "/api/connections/{id}"
                Contract Connections Preview "Change a connection"
                security(ConnectionUpdate path "id") entitlement(-) role(-)
                audit("connection.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(connections::ConnectionPath) query(NoQuery) body(Json JSON_LIMIT connections::PatchConnection)
                output(Data connections::Connection)
                success[200] errors[400 401 403 404 409 423 500 503];
            TestConnection Post "/api/connections/{id}/test"
                Contract Connections Preview "Try whether a connection reaches its service and is let in"
                security(ConnectionTest path "id") entitlement(-) role(-)
                audit("connection.tested")
                idempotent(no) remediation(no) ifmatch(no)
                path(connections::ConnectionPath) query(NoQuery) body(-)
                output(Data connections::ConnectionTest)
                success[200] errors[400 401 403 404 409 423 500 503];
            ListWebhooks Get "/api/webhooks"
                Platform Connections Preview "List the webhooks that go out"
                security(WebhookList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(webhooks::WebhookListQuery) body(-)
                output(List webhooks::Webhook)
                success[200] errors[400 401 402 403 423 500 503];
            CreateWebhook Post "/api/webhooks"
                Platform Connections Preview "Subscribe a receiver to the events of runs"
                security(WebhookCreate all) entitlement(Workflow) role(Workflow)
                audit("webhook.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT webhooks::CreateWebhook)
                output(Data webhooks::Webhook)
                success[201] errors[400 401 402 403 409 413 415 423 500 503];
            GetWebhook Get "/api/webhooks/{webhookId}"
                Platform Connections Preview "Read a webhook with the state of its last delivery"
                security(WebhookRead path "webhookId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(webhooks::WebhookPath) query(NoQuery) body(-)
                output(Data webhooks::Webhook)
                success[200] errors[401 402 403 404 423 500 503];
            UpdateWebhook Patch "/api/webhooks/{webhookId}"
                Platform Connections Preview "Change a webhook, pause it or let it go on"
                security(WebhookUpdate path "webhookId") entitlement(Workflow) role(Workflow)
                audit("webhook.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(webhooks::WebhookPath) query(NoQuery) body(Json JSON_LIMIT webhooks::PatchWebhook)
                output(Data webhooks::Webhook)
                success[200] errors[400 401 402 403 404 409 413 415 423 500 503];
            DeleteWebhook Delete "/api/webhooks/{webhookId}"
                Platform Connections Preview "Delete a webhook; what it has not delivered is dropped"
                security(WebhookDelete path "webhookId") entitlement(Workflow) role(Workflow)
                audit("webhook.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(webhooks::WebhookPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[401 402 403 404 409 423 500 503];
            TestWebhook Post "/api/webhooks/{webhookId}/test"
                Platform Connections Preview "Send a signed ping now"
                security(WebhookTest path "webhookId") entitlement(Workflow) role(Workflow)
                audit("webhook.tested")
                idempotent(no) remediation(no) ifmatch(no)
                path(webhooks::WebhookPath) query(NoQuery) body(-)
                output(Data connections::ConnectionTest)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            ListHooks Get "/api/incoming-hooks"
                Platform Connections Preview "List the hooks at which calls come in"
                security(HookList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(envelope::SearchQuery) body(-)
                output(List hooks::Hook)
                success[200] errors[400 401 402 403 423 500 503];
            CreateHook Post "/api/incoming-hooks"
                Platform Connections Preview "Make an address at which calls become case events"
                security(HookCreate all) entitlement(Workflow) role(Workflow)
                audit("hook.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT hooks::CreateHook)
                output(Data hooks::Hook)
                success[201] errors[400 401 402 403 409 413 415 423 500 503];
            GetHook Get "/api/incoming-hooks/{hookId}"
                Platform Connections Preview "Read a hook; its token and its secrets are not shown"
                security(HookRead path "hookId") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(hooks::HookPath) query(NoQuery) body(-)
                output(Data hooks::Hook)
                success[200] errors[401 402 403 404 423 500 503];
            UpdateHook Patch "/api/incoming-hooks/{hookId}"
                Platform Connections Preview "Change a hook"
                security(HookUpdate path "hookId") entitlement(Workflow) role(Workflow)
                audit("hook.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(hooks::HookPath) query(NoQuery) body(Json JSON_LIMIT hooks::PatchHook)
                output(Data hooks::Hook)
                success[200] errors[400 401 402 403 404 409 413 415 423 500 503];
            DeleteHook Delete "/api/incoming-hooks/{hookId}"
                Platform Connections Preview "Delete a hook; its address is nobody's from then on"
                security(HookDelete path "hookId") entitlement(Workflow) role(Workflow)
                audit("hook.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(hooks::HookPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[401 402 403 404 409 423 500 503];
        }
    };
}
