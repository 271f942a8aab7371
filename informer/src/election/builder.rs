//! Settings of an election.

use std::fmt;
use std::sync::Arc;

use informer_core::ObjectKey;
use informer_core::election::{Election as Machine, ElectionConfig, InvalidElection};
use informer_core::transport::{Target, check_namespace};

use super::Election;
use super::driver::Driver;
use super::shared::Shared;
use crate::api::Api;
use crate::builder::entropy;
use crate::connect::{Calls, ConnectError};
use crate::identity;
use crate::runtime::{Runtime, RuntimeError};

/// Settings of one replica in an election.
#[derive(Clone, Debug)]
pub struct ElectionBuilder {
    lease: ObjectKey,
    identity: Option<String>,
    config: ElectionConfig,
    seed: Option<u64>,
}

impl ElectionBuilder {
    /// An election for the Lease with this namespace and name. It is created if it does not exist. All
    /// replicas must use the same one, and nobody else.
    #[must_use]
    pub const fn new(lease: ObjectKey) -> Self {
        Self {
            lease,
            identity: None,
            config: ElectionConfig::new(),
            seed: None,
        }
    }

    /// Sets the name of this replica. It must differ from those of all others. By default it is the name of
    /// the pod or the host (`POD_NAME`, `HOSTNAME`), and something random.
    #[must_use]
    pub fn identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// Sets the times, and whether the lease is given up at the end. All replicas should have the same.
    #[must_use]
    pub const fn config(mut self, config: ElectionConfig) -> Self {
        self.config = config;
        self
    }

    /// Sets the seed that spreads the attempts, for tests that do the same every time.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Starts to contend, on the current tokio runtime.
    ///
    /// # Errors
    /// The settings do not fit together, the client cannot send requests, or the caller is not on a tokio
    /// runtime with timers.
    #[cfg(feature = "tokio")]
    pub fn start(&self, client: &impl Calls) -> Result<Election, ElectionError> {
        self.start_on(client, &crate::runtime::Tokio::current()?)
    }

    /// Starts to contend, on this runtime.
    ///
    /// # Errors
    /// The settings do not fit together, the client cannot send requests, or the runtime cannot run tasks.
    pub fn start_on(
        &self,
        client: &impl Calls,
        runtime: &impl Runtime,
    ) -> Result<Election, ElectionError> {
        self.check_lease()?;
        let identity = self.identity.clone().unwrap_or_else(identity::unique);
        let seed = self.seed.unwrap_or_else(entropy);
        let machine = Machine::new(identity.clone(), self.config, seed)?;
        let target = Target::new("coordination.k8s.io", "v1", "leases");
        let api = Api::dynamic_at(client, target)?;
        let shared = Arc::new(Shared::new(
            self.lease.clone(),
            identity,
            self.config.renew_deadline,
            runtime.clock(),
            machine,
        ));
        // If the runtime drops the task, the driver says so to all that wait.
        let driver = Driver::new(Arc::clone(&shared), api);
        runtime.spawn(Box::pin(driver))?;
        Ok(Election::new(shared))
    }

    fn check_lease(&self) -> Result<(), ElectionError> {
        let invalid = |remedy: &dyn fmt::Display| ElectionError::Lease {
            lease: self.lease.clone(),
            remedy: remedy.to_string(),
        };
        match (self.lease.namespace(), self.lease.name()) {
            ("", _) => Err(invalid(&"a Lease has a namespace: that of the program")),
            (_, "") => Err(invalid(&"choose a name, such as that of the program")),
            (namespace, _) => check_namespace(namespace).map_err(|error| invalid(&error)),
        }
    }
}

/// A replica could not be started.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ElectionError {
    /// The settings do not fit together.
    Settings(InvalidElection),
    /// This cannot be the key of a Lease.
    Lease {
        /// The key.
        lease: ObjectKey,
        /// What to write instead.
        remedy: String,
    },
    /// The client cannot send requests.
    Connect(ConnectError),
    /// The runtime cannot run the task.
    Runtime(RuntimeError),
}

impl From<InvalidElection> for ElectionError {
    fn from(error: InvalidElection) -> Self {
        Self::Settings(error)
    }
}

impl From<ConnectError> for ElectionError {
    fn from(error: ConnectError) -> Self {
        Self::Connect(error)
    }
}

impl From<RuntimeError> for ElectionError {
    fn from(error: RuntimeError) -> Self {
        Self::Runtime(error)
    }
}

impl fmt::Display for ElectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Lease { lease, remedy } => {
                write!(f, "{:?} cannot be a Lease: {remedy}", lease.as_str())
            }
            Self::Connect(error) => error.fmt(f),
            Self::Runtime(error) => write!(f, "cannot start a task: {error}"),
        }
    }
}

impl std::error::Error for ElectionError {}
