//! Compares a cache with the server.
//!
//! The cache is taken at a version that it shows exactly, and the server is asked for its state at that same
//! version. So changes that happen meanwhile do not matter: both sides are frozen.

// Reads the server's state, page by page.
mod listing;

// Compares what the server has with what the cache has.
mod comparison;

// The result.
mod report;

// Why there is no result.
mod error;

use std::time::Duration;

use informer_core::decode::Form;
use informer_core::transport::{Content, Transport};
use informer_core::{Failure, ObjectKey, SourceId};

use crate::connect::Connect;
use crate::shared::SharedInformer;
use crate::status::SourceStatus;
use crate::wait::Wait;

use comparison::{Cached, Comparison};
use listing::{KeyAndVersion, Listing, Unlisted};

pub use error::NotVerified;
pub use report::{Difference, Verified};

/// How many versions to try. A server discards a version after some minutes, perhaps in the middle of the list.
const ATTEMPTS: u32 = 3;

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// Compares the cache with the server: do both have the same objects at the same versions?
    ///
    /// The server is asked for the metadata of all objects, in pages, at exactly the version that the cache
    /// shows. So objects that change meanwhile do not count as differences. Use it in tests, and to find
    /// the cause when a controller acts on something that is not there. It costs the server as much as a
    /// relist, and counts as one in the limits of the client.
    ///
    /// With several sources, each is compared at a version of its own with what the server has for its target.
    ///
    /// Pass the client that the informer uses, or another one for the same server. If the cache shows no
    /// complete state, because of a relist or a full handler, this waits until it does. The informer and
    /// its handlers go on meanwhile. Memory: the old states of objects that change during the call, and
    /// about 50 bytes for each object.
    ///
    /// ```
    /// use informer::{InformerBuilder, Target};
    /// use std::time::Duration;
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
    /// # server.with(|server| server.create("pods", pod))?;
    /// # let client = server.connect();
    ///
    /// // `client` talks to a mock API server with one pod.
    /// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods")).start(&client)?;
    /// let verified = pods.verify(&client, Duration::from_secs(30)).await?;
    /// assert!(verified.is_consistent(), "{verified}");
    /// assert_eq!(verified.to_string(), "pods.v1 at version 2: 1 object, the same as on the server");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The cache shows no complete state in time, or the server's state cannot be read. A difference is not an
    /// error: see [`Verified`].
    pub fn verify<C: Connect>(
        &self,
        client: &C,
        timeout: Duration,
    ) -> impl Future<Output = Result<Verified, NotVerified>> + Send + use<K, C> {
        self.verify_in(self.handle().cluster(), client, timeout)
    }

    /// Compares what the cache shows of a cluster with its server: see [`verify`](Self::verify), which does this
    /// for the cluster of the builder.
    ///
    /// # Errors
    /// Like [`verify`](Self::verify).
    pub fn verify_in<C: Connect>(
        &self,
        cluster: &str,
        client: &C,
        timeout: Duration,
    ) -> impl Future<Output = Result<Verified, NotVerified>> + Send + use<K, C> {
        let sources = self.sources().into_iter();
        let sources = sources.filter(|it| !it.leaving && it.cluster == cluster);
        // The future must not borrow the client, so that it can be spawned.
        let sources = sources.map(|source| {
            let target = source.target.clone().with_content(Content::Metadata);
            let target = target.accepting(KeyAndVersion::ENCODINGS);
            (source, client.connect(&target))
        });
        let sources: Vec<_> = sources.collect();
        let informer = self.clone();
        async move {
            let clock = &informer.engine().clock;
            let began = clock.now();
            let mut verified = Verified::nothing(informer.engine().name.clone());
            for (source, transport) in sources {
                let left = began.after(timeout).since(clock.now());
                let listing = Listing::new(transport?, &**clock, left);
                verified += informer.compare(source, listing, timeout).await?;
            }
            Ok(verified)
        }
    }

    async fn compare<T: Transport>(
        &self,
        source: SourceStatus,
        mut listing: Listing<T>,
        timeout: Duration,
    ) -> Result<Verified, NotVerified> {
        let SourceStatus {
            id, name, cluster, ..
        } = source;
        let mut expired = None;
        let mut attempt = 1;
        loop {
            let left = listing.time_left(&*self.engine().clock);
            let cached = self.cached_after(id, expired.as_deref(), left);
            let Some(cached) = cached.await else {
                return Err(NotVerified::NoState {
                    name,
                    waited: timeout,
                    expired,
                    reason: self.status().reason(),
                });
            };
            let version = cached.version.clone();
            let mut comparison = Comparison::new(cached);
            let listed = listing.read(&version, |key, version| {
                let key = ObjectKey::in_cluster(&cluster, key.namespace(), key.name());
                comparison.see(&key, version);
            });
            match listed.await {
                Ok(()) => return Ok(comparison.end(name)),
                Err(Unlisted::Failed {
                    failure: Failure::Expired,
                    ..
                }) if attempt < ATTEMPTS => {
                    expired = Some(version);
                    attempt += 1;
                }
                Err(unlisted) => {
                    return Err(NotVerified::of_list(unlisted, name, version, timeout));
                }
            }
        }
    }

    /// The cache and the version that it shows exactly of a source, but not at the version `expired`. `None` if the
    /// informer ends, the source is removed or there is no such version in time.
    async fn cached_after(
        &self,
        source: SourceId,
        expired: Option<&str>,
        within: Duration,
    ) -> Option<Cached<K>> {
        let wait = Wait::for_version(self.engine(), |state| {
            let status = state.core.source_status(source);
            if state.core.is_stopped() || status.is_none_or(|it| it.leaving) {
                return Some(None);
            }
            let version = state.core.exact_version_of(source);
            let version = version.filter(|version| Some(*version) != expired)?;
            Some(Some(Cached::of(&state.core, source, version)))
        });
        wait.within(within).await.flatten()
    }
}
