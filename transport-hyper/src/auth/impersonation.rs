//! Impersonation headers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::AuthError;

/// The user that the server should treat us as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Impersonation {
    pub(crate) user: String,
    pub(crate) uid: Option<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

impl Impersonation {
    pub(super) fn headers(&self) -> Result<HeaderMap, AuthError> {
        let mut headers = HeaderMap::new();
        let mut add = |name: &str, text: &str| {
            let bad = || {
                AuthError::new(format!(
                    "cannot impersonate: `{name}: {text}` is not a valid HTTP header"
                ))
            };
            let name: HeaderName = name.parse().map_err(|_| bad())?;
            headers.append(name, HeaderValue::from_str(text).map_err(|_| bad())?);
            Ok(())
        };
        add("impersonate-user", &self.user)?;
        if let Some(uid) = &self.uid {
            add("impersonate-uid", uid)?;
        }
        for group in &self.groups {
            add("impersonate-group", group)?;
        }
        for (key, values) in &self.extra {
            let name = format!("impersonate-extra-{}", escaped(key));
            for value in values {
                add(&name, value)?;
            }
        }
        Ok(headers)
    }
}

/// Writes characters that are not allowed in a header name as `%XX`.
fn escaped(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte) {
            name.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(name, "%{byte:02X}");
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_becomes_a_header() {
        let impersonation = Impersonation {
            user: "jane".into(),
            uid: Some("u-1".into()),
            groups: vec!["dev".into(), "ops".into()],
            extra: BTreeMap::from([("acme.com/project".into(), vec!["a".into(), "b".into()])]),
        };
        let headers = impersonation.headers().unwrap();
        let all = |name: &str| -> Vec<String> {
            let values = headers.get_all(name).iter();
            values.map(|value| value.to_str().unwrap().into()).collect()
        };
        assert_eq!(all("Impersonate-User"), ["jane"]);
        assert_eq!(all("Impersonate-Uid"), ["u-1"]);
        assert_eq!(all("Impersonate-Group"), ["dev", "ops"]);
        assert_eq!(all("Impersonate-Extra-acme.com%2Fproject"), ["a", "b"]);
    }

    #[test]
    fn an_invalid_header_value_is_refused() {
        let impersonation = Impersonation {
            user: "a\nb".into(),
            uid: None,
            groups: Vec::new(),
            extra: BTreeMap::new(),
        };
        assert!(impersonation.headers().is_err());
    }
}
