//! The kubeconfig of a server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// A kubeconfig for one server. JSON strings are valid YAML strings, so all texts are written as
/// JSON.
///
/// With a token and without TLS, it allows the token over plain HTTP. Otherwise this project's
/// client would withhold it.
pub(super) fn text(url: &str, ca_pem: Option<&str>, token: Option<&str>) -> String {
    let authority = match ca_pem {
        Some(pem) => format!(
            "\n    certificate-authority-data: {}",
            STANDARD.encode(pem.as_bytes())
        ),
        None if token.is_some() => "
    extensions:
    - name: informer/credentials-over-http
      extension: {allow: true}"
            .to_owned(),
        None => String::new(),
    };
    let user = match token {
        Some(token) => format!("\n    token: {}", Value::from(token)),
        None => " {}".to_owned(),
    };
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: mock
  cluster:
    server: {url}{authority}
users:
- name: mock
  user:{user}
contexts:
- name: mock
  context:
    cluster: mock
    user: mock
current-context: mock
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_can_contain_any_character() {
        let text = text("https://127.0.0.1:1", Some("pem"), Some("a\": b # c"));
        assert!(text.contains("    certificate-authority-data: cGVt\n"));
        assert!(text.contains("    token: \"a\\\": b # c\"\n"), "{text}");
        assert!(!text.contains("credentials-over-http"), "{text}");
    }

    #[test]
    fn a_token_over_plain_http_is_allowed_and_nothing_else() {
        let with_token = text("http://127.0.0.1:1", None, Some("t"));
        assert!(with_token.contains("informer/credentials-over-http"));
        let without = text("http://127.0.0.1:1", None, None);
        assert!(!without.contains("extensions"), "{without}");
    }
}
