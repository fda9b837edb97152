//! Health, and the test clock.

use super::duration::Duration;
use heddle_kernel::Timestamp;

use super::envelope::Instant;
use crate::contract::json_bodies;

words! {
    /// How something is.
    enum HealthStatus {
        /// Works.
        Ok = "ok",
        /// Works in part.
        Degraded = "degraded",
        /// Does not work.
        Unavailable = "unavailable",
    }
}

response! {
    /// How the service is.
    struct Health {
        /// The worst of the checks.
        status: HealthStatus,
        /// The version; to an authorised caller.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        version: Option<String>,
        /// What was checked; to an authorised caller.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        checks: Option<Vec<HealthCheck>>,
    }

    /// One check.
    struct HealthCheck {
        /// What was checked, such as `database`.
        name: String,
        /// How it is.
        status: HealthStatus,
        /// A sentence about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        message: Option<String>,
    }

    /// What the test clock shows.
    struct ClockReading {
        /// The service's present.
        #[schema(value_type = Instant)]
        now: Timestamp,
    }
}

request! {
    /// How far the test clock is moved.
    #[schema(examples(json!({"advance": "PT1M"})))]
    struct AdvanceClock {
        /// An ISO 8601 duration of days and time.
        #[schema(value_type = String, pattern = "^P(?=.)([0-9]{1,5}D)?(T(?=.)([0-9]{1,6}H)?([0-9]{1,6}M)?([0-9]{1,6}([.][0-9]{1,6})?S)?)?$")]
        advance: Duration,
    }
}

json_bodies!(AdvanceClock);
