//! Refusals: what a provider's status and error body mean, in one set of classes.

use serde_json::Value;
use std::time::{Duration, SystemTime};

use crate::error::{Failure, Refusal, WireError};
use crate::family::Family;

/// Length of a provider's message as the caller gets it, in characters.
const LONGEST_MESSAGE: usize = 300;

/// Bytes of an error body that are read.
const MOST_READ: usize = 64 * 1024;

/// Longest wait that is believed.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Letters and digits in a row that are taken for a secret.
const LENGTH_OF_SECRETS: usize = 16;

/// Beginnings of keys.
const BEGINNINGS_OF_KEYS: [&str; 9] = ["sk-", "sk_", "pk-", "gsk_", "xai-", "hf_", "AIza", "Bearer", "eyJ"];

/// Headers with the provider's id of a request.
const REQUEST_IDS: [&str; 4] = ["x-request-id", "request-id", "apim-request-id", "x-goog-request-id"];

/// The head of a refusing answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalHead {
    /// Family.
    pub family: Family,
    /// HTTP status.
    pub status: u16,
    /// The provider's id of the request.
    pub request_id: Option<String>,
    /// Wait that a header asks for.
    pub retry_after: Option<Duration>,
}

impl RefusalHead {
    /// Reads a head: `header` gives the value of a header by its name in lower case; `now` is the clock, for dates.
    pub fn read<'a>(
        family: Family,
        status: u16,
        now: SystemTime,
        header: impl Fn(&str) -> Option<&'a str>,
    ) -> Self {
        let exact = header("retry-after-ms")
            .and_then(|text| text.trim().parse::<u64>().ok())
            .map(|wait| Duration::from_millis(wait).min(LONGEST_WAIT));
        Self {
            family,
            status,
            request_id: REQUEST_IDS.into_iter().find_map(&header).and_then(word),
            retry_after: exact.or_else(|| header("retry-after").and_then(|text| retry_after(text, now))),
        }
    }
}

/// The wait of a `Retry-After`: seconds, whole or not, or an HTTP date, from `now` on. At most a day; nothing for a text
/// that is neither.
#[must_use]
pub fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return seconds_of(seconds);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO).min(LONGEST_WAIT))
}

fn seconds_of(seconds: f64) -> Option<Duration> {
    let seconds = Some(seconds).filter(|seconds| seconds.is_finite() && *seconds >= 0.0)?;
    Duration::try_from_secs_f64(seconds.min(LONGEST_WAIT.as_secs_f64())).ok()
}

/// The refusal of a status and its body.
pub(crate) fn of_status(head: &RefusalHead, body: &[u8]) -> Refusal {
    let told = Told::read(body);
    let failure = of_told(head.family, head.status, &told);
    Refusal {
        failure,
        status: Some(head.status),
        message: told.message.as_deref().and_then(cleaned).filter(|_| failure != Failure::ProviderAuth),
        provider_code: told.code.as_deref().or(told.kind.as_deref()).and_then(word),
        request_id: head.request_id.clone().or(told.request_id.as_deref().and_then(word)),
        retry_after: head.retry_after.or(told.retry_after),
    }
}

/// The refusal of an error within a stream or within a body of success.
pub(crate) fn of_error(family: Family, error: &Value) -> WireError {
    let told = Told::of(error);
    let failure = match (told.number, by_word(&told)) {
        (_, Some(failure)) => context(family, &told).unwrap_or(failure),
        (Some(status), None) => of_told(family, status, &told),
        (None, None) => context(family, &told).unwrap_or(Failure::Unavailable),
    };
    WireError::Refused(Refusal {
        failure,
        status: None,
        message: told.message.as_deref().and_then(cleaned).filter(|_| failure != Failure::ProviderAuth),
        provider_code: told.code.as_deref().or(told.kind.as_deref()).and_then(word),
        request_id: told.request_id.as_deref().and_then(word),
        retry_after: told.retry_after,
    })
}

/// Contents of an error body.
#[derive(Default)]
struct Told {
    message: Option<String>,
    kind: Option<String>,
    code: Option<String>,
    /// A code that is an HTTP status.
    number: Option<u16>,
    request_id: Option<String>,
    retry_after: Option<Duration>,
}

impl Told {
    fn read(body: &[u8]) -> Self {
        let body = body.get(..MOST_READ).unwrap_or(body);
        serde_json::from_slice(body).map(|value: Value| Self::of(&value)).unwrap_or_default()
    }

    /// Reads `{"error": {..}}`, `{"error": ".."}`, the error itself, a list with one, `{"message"}` and `{"detail"}`.
    fn of(value: &Value) -> Self {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
        let message = error
            .as_str()
            .map(str::to_owned)
            .or_else(|| text("message"))
            .or_else(|| error.get("detail").and_then(Value::as_str).map(str::to_owned));
        let reasons = error.get("details").and_then(Value::as_array);
        let reason = reasons.and_then(|list| list.iter().find_map(|detail| detail.get("reason")?.as_str()));
        let wait = reasons.and_then(|list| list.iter().find_map(|detail| detail.get("retryDelay")?.as_str()));
        Self {
            message,
            kind: text("type").filter(|kind| kind != "error").or_else(|| text("status")),
            code: text("code").or_else(|| reason.map(str::to_owned)),
            number: error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok()),
            request_id: value.get("request_id").and_then(Value::as_str).map(str::to_owned),
            retry_after: wait
                .and_then(|text| text.strip_suffix('s'))
                .and_then(|text| text.parse().ok())
                .and_then(seconds_of),
        }
    }

    fn says(&self, words: &[&str]) -> bool {
        let message = self.message.as_deref().unwrap_or_default().to_ascii_lowercase();
        words.iter().any(|word| message.contains(word))
    }

    fn is(&self, words: &[&str]) -> bool {
        let is = |told: &Option<String>| told.as_deref().is_some_and(|told| words.contains(&told));
        is(&self.code) || is(&self.kind)
    }
}

fn of_told(family: Family, status: u16, told: &Told) -> Failure {
    match status {
        400 | 422 if told.is(&["API_KEY_INVALID", "invalid_api_key"]) => Failure::ProviderAuth,
        400 | 413 | 422 | 500 if context(family, told).is_some() => Failure::ContextLength,
        401..=403 => Failure::ProviderAuth,
        404 | 410 => Failure::ModelNotFound,
        408 | 504 => Failure::ProviderTimeout,
        409 | 425 | 429 => Failure::RateLimited,
        413 => Failure::ContextLength,
        405 | 407 | 421 | 426 => Failure::Unavailable,
        400..=499 => Failure::InvalidRequest,
        _ => Failure::Unavailable,
    }
}

/// The class by the provider's own word.
fn by_word(told: &Told) -> Option<Failure> {
    const CLASSES: &[(Failure, &[&str])] = &[
        (
            Failure::RateLimited,
            &["rate_limit_error", "rate_limit_exceeded", "insufficient_quota", "RESOURCE_EXHAUSTED"],
        ),
        (
            Failure::Unavailable,
            &[
                "overloaded_error",
                "api_error",
                "server_error",
                "internal_server_error",
                "UNAVAILABLE",
                "INTERNAL",
            ],
        ),
        (Failure::ProviderTimeout, &["timeout_error", "timeout", "DEADLINE_EXCEEDED"]),
        (
            Failure::ProviderAuth,
            &[
                "authentication_error",
                "permission_error",
                "billing_error",
                "invalid_api_key",
                "API_KEY_INVALID",
                "PERMISSION_DENIED",
                "UNAUTHENTICATED",
            ],
        ),
        (Failure::ModelNotFound, &["not_found_error", "model_not_found", "NOT_FOUND"]),
        (Failure::ContextLength, &["request_too_large"]),
        (Failure::InvalidRequest, &["invalid_request_error", "INVALID_ARGUMENT", "FAILED_PRECONDITION"]),
    ];
    CLASSES.iter().find(|(_, words)| told.is(words)).map(|(failure, _)| *failure)
}

/// Tells whether prompt and answer are longer than the context, which each family says in its way.
fn context(family: Family, told: &Told) -> Option<Failure> {
    let codes: &[&str] = &["context_length_exceeded", "exceed_context_size_error", "string_above_max_length"];
    let words: &[&str] = match family {
        Family::OpenAi | Family::AzureOpenAi => &[
            "maximum context length",
            "longer than the maximum model length",
            "exceeds the available context size",
            "greater than the context length",
            "reduce the length of the messages",
            "maximum prompt length",
            "context window",
            "tokens + `max_new_tokens` must be",
        ],
        Family::Anthropic => &[
            "prompt is too long",
            "exceed context limit",
            "context window",
            "exceeds the available context size",
        ],
        Family::Gemini => &["exceeds the maximum number of tokens"],
        Family::Ollama => &[
            "exceeds the context length",
            "exceeds maximum context length",
            "exceeds the available context size",
        ],
    };
    (told.is(codes) || told.says(words)).then_some(Failure::ContextLength)
}

/// A word of a provider, when it is one.
fn word(text: &str) -> Option<String> {
    let known = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    Some(text.trim())
        .filter(|text| !text.is_empty() && text.len() <= 64 && text.chars().all(known))
        .map(str::to_owned)
}

/// A provider's message for the caller: in one line, cut, and without what looks like a key.
fn cleaned(message: &str) -> Option<String> {
    let mut out = String::new();
    for piece in message.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if piece.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(if is_secret(piece) { "[removed]" } else { piece });
        if out.len() > 4 * LONGEST_MESSAGE {
            break;
        }
    }
    let cut: String = out.chars().take(LONGEST_MESSAGE).collect();
    Some(cut).filter(|text| !text.is_empty())
}

fn is_secret(piece: &str) -> bool {
    let bare = piece.trim_start_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let mixed = |run: &str| {
        run.len() >= LENGTH_OF_SECRETS
            && run.bytes().any(|byte| byte.is_ascii_digit())
            && run.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    BEGINNINGS_OF_KEYS.iter().any(|beginning| bare.starts_with(beginning))
        || piece.contains("***")
        || piece.split(|letter: char| !letter.is_ascii_alphanumeric()).any(mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(family: Family, status: u16) -> RefusalHead {
        RefusalHead { family, status, request_id: None, retry_after: None }
    }

    #[test]
    fn statuses_and_words_of_providers_become_classes() {
        use Failure::{
            ContextLength, InvalidRequest, ModelNotFound, ProviderAuth, ProviderTimeout, RateLimited,
            Unavailable,
        };
        let table: &[(Family, u16, &str, Failure)] = &[
            (
                Family::OpenAi,
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
                ContextLength,
            ),
            (
                Family::OpenAi,
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
                ContextLength,
            ),
            (Family::OpenAi, 422, r#"{"detail":[{"loc":["body"]}]}"#, InvalidRequest),
            (
                Family::OpenAi,
                401,
                r#"{"error":{"message":"Incorrect API key provided: sk-abc"}}"#,
                ProviderAuth,
            ),
            (Family::OpenAi, 402, "", ProviderAuth),
            (Family::OpenAi, 404, "", ModelNotFound),
            (Family::OpenAi, 408, "", ProviderTimeout),
            (Family::OpenAi, 409, "", RateLimited),
            (Family::OpenAi, 429, "<html>", RateLimited),
            (Family::OpenAi, 500, "", Unavailable),
            (Family::OpenAi, 504, "", ProviderTimeout),
            (Family::OpenAi, 302, "", Unavailable),
            (
                Family::Anthropic,
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Unavailable,
            ),
            (
                Family::Anthropic,
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 205000 tokens > 200000 maximum"}}"#,
                ContextLength,
            ),
            (
                Family::Anthropic,
                413,
                r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
                ContextLength,
            ),
            (
                Family::Gemini,
                400,
                r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#,
                ProviderAuth,
            ),
            (
                Family::Gemini,
                400,
                r#"{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
                ContextLength,
            ),
            (
                Family::Ollama,
                404,
                r#"{"error":"model \"nope\" not found, try pulling it first"}"#,
                ModelNotFound,
            ),
            (
                Family::Ollama,
                500,
                r#"{"error":"the input length exceeds the context length"}"#,
                ContextLength,
            ),
        ];
        for (family, status, body, failure) in table {
            let refusal = of_status(&head(*family, *status), body.as_bytes());
            assert_eq!(refusal.failure, *failure, "{family} {status} {body}");
        }
    }

    #[test]
    fn neither_keys_nor_control_letters_reach_the_caller() {
        let of = |message: &str| {
            let body = serde_json::json!({"error": {"message": message}}).to_string();
            of_status(&head(Family::OpenAi, 400), body.as_bytes()).message
        };
        assert_eq!(
            of("Invalid\u{1b}[31m `temperature`\r\nfor claude-3-5-sonnet-20241022").as_deref(),
            Some("Invalid [31m `temperature` for claude-3-5-sonnet-20241022")
        );
        for secret in ["sk-short", "\"AIzaSyA-b_c\"", "0123456789abcdef0123456789abcdef", "abc***xyz"] {
            assert_eq!(of(&format!("key {secret} is wrong")).as_deref(), Some("key [removed] is wrong"));
        }
        assert_eq!(of(&"long ".repeat(1000)).map(|text| text.chars().count()), Some(300));
        let refused = of_status(&head(Family::OpenAi, 401), br#"{"error":{"message":"the prompt"}}"#);
        assert_eq!(refused.message, None);
        assert!(!format!("{refused:?} {refused}").contains("prompt"));
    }

    #[test]
    fn waits_are_read_in_seconds_and_dates_and_bounded() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_700);
        let wait = |text: &str| retry_after(text, now);
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(77)));
        assert_eq!(wait("Sun, 06 Nov 1983 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("99999999999"), Some(LONGEST_WAIT));
        for none in ["", "-1", "NaN", "inf", "soon", "1e999"] {
            assert_eq!(wait(none), None, "{none}");
        }
        let head = RefusalHead::read(Family::AzureOpenAi, 429, now, |name| match name {
            "retry-after-ms" => Some("1500"),
            "retry-after" => Some("2"),
            "apim-request-id" => Some("a-b"),
            _ => None,
        });
        assert_eq!(head.retry_after, Some(Duration::from_millis(1500)));
        assert_eq!(head.request_id.as_deref(), Some("a-b"));
        let body = br#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"RetryInfo","retryDelay":"34.5s"}]}}"#;
        let head = RefusalHead { family: Family::Gemini, status: 429, request_id: None, retry_after: None };
        assert_eq!(of_status(&head, body).retry_after, Some(Duration::from_millis(34_500)));
    }
}
