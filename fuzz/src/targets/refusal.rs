//! Error answers, and how long they ask to wait.
//!
//! The first line of the input is the value of `Retry-After`, the second the code, the rest the
//! body. What must hold:
//!
//! * The request fails, with a message of limited length.
//! * After a 429, the client reports the time in the header, if that is a number of seconds. An
//!   informer waits that long, but never more than five minutes.

use std::time::Duration;

use informer_core::decode::{Decoder, Lean};
use informer_core::failure::MAX_MESSAGE;
use informer_core::storage::Heap;
use informer_core::transport::{Command, Signal};
use informer_core::{Failure, Informer, InformerConfig, Instant};
use informer_transport_hyper::{Client, Config};

use super::loopback::Loopback;
use crate::Target;

/// This target.
pub const TARGET: Target = Target {
    name: "refusal",
    run,
    words: &[
        "429",
        "503",
        "120",
        "+5",
        " 7 ",
        "5.5",
        "-1",
        "0x10",
        "1e3",
        "18446744073709551615",
        "18446744073709551616",
        "Wed, 21 Oct 2015 07:28:00 GMT",
        "\u{e9}",
        "\n",
        "{\"kind\":\"Status\",\"code\":429,\"details\":{\"retryAfterSeconds\":3}}",
        "\"retryAfterSeconds\":",
        "\"reason\":\"TooManyRequests\"",
        "\"message\":\"",
    ],
};

/// The longest wait that a server can ask of an informer.
const PATIENCE: Duration = Duration::from_secs(300);

thread_local! {
    static SERVER: (Loopback, Client) = {
        let server = Loopback::plain();
        let client = server.client(Config::new(&server.url).unwrap());
        (server, client)
    };
}

/// Answers a request with the input and checks the result.
pub fn run(input: &[u8]) {
    let mut parts = input.splitn(3, |byte| *byte == b'\n');
    // Bytes that no header can carry do not get this far.
    let can_be_sent = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
    let header: Vec<u8> = parts
        .next()
        .unwrap_or_default()
        .iter()
        .copied()
        .filter(can_be_sent)
        .collect();
    let code = parts
        .next()
        .and_then(|code| std::str::from_utf8(code).ok()?.parse::<u16>().ok());
    let code = code.filter(|code| (400..600).contains(code)).unwrap_or(429);
    let body = parts.next().unwrap_or_default();

    let length = body.len();
    let head = format!("HTTP/1.1 {code} No\r\ncontent-length: {length}\r\nretry-after: ");
    let answer = [head.as_bytes(), &header, b"\r\n\r\n", body].concat();
    let (answer, heads) = SERVER.with(|(server, client)| server.ask(client, answer));
    assert_eq!(heads.len(), 1, "{} requests instead of one", heads.len());
    let error = answer.expect_err("an unsuccessful answer is an error");
    assert!(error.message.len() <= MAX_MESSAGE, "{}", error.message);
    let Failure::Throttled { retry_after } = error.failure else {
        return;
    };
    let in_body = body.windows(17).any(|part| part == b"retryAfterSeconds");
    // A date is no number of seconds; its wait depends on the clock.
    let is_date = header.trim_ascii().ends_with(b" GMT");
    if !in_body && !is_date && !body.contains(&b'\\') {
        assert_eq!(
            retry_after,
            seconds(&header),
            "{:?}",
            String::from_utf8_lossy(&header)
        );
    }
    let waited = waits(error.failure);
    assert!(waited <= PATIENCE, "waits for {waited:?}");
    assert!(
        waited >= retry_after.unwrap_or_default().min(PATIENCE),
        "waits for {waited:?} only"
    );
}

/// Parses a number of seconds, naively.
fn seconds(header: &[u8]) -> Option<Duration> {
    let text = header.trim_ascii();
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let fold = |sum: u64, digit: &u8| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    let number = is_number
        .then(|| digits.iter().try_fold(0, fold))
        .flatten()?;
    Some(Duration::from_secs(number))
}

/// How long an informer waits after this failure of its first request.
fn waits(failure: Failure) -> Duration {
    let now = Instant::from_micros(1);
    let mut informer: Informer<_, Heap> =
        Informer::new(Decoder::new(Lean), InformerConfig::new(), 1).unwrap();
    informer.start(now);
    let Some(Command::Open { exchange, .. }) = informer.poll_command(now) else {
        panic!("the informer sends no request");
    };
    let _ = informer.signal(
        exchange,
        Signal::Failed {
            failure,
            message: "",
        },
        now,
    );
    informer.next_deadline().expect("it waits").since(now)
}
