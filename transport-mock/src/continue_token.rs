//! Page tokens: base64 of JSON, as on the real server.

use serde_json::Value;

use crate::base64_text;
use crate::encode;
use crate::status::ApiError;

/// Where a list continues.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ContinueToken {
    /// The version of the first page; `None` to continue inconsistently with the newest.
    pub(crate) version: Option<u64>,
    /// The first key of the page, without the list's prefix.
    pub(crate) start: String,
}

impl ContinueToken {
    pub(crate) fn encoded(&self) -> String {
        let version = self
            .version
            .and_then(|version| i64::try_from(version).ok())
            .unwrap_or(-1);
        let mut text = format!(r#"{{"v":"meta.k8s.io/v1","rv":{version},"start":"#).into_bytes();
        encode::json(&mut text, &self.start);
        text.push(b'}');
        base64_text::encoded(&text)
    }

    pub(crate) fn decoded(text: &str) -> Result<Self, ApiError> {
        Self::read(text)
            .map_err(|why| ApiError::bad_request(format!("invalid continue token: {why}")))
    }

    fn read(text: &str) -> Result<Self, String> {
        let invalid = |why: &str| format!("continue key is not valid: {why}");
        let bytes = base64_text::decoded(text)
            .map_err(|at| invalid(&format!("illegal base64 data at input byte {at}")))?;
        let token: Value =
            serde_json::from_slice(&bytes).map_err(|error| invalid(&error.to_string()))?;
        let version = token.get("v").and_then(Value::as_str).unwrap_or_default();
        if version != "meta.k8s.io/v1" {
            let known = invalid("server does not recognize this encoded version");
            return Err(format!("{known} {version}"));
        }
        let version = token.get("rv").and_then(Value::as_i64).unwrap_or(0);
        if version == 0 {
            return Err(invalid(
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ));
        }
        let start = token
            .get("start")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if start.is_empty() {
            return Err(invalid("encoded start key empty (version meta.k8s.io/v1)"));
        }
        // A key that escapes its list.
        let parts = start.strip_prefix('/').unwrap_or(start).split('/');
        if parts
            .into_iter()
            .any(|part| matches!(part, "" | "." | ".."))
        {
            return Err(invalid(start));
        }
        Ok(Self {
            version: u64::try_from(version).ok(),
            start: start.strip_prefix('/').unwrap_or(start).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_equal_those_of_the_real_server() {
        let token = ContinueToken {
            version: Some(20_364),
            start: "default/web\0".to_owned(),
        };
        let text = token.encoded();
        assert_eq!(
            text,
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjAzNjQsInN0YXJ0IjoiZGVmYXVsdC93ZWJcdTAwMDAifQ"
        );
        assert_eq!(ContinueToken::decoded(&text), Ok(token));
    }

    #[test]
    fn a_token_for_the_newest_version() {
        let token = ContinueToken {
            version: None,
            start: "web\0".to_owned(),
        };
        assert_eq!(ContinueToken::decoded(&token.encoded()), Ok(token));
    }

    #[test]
    fn each_kind_of_bad_token_has_its_own_message() {
        let of = |value: Value| base64_text::encoded(value.to_string().as_bytes());
        for (token, message) in [
            (
                "!".to_owned(),
                "invalid continue token: continue key is not valid: illegal base64 data at input byte 0",
            ),
            (
                of(json!({"v": "v2"})),
                "invalid continue token: continue key is not valid: server does not recognize this encoded version v2",
            ),
            (
                of(json!({"v": "meta.k8s.io/v1", "start": "a"})),
                "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
            (
                of(json!({"v": "meta.k8s.io/v1", "rv": 5})),
                "invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)",
            ),
            (
                of(json!({"v": "meta.k8s.io/v1", "rv": 5, "start": "../a"})),
                "invalid continue token: continue key is not valid: ../a",
            ),
        ] {
            let refused = ContinueToken::decoded(&token).unwrap_err();
            assert_eq!((refused.code(), refused.message()), (400, message));
        }
    }
}
