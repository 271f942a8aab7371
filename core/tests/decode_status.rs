//! From Status objects and HTTP status codes to failures, case by case.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use core::time::Duration;
extern crate alloc;

use alloc::borrow::Cow;

use informer_core::Failure;
use informer_core::decode::answer::{MAX_ERROR_BODY, failure_of_answer};
use informer_core::decode::json::status::ApiStatus;
use serde_json::json;

const THROTTLED: Failure = Failure::Throttled { retry_after: None };

/// Classifies a reason and a code, as a Status and as an HTTP answer.
fn class(reason: &str, code: u16) -> Failure {
    let body = json!({"kind": "Status", "reason": reason, "code": code}).to_string();
    let failure = ApiStatus::read(body.as_bytes()).unwrap().classify();
    assert_eq!(failure_of_answer(200, body.as_bytes(), None).0, failure);
    // A Status without a code takes the code of the answer.
    let body = json!({"kind": "Status", "reason": reason}).to_string();
    assert_eq!(failure_of_answer(code, body.as_bytes(), None).0, failure);
    failure
}

#[test]
fn the_reason_decides_if_it_is_known() {
    for (reason, usual, failure) in [
        ("Expired", 410, Failure::Expired),
        ("Gone", 410, Failure::Expired),
        ("TooManyRequests", 429, THROTTLED),
        ("InternalError", 500, Failure::Internal),
        ("StoreReadError", 500, Failure::Other),
        ("Unauthorized", 401, Failure::Unauthorized),
        ("Forbidden", 403, Failure::Forbidden),
        ("NotFound", 404, Failure::NotFound),
        ("BadRequest", 400, Failure::Invalid),
        ("Invalid", 422, Failure::Invalid),
        ("NotAcceptable", 406, Failure::Invalid),
        ("UnsupportedMediaType", 415, Failure::Invalid),
        ("Timeout", 504, Failure::TimedOut),
        ("ServerTimeout", 500, Failure::TimedOut),
        ("ServiceUnavailable", 503, Failure::Unavailable),
        ("AlreadyExists", 409, Failure::Other),
        ("Conflict", 409, Failure::Other),
        ("MethodNotAllowed", 405, Failure::Other),
        ("RequestEntityTooLarge", 413, Failure::Other),
    ] {
        for code in [usual, 0, 200, 400, 404, 410, 500, 504, 599] {
            assert_eq!(class(reason, code), failure, "{reason} {code}");
        }
    }
}

#[test]
fn the_code_decides_if_the_reason_is_unknown() {
    for reason in ["", "Unknown", "expired", "SomethingNew"] {
        for (code, failure) in [
            (400, Failure::Invalid),
            (401, Failure::Unauthorized),
            (402, Failure::Other),
            (403, Failure::Forbidden),
            (404, Failure::NotFound),
            (405, Failure::Other),
            (406, Failure::Invalid),
            (409, Failure::Other),
            (410, Failure::Expired),
            (413, Failure::Other),
            (415, Failure::Invalid),
            (422, Failure::Invalid),
            (429, THROTTLED),
            (500, Failure::Internal),
            (501, Failure::Unavailable),
            (502, Failure::Unavailable),
            (503, Failure::Unavailable),
            (504, Failure::TimedOut),
            (505, Failure::Unavailable),
            (599, Failure::Unavailable),
            (600, Failure::Other),
            (200, Failure::Other),
            (302, Failure::Other),
            (0, Failure::Other),
        ] {
            assert_eq!(class(reason, code), failure, "{reason:?} {code}");
            assert_eq!(
                failure_of_answer(code, b"", None).0,
                failure,
                "{code} without a body"
            );
            assert_eq!(
                failure_of_answer(code, b"oops", None).0,
                failure,
                "{code} with a text"
            );
        }
    }
}

#[test]
fn the_code_429_throttles_whatever_the_reason() {
    assert_eq!(class("Conflict", 429), THROTTLED);
    assert_eq!(class("InternalError", 429), THROTTLED);
    // `Expired` still wins.
    assert_eq!(class("Expired", 429), Failure::Expired);
}

#[test]
fn all_three_forms_of_a_too_large_version_are_recognised() {
    let classify = |body: serde_json::Value| {
        ApiStatus::read(body.to_string().as_bytes())
            .unwrap()
            .classify()
    };
    let phrase = "Too large resource version";
    let cause = |reason: &str, message: &str| json!({"causes": [{"reason": "x"}, {"reason": reason, "message": message, "field": "f"}]});
    for (reason, code, expected_old) in [
        ("Timeout", 504, Failure::VersionTooLarge),
        ("Timeout", 0, Failure::VersionTooLarge),
        ("", 504, Failure::VersionTooLarge),
        ("SomethingNew", 504, Failure::VersionTooLarge),
        ("ServerTimeout", 504, Failure::TimedOut),
        ("", 500, Failure::Internal),
        ("InternalError", 504, Failure::Internal),
    ] {
        let status = |details, message: &str| {
            let status = json!({"kind": "Status", "reason": reason, "code": code,
                "details": details, "message": message});
            classify(status)
        };
        // A cause of this type decides for any reason.
        let typed = status(cause("ResourceVersionTooLarge", ""), "");
        assert_eq!(typed, Failure::VersionTooLarge, "{reason} {code}");
        // The two forms of old servers count only in a timeout.
        assert_eq!(
            status(cause("", phrase), ""),
            expected_old,
            "{reason} {code}"
        );
        let said = status(json!(null), &format!("{phrase}: 9, current: 7"));
        assert_eq!(said, expected_old, "{reason} {code}");
        // The message of a cause must equal the phrase, not contain it.
        let contained = status(cause("", &format!("{phrase}!")), "");
        assert_ne!(contained, Failure::VersionTooLarge);
    }
}

#[test]
fn a_too_large_version_of_a_real_server() {
    let body = br#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: 99999999, current: 20364","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1},"code":504}"#;
    let (failure, message) = failure_of_answer(504, body, Some(Duration::from_secs(1)));
    assert_eq!(failure, Failure::VersionTooLarge);
    assert_eq!(
        message,
        "Timeout: Too large resource version: 99999999, current: 20364"
    );
    assert!(matches!(message, Cow::Borrowed(_)));
    assert_eq!(
        ApiStatus::read(body).unwrap().retry_after,
        Some(Duration::from_secs(1))
    );
}

#[test]
fn a_server_that_fails_may_ask_to_wait() {
    let wait = Some(Duration::from_secs(9));
    let asked = Failure::Throttled { retry_after: wait };
    for (code, reason, silent) in [
        (500, "InternalError", Failure::Internal),
        (500, "ServerTimeout", Failure::TimedOut),
        (502, "", Failure::Unavailable),
        (503, "ServiceUnavailable", Failure::Unavailable),
        (504, "Timeout", Failure::TimedOut),
    ] {
        let body = json!({"kind": "Status", "reason": reason, "code": code}).to_string();
        assert_eq!(failure_of_answer(code, body.as_bytes(), wait).0, asked);
        assert_eq!(failure_of_answer(code, b"", wait).0, asked);
        // A wait of zero says nothing.
        let zero = Some(Duration::ZERO);
        assert_eq!(failure_of_answer(code, body.as_bytes(), zero).0, silent);
        assert_eq!(failure_of_answer(code, body.as_bytes(), None).0, silent);
        let details = json!({"retryAfterSeconds": 9});
        let body = json!({"kind": "Status", "reason": reason, "code": code, "details": details});
        assert_eq!(
            failure_of_answer(code, body.to_string().as_bytes(), None).0,
            asked
        );
    }
    // No wait would help.
    for (code, reason, failure) in [
        (403, "Forbidden", Failure::Forbidden),
        (410, "Expired", Failure::Expired),
        (500, "StoreReadError", Failure::Other),
        (504, "Expired", Failure::Expired),
    ] {
        let body = json!({"kind": "Status", "reason": reason, "code": code}).to_string();
        assert_eq!(failure_of_answer(code, body.as_bytes(), wait).0, failure);
    }
    let body = json!({
        "kind": "Status", "reason": "Timeout", "code": 504,
        "details": {"retryAfterSeconds": 1, "causes": [{"reason": "ResourceVersionTooLarge"}]},
    });
    assert_eq!(
        failure_of_answer(504, body.to_string().as_bytes(), wait).0,
        Failure::VersionTooLarge
    );
}

#[test]
fn the_status_overrides_the_retry_after_header() {
    let with = |seconds: u64| {
        json!({"kind": "Status", "code": 429, "details": {"retryAfterSeconds": seconds}})
            .to_string()
    };
    let wait = |seconds| Failure::Throttled {
        retry_after: Some(Duration::from_secs(seconds)),
    };
    let header = Some(Duration::from_secs(9));
    assert_eq!(
        failure_of_answer(429, with(3).as_bytes(), header).0,
        wait(3)
    );
    assert_eq!(failure_of_answer(429, with(3).as_bytes(), None).0, wait(3));
    assert_eq!(
        failure_of_answer(429, with(0).as_bytes(), header).0,
        wait(9)
    );
    assert_eq!(failure_of_answer(429, b"slow down", header).0, wait(9));
    assert_eq!(
        failure_of_answer(429, with(0).as_bytes(), None).0,
        THROTTLED
    );
    // A number out of range is ignored.
    assert_eq!(
        failure_of_answer(429, with(u64::MAX).as_bytes(), None).0,
        THROTTLED
    );
}

#[test]
fn a_body_that_is_not_a_status_is_quoted() {
    let message = |code, body: &[u8]| failure_of_answer(code, body, None).1.into_owned();
    assert_eq!(message(503, b""), "HTTP 503");
    assert_eq!(message(503, b" \r\n"), "HTTP 503");
    assert_eq!(
        message(502, b"<html>\n<b>Bad</b>"),
        "HTTP 502: <html> <b>Bad</b>"
    );
    assert_eq!(
        message(404, b"404 page not found\n"),
        "HTTP 404: 404 page not found"
    );
    let long = message(500, "é".repeat(1000).as_bytes());
    assert_eq!(long, format!("HTTP 500: {}", "é".repeat(30)));
    assert_eq!(
        message(500, br#"{"kind":"Pod"}"#),
        r#"HTTP 500: {"kind":"Pod"}"#
    );
    // A Status that was cut is ignored.
    let cut = br#"{"kind":"Status","reason":"Expired","code":410,"mess"#;
    assert_eq!(failure_of_answer(500, cut, None).0, Failure::Internal);
    assert!(message(500, cut).starts_with(r#"HTTP 500: {"kind":"Status""#));
}

#[test]
fn a_status_without_a_message_is_quoted() {
    let body = br#"{"kind":"Status","code":403}"#;
    assert_eq!(
        failure_of_answer(403, body, None).1,
        r#"HTTP 403: {"kind":"Status","code":403}"#
    );
}

#[test]
fn a_message_is_unescaped_and_bounded() {
    let body = br#"{"kind":"Status","message":"pods is \"forbidden\"","code":403}"#;
    assert_eq!(
        failure_of_answer(403, body, None).1,
        r#"pods is "forbidden""#
    );
    for text in ["x", "é", "\""] {
        let body = json!({"kind": "Status", "message": text.repeat(1000)}).to_string();
        assert!(body.len() < MAX_ERROR_BODY);
        let (_, message) = failure_of_answer(500, body.as_bytes(), None);
        assert_eq!(message.len(), 512);
        assert!(message.starts_with(text));
    }
}

#[test]
fn other_objects_are_not_read_as_a_status() {
    for text in [
        &b""[..],
        b"null",
        b"[]",
        b"{}",
        br#"{"kind":"Pod","code":410}"#,
        br#"{"code":410,"reason":"Expired"}"#,
        br#"{"kind":"Status","code":410} x"#,
        br#"{"kind":"Status","kind":"Pod"}"#,
    ] {
        assert!(ApiStatus::read(text).is_none(), "{}", text.escape_ascii());
    }
    // The order of members and unknown members do not matter.
    let odd = br#" { "x" : [{}], "details" : 7, "reason" : null, "code" : "410", "message":1, "k\u0069nd":"Status" } "#;
    let status = ApiStatus::read(odd).unwrap();
    assert_eq!(status.code, 0);
    assert!(status.reason.is_none() && status.message.is_none());
    assert_eq!(status.classify(), Failure::Other);
}
