//! The Lease that replicas contend for, what to ask of it, and what the server answers.

use alloc::string::String;
use core::time::Duration;

/// The part of a Lease that elections use.
///
/// Times are texts, by the clock of the replica that wrote them. An election only looks whether they change,
/// because the clocks of others cannot be trusted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the spec of a Lease")]
pub struct LeaseRecord {
    /// `spec.holderIdentity`; empty if it was released.
    pub holder: String,
    /// `spec.leaseDurationSeconds`
    pub duration: Duration,
    /// `spec.acquireTime`
    pub acquired: String,
    /// `spec.renewTime`
    pub renewed: String,
    /// `spec.leaseTransitions`
    pub transitions: u32,
}

/// A Lease as the server has it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a record and its version")]
pub struct Lease {
    /// What it says.
    pub record: LeaseRecord,
    /// Its `resourceVersion`.
    pub version: String,
}

/// What to write into a Lease. `renewTime` is the time of the write.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Claim {
    /// `spec.holderIdentity`; empty to release the Lease.
    pub holder: String,
    /// `spec.leaseDurationSeconds`, rounded up
    pub duration: Duration,
    /// `spec.acquireTime`; `None` for the time of the write.
    pub acquired: Option<String>,
    /// `spec.leaseTransitions`
    pub transitions: u32,
}

/// A request for the Lease.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "drivers must handle every request")]
pub enum LeaseRequest {
    /// Read it.
    Get,
    /// Create it. The server must refuse if there is one.
    Create(Claim),
    /// Replace it. The server must refuse if it no longer has this version.
    Update {
        /// What to write.
        claim: Claim,
        /// The `resourceVersion` to send along.
        version: String,
    },
}

/// What came of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "drivers must say which")]
pub enum LeaseAnswer {
    /// The answer to a `Get`.
    Found(Lease),
    /// There is no Lease.
    Missing,
    /// The write was accepted. This is what the server has now.
    Written(Lease),
    /// The server refused the write: another one came first (409).
    Refused,
    /// Anything else. The server may have accepted the write nevertheless.
    Failed,
}

/// Identifies a request. Answers to earlier requests are ignored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LeaseRequestId(pub(super) u64);
