//! Rows: questions about rights, in the service's own form and in that of AuthZEN.

macro_rules! authorization_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            CheckAccess Post "/api/authorization/check-access"
                Contract Authorization Preview "Ask whether somebody may do something"
                security(AccessCheck all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT authorization::CheckAccess)
                output(Data authorization::CheckedAccess)
                success[200] errors[400 401 403 423 500 503];
            GetEffectiveAccess Post "/api/authorization/effective-access"
                Contract Authorization Preview "List all that somebody may do"
                security(AccessView all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT authorization::GetEffectiveAccess)
                output(Data authorization::EffectiveAccess)
                success[200] errors[400 401 403 423 500 503];
            GetAuthzenConfiguration Get "/.well-known/authzen-configuration"
                Platform Authorization Preview "Metadata of the decision point, as AuthZEN 1.0 has it"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Bare authorization::AuthzenConfiguration)
                success[200] errors[500 503];
            EvaluateAccess Post "/access/v1/evaluation"
                Platform Authorization Preview "Ask whether somebody may do something, as AuthZEN 1.0 has it"
                security(AccessEvaluate all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT authorization::AuthzenEvaluation)
                output(Bare authorization::AccessDecision)
                success[200] errors[400 401 403 413 415 423 429 500 503];
            EvaluateAccesses Post "/access/v1/evaluations"
                Platform Authorization Preview "Ask several such questions, as AuthZEN 1.0 has it"
                security(AccessEvaluate all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT authorization::AuthzenEvaluations)
                output(Bare authorization::CheckedAccess)
                success[200] errors[400 401 403 413 415 423 429 500 503];
        }
    };
}
