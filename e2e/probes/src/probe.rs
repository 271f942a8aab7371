//! A request of the table.

use serde_json::Value;

/// Requests that belong together.
#[derive(Debug)]
#[non_exhaustive]
pub struct Chapter {
    /// Their subject.
    pub name: &'static str,
    /// In order.
    pub steps: Vec<Step>,
}

impl Chapter {
    pub(crate) fn new(name: &'static str, probes: impl IntoIterator<Item = Probe>) -> Self {
        Self {
            name,
            steps: probes.into_iter().map(Step::Ask).collect(),
        }
    }

    /// A chapter for after the server has forgotten its history.
    pub(crate) fn of_forgotten_past(
        name: &'static str,
        probes: impl IntoIterator<Item = Probe>,
    ) -> Self {
        let mut chapter = Self::new(name, probes);
        chapter.steps.insert(0, Step::Forget);
        chapter
    }
}

/// The next step.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Step {
    /// A request whose answer is compared.
    Ask(Probe),
    /// A request that is repeated until its answer has this status. It is not compared.
    Until(Probe, u16),
    /// The server forgets every version before the present one.
    Forget,
}

/// One request. Names in braces stand for values that only the server knows: `{a}` is the version
/// of the object kept as `a`, `{a.uid}` its uid, `{a.name}` its name; `{ns}` is the namespace.
#[derive(Clone, Debug)]
pub struct Probe {
    pub(crate) method: &'static str,
    pub(crate) target: String,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: String,
    pub(crate) kept: Option<Kept>,
}

/// What to keep of an answer for later requests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kept {
    /// Version, uid and name of the object.
    Object(&'static str),
    /// Version and continue token of the list or of the refusal.
    Page(&'static str),
}

impl Probe {
    fn new(method: &'static str, target: impl Into<String>) -> Self {
        Self {
            method,
            target: target.into(),
            headers: Vec::new(),
            body: String::new(),
            kept: None,
        }
    }

    pub(crate) fn get(target: impl Into<String>) -> Self {
        Self::new("GET", target)
    }

    /// Any other method, without a body.
    pub(crate) fn bare(method: &'static str, target: impl Into<String>) -> Self {
        Self::new(method, target)
    }

    pub(crate) fn post(target: impl Into<String>, body: &Value) -> Self {
        Self::new("POST", target).sending("application/json", body.to_string())
    }

    pub(crate) fn put(target: impl Into<String>, body: &Value) -> Self {
        Self::new("PUT", target).sending("application/json", body.to_string())
    }

    pub(crate) fn delete(target: impl Into<String>, options: &Value) -> Self {
        Self::new("DELETE", target).sending("application/json", options.to_string())
    }

    pub(crate) fn merge(target: impl Into<String>, changes: &Value) -> Self {
        Self::patch(target, "application/merge-patch+json", changes.to_string())
    }

    pub(crate) fn patch(
        target: impl Into<String>,
        content_type: &'static str,
        body: impl Into<String>,
    ) -> Self {
        Self::new("PATCH", target).sending(content_type, body)
    }

    /// With any body.
    pub(crate) fn sending(mut self, content_type: &'static str, body: impl Into<String>) -> Self {
        self.body = body.into();
        self.with("Content-Type", content_type)
    }

    pub(crate) fn with(mut self, header: &'static str, value: &'static str) -> Self {
        self.headers.push((header, value));
        self
    }

    pub(crate) fn accepting(self, media_type: &'static str) -> Self {
        self.with("Accept", media_type)
    }

    pub(crate) const fn keep(mut self, name: &'static str) -> Self {
        self.kept = Some(Kept::Object(name));
        self
    }

    pub(crate) const fn keep_page(mut self, name: &'static str) -> Self {
        self.kept = Some(Kept::Page(name));
        self
    }

    /// Whether it changes neither the server nor the known values. Such requests can be sent at the
    /// same time.
    pub(crate) fn is_independent(&self) -> bool {
        self.method == "GET" && self.kept.is_none()
    }

    /// Whether its answer is a watch.
    pub(crate) fn is_watch(&self) -> bool {
        self.target.contains("watch=true") || self.target.contains("/watch/")
    }

    /// Whether a real server fills in the spec and status of its objects.
    pub(crate) fn has_defaults(&self) -> bool {
        let has = |part: &&str| self.target.contains(part);
        ["/pods", "/deployments", "/replicationcontrollers"]
            .iter()
            .any(has)
            && !self.target.split('?').any(|path| path.ends_with("/scale"))
    }

    /// The request as one line, the same for every server.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = format!("{} {}", self.method, self.target);
        for (name, value) in &self.headers {
            // The default type of a body is not shown.
            if *value != "application/json" {
                line += &format!(" {name}: {value}");
            }
        }
        if !self.body.is_empty() {
            line += " ";
            line += &self.body;
        }
        line
    }
}
