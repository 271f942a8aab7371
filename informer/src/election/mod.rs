//! Leader election: of several replicas, at most one works at a time.
//!
//! The replicas contend for a Lease of the API server, by the rules of client-go; replicas of both kinds can
//! contend for the same one. A worker asks its [`Guard`] before each step:
//!
#![cfg_attr(feature = "mock", doc = "```")]
#![cfg_attr(not(feature = "mock"), doc = "```ignore")]
//! use informer::ObjectKey;
//! use informer::election::ElectionBuilder;
//! # use informer::informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let client = MockServer::new(ServerConfig::new(1), VirtualClock::new());
//!
//! // `client` is a client of an API server, or a mock server.
//! let election = ElectionBuilder::new(ObjectKey::new("web", "shop-controller")).start(&client)?;
//! let guard = election.leading().await?;
//! for step in 0..3 {
//!     if !guard.holds() {
//!         break;
//!     }
//!     println!("step {step}, token {}", guard.fencing_token());
//! }
//! // Another replica need not wait for the end of the lease.
//! election.stop().await;
//! assert!(!guard.holds());
//! # Ok(())
//! # }
//! ```
//!
//! A leader that cannot renew its lease stops leading by its clock, before another one can begin. The clock
//! goes on while the process is stopped, but it may stand still while the whole machine is suspended, and a
//! request that was sent in time may arrive late. Where that matters, let the receiver compare
//! [fencing tokens](Guard::fencing_token).
//!
//! The program needs the verbs `get`, `create` and `update` on `leases.coordination.k8s.io`.

// Settings of an election.
mod builder;

// Leases as JSON.
mod record;

// What the handles and the driver share.
mod shared;

// The task that sends requests.
mod driver;

// Log events.
mod log;

// Futures that wait for a change.
mod wait;

// Proof of leadership.
mod guard;

// What an election is doing, for people.
mod status;

use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
#[cfg(feature = "metrics")]
use std::sync::Weak;
use std::task::Poll;

#[cfg(feature = "metrics")]
use informer_core::ObjectKey;

pub use builder::{ElectionBuilder, ElectionError};
pub use guard::Guard;
pub use informer_core::election::{ElectionConfig, InvalidElection};
pub use status::{ElectionFailure, ElectionStatus, ElectionStopped};

use shared::Shared;
use wait::{Check, Wait};

/// One replica in an election. Clones are handles of the same replica.
///
/// When the last handle is dropped, the replica stops as by [`stop`](Self::stop). Guards do not keep it
/// going.
#[derive(Clone)]
pub struct Election {
    owner: Arc<Owner>,
}

/// Stops the replica when it is dropped.
struct Owner {
    shared: Arc<Shared>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.stop();
    }
}

/// Refers to a replica without keeping it going.
#[cfg(feature = "metrics")]
pub(crate) struct WeakElection(Weak<Owner>);

#[cfg(feature = "metrics")]
impl WeakElection {
    pub(crate) fn upgrade(&self) -> Option<Election> {
        self.0.upgrade().map(|owner| Election { owner })
    }
}

#[cfg(feature = "metrics")]
impl Election {
    pub(crate) fn downgrade(&self) -> WeakElection {
        WeakElection(Arc::downgrade(&self.owner))
    }

    /// The same for all handles of a replica, and for no other.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.owner).addr()
    }

    pub(crate) fn lease(&self) -> &ObjectKey {
        &self.owner.shared.lease
    }
}

impl Election {
    fn new(shared: Arc<Shared>) -> Self {
        let owner = Arc::new(Owner { shared });
        Self { owner }
    }

    /// Whether this replica leads now. Reads the clock at each call. For a worker, a [`guard`](Self::guard)
    /// is better: it also notices that leadership was lost and regained meanwhile.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.guard().is_some()
    }

    /// A guard for the current term, if this replica leads now.
    #[must_use]
    pub fn guard(&self) -> Option<Guard> {
        Guard::of(&self.owner.shared)
    }

    /// Waits until this replica leads.
    ///
    /// # Errors
    /// The replica was stopped.
    pub fn leading(
        &self,
    ) -> impl Future<Output = Result<Guard, ElectionStopped>> + Send + Unpin + use<> {
        let shared = Arc::clone(&self.owner.shared);
        Wait::new(&self.owner.shared, move |state, now| {
            if let Some(guard) = Guard::from_state(&shared, state, now) {
                Check::Done(Ok(guard))
            } else if let Some(reason) = state.reason() {
                Check::Done(Err(ElectionStopped::new(&shared, reason)))
            } else {
                Check::Wait
            }
        })
    }

    /// Waits until this replica no longer leads, at the latest by the clock. Ready at once if it does not lead
    /// now.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + Unpin + use<> {
        let term = self.owner.shared.lock().machine.terms();
        Wait::for_end_of(&self.owner.shared, term)
    }

    /// Does work while this replica leads, and returns what comes of it. If leadership is lost, the future is
    /// dropped, at its next `await`; when it is regained, the work begins anew.
    ///
    #[cfg_attr(feature = "mock", doc = "```")]
    #[cfg_attr(not(feature = "mock"), doc = "```ignore")]
    /// # use informer::ObjectKey;
    /// # use informer::election::{Election, ElectionBuilder, Guard};
    /// # use informer::informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let election = ElectionBuilder::new(ObjectKey::new("web", "shop")).start(&client)?;
    /// let tidied = election
    ///     .run(|guard| async move {
    ///         let mut tidied = 0;
    ///         while tidied < 3 && guard.holds() {
    ///             tidied += 1;
    ///         }
    ///         tidied
    ///     })
    ///     .await?;
    /// assert_eq!(tidied, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The replica was stopped.
    pub async fn run<F: Future>(
        &self,
        mut work: impl FnMut(Guard) -> F,
    ) -> Result<F::Output, ElectionStopped> {
        loop {
            let guard = self.leading().await?;
            let mut lost = guard.lost();
            let mut work = pin!(work(guard));
            let done = poll_fn(|cx| match Pin::new(&mut lost).poll(cx) {
                // The work must not go on, so this is asked first.
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => work.as_mut().poll(cx).map(Some),
            });
            if let Some(done) = done.await {
                return Ok(done);
            }
        }
    }

    /// The [fencing token](Guard::fencing_token), if this replica leads now.
    #[must_use]
    pub fn fencing_token(&self) -> Option<u32> {
        self.guard().map(|guard| guard.fencing_token())
    }

    /// Who holds the lease, as far as this replica has seen; `None` if nobody does.
    #[must_use]
    pub fn holder(&self) -> Option<String> {
        self.owner.shared.lock().machine.holder().map(str::to_owned)
    }

    /// The name of this replica.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.owner.shared.identity
    }

    /// What this replica is doing, and what went wrong last.
    #[must_use]
    pub fn status(&self) -> ElectionStatus {
        ElectionStatus::of(&self.owner.shared)
    }

    /// Stops for good, at once: this replica does not lead any more, whether or not the future is awaited. The
    /// future waits until the lease is given up, if the settings say so, or the
    /// [renew deadline](ElectionConfig::renew_deadline) has passed.
    ///
    /// Stop the work first: another replica may begin as soon as the lease is given up.
    pub fn stop(&self) -> impl Future<Output = ()> + Send + Unpin + use<> {
        let shared = &self.owner.shared;
        shared.stop();
        let deadline = shared.clock.now().after(shared.patience);
        Wait::new(shared, move |state, now| match state.has_ended() {
            true => Check::Done(()),
            false if now >= deadline => Check::Done(()),
            false => Check::Until(deadline),
        })
    }
}

impl fmt::Debug for Election {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Election")
            .field("status", &self.status())
            .finish()
    }
}
