//! The licence; open while the installation is restricted.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_identity::licensing::{Install, LicenceReport};
use heddle_identity::nodes::{Number, Numbers};
use heddle_policy::licence::{Licence, LicenceState};

use super::sessions::licence_state;
use crate::call::Call;
use crate::reply::{HandlerResult, Response};

/// GET /api/licence
pub(crate) async fn get(call: Call<ops::GetLicence>) -> HandlerResult {
    let report = call.app.identity.licence(&call.authorized, &call.context).await?;
    shown(200, &report)
}

/// PUT /api/licence
pub(crate) async fn install(call: Call<ops::InstallLicence>) -> HandlerResult {
    let install = Install {
        text: call.body.licence.clone(),
        force: call.body.force.unwrap_or(false),
        revision: call.meta.if_match,
    };
    let record = |report: &LicenceReport| call.journal(&report.installation_id, || shown(200, report));
    let report =
        call.app.identity.install_licence(&call.authorized, &call.context, &install, &record).await?;
    shown(200, &report)
}

/// POST /api/licence/validate
pub(crate) async fn validate(call: Call<ops::ValidateLicence>) -> HandlerResult {
    let force = call.body.force.unwrap_or(false);
    let identity = &call.app.identity;
    let found = identity.validate_licence(&call.authorized, &call.context, &call.body.licence, force).await?;
    let present = call.app.identity.licence_request(&call.authorized, &call.context).await?;
    Response::data(
        200,
        wire::licence::LicenceValidation {
            valid: found.valid,
            reason: found.reason.map(str::to_owned),
            message: found.message,
            licence: found
                .licence
                .map(|licence| view(&licence, &present.installation_id, &present.usage, false, 0)),
        },
    )
}

/// GET /api/licence/request
pub(crate) async fn request(call: Call<ops::GetLicenceRequest>) -> HandlerResult {
    let request = call.app.identity.licence_request(&call.authorized, &call.context).await?;
    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let usage = request.usage.all().map(|one| (one.limit.as_str().to_owned(), count(one.used))).collect();
    Response::data(
        200,
        wire::licence::LicenceRequest {
            installation_id: request.installation_id,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            usage,
            created_at: request.created_at,
        },
    )
}

/// POST /api/licence/trial
pub(crate) async fn start_trial(call: Call<ops::StartTrial>) -> HandlerResult {
    let record = |report: &LicenceReport| call.journal(&report.installation_id, || shown(201, report));
    let report = call.app.identity.start_trial(&call.authorized, &call.context, &record).await?;
    shown(201, &report)
}

fn shown(status: u16, report: &LicenceReport) -> HandlerResult {
    let (available, revision) = (report.trial_available, report.revision.0);
    let data = view(&report.licence, &report.installation_id, &report.usage, available, revision);
    let answer = Response::data(status, data)?.tagged(report.revision);
    Ok(if status == 201 { answer.with("location", "/api/licence") } else { answer })
}

fn view(
    licence: &Licence,
    installation_id: &str,
    usage: &Numbers,
    trial_available: bool,
    revision: i64,
) -> wire::licence::Licence {
    let claims = licence.claims.as_deref();
    let grace_until = match licence.state {
        LicenceState::Grace { until } => Some(until),
        LicenceState::Trial { .. }
        | LicenceState::Active { .. }
        | LicenceState::Expiring { .. }
        | LicenceState::Restricted { .. } => {
            claims.map(|claims| claims.exp.plus_seconds(i64::from(claims.grace_days) * 86_400))
        }
    };
    let entitlements = claims.map(|claims| {
        let row = |(name, enabled): (&String, &bool)| wire::licence::LicenceEntitlement {
            name: name.clone(),
            enabled: *enabled,
        };
        claims.entitlements.iter().map(row).collect()
    });
    wire::licence::Licence {
        state: licence_state(licence.state),
        reason: licence.restriction().map(str::to_owned),
        licence_id: claims.map(|claims| claims.jti.clone()),
        kind: claims.and_then(|claims| serde_json::to_value(claims.kind).ok()?.as_str().map(str::to_owned)),
        customer: claims.map(|claims| claims.sub.clone()),
        issued_at: claims.map(|claims| claims.iat),
        not_before: claims.map(|claims| claims.nbf),
        expires_at: claims.map(|claims| claims.exp),
        grace_until,
        entitlements: entitlements.unwrap_or_default(),
        limits: limits(licence, usage),
        installation_id: installation_id.to_owned(),
        trial_available,
        revision,
    }
}

fn limits(licence: &Licence, usage: &Numbers) -> Vec<wire::licence::LicenceLimit> {
    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let row = |one: Number| wire::licence::LicenceLimit {
        name: one.limit.as_str().to_owned(),
        licensed: licence.limit(one.limit.as_str()).map(count),
        used: count(one.used),
    };
    usage.all().map(row).collect()
}
