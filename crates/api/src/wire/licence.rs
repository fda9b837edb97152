//! The licence.

use std::collections::BTreeMap;

use heddle_kernel::Timestamp;

use super::envelope::Instant;
use crate::contract::{MediaType, RequestBody};
use crate::decode::Problems;

words! {
    /// State of the licence.
    enum LicenceState {
        /// A trial.
        Trial = "trial",
        /// Valid.
        Active = "active",
        /// Ends within 30 days.
        Expiring = "expiring",
        /// Ended, within the days of grace.
        Grace = "grace",
        /// Only licence remediation is allowed.
        Restricted = "restricted",
    }
}

response! {
    /// The licence and its state.
    struct Licence {
        /// State of the licence.
        state: LicenceState,
        /// Reason of the restriction: `missing`, `expired`, `invalid_signature`, `wrong_installation`,
        /// `not_yet_valid`, `clock_rollback` or `revoked`.
        #[schema(required = true)]
        reason: Option<String>,
        /// The licence's own id; null without one.
        #[schema(required = true)]
        licence_id: Option<String>,
        /// `production`, `trial` or `developer`; null without one.
        #[schema(required = true)]
        kind: Option<String>,
        /// Customer that it was issued to; null without a licence.
        #[schema(required = true)]
        customer: Option<String>,
        /// Instant of issue; null without a licence.
        #[schema(required = true, value_type = Option<Instant>)]
        issued_at: Option<Timestamp>,
        /// From when it is valid.
        #[schema(required = true, value_type = Option<Instant>)]
        not_before: Option<Timestamp>,
        /// Until when it is valid.
        #[schema(required = true, value_type = Option<Instant>)]
        expires_at: Option<Timestamp>,
        /// Until when all works after its end.
        #[schema(required = true, value_type = Option<Instant>)]
        grace_until: Option<Timestamp>,
        /// Features that it covers or not.
        entitlements: Vec<LicenceEntitlement>,
        /// Limits of numbers such as users, each with the present number.
        limits: Vec<LicenceLimit>,
        /// The installation.
        installation_id: String,
        /// Whether a trial can still be started.
        trial_available: bool,
        /// Grows with every installed licence; the `ETag`.
        #[schema(minimum = 0)]
        revision: i64,
    }

    /// A feature that a licence covers or not.
    struct LicenceEntitlement {
        /// Name of the feature, such as `workflow.enabled`.
        name: String,
        /// Whether it is covered.
        enabled: bool,
    }

    /// Limit that a licence sets to a number, and the present number.
    struct LicenceLimit {
        /// Name of the number, such as `users`.
        name: String,
        /// Highest number that is covered; null when without limit.
        #[schema(required = true, minimum = 0)]
        licensed: Option<i64>,
        /// Present number.
        #[schema(minimum = 0)]
        used: i64,
    }

    /// Outcome that the installation of a licence would have.
    struct LicenceValidation {
        /// Whether it could be installed.
        valid: bool,
        /// Reason of a refusal, as a machine word; null when it is valid.
        #[schema(required = true)]
        reason: Option<String>,
        /// One sentence.
        message: String,
        /// The licence as it would stand; null when it can't be read.
        #[schema(required = true)]
        licence: Option<Licence>,
    }

    /// Request for a licence: the facts that the vendor needs to issue one.
    struct LicenceRequest {
        /// The installation.
        installation_id: String,
        /// The version.
        version: String,
        /// Present numbers of the things that licences limit, by name.
        usage: BTreeMap<String, i64>,
        /// Instant at which the request was written.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
    }
}

request! {
    /// A licence to install; `text/plain` takes the licence alone.
    #[schema(examples(json!({"licence": "-----BEGIN HEDDLE LICENCE-----\n...\n-----END HEDDLE LICENCE-----\n"})))]
    struct InstallLicence {
        /// The licence's text.
        #[schema(min_length = 1, max_length = 65536)]
        licence: String,
        /// Whether one that is older than the installed one is taken.
        #[schema(nullable = false)]
        force: Option<bool>,
    }
}

impl RequestBody for InstallLicence {
    type Json = Self;

    fn read(media: MediaType, bytes: &[u8]) -> Result<Self, Problems> {
        match media {
            MediaType::Json | MediaType::Xml | MediaType::Files => crate::decode::from_json(bytes),
            MediaType::Text => {
                // The text takes the way of the JSON form, so that one set of rules holds.
                let text = String::from_utf8_lossy(bytes).into_owned();
                let json = serde_json::json!({ "licence": text });
                crate::decode::from_json(json.to_string().as_bytes())
            }
        }
    }
}
