//! What a client needs to know, in the file that clients read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// A kubeconfig for one server. Texts are written as JSON strings, which are YAML strings too.
pub(super) fn text(url: &str, ca_pem: Option<&str>, token: Option<&str>) -> String {
    let authority = match ca_pem {
        Some(pem) => format!(
            "\n    certificate-authority-data: {}",
            STANDARD.encode(pem.as_bytes())
        ),
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
    fn a_token_can_hold_anything() {
        let text = text("https://127.0.0.1:1", Some("pem"), Some("a\": b # c"));
        assert!(text.contains("    certificate-authority-data: cGVt\n"));
        assert!(text.contains("    token: \"a\\\": b # c\"\n"), "{text}");
    }
}
