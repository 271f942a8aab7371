//! One writer, many readers on other threads.
//!
//! The writer changes its store and publishes each state as a whole. A reader takes the state that was
//! published last, which costs a pointer, and keeps it as long as it likes: it stays as it is, and
//! nobody waits for anybody. The only lock is held while a pointer is copied or exchanged, never while
//! the store is read or written.
//!
//! ```
//! use informer_core::indexer::{Indexer, Write};
//! use informer_core::storage::Seed;
//! use informer_core::{Labels, Object, ObjectKey};
//! use informer_indexers::{by, shared};
//!
//! let pod = |name: &str| Object {
//!     key: ObjectKey::new("web", name),
//!     uid: "".into(),
//!     version: "7".into(),
//!     labels: Labels::default(),
//!     size: 0,
//!     body: (),
//! };
//! let mut store = Indexer::new(Seed::new(1));
//! store.add_index("namespace", by::namespace())?;
//! let (mut writer, reader) = shared::new(store);
//!
//! let elsewhere = std::thread::spawn({
//!     let reader = reader.clone();
//!     move || reader.wait_for("7", std::time::Duration::from_secs(60)).map(|state| state.len())
//! });
//! // Both or none: no snapshot shows one without the other.
//! writer.transaction([Write::Put(pod("a")), Write::Put(pod("b"))])?;
//! assert_eq!(elsewhere.join().unwrap()?, 2);
//! assert_eq!(reader.snapshot().lister().get("web", "a"), Some(&pod("a")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use informer_core::indexer::{Indexer, View, Write};
use informer_core::storage::{Full, Heap};
use informer_core::{NotComparable, Resource, Wakers, compare_versions};

use crate::lister::StoreLister;

/// A store to write to, and the way to read it from other threads. What is in it is published at once.
#[must_use]
pub fn new<T: Resource + Clone>(store: Indexer<T, Heap>) -> (Writer<T>, Reader<T>) {
    let (publisher, reader) = publisher(store.snapshot());
    (Writer { store, publisher }, reader)
}

/// The same for whoever has a store elsewhere and publishes its snapshots, as an informer does.
#[must_use]
pub fn publisher<T: Resource + Clone>(first: View<T, Heap>) -> (Publisher<T>, Reader<T>) {
    let state = State {
        view: Arc::new(first),
        tasks: Wakers::default(),
        ended: false,
    };
    let shared = Arc::new(Shared {
        state: Mutex::new(state),
        published: Condvar::new(),
    });
    let publisher = Publisher {
        shared: Arc::clone(&shared),
    };
    (publisher, Reader { shared })
}

struct Shared<T: Resource + Clone> {
    state: Mutex<State<T>>,
    published: Condvar,
}

struct State<T: Resource + Clone> {
    view: Arc<View<T, Heap>>,
    /// Tasks that wait for one.
    tasks: Wakers,
    /// Nothing will be published any more.
    ended: bool,
}

impl<T: Resource + Clone> Shared<T> {
    /// Nothing that can panic happens under the lock, so what it guards is whole in any case.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a change be seen by whoever waits for one.
    fn announce(&self, change: impl FnOnce(&mut State<T>)) {
        let mut state = self.lock();
        change(&mut state);
        let tasks = state.tasks.take();
        drop(state);
        self.published.notify_all();
        tasks.into_iter().for_each(Waker::wake);
    }
}

impl<T: Resource + Clone> State<T> {
    /// Whether a version is reached, or cannot be any more.
    fn poll(&self, version: &str) -> Poll<Result<Snapshot<T>, VersionWaitError>> {
        let reached = self.view.version();
        // An empty store has reached nothing yet, whatever versions look like.
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

/// The only writer of a store.
pub struct Writer<T: Resource + Clone> {
    store: Indexer<T, Heap>,
    publisher: Publisher<T>,
}

impl<T: Resource + Clone> Writer<T> {
    /// Lets `write` change the store, and publishes the outcome as one change. If it fails or panics,
    /// the store is again as it was, and nothing is published.
    ///
    /// # Errors
    /// Those of `write`.
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

    /// Puts an object and gives what was there.
    ///
    /// # Errors
    /// [`Full`] if there are more objects than can be numbered.
    pub fn put(&mut self, object: T) -> Result<Option<T>, Full> {
        self.write(|store| store.put(object))
    }

    /// Removes the object under a key.
    pub fn remove(&mut self, key: &T::Key) -> Option<T> {
        let removed = self.store.remove(key);
        if removed.is_some() {
            self.publisher.publish(self.store.snapshot());
        }
        removed
    }

    /// Several writes as one.
    ///
    /// # Errors
    /// [`Full`] if there are more objects than can be numbered. Nothing has changed then.
    pub fn transaction(&mut self, writes: impl IntoIterator<Item = Write<T>>) -> Result<(), Full> {
        self.write(|store| store.write_all(writes))
    }

    /// One more way to read what is published.
    #[must_use]
    pub fn reader(&self) -> Reader<T> {
        self.publisher.reader()
    }
}

/// A change that is published when it succeeded, and taken back when it did not, be it by a panic.
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

/// Publishes the states of a store. When it is dropped, whoever waits for a version is told.
pub struct Publisher<T: Resource + Clone> {
    shared: Arc<Shared<T>>,
}

impl<T: Resource + Clone> Publisher<T> {
    /// From now on readers see this state.
    pub fn publish(&self, view: View<T, Heap>) {
        let mut view = Arc::new(view);
        self.shared
            .announce(|state| core::mem::swap(&mut state.view, &mut view));
        // What was published before goes here, outside of the lock.
    }

    /// One more way to read what is published.
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

/// Reads what the writer has published. Cheap to clone, one for each thread or task.
pub struct Reader<T: Resource + Clone> {
    shared: Arc<Shared<T>>,
}

impl<T: Resource + Clone> Reader<T> {
    /// The state that was published last, to be kept as long as it is needed.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<T> {
        Snapshot(Arc::clone(&self.shared.lock().view))
    }

    /// Whether the writer is still there.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !self.shared.lock().ended
    }

    /// Blocks this thread until a version is reached, and gives the state that reached it.
    ///
    /// # Errors
    /// The version cannot be compared with that of the store, the time is over, or the writer is gone.
    pub fn wait_for(
        &self,
        version: &str,
        timeout: Duration,
    ) -> Result<Snapshot<T>, VersionWaitError> {
        let mut outcome = Poll::Pending;
        let state = self.shared.lock();
        let waited = self
            .shared
            .published
            .wait_timeout_while(state, timeout, |state| {
                outcome = state.poll(version);
                outcome.is_pending()
            });
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let Poll::Ready(outcome) = outcome else {
            return Err(VersionWaitError::TimedOut {
                wanted: version.into(),
                reached: state.view.version().into(),
            });
        };
        outcome
    }

    /// The same for a task of any runtime. It has no deadline of its own: the runtime's timer does
    /// that.
    pub fn reached(&self, version: &str) -> Reached<T> {
        Reached {
            shared: Arc::clone(&self.shared),
            version: version.into(),
            ticket: self.shared.lock().tasks.ticket(),
        }
    }
}

/// Waits until a version is reached.
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

/// Who does not wait any more leaves nothing behind.
impl<T: Resource + Clone> Drop for Reached<T> {
    fn drop(&mut self) {
        self.shared.lock().tasks.forget(self.ticket);
    }
}

/// A state of the store that stays as it is.
pub struct Snapshot<T: Resource + Clone>(Arc<View<T, Heap>>);

impl<T: Resource + Clone> Snapshot<T> {
    /// A lister over this state.
    #[must_use]
    pub fn lister(&self) -> StoreLister<'_, T, Heap> {
        StoreLister::new(self)
    }
}

impl<T: Resource + Clone> Deref for Snapshot<T> {
    type Target = View<T, Heap>;

    fn deref(&self) -> &View<T, Heap> {
        &self.0
    }
}

/// Why nobody could wait for a version.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum VersionWaitError {
    /// Versions can be compared only if they are decimal numbers.
    NotComparable {
        /// The version waited for.
        wanted: String,
        /// The version of the store.
        reached: String,
    },
    /// It was not reached in time.
    TimedOut {
        /// The version waited for.
        wanted: String,
        /// The version of the store.
        reached: String,
    },
    /// The writer is gone.
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
                "version {wanted:?} will not be reached: the writer is gone, the store stays at {reached:?}"
            ),
        }
    }
}

impl core::error::Error for VersionWaitError {}

// Derived impls would ask for the same of `T`.
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
