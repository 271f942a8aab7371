//! Bad answers: errors, redirects, login pages, endless bodies.

use informer::Failure;
use informer_transport_mock::Server;
use informer_transport_mock::http::{HttpConfig, serve};

use crate::client;
use crate::followed::{Followed, LISTED, WAYS, Way, change, impatient, server, touch};
use crate::wire::{Answer, Wire};

/// Breaks the watch, gives these answers to the next requests, and checks that the informer recovers, with
/// and without the history of the server. Returns how many bytes of the answers were read.
async fn is_answered(ways: &[Way], answers: &[Answer], failure: Failure) -> usize {
    let mut wasted = 0;
    for &way in ways {
        for forgets in [false, true] {
            let what = format!("{:?}, {way:?}, forgets: {forgets}", answers.first());
            let server = server();
            let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
            let wire = Wire::new(running.address()).await;
            let mut pods = Followed::new(&client::plain(&wire.url()), impatient(way));
            pods.catches_up(&server, &what).await;
            touch(&server, "a");
            pods.catches_up(&server, &what).await;

            wire.answer(answers.iter().cloned());
            change(&server, "d");
            if forgets {
                server.with(Server::restart);
            }
            pods.catches_up(&server, &what).await;
            pods.knows_who_vanished(&what);
            assert!(wire.is_used_up(), "{what}");
            assert!(pods.has_failed(failure), "{what}: no {failure:?}");
            wasted = wasted.max(wire.wasted());
            running.stop().await;
        }
    }
    wasted
}

/// An answer over HTTP/1.1.
fn answer(code: u16, headers: &str, body: &str) -> Answer {
    let length = body.len();
    Answer::Text(format!(
        "HTTP/1.1 {code} Whatever\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))
}

#[tokio::test]
async fn unsuccessful_answers_with_and_without_a_body() {
    for (code, reason, failure) in [
        (401, "Unauthorized", Failure::Unauthorized),
        (403, "Forbidden", Failure::Forbidden),
        (404, "NotFound", Failure::NotFound),
        (410, "Expired", Failure::Expired),
        (
            429,
            "TooManyRequests",
            Failure::Throttled { retry_after: None },
        ),
        (500, "InternalError", Failure::Internal),
        (503, "ServiceUnavailable", Failure::Unavailable),
        (504, "Timeout", Failure::TimedOut),
    ] {
        let json = "content-type: application/json\r\n";
        let status = format!(
            r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"{reason}","code":{code}}}"#
        );
        let page = "<html>no</html>";
        // The later requests, including one for the full state, get the same answer.
        for answer in [
            answer(code, json, &status),
            answer(code, "", ""),
            answer(code, "content-type: text/html\r\n", page),
        ] {
            is_answered(&WAYS, &[answer.clone(), answer.clone(), answer], failure).await;
        }
    }
}

#[tokio::test]
async fn a_login_page_is_not_a_list() {
    let page = answer(
        200,
        "content-type: text/html\r\n",
        "<html>please log in</html>",
    );
    is_answered(
        &WAYS,
        &[page.clone(), page.clone(), page],
        Failure::Undecodable,
    )
    .await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let address = elsewhere.local_addr().unwrap();
    for code in [301, 302, 307, 308] {
        let location = format!("location: http://{address}/api/v1/pods\r\n");
        let away = answer(code, &location, "");
        is_answered(&WAYS, &[away.clone(), away], Failure::Other).await;
    }
    assert!(elsewhere.accept().is_err(), "a redirect was followed");
}

/// A head and the beginning of a body.
fn begun(code: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {code} Whatever\r\ncontent-type: application/json\r\ncontent-length: 10000000000\r\n\r\n{body}"
    )
}

/// The most bytes that may be read of an endless body. An object has at most 16 MiB, and some data is on
/// its way.
const BEARABLE: usize = 64 << 20;

#[tokio::test]
async fn an_endless_line() {
    let line = begun(
        200,
        r#"{"type":"ADDED","object":{"metadata":{"name":"a","labels":{"a":""#,
    );
    let line = Answer::Long(line, usize::MAX);
    let wasted = is_answered(&WAYS, &[line], Failure::Undecodable).await;
    assert!(wasted < BEARABLE, "{wasted}");
}

#[tokio::test]
async fn an_endless_error_body() {
    let why = Answer::Long(begun(500, ""), usize::MAX);
    let wasted = is_answered(&WAYS, &[why.clone(), why], Failure::Internal).await;
    assert!(wasted < BEARABLE, "{wasted}");
}

#[tokio::test]
async fn a_list_larger_than_its_memory_limit() {
    const LENGTH: usize = 160 << 20;
    let list = begun(
        200,
        r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":""#,
    );
    let answers = [answer(410, "", ""), Answer::Long(list, LENGTH)];
    let before = memory();
    let wasted = is_answered(&[LISTED], &answers, Failure::Undecodable).await;
    assert!(wasted < BEARABLE, "{wasted}");
    let grown = memory().saturating_sub(before);
    assert!(grown < LENGTH / 2, "{grown}");
}

/// The peak memory of this process in bytes, or 0 if the system does not say.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = most.and_then(|most| most.trim().strip_suffix(" kB")?.parse::<usize>().ok());
    kib.unwrap_or_default() << 10
}
