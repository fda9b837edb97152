//! Usage of models by their calls.

words! {
    /// Axis along which usage is summed.
    enum UsageAxis {
        /// Sums of days.
        Day = "day",
        /// Sums of deployments.
        Deployment = "deployment",
        /// Sums of users.
        User = "user",
        /// Sums of workflows.
        Workflow = "workflow",
    }
}

response! {
    /// Sums over the calls of a day, or of a thing.
    struct UsageRow {
        /// The day, as `2026-11-23`, or the identifier of the thing.
        key: String,
        /// Number of calls.
        #[schema(minimum = 0)]
        calls: i64,
        /// Number of those that failed.
        #[schema(minimum = 0)]
        failed: i64,
        /// Number of those whose caller went away.
        #[schema(minimum = 0)]
        aborted: i64,
        /// Tokens of the questions.
        #[schema(minimum = 0)]
        input_tokens: i64,
        /// Tokens of the answers.
        #[schema(minimum = 0)]
        output_tokens: i64,
        /// Part of the tokens of the questions that the providers had kept.
        #[schema(minimum = 0)]
        cached_tokens: i64,
        /// Part of the tokens of the answers that is reasoning.
        #[schema(minimum = 0)]
        reasoning_tokens: i64,
        /// Costs in millionths of a unit of the currency.
        #[schema(minimum = 0)]
        cost_micros: i64,
        /// Milliseconds of all calls together.
        #[schema(minimum = 0)]
        total_ms: i64,
    }
}

request! {
    /// Which usage, and along which axis.
    struct UsageQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// First day, as `2026-11-01`, in UTC; 30 days before the last one when absent.
        #[schema(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
        from: Option<String>,
        /// Last day; today when absent.
        #[schema(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
        to: Option<String>,
        /// Axis: by day when absent.
        by: Option<UsageAxis>,
        /// Only calls of this deployment.
        #[schema(min_length = 1, max_length = 100)]
        deployment_id: Option<String>,
    }
}
