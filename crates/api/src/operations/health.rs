//! Rows: health.

macro_rules! health_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            GetHealth Get "/health"
                Contract Health Stable "Health of the installation"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data health::Health)
                success[200] errors[500 503];
            GetLiveness Get "/health/live"
                Contract Health Stable "Whether the process lives"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data health::Health)
                success[200] errors[500 503];
            GetReadiness Get "/health/ready"
                Contract Health Stable "Whether the service can work"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data health::Health)
                success[200] errors[500 503];
        }
    };
}
