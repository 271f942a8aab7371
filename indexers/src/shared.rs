//! One writer, many readers on other threads.
//!
//! The writer changes its store and publishes each state as a whole. A reader takes the latest state,
//! which costs one pointer copy, and may keep it for any time: a snapshot never changes. Readers and
//! the writer do not block each other. The only lock is held while a pointer is copied or swapped, never
//! while the store is read or written. A reader that asks often [keeps](Reader::kept) its state and takes
//! no lock until there is a newer one.
//!
//! ```
//! use informer_core::indexer::{Indexer, Write};
//! use informer_core::storage::Seed;
//! use informer_core::{Object, ObjectKey};
//! use informer_indexers::{by, shared};
//!
//! let pod = |name: &str| Object::builder(ObjectKey::new("web", name))
//!     .version("7")
//!     .body(());
//! let mut store = Indexer::new(Seed::new(1));
//! store.add_index("namespace", by::namespace())?;
//! let (mut writer, reader) = shared::new(store);
//!
//! let elsewhere = std::thread::spawn({
//!     let reader = reader.clone();
//!     move || reader.wait_for("7", std::time::Duration::from_secs(60)).map(|state| state.len())
//! });
//! // All or nothing: no snapshot shows one pod without the other.
//! writer.transaction([Write::Put(pod("a")), Write::Put(pod("b"))])?;
//! assert_eq!(elsewhere.join().unwrap()?, 2);
//! assert_eq!(reader.snapshot().get(&ObjectKey::new("web", "a")), Some(&pod("a")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;
use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use informer_core::indexer::{ByIndex, IndexRef, Indexer, UnknownIndex, View, Write};
use informer_core::storage::{Full, Heap};
use informer_core::{NotComparable, Resource, Wakers, compare_versions};

use crate::query::{Plan, Query};
use crate::value::Encode;

/// Wraps a store in a writer and a reader for other threads.
///
/// The current contents are published at once. The [module page](self) has an example.
#[must_use]
pub fn new<T: Resource + Clone>(store: Indexer<T, Heap>) -> (Writer<T>, Reader<T>) {
    let (publisher, reader) = publisher(store.snapshot());
    (Writer { store, publisher }, reader)
}

/// Creates a publisher and a reader, for code that owns its store and publishes snapshots of it.
///
/// ```
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::Seed;
/// use informer_core::{Object, ObjectKey};
/// use informer_indexers::shared;
///
/// let mut store = Indexer::new(Seed::new(1));
/// let (publisher, reader) = shared::publisher(store.snapshot());
/// store.put(Object::builder(ObjectKey::new("web", "a"))
///     .version("7")
///     .body(()))?;
/// assert_eq!(reader.snapshot().len(), 0);
/// publisher.publish(store.snapshot());
/// assert_eq!(reader.snapshot().len(), 1);
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
#[must_use]
pub fn publisher<T: Resource + Clone>(first: View<T, Heap>) -> (Publisher<T>, Reader<T>) {
    let state = State {
        view: Arc::new(first),
        tasks: Wakers::default(),
        threads: 0,
        ended: false,
    };
    let shared = Arc::new(Shared {
        state: Mutex::new(state),
        number: AtomicUsize::new(0),
        published: Condvar::new(),
    });
    let publisher = Publisher {
        shared: Arc::clone(&shared),
    };
    (publisher, Reader { shared })
}

struct Shared<T: Resource + Clone> {
    state: Mutex<State<T>>,
    /// The number of the current state. It changes under the lock; a kept reader looks at it without.
    number: AtomicUsize,
    published: Condvar,
}

struct State<T: Resource + Clone> {
    view: Arc<View<T, Heap>>,
    /// Tasks that wait for a new state.
    tasks: Wakers,
    /// How many threads wait for one. To notify nobody is a system call, too.
    threads: usize,
    /// The publisher is gone.
    ended: bool,
}

impl<T: Resource + Clone> Shared<T> {
    /// Nothing under the lock can panic, so a poisoned lock still guards a consistent state.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a change and wakes all waiting readers.
    fn announce(&self, change: impl FnOnce(&mut State<T>)) {
        let mut state = self.lock();
        change(&mut state);
        let tasks = state.tasks.take();
        let threads = state.threads;
        drop(state);
        if threads > 0 {
            self.published.notify_all();
        }
        tasks.into_iter().for_each(Waker::wake);
    }
}

impl<T: Resource + Clone> State<T> {
    /// Whether a version has been reached, or never will be.
    fn poll(&self, version: &str) -> Poll<Result<Snapshot<T>, VersionWaitError>> {
        let reached = self.view.version();
        // An empty store has no version yet, so nothing has been reached.
        let compared = if reached.is_empty() {
            compare_versions(version, version).map(|_| false)
        } else {
            compare_versions(reached, version).map(core::cmp::Ordering::is_ge)
        };
        match compared {
            Err(NotComparable) => Poll::Ready(Err(VersionWaitError::NotComparable {
                wanted: version.into(),
                reached: reached.into(),
            })),
            Ok(true) => Poll::Ready(Ok(Snapshot(Arc::clone(&self.view)))),
            Ok(false) if self.ended => Poll::Ready(Err(VersionWaitError::Ended {
                wanted: version.into(),
                reached: reached.into(),
            })),
            Ok(false) => Poll::Pending,
        }
    }
}

/// The only writer of a shared store, from [`new`].
///
/// Each method publishes its result as one change.
///
/// ```
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::Seed;
/// use informer_core::{Object, ObjectKey};
/// use informer_indexers::shared;
///
/// let (mut writer, reader) = shared::new(Indexer::new(Seed::new(1)));
/// let pod = Object::builder(ObjectKey::new("web", "a"))
///     .version("7")
///     .body(());
/// writer.put(pod.clone())?;
/// assert_eq!(reader.snapshot().len(), 1);
///
/// // A failed write is rolled back and not published.
/// let failed = writer.write(|store| {
///     store.remove(pod.key());
///     Err::<(), _>("changed my mind")
/// });
/// assert_eq!(failed, Err("changed my mind"));
/// assert_eq!(reader.snapshot().len(), 1);
///
/// assert_eq!(writer.remove(pod.key()), Some(pod));
/// assert_eq!(reader.snapshot().len(), 0);
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
pub struct Writer<T: Resource + Clone> {
    store: Indexer<T, Heap>,
    publisher: Publisher<T>,
}

impl<T: Resource + Clone> Writer<T> {
    /// Runs `write` on the store and publishes the result as one change.
    ///
    /// If `write` fails or panics, the store is rolled back and nothing is published.
    ///
    /// # Errors
    /// The error of `write`.
    pub fn write<R, E>(
        &mut self,
        write: impl FnOnce(&mut Indexer<T, Heap>) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut attempt = Attempt {
            writer: self,
            succeeded: false,
        };
        let outcome = write(&mut attempt.writer.store);
        attempt.succeeded = outcome.is_ok();
        outcome
    }

    /// Puts an object and returns the one it replaced.
    ///
    /// # Errors
    /// [`Full`] if the store cannot number another object.
    pub fn put(&mut self, object: T) -> Result<Option<T>, Full> {
        self.write(|store| store.put(object))
    }

    /// Removes the object with this key and returns it.
    pub fn remove(&mut self, key: &T::Key) -> Option<T> {
        let removed = self.store.remove(key);
        if removed.is_some() {
            self.publisher.publish(self.store.snapshot());
        }
        removed
    }

    /// Applies several writes as one change: readers see all or none of them.
    ///
    /// # Errors
    /// [`Full`] if the store cannot number another object. Then nothing has changed.
    pub fn transaction(&mut self, writes: impl IntoIterator<Item = Write<T>>) -> Result<(), Full> {
        self.write(|store| store.write_all(writes))
    }

    /// Another reader of the published states.
    #[must_use]
    pub fn reader(&self) -> Reader<T> {
        self.publisher.reader()
    }
}

/// A write in progress. Dropping it publishes the result, or rolls back after an error or panic.
struct Attempt<'a, T: Resource + Clone> {
    writer: &'a mut Writer<T>,
    succeeded: bool,
}

impl<T: Resource + Clone> Drop for Attempt<'_, T> {
    fn drop(&mut self) {
        let Writer { store, publisher } = &mut *self.writer;
        if self.succeeded {
            publisher.publish(store.snapshot());
        } else {
            let before = publisher.reader().snapshot();
            *store = Indexer::from(View::clone(&before));
        }
    }
}

/// Publishes states of a store that lives elsewhere, from [`publisher`].
///
/// Dropping it ends all waits for a version with [`VersionWaitError::Ended`].
pub struct Publisher<T: Resource + Clone> {
    shared: Arc<Shared<T>>,
}

impl<T: Resource + Clone> Publisher<T> {
    /// Makes this the state that readers see.
    pub fn publish(&self, view: View<T, Heap>) {
        let mut view = Arc::new(view);
        self.shared.announce(|state| {
            core::mem::swap(&mut state.view, &mut view);
            self.shared.number.fetch_add(1, Ordering::Release);
        });
        // The previous state is freed here, outside of the lock.
    }

    /// Another reader of the published states.
    #[must_use]
    pub fn reader(&self) -> Reader<T> {
        Reader {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T: Resource + Clone> Drop for Publisher<T> {
    fn drop(&mut self) {
        self.shared.announce(|state| state.ended = true);
    }
}

/// Reads the published states of a store. Clones are cheap: give one to each thread or task.
///
/// ```
/// use std::time::Duration;
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::Seed;
/// use informer_core::{Object, ObjectKey};
/// use informer_indexers::shared::{self, VersionWaitError};
///
/// let (mut writer, reader) = shared::new(Indexer::new(Seed::new(1)));
/// writer.put(Object::builder(ObjectKey::new("web", "a"))
///     .version("7")
///     .body(()))?;
/// assert!(reader.wait_for("7", Duration::ZERO).is_ok());
///
/// let late = reader.wait_for("8", Duration::ZERO).unwrap_err();
/// assert!(matches!(late, VersionWaitError::TimedOut { .. }));
///
/// drop(writer);
/// assert!(!reader.is_live());
/// // The last state stays readable.
/// assert_eq!(reader.snapshot().len(), 1);
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
pub struct Reader<T: Resource + Clone> {
    shared: Arc<Shared<T>>,
}

impl<T: Resource + Clone> Reader<T> {
    /// The latest state. It never changes, and you may keep it for any time.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<T> {
        Snapshot(Arc::clone(&self.shared.lock().view))
    }

    /// A reader for code that asks often: it keeps its snapshot until there is a newer state.
    #[must_use]
    pub fn kept(&self) -> KeptReader<T> {
        let state = self.shared.lock();
        KeptReader {
            number: self.shared.number.load(Ordering::Relaxed),
            snapshot: Snapshot(Arc::clone(&state.view)),
            reader: self.clone(),
        }
    }

    /// Whether the writer still exists.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !self.shared.lock().ended
    }

    /// Blocks this thread until a version is reached, and returns the state that reached it.
    ///
    /// # Errors
    /// The versions cannot be compared, the timeout has passed, or the writer is gone.
    pub fn wait_for(
        &self,
        version: &str,
        timeout: Duration,
    ) -> Result<Snapshot<T>, VersionWaitError> {
        let mut outcome = Poll::Pending;
        let mut state = self.shared.lock();
        state.threads += 1;
        let waited = self
            .shared
            .published
            .wait_timeout_while(state, timeout, |state| {
                outcome = state.poll(version);
                outcome.is_pending()
            });
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.threads -= 1;
        let Poll::Ready(outcome) = outcome else {
            return Err(VersionWaitError::TimedOut {
                wanted: version.into(),
                reached: state.view.version().into(),
            });
        };
        outcome
    }

    /// Like [`wait_for`](Self::wait_for), as a future for any runtime.
    ///
    /// It has no timeout; use the timer of your runtime.
    pub fn reached(&self, version: &str) -> Reached<T> {
        Reached {
            shared: Arc::clone(&self.shared),
            version: version.into(),
            ticket: self.shared.lock().tasks.ticket(),
        }
    }
}

/// A reader that keeps its snapshot, from [`Reader::kept`].
///
/// Each call first looks whether there is a newer state, which is one load from memory, and takes it if
/// there is. So it shows what [`Reader::snapshot`] would show, but it counts no references, and takes a
/// lock only after a change. Objects are returned by reference.
///
/// The kept snapshot stays in memory until the next call, and with it objects that were replaced since.
/// Drop a reader that is no longer asked.
///
/// ```
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::Seed;
/// use informer_core::{Object, ObjectKey};
/// use informer_indexers::shared;
///
/// let (mut writer, reader) = shared::new(Indexer::new(Seed::new(1)));
/// let mut kept = reader.kept();
/// let pod = Object::builder(ObjectKey::new("web", "a"))
///     .version("7")
///     .body(());
/// assert_eq!(kept.get(pod.key()), None);
/// writer.put(pod.clone())?;
/// assert_eq!(kept.get(pod.key()), Some(&pod));
/// // Everything else is read from the snapshot, by reference, too.
/// assert_eq!(kept.snapshot().len(), 1);
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
pub struct KeptReader<T: Resource + Clone> {
    reader: Reader<T>,
    snapshot: Snapshot<T>,
    /// The number of the snapshot.
    number: usize,
}

impl<T: Resource + Clone> KeptReader<T> {
    /// The latest state.
    pub fn snapshot(&mut self) -> &Snapshot<T> {
        if self.reader.shared.number.load(Ordering::Acquire) != self.number {
            self.renew();
        }
        &self.snapshot
    }

    /// The object under `key` in the latest state.
    pub fn get(&mut self, key: &T::Key) -> Option<&T> {
        self.snapshot().get(key)
    }

    #[cold]
    fn renew(&mut self) {
        *self = self.reader.kept();
    }
}

/// A future that waits until a version is reached, from [`Reader::reached`].
///
/// ```
/// use std::pin::pin;
/// use std::task::{Context, Poll, Waker};
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::Seed;
/// use informer_core::{Object, ObjectKey};
/// use informer_indexers::shared;
///
/// let (mut writer, reader) = shared::new(Indexer::new(Seed::new(1)));
/// let mut reached = pin!(reader.reached("7"));
/// // Any runtime can poll it; here the example does.
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(reached.as_mut().poll(&mut cx).is_pending());
/// writer.put(Object::builder(ObjectKey::new("web", "a"))
///     .version("7")
///     .body(()))?;
/// let Poll::Ready(Ok(state)) = reached.as_mut().poll(&mut cx) else { panic!("7 is reached") };
/// assert_eq!(state.version(), "7");
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct Reached<T: Resource + Clone> {
    shared: Arc<Shared<T>>,
    version: String,
    ticket: u64,
}

impl<T: Resource + Clone> Future for Reached<T> {
    type Output = Result<Snapshot<T>, VersionWaitError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.shared.lock();
        let outcome = state.poll(&self.version);
        if outcome.is_pending() {
            state.tasks.wait(self.ticket, cx.waker());
        }
        outcome
    }
}

/// Removes the waker of the task.
impl<T: Resource + Clone> Drop for Reached<T> {
    fn drop(&mut self) {
        self.shared.lock().tasks.forget(self.ticket);
    }
}

/// An immutable state of a store, from [`Reader::snapshot`]. It dereferences to a [`View`].
///
/// ```
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::Seed;
/// use informer_core::{Object, ObjectKey};
/// use informer_indexers::{Query, shared};
///
/// let (mut writer, reader) = shared::new(Indexer::new(Seed::new(1)));
/// let before = reader.snapshot();
/// writer.put(Object::builder(ObjectKey::new("web", "a"))
///     .version("7")
///     .body(()))?;
/// let after = reader.snapshot();
/// assert_eq!((before.len(), after.len()), (0, 1));
/// assert_eq!(after.select(&Query::new().namespace("web")).count(), 1);
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
pub struct Snapshot<T: Resource + Clone>(Arc<View<T, Heap>>);

impl<T: Resource + Clone> Snapshot<T> {
    /// The objects that match a query: see [`Query::select`].
    pub fn select(&self, query: &Query<'_, T>) -> impl Iterator<Item = &T> {
        query.select(self)
    }

    /// The objects with this value in an index. A number must have the type that the index has.
    ///
    /// # Errors
    /// There is no such index.
    pub fn by_index<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
        value: impl Encode,
    ) -> Result<ByIndex<'_, T, Heap>, UnknownIndex> {
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        self.0.by_index(index, bytes)
    }

    /// Explains how a query is answered.
    #[must_use]
    pub fn plan(&self, query: &Query<'_, T>) -> Plan<'_> {
        query.plan(self)
    }
}

impl<T: Resource + Clone> Deref for Snapshot<T> {
    type Target = View<T, Heap>;

    fn deref(&self) -> &View<T, Heap> {
        &self.0
    }
}

/// Why waiting for a version failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum VersionWaitError {
    /// The versions are not decimal numbers and cannot be compared.
    NotComparable {
        /// The version waited for.
        wanted: String,
        /// The version of the store.
        reached: String,
    },
    /// The version was not reached in time.
    TimedOut {
        /// The version waited for.
        wanted: String,
        /// The version of the store.
        reached: String,
    },
    /// The writer is gone, so the version will never be reached.
    Ended {
        /// The version waited for.
        wanted: String,
        /// The version of the store.
        reached: String,
    },
}

impl fmt::Display for VersionWaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotComparable { wanted, reached } => write!(
                f,
                "cannot wait for version {wanted:?} while the store is at {reached:?}: {NotComparable}"
            ),
            Self::TimedOut { wanted, reached } => write!(
                f,
                "version {wanted:?} was not reached in time; the store is at {reached:?}"
            ),
            Self::Ended { wanted, reached } => write!(
                f,
                "version {wanted:?} will never be reached: the writer is gone, and the store stays at \
                 {reached:?}"
            ),
        }
    }
}

impl core::error::Error for VersionWaitError {}

// Derived impls would require the same traits of `T`.
impl<T: Resource + Clone> Clone for Reader<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T: Resource + Clone> Clone for Snapshot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Resource + Clone> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Writer").field(&self.store).finish()
    }
}

impl<T: Resource + Clone> fmt::Debug for Publisher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Publisher")
            .field(&self.shared.lock().view)
            .finish()
    }
}

impl<T: Resource + Clone> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reader")
            .field(&self.shared.lock().view)
            .finish()
    }
}

impl<T: Resource + Clone> fmt::Debug for KeptReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeptReader").field(&self.snapshot).finish()
    }
}

impl<T: Resource + Clone> fmt::Debug for Reached<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reached")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl<T: Resource + Clone> fmt::Debug for Snapshot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Snapshot").field(&self.0).finish()
    }
}
