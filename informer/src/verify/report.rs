//! The result of a comparison.

use std::fmt;
use std::ops::AddAssign;

use informer_core::ObjectKey;
use informer_core::failure::Printable;
use serde::{Serialize, Serializer};

use crate::words::counted;

/// How many differences are kept.
pub(super) const KEPT: usize = 50;

/// How many differences are shown in words.
const SHOWN: usize = 5;

/// How a cache compares with the server at one version: see [`SharedInformer::verify`].
///
/// [`SharedInformer::verify`]: crate::SharedInformer::verify
///
/// ```
/// # use informer::{InformerBuilder, Target, TransformError};
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # for name in ["a", "b"] {
/// #     server.with(|server| server.create("pods", serde_json::json!({"metadata": {"namespace": "web", "name": name}})))?;
/// # }
/// # let client = server.connect();
/// // `client` talks to a mock API server with the pods web/a and web/b.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
///     .transform(|pod| match pod.key().name() {
///         "b" => Err(TransformError::new("not wanted")),
///         _ => Ok(()),
///     })
///     .start(&client)?;
/// let verified = pods.verify(&client, std::time::Duration::from_secs(30)).await?;
/// assert!(!verified.is_consistent());
/// assert_eq!((verified.missing, verified.explained), (1, 1));
/// assert_eq!(
///     verified.to_string(),
///     "pods.v1 at version 3: 1 object; 1 missing, 0 extra, 0 at another version than on the server: \
///      web/b is missing: the server has version 3 (it was left out: refused by the transform: not wanted)"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Verified {
    /// The resource, namespace and selectors that the informer follows.
    pub name: String,
    /// The version at which both were compared. With several sources, the versions of all, separated by commas.
    pub version: String,
    /// How many objects the cache had. An object of several sources was compared, and counts, for each of them.
    pub objects: usize,
    /// How many objects the server had and the cache had not.
    pub missing: usize,
    /// How many objects the cache had and the server had not.
    pub extra: usize,
    /// How many objects both had, at different versions.
    pub differing: usize,
    /// How many of these differences the informer can explain, because it could not use an object. It has
    /// reported those objects as rejected.
    pub explained: usize,
    /// The differences; at most the first 50.
    pub differences: Vec<Difference>,
}

impl Verified {
    /// Whether the cache had the same objects as the server, at the same versions.
    #[must_use]
    pub const fn is_consistent(&self) -> bool {
        self.count() == 0
    }

    /// Before anything was compared.
    pub(super) const fn nothing(name: String) -> Self {
        Self {
            name,
            version: String::new(),
            objects: 0,
            missing: 0,
            extra: 0,
            differing: 0,
            explained: 0,
            differences: Vec::new(),
        }
    }

    /// How many differences there are.
    const fn count(&self) -> usize {
        self.missing + self.extra + self.differing
    }
}

/// Adds what was found for another source.
impl AddAssign for Verified {
    fn add_assign(&mut self, source: Self) {
        if !self.version.is_empty() {
            self.version.push_str(", ");
        }
        self.version.push_str(&source.version);
        self.objects += source.objects;
        self.missing += source.missing;
        self.extra += source.extra;
        self.differing += source.differing;
        self.explained += source.explained;
        self.differences.extend(source.differences);
        self.differences.truncate(KEPT);
    }
}

/// One line for people: how many objects there are, and the first differences.
impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            version,
            missing,
            extra,
            differing,
            ..
        } = self;
        let objects = counted(self.objects as u64, "object");
        write!(f, "{name} at version {version}: {objects}")?;
        if self.is_consistent() {
            return f.write_str(", the same as on the server");
        }
        write!(
            f,
            "; {missing} missing, {extra} extra, {differing} at another version than on the server: "
        )?;
        for (number, difference) in self.differences.iter().take(SHOWN).enumerate() {
            let between = if number > 0 { "; " } else { "" };
            write!(f, "{between}{difference}")?;
        }
        match self.count().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// An object that the cache does not show as the server has it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The key of the object.
    #[serde(serialize_with = "as_text")]
    pub key: ObjectKey,
    /// Its version in the cache; `None` if it is missing there.
    pub cached: Option<String>,
    /// Its version on the server; `None` if it is gone there.
    pub server: Option<String>,
    /// Why they differ, if the informer knows: it could not use an object.
    pub explanation: Option<String>,
}

fn as_text<S: Serializer>(key: &ObjectKey, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(key.as_str())
}

/// What differs, and why if that is known.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", Printable(self.key.as_str()))?;
        match (&self.cached, &self.server) {
            (Some(cached), Some(server)) => {
                write!(
                    f,
                    "has version {cached} in the cache and {server} on the server"
                )?;
            }
            (Some(cached), None) => {
                write!(f, "is extra: only the cache has it, at version {cached}")?
            }
            (None, Some(server)) => write!(f, "is missing: the server has version {server}")?,
            (None, None) => f.write_str("is nowhere")?,
        }
        match &self.explanation {
            Some(explanation) => write!(f, " ({explanation})"),
            None => Ok(()),
        }
    }
}
