//! An informer under test, and its checks.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use informer::informer_core::transport::{At, Request};
use informer::{
    Connect, Failure, InformerBuilder, LeanBody, MetadataBody, NotVerified, Object, SharedInformer,
    Verified,
};
use informer_test_support::{Folded, Strictness};
use serde_json::Value;

use crate::Outcome;
use crate::api::{Api, Listed, bare};

/// How often the store is compared with the server.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A form of objects that can be compared with a list.
pub trait Comparable: Send + Sync + Sized + 'static {
    /// The stored object, in the shape of the server's.
    ///
    /// # Errors
    /// It is not JSON.
    fn kept(object: &Object<Self>) -> Outcome<Value>;

    /// The part of the server's object that should be stored.
    fn expected(server: &Value) -> &Value;
}

impl Comparable for LeanBody {
    fn kept(object: &Object<Self>) -> Outcome<Value> {
        Ok(bare(object.decode()?))
    }

    fn expected(server: &Value) -> &Value {
        server
    }
}

impl Comparable for MetadataBody {
    fn kept(object: &Object<Self>) -> Outcome<Value> {
        Ok(object.decode()?)
    }

    fn expected(server: &Value) -> &Value {
        server.get("metadata").unwrap_or(&Value::Null)
    }
}

/// Compares the cache of an informer with the server, within a time.
type Verify<K> = Box<dyn Fn(&SharedInformer<K>, Duration) -> Verifying + Send + Sync>;

type Verifying = Pin<Box<dyn Future<Output = Result<Verified, NotVerified>> + Send>>;

/// An informer with a checked handler.
pub struct Follower<K: Comparable> {
    /// The informer.
    pub informer: SharedInformer<K>,
    /// The handler's notifications, checked as they arrive.
    pub audit: Folded,
    failures: Arc<Mutex<Vec<Failure>>>,
    /// Uses the informer's own client.
    verify: Verify<K>,
}

impl<K: Comparable> Follower<K> {
    /// Starts an informer.
    ///
    /// # Errors
    /// It cannot be built.
    pub fn start(
        builder: InformerBuilder<K>,
        client: &(impl Connect + Clone + Send + Sync + 'static),
    ) -> Outcome<Self> {
        let failures = Arc::<Mutex<Vec<_>>>::default();
        let noted = Arc::clone(&failures);
        let builder = builder.on_failure(move |last| {
            noted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(last.failure);
        });
        let informer = builder.start(client)?;
        let audit = Folded::new(Strictness::Once);
        informer.on(audit.handler())?;
        let client = client.clone();
        Ok(Self {
            informer,
            audit,
            failures,
            verify: Box::new(move |informer, within| Box::pin(informer.verify(&client, within))),
        })
    }

    /// All failures so far.
    #[must_use]
    pub fn failures(&self) -> Vec<Failure> {
        let failures = self.failures.lock();
        failures.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many relists there were.
    #[must_use]
    pub fn relists(&self) -> u64 {
        self.informer.status().counts.full_states.saturating_sub(1)
    }

    /// Waits until store and handler equal the server, and lets the informer compare them itself. Returns
    /// how long the first took.
    ///
    /// # Errors
    /// They differ after this time; the message names the differences.
    pub async fn equals(&self, api: &Api, within: Duration) -> Outcome<Duration> {
        let took = self.becomes_equal(api, within).await?;
        self.is_verified(within).await?;
        Ok(took)
    }

    /// Lets the informer compare its store with the server.
    ///
    /// # Errors
    /// They differ, or could not be compared in this time.
    pub async fn is_verified(&self, within: Duration) -> Outcome {
        let began = Instant::now();
        loop {
            match (self.verify)(&self.informer, within).await {
                Ok(verified) => return consistent(&verified),
                // A connection may be left from the time of a fault.
                Err(NotVerified::Failed { .. }) if began.elapsed() < within => {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits until store and handler equal the server, by a list of its own. Returns how long it took.
    ///
    /// # Errors
    /// They differ after this time; the message names the differences.
    pub async fn becomes_equal(&self, api: &Api, within: Duration) -> Outcome<Duration> {
        let list = Request::List {
            version: At::Latest,
            limit: None,
            page: None,
        };
        let path = self.informer.target().request(list);
        let began = Instant::now();
        loop {
            let differences = match api.list(&path).await {
                Ok(listed) => self.differences(&listed)?,
                Err(error) => vec![error.to_string()],
            };
            if differences.is_empty() {
                return Ok(began.elapsed());
            }
            if began.elapsed() > within {
                let first: Vec<_> = differences.iter().take(5).map(String::as_str).collect();
                return Err(format!(
                    "{} differences after {within:?}: {}; {:?}",
                    differences.len(),
                    first.join("; "),
                    self.informer.status()
                )
                .into());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// The differences of the store and of the handler.
    ///
    /// # Errors
    /// An object in the store cannot be read.
    pub fn differences(&self, listed: &Listed) -> Outcome<Vec<String>> {
        let told = self.audit.view();
        let store = self.informer.snapshot();
        let store: BTreeMap<String, _> =
            store.iter().map(|it| (it.key().to_string(), it)).collect();
        let mut differences = Vec::new();
        for (key, object) in listed {
            match store.get(key) {
                None => differences.push(format!("{key} is not in the store")),
                Some(kept) if K::kept(kept)? != *K::expected(object) => {
                    differences.push(format!("{key} differs in the store"));
                }
                Some(_) => {}
            }
            let field = |path| {
                object
                    .pointer(path)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let stamp = format!(
                "{}@{}",
                field("/metadata/uid"),
                field("/metadata/resourceVersion")
            );
            match told.get(key) {
                None => differences.push(format!("{key} was not reported")),
                Some(reported) if *reported != stamp => {
                    differences.push(format!("{key} was reported at {reported}, not {stamp}"));
                }
                Some(_) => {}
            }
        }
        let gone = |key: &&String| !listed.contains_key(*key);
        let stale = store.keys().filter(gone);
        differences.extend(stale.map(|key| format!("{key} is still in the store")));
        let unreported = told.keys().filter(gone);
        differences.extend(unreported.map(|key| format!("{key} was not reported deleted")));
        Ok(differences)
    }

    /// Checks that there were no duplicate notifications.
    ///
    /// # Errors
    /// There were some.
    pub fn told_once(&self) -> Outcome {
        let duplicates = self.audit.faults();
        match duplicates.first() {
            None => Ok(()),
            Some(first) => Err(format!("{} duplicates: {first}", duplicates.len()).into()),
        }
    }

    /// Checks that there was no failure, no relist and no duplicate notification.
    ///
    /// # Errors
    /// There was one.
    pub fn undisturbed(&self) -> Outcome {
        let (failures, relists) = (self.failures(), self.relists());
        if !failures.is_empty() || relists > 0 {
            return Err(format!("{relists} relists, and failures: {failures:?}").into());
        }
        self.told_once()
    }
}

impl<K: Comparable> fmt::Debug for Follower<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower")
            .field("informer", &self.informer)
            .field("audit", &self.audit)
            .finish_non_exhaustive()
    }
}

/// Checks what an informer has found out about its store.
///
/// # Errors
/// The store differs from the server.
pub fn consistent(verified: &Verified) -> Outcome {
    if verified.is_consistent() {
        Ok(())
    } else {
        Err(verified.to_string().into())
    }
}
