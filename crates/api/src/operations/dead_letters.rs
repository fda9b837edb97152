//! Rows: dead letters.

macro_rules! dead_letter_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            ListDeadLetters Get "/api/dead-letters"
                Platform Operations Preview "Background work that was set aside"
                security(DeadLetterList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(dead_letters::DeadLetterListQuery) body(-)
                output(List dead_letters::DeadLetter)
                success[200] errors[400 401 402 403 423 500 503];
            RetryDeadLetter Post "/api/dead-letters/{deadLetterId}/retry"
                Platform Operations Preview "Try it again as new"
                security(DeadLetterRetry loaded "deadLetterId") entitlement(Workflow) role(Workflow)
                audit("dead_letter.retried")
                idempotent(no) remediation(no) ifmatch(no)
                path(dead_letters::DeadLetterPath) query(NoQuery) body(-)
                output(Data dead_letters::DeadLetter)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            DropDeadLetter Delete "/api/dead-letters/{deadLetterId}"
                Platform Operations Preview "Drop it"
                security(DeadLetterDelete loaded "deadLetterId") entitlement(Workflow) role(Workflow)
                audit("dead_letter.dropped")
                idempotent(yes) remediation(no) ifmatch(no)
                path(dead_letters::DeadLetterPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[401 402 403 404 423 500 503];
        }
    };
}
