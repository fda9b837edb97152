//! Receivers of webhooks: signed deliveries, and pings.

use std::time::Duration;

use heddle_connections::ports::Ping;
use heddle_connections::records::{OpenConnection, Phase};
use heddle_connections::types::signing_key;
use heddle_egress::{Bytes, Egress, HeaderMap, HeaderName, HeaderValue, Instant, Method, OutBody, header};
use heddle_kernel::Timestamp;
use serde_json::json;

use crate::failure::{Failure, needed, needed_secret};
use crate::http::{judged, request};
use crate::retry_after;
use crate::signing::{Signed, sign};

/// Most bytes that are read of an answer's body.
const DRAIN_BYTES: usize = 8 * 1024;
/// Most time for which an answer's body is waited for.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// A message to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Id: the same for every try.
    pub id: String,
    /// Instant of this try.
    pub at: Timestamp,
    /// The body: JSON.
    pub body: Vec<u8>,
}

/// Outcome of one try of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// Whether the receiver took it: a status from 200 to 299.
    pub ok: bool,
    /// The status, if the receiver answered.
    pub status: Option<u16>,
    /// Whether the receiver wants no more (410): its webhook is to be paused.
    pub is_gone: bool,
    /// Whether the same may go well later without anybody's doing. One that may not is tried again as well, since what is
    /// outside changes.
    pub is_passing: bool,
    /// Seconds after which the receiver wants the next try, if it said so (`Retry-After`, with 429 or 503).
    pub retry_after_seconds: Option<u64>,
    /// Phase in which it failed; the last one when it did not.
    pub phase: Phase,
    /// Milliseconds that it took.
    pub latency_ms: u64,
    /// A sentence for people, without a secret and without what the receiver answered.
    pub message: String,
}

/// The status and the headers of an answer.
struct Answer {
    status: heddle_egress::StatusCode,
    headers: HeaderMap,
}

/// Reads what the receiver says beside the status, which is of no interest: read to its end, it leaves the connection for
/// the next message. One that says much is not listened to.
async fn drain(body: &mut OutBody) {
    let mut left = DRAIN_BYTES;
    while left > 0
        && let Ok(Some(piece)) = body.chunk().await
    {
        left = left.saturating_sub(piece.len());
    }
}

/// Posts a signed message.
async fn post(egress: &Egress, connection: &OpenConnection, message: &Message) -> Result<Answer, Failure> {
    let unusable = || Failure::lasting(Phase::Auth, "`secrets.signingSecret` is no signing key");
    let mut keys = vec![signing_key(needed_secret(connection, "signingSecret")?).ok_or_else(unusable)?];
    keys.extend(connection.secret("previousSigningSecret").and_then(|secret| signing_key(secret.expose())));
    let seconds = message.at.micros().div_euclid(1_000_000);
    let Signed { id, timestamp, signature } =
        sign(&message.id, seconds, &message.body, keys.iter().map(|key| key.as_slice()));
    let mut request = request(connection, Method::POST, needed(connection, "url")?)?
        .with_header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in
        [("webhook-id", id), ("webhook-timestamp", timestamp), ("webhook-signature", signature)]
    {
        let value = HeaderValue::from_str(&value)
            .map_err(|_illegal| Failure::lasting(Phase::Request, "the message's id is no header's value"))?;
        request = request.with_header(HeaderName::from_static(name), value);
    }
    let mut answer = egress.open(request.with_body(Bytes::from(message.body.clone()))).await?;
    let rest = drain(&mut answer.body);
    let _ = tokio::time::timeout(DRAIN_TIME, rest).await;
    Ok(Answer { status: answer.status, headers: answer.headers })
}

/// Delivers a message once.
pub(crate) async fn deliver(egress: &Egress, connection: &OpenConnection, message: &Message) -> Delivered {
    let began = Instant::now();
    let found = post(egress, connection, message).await;
    let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    match found {
        Ok(answer) => answered(&answer, message.at, latency_ms),
        Err(failure) => Delivered {
            ok: false,
            status: None,
            is_gone: false,
            is_passing: failure.is_passing,
            retry_after_seconds: None,
            phase: failure.phase,
            latency_ms,
            message: failure.message,
        },
    }
}

fn answered(answer: &Answer, at: Timestamp, latency_ms: u64) -> Delivered {
    let status = answer.status;
    let told = if status.is_redirection() {
        Err(Failure::lasting(
            Phase::Request,
            format!("redirects are not followed (status {})", status.as_u16()),
        ))
    } else {
        judged(status)
    };
    let waits = matches!(status.as_u16(), 429 | 503);
    let retry_after = answer.headers.get(header::RETRY_AFTER).filter(|_| waits);
    let text = retry_after.and_then(|value| value.to_str().ok());
    let retry_after = text.and_then(|text| retry_after::retry_after(text, at));
    let (phase, is_passing, message) = match told {
        Ok(message) => (Phase::Request, false, message),
        Err(failure) => (failure.phase, failure.is_passing, failure.message),
    };
    Delivered {
        ok: status.is_success(),
        status: Some(status.as_u16()),
        is_gone: status.as_u16() == 410,
        is_passing,
        retry_after_seconds: retry_after,
        phase,
        latency_ms,
        message,
    }
}

/// The message of a ping.
pub(crate) fn ping(ping: &Ping) -> Message {
    let body = json!({
        "type": "ping",
        "timestamp": ping.at,
        "data": { "organizationId": ping.tenant, "webhookId": ping.webhook },
    });
    Message { id: ping.message_id.clone(), at: ping.at, body: body.to_string().into_bytes() }
}

/// Sends a signed ping.
pub(crate) async fn test(
    egress: &Egress,
    connection: &OpenConnection,
    asked: &Ping,
) -> Result<String, Failure> {
    let answer = post(egress, connection, &ping(asked)).await?;
    let told = answered(&answer, asked.at, 0);
    match told.ok {
        true => Ok(format!("the receiver took the ping (status {})", answer.status.as_u16())),
        false => Err(Failure { phase: told.phase, message: told.message, is_passing: told.is_passing }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_egress::StatusCode;

    #[test]
    fn an_answer_says_what_to_do_next() {
        let cases = [
            (204, None, (true, false, None)),
            (301, None, (false, false, None)),
            (400, Some("5"), (false, false, None)),
            (410, None, (false, true, None)),
            (429, Some("7"), (false, false, Some(7))),
            (503, Some("soon"), (false, false, None)),
            (503, Some(" 120"), (false, false, Some(120))),
        ];
        for (code, retry_after, expected) in cases {
            let mut headers = HeaderMap::new();
            if let Some(text) = retry_after {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static(text));
            }
            let status = StatusCode::from_u16(code).unwrap();
            let told = answered(&Answer { status, headers }, Timestamp::from_micros(0), 1);
            assert_eq!((told.ok, told.is_gone, told.retry_after_seconds), expected, "{code}");
            assert_eq!(told.status, Some(code));
        }
    }
}
