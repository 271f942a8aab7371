//! Settings of a recorder.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use informer_core::transport::Target;

use super::Recorder;
use super::record::Reporter;
use super::writer::{Shared, WallClock, write};
use crate::api::Api;
use crate::connect::{Calls, ConnectError};
use crate::identity::host;
use crate::names::domain_of;
use crate::runtime::{Runtime, RuntimeError};

/// The longest name of an instance that a server accepts.
const INSTANCE: usize = 128;

/// Settings of a [`Recorder`].
///
/// ```
/// use informer::events::RecorderBuilder;
///
/// let builder = RecorderBuilder::new("example.com/scaler").instance("scaler-7d4b9");
/// # let _ = builder;
/// ```
#[derive(Clone)]
pub struct RecorderBuilder {
    controller: String,
    instance: Option<String>,
    wall_clock: WallClock,
}

impl RecorderBuilder {
    /// A recorder for a controller with this name; most have a domain: `example.com/scaler`.
    pub fn new(controller: impl Into<String>) -> Self {
        Self {
            controller: controller.into(),
            instance: None,
            wall_clock: Arc::new(SystemTime::now),
        }
    }

    /// Names this instance of the controller. The default is the name of the controller and that of the host,
    /// which in a pod is the name of the pod.
    #[must_use]
    pub fn instance(mut self, instance: impl Into<String>) -> Self {
        self.instance = Some(instance.into());
        self
    }

    /// Sets the clock from which events have their times, for tests.
    #[must_use]
    pub fn wall_clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.wall_clock = Arc::new(now);
        self
    }

    /// Starts the recorder on a runtime.
    ///
    /// # Errors
    /// A name cannot be used, the client cannot send requests here, or the runtime cannot run the task.
    pub fn build(
        self,
        client: &impl Calls,
        runtime: impl Runtime + 'static,
    ) -> Result<Recorder, RecorderError> {
        let reporter = self.reporter()?;
        let api = Api::dynamic_at(client, Target::new("events.k8s.io", "v1", "events"))?;
        let shared = Shared::new(api, reporter, runtime.clock(), self.wall_clock);
        let recorder = Recorder::of(Arc::clone(&shared));
        runtime.spawn(Box::pin(write(shared)))?;
        Ok(recorder)
    }

    /// Starts the recorder on the current tokio runtime.
    ///
    /// # Errors
    /// As [`build`](Self::build), or the caller is not on a tokio runtime.
    #[cfg(feature = "tokio")]
    pub fn start(self, client: &impl Calls) -> Result<Recorder, RecorderError> {
        self.build(client, crate::runtime::Tokio::current()?)
    }

    fn reporter(&self) -> Result<Reporter, RecorderError> {
        let controller = self.controller.clone();
        if let Err(reason) = domain_of(&controller) {
            return Err(RecorderError::Controller { controller, reason });
        }
        let instance = match &self.instance {
            Some(instance) => instance.clone(),
            None => default_instance(&controller),
        };
        if instance.is_empty() || instance.len() > INSTANCE {
            return Err(RecorderError::Instance { instance });
        }
        Ok(Reporter {
            controller,
            instance,
        })
    }
}

impl fmt::Debug for RecorderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecorderBuilder")
            .field("controller", &self.controller)
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

/// The name of the controller and that of the pod or the host.
fn default_instance(controller: &str) -> String {
    let mut instance = format!("{controller}-{}", host());
    // The name of a controller is in ASCII, and longer than nothing.
    let room = 0..=INSTANCE.min(instance.len());
    let end = room.rev().find(|at| instance.is_char_boundary(*at));
    instance.truncate(end.unwrap_or_default());
    instance
}

/// A recorder could not be started.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RecorderError {
    /// A controller cannot have this name.
    Controller {
        /// The name.
        controller: String,
        /// What is wrong with it, for people.
        reason: &'static str,
    },
    /// An instance cannot have this name.
    Instance {
        /// The name.
        instance: String,
    },
    /// The client cannot send requests here.
    Connect(ConnectError),
    /// The runtime cannot run the task.
    Runtime(RuntimeError),
}

impl From<ConnectError> for RecorderError {
    fn from(error: ConnectError) -> Self {
        Self::Connect(error)
    }
}

impl From<RuntimeError> for RecorderError {
    fn from(error: RuntimeError) -> Self {
        Self::Runtime(error)
    }
}

impl fmt::Display for RecorderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Controller { controller, reason } => write!(
                f,
                "a controller that records events cannot be called {controller:?}: {reason}"
            ),
            Self::Instance { instance } => write!(
                f,
                "an instance that records events cannot be called {instance:?}: the name has 1 to \
                 {INSTANCE} bytes"
            ),
            Self::Connect(error) => write!(f, "cannot record events: {error}"),
            Self::Runtime(error) => write!(f, "cannot start a task: {error}"),
        }
    }
}

impl std::error::Error for RecorderError {}
