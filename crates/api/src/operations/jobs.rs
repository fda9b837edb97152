//! Rows: jobs for external workers.

macro_rules! job_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            ListJobs Get "/api/jobs"
                Platform Jobs Preview "Open jobs"
                security(JobList list) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(jobs::JobListQuery) body(-)
                output(List jobs::Job)
                success[200] errors[400 401 402 403 423 500 503];
            ActivateJobs Post "/api/jobs/activate"
                Platform Jobs Preview "Take jobs of some types, and wait for the first"
                security(JobActivate some) entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT jobs::ActivateJobs)
                output(List jobs::ActivatedJob)
                success[200] errors[400 401 402 403 413 415 423 429 500 503];
            CompleteJob Post "/api/jobs/{jobId}/complete"
                Platform Jobs Preview "Complete a job"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(jobs::JobPath) query(NoQuery) body(Json COMPLETION_LIMIT jobs::CompleteJob)
                output(Data jobs::SettledJob)
                success[200] errors[400 401 402 403 404 409 413 415 423 500 503];
            FailJob Post "/api/jobs/{jobId}/fail"
                Platform Jobs Preview "End an attempt that failed"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(jobs::JobPath) query(NoQuery) body(Json JSON_LIMIT jobs::FailJob)
                output(Data jobs::SettledJob)
                success[200] errors[400 401 402 403 404 409 413 415 423 500 503];
            ThrowJobError Post "/api/jobs/{jobId}/error"
                Platform Jobs Preview "End a job with a BPMN error"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(jobs::JobPath) query(NoQuery) body(Json COMPLETION_LIMIT jobs::ThrowJobError)
                output(Data jobs::SettledJob)
                success[200] errors[400 401 402 403 404 409 413 415 423 500 503];
            ExtendJob Post "/api/jobs/{jobId}/extend"
                Platform Jobs Preview "Hold a job longer"
                security(JobComplete loaded "jobType") entitlement(Workflow) role(Workflow)
                audit(-)
                idempotent(no) remediation(no) ifmatch(no)
                path(jobs::JobPath) query(NoQuery) body(Json JSON_LIMIT jobs::ExtendJob)
                output(Data jobs::SettledJob)
                success[200] errors[400 401 402 403 404 409 415 423 500 503];
        }
    };
}
