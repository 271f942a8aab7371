//! Pages about the server: health, version, OpenAPI.

use serde_json::{Value, json};

/// A page about the server.
pub(super) struct Page {
    pub(super) content_type: &'static str,
    pub(super) body: Vec<u8>,
    /// Readable without credentials, as the default roles of a real cluster allow.
    pub(super) is_public: bool,
}

/// The version that it reports: that of the real server whose answers it imitates.
const MAJOR: &str = "1";
const MINOR: &str = "38";

const PROTOBUF_V2: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// An OpenAPI v2 document in protobuf with nothing but `swagger: "2.0"`. kubectl accepts it in this
/// form only.
const EMPTY_PROTOBUF_V2: &[u8] = b"\x0a\x032.0";

impl Page {
    /// A page that requires credentials.
    pub(super) fn json(content_type: &'static str, value: &Value) -> Self {
        let mut body = value.to_string().into_bytes();
        body.push(b'\n');
        Self {
            content_type,
            body,
            is_public: false,
        }
    }

    fn public(self) -> Self {
        Self {
            is_public: true,
            ..self
        }
    }
}

/// The page at `path`, if there is one.
pub(super) fn page(path: &str, accept: &str) -> Option<Page> {
    let json = |value: Value| Page::json("application/json", &value);
    Some(match path.trim_end_matches('/') {
        "/healthz" | "/livez" | "/readyz" => Page {
            content_type: "text/plain; charset=utf-8",
            body: b"ok".to_vec(),
            is_public: true,
        },
        "/version" => json(version()).public(),
        "/openapi/v2" if accept.contains("proto-openapi") => Page {
            content_type: PROTOBUF_V2,
            body: EMPTY_PROTOBUF_V2.to_vec(),
            is_public: false,
        },
        "/openapi/v2" => {
            let info = json!({"title": "Kubernetes", "version": git_version()});
            json(json!({"swagger": "2.0", "info": info, "paths": {}, "definitions": {}}))
        }
        "/openapi/v3" => json(json!({"paths": {}})),
        _ => return None,
    })
}

fn git_version() -> String {
    format!("v{MAJOR}.{MINOR}.0-mock")
}

fn version() -> Value {
    json!({
        "major": MAJOR,
        "minor": MINOR,
        "gitVersion": git_version(),
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": "",
    })
}
