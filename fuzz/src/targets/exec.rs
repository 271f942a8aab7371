//! The output of exec plugins.
//!
//! The input is what the plugin prints. What must hold:
//!
//! * If a naive reading finds a token, the server gets exactly this token. Otherwise nothing is
//!   sent.
//! * No message quotes a text marked `s3cr3t`.

use informer_transport_hyper::Config;
use serde_json::{Value, json};

use super::loopback::{Loopback, Scratch};
use super::repeated::has_repeated_members;
use crate::Target;

/// This target.
pub const TARGET: Target = Target {
    name: "exec",
    run,
    words: &[
        "\"kind\":\"ExecCredential\",",
        "\"apiVersion\":\"client.authentication.k8s.io/v1\",",
        "\"status\":{",
        "\"token\":\"s3cr3t-a\",",
        "\"token\":null,",
        "\"clientCertificateData\":\"s3cr3t-b\",",
        "\"clientKeyData\":\"s3cr3t-c\",",
        "\"expirationTimestamp\":\"2030-01-31T12:00:00Z\",",
        "s3cr3t",
        "\\n",
        "\\u0000",
        "\\u00e9",
        "\u{e9}",
        "null",
        "{}",
        "[",
        "1e400",
    ],
};

/// The server and its CA certificate.
struct Rig {
    server: Loopback,
    authority: Scratch,
}

thread_local! {
    static RIG: Rig = {
        let (server, certificate) = Loopback::with_tls();
        Rig { server, authority: Scratch::new(certificate.as_bytes()) }
    };
}

/// Runs a plugin that prints this, then sends a request to the server.
pub fn run(input: &[u8]) {
    let printed = Scratch::new(input);
    let answer =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    let (answer, heads) = RIG.with(|rig| {
        let file = Scratch::new(rig.kubeconfig(&printed).to_string().as_bytes());
        let config = Config::from_kubeconfig(file.path(), None).unwrap();
        rig.server.ask(&rig.server.client(config), answer.to_vec())
    });
    if let Err(error) = &answer {
        let shown = format!("{error} {error:?}");
        assert!(
            !shown.contains("s3cr3t"),
            "quotes what was printed: {shown}"
        );
    }
    match expected(input) {
        Expected::Anything => {}
        Expected::Nothing => {
            assert!(
                answer.is_err(),
                "accepted something that is not a credential"
            );
            assert_eq!(heads, [""; 0], "sent a request without a credential");
        }
        Expected::Token(token) => {
            assert!(answer.is_ok(), "refused a token: {answer:?}");
            let shown = format!("\r\nauthorization: Bearer {token}\r\n");
            let is_shown = |head: &String| head.contains(&shown);
            assert!(
                heads.iter().all(is_shown) && heads.len() == 1,
                "{token:?} in {heads:?}"
            );
        }
    }
}

impl Rig {
    fn kubeconfig(&self, printed: &Scratch) -> Value {
        json!({
            "current-context": "fuzz",
            "contexts": [{"name": "fuzz", "context": {"cluster": "fuzz", "user": "fuzz"}}],
            "clusters": [{"name": "fuzz", "cluster": {
                "server": self.server.url,
                "certificate-authority": self.authority.path(),
            }}],
            "users": [{"name": "fuzz", "user": {"exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "cat",
                "args": [printed.path()],
                "interactiveMode": "Never",
            }}}],
        })
    }
}

enum Expected {
    Token(String),
    Nothing,
    /// It is too unclear to tell.
    Anything,
}

/// The result of a naive reading.
fn expected(input: &[u8]) -> Expected {
    let Ok(printed) = serde_json::from_slice::<Value>(input) else {
        return Expected::Nothing;
    };
    if has_repeated_members(input) {
        return Expected::Anything;
    }
    let is_ours = printed
        .get("kind")
        .is_some_and(|kind| kind == "ExecCredential")
        && printed
            .get("apiVersion")
            .is_some_and(|version| version == "client.authentication.k8s.io/v1");
    let status = printed.get("status").and_then(Value::as_object);
    let (true, Some(status)) = (is_ours, status) else {
        return Expected::Nothing;
    };
    let others = [
        "clientCertificateData",
        "clientKeyData",
        "expirationTimestamp",
    ];
    if others.iter().any(|name| status.contains_key(*name)) {
        return Expected::Anything;
    }
    // A token that no header can carry cannot be sent.
    let is_plain = |token: &&str| {
        token
            .bytes()
            .all(|byte| (b' '..0x7f).contains(&byte) || byte == b'\t')
    };
    match status.get("token").and_then(Value::as_str) {
        // A header can carry it, as in Go, but no server should issue it.
        Some(token) if !token.is_ascii() => Expected::Anything,
        // A real token has no white space at its ends.
        Some(token) if token.trim() != token => Expected::Anything,
        Some(token) if !token.is_empty() && is_plain(&token) => Expected::Token(token.to_owned()),
        _ => Expected::Nothing,
    }
}
