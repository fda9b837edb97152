//! Refusals as the contract's codes, and what may be tried again.

use heddle_models_wire::{ChatResponse, Failure, Family, RefusalHead, WireError};
use serde_json::Value;
use std::time::SystemTime;

use crate::support::{answer, target};

fn refusal(family: Family, status: u16, body: &str) -> WireError {
    let head = RefusalHead::read(family, status, SystemTime::UNIX_EPOCH, |name| {
        (name == "retry-after").then_some("3")
    });
    target(family).refusal(&head, body.as_bytes())
}

#[test]
fn a_failure_has_one_of_the_contracts_codes_and_a_rule_for_trying_again() {
    // class, code, status, again, elsewhere, unhealthy
    let table = [
        (Failure::InvalidRequest, "INVALID_REQUEST_BODY", 400, false, false, false),
        (Failure::ContextLength, "INVALID_REQUEST_BODY", 400, false, true, false),
        (Failure::ProviderAuth, "DEPENDENCY_UNAVAILABLE", 503, false, true, true),
        (Failure::ModelNotFound, "STATE_CONFLICT", 409, false, true, false),
        (Failure::ProviderTimeout, "DEPENDENCY_UNAVAILABLE", 503, true, true, true),
        (Failure::RateLimited, "RATE_LIMITED", 429, true, true, false),
        (Failure::Unavailable, "DEPENDENCY_UNAVAILABLE", 503, true, true, true),
        (Failure::BrokenAnswer, "DEPENDENCY_UNAVAILABLE", 503, true, true, true),
    ];
    assert_eq!(table.len(), Failure::ALL.len());
    for (failure, code, status, again, elsewhere, unhealthy) in table {
        assert_eq!((failure.code(), failure.status()), (code, status));
        assert_eq!(
            (failure.is_retryable(), failure.is_for_fallback(), failure.is_of_health()),
            (again, elsewhere, unhealthy)
        );
    }
}

#[test]
fn a_wait_that_the_provider_asks_for_comes_with_the_refusal() {
    let WireError::Refused(refused) = refusal(Family::OpenAi, 429, r#"{"error":{"message":"slow down"}}"#)
    else {
        panic!("refused");
    };
    assert_eq!(refused.retry_after.map(|wait| wait.as_secs()), Some(3));
    assert_eq!((refused.failure, refused.message.as_deref()), (Failure::RateLimited, Some("slow down")));
}

#[test]
fn what_a_filter_refuses_is_an_answer_that_was_withheld() {
    let body = r#"{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400}}"#;
    let WireError::Refused(refused) = refusal(Family::AzureOpenAi, 400, body) else { panic!("refused") };
    assert!(refused.is_content_filter());
    let response = ChatResponse::withheld(&answer(), "m");
    let told: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(told["choices"][0]["finish_reason"], "content_filter");
    let WireError::Refused(other) = refusal(Family::OpenAi, 400, "{}") else { panic!("refused") };
    assert!(!other.is_content_filter());
}

#[test]
fn error_bodies_of_any_kind_break_nothing() {
    let bodies = [
        "",
        "null",
        "[]",
        "[[[]]]",
        "\"text\"",
        "{\"error\":null}",
        "{\"error\":[1]}",
        "\u{0}\u{1}",
        "{\"error\":{\"code\":99999999999}}",
    ];
    for family in Family::ALL {
        for body in bodies {
            for status in [100, 200, 302, 400, 404, 418, 429, 500, 529, 599, 999] {
                let error = refusal(family, status, body);
                assert!([400, 409, 429, 503].contains(&error.failure().status()));
            }
        }
    }
    let large = format!("{{\"error\":{{\"message\":\"{}\"}}}}", "a ".repeat(1_000_000));
    assert_eq!(refusal(Family::OpenAi, 500, &large).failure(), Failure::Unavailable);
}
