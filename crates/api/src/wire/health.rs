//! Health, and the test clock.

use super::duration::Duration;
use heddle_kernel::Timestamp;

use super::envelope::Instant;
use crate::contract::json_bodies;

words! {
    /// Health of the service or of one of its parts.
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
    /// Health of the service.
    struct Health {
        /// The worst of the checks.
        status: HealthStatus,
        /// The version; to an authorised caller.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        version: Option<String>,
        /// Checks that were made; to an authorised caller.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        checks: Option<Vec<HealthCheck>>,
    }

    /// One check.
    struct HealthCheck {
        /// Name of the part that was checked, such as `database`.
        name: String,
        /// Health of that part.
        status: HealthStatus,
        /// A sentence about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        message: Option<String>,
    }

    /// Reading of the test clock.
    struct ClockReading {
        /// The service's present.
        #[schema(value_type = Instant)]
        now: Timestamp,
    }
}

request! {
    /// Advance of the test clock.
    #[schema(examples(json!({"advance": "PT1M"})))]
    struct AdvanceClock {
        /// An ISO 8601 duration of days and time.
        #[schema(value_type = String, pattern = "^P(?=.)([0-9]{1,5}D)?(T(?=.)([0-9]{1,6}H)?([0-9]{1,6}M)?([0-9]{1,6}([.][0-9]{1,6})?S)?)?$")]
        advance: Duration,
    }
}

json_bodies!(AdvanceClock);
