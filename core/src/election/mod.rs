//! Leader election: of several replicas, at most one works at a time.
//!
//! The replicas contend for a Lease, by the rules of client-go: the leader renews it every two seconds, and
//! the others take it over if they see no renewal for the time that it is valid. The election is a pure
//! machine. A driver sends the requests that [`poll_request`](Election::poll_request) gives, and passes on
//! the [answers](Election::answer) and the time.
//!
//! A worker asks [`is_leader`](Election::is_leader) with the time of its own clock before each step. A leader
//! stops leading by the clock, even if nothing wakes it: before the lease that it wrote can be taken.
//!
//! ```
//! use informer_core::election::{
//!     Election, ElectionConfig, Lease, LeaseAnswer, LeaseRecord, LeaseRequest,
//! };
//! use informer_core::Instant;
//! use core::time::Duration;
//!
//! let now = Instant::from_micros(0);
//! let mut election = Election::new("replica-1", ElectionConfig::new(), 42)?;
//! election.start(now);
//! let Some((id, LeaseRequest::Get)) = election.poll_request(now) else { panic!() };
//! election.answer(id, LeaseAnswer::Missing, now);
//! let Some((id, LeaseRequest::Create(claim))) = election.poll_request(now) else { panic!() };
//! assert_eq!(claim.holder, "replica-1");
//!
//! let record = LeaseRecord { holder: claim.holder, duration: claim.duration, ..LeaseRecord::default() };
//! let lease = Lease { record, version: "7".into() };
//! election.answer(id, LeaseAnswer::Written(lease), now);
//! assert!(election.is_leader(now));
//! // Without a renewal it leads for ten seconds; others wait for fifteen.
//! assert!(!election.is_leader(now.after(Duration::from_secs(10))));
//! # Ok::<(), informer_core::election::InvalidElection>(())
//! ```

// The settings.
mod config;

// The Lease, requests and answers.
mod lease;

use alloc::string::String;
use core::time::Duration;

pub use config::{ElectionConfig, InvalidElection};
pub use lease::{Claim, Lease, LeaseAnswer, LeaseRecord, LeaseRequest, LeaseRequestId};

use crate::rng::Rng;
use crate::time::Instant;
use config::JITTER_TENTHS;

/// What a replica knows of the election, and what it does next.
#[derive(Clone, Debug)]
pub struct Election {
    identity: String,
    config: ElectionConfig,
    rng: Rng,
    now: Instant,
    state: State,
    /// The Lease as it was last seen, and since when it has said what it says, by our own clock.
    seen: Option<(Lease, Instant)>,
    /// Set while this replica leads: when the last renewal that succeeded was sent. Others saw it later.
    renewed: Option<Instant>,
    pending: Option<Pending>,
    /// Whether the current attempt has read the Lease.
    looked: bool,
    requests: u64,
    terms: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not started.
    Idle,
    /// Contends. The next attempt begins then.
    Contending {
        next: Instant,
    },
    /// Was stopped as leader, and gives the lease up.
    Releasing,
    Stopped,
}

/// The request that is under way.
#[derive(Clone, Debug)]
struct Pending {
    id: LeaseRequestId,
    request: LeaseRequest,
    /// When it was handed out.
    sent: Option<Instant>,
}

impl Election {
    /// Creates an election in which this replica contends. The identity must differ from those of all
    /// other replicas. The seed spreads the attempts.
    ///
    /// # Errors
    /// The settings do not fit together.
    pub fn new(
        identity: impl Into<String>,
        config: ElectionConfig,
        seed: u64,
    ) -> Result<Self, InvalidElection> {
        config.check()?;
        let identity = identity.into();
        if identity.is_empty() {
            return Err(InvalidElection(
                "the identity is empty, which means that nobody leads; choose one for each replica",
            ));
        }
        Ok(Self {
            identity,
            config,
            rng: Rng::new(seed),
            now: Instant::default(),
            state: State::Idle,
            seen: None,
            renewed: None,
            pending: None,
            looked: false,
            requests: 0,
            terms: 0,
        })
    }

    /// Starts to contend. Does nothing after the first call.
    pub fn start(&mut self, now: Instant) {
        self.now = self.now.max(now);
        if self.state == State::Idle {
            self.state = State::Contending { next: self.now };
            self.advance(now);
        }
    }

    /// Stops for good. This replica no longer leads from here on. If it did, it gives the lease up,
    /// unless the settings say otherwise: go on until [`is_stopped`](Self::is_stopped).
    pub fn stop(&mut self, now: Instant) {
        self.now = self.now.max(now);
        let led = self.renewed.take().is_some();
        match self.state {
            State::Releasing | State::Stopped => {}
            State::Contending { .. } if led && self.config.release_on_stop => {
                self.state = State::Releasing;
                // A renewal may be under way, so what the server has is not known.
                self.ask(LeaseRequest::Get);
            }
            State::Idle | State::Contending { .. } => self.end(),
        }
    }

    /// Does what is due.
    pub fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
        if self.leads_until().is_some_and(|until| self.now >= until) {
            self.renewed = None;
            // What is under way may still succeed, but nobody waits for it.
            self.pending = None;
            self.retry();
        }
        if let Some(timeout) = self.timeout()
            && self.now >= timeout
        {
            self.act(LeaseAnswer::Failed);
        }
        if let State::Contending { next } = self.state
            && self.pending.is_none()
            && self.now >= next
        {
            self.attempt();
        }
    }

    /// The next request to send, if there is one. Its timeout starts now.
    pub fn poll_request(&mut self, now: Instant) -> Option<(LeaseRequestId, LeaseRequest)> {
        self.advance(now);
        let pending = self.pending.as_mut()?;
        if pending.sent.is_some() {
            return None;
        }
        pending.sent = Some(self.now);
        Some((pending.id, pending.request.clone()))
    }

    /// Takes the answer to a request. That of an earlier one is ignored.
    pub fn answer(&mut self, id: LeaseRequestId, answer: LeaseAnswer, now: Instant) {
        self.advance(now);
        if self.awaits(id) {
            self.act(answer);
        }
    }

    /// Whether the answer to this request still counts. If not, nobody needs to wait for it.
    #[must_use]
    pub fn awaits(&self, id: LeaseRequestId) -> bool {
        self.pending
            .as_ref()
            .is_some_and(|pending| pending.id == id)
    }

    /// When to call [`advance`](Self::advance) at the latest.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let next = match self.state {
            State::Contending { next } if self.pending.is_none() => Some(next),
            _ => self.timeout(),
        };
        let times = [next, self.leads_until()];
        times.into_iter().flatten().min()
    }

    /// Whether this replica leads at this time. Ask before each step of the work, with the newest time: it
    /// is true for [`renew_deadline`](ElectionConfig::renew_deadline) after the last renewal, and no longer.
    #[must_use]
    pub fn is_leader(&self, now: Instant) -> bool {
        self.leads_until().is_some_and(|until| now < until)
    }

    /// Until when this replica leads if it cannot renew the lease; `None` if it does not lead.
    #[must_use]
    pub fn leads_until(&self) -> Option<Instant> {
        Some(self.renewed?.after(self.config.renew_deadline))
    }

    /// Who holds the lease, as far as this replica has seen; `None` if nobody does.
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        let holder = self.seen()?.record.holder.as_str();
        (!holder.is_empty()).then_some(holder)
    }

    /// The Lease as this replica last saw it, or wrote it.
    #[must_use]
    pub fn seen(&self) -> Option<&Lease> {
        self.seen.as_ref().map(|(lease, _)| lease)
    }

    /// `leaseTransitions`, while this replica leads. Each term of a leader counts as one, so it is larger than
    /// that of any term before: what you write to can refuse a smaller number. (If somebody deletes the
    /// Lease, a replica that never saw it starts at zero again.)
    #[must_use]
    pub fn fencing_token(&self, now: Instant) -> Option<u32> {
        let lease = self.seen()?;
        self.is_leader(now).then_some(lease.record.transitions)
    }

    /// How many times this replica has begun to lead.
    #[must_use]
    pub const fn terms(&self) -> u64 {
        self.terms
    }

    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.state == State::Stopped
    }

    /// When the request under way counts as failed.
    fn timeout(&self) -> Option<Instant> {
        let sent = self.pending.as_ref()?.sent?;
        Some(sent.after(self.config.renew_deadline / 2))
    }

    /// Begins an attempt to acquire or renew the lease.
    fn attempt(&mut self) {
        self.looked = false;
        let renewal = match &self.seen {
            Some((lease, _)) if self.renewed.is_some() => Some(LeaseRequest::Update {
                claim: self.claim(&lease.record),
                version: lease.version.clone(),
            }),
            _ => None,
        };
        self.ask(renewal.unwrap_or(LeaseRequest::Get));
    }

    fn ask(&mut self, request: LeaseRequest) {
        self.requests += 1;
        self.pending = Some(Pending {
            id: LeaseRequestId(self.requests),
            request,
            sent: None,
        });
    }

    /// Acts on the answer to the request under way.
    fn act(&mut self, answer: LeaseAnswer) {
        let Some(Pending { request, sent, .. }) = self.pending.take() else {
            return;
        };
        let sent = sent.unwrap_or(self.now);
        match (self.state, request, answer) {
            (State::Releasing, LeaseRequest::Get, LeaseAnswer::Found(lease)) => self.release(lease),
            (State::Releasing, ..) => self.end(),
            (_, LeaseRequest::Get, LeaseAnswer::Found(lease)) => self.look(lease),
            (_, LeaseRequest::Get, LeaseAnswer::Missing) => self.miss(),
            (_, LeaseRequest::Get, _) => self.retry(),
            (_, _, LeaseAnswer::Written(lease)) => self.succeed(lease, sent),
            // The renewal did not work. Look once what the server has.
            (_, LeaseRequest::Update { .. }, _) if self.renewed.is_some() && !self.looked => {
                self.ask(LeaseRequest::Get);
            }
            _ => self.retry(),
        }
    }

    /// Claims the lease, unless another one holds it.
    fn look(&mut self, lease: Lease) {
        self.looked = true;
        self.see(lease);
        let Some((lease, _)) = &self.seen else {
            return;
        };
        if lease.record.holder != self.identity {
            // The lease no longer names this replica, so it has lost it. It does not matter who has it now.
            self.renewed = None;
        }
        if self.is_taken() {
            self.retry();
            return;
        }
        let request = LeaseRequest::Update {
            claim: self.claim(&lease.record),
            version: lease.version.clone(),
        };
        self.ask(request);
    }

    /// Claims a lease that is not there. If another one held it, that one may not know yet that somebody has
    /// deleted it.
    fn miss(&mut self) {
        self.looked = true;
        if self.is_taken() {
            self.retry();
            return;
        }
        let claim = match &self.seen {
            Some((lease, _)) => self.claim(&lease.record),
            // Nobody held it before, so this is no transition.
            None => Claim {
                transitions: 0,
                ..self.claim(&LeaseRecord::default())
            },
        };
        self.ask(LeaseRequest::Create(claim));
    }

    /// Whether another one may hold the lease that was last seen.
    fn is_taken(&self) -> bool {
        self.seen.as_ref().is_some_and(|(lease, since)| {
            let Lease { record, .. } = lease;
            let is_other = !record.holder.is_empty() && record.holder != self.identity;
            is_other && self.now < since.after(record.duration)
        })
    }

    /// What to write into a lease with this record.
    fn claim(&self, record: &LeaseRecord) -> Claim {
        // Each term is a transition, also if the lease was ours before: a token belongs to one term.
        let is_renewal = self.renewed.is_some() && record.holder == self.identity;
        Claim {
            holder: self.identity.clone(),
            duration: self.config.lease_duration,
            acquired: is_renewal.then(|| record.acquired.clone()),
            transitions: record.transitions.saturating_add(u32::from(!is_renewal)),
        }
    }

    fn succeed(&mut self, lease: Lease, sent: Instant) {
        self.see(lease);
        self.terms += u64::from(self.renewed.is_none());
        // Others saw the write later than it was sent, so they wait longer than we lead.
        self.renewed = Some(sent);
        self.state = State::Contending {
            next: self.now.after(self.config.retry_period),
        };
    }

    /// Gives the lease up, if it is still ours.
    fn release(&mut self, lease: Lease) {
        if lease.record.holder != self.identity {
            self.end();
            return;
        }
        let claim = Claim {
            holder: String::new(),
            duration: Duration::from_secs(1),
            acquired: Some(lease.record.acquired),
            transitions: lease.record.transitions,
        };
        let version = lease.version;
        self.ask(LeaseRequest::Update { claim, version });
    }

    /// Notes what the lease says, and since when. A version alone means nothing: somebody may have changed a
    /// label.
    fn see(&mut self, lease: Lease) {
        let since = match &self.seen {
            Some((seen, since)) if seen.record == lease.record => *since,
            _ => self.now,
        };
        self.seen = Some((lease, since));
    }

    /// Waits for the next attempt. Followers spread, so that they do not all ask at once.
    fn retry(&mut self) {
        let period = self.config.retry_period;
        let tenth = u64::try_from(period.as_micros() / 10).unwrap_or(u64::MAX);
        let spread = match self.renewed {
            Some(_) => Duration::ZERO,
            None => Duration::from_micros(self.rng.below(tenth.saturating_mul(JITTER_TENTHS))),
        };
        self.state = State::Contending {
            next: self.now.after(period).after(spread),
        };
    }

    fn end(&mut self) {
        self.state = State::Stopped;
        self.pending = None;
    }
}
