//! Checks of the names in a target.

use alloc::format;
use alloc::string::String;
use core::fmt;

use super::Target;

/// The longest name of a namespace, version or resource: a DNS label.
const MAX_LABEL: usize = 63;

/// The longest name of a group: a DNS name.
const MAX_GROUP: usize = 253;

/// A name in a [`Target`] is not valid on any server. Its message says what to write instead.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct InvalidTarget {
    /// The part with the name: `group`, `version`, `resource` or `namespace`.
    pub part: &'static str,
    /// The invalid name.
    pub name: String,
    /// What to write instead.
    pub remedy: String,
}

impl InvalidTarget {
    fn new(part: &'static str, name: &str, remedy: impl Into<String>) -> Self {
        Self {
            part,
            name: name.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for InvalidTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, name, remedy } = self;
        if name.is_empty() {
            return write!(f, "the {part} is empty; {remedy}");
        }
        // Quoted as in source code, because it may contain anything.
        write!(f, "{name:?} cannot be a {part}; {remedy}")
    }
}

impl core::error::Error for InvalidTarget {}

impl Target {
    /// Checks that the names are valid. The informer's builder and the HTTP transport call this.
    /// Without it, a wrong name would cause a 404 or reach another path.
    ///
    /// ```
    /// use informer_core::transport::Target;
    ///
    /// assert!(Target::new("apps", "v1", "deployments").in_namespace("web").check().is_ok());
    /// let error = Target::new("core", "v1", "pods").check().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     r#""core" cannot be a group; the core group is the empty text: write """#
    /// );
    /// ```
    ///
    /// # Errors
    /// The group, version, resource or namespace is not valid.
    pub fn check(&self) -> Result<(), InvalidTarget> {
        check_group(&self.group)?;
        check_version(&self.version)?;
        check_resource(&self.plural)?;
        self.namespace.as_deref().map_or(Ok(()), check_namespace)
    }
}

/// Checks that this is a valid name for a namespace.
///
/// # Errors
/// The name is not a DNS label.
pub fn check_namespace(name: &str) -> Result<(), InvalidTarget> {
    let remedy = match name {
        "" => "leave it out to follow all namespaces",
        "*" => "leave the namespace out to follow all of them",
        _ if is_label(name) => return Ok(()),
        _ => "write lower-case letters, digits and `-`, at most 63, such as `kube-system`",
    };
    Err(InvalidTarget::new("namespace", name, remedy))
}

fn check_group(name: &str) -> Result<(), InvalidTarget> {
    let invalid = |remedy: String| Err(InvalidTarget::new("group", name, remedy));
    if name == "core" {
        return invalid("the core group is the empty text: write \"\"".into());
    }
    if let Some((group, version)) = name.split_once('/') {
        return invalid(separate(group, version));
    }
    if name.is_empty() || (name.len() <= MAX_GROUP && name.split('.').all(is_label)) {
        return Ok(());
    }
    invalid("write a name such as `apps` or `example.com`, in lower case".into())
}

fn check_version(name: &str) -> Result<(), InvalidTarget> {
    if is_label(name) {
        return Ok(());
    }
    let remedy = match name.split_once('/') {
        Some((group, version)) => separate(group, version),
        None => "write a version such as `v1` or `v1beta1`".into(),
    };
    Err(InvalidTarget::new("version", name, remedy))
}

fn check_resource(name: &str) -> Result<(), InvalidTarget> {
    if is_label(name) {
        return Ok(());
    }
    let remedy = if name.contains('/') {
        "a subresource cannot be followed: write the resource alone, such as `pods`".into()
    } else {
        let plural = name.to_ascii_lowercase();
        match plural.strip_suffix('s').unwrap_or(&plural) {
            one if is_label(one) => format!(
                "write the plural name in lower case, as in URLs: `{one}s`, if that is the plural"
            ),
            _ => "write the plural name in lower case, as in URLs, such as `pods`".into(),
        }
    };
    Err(InvalidTarget::new("resource", name, remedy))
}

fn separate(group: &str, version: &str) -> String {
    format!("group and version are separate: write the group {group:?} and the version {version:?}")
}

/// Whether this is a DNS label: lower-case letters, digits and `-`, with no `-` at either end.
fn is_label(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = [name.bytes().next(), name.bytes().next_back()];
    name.len() <= MAX_LABEL
        && ends.iter().all(|byte| byte.is_some_and(is_plain))
        && name.bytes().all(|byte| is_plain(byte) || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    fn complaint(group: &str, version: &str, plural: &str, namespace: Option<&str>) -> String {
        let mut target = Target::new(group, version, plural);
        target.namespace = namespace.map(Into::into);
        match target.check() {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn valid_names_are_accepted() {
        let longest = "n".repeat(63);
        for (group, version, plural, namespace) in [
            ("", "v1", "pods", None),
            ("", "v1", "pods", Some("kube-system")),
            ("", "v1", "pods", Some("0")),
            ("", "v1", "pods", Some(&*longest)),
            ("apps", "v1", "deployments", Some("web")),
            ("rbac.authorization.k8s.io", "v1", "clusterroles", None),
            ("acme-2.example.org", "v2alpha1", "my-widgets", Some("a-1")),
        ] {
            assert_eq!(complaint(group, version, plural, namespace), "");
        }
    }

    #[test]
    fn invalid_namespaces_are_refused() {
        let long = "n".repeat(64);
        for name in [
            ".", "..", "a/b", "../x", "a.b", "Web", "-a", "a-", "a b", "a%2Fb", "é", "a\n", &long,
        ] {
            let said = complaint("", "v1", "pods", Some(name));
            assert!(said.contains("cannot be a namespace; write "), "{said}");
            assert!(!said.contains('\n'), "{said}");
        }
        assert_eq!(
            complaint("", "v1", "pods", Some("")),
            "the namespace is empty; leave it out to follow all namespaces"
        );
        let said = complaint("", "v1", "pods", Some("*"));
        assert!(
            said.ends_with("leave the namespace out to follow all of them"),
            "{said}"
        );
    }

    #[test]
    fn invalid_groups_versions_and_resources_are_refused() {
        for (group, version, plural, remedy) in [
            ("core", "v1", "pods", "the core group is the empty text"),
            (
                "apps/v1",
                "v1",
                "pods",
                "the group \"apps\" and the version \"v1\"",
            ),
            ("Apps", "v1", "pods", "in lower case"),
            ("a..b", "v1", "pods", "such as `apps`"),
            ("..", "v1", "pods", "such as `apps`"),
            (
                "",
                "apps/v1",
                "pods",
                "the group \"apps\" and the version \"v1\"",
            ),
            (
                "",
                "",
                "pods",
                "the version is empty; write a version such as `v1`",
            ),
            ("", "V1", "pods", "such as `v1`"),
            ("", "..", "pods", "such as `v1`"),
            ("", "v1", "", "the resource is empty; write the plural name"),
            ("", "v1", "Pod", "`pods`"),
            ("", "v1", "Pods", "`pods`"),
            ("", "v1", "pods/status", "a subresource cannot be followed"),
            ("", "v1", "..", "such as `pods`"),
        ] {
            let said = complaint(group, version, plural, None);
            assert!(said.contains(remedy), "{said}");
        }
    }
}
