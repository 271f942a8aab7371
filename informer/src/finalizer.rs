//! Finalizers: clean up before an object goes.
//!
//! A finalizer is a name in `metadata.finalizers`. While it is there, a deleted object stays, with a deletion
//! time, and your controller can remove what it has made elsewhere.
//!
#![cfg_attr(feature = "mock", doc = "```")]
#![cfg_attr(not(feature = "mock"), doc = "```ignore")]
//! use informer::finalizer::{Duty, Finalizer};
//! use informer::{Api, Target};
//! # use informer::informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let client = MockServer::new(ServerConfig::new(1), VirtualClock::new());
//!
//! // `client` is a client of an API server, or a mock server.
//! let api = Api::dynamic_at(&client, Target::new("", "v1", "configmaps"))?;
//! let bucket = serde_json::json!({"metadata": {"namespace": "web", "name": "bucket"}});
//! let object = api.create(&bucket).await?;
//!
//! let finalizer = Finalizer::new("example.com/bucket")?;
//! let done = finalizer.run(&api, &object, |duty| async move {
//!     match duty {
//!         // The finalizer is stored: what is made now will be cleaned up.
//!         Duty::Apply(object) => Ok::<_, std::io::Error>(format!("made {}", object.key())),
//!         // If this fails, the finalizer and the object stay.
//!         Duty::CleanUp(object) => Ok(format!("removed {}", object.key())),
//!     }
//! });
//! assert_eq!(done.await?.as_deref(), Some("made web/bucket"));
//! # Ok(())
//! # }
//! ```
//!
//! Finalizers of others are never changed: a write takes effect only on the version of the object whose
//! finalizers it knows. If another write comes first, the object is read again.
//!
//! To find out whether the finalizer is there, `ensure` and `run` first look into the object that you pass,
//! usually one from a cache. Every form shows it, except a type of your own that has no
//! `metadata.finalizers`: then each call asks the server.

use std::error::Error;
use std::fmt;

use informer_core::Object;
use informer_core::decode::{FieldPath, Fields, Scalar};
use serde::Deserialize;
use serde_json::json;

use crate::api::{Api, ApiError, ApiErrorKind, Patch};
use crate::names;

/// How often a write is tried while others change the object.
const TRIES: usize = 5;

/// The name of a finalizer: see the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Finalizer {
    name: String,
}

/// What [`Finalizer::run`] asks you to do.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Duty<K> {
    /// Make the world match the object. Its finalizer is stored.
    Apply(Object<K>),
    /// The object is being deleted: remove what you have made for it. This may come again, if the program
    /// ends before the finalizer is removed.
    CleanUp(Object<K>),
}

/// What [`Finalizer::ensure`] found or did.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Ensured {
    /// The finalizer was there.
    Present,
    /// The finalizer was added.
    Added {
        /// The version of the object since then. [`reached`](crate::SharedInformer::reached) waits for it.
        version: String,
    },
    /// The object is being deleted and does not have the finalizer. It is too late to add one.
    Deleting,
    /// There is no such object.
    Gone,
}

impl Finalizer {
    /// Checks a name, such as `example.com/cleanup`.
    ///
    /// # Errors
    /// It is not a domain and a name.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidFinalizer> {
        let name = name.into();
        match names::domain_of(&name) {
            Ok(Some(_)) => Ok(Self { name }),
            // Those without a domain are for Kubernetes itself.
            Ok(None) => Err(InvalidFinalizer {
                name,
                reason: "it has no domain, as in `example.com/name`",
            }),
            Err(reason) => Err(InvalidFinalizer { name, reason }),
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether an object has the finalizer.
    ///
    /// ```
    /// use informer::finalizer::Finalizer;
    /// use informer::informer_core::decode::{Lean, decode_object};
    ///
    /// let json = br#"{"metadata":{"name":"a","finalizers":["example.com/cleanup"]}}"#;
    /// let object = decode_object(&mut Lean, json)?;
    /// assert!(Finalizer::new("example.com/cleanup")?.is_on(&object));
    /// assert!(!Finalizer::new("example.com/other")?.is_on(&object));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_on(&self, object: &impl Fields) -> bool {
        let Ok(path) = "metadata.finalizers[*]".parse::<FieldPath>() else {
            return false;
        };
        let mut is_there = false;
        object.each_field(&path, &mut |value| {
            is_there |= matches!(value, Scalar::Text(text) if text == self.name);
        });
        is_there
    }

    /// Adds the finalizer if it is missing, unless the object is being deleted.
    ///
    /// # Errors
    /// The object cannot be read or written. After an [`ApiErrorKind::Conflict`], others have changed the
    /// object again and again; repeat later.
    pub async fn ensure<K, B>(&self, api: &Api<K>, object: &Object<B>) -> Result<Ensured, ApiError>
    where
        Object<B>: Fields,
    {
        if self.is_on(object) {
            return Ok(Ensured::Present);
        }
        let change = |found: &Found| {
            if found.has(self) {
                return Err(Ensured::Present);
            }
            if found.is_deleting() {
                return Err(Ensured::Deleting);
            }
            let ours = [self.name.clone()];
            Ok([&found.metadata.finalizers, &ours[..]].concat())
        };
        Ok(match change_finalizers(api, object, change).await? {
            Change::Made { version } => Ensured::Added { version },
            Change::Unneeded(ensured) => ensured,
            Change::Gone => Ensured::Gone,
        })
    }

    /// Removes the finalizer, and leaves those of others. It is a success if the finalizer is not there, or
    /// the object is gone.
    ///
    /// # Errors
    /// As [`ensure`](Self::ensure).
    pub async fn remove<K, B>(&self, api: &Api<K>, object: &Object<B>) -> Result<(), ApiError> {
        let change = |found: &Found| {
            let mut finalizers = found.metadata.finalizers.clone();
            finalizers.retain(|other| *other != self.name);
            found.has(self).then_some(finalizers).ok_or(())
        };
        change_finalizers(api, object, change).await.map(drop)
    }

    /// Reconciles an object that needs a clean-up.
    ///
    /// - If the object is not being deleted, stores the finalizer, and then calls `work` with
    ///   [`Duty::Apply`].
    /// - If the object is being deleted and has the finalizer, calls `work` with [`Duty::CleanUp`], and then
    ///   removes the finalizer. The server is asked first, so a cache that lags behind does not lead to a
    ///   second clean-up.
    /// - If there is nothing to do, for example because the object is gone, does not call `work` and returns
    ///   `None`.
    ///
    /// The object in the [`Duty`] is the one that you passed. If the finalizer was added just now, the server
    /// has a newer version: write with a patch, or with `apply`.
    ///
    /// # Errors
    /// The work failed, or a request. A clean-up that fails leaves the finalizer, so call this again.
    pub async fn run<K, B, W, R, E>(
        &self,
        api: &Api<K>,
        object: &Object<B>,
        work: impl FnOnce(Duty<B>) -> W,
    ) -> Result<Option<R>, FinalizerError>
    where
        Object<B>: Fields,
        W: Future<Output = Result<R, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        if object.deletion_time().is_empty() {
            return match self.ensure(api, object).await? {
                Ensured::Present | Ensured::Added { .. } => {
                    let done = work(Duty::Apply(object.clone())).await;
                    let done = done.map_err(|error| FinalizerError::Apply(error.into()))?;
                    Ok(Some(done))
                }
                // The deletion will be heard of.
                Ensured::Deleting | Ensured::Gone => Ok(None),
            };
        }
        let found = read(&whole(api), object).await?;
        if !found.is_some_and(|found| found.is_deleting() && found.has(self)) {
            return Ok(None);
        }
        let done = work(Duty::CleanUp(object.clone())).await;
        let done = done.map_err(|error| FinalizerError::CleanUp(error.into()))?;
        self.remove(api, object).await?;
        Ok(Some(done))
    }
}

impl fmt::Display for Finalizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What came of a change.
enum Change<N> {
    Made {
        version: String,
    },
    /// There was no need for it.
    Unneeded(N),
    Gone,
}

/// The part of an object that matters here, of any kind.
#[derive(Deserialize)]
struct Found {
    metadata: FoundMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FoundMetadata {
    #[serde(default)]
    finalizers: Vec<String>,
    deletion_timestamp: Option<String>,
}

impl Found {
    fn has(&self, finalizer: &Finalizer) -> bool {
        self.metadata.finalizers.contains(&finalizer.name)
    }

    const fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }
}

/// The whole object, even if the API is that of a subresource: a status has no finalizers.
fn whole<K>(api: &Api<K>) -> Api<Found> {
    api.subresource("")
}

/// Reads an object. `None` if it is gone, or another one has its name.
async fn read<B>(api: &Api<Found>, object: &Object<B>) -> Result<Option<Object<Found>>, ApiError> {
    match api.get(object.key()).await {
        Ok(found) if object.uid().is_empty() || found.uid() == object.uid() => Ok(Some(found)),
        Ok(_) => Ok(None),
        Err(error) if error.kind == ApiErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces the finalizers by what `change` makes of them, and starts over if another write comes first.
async fn change_finalizers<K, B, N>(
    api: &Api<K>,
    object: &Object<B>,
    change: impl Fn(&Found) -> Result<Vec<String>, N>,
) -> Result<Change<N>, ApiError> {
    let api = whole(api);
    let mut tries = 0;
    loop {
        tries += 1;
        let Some(found) = read(&api, object).await? else {
            return Ok(Change::Gone);
        };
        let finalizers = match change(&found) {
            Ok(finalizers) => finalizers,
            Err(unneeded) => return Ok(Change::Unneeded(unneeded)),
        };
        // The server refuses if the object no longer has this version.
        let patch = Patch::merge(json!({"metadata": {
            "resourceVersion": found.version(),
            "finalizers": finalizers,
        }}));
        match api.patch(object.key(), &patch).await {
            Ok(written) => {
                let version = written.version().to_owned();
                return Ok(Change::Made { version });
            }
            Err(error) if error.kind == ApiErrorKind::NotFound => return Ok(Change::Gone),
            Err(error) if error.kind == ApiErrorKind::Conflict && tries < TRIES => {}
            Err(error) => return Err(error),
        }
    }
}

/// A text is not the name of a finalizer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidFinalizer {
    name: String,
    reason: &'static str,
}

impl fmt::Display for InvalidFinalizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, reason } = self;
        write!(f, "{name:?} is not the name of a finalizer: {reason}")
    }
}

impl Error for InvalidFinalizer {}

/// Why [`Finalizer::run`] failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum FinalizerError {
    /// The object could not be read, or the finalizer could not be added or removed.
    Api(ApiError),
    /// [`Duty::Apply`] failed.
    Apply(Box<dyn Error + Send + Sync>),
    /// [`Duty::CleanUp`] failed. The finalizer stays.
    CleanUp(Box<dyn Error + Send + Sync>),
}

impl From<ApiError> for FinalizerError {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl fmt::Display for FinalizerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Api(error) => error.fmt(f),
            Self::Apply(error) => error.fmt(f),
            Self::CleanUp(error) => write!(f, "the clean-up failed: {error}"),
        }
    }
}

impl Error for FinalizerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Api(error) => Some(error),
            Self::Apply(error) | Self::CleanUp(error) => Some(&**error),
        }
    }
}
